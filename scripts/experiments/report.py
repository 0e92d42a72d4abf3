"""The report: EXPERIMENTS.md, and a page with the tables and pictures that opens without a network."""

from __future__ import annotations

import html
import math
import textwrap
from pathlib import Path
from typing import Any

from experiments import draw, rounds
from experiments.declare import Dataset, Experiment, Finding
from svmtool.formats import output

NOISE = (
    "Times on one machine differ from hour to hour, and a verdict says no more than that noise leaves: "
    '"partly to yes" is decided by it. Where it could turn the first verdict, what is quick was measured '
    f"{rounds.ROUNDS} times, and medians are shown."
)
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: right } th { background: #f3f3f3 }
th:first-child, td:first-child { text-align: left } .words td { text-align: left; vertical-align: top }
.yes { color: #060 } .no { color: #a00 } .partly { color: #850 } svg { max-width: 100%; height: auto }
nav a { margin-right: .8em } h2 { border-top: 1px solid #ccc; padding-top: 1em }
"""


def number(value: Any) -> str:
    """A cell of a table."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def markdown(facts: dict[str, str], found: list[tuple[Experiment, Finding]]) -> str:
    """EXPERIMENTS.md."""
    lines = [
        "# The papers' experiments, measured again",
        "",
        "Made by `make experiments`, not by hand. Each row is a table or a figure of the paper behind a solver: what",
        "it claims, what it printed, what came out here, and whether the claim holds. All tools are judged by one",
        "function of the weights they give; seconds are of training alone. How each is measured:",
        "`scripts/experiments/`.",
        "",
        *textwrap.wrap(NOISE, 110),
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
        "| experiment | claim | printed | measured | holds |",
        "| --- | --- | --- | --- | --- |",
    ]
    for e, f in found:
        cells = (f"[{e.name}](#{e.name})", f"{e.source}: {e.claim}", e.printed, f.measured, f.holds)
        lines.append("| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    for e, f in found:
        lines += ["", f"## {e.name}", "", f"{e.source}. {f.measured}"]
        lines += ["", f"What limits it: {f.why}"] if f.why else []
        for table in f.tables:
            lines += ["", f"{table.title}:", "", *_markdown_table(table)]
    return "\n".join(lines) + "\n"


def _markdown_table(table: Dataset) -> list[str]:
    rows = [table.heads, ["---"] * len(table.heads), *([number(c) for c in row] for row in table.rows)]
    return ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in rows]


def page(facts: dict[str, str], found: list[tuple[Experiment, Finding]]) -> str:
    """The page: everything in one file."""
    text = html.escape
    out = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>svmtool: experiments</title><style>{STYLE}</style>"
    ]
    out += [f"<h1>The papers' experiments, measured again</h1><p>{text(NOISE)}<ul>"]
    out += [f"<li>{text(name)}: {text(value)}" for name, value in facts.items()]
    out += ["</ul><nav>", *(f"<a href='#{e.name}'>{e.name}</a>" for e, _ in found), "</nav>"]
    out += ["<table class=words><tr><th>experiment<th>claim<th>printed<th>measured<th>holds"]
    for e, f in found:
        words = (f"{e.source}: {e.claim}", e.printed, f.measured)
        cells = "".join(f"<td>{text(w)}" for w in words)
        out.append(f"<tr><td><a href='#{e.name}'>{e.name}</a>{cells}<td class='{f.holds.split()[0]}'>{text(f.holds)}")
    out.append("</table>")
    for e, f in found:
        out += [f"<h2 id='{e.name}'>{e.name}: {text(e.source)}</h2><p>{text(e.claim)}<p>{text(f.measured)}"]
        out += [f"<p>What limits it: {text(f.why)}"] if f.why else []
        for table in f.tables:
            out.append(f"<p>{text(table.title)}<table><tr>" + "".join(f"<th>{text(str(h))}" for h in table.heads))
            out += ["<tr>" + "".join(f"<td>{text(number(c))}" for c in row) for row in table.rows]
            out.append("</table>")
        out += [draw.svg(plot) or f"<p>({text(plot.title)}: no picture without matplotlib)" for plot in f.plots]
    return "\n".join(out) + "</html>\n"


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    with output.replacing(str(path)) as file:
        file.write(text.encode())
