"""A chart with two linear axes: curves, dots, bars, and a legend below."""

from __future__ import annotations

from collections.abc import Sequence

from svmtool.charts.canvas import CHARACTER, Canvas, number, shortened, ticks
from svmtool.charts.colours import FAINT, GREY, GRID, INK

LEGEND_ROW = 18.0
TOP, BOTTOM = 34.0, 46.0
MARGIN = 16.0


class Plane:
    """Axes over given ranges.  legend: (colour, text) lines below the chart."""

    def __init__(
        self, title: str, x_title: str, y_title: str, x_range: tuple[float, float], y_range: tuple[float, float],
        legend: Sequence[tuple[str, str]] = (), width: float = 490.0, height: float = 350.0,
    ):  # fmt: skip
        self.x_range, self.y_range = _opened(x_range), _opened(y_range)
        self.canvas = canvas = Canvas(width, height + LEGEND_ROW * len(legend), title)
        y_ticks = ticks(*self.y_range)
        texts = [number(v) for v in y_ticks]
        self.left = 26 + CHARACTER * max(map(len, texts))
        self.right, self.top, self.bottom = width - MARGIN, TOP, height - BOTTOM
        canvas.text(8, 18, shortened(title, int(width / CHARACTER) - 2), bold=True)
        for value, text in zip(y_ticks, texts, strict=True):
            y = self.y(value)
            canvas.line(self.left, y, self.right, y, GRID)
            canvas.text(self.left - 6, y + 4, text, "end", GREY, 11)
        longest = max(len(number(v)) for v in ticks(*self.x_range))
        for value in ticks(*self.x_range, wanted=5 if longest < 7 else 3):
            x = self.x(value)
            canvas.line(x, self.top, x, self.bottom, GRID)
            canvas.text(x, self.bottom + 16, number(value), "middle", GREY, 11)
        canvas.line(self.left, self.bottom, self.right, self.bottom, FAINT)
        canvas.line(self.left, self.top, self.left, self.bottom, FAINT)
        canvas.text((self.left + self.right) / 2, self.bottom + 34, x_title, "middle", INK)
        canvas.text(14, (self.top + self.bottom) / 2, y_title, "middle", INK, turned=True)
        for k, (colour, text) in enumerate(legend):
            y = height + LEGEND_ROW * k + 4
            canvas.line(self.left, y, self.left + 22, y, colour, 3)
            canvas.text(self.left + 30, y + 4, shortened(text, int((width - self.left - 30) / CHARACTER)), hint=text)

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def points(self, xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
        return [(self.x(x), self.y(y)) for x, y in zip(xs, ys, strict=True)]

    def curve(
        self, xs: Sequence[float], ys: Sequence[float], stroke: str, width: float = 2.0, opacity: float = 1.0
    ) -> None:
        """Add a polyline through the points."""
        self.canvas.path(self.points(xs, ys), stroke, width, opacity)

    def dots(self, xs: Sequence[float], ys: Sequence[float], fill: str, radius: float, opacity: float = 1.0) -> None:
        self.canvas.dots(self.points(xs, ys), fill, radius, opacity)

    def straight(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a dashed line for comparison."""
        self.canvas.line(self.x(x1), self.y(y1), self.x(x2), self.y(y2), GREY, 1.2, "4 4")

    def bar(self, x1: float, x2: float, height: float, fill: str, hint: str = "") -> None:
        """Add a bar from zero to `height` over x1 .. x2."""
        top, base = self.y(height), self.y(0.0)
        self.canvas.rect(self.x(x1) + 0.5, top, max(self.x(x2) - self.x(x1) - 1.0, 0.5), base - top, fill, hint)

    def svg(self) -> str:
        return self.canvas.svg()


def _opened(limits: tuple[float, float]) -> tuple[float, float]:
    """A range that is not empty."""
    low, high = limits
    if high > low:
        return limits
    margin = abs(low) * 0.1 or 1.0
    return low - margin, high + margin
