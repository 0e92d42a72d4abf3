"""Counts, areas and errors of predictions compared with their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from svmtool.metrics import SAME_PREDICTIONS, ClassCounts, RankCurve, RegressionErrors


def test_counts_against_the_definition():
    random = np.random.default_rng(0)
    labels, predictions = random.integers(0, 4, 500).astype(float), random.integers(0, 3, 500).astype(float)
    counts = ClassCounts((0, 1, 2))
    for first in range(0, 500, 123):
        counts.add(labels[first : first + 123], predictions[first : first + 123])
    rows = counts.rows()
    assert [r[0] for r in rows] == [0, 1, 2, 3]
    for c, precision, recall, f1, n in rows:
        right = int(((labels == c) & (predictions == c)).sum())
        predicted, actual = int((predictions == c).sum()), int((labels == c).sum())
        assert n == actual
        assert precision == (right / predicted if predicted else 0)
        assert recall == right / actual
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall) if right else 0)
    assert counts.macro() == pytest.approx([np.mean([r[k] for r in rows]) for k in (1, 2, 3)])


def test_area_against_all_pairs():
    random = np.random.default_rng(1)
    labels, scores = random.choice([1.0, -1.0, 5.0], 200), random.integers(0, 9, 200) / 3
    curve = RankCurve(1.0, -1.0)
    curve.add(labels[:90], scores[:90])
    curve.add(labels[90:], scores[90:])
    pairs = [(p > q) + 0.5 * (p == q) for p in scores[labels == 1] for q in scores[labels == -1]]
    assert curve.area() == pytest.approx(np.mean(pairs))
    assert math.isnan(RankCurve(1.0).area())


def errors_of(labels, predictions, blocks: int = 1) -> RegressionErrors:
    """Accumulated block by block, half of them merged from another object."""
    whole, other = RegressionErrors(), RegressionErrors()
    parts = (np.array_split(np.array(values, float), blocks) for values in (labels, predictions))
    for k, (y, p) in enumerate(zip(*parts, strict=True)):
        (whole, other)[k % 2].add(y, p)
    whole.merge(other)
    return whole


def test_determination_of_constant_targets_is_unknown():
    assert math.isnan(errors_of([3.0] * 3, [2.0, 3.0, 4.0]).determination())
    assert math.isnan(RegressionErrors().determination())
    assert errors_of([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).determination() == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("blocks", [1, 2, 7])
@pytest.mark.parametrize(
    "a, b", [(1.0, 0.0), (1.0, 2.0**40), (1e150, 0.0), (1e-150, 0.0), (1e300, -1e300), (5e-320, 0.0)], ids=str
)
def test_correlation_of_any_scale_and_place(a, b, blocks):
    """For all cases but the first LIBLINEAR's sums of squares lose all digits, overflow or underflow."""
    rng = np.random.default_rng(1)
    y = rng.integers(-8, 9, 50) / 8
    p = y + rng.integers(-8, 9, 50) / 16
    wanted = np.corrcoef(p, y)[0, 1] ** 2
    for labels, predictions in ((y, a * p + b), (a * y + b, p), (a * y + b, a * p + b)):
        found = float(errors_of(labels, predictions, blocks).squared_correlation())
        assert found == pytest.approx(wanted, rel=1e-2 if a < 1e-300 else 1e-5)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_correlation_of_what_is_constant(blocks):
    """LIBLINEAR's -nan; with a warning if the predictions are equal.  0.1 has a sum that is not 7 times 0.1."""
    y, same = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0], [0.1] * 7
    for labels, predictions, warnings in ((y, same, [SAME_PREDICTIONS]), (same, y, []), (same, same, []), ([], [], [])):
        errors = errors_of(labels, predictions, blocks)
        assert (errors.squared_correlation(), errors.warnings()) == ("-nan", warnings)
    assert errors_of(y, [1.0] * 6 + [2.0], blocks).squared_correlation() != "-nan"
    assert errors_of(y, [0.0] * 6 + [1e-200], blocks).squared_correlation() != "-nan"
