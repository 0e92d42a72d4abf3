"""Products in twice the precision against exact fractions; each value is the sum of both parts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from reference import csr_of

from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import OrdinalRows, RepeatedRows

BASES = {"csr": lambda X, bias: CsrRows(*csr_of(X), X.shape[1], bias), "dense": DenseRows}
KINDS = {
    "plain": lambda rows: rows, "repeated": lambda rows: RepeatedRows(rows, 2),
    "ordinal": lambda rows: OrdinalRows(rows, 2),
}  # fmt: skip


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bias", [-1.0, 0.3])
def test_products_have_twice_the_digits(base, kind, bias):
    """csr_twofold_margins() and csr_twofold_sums() where double precision has no digit left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4)) + 1e8
    rows = KINDS[kind](BASES[base](X, -1.0 if kind == "ordinal" else bias))
    exact = [[Fraction(v) for v in x] for x in rows.dense_of(np.arange(rows.n)).tolist()]
    w, y = rng.normal(size=rows.d), np.where(rng.random(rows.n) < 0.5, 1.0, -1.0)
    w[0] -= float(sum(w[:4]))  # products cancel
    z, rest = rows.twofold_margins(w, y)
    for i, x in enumerate(exact):
        true = int(y[i]) * sum(a * Fraction(v) for a, v in zip(x, w.tolist(), strict=True))
        assert abs(Fraction(z[i]) + Fraction(rest[i]) - true) <= Fraction(1e-22)
    u = rng.normal(size=rows.n)
    u[0] -= u.sum()
    g, rest = rows.twofold_sums(u)
    for j in range(rows.d):
        true = sum(x[j] * Fraction(v) for x, v in zip(exact, u.tolist(), strict=True))
        assert abs(Fraction(g[j]) + Fraction(rest[j]) - true) <= Fraction(1e-22)
