"""LS-SVMs of small pairs of classes: one linear system each, over shared kernel values.

A solution by a factor of the matrix (kernels/interior.py) counts as one iteration.  Pairs that it cannot solve, and
results that training/kernel/verify.py does not accept, are solved alone.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.kernel import certificate_of
from svmtool.certify.zero_model import ROUNDING
from svmtool.compiled.loops.fused import fused_class_pair_loops as loops
from svmtool.kernel_params import tolerance
from svmtool.kernels.interior import solution_of_squares
from svmtool.kernels.problems import Points, relative
from svmtool.kernels.results import KernelResult
from svmtool.solvers.shared.base import GAP, OPTIMAL, RULE
from svmtool.tolerances import ROUNDOFF_GAP
from svmtool.training.kernel.fit import Solved
from svmtool.training.kernel.pairs_batch import Batch
from svmtool.training.kernel.verify import PRINTED, acceptable, proven_indefinite


class Squares(Batch):
    """Pairs with the least-squares loss."""

    def _partners(self) -> list[list[int]]:
        """As Batch's, without classes of cost 0, whose rows are in no problem."""
        if self.s.stopping.max_iter is not None and self.s.stopping.max_iter < 1:
            return [[] for _ in range(self.count)]
        used = [cost > 0.0 for cost in self.costs]
        return [[j for j in some if used[i] and used[j]] for i, some in enumerate(super()._partners())]

    def _strip(self, i: int, some: list[int], part: Points, own: dict[int, np.ndarray]) -> list[int]:
        """See Batch."""
        n, cross, column, done = int(self.sizes[i]), self._kernel(part, some, i), 0, []
        for j in some:
            if self.fitting.stop.ended():
                break
            m, k = int(self.sizes[j]), self.place[i, j]
            K = np.empty((n + m, n + m))
            K[:n, :n], K[n:, n:] = own[i], own[j]
            K[:n, n:] = cross[:, column : column + m]
            K[n:, :n] = K[:n, n:].T
            column += m
            with np.errstate(all="ignore"):  # pairs that are not finite are solved alone
                if self._solve(k, K, n):
                    done.append(k)
        return done

    def _solve(self, k: int, K: np.ndarray, n: int) -> bool:
        """Solve pair k, whose first n rows have y = +1; return whether there is a solution."""
        i, j = self.pairs[k]
        y = np.repeat((1.0, -1.0), (n, len(K) - n))
        cost = np.repeat((self.costs[i], self.costs[j]), (n, len(K) - n))
        shift = 0.0 if self.s.row.free_bias else 1.0
        c = solution_of_squares(K, y, cost, shift)
        if c is None:
            return False
        F, total = y - K @ c, float(np.sum(c))
        e = F - 0.5 * c / cost - shift * total
        bias = total if shift else float(cost @ e) / float(np.sum(cost))
        left = e if shift else e - bias
        dual, gap = 0.5 * float(c @ (y + e)), float(cost @ (left * left))
        violation, found = float(np.abs(left).max()), relative(dual + gap, dual)
        target = self.s.target
        if target is not None and found <= target:
            why = loops.GAP
        elif violation <= tolerance(self.s):
            why = loops.RULE
        else:
            why = OPTIMUM if found <= ROUNDOFF_GAP else loops.OPEN
        mine, theirs = self._rows_of(k)
        self.a[j - 1, mine], self.a[i, theirs] = c[:n], -c[n:]
        self.F[j - 1, mine], self.F[i, theirs] = F[:n], F[n:]
        self.out[k] = why, 1.0, -dual, gap, found, violation, 0.0 - bias, 0.0
        return True

    def _gradient_of(self, k: int, F: np.ndarray) -> np.ndarray:
        """See Batch."""
        i, j = self.pairs[k]
        cost = np.repeat((self.costs[i], self.costs[j]), (self.sizes[i], self.sizes[j]))
        return super()._gradient_of(k, F) + 0.5 * self._alpha_of(k) / cost

    def solved(self, k: int, apart: tuple[float, str]) -> Solved | None:
        """See Batch."""
        why, rounds, value, _, found, _, rho, _ = self.out[k].tolist()
        if why == loops.OPEN:
            return None
        (i, j), (alpha, gradient), problem = self.pairs[k], self.answer_of(k), self._problem_of(k)
        result = KernelResult(alpha, rho, 0.0, value, found, int(rounds), STATUS[why], gradient)
        error = apart[0] * float(np.sum(np.abs(alpha))) * max(self.largest[i], self.largest[j])
        word = certificate_of(problem, alpha, gradient, rho, 0.0, 1.0, error)
        word.gap, result.primal = problem.relative(word.primal, word.dual), word.primal
        word.sampled = f"{apart[1]}: within {error:.1g}" if apart[1] else ""
        answer = problem.answer(result)
        plain = certificate_of(problem, alpha, gradient, rho)
        if not word.primal - word.dual - (plain.primal - plain.dual) <= ROUNDING * abs(word.primal):
            answer, word = self.certified(k, problem, result)  # the value of the model itself is needed
        if not (word.gap < np.inf and acceptable(problem, result, word)) or proven_indefinite(problem, word):
            return None
        if not word.gap <= (PRINTED * self.s.target if result.status is GAP else ROUNDOFF_GAP):
            return None
        result.certified_gap = word.gap
        return Solved(answer, result, word)


OPTIMUM = -1.0  # a reason to end besides those of the loop
STATUS = {float(loops.GAP): GAP, float(loops.RULE): RULE, OPTIMUM: OPTIMAL}
