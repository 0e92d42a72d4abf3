"""Areas and errors of predictions compared with their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from svmtool.metrics import SAME_PREDICTIONS, RankCurve, RegressionErrors, calibration

scored = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0]), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(scored)
def test_curves_follow_their_definitions(rows):
    scores, positive = np.array([s for s, _ in rows]), np.array([p for _, p in rows])
    curve = RankCurve(1.0)
    curve.add(positive, scores)
    thresholds = sorted(set(scores), reverse=True)
    right, wrong = curve.counts()
    assert right.tolist() == [0, *(np.sum(positive & (scores >= t)) for t in thresholds)]
    assert wrong.tolist() == [0, *(np.sum(~positive & (scores >= t)) for t in thresholds)]
    if 0 < positive.sum() < len(rows):
        assert curve.area() == pytest.approx(metrics.roc_auc_score(positive, scores))
    if positive.any():
        assert curve.average_precision() == pytest.approx(metrics.average_precision_score(positive, scores))
    else:
        assert math.isnan(curve.area()) and math.isnan(curve.average_precision())


def test_calibration_bins():
    p, came_true = np.array([0.0, 0.05, 0.1, 0.95, 1.0]), np.array([0, 1, 1, 1, 1])
    low, rows, mean, observed = calibration(p, came_true)
    assert (low.tolist(), rows.tolist()) == ([0.0, 0.1, 0.9], [2, 1, 2])
    assert mean == pytest.approx([0.025, 0.1, 0.975]) and observed.tolist() == [0.5, 1.0, 1.0]


def errors_of(labels, predictions, blocks: int = 1) -> RegressionErrors:
    """Accumulated block by block, half of them merged from another object."""
    whole, other = RegressionErrors(), RegressionErrors()
    parts = (np.array_split(np.array(values, float), blocks) for values in (labels, predictions))
    for k, (y, p) in enumerate(zip(*parts, strict=True)):
        (whole, other)[k % 2].add(y, p)
    whole.merge(other)
    return whole


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "a, b", [(1.0, 0.0), (1.0, 2.0**40), (1e150, 0.0), (1e-150, 0.0), (1e300, -1e300), (5e-320, 0.0)], ids=str
)
def test_correlation_of_any_scale_and_place(a, b, blocks=7):
    """For all cases but the first LIBLINEAR's sums of squares lose all digits, overflow or underflow."""
    rng = np.random.default_rng(1)
    y = rng.integers(-8, 9, 50) / 8
    p = y + rng.integers(-8, 9, 50) / 16
    wanted = np.corrcoef(p, y)[0, 1] ** 2
    for labels, predictions in ((y, a * p + b), (a * y + b, p), (a * y + b, a * p + b)):
        found = float(errors_of(labels, predictions, blocks).squared_correlation())
        assert found == pytest.approx(wanted, rel=1e-2 if a < 1e-300 else 1e-5)


def test_correlation_of_what_is_constant(blocks=2):
    """LIBLINEAR's -nan; with a warning if the predictions are equal.  0.1 has a sum that is not 7 times 0.1."""
    y, same = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 1.0], [0.1] * 7
    for labels, predictions, warnings in ((y, same, [SAME_PREDICTIONS]), (same, y, []), (same, same, []), ([], [], [])):
        errors = errors_of(labels, predictions, blocks)
        assert (errors.squared_correlation(), errors.warnings()) == ("-nan", warnings)
    assert errors_of(y, [1.0] * 6 + [2.0], blocks).squared_correlation() != "-nan"
    assert errors_of(y, [0.0] * 6 + [1e-200], blocks).squared_correlation() != "-nan"
