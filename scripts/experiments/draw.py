"""Plots as SVG text, by matplotlib."""

from __future__ import annotations

import io

from experiments.declare import Plot

MARKS = "osv^D<>pXP*h"


def svg(plot: Plot) -> str:
    """A picture of a plot; empty where matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    matplotlib.rcParams["svg.hashsalt"] = plot.title
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for k, (name, points) in enumerate(plot.curves.items()):
        points = sorted((x, y) for x, y in points if (x > 0 or not plot.log_x) and (y > 0 or not plot.log_y))
        if points:
            axes.plot(*zip(*points, strict=True), marker=MARKS[k % len(MARKS)], markersize=4, linewidth=1.2, label=name)
    axes.set(xlabel=plot.x, ylabel=plot.y, title=plot.title)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    if axes.lines:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
