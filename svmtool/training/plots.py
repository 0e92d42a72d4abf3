"""Plots (--plot, matplotlib) of trainings, searches for C and grids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from svmtool.drawing import BLUE, FAINT, GREY, ORANGE, RED

MAX_NAMED_LINES = 10  # lines up to which each has its colour and its name in the legend
MIN_DRAWN_GAP = 1e-17  # gaps of zero are drawn here: the axis is logarithmic
MIN_DRAWN_SECONDS = 1e-6


class Iteration(NamedTuple):
    """One iteration of a problem: its number, seconds since the start, primal objective, relative gap."""

    iteration: int
    seconds: float
    objective: float
    gap: float


def training(figure: Any, runs: dict[Any, list[Iteration]], target: float | None) -> None:
    """Draw gap and objective against time, or against iterations where times are unknown, a line for each problem.

    runs : the records of each problem by its label, None for a single problem
    target : the target gap, a dashed line; None: another rule decides
    """
    upper, lower = figure.subplots(2, 1, sharex=True)
    # whether times of most problems extend over a decade; a compiled loop reports all its iterations at its end
    wide = sum(run[-1].seconds > 10.0 * max(run[0].seconds, MIN_DRAWN_SECONDS) for run in runs.values())
    timed = 2 * wide > len(runs)
    ranked = sorted(runs, key=lambda label: _last_gap(runs[label]))
    names = {ranked[(len(ranked) - 1) // 2]: "median", ranked[-1]: "worst"} if ranked else {}
    for k, (label, records) in enumerate(runs.items()):
        x = [max(r.seconds, MIN_DRAWN_SECONDS) if timed else r.iteration + 1 for r in records]
        style: dict[str, Any] = {"color": BLUE, "linewidth": 1.2, "marker": ".", "markersize": 4.0}
        rank = names.get(label, "") if len(runs) > 1 else ""
        if 1 < len(runs) <= MAX_NAMED_LINES:
            style |= {"color": f"C{k}", "label": f"{label}", "linewidth": 2.2 if rank else 0.8}
        elif rank:
            style |= {"color": RED if rank == "worst" else BLUE, "linewidth": 1.6, "zorder": 3}
        elif len(runs) > 1:
            style |= {"color": FAINT, "linewidth": 0.5, "markersize": 1.5, "alpha": 0.45, "zorder": 1}
        if rank:
            style["label"] = f"{label}: {rank}, gap {_last_gap(records):.1g}"
        upper.plot(x, [max(r.gap, MIN_DRAWN_GAP) if math.isfinite(r.gap) else math.nan for r in records], **style)
        lower.plot(x, [r.objective if math.isfinite(r.objective) else math.nan for r in records], **style)
    _logarithmic(upper, [r.gap for run in runs.values() for r in run if r.gap > 0])
    _logarithmic(lower, [r.objective for run in runs.values() for r in run])
    upper.set_ylabel("relative gap (P - D)/P")
    lower.set_ylabel("objective P")
    lower.set_xlabel("seconds since the start of a problem" if timed else "iterations")
    if runs:
        lower.set_xscale("log")
    if target is not None:
        upper.axhline(target, color=GREY, linestyle="--", linewidth=1.0, label=f"target gap: {target:g}")
    if len(runs) > MAX_NAMED_LINES:
        upper.plot([], [], color=FAINT, linewidth=1.0, label=f"{len(runs)} problems")
    _finish(figure, (upper, lower), "problem" if len(runs) > 1 else "")


def _last_gap(records: Sequence[Iteration]) -> float:
    """The last gap that is a number; infinite if there is none."""
    return next((r.gap for r in reversed(records) if math.isfinite(r.gap)), math.inf)


def _logarithmic(axes: Any, values: Sequence[float]) -> None:
    """Make the vertical axis logarithmic if all values are positive and span more than a decade."""
    known = [v for v in values if math.isfinite(v)]
    if known and min(known) > 0.0 and max(known) > 10.0 * min(known):
        axes.set_yscale("log")


Points = list[tuple[float, float]]  # pairs of C and a score


def search(
    figure: Any, curves: dict[str, Points], best: tuple[float, float] | None, title: str, percent: bool,
    gaps: Points | None = None, target: float | None = None,
) -> None:  # fmt: skip
    """Draw scores against C, several curves as thin lines but the best, and certified gaps below where they are known.

    curves : the points of each by its name in the legend
    best : C and score of the chosen value; None: nothing is chosen
    title : what the score is; percent: it is drawn times 100
    gaps : pairs of C and gap; target: the target gap
    """
    axes = figure.subplots(1 if gaps is None else 2, 1, sharex=True, squeeze=False)[:, 0]
    upper, factor = axes[0], 100.0 if percent else 1.0
    winner = next((name for name, points in curves.items() if best in points), None)
    if len(curves) > 2:
        upper.plot([], [], color=FAINT, linewidth=1.0, label=f"{len(curves) - 1} others")
    for k, (name, points) in enumerate(curves.items()):
        style: dict[str, Any] = {"color": FAINT, "linewidth": 0.7, "zorder": 1}
        if len(curves) <= 2:
            style = {"color": (BLUE, ORANGE)[k], "linewidth": 1.4, "marker": ".", "label": name or None}
        elif name == winner:
            style = {"color": BLUE, "linewidth": 1.8, "marker": ".", "label": name, "zorder": 3}
        upper.plot([C for C, _ in points], [factor * score for _, score in points], **style)
    if best is not None:
        text = f"best: C = {best[0]:g}, {factor * best[1]:g}{' %' if percent else ''}"
        upper.plot([best[0]], [factor * best[1]], color=RED, marker="o", markersize=7, linestyle="", label=text,
                   zorder=4)  # fmt: skip
    upper.set_ylabel(f"{title} in %" if percent else title)
    if gaps is not None:
        lower = axes[1]
        heights = [max(gap, MIN_DRAWN_GAP) for _, gap in gaps]
        lower.plot([C for C, _ in gaps], heights, color=BLUE, linewidth=1.2, marker=".")
        lower.set_ylabel("certified relative gap")
        lower.set_yscale("log")
        if target is not None:
            lower.axhline(target, color=GREY, linestyle="--", linewidth=1.0, label=f"target gap: {target:g}")
            lower.legend(fontsize="small")
    axes[-1].set_xlabel("C")
    axes[-1].set_xscale("log")
    _finish(figure, axes)


def _finish(figure: Any, all_axes: Sequence[Any], title: str = "") -> None:
    """Grids without frames, and the legend of the first axes; with a title it stands beside them."""
    for axes in all_axes:
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = all_axes[0].get_legend_handles_labels()
    if title:  # many lines: beside the axes
        figure.legend(handles, labels, loc="outside right upper", fontsize="small", title=title)
    elif labels:
        all_axes[0].legend(fontsize="small")
