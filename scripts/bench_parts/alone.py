"""Reading, training to a target and growth with the rows, measured inside child processes."""

from __future__ import annotations

import json
import math
import os
import random
import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.context import Context
from bench_parts.measure import child_json, geometric_mean

HERE = Path(__file__).parent


def read(ctx: Context) -> None:
    """Measure reading of text with one and two threads."""
    ctx.report.section("read", "Reading, MB/s (median in one process)")
    for name, path in ctx.sets(bars.QUICK["read"] if ctx.quick else bars.READ_SETS):
        speeds = {
            count: child_json([sys.executable, HERE / "child_read.py", path, str(count), str(ctx.repeats)])["mb_s"]
            for count in (1, 2)
        }
        text = f"{name:40} one thread {speeds[1]:6.0f}   two {speeds[2]:6.0f}"
        if ctx.peer_python:
            theirs = child_json([ctx.peer_python, HERE / "child_read.py", path, "0", "1"])["mb_s"]
            text += f"   scikit-learn {theirs:6.0f}"
        ctx.report.row(text, job=name, mb_s=speeds)
        ctx.report.bar(f"reading {name}, MB/s a core", speeds[1], ">=", bars.READ_MB_S)
        if len(os.sched_getaffinity(0)) > 1:
            ctx.report.bar(f"reading {name}, two threads / one", speeds[2] / speeds[1], ">=", bars.READ_THREADS)


def runs_of(ctx: Context, path: str, costs, budget: float) -> dict[str, list[dict]]:
    """All runs on one set: a list of {C, solver, e, seconds, objective} for each tool."""
    order = {
        "costs": list(costs),
        "ladders": {str(solver): list(bars.LADDERS[solver]) for solver in (1, 2)},
        "budget": budget,
        "path": path,
    }
    ours = {**order, "ladders": {**order["ladders"], **{str(k): list(v) for k, v in bars.OUR_GAPS.items()}}}
    found = {"ours": child_json([sys.executable, HERE / "child_ours.py", json.dumps(ours)])}
    if ctx.liblinear:
        order["liblinear"] = str(ctx.liblinear)
        found["theirs"] = child_json([sys.executable, HERE / "child_liblinear.py", json.dumps(order)])
    return found


def fastest(runs: list[dict], C: float, best: float) -> dict | None:
    """The fastest run at C whose objective is within the target of the best known."""
    good = [r for r in runs if r["C"] == C and r["objective"] <= best * (1 + bars.ALONE_TARGET)]
    return min(good, key=lambda r: r["seconds"], default=None)


def step_of(run: dict) -> str:
    """The tolerance of a run, as `-e 0.1` or `--gap 0.001`."""
    return f"{'--gap' if run['solver'] in bars.OUR_GAPS else '-e'} {run['e']:g}"


def alone(ctx: Context) -> None:
    """Compare training times, without reading, to an objective within the target of the best known, for several C."""
    ctx.report.section(
        "alone", f"Training alone to within {bars.ALONE_TARGET:g} of the best known objective (ratio: ours / theirs)"
    )
    if not ctx.liblinear:
        ctx.report.show("   no LIBLINEAR folder given: ours alone")
    ratios, worst = [], float("nan")
    names = bars.QUICK["alone"] if ctx.quick else [n for n in ctx.all_sets() if n not in bars.REGRESSION_SETS]
    for name, path in ctx.sets(names):
        runs = runs_of(ctx, path, bars.COSTS, ctx.budget)
        for C in bars.COSTS:
            best = min(r["objective"] for side in runs.values() for r in side if r["C"] == C)
            chosen = {side: fastest(found, C, best) for side, found in runs.items()}
            cells = [
                f"{side} {1e3 * r['seconds']:10.2f} ms (-s {r['solver']} {step_of(r)})" if r else f"{side} never"
                for side, r in chosen.items()
            ]
            mine, other = chosen["ours"], chosen.get("theirs")
            ratio = None
            if other:
                ratio = mine["seconds"] / other["seconds"] if mine else 1e9  # not reached: counts as infinitely slow
                worst = ratio if math.isnan(worst) else max(worst, ratio)
                ratios.append(ratio)
            shown = "" if ratio is None else f"  ratio {ratio:6.2f}{'  ABOVE' if ratio > bars.ALONE_EACH else ''}"
            ctx.report.row(
                f"{name:30} C {C:<6g} best {best:<14.8g} " + "   ".join(cells) + shown,
                job=name, C=C, best=best, chosen=chosen, ratio=ratio,
            )  # fmt: skip
    ctx.report.bar(
        "training alone, ours / LIBLINEAR's best, geometric mean", geometric_mean(ratios), "<=", bars.ALONE_MEAN
    )
    ctx.report.bar("training alone, worst ratio of a set", worst, "<=", bars.ALONE_EACH)


def slope(ctx: Context) -> None:
    """Training time against the number of rows: 1/8, 1/4, 1/2 and all of one set.

    The parts are drawn at random: every eighth row of a file whose labels alternate would be of one class.
    """
    name = bars.QUICK["slope"] if ctx.quick else bars.SLOPE_SET
    ctx.report.section("slope", f"Training alone on parts of {name}, default -e, C = 1, seconds")
    for _, path in ctx.sets((name,))[:1]:
        lines = Path(path).read_bytes().splitlines(keepends=True)
        order, parts = random.Random(1).sample(range(len(lines)), len(lines)), {}
        for divisor in (8, 4, 2, 1):
            parts[divisor] = ctx.path(f"part{divisor}")
            chosen = sorted(order[: len(lines) // divisor])
            Path(parts[divisor]).write_bytes(b"".join(lines[i] for i in chosen))
        for solver in (1, 2):
            points = []
            for divisor, part in parts.items():
                asked = {"costs": [1.0], "ladders": {str(solver): [None]}, "budget": 10.0, "path": part}
                (found,) = child_json([sys.executable, HERE / "child_ours.py", json.dumps(asked)])
                points.append((math.log(len(lines) / divisor), math.log(found["seconds"])))
            value = fitted_slope(points)
            cells = "   ".join(f"1/{d} {math.exp(t):8.4f}" for d, (_, t) in zip(parts, points, strict=True))
            ctx.report.row(f"-s {solver}   {cells}   slope {value:.3f}", job=f"slope -s {solver}", slope=value)
            ctx.report.bar(f"log-log slope in the rows, -s {solver}", value, "<=", bars.SLOPE)


def fitted_slope(points: list[tuple[float, float]]) -> float:
    """Slope of the least-squares line through the points."""
    x = sum(p[0] for p in points) / len(points)
    y = sum(p[1] for p in points) / len(points)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
