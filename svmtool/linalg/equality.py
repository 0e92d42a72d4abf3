"""Corrects a point in a box to satisfy the equality e'a = total."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-14  # relative error of the sum that is accepted


def restore_sum(a: np.ndarray, e: np.ndarray, upper: np.ndarray, total: float) -> None:
    """Change a so that e'a = total (e of 0 and +-1), first by variables strictly within their bounds, then by all."""
    for some in ((a > 0.0) & (a < upper), np.ones(len(a), bool)):
        rest = total - float(e @ a)
        if abs(rest) <= ROUNDING * float(np.abs(e) @ a):
            return
        slack = np.where(e * rest > 0.0, upper - a, a) * np.abs(e) * some
        whole = float(np.sum(slack))
        if whole > 0.0:
            a += np.sign(e * rest) * slack * min(abs(rest) / whole, 1.0)
            np.clip(a, 0.0, upper, out=a)
