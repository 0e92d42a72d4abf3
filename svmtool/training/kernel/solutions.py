"""The solved problems of one training, kept as columns: of hundreds of thousands of pairs few are looked at alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np

from svmtool.certify.linear import Certificate, joined, worst
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.solvers.shared.base import GAP, INDEFINITE, ITERATIONS, OPTIMAL, RULE, Status
from svmtool.training.kernel.verify import NO_MEANING

# Statuses by their number in the column `why`.  OPEN: not solved.  The next three are those of the loop class_pairs.
ENDS = (None, RULE, GAP, ITERATIONS, OPTIMAL, INDEFINITE)
OPEN, AT_OPTIMUM, PROVEN = 0, ENDS.index(OPTIMAL), ENDS.index(INDEFINITE)
# Of a problem: multipliers and value of the programme, and the gap by its solver; what the certifier found in the
# programme; the root of the scale of its decision function, the coefficients at bounds, and the share that is reported;
# the values of kernel rows that steps with other problems have cost.
COLUMNS = np.dtype([
    *((name, np.float64) for name in ("rho", "r", "value", "claimed", "primal", "dual", "violation", "gap", "root")),
    *((name, np.int64) for name in ("rounds", "why", "bounded")), ("share", np.float64), ("spent", np.float64),
    ("told", bool),
], align=True)  # fmt: skip


class Solved(NamedTuple):
    """One solved problem: the decision function, the solver's result, and its certificate."""

    function: DecisionFunction
    result: KernelResult
    certificate: Certificate

    def text(self) -> str:
        """See `text_of`."""
        a = self.function
        return text_of(self.result.iterations, a.report, a.objective, a.rho, np.count_nonzero(a.coef), a.bounded)


def text_of(iterations: int, report: str, objective: float, rho: float, support: int, bounded: int) -> str:
    """The text that LIBSVM prints about a solved problem; the star stands for its marks of progress."""
    return (
        f"*\noptimization finished, #iter = {iterations}\n{report}"
        f"obj = {objective:f}, rho = {rho:f}\nnSV = {support}, nBSV = {bounded}\n"
    )


class Solutions(Sequence[Solved]):
    """Solved problems, each made when it is asked for, except those that were solved alone.

    starts  i8[problems + 1]: where the rows of a problem are, if those of all stand one after the other
    coef    f8[all rows], of the decision functions; alpha, gradient: of the results
    own     those solved alone, whose columns hold what sums over all problems need
    what    the name of the share that LIBSVM prints
    sample  about the rows that the certificates rest on, or empty; apart f8[problems]: the error that they allow for
    """

    what = sample = ""
    alpha: np.ndarray
    gradient: np.ndarray
    apart: np.ndarray

    def __init__(self, starts: np.ndarray):
        self.starts, self.columns, self.coef = starts, np.zeros(len(starts) - 1, COLUMNS), np.zeros(starts[-1])
        self.own: dict[int, Solved] = {}
        self._statuses: list[Status | None] = list(ENDS)

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, k: int) -> Solved: ...
    @overload
    def __getitem__(self, k: slice) -> list[Solved]: ...
    def __getitem__(self, k: int | slice) -> Solved | list[Solved]:
        if isinstance(k, slice):
            return [self[q] for q in range(len(self))[k]]
        k = range(len(self))[k]
        return self.own[k] if k in self.own else self._made(k)

    def __setitem__(self, k: int, one: Solved) -> None:
        """A problem solved alone, or changed."""
        self.own[k], status = one, one.result.status
        if status not in self._statuses:
            self._statuses.append(status)
        function, found, columns = one.function, one.certificate, self.columns[k]
        self.coef[self._rows(k)] = function.coef
        columns["why"], columns["rho"], columns["root"] = self._statuses.index(status), function.rho, 1.0
        columns["primal"], columns["dual"] = found.primal, found.dual
        columns["violation"], columns["gap"] = found.violation, found.gap

    def open(self) -> list[int]:
        """The problems without a solution."""
        return np.flatnonzero(self.columns["why"] == OPEN).tolist()

    def result(self, k: int) -> KernelResult:
        """The result of a problem that was not solved alone."""
        rho, r, value, claimed, primal, _, _, gap, _, rounds, why, *_ = self.columns[k].item()
        rows = self._rows(k)
        found = KernelResult(
            self.alpha[rows], rho, r, value, claimed, rounds, self._statuses[why], self.gradient[rows]
        )
        found.primal, found.certified_gap = primal, gap
        return found

    def _made(self, k: int) -> Solved:
        rho, _, value, _, primal, dual, violation, gap, root, _, _, bounded, *_ = self.columns[k].item()
        report = next(self._reports(slice(k, k + 1)))
        function = DecisionFunction(self.coef[self._rows(k)], rho * root, root * value * root, root, bounded, report)
        certificate = Certificate(function.scaled(primal), function.scaled(dual), violation)
        certificate.gap = gap
        if gap == np.inf:
            certificate.why_not = NO_MEANING
        if self.sample:
            certificate.sampled = f"{self.sample}: within {self.apart[k]:.1g}"
        return Solved(function, self.result(k), certificate)

    def _rows(self, k: int) -> slice:
        return slice(self.starts[k], self.starts[k + 1])

    def _reports(self, some: slice) -> Iterator[str]:
        columns = self.columns[some]
        for share, told in zip(columns["share"].tolist(), columns["told"].tolist(), strict=True):
            yield f"{self.what} = {share:f}\n".replace(" nan", " -nan") if told else ""

    def _scaled(self, name: str) -> np.ndarray:
        root = self.columns["root"]
        return root * self.columns[name] * root

    def rho(self) -> np.ndarray:
        """Of the decision functions, f8[problems]."""
        return self.columns["rho"] * self.columns["root"]

    def texts(self) -> Iterator[str]:
        """The text about each problem."""
        support = np.add.reduceat((self.coef != 0.0).astype(np.int64), self.starts[:-1]) if len(self) else self.coef
        lists = self.columns["rounds"], self._scaled("value"), self.rho(), support, self.columns["bounded"]
        rounds, *others = (some.tolist() for some in lists)
        lines = zip(rounds, self._reports(slice(None)), *others, strict=True)
        for k, line in enumerate(lines):
            yield self.own[k].text() if k in self.own else text_of(*line)

    def certificate(self) -> Certificate:
        """One for all, see `worst`."""
        own, count = [one.certificate for one in self.own.values()], len(self)
        if len(own) == count:
            return worst([one.certificate for one in self])
        last = self[int(np.argmax(self.columns["gap"]))].certificate  # a nan, if there is one
        sampled = [one.sampled for one in own if one.sampled] + [self.sample] * (count - len(own))
        violation = float(self.columns["violation"].max())
        primal, dual = (sum(self._scaled(name).tolist()) for name in ("primal", "dual"))
        return joined(primal, dual, violation, last, list(filter(None, sampled)), count)

    def ends(self) -> list[KernelResult]:
        """Of each status, by its first problem, the result with the largest gap."""
        why, gap = self.columns["why"], self.columns["gap"]
        firsts = np.sort(np.unique(why, return_index=True)[1]).tolist()
        groups = (np.flatnonzero(why == why[first]) for first in firsts)
        return [self[int(some[np.argmax(gap[some])])].result for some in groups]

    def warnings(self) -> list[tuple[int, str]]:
        """Number of a problem and warning, of those that have one."""
        return [(k, one.function.warning) for k, one in sorted(self.own.items()) if one.function.warning]
