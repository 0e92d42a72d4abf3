"""The kernel least-squares solvers on the sets of SGD-LSSVM's Dataset II, compared with our C-SVC and LIBSVM's."""

from __future__ import annotations

import random
import re
from pathlib import Path

from bench_parts import bars
from bench_parts.context import Context
from bench_parts.kernel import Case, Run, side_by_side, within
from bench_parts.measure import ours, solver

OURS = {"-s 73": "73", "-s 52": "52", "-s 60": "60"}  # our solvers by name
TESTED = 5  # without a test file one of this many rows is held out


def kernel_ls(ctx: Context) -> None:
    """Time of svm-train and accuracy on held-out rows of each tool, at the same C and gamma."""
    ctx.report.section(
        "kernel-ls",
        f"Gaussian kernel: least squares (-s 73, 52) beside C-SVC (-s 60, LIBSVM), whole training and accuracy on "
        f"other rows; nothing longer than {ctx.budget:g} s",
    )
    for name, C, gamma in bars.QUICK["kernel-ls"] if ctx.quick else bars.KERNEL_LS_CASES:
        path = None if name in ctx.skipped else ctx.find(name)
        if path is None:
            continue
        train, test = parted(ctx, name, path)
        case = Case(name, train, C, gamma)
        runs = side_by_side(_trainers(ctx, case), ctx.budget, ctx.repeats, ctx.path("kernel.out"))
        found = {tool: _facts(ctx, tool, run, test) for tool, run in runs.items()}
        cells = "   ".join(f"{tool} {_cell(runs[tool], facts)}" for tool, facts in found.items())
        ctx.report.row(f"{name:16} C {C:g} gamma {gamma:g}   {cells}", job=name, C=C, gamma=gamma, tools=found)


def parted(ctx: Context, name: str, path: str) -> tuple[str, str]:
    """A set and its test file, or a random split into four fifths and the rest."""
    test = ctx.find(f"{name}.t")
    if test is not None:
        return path, test
    lines = Path(path).read_bytes().splitlines(keepends=True)
    order = random.Random(1).sample(range(len(lines)), len(lines))
    cut = len(lines) // TESTED
    targets = ctx.path(f"{name}.more"), ctx.path(f"{name}.fifth")
    for target, chosen in zip(targets, (order[cut:], order[:cut]), strict=True):
        Path(target).write_bytes(b"".join(lines[i] for i in sorted(chosen)))
    return targets


def _trainers(ctx: Context, case: Case) -> dict[str, list[str]]:
    options = ["-t", "2", "-c", f"{case.C:g}", "-g", f"{case.gamma:g}", "-m", str(bars.KERNEL_CACHE_MB)]
    jobs = {
        tool: within(ctx.budget, [*ours("train"), *solver(s), *options, case.path, _model(ctx, tool)])
        for tool, s in OURS.items()
    }
    if ctx.libsvm:
        argv = [ctx.reference("svm-train"), "-q", *options, case.path, _model(ctx, "LIBSVM")]
        jobs["LIBSVM"] = within(ctx.budget, argv)
    return jobs


def _model(ctx: Context, tool: str) -> str:
    return ctx.path(f"{tool.replace(' ', '')}.model")


def _facts(ctx: Context, tool: str, run: Run, test: str) -> dict:
    """A run's results with the accuracy of its model and the certified gap that it printed."""
    facts = run.facts()
    if not run.failed and not run.over:
        argv = [*ours("predict"), test, _model(ctx, tool), ctx.path("kernel.predictions")]
        said = side_by_side({"predict": argv}, ctx.budget, 0, ctx.path("kernel.out"))["predict"].text
        facts["accuracy"] = float(re.search(r"Accuracy = (\S+)%", said)[1]) / 100
        gap = re.search(r"(?:Certified|Estimated) relative gap = (\S+)", run.text)
        facts["gap"] = float(gap[1]) if gap else None  # LIBSVM prints none
    return facts


def _cell(run: Run, facts: dict) -> str:
    if "accuracy" not in facts:
        return str(run)
    gap_text = "" if facts["gap"] is None else f" gap {facts['gap']:.0e}"
    return f"{run.median:.3g} s {100 * facts['accuracy']:.2f}%{gap_text}"
