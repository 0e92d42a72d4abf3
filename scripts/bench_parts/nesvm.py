"""-s 50, 51 and 52 to a certified gap of 1e-3 over C: the paper's claim that the time hardly depends on C."""

from __future__ import annotations

from bench_parts import bars
from bench_parts.context import Context
from bench_parts.hinge import ours


def nesvm(ctx: Context) -> None:
    """Time at each C within the budget, ratio of longest to shortest, and the worst gap."""
    solvers = [s for s in ctx.numbers or bars.NESVM if s in bars.NESVM]
    names = bars.QUICK["nesvm"] if ctx.quick else [n for n in ctx.all_sets() if n not in bars.REGRESSION_SETS]
    for solver in solvers:
        costs = "  ".join(f"C {C:<7g}" for C in bars.NESVM_COSTS)
        ctx.report.section(f"nesvm {solver}", f"-s {solver} to a certified gap of {bars.NESVM_GAP:g}, ms:  {costs}")
        ratios, missed = [], 0
        for name, path in ctx.sets(names):
            orders = [
                {"solver": solver, "C": C, "gap": bars.NESVM_GAP, "bias": 1.0, "regularize_bias": False,
                 "max_seconds": ctx.budget}
                for C in bars.NESVM_COSTS
            ]  # fmt: skip
            runs = ours(path, orders)
            seconds, gaps = [r["seconds"] for r in runs], [r["gap"] for r in runs]
            ratios.append(max(seconds) / min(seconds))
            words = "  ABOVE" * (ratios[-1] > bars.NESVM_EACH) + "  MISSED" * (max(gaps) > bars.NESVM_GAP)
            missed += sum(gap > bars.NESVM_GAP for gap in gaps)
            ctx.report.row(
                f"{name:28} -s {solver}  " + "  ".join(f"{1e3 * s:9.2f}" for s in seconds)
                + f"   longest / shortest {ratios[-1]:5.2f}   worst gap {max(gaps):.1e}{words}",
                job=f"{name} -s {solver}", runs=runs, ratio=ratios[-1],
            )  # fmt: skip
        if ratios:
            ctx.report.bar(
                f"-s {solver}, longest time over C / shortest, worst set", max(ratios), "<=", bars.NESVM_EACH
            )
            ctx.report.bar(f"-s {solver}, runs that miss a gap of {bars.NESVM_GAP:g}", missed, "<=", 0)
