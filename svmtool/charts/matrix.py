"""A confusion matrix as coloured cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmtool.charts.canvas import CHARACTER, Canvas, shortened
from svmtool.charts.colours import BLUE, FAINT, GREY, INK, ORANGE

MAX_NAMED = 30  # classes up to which rows and columns have names
LONGEST = 16  # characters of a name


def confusion_matrix(counts: np.ndarray, names: Sequence[str], title: str) -> str:
    """The SVG text of counts (true, predicted): right answers blue, wrong ones orange, by the share of their row."""
    rows, columns = counts.shape
    named = max(rows, columns) <= MAX_NAMED
    labels = [shortened(name, LONGEST) for name in names]
    margin = 34 + (CHARACTER * max(map(len, labels)) if named else 0)
    side = min(58.0, max(20.0, 440.0 / columns)) if named else 600.0 / columns
    size = max(11.0, min(12.0, side / 2.6))
    width = max(margin + side * columns + 12, CHARACTER * len(title) + 16, 300)
    turned = named and max(map(len, labels)) * CHARACTER > side
    below = (CHARACTER * max(map(len, labels)) if turned else 16) + 26 if named else 26
    canvas = Canvas(width, 34 + side * rows + below, title)
    canvas.text(8, 18, title, bold=True)
    top, shares = 30.0, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for i, j in zip(*np.nonzero(counts), strict=True):
        share = float(shares[i, j])
        colour = _tint(BLUE if i == j else ORANGE, share if i == j else share**0.5)
        hint = f"{names[i]} predicted as {names[j]}: {counts[i, j]} rows, {100 * share:.3g} %"
        x, y = margin + side * j, top + side * i
        canvas.rect(x, y, side, side, colour, hint)
        text = str(counts[i, j])
        if named and 0.62 * size * len(text) < side - 2:
            fill = "#ffffff" if share ** (1 if i == j else 0.5) > 0.55 else INK
            canvas.text(x + side / 2, y + side / 2 + 4, text, "middle", fill, size)
    bottom = top + side * rows
    canvas.line(margin, top, margin + side * columns, top, FAINT)
    canvas.line(margin, bottom, margin + side * columns, bottom, FAINT)
    canvas.line(margin, top, margin, bottom, FAINT)
    canvas.line(margin + side * columns, top, margin + side * columns, bottom, FAINT)
    if named:
        for k, label in enumerate(labels):
            if k < rows:
                canvas.text(margin - 5, top + side * (k + 0.5) + 4, label, "end", hint=names[k])
            x = margin + side * (k + 0.5)
            if turned:
                canvas.text(x + 4, bottom + 6, label, "end", turned=True, hint=names[k])
            else:
                canvas.text(x, bottom + 16, label, "middle", hint=names[k])
    canvas.text(margin + side * columns / 2, bottom + below - 8, "predicted", "middle", GREY)
    canvas.text(16, top + side * rows / 2, "true", "middle", GREY, turned=True)
    return canvas.svg()


def _tint(colour: str, share: float) -> str:
    """A colour mixed with white: share 0 gives a faint tint, 1 the colour itself."""
    share = 0.08 + 0.92 * share
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * share):02x}" for part in parts)
