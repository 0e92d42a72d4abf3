"""The ALFPGM paper's algorithm with working sets of p pairs (its Figures 2 to 4), beside the engine."""

from __future__ import annotations

import json
import sys

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.kernel import Case, cases
from bench_parts.measure import child_json


def forms_of(ctx: Context, case: Case) -> dict[str, list[dict]]:
    """The run of the engine, and those of the paper's algorithm over p."""
    order = {
        "path": case.path, "C": case.C, "gamma": case.gamma, "eps": bars.KERNEL_EPS,
        "cache_mb": bars.KERNEL_CACHE_MB, "limit": ctx.budget,
        "runs": [{"paper": False, "pairs": None}, *({"paper": True, "pairs": p} for p in bars.PAIRS)],
    }  # fmt: skip
    found = child_json([sys.executable, HERE / "child_pairs.py", json.dumps(order)])
    return {"ours": found[:1], "paper": found[1:]}


def kernel_pairs(ctx: Context) -> None:
    """Seconds and rounds at each p; runs ended by the time limit are shown with their violation."""
    report = ctx.report
    report.section(
        "kernel-pairs",
        f"Kernel solver alone, working sets of p pairs, tolerance {bars.KERNEL_EPS:g}, no run longer than "
        f"{ctx.budget:g} s: seconds and rounds",
    )
    curves = {}
    for case in cases(ctx, bars.QUICK["kernel-pairs"] if ctx.quick else bars.PAIR_CASES):
        curves[case.label] = forms = forms_of(ctx, case)
        [mine] = forms["ours"]
        for paper in forms["paper"]:
            p = paper["pairs"] or "default"
            report.row(
                f"{case.label:34} p {p:>7}   ours {_cell(mine)}   paper {_cell(paper)}",
                job=f"{case.label} p {p}", case=case.label, pairs=paper["pairs"], ours=mine, paper=paper,
            )  # fmt: skip
        report.bar(f"{case.label}, violation left", mine["violation"], "<=", bars.KERNEL_EPS)
    if curves:
        ctx.draw("draw_pairs.py", "kernel_pairs.svg", curves)


def _cell(run: dict) -> str:
    words = f"{run['seconds']:8.3f} s {run['rounds']:6d} rounds"
    return words + ("" if run["converged"] else f", violation {run['violation']:.1e} LEFT")
