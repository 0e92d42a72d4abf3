"""Reductions of rows to the linear one-class SVM, with and without slack.

Labels, C and class weights are not used; --weights are the upper bounds of the dual variables.  Solvers return w
followed by rho.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.certify.one_class import HardCertificate, OneClassCertifier, certify_hard_linear
from svmtool.certify.rounding import Products
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel
from svmtool.objectives.one_class import ORIGIN_IN_HULL, ORIGIN_IN_REDUCED_HULL, boundary
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Result, Rule
from svmtool.training.reductions.base import Reduction


class OneClass(Reduction):
    """One problem; see Reduction."""

    untrained, robust = "the model predicts -1", True
    sparse_only, hull, _zero = True, ORIGIN_IN_REDUCED_HULL, False

    def _read_labels(self, labels: np.ndarray) -> None:
        """Labels are not used."""

    def task(self, k: int) -> Task:
        s = self.settings
        return Task(self.rows, np.ones(self.rows.n), self.row_weights, nu=s.problem.nu, options=s.run.options)

    def finish(self, result: Result) -> None:
        """See Reduction: rho becomes the boundary of objectives/one_class.py."""
        w, t = np.ascontiguousarray(result.w[:-1]), self.task(0)
        self._look(result)
        if np.any(w) and np.all(np.isfinite(w)):
            z, rest, apart = Products(t.rows).margins(w, np.ones(t.rows.n))
            result.w[-1] = boundary(z + rest, apart, t.cost, t.nu * float(np.sum(t.cost)))

    def _look(self, result: Result) -> None:
        """Remember whether w = 0 is the solution."""
        some = bool(self.rows.n) and self.settings.problem.nu > 0.0
        self._zero = some and result.status.converged and not np.any(result.w[:-1])

    def _certifier(self, k: int) -> Any:
        t = self.task(k)
        return OneClassCertifier(t.rows, t.cost, t.nu, self.settings.target)

    def parts(self, w: np.ndarray) -> tuple[Any, ...]:
        """w and rho, which may be infinite: with -n 0 or 1 a half-line is optimal, and LIBLINEAR returns its end."""
        return w[:-1], float(w[-1])

    def value_at_zero(self, k: int) -> float:
        return 0.0

    def zero_weights(self) -> np.ndarray:
        return np.zeros(self.rows.d + 1)

    def zero_dual_point(self, k: int) -> np.ndarray | None:
        return np.zeros(self.rows.n)

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> LinearModel:
        return LinearModel(self.solver.word, None, self.n_features, -1.0, W[:-1], float(W[-1, 0]), notes)

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction.  SvmtoolError unless it is a one-class model."""
        if model.kind != "one-class":
            raise SvmtoolError(f"the initial model is of {model.word}: a one-class SVM starts from a one-class model")
        return np.vstack([self._start_with(model.W, model), [[model.rho]]])

    def warnings(self) -> list[str]:
        """See Reduction; also a warning if no plane separates the rows from the origin."""
        found = super().warnings()
        return [*found, f"WARNING: {self.hull}"] if self._zero else found


class HardOneClass(OneClass):
    """One problem without slack, hence without costs and --weights; see OneClass."""

    sparse_only, hull = False, ORIGIN_IN_HULL
    _certified: tuple[np.ndarray | None, HardCertificate] = None, HardCertificate(0.0, 0.0, 0.0)  # alpha, certificate

    def rule(self, k: int) -> Rule:
        return Rule()

    def finish(self, result: Result) -> None:
        """See Reduction: w and rho become those of the plane that is certified."""
        at_rho = self.settings.run.options.boundary == "rho"
        least = float(result.w[-1]) if result.status.name == "sample" else 0.0  # otherwise all rows are inside
        self._certified = result.alpha, certify_hard_linear(self.rows, result.alpha, least, at_rho)
        plane = self._certified[1].plane
        if plane is not None:
            result.w = np.append(plane.multiple * result.w[:-1], plane.rho)
            self._zero = plane.multiple == 0.0 and result.status.converged

    def summary(self, results: list[Result]) -> str:
        """The statement about all rows after a run by samples, and how many training rows are outside."""
        [result], plane = results, self._certified[1].plane
        said = f"{result.status.advice}\n" if result.status.name == "sample" else ""
        return said if plane is None else said + plane.line()

    def certify(self, k: int, result: Result) -> Certificate:
        known, certificate = self._certified
        return certificate if result.alpha is known else certify_hard_linear(self.rows, result.alpha)

    def _untouched(self, k: int, w: np.ndarray | None, stop: StopFlag) -> Result | None:
        """See Reduction; without a dual point nothing is certified, and the solver's first round gives one."""
        return None

    def primal(self, k: int, w: np.ndarray) -> float:
        """See Reduction; infeasible planes have no primal value, so results are not compared."""
        return 0.0

    def value_at_zero(self, k: int) -> float:
        return np.inf
