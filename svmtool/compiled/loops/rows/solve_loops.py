"""Dense linear algebra for systems too small for a library call."""

from svmtool.compiled import loop


@loop("i8(f8[], f8[], f8[], i8)", fast=True)
def cholesky_solve(upper, right, solution, d):
    """solution = A^-1 right for a positive definite A given by its upper triangle (d x d, row-major).

    It becomes U of A = U'U.  Returns 0, or 1 + the pivot that was not positive.
    """
    for j in range(d):
        row = j * d
        pivot = upper[row + j]
        if not pivot > 0.0:
            return 1 + j
        scale = 1.0 / pivot**0.5
        for k in range(j, d):
            upper[row + k] *= scale
        for i in range(j + 1, d):
            t = upper[row + i]
            if t != 0.0:
                for k in range(i, d):
                    upper[i * d + k] -= t * upper[row + k]
    for j in range(d):
        solution[j] = right[j]
    for j in range(d):
        solution[j] /= upper[j * d + j]
        t = solution[j]
        for k in range(j + 1, d):
            solution[k] -= t * upper[j * d + k]
    for i in range(d):
        j = d - 1 - i
        total = solution[j]
        for k in range(j + 1, d):
            total -= upper[j * d + k] * solution[k]
        solution[j] = total / upper[j * d + j]
    return 0


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


@loop("i8(f8[], f8[], i8)", fast=True)
def factor_corner(lower, inverse, d):
    """L of A = L L' in place of the lower triangle of a positive definite A (d x d, row-major), zeros above it.

    inverse (d x d, initially 0) receives L^-1'.  Returns 0, or 1 + the pivot that was not positive.
    """
    for j in range(d):
        row = j * d
        for k in range(j):
            at = k * d
            total = lower[row + k]
            for i in range(k):
                total -= lower[row + i] * lower[at + i]
            lower[row + k] = total / lower[at + k]
        pivot = lower[row + j]
        for i in range(j):
            pivot -= lower[row + i] * lower[row + i]
        if not pivot > 0.0:
            return 1 + j
        lower[row + j] = pivot**0.5
        for k in range(j + 1, d):
            lower[row + k] = 0.0
    for j in range(d):  # column j of L^-1 is row j of `inverse`
        row = j * d
        inverse[row + j] = 1.0 / lower[row + j]
        for i in range(j + 1, d):
            at = i * d
            total = 0.0
            for k in range(j, i):
                total += lower[at + k] * inverse[row + k]
            inverse[row + i] = -total / lower[at + i]
    return 0
