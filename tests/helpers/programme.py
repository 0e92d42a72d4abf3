"""Convex programmes with bounds and sums, by interior-point steps: the slow method behind most optima of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.optimize

Vector = np.ndarray


def interior_points(
    gradient: Callable[[Vector], Vector], hessian: Callable[[Vector], np.ndarray], upper: Vector, start: Vector,
    E: np.ndarray, totals: Vector, unit: Vector | float = 1.0, rounds: int = 60,
) -> Iterator[tuple[Vector, Vector]]:  # fmt: skip
    """Pairs of a and v that converge to the minimum over 0 <= a <= upper, Ea = totals, and to the multipliers of Ea.

    upper may be infinite.  start: inside the bounds.  s and r are the multipliers of the lower and the upper bounds; an
    a_i whose multiplier exceeds its distance from the bound, in units of `unit`, is put on it.
    """
    a, bounded, zeros = start.copy(), 1.0 * np.isfinite(upper), np.zeros((len(E), len(E)))
    distance = np.where(bounded > 0.0, upper - a, 1.0)
    s, r, v = np.ones(len(a)), bounded, np.zeros(len(E))
    for _ in range(rounds):
        mu = 0.1 * float(a @ s + distance @ r) / (len(a) + np.count_nonzero(bounded))
        M = np.block([[hessian(a) + np.diag(s / a + r / distance), E.T], [E, zeros]])
        pull = gradient(a) + E.T @ v - mu / a + bounded * mu / distance
        try:
            step = np.linalg.solve(M, np.append(-pull, totals - E @ a))
        except np.linalg.LinAlgError:  # at the optimum, by rounding
            return
        da, dv = step[: len(a)], step[len(a) :]
        ds, dr = mu / a - s - s / a * da, bounded * (mu / distance - r + r / distance * da)
        t = 1.0
        for at, change in ((a, da), (s, ds), (distance, -bounded * da), (r, dr)):
            falls = change < 0
            t = min(t, 0.99 * float(np.min(-at[falls] / change[falls], initial=np.inf)))
        a, s, r, v, distance = a + t * da, s + t * ds, r + t * dr, v + t * dv, distance - t * bounded * da
        ended = np.where(s > a / unit, 0.0, a)
        yield np.where((bounded > 0.0) & (r > distance / unit), upper, ended), v


def l1_programme(A: np.ndarray, y: Vector, cost: Vector, R: Vector) -> tuple[Vector, Vector, float]:
    """w, a dual point and the minimum of R'|w| + sum_i C_i max(0, 1 - y_i a_i.w): a linear programme, w being u - v."""
    (n, d), Z = A.shape, y[:, None] * A
    prices = np.concatenate([R, R, cost])
    found = scipy.optimize.linprog(prices, A_ub=-np.hstack([Z, -Z, np.eye(n)]), b_ub=-np.ones(n), method="highs")
    assert found.status == 0
    return found.x[:d] - found.x[d : 2 * d], -found.ineqlin.marginals, float(found.fun)
