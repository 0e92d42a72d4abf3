"""The certifier of the hard one-class SVM; objectives/hard_one_class.py states the problem and its gap."""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.blocks import Rows
from svmtool.objectives import one_class
from svmtool.objectives.hard_one_class import lead_of


def gap_of(lead: float, square: float, size: float) -> float:
    """The relative gap of v with lead and |v|^2; size: the mean of K(x, x)."""
    return _certificate(lead, square, size).gap


def certify(z: np.ndarray, alpha: np.ndarray, size: float, apart: float = 0.0) -> Certificate:
    """Certify alpha f8[n] >= 0 by z = K alpha f8[n], exact to within `apart`; both are divided by alpha's sum.

    violation: the largest of rho - z_i, and of |z_i - rho| where alpha_i > 0.
    """
    total = float(np.sum(alpha))
    if total <= 0.0:
        return Certificate(0.0, 0.0, 0.0)
    z = z / total
    square = float(alpha @ z) / total
    found = _certificate(lead_of(z) - apart / total, square + apart / total, size)
    found.violation = float(np.max(np.where(alpha > 0.0, np.abs(z - square), square - z), initial=0.0))
    return found


def _certificate(lead: float, square: float, size: float) -> Certificate:
    ahead = max(lead, 0.0)
    found = Certificate(-0.5 * ahead * (ahead / square) if square > 0.0 else 0.0, -0.5 * max(square, 0.0), 0.0)
    found.gap = one_class.gap_of(found.primal, found.dual, 0.5 * one_class.FLOOR * size)
    return found


def certify_linear(rows: Rows, alpha: np.ndarray) -> Certificate:
    """Certify alpha f8[n] of a linear problem."""
    z = np.empty(rows.n)
    rows.margins(rows.transpose_product(alpha), np.ones(rows.n), z)
    return certify(z, alpha, float(np.mean(rows.square_norms())) if rows.n else 0.0)
