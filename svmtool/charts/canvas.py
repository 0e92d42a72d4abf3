"""SVG elements as text."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape, quoteattr

from svmtool.charts.colours import INK
from svmtool.errors import visible

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
SIZE = 12  # of text, px
CHARACTER = 0.6 * SIZE  # width of a character, an upper estimate


class Canvas:
    """A drawing of width x height units (px at full size)."""

    def __init__(self, width: float, height: float, title: str):
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, fill: str, hint: str = "") -> None:
        """Add a filled rectangle; hint: shown when the pointer rests on it."""
        box = f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{fill}"'
        self.parts.append(f"{box}><title>{escape(visible(hint))}</title></rect>" if hint else box + "/>")

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1.0, dash: str = "") -> None:
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{stroke}" '
            f'stroke-width="{width:g}"{more}/>'
        )

    def path(self, points: list[tuple[float, float]], stroke: str, width: float, opacity: float = 1.0) -> None:
        """Add a polyline."""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        more = f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(
            f'<polyline points="{text}" fill="none" stroke="{stroke}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{more}/>'
        )

    def dots(self, points: list[tuple[float, float]], fill: str, radius: float, opacity: float = 1.0) -> None:
        circles = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>' for x, y in points)
        self.parts.append(f'<g fill="{fill}" fill-opacity="{opacity:g}">{circles}</g>')

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", fill: str = INK, size: float = SIZE,
        bold: bool = False, turned: bool = False, hint: str = "",
    ):  # fmt: skip
        """Add text with its baseline at y; turned: upwards."""
        more = ' font-weight="600"' if bold else ""
        if turned:
            more += f' transform="rotate(-90 {x:.2f} {y:.2f})"'
        title = f"<title>{escape(visible(hint))}</title>" if hint else ""
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="{fill}" font-size="{size:g}"{more}>'
            f"{title}{escape(visible(text))}</text>"
        )

    def svg(self) -> str:
        """The drawing as one SVG element."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img" aria-label={quoteattr(visible(self.title))} '
            f'font-family="{FONT}">' + "".join(self.parts) + "</svg>"
        )


def shortened(text: str, longest: int) -> str:
    """Text of at most `longest` characters, cut in the middle."""
    if len(text) <= longest:
        return text
    front = (longest - 1) * 2 // 3
    return text[:front] + "…" + text[len(text) - (longest - 1 - front) :]


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers in [low, high], about `wanted` of them."""
    if not high > low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / wanted))
    factor = next((f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= wanted + 0.5), 10)
    step *= factor
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, first + 4 * wanted) if k * step <= high + 1e-9 * step]


def number(x: float) -> str:
    """A number of an axis."""
    return f"{x:.6g}" if x else "0"
