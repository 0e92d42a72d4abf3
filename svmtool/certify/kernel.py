"""Certifier of kernel problems: an upper bound of the distance of a point to the optimum.

For any multipliers of the equalities, r + rho (of y = +1) and r - rho (of y = -1), and s = Qa + p - (r + y rho):

    f(a) - min f  <=  sum_t  a_t max(0, s_t) + (upper_t - a_t) max(0, -s_t)

which is the duality gap: D = -f(a) is the dual value, and P = D + gap the primal value of the stored decision function
with its rho.  If a loss has another cost than upper_t (KernelProblem.losses), that cost replaces it.

One-class without slack has its own certifier in certify/one_class.py.
For least squares the same s gives  P - D = sum_i C_i s_i^2,  and 1/2 (rho + y'a)^2 more where the bias is not free.

Qa needs the decision values of all training rows, which cost as much as their prediction: often half of training.
`certify` computes them with the code of svm-predict, for all rows if that is quick, otherwise for a sample.  The
solver's values of the other rows are taken to be exact to within the largest difference in the sample; every s changes
by that difference in the unfavourable direction.  If this would increase the gap by much, all rows are computed.
After a limit only a sample is computed.  A certificate from a sample is called estimated.

No result may be worse than the zero model, w = 0 with the best constant.  Its primal value is  -min p'a  over the same
a, a knapsack for each equality: variables are filled in the order of their p, and the multiplier is the p of the last.
"""

from __future__ import annotations

import math

import numpy as np

from svmtool.certify.linear import Certificate, Certifier
from svmtool.certify.one_class import certify_hard
from svmtool.certify.radius import offset
from svmtool.certify.rounding import FEW, UNIT, growth
from svmtool.data.row_storage import draw_rows
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.problems import AnyProblem, CSvc, HardOneClass, KernelProblem, LeastSquaresSvc, filled
from svmtool.objectives import losses
from svmtool.tolerances import MANY_VALUES, MIN_VALUE_SHARE, VALUE_RTOL

MIN_SAMPLE_ROWS = 1024  # rows at least: errors in one row of a hundred stay unseen once in 30,000 runs
MIN_LATE_ROWS = 64  # rows at least after a limit, and of pairs of few rows
MAX_WIDENING = 0.5  # share of the gap that the sample's differences may add to it
SEED = 1


def certify(
    problem: AnyProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0,
    late: bool = False, target: float = -1.0, min_rows: int = MIN_SAMPLE_ROWS, max_values: int = MANY_VALUES,
) -> Certificate:  # fmt: skip
    """Certify a feasible point, see the module; gradient f8[m]: Qa + p according to the solver.

    late: a limit has ended the run.  target: the requested gap, below 0 if there is none: a sample must not hide that
    it is reached.  max_values: kernel values up to which all rows are computed again; of more, a sample of `min_rows`
    rows or more.
    """
    n, coef = problem.n, problem.coefficients(alpha)
    # one row of each group is computed
    group = n // max(MIN_LATE_ROWS if late else min_rows, max_values // max(int(np.count_nonzero(coef)), 1))
    if group > 1:
        sampled = np.concatenate((draw_rows(n, group, SEED), np.arange(n - n % group, n)))
        exact, apart = _recomputed(problem, alpha, coef, gradient, sampled)
        plain = certificate_of(problem, alpha, exact, rho, r)
        wide = certificate_of(problem, alpha, exact, rho, r, apart)
        gap, allowed = plain.primal - plain.dual, VALUE_RTOL * abs(plain.primal)
        hidden = plain.gap <= target < wide.gap
        if late or (wide.primal - wide.dual - gap <= max(MAX_WIDENING * gap, allowed) and not hidden):
            wide.sampled = f"decision values of {len(sampled)} of {n} rows computed again: within {apart:.1g}"
            wide.seen = exact, apart
            return wide
    exact, _ = _recomputed(problem, alpha, coef, gradient, np.arange(n))
    found = certificate_of(problem, alpha, exact, rho, r)
    found.seen = exact, 0.0
    return found


