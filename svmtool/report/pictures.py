"""The pictures of the report, as SVG for its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.drawing import BLUE, FAINT, GREEN, GREY, LARGEST, ORANGE, RED, bars, height_of_bars, inline, shortened
from svmtool.errors import visible
from svmtool.report.classes import Classes, Curve

EACH_COLOURED = 4  # classes up to which each curve has a colour and a line in the legend
COLOURS = (BLUE, ORANGE, GREEN, RED)
POINTS, POINTS_OF_MANY = 400, 80  # of a curve
MANY = 20  # curves from which on each has fewer points
FEW = 12  # classes of a small confusion matrix
MAX_NAMED = 30  # classes up to which rows and columns of the confusion matrix have names
LONGEST, LEGEND_LENGTH = 16, 54  # characters of a class in the matrix, and of a line in a legend
MAX_DOTS = 3000
HISTOGRAM_BINS = 40
DASHED: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1.0}


def _plane(
    title: str, x: str, y: str, fill: Callable[[Any], None], more_height: float = 0.0, unit: bool = False
) -> str:
    """A picture with two axes, which `fill` receives; unit: both go from 0 to 1."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set(title=title, xlabel=x, ylabel=y)
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if unit:
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        fill(axes)
        handles, labels = axes.get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", frameon=False, fontsize="small")

    return inline(title, draw, height=3.4 + more_height)


def curves(found: Classes) -> list[str]:
    """Both charts: a line for each class; of many the worst and the median are in other colours."""
    order = found.ranked()
    if not order:
        return []
    prevalence = float(np.mean(found.place == order[0])) if len(order) == 1 else None
    return [
        _curves(found, "ROC", "false positive rate", "true positive rate", "area", _roc, lambda c: c.area, (0.0, 1.0)),
        _curves(found, "Precision and recall", "recall", "precision", "average precision", _precision_recall,
                lambda c: c.average_precision, None if prevalence is None else (prevalence, prevalence)),
    ]  # fmt: skip


