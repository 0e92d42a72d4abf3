"""Sections of the report of a regression."""

from __future__ import annotations

import numpy as np

from svmtool.charts.colours import BLUE
from svmtool.charts.plane import Plane
from svmtool.metrics import RegressionErrors
from svmtool.report import page

MAX_DOTS = 3000
HISTOGRAM_BINS = 40


def sections(truth: np.ndarray, predicted: np.ndarray) -> list[str]:
    """Errors, predicted against true values, residuals; truth, predicted: f8[n]."""
    errors = RegressionErrors()
    errors.add(truth, predicted)
    R2 = errors.determination()
    cards = [
        (errors.mean_squared(), "mean squared error"),
        (f"{np.sqrt(errors.squared / errors.n):.6g}", "its square root"),
        (errors.mean_absolute(), "mean absolute error"),
        ("–" if R2 != R2 else f"{R2:.4f}", "R2"),
        (errors.squared_correlation().replace("-nan", "–"), "squared correlation"),
        (str(errors.n), "rows"),
    ]
    return [
        page.section("On the test set", page.cards(cards)),
        page.section("Errors", page.figures([_against(truth, predicted), _histogram(truth, predicted)])),
    ]


def _against(truth: np.ndarray, predicted: np.ndarray) -> tuple[str, str]:
    low, high = float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))
    chosen = np.linspace(0, len(truth) - 1, min(len(truth), MAX_DOTS)).astype(int)
    chart = Plane("Predicted against true", "true value", "predicted value", (low, high), (low, high))
    chart.straight(low, low, high, high)
    opacity = max(0.15, min(0.7, 200 / len(chosen)))
    chart.dots(truth[chosen].tolist(), predicted[chosen].tolist(), BLUE, 3, opacity)
    note = "On the dashed line both are equal."
    if len(chosen) < len(truth):
        note += f" {len(chosen)} of the {len(truth)} rows are drawn."
    return chart.svg(), note


def _histogram(truth: np.ndarray, predicted: np.ndarray) -> tuple[str, str]:
    residuals = predicted - truth
    bins = min(HISTOGRAM_BINS, max(5, int(np.sqrt(len(residuals)))))
    low, high = float(residuals.min(initial=np.inf)), float(residuals.max(initial=-np.inf))
    around = max(0.5, abs(low))  # where the residuals differ by round-off alone
    narrow = not high - low > bins * np.spacing(max(abs(low), abs(high)))
    counts, edges = np.histogram(residuals, bins, (low - around, low + around) if narrow else (low, high))
    chart = Plane(
        "Residuals",
        "predicted minus true value",
        "rows",
        (float(edges[0]), float(edges[-1])),
        (0.0, float(counts.max())),
    )
    for n, a, b in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        chart.bar(a, b, n, BLUE, f"{a:.4g} to {b:.4g}: {n} rows")
    if edges[0] < 0 < edges[-1]:
        chart.straight(0, 0, 0, float(counts.max()))
    quartiles = np.quantile(residuals, [0.25, 0.5, 0.75])
    return chart.svg(), f"Quartiles: {quartiles[0]:.4g}, {quartiles[1]:.4g}, {quartiles[2]:.4g}."