def _recomputed(
    problem: AnyProblem, alpha: np.ndarray, coef: np.ndarray, gradient: np.ndarray, sampled: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the gradient with recomputed values for the rows `sampled` (i8), and the largest difference."""
    n = problem.n
    f, some = np.zeros(n), np.zeros(n, bool)
    some[sampled] = True
    f[sampled] = problem.points.sums(coef, None if len(sampled) == n else sampled)
    exact, some = problem.gradient(alpha, f), some[problem.row]
    return np.where(some, exact, gradient), float(np.abs(exact - gradient).max(where=some, initial=0.0))


def bound_decisions(problem: CSvc, alpha: np.ndarray, rho: float, found: Certificate) -> None:
    """Set radii and offsets of the certificate of a feasible point, see radius.py; not where it rests on a sample.

    w and v are the same sum of coefficients.  Values of a positive semidefinite kernel are taken as they are computed.
    """
    if found.seen is None or found.seen[1] > 0.0 or not (problem.kernel.positive and found.gap < np.inf):
        return
    sizes = np.sqrt(np.maximum(problem.diagonal(), 0.0))
    terms = np.abs(problem.coefficients(alpha)) * sizes
    r = math.sqrt(max(found.excess, 0.0)) * (1.0 + FEW * UNIT) + growth(np.count_nonzero(terms)) * float(terms.sum())
    xi, loss = problem.y * rho - found.seen[0], losses.of("hinge", 1.0)
    off = offset(loss, xi, problem.y, problem.losses, r * sizes) + FEW * UNIT * abs(rho)
    found.radii, found.offsets = (r,), (off,)


def gap_of(
    problem: KernelProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0, apart: float = 0.0
) -> float:
    """Return an upper bound of f(a) - min f; alpha and gradient = Qa + p (within `apart`): f8[m]."""
    losses = problem.losses
    s = gradient - (r + problem.y * rho)
    if apart == 0.0:
        return float(np.where(s > 0, alpha * s, (alpha - losses) * s).sum())
    above, below = np.maximum(s + apart, 0.0), np.maximum(apart - s, 0.0)
    return float(np.sum(alpha * above) + np.sum((losses - alpha) * below))


def certificate_of(
    problem: AnyProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0, apart: float = 0.0
) -> Certificate:
    """The certificate of a feasible point from its gradient Qa + p, f8[m], exact to within `apart`."""
    if isinstance(problem, LeastSquaresSvc):
        return _least_squares(problem, alpha, gradient, rho, apart)
    if isinstance(problem, HardOneClass):
        at_rho = problem.options.boundary == "rho"
        return certify_hard(gradient, alpha, problem.size, apart, rho, at_rho, problem.rounding(alpha))
    multipliers = r + problem.y * rho
    s = gradient - multipliers
    missed = float(multipliers @ (alpha - problem.start))  # round-off of the sums; it counts where rho is large
    centred = float(multipliers @ problem.start)
    value = 0.5 * (float(alpha @ (s + problem.p)) + centred + missed)  # 1/2 a'(gradient + p) with smaller terms
    sizes = np.abs(alpha)
    error = 0.5 * apart * float(sizes.sum())  # of the value, in the unfavourable direction
    gap = gap_of(problem, alpha, gradient, rho, r, apart)
    off = growth(len(alpha)) * (0.5 * (float(sizes @ (np.abs(s) + np.abs(problem.p))) + abs(centred)) + gap)
    off += UNIT * float(sizes @ np.abs(gradient)) + abs(missed)
    primal = error - value + gap + missed
    squares = problem.floor == 0.0 and problem.kernel.positive  # P is a sum of squares and losses
    least = 0.0 if squares or not problem.start.any() else -np.inf  # or a = 0 is feasible, whose dual value is 0
    dual = max(-value - error - off, least) if problem.feasible_sums(alpha) else least
    if squares:
        primal = max(primal, 0.0)
    certificate = Certificate(primal, dual, _violation(problem, alpha, s) + apart)
    certificate.excess = primal + off - dual
    certificate.gap = problem.relative(primal + off, dual)
    return certificate


def _violation(problem: KernelProblem, alpha: np.ndarray, s: np.ndarray) -> float:
    """The largest KKT violation of a feasible point with the reduced gradient s, f8[m]."""
    found = np.where(alpha <= 0.0, np.maximum(-s, 0.0), np.where(alpha >= problem.upper, np.maximum(s, 0.0), abs(s)))
    return float(found.max(where=problem.upper > 0.0, initial=0.0))


def _least_squares(
    problem: LeastSquaresSvc, alpha: np.ndarray, gradient: np.ndarray, rho: float, apart: float
) -> Certificate:
    """`certificate_of` alpha = y c; gradient = Qa - 1 with Q_ij = y_i y_j (K_ij + D_ij), without the bias."""
    total = float(problem.y @ alpha)
    s = np.abs(gradient - problem.y * rho) + apart
    value = 0.5 * float(alpha @ (1.0 - gradient)) - 0.5 * problem.shift * total * total
    error = 0.5 * apart * float(np.sum(np.abs(alpha)))
    edge = rho + total  # its square may be inf, which `**` of Python refuses
    gap = float(problem.cost @ (s * s)) + 0.5 * problem.shift * edge * edge
    missed = rho * total if problem.free_bias else 0.0  # of coefficients whose sum is not 0, if only by rounding
    return Certificate(value + error + gap + missed, value - error - abs(missed), float(s.max(initial=0.0)))


def certify_lp(problem: LpSvc, coef: np.ndarray, rho: float, alpha: np.ndarray | None) -> Certificate:
    """The certificate of LP-SVM with a kernel: that of its linear problem (LpSvc.task); alpha: its dual point, if any.

    P is that of decision values as svm-predict computes them; what they differ by counts as rounding.
    """
    alpha = np.zeros(problem.n) if alpha is None else alpha
    certifier = Certifier(problem.task.rows, losses.of("hinge", 1.0), problem.y, problem.upper, True, l1=True)
    with np.errstate(all="ignore"):  # the gap is not finite if any value is not
        found = certifier.certify(np.append(coef, coef @ problem.means - rho), alpha)
        xi = 1.0 - problem.y * (problem.points.sums(coef) - rho)
        primal = float(np.sum(np.abs(coef))) + float(certifier.cost @ certifier.loss.value(xi))
        (off, less), apart = found.off, abs(primal - found.primal)
        return Certificate(primal, found.dual + less, found.violation, (off + apart, less))


def value_at_zero(problem: AnyProblem) -> tuple[float, float, float]:
    """The primal value at w = 0 and its rho and r (kernels/problems.py)."""
    if problem.at_zero is None:
        problem.at_zero = _value_at_zero(problem)
    return problem.at_zero


def max_allowed_primal(problem: AnyProblem) -> float:
    """The largest primal value that counts as no worse than the one at w = 0."""
    value, _, _ = value_at_zero(problem)
    return value + VALUE_RTOL * max(abs(value), problem.floor / MIN_VALUE_SHARE)


def above_zero(problem: AnyProblem, dual: float) -> bool:
    """Whether a dual value is above the primal value at w = 0, which proves that the kernel matrix is indefinite."""
    value, _, _ = value_at_zero(problem)
    return not problem.kernel.positive and dual > value + max(VALUE_RTOL * abs(value), problem.floor)


def _value_at_zero(problem: AnyProblem) -> tuple[float, float, float]:
    if isinstance(problem, HardOneClass):
        return 0.0, 0.0, 0.0
    if isinstance(problem, LeastSquaresSvc):
        total, weighted = float(np.sum(problem.cost)), float(problem.cost @ problem.y)
        b = weighted / total if problem.free_bias and total > 0.0 else 0.0
        return total - b * weighted, 0.0 - b, 0.0
    if isinstance(problem, CSvc):  # must be quick: after a limit it is computed for thousands of pairs of classes
        plus = problem.y > 0
        first, second = float(problem.upper[plus].sum()), float(problem.upper[~plus].sum())
        return 2.0 * min(first, second), float((second > first) - (second < first)), 0.0
    return best_constant(problem, problem.p)


def best_constant(problem: KernelProblem, p: np.ndarray) -> tuple[float, float, float]:
    """Return -min p'a over the feasible a, and its rho and r.

    For p = Qa + p at some a these are the rho and r of the least primal value with its w.
    """
    y, upper, start = problem.y, problem.upper, problem.start
    if problem.two_sums:
        plus, minus = (_multiplier(p[side], upper[side], float(np.sum(start[side]))) for side in (y > 0, y < 0))
        rho, r = 0.5 * (plus - minus), 0.5 * (plus + minus)
    else:  # where y < 0 u - a is filled
        rho, r = _multiplier(y * p, upper, float(y @ start) + float(np.sum(upper[y < 0]))), 0.0
    # the primal value, whose terms are not below 0 where start is 0; -p'a is a difference of large numbers
    s = p - (r + y * rho)
    value = float(np.sum(np.multiply(upper, -s, where=s < 0.0, out=np.zeros(len(s)))))
    return value - float(start @ (r + y * rho)), rho, r


def best_tube(problem: KernelProblem, gradient: np.ndarray, rho: float) -> float:
    """nu-SVR: the r of the least primal value with the w of `gradient` (Qa + p, f8[m]) and this rho."""
    return _multiplier(gradient - problem.y * rho, problem.upper, float(np.sum(problem.start)))


def _multiplier(cost: np.ndarray, upper: np.ndarray, total: float) -> float:
    """The multiplier of  min cost'a,  0 <= a <= upper,  sum a = total."""
    order = np.argsort(cost, kind="stable")
    order = order[upper[order] > 0.0]
    if not len(order):
        return 0.0
    cost, upper = cost[order], upper[order]
    a = np.clip(total - (np.cumsum(upper) - upper), 0.0, upper)
    used = np.flatnonzero(a > 0.0)
    last = int(used[-1]) if len(used) else 0
    after = min(last + 1, len(cost) - 1) if len(used) and a[last] >= upper[last] else last
    return 0.5 * float(cost[last] + cost[after])


def certified_zero(problem: AnyProblem) -> Certificate:
    """The certificate of w = 0, almost without computation, by a feasible point of the least p'a, or a = 0.

    There |Qa|_t <= |w| sqrt(K_tt), and |w| is at most the sum of |coef_i| sqrt(K_ii): this bounds D and the violation.
    """
    value, rho, r = value_at_zero(problem)
    dual = 0.0
    if isinstance(problem, LeastSquaresSvc):
        violation = float(np.abs(1.0 + problem.y * rho).max(initial=0.0))
    else:
        alpha, size = problem.start.copy(), 0.0
        for side in (problem.y > 0, problem.y < 0) if problem.two_sums else ():
            order = np.flatnonzero(side)[np.argsort(problem.p[side], kind="stable")]
            alpha[order] = filled(float(np.sum(alpha[side])), problem.upper[order], len(order))
        violation = _violation(problem, alpha, problem.p - (r + problem.y * rho))
        coef = problem.coefficients(alpha)
        if np.any(coef):
            norms = np.sqrt(np.abs(problem.diagonal()))
            size = float(np.abs(coef) @ norms)
            violation += size * float(norms.max())
        dual = -0.5 * size * size - float(problem.p @ alpha)
    found = Certificate(value, dual, violation)
    found.gap = problem.relative(value, dual)
    return found
