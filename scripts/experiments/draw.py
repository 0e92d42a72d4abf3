"""Draws plots as SVG text with matplotlib."""

from __future__ import annotations

import io

from experiments.declare import Plot

MARKS = "osv^D<>pXP*h"
FEW_DECADES = 2.5  # up to this many decades ticks at 2 and 5 are labelled too


def svg(plot: Plot) -> str:
    """Draw a plot; empty without matplotlib."""
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
        _logarithmic(axes.set_xscale, axes.xaxis)
    if plot.log_y:
        _logarithmic(axes.set_yscale, axes.yaxis)
    axes.grid(alpha=0.3)
    if axes.lines:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _logarithmic(set_scale, axis) -> None:
    """Set a logarithmic axis with readable labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    set_scale("log")
    low, high = axis.get_view_interval()
    if 0.0 < low < high < low * 10.0**FEW_DECADES:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
