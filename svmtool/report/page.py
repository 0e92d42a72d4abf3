"""The HTML page: headings, tables, figures and style in one file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from svmtool.errors import visible

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f8; color: #1f2933; line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 15px; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 36px 0 10px; }
p { margin: 6px 0 10px; max-width: 75ch; }
.figures + p, .box + p { margin-top: 14px; }
.lead { color: #5f6c7b; margin-bottom: 18px; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; }
.card, figure, .box { background: #fff; border: 1px solid #dfe4e9; border-radius: 8px; }
.card { padding: 10px 14px; }
.card b { display: block; font-size: 22px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.card span { color: #5f6c7b; font-size: 13px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 14px; }
figure { margin: 0; padding: 10px; }
figure svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { color: #5f6c7b; font-size: 13px; padding: 4px 6px 0; }
.box { overflow-x: auto; padding: 4px 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 14px; text-align: right; border-bottom: 1px solid #eceff2; vertical-align: top; }
th { color: #5f6c7b; font-weight: 600; font-size: 13px; white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 5em; }
table.pairs th:nth-child(2), table.pairs td:nth-child(2) { text-align: left; }
table.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.facts td:first-child { color: #5f6c7b; white-space: nowrap; width: 1%; min-width: 0; }
tr.worst td { background: #fbeceb; } tr.median td { background: #fdf3e6; }
details { margin-top: 12px; } summary { cursor: pointer; color: #1f6fb2; }
footer { color: #5f6c7b; font-size: 13px; margin-top: 36px; }
@media (max-width: 560px) {
  main { padding: 16px 10px 32px; } th, td { padding: 4px 8px; }
  table.facts td:first-child { white-space: normal; width: 30%; }
}
"""


def text(content: str) -> str:
    """Text as HTML."""
    return escape(visible(content))


def section(title: str, *parts: str) -> str:
    """A heading and what follows it; empty without parts."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{text(title)}</h2>\n{body}\n</section>\n" if body else ""


def paragraph(content: str) -> str:
    return f"<p>{text(content)}</p>"


def cards(pairs: Iterable[tuple[str, str]]) -> str:
    """Numbers in large print: (value, what it is)."""
    each = "".join(f'<div class="card"><b>{text(value)}</b><span>{text(name)}</span></div>' for value, name in pairs)
    return f'<div class="cards">{each}</div>'


def figures(drawings: Iterable[tuple[str, str]]) -> str:
    """Drawings side by side on a wide page: (SVG text, caption)."""
    each = "".join(
        f"<figure>{svg}{f'<figcaption>{text(caption)}</figcaption>' if caption else ''}</figure>"
        for svg, caption in drawings
    )
    return f'<div class="figures">{each}</div>' if each else ""


def facts_table(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><td>{text(name)}</td><td>{text(value)}</td></tr>" for name, value in pairs)
    return f'<div class="box"><table class="facts">{rows}</table></div>'


def table(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], kind: str = "") -> str:
    """A table of (class of the row, cells).

    The first column is aligned left, the others right; kind `pairs`: the second is aligned left as well.
    """
    mark = f' class="{kind}"' if kind else ""
    titles = "".join(f"<th>{text(cell)}</th>" for cell in head)
    body = "".join(
        f'<tr class="{of_row}">' + "".join(f"<td>{text(c)}</td>" for c in cells) + "</tr>" for of_row, cells in rows
    )
    return f'<div class="box"><table{mark}><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'


def collapsed(summary: str, content: str) -> str:
    """Content that opens on a click."""
    return f"<details><summary>{text(summary)}</summary>\n{content}\n</details>"


def page(title: str, lead: str, sections: Iterable[str], footer: str) -> str:
    """The whole page."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{text(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{text(title)}</h1>\n"
        f'<p class="lead">{text(lead)}</p>\n{"".join(sections)}'
        f"<footer>{text(footer)}</footer>\n</main>\n</body>\n</html>\n"
    )
