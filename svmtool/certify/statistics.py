"""The certifier of a least-squares SVM that is known by sums over its rows only; see objectives/normal_equations.py.

    f(w) = 1/2 |w|^2 + C (V - 2 b'w + w'S w),   S = sum v_i x_i x_i',  b = sum v_i y_i x_i,  V = sum v_i

f is strongly convex with modulus 1, so f(w) - min f <= 1/2 |f'(w)|^2 for any w.  The rows themselves are not kept: the
round-off in the sums, which f and f' inherit, is bounded and added to the gap.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate

UNIT = float(np.finfo(float).eps)


def certify(w: np.ndarray, S: np.ndarray, b: np.ndarray, V: float, C: float, past: np.ndarray) -> Certificate:
    """Certify the weights w (length d).

    Parameters
    ----------
    S : f8[d, d], symmetric
    b : f8[d]
    past : q, f8[d]; entry (i, j) of S is a sum whose terms reached q_i q_j at most in size

    The violation is the largest absolute entry of f'(w).
    """
    Sw = np.einsum("ij,j->i", S, w)
    f = 0.5 * float(np.sum(w * w)) + C * (V - 2.0 * float(np.sum(b * w)) + float(np.sum(w * Sw)))
    g = w + 2.0 * C * (Sw - b)
    reach = float(np.sum(past * np.abs(w)))
    off = UNIT * C * (V + 2.0 * abs(float(np.sum(b * w))) + reach * reach)
    slope = float(np.sqrt(np.sum(g * g))) + 2.0 * UNIT * C * reach * float(np.sqrt(np.sum(past * past)))
    primal, dual = f + off, f - off - 0.5 * slope * slope
    return Certificate(max(primal, 0.0), max(dual, 0.0), float(np.max(np.abs(g), initial=0.0)))
