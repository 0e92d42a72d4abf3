"""Horizontal bars to both sides of zero, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

from svmtool.charts.canvas import CHARACTER, Canvas, shortened
from svmtool.charts.colours import BLUE, FAINT, GREY, ORANGE

ROW_HEIGHT, HEIGHT = 20.0, 13.0
NAME_LENGTH = 34  # characters of a name


class Group:
    """The bars of one class: a heading and (name, value) pairs."""

    def __init__(self, heading: str, bars: Sequence[tuple[str, float]]):
        self.heading, self.bars = heading, bars


def horizontal_bars(groups: Sequence[Group], title: str, width: float = 640.0) -> str:
    """The SVG text of groups one below the other, on one scale; blue is positive, orange negative."""
    names = [shortened(name, NAME_LENGTH) for group in groups for name, _ in group.bars]
    largest = max((abs(v) for group in groups for _, v in group.bars), default=0.0) or 1.0
    left = 12 + CHARACTER * max((len(name) for name in names), default=0)
    margin = 9 * CHARACTER  # for the number beside a bar
    any_negative = any(v < 0 for group in groups for _, v in group.bars)
    any_positive = any(v > 0 for group in groups for _, v in group.bars)
    span = width - left - margin - (margin if any_negative else 8)
    zero = left + (margin if any_negative else 8) + (span if not any_positive else span / 2 if any_negative else 0.0)
    unit = (span / 2 if any_negative and any_positive else span) / largest
    headed = any(group.heading for group in groups)
    height = 34 + sum(ROW_HEIGHT * (len(group.bars) + headed) + 8 for group in groups)
    canvas = Canvas(width, height, title)
    canvas.text(8, 18, shortened(title, int(width / CHARACTER) - 2), bold=True)
    y = 34.0
    for group in groups:
        if headed:
            canvas.text(8, y + 13, shortened(group.heading, int(width / CHARACTER) - 4), fill=GREY, bold=True)
            y += ROW_HEIGHT
        top = y
        for name, value in group.bars:
            length = abs(value) * unit
            colour = BLUE if value >= 0 else ORANGE
            canvas.text(left, y + 14, shortened(name, NAME_LENGTH), "end", hint=name)
            canvas.rect(
                zero if value >= 0 else zero - length, y + 3, max(length, 0.5), HEIGHT, colour, f"{name}: {value:.6g}"
            )
            at = zero + length + 4 if value >= 0 else zero - length - 4
            canvas.text(at, y + 14, f"{value:.3g}", "start" if value >= 0 else "end", GREY, 11)
            y += ROW_HEIGHT
        canvas.line(zero, top, zero, y, FAINT)
        y += 8
    return canvas.svg()
