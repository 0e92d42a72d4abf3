"""svm-predict with a kernel model compared with LIBSVM's."""

from __future__ import annotations

from pathlib import Path

from bench_parts import bars
from bench_parts.context import Context
from bench_parts.kernel import Case, Run, prepared, ratio_of, side_by_side, within
from bench_parts.measure import Sample, environment, ours, run_once


def kernel_predict(ctx: Context) -> None:
    """Time whole commands with a model trained by ours, and count different predictions."""
    ctx.report.section(
        "kernel-predict",
        f"svm-predict with a kernel model, whole process, nothing longer than {ctx.budget:g} s (ratio: LIBSVM / ours)",
    )
    for train_name, test_name, C, gamma, first in (
        bars.QUICK["kernel-predict"] if ctx.quick else bars.KERNEL_PREDICT_CASES
    ):
        train_set, test_set = ctx.find(train_name), ctx.find(test_name)
        if train_set is None or test_set is None:
            continue
        case, model = Case(test_name, prepared(ctx, train_set, first), C, gamma), ctx.path("kernel.model")
        run_once([*ours("train"), "-q", *case.options(), case.path, model], Sample(), environment())
        jobs = {"ours": within(ctx.budget, [*ours("predict"), test_set, model, ctx.path("ours.out")])}
        if ctx.libsvm:
            argv = [ctx.reference("svm-predict"), test_set, model, ctx.path("theirs.out")]
            jobs["LIBSVM"] = within(ctx.budget, argv)
        runs = side_by_side(jobs, ctx.budget, ctx.repeats, ctx.path("kernel.out"))
        _show(ctx, case, runs)


def _show(ctx: Context, case: Case, runs: dict[str, Run]) -> None:
    their = runs.get("LIBSVM")
    ratio = ratio_of(runs["ours"], their)
    differ = None
    if their and not any(run.failed or run.over for run in runs.values()):
        lines = [Path(ctx.path(f"{side}.out")).read_text().split() for side in ("ours", "theirs")]
        differ = sum(a != b for a, b in zip(*lines, strict=True))
    cells = "   ".join(f"{name} {run} {run.peak_mb:.0f} MB" for name, run in runs.items())
    shown = "" if ratio is None else f"   ratio {'>' * their.over}{ratio:.2f}"
    shown += "" if differ is None else f"   predictions that differ: {differ} of {len(lines[0])}"
    ctx.report.row(
        f"{case.label:24} {cells}{shown}",
        job=case.label, C=case.C, gamma=case.gamma, tools={name: run.facts() for name, run in runs.items()},
        ratio=ratio, differ=differ,
    )  # fmt: skip
    for name, run in runs.items():
        if run.failed:
            ctx.report.show(f"   {name}: {run.failed}")
    if ratio is not None:
        ctx.report.bar(
            f"svm-predict on {case.label} with a kernel, LIBSVM / ours", ratio, ">=", bars.KERNEL_PREDICT_EACH
        )
