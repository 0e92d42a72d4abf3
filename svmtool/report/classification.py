"""Sections of the report of a classifier."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.charts.colours import BLUE, GREEN, ORANGE, RED
from svmtool.charts.matrix import MAX_NAMED, confusion_matrix
from svmtool.charts.plane import Plane
from svmtool.metrics import rank_places
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.report import page
from svmtool.report.classes import Classes, ranked
from svmtool.report.curves import Curve, calibration, thinned

EACH_COLOURED = 4  # classes up to which each curve has a colour and a line in the legend
COLOURS = (BLUE, ORANGE, GREEN, RED)
POINTS, POINTS_OF_MANY = 400, 80  # of a curve
LISTED = 20  # classes, or confusions, that a table shows at once


def sections(model: LinearModel | KernelModel, found: Classes) -> list[str]:
    """Numbers, curves, calibration, confusion matrix and table of classes."""
    return [
        page.section("On the test set", page.cards(_numbers(model, found)), _remarks(found)),
        page.section("ROC, precision and recall", page.figures(_curves(found)), page.paragraph(_curve_text(found))),
        page.section("Probabilities", *_calibration(found)),
        page.section("Confusion", *_confusion(found)),
        page.section("Classes", *_classes(found)),
    ]


def percent(x: float) -> str:
    return "–" if x != x else f"{100 * x:.2f} %"


def _numbers(model: LinearModel | KernelModel, found: Classes) -> list[tuple[str, str]]:
    cards = [
        (percent(found.accuracy), f"accuracy ({int(np.trace(found.counts))} of {found.rows} rows)"),
        (percent(found.balanced_accuracy), "balanced accuracy"),
        (f"{np.nanmean(found.f1):.4f}", "F1, mean of the classes"),
    ]
    areas = [curve.area for curve in found.roc if curve is not None]
    if areas:
        cards.append((f"{np.mean(areas):.4f}", "area under the ROC curve" + (", mean" if len(areas) > 1 else "")))
    loss = found.log_loss()
    if loss is not None:
        cards.append((f"{loss:.4g}", "log loss"))
    if model.is_ordinal:
        ranks = np.sort(np.array(model.labels, float))
        k = len(found.labels)
        places = rank_places(np.array(found.labels), ranks)
        distance = np.abs(places[:, None] - places[None, :])
        cards.append(
            (f"{np.sum(found.counts * distance) / max(1, k and found.rows):.4f}", "mean absolute error in ranks")
        )
    return cards


def _remarks(found: Classes) -> str:
    remarks = []
    if found.unknown_rows == found.rows:
        remarks.append("No row has a label of the model: these rows cannot be predicted right.")
    elif found.unknown_rows:
        remarks.append(f"{found.unknown_rows} rows have a label that the model lacks; they count as wrong.")
    empty = int(np.sum(found.counts[: found.known].sum(axis=1) == 0))
    if empty:
        remarks.append(
            f"{empty} classes of the model have no rows here; means leave them out where they are undefined."
        )
    return page.paragraph(" ".join(remarks)) if remarks else ""


def _curves(found: Classes) -> list[tuple[str, str]]:
    """Both charts: one thin line a class, the worst and the median class in other colours."""
    if ranked(found.roc) is None:
        return []
    prevalence = found.counts.sum(axis=1) / found.rows
    charts = []
    for curves, title, x, y, area in (
        (found.roc, "ROC", "false positive rate", "true positive rate", "area"),
        (found.pr, "Precision and recall", "recall", "precision", "average precision"),
    ):
        shown = [k for k, curve in enumerate(curves) if curve is not None]
        worst, median = ranked(curves) or (0, 0)
        few = len(shown) <= EACH_COLOURED
        if few:
            marked = dict(zip(shown, COLOURS, strict=False))
            legend = [(c, f"{found.names[k]}: {area} {curves[k].area:.4f}") for k, c in marked.items()]
        else:
            marked = {median: ORANGE, worst: RED}
            legend = [
                (RED, f"worst: {found.names[worst]}, {area} {curves[worst].area:.4f}"),
                (ORANGE, f"median: {found.names[median]}, {area} {curves[median].area:.4f}"),
                (
                    BLUE,
                    f"the other {len(shown) - 2} classes, mean {np.mean([curves[k].area for k in shown]):.4f} of all",
                ),
            ]
        chart = Plane(title, x, y, (0.0, 1.0), (0.0, 1.0), legend)
        if title == "ROC":
            chart.straight(0, 0, 1, 1)
        elif len(shown) == 1:
            chart.straight(0, prevalence[0], 1, prevalence[0])
        _draw(chart, curves, shown, marked, few)
        charts.append((chart.svg(), ""))
    return charts


def _draw(chart: Plane, curves: list[Curve | None], shown: list[int], marked: dict[int, str], few: bool) -> None:
    points = POINTS if len(shown) <= LISTED else POINTS_OF_MANY
    opacity = 1.0 if few else max(0.12, min(0.6, 8 / len(shown)))
    for k in shown:
        if k not in marked:
            chart.curve(*thinned(curves[k], points), BLUE, 1.0, opacity)
    for k, colour in marked.items():
        if curves[k] is not None:
            chart.curve(*thinned(curves[k], POINTS), colour, 2.0)


def _curve_text(found: Classes) -> str:
    if ranked(found.roc) is None:
        return ""
    against = "the first class against the second" if found.known == 2 else "each class against all others"
    return f"Scores: {found.score_text}, {against}. The dashed line is what random scores give."


def _calibration(found: Classes) -> list[str]:
    if found.probabilities is None:
        return []
    known = found.place < found.known
    if found.known == 2:
        p, came_true = found.probabilities[:, 0], found.place == 0
        what, share = f"predicted probability of {found.names[0]}", "share of such rows"
    else:
        best = np.argmax(found.probabilities, axis=1)
        p, came_true = found.probabilities[np.arange(len(best)), best], best == found.place
        what, share = "probability of the most probable class", "share that is right"
    bins = calibration(p[known], came_true[known])
    error = sum(b.rows * abs(b.predicted - b.observed) for b in bins) / max(1, sum(b.rows for b in bins))
    reliability = Plane("Calibration", what, share, (0.0, 1.0), (0.0, 1.0))
    reliability.straight(0, 0, 1, 1)
    reliability.curve([b.predicted for b in bins], [b.observed for b in bins], BLUE, 1.2)
    most = max((b.rows for b in bins), default=1)
    for b in bins:  # the area of a dot follows the rows
        reliability.dots([b.predicted], [b.observed], BLUE, 2.0 + 6.0 * (b.rows / most) ** 0.5)
    counts = Plane("Rows in each bin", what, "rows", (0.0, 1.0), (0.0, max([b.rows for b in bins], default=1)))
    for b in bins:
        counts.bar(b.low, b.high, b.rows, BLUE, f"{b.low:g} to {b.high:g}: {b.rows} rows")
    note = "Bins of a tenth each, larger dots for more rows. "
    note += f"Mean distance from the dashed line, weighted by rows: {error:.4f}."
    return [page.figures([(reliability.svg(), note), (counts.svg(), "")])]


def _confusion(found: Classes) -> list[str]:
    drawing = confusion_matrix(found.counts, found.names, "Rows by true and predicted class")
    wrong = found.counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[: LISTED // 2 if len(wrong) <= MAX_NAMED else LISTED]
    totals = found.counts.sum(axis=1)
    rows = [
        ("", (found.names[i], found.names[j], str(wrong[i, j]), percent(wrong[i, j] / totals[i])))
        for i, j in (divmod(int(at), len(wrong)) for at in order)
        if wrong[i, j]
    ]
    listed = page.table(("true", "predicted", "rows", "of the true class"), rows, "pairs") if rows else ""
    parts = [page.figures([(drawing, "Blue: right, orange: wrong, stronger for a larger share of the true class.")])]
    if len(wrong) > 2 and listed:
        parts.append(page.paragraph("The most frequent confusions:"))
        parts.append(listed)
    return parts


def _classes(found: Classes) -> list[str]:
    head = ("class", "rows", "predicted", "precision", "recall", "F1", "ROC area", "average precision")
    actual, predicted = found.counts.sum(axis=1), found.counts.sum(axis=0)
    marked = ranked(found.roc) if found.known > EACH_COLOURED else None
    kinds: dict[int, str] = {} if marked is None else {marked[1]: "median", marked[0]: "worst"}
    precision, recall, f1 = found.precision, found.recall, found.f1

    def area(curves: list[Curve | None], k: int) -> str:
        return "–" if k >= len(curves) or curves[k] is None else f"{curves[k].area:.4f}"

    def row(k: int) -> tuple[str, tuple[str, ...]]:
        cells = (
            found.names[k], str(actual[k]), str(predicted[k]), percent(precision[k]), percent(recall[k]),
            "–" if f1[k] != f1[k] else f"{f1[k]:.4f}", area(found.roc, k), area(found.pr, k),
        )  # fmt: skip
        return kinds.get(k, ""), cells

    everyone = list(range(len(found.labels)))
    note = page.paragraph("Red: the worst area under the ROC curve; orange: the median one.") if kinds else ""
    if len(everyone) <= LISTED:
        return [page.table(head, map(row, everyone)), note]
    key: Callable[[int], float] = lambda k: 2.0 if f1[k] != f1[k] else f1[k]  # noqa: E731
    worst = sorted(everyone, key=key)
    return [
        page.paragraph(f"The {LISTED} classes with the smallest F1:"),
        page.table(head, map(row, worst[:LISTED])),
        note,
        page.collapsed(f"All {len(everyone)} classes, the smallest F1 first", page.table(head, map(row, worst))),
    ]
