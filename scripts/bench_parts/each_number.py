"""Each of LIBLINEAR's solver numbers: objective at the default -e and training time to a target, both tools."""

from __future__ import annotations

import json
import sys

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.certify import ONE_CLASS, REGRESSION, varied
from bench_parts.context import Context
from bench_parts.hinge import ours
from bench_parts.measure import child_json, geometric_mean
from svmtool import registry
from svmtool.tolerances import GRAM_BELOW

LIMIT = 5.0  # time limit of one of our runs, as a multiple of the budget


def sets_for(ctx: Context, solver: int) -> list[str]:
    """The sets for a solver number: labels are numbers for regression, classes otherwise, unused for one-class."""
    if ctx.quick:
        return ["abalone_scale" if solver in REGRESSION else "heart_scale"]
    if solver in REGRESSION:
        return list(bars.REGRESSION_SETS)
    return [name for name in ctx.all_sets() if solver in ONE_CLASS or name not in bars.REGRESSION_SETS]


def values_for(solver: int) -> tuple[float, ...]:
    """The values of C, or of nu."""
    return bars.NUS if varied(solver) == "nu" else bars.COSTS


def runs_of(ctx: Context, path: str, solver: int) -> dict[str, list[dict]]:
    """All runs of one number on one set, both tools: {C, e, seconds, objective} each."""
    order = {"costs": list(values_for(solver)), "budget": ctx.budget, "path": path}
    default = bars.DEFAULT_EPS[solver]
    theirs = [default, *(default * factor for factor in bars.TIGHTER)]
    limit = LIMIT * ctx.budget  # a longer run is stopped
    ours = {**order, "by": "gap", "limit": limit, "ladders": {str(solver): [None, *bars.OUR_STEPS]}}
    them = {**order, "liblinear": str(ctx.liblinear), "ladders": {str(solver): theirs}}
    return {
        "ours": child_json([sys.executable, HERE / "child_ours.py", json.dumps(ours)]),
        "theirs": child_json([sys.executable, HERE / "child_liblinear.py", json.dumps(them)]),
    }


def relative(value: float, best: float) -> float:
    """Relative distance of a value above the best; one-class objectives are negative."""
    return (value - best) / max(abs(best), 1e-300)


def each_number(ctx: Context) -> None:
    """Objective at default -e (ours against LIBLINEAR's), and the fastest step of each to within 1e-4 of the best."""
    if not ctx.liblinear:
        ctx.report.section("numbers", "LIBLINEAR's numbers: left out, no LIBLINEAR folder was given")
        return
    there = {row.number for row in registry.SOLVERS}
    for solver in [s for s in ctx.numbers or bars.DEFAULT_EPS if s in there]:
        ctx.report.section(f"-s {solver}", f"-s {solver}, training alone to within {bars.ALONE_TARGET:g} of the best")
        ratios, reached, worse = [], [], []
        for name, path in ctx.sets(sets_for(ctx, solver)):
            runs = runs_of(ctx, path, solver)
            for C in values_for(solver):
                found = {side: [r for r in some if r["C"] == C] for side, some in runs.items()}
                best = min(r["objective"] for some in found.values() for r in some)
                worse.append(relative(found["ours"][0]["objective"], found["theirs"][0]["objective"]))
                near = {
                    side: [r for r in some if relative(r["objective"], best) <= bars.ALONE_TARGET]
                    for side, some in found.items()
                }
                mine, other = (min(near[s], key=lambda r: r["seconds"], default=None) for s in ("ours", "theirs"))
                # a tool that never reaches it counts with its longest run
                shown = other or max(found["theirs"], key=lambda r: r["seconds"])
                ratio = mine["seconds"] / shown["seconds"] if mine else float("inf")
                ratios.append(ratio)  # included whatever the result
                if other:
                    reached.append(ratio)
                ms = 1e3 * mine["seconds"] if mine else float("inf")
                ctx.report.row(
                    f"{name:28} {varied(solver)} {C:<6g} ours {ms:10.2f} ms "
                    f"({_step(mine)})   theirs {1e3 * shown['seconds']:10.2f} ms (-e {shown['e']:g}"
                    f"{'' if other else ', not reached'})   ratio {ratio:6.2f}   default -e {worse[-1]:+.1e}"
                    + ("  ABOVE" if other and ratio > bars.ALONE_EACH else "")
                    + ("  WORSE" if worse[-1] > bars.NEVER_WORSE else ""),
                    job=f"{name} -s {solver}", C=C, ours=mine, theirs=shown, reached=bool(other), ratio=ratio,
                    worse=worse[-1],
                )  # fmt: skip
        if ratios:
            what = f"-s {solver} alone, ours / LIBLINEAR's"
            ctx.report.bar(f"{what}, geometric mean", geometric_mean(ratios), "<=", bars.ALONE_MEAN)
        if reached:
            worst = f"worst of the {len(reached)} of {len(ratios)} pairs where LIBLINEAR reaches it"
            ctx.report.bar(f"{what}, {worst}", max(reached), "<=", bars.ALONE_EACH)
        if worse:
            ctx.report.bar(f"-s {solver}, default -e, worst against LIBLINEAR's", max(worse), "<=", bars.NEVER_WORSE)


def _step(run: dict | None) -> str:
    return "never" if run is None else "default" if run["e"] is None else f"--gap {run['e']:g}"


def auto(ctx: Context) -> None:
    """-s auto against the fastest of its candidates, each to its own certified gap of 1e-4, C = 1."""
    from svmtool.formats.svmlight import table
    from svmtool.training import auto_select

    ctx.report.section("auto", "-s auto: seconds to a certified gap of 1e-4 of each candidate, C = 1")
    there = {row.number for row in registry.SOLVERS}
    ratios = []
    for name, path in ctx.sets(["heart_scale"] if ctx.quick else ctx.all_sets()):
        facts = auto_select.facts_of(table.read(path))
        chosen, _ = auto_select.choose(facts)
        wide = facts.features > GRAM_BELOW
        named = auto_select.CANDIDATES[facts.labels][wide]
        candidates = [s for s in named if s in there and s not in auto_select.BY_OPTION]
        orders = [{"solver": s, "gap": 1e-4, "max_seconds": ctx.budget} for s in candidates]
        seconds = dict(zip(candidates, ours(path, orders), strict=True))
        best = min((s for s in candidates if seconds[s]["converged"]), key=lambda s: seconds[s]["seconds"])
        ratio = seconds[chosen.number]["seconds"] / seconds[best]["seconds"]
        ratios.append(ratio)
        cells = "   ".join(f"-s {s} {run['seconds']:.4f}" for s, run in seconds.items())
        ctx.report.row(
            f"{name:28} chosen -s {chosen.number:<3} best -s {best:<3} ratio {ratio:5.2f}   {cells}",
            job=f"{name} auto", chosen=chosen.number, best=best, ratio=ratio, seconds=seconds,
        )  # fmt: skip
    what = "-s auto, its time over the best candidate's, geometric mean"
    ctx.report.bar(what, geometric_mean(ratios), "<=", bars.AUTO_MEAN)
