"""Hinge loss, its powers and the epsilon-insensitive loss: training times, measured inside child processes."""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.alone import HERE, fitted_slope
from bench_parts.context import Context
from bench_parts.measure import child_json, geometric_mean


def ours(path: str, runs: list[dict], test: str | None = None) -> list[dict]:
    """Runs of child_fit.py, with accuracies on `test`, or on the training file."""
    return child_json([sys.executable, HERE / "child_fit.py", json.dumps({"path": path, "runs": runs, "test": test})])


def theirs(ctx: Context, path: str, solver: int, costs) -> list[dict]:
    """LIBLINEAR's ladder of -e: a list of {C, e, seconds, objective}."""
    order = {
        "costs": list(costs), "ladders": {str(solver): list(bars.LADDERS[solver])},
        "budget": ctx.budget, "path": path, "liblinear": str(ctx.liblinear),
    }  # fmt: skip
    return child_json([sys.executable, HERE / "child_liblinear.py", json.dumps(order)])


def against(ctx: Context, name: str, C: float, mine: dict, ladder: list[dict]) -> tuple[float, bool]:
    """Show our run and LIBLINEAR's fastest step that reaches our objective.

    Returns the ratio of times, ours / theirs, and whether any step reaches it.  If none does (LIBLINEAR limits its
    epochs, the budget the ladder), the slowest step counts: LIBLINEAR would have taken longer.
    """
    steps = [r for r in ladder if r["C"] == C]
    good = [r for r in steps if r["objective"] <= mine["objective"] * (1 + 1e-9)]
    other = min(good or steps, key=lambda r: r["seconds"] if good else -r["seconds"])
    ratio = mine["seconds"] / other["seconds"]
    ctx.report.row(
        f"{name:30} C {C:<6g} ours {1e3 * mine['seconds']:10.2f} ms gap {mine['gap']:.1e}   theirs "
        f"{1e3 * other['seconds']:10.2f} ms (-e {other['e']:g}{'' if good else ', not reached'})   ratio {ratio:6.3f}"
        + ("  ABOVE" if ratio > bars.ALONE_EACH else ""),
        job=name, C=C, ours=mine, theirs=other, reached=bool(good), ratio=ratio,
    )  # fmt: skip
    return ratio, bool(good)


def hinge(ctx: Context) -> None:
    """-s 3 to certified gaps of 1e-4 and 1e-6 against LIBLINEAR's -s 3 to the objective of the first."""
    ctx.report.section("hinge", "-s 3, training alone to a certified gap of 1e-4 (ratio: ours / LIBLINEAR's)")
    ratios, reached, dense, tighter, missed = [], [], [], [], 0
    names = bars.QUICK["alone"] if ctx.quick else [n for n in ctx.all_sets() if n not in bars.REGRESSION_SETS]
    for name, path in ctx.sets(names):
        wanted = [{"solver": 3, "C": C, "gap": gap} for C in bars.COSTS for gap in bars.HINGE_GAPS]
        found = ours(path, wanted)
        ladder = theirs(ctx, path, 3, bars.COSTS) if ctx.liblinear else []
        for k, C in enumerate(bars.COSTS):
            loose, tight = found[2 * k], found[2 * k + 1]
            missed += tight["gap"] > bars.HINGE_GAPS[1]
            tighter.append(tight["seconds"] / loose["seconds"])
            if ladder:
                ratio, there = against(ctx, name, C, loose, ladder)
                ratios.append(ratio)
                if there:
                    reached.append(ratio)
                if name in bars.LOW_DENSE_SETS:
                    dense.append(ratios[-1])
            gaps = f"gap {loose['gap']:.1e} and {tight['gap']:.1e}"
            ctx.report.row(f"   {gaps}: time to 1e-6 / to 1e-4 {tighter[-1]:.2f}", job=f"{name} 1e-6", C=C, tight=tight)
    report = ctx.report
    if ratios:
        report.bar("-s 3 alone, ours / LIBLINEAR's, geometric mean", geometric_mean(ratios), "<=", bars.ALONE_MEAN)
    if reached:
        report.bar("-s 3 alone, worst ratio where LIBLINEAR reaches it", max(reached), "<=", bars.ALONE_EACH)
    if dense:
        report.bar("-s 3 alone, dense sets of low d, geometric mean", geometric_mean(dense), "<=", bars.LOW_DENSE_MEAN)
    report.bar("-s 3, runs that miss a gap of 1e-6", missed, "<=", 0)
    report.bar("-s 3, time to 1e-6 / to 1e-4, worst", max(tighter), "<=", bars.TIGHTER_EACH)


def free(solver: int, p: float, C: float, **more) -> dict:
    """Settings of an ALM solver as in the paper, with a free bias."""
    return {"solver": solver, "loss_power": p, "C": C, "bias": 1.0, "regularize_bias": False, **more}


def powerslope(ctx: Context) -> None:
    """Training time of -s 31 against the number of rows, to 1% of the optimum."""
    ctx.report.section("powerslope", "-s 31 on parts of the rows, C = 1, gap 1e-2, seconds")
    for name, path in ctx.sets(("connect-4",) if ctx.quick else bars.POWER_SLOPE_SETS):
        lines = Path(path).read_bytes().splitlines(keepends=True)
        order = random.Random(1).sample(range(len(lines)), len(lines))
        times: dict = {}
        for divisor in (8, 4, 2, 1):
            part = ctx.path(f"power{divisor}")
            Path(part).write_bytes(b"".join(lines[i] for i in sorted(order[: len(lines) // divisor])))
            runs = ours(part, [free(31, p, 1.0, gap=1e-2) for p in bars.POWERS])
            for p, run in zip(bars.POWERS, runs, strict=True):
                times.setdefault(p, []).append((math.log(len(lines) / divisor), math.log(run["seconds"])))
        for p, points in times.items():
            value = fitted_slope(points)
            cells = "   ".join(f"{math.exp(t):8.4f}" for _, t in points)
            ctx.report.row(f"{name:28} -s 31 p {p:g}   {cells}   slope {value:.3f}", job=f"{name} 31 {p}", slope=value)
            ctx.report.bar(f"log-log slope of -s 31, p = {p:g} on {name}", value, "<=", bars.SLOPE)


def regression(ctx: Context) -> None:
    """-s 13 to a certified gap of 1e-4 against LIBLINEAR's -s 13 to the same objective."""
    ctx.report.section("regression", "-s 13, training alone to a certified gap of 1e-4 (ratio: ours / LIBLINEAR's)")
    ratios, reached, gaps = [], [], []
    for name, path in ctx.sets(("abalone_scale",) if ctx.quick else bars.REGRESSION_SETS):
        found = ours(path, [{"solver": 13, "C": C, "gap": 1e-4} for C in bars.COSTS])
        ladder = theirs(ctx, path, 13, bars.COSTS) if ctx.liblinear else []
        for C, mine in zip(bars.COSTS, found, strict=True):
            if ladder:
                ratio, there = against(ctx, name, C, mine, ladder)
                ratios.append(ratio)
                if there:
                    reached.append(ratio)
            gaps.append(mine["gap"])
    ctx.report.bar("-s 13 --gap 1e-4, certified gap, worst", max(gaps), "<=", 1e-4)
    if ratios:
        mean = geometric_mean(ratios)
        ctx.report.bar("-s 13 alone, ours / LIBLINEAR's, geometric mean", mean, "<=", bars.ALONE_MEAN)
    if reached:
        ctx.report.bar("-s 13 alone, worst ratio where LIBLINEAR reaches it", max(reached), "<=", bars.ALONE_MEAN)