def _roc(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    return curve.wrong / curve.wrong[-1], curve.right / curve.right[-1]


def _precision_recall(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    precision = curve.right[1:] / (curve.right[1:] + curve.wrong[1:])
    return curve.right / curve.right[-1], np.append(precision[0], precision)


def _curves(
    found: Classes, title: str, x: str, y: str, area: str, points: Callable[[Curve], tuple[np.ndarray, np.ndarray]],
    value: Callable[[Curve], float], chance: tuple[float, float] | None,
) -> str:  # fmt: skip
    """One chart; chance: heights of the dashed line at both ends."""
    known = {k: curve for k, curve in enumerate(found.curves) if curve is not None}
    order = found.ranked()
    few = len(known) <= EACH_COLOURED
    if few:
        marked = {k: (colour, "") for k, colour in zip(known, COLOURS, strict=False)}
    else:
        marked = {order[0]: (RED, "worst: "), order[len(order) // 2]: (ORANGE, "median: ")}

    def draw(axes: Any) -> None:
        if chance is not None:
            axes.plot([0.0, 1.0], chance, **DASHED)
        opacity = max(0.12, min(0.6, 8 / len(known)))
        for k, curve in known.items():
            if k not in marked:
                shown = thinned(*points(curve), POINTS if len(known) <= MANY else POINTS_OF_MANY)
                axes.plot(*shown, color=BLUE, linewidth=0.8, alpha=opacity)
        for k, (colour, rank) in marked.items():
            text = f"{rank}{found.names[k]}, {area} {value(known[k]):.4f}"
            text = shortened(visible(text), LEGEND_LENGTH)
            axes.plot(*thinned(*points(known[k]), POINTS), color=colour, linewidth=1.6, label=text)
        if not few:
            mean = np.mean([value(curve) for curve in known.values()])
            text = f"the other {len(known) - len(marked)} classes, mean {mean:.4f} of all"
            axes.plot([], [], color=BLUE, linewidth=0.8, label=text)

    return _plane(title, x, y, draw, 0.2 * len(marked), unit=True)


def thinned(x: np.ndarray, y: np.ndarray, max_points: int) -> tuple[np.ndarray, np.ndarray]:
    """At most about `max_points` points of a curve, evenly along its length; its ends are kept."""
    if len(x) <= max_points:
        return x, y
    length = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    wanted = np.linspace(0.0, length[-1], max_points)
    kept = np.unique(np.append(np.searchsorted(length, wanted).clip(max=len(x) - 1), [0, len(x) - 1]))
    return x[kept], y[kept]


def calibration(what: str, share: str, bins: tuple[np.ndarray, ...], width: float) -> list[str]:
    """The share that came true against the probability, and the rows of each bin."""
    low, rows, predicted, observed = bins

    def reliability(axes: Any) -> None:
        axes.plot([0.0, 1.0], [0.0, 1.0], **DASHED)
        axes.plot(predicted, observed, color=BLUE, linewidth=1.0)
        axes.scatter(predicted, observed, 10.0 + 90.0 * rows / rows.max(initial=1), color=BLUE)

    def counts(axes: Any) -> None:
        axes.bar(low, rows, 0.95 * width, color=BLUE, align="edge")
        axes.set_xlim(-0.02, 1.02)

    return [
        _plane("Calibration", what, share, reliability, unit=True), _plane("Rows in each bin", what, "rows", counts)
    ]  # fmt: skip


def confusion(matrix: np.ndarray, names: list[str]) -> str:
    """Rows by true and predicted class: right answers blue, wrong ones orange, by the share of their row."""
    k = len(matrix)
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    labels = [shortened(visible(name), LONGEST) for name in names]
    side = 4.5 if k <= FEW else 6.5  # inches

    def draw(figure: Any) -> None:
        from matplotlib.colors import to_rgb

        axes = figure.subplots()
        cells = np.empty((k, k, 4))
        cells[..., :3] = to_rgb(ORANGE)
        cells[range(k), range(k), :3] = to_rgb(BLUE)
        strength = np.sqrt(shares)
        strength[range(k), range(k)] = np.diag(shares)
        cells[..., 3] = np.where(matrix > 0, 0.08 + 0.92 * strength, 0.0)
        axes.imshow(cells, interpolation="none")
        axes.set(title="Rows by true and predicted class", xlabel="predicted", ylabel="true")
        axes.tick_params(length=0)
        axes.spines[:].set_color(FAINT)
        if k > MAX_NAMED:
            axes.set(xticks=[], yticks=[])
            return
        axes.set_yticks(range(k), labels, fontsize="small")
        turned = max(map(len, labels)) * k > 40
        axes.set_xticks(range(k), labels, fontsize="small", rotation=90 if turned else 0)
        size = min(10.0, 45.0 * side / k / max(2, len(str(matrix.max()))))
        for i, j in zip(*np.nonzero(matrix), strict=True):
            colour = "white" if cells[i, j, 3] > 0.6 else "black"
            axes.text(j, i, str(matrix[i, j]), color=colour, fontsize=size, ha="center", va="center")

    return inline("Confusion matrix: rows by true and predicted class", draw, side, side + 0.1)


def against(truth: np.ndarray, predicted: np.ndarray) -> tuple[str, int]:
    """Predicted against true values, and the number of rows that are drawn."""
    truth, predicted = np.clip((truth, predicted), -LARGEST, LARGEST)
    low, high = min(truth.min(), predicted.min()), max(truth.max(), predicted.max())
    chosen = np.linspace(0, len(truth) - 1, min(len(truth), MAX_DOTS)).astype(int)

    def draw(axes: Any) -> None:
        axes.plot([low, high], [low, high], **DASHED)
        opacity = max(0.15, min(0.7, 200 / len(chosen)))
        axes.scatter(truth[chosen], predicted[chosen], 12.0, color=BLUE, alpha=opacity, linewidth=0.0)

    return _plane("Predicted against true", "true value", "predicted value", draw), len(chosen)


def residuals(errors: np.ndarray) -> str:
    """A histogram of predicted minus true values."""
    counts, edges = histogram(errors)

    def draw(axes: Any) -> None:
        axes.bar(edges[:-1], counts, np.diff(edges), color=BLUE, align="edge")
        if edges[0] < 0 < edges[-1]:
            axes.axvline(0.0, **DASHED)

    return _plane("Residuals", "predicted minus true value", "rows", draw)


def histogram(errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and ends of bins; a wide bin where the values differ by round-off alone."""
    bins = min(HISTOGRAM_BINS, max(5, int(np.sqrt(len(errors)))))
    low, high = float(errors.min()), float(errors.max())
    around = max(0.5, abs(low))
    narrow = not high - low > bins * np.spacing(max(abs(low), abs(high)))
    return np.histogram(errors, bins, (low - around, low + around) if narrow else (low, high))


def weights(title: str, rows: list[tuple[str, float]]) -> str:
    """Bars of one decision value, or of the classes."""
    return inline(title, lambda figure: bars(figure, [(title, rows)]), height=height_of_bars([len(rows)]))
