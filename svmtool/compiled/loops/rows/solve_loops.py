"""Systems of a triangular factor: numpy has no call for them."""

from svmtool.compiled import loop


@loop("void(f8[], f8[], i8)", fast=True)
def substitute(lower, x, d):
    """x = (L L')^-1 x for a lower triangular L (d x d, row-major)."""
    for i in range(d):
        total = x[i]
        for k in range(i):
            total -= lower[i * d + k] * x[k]
        x[i] = total / lower[i * d + i]
    for j in range(d):
        i = d - 1 - j
        t = x[i] / lower[i * d + i]
        x[i] = t
        for k in range(i):
            x[k] -= t * lower[i * d + k]
