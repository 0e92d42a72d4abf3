"""Generated files of gigabytes: svm-train beside LIBLINEAR and LIBSVM, and --memory against training in memory."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from bench_parts import bars
from bench_parts.commands import compare
from bench_parts.context import Context
from bench_parts.measure import Sample, environment, ours, run_once, solver

NUMBERS = (1, 2, 3, 0, 11, 30, 31, 40, 42, 50, 70)
FEATURES = 100
PRINTED = 1e-8  # relative precision of the printed primal value
LETTERS = {"K": 1e3, "M": 1e6, "G": 1e9}
CERTIFICATE = re.compile(r"Certified relative gap = (\S+) \(primal (\S+), dual")


LARGE = {"dense": 1000, "onehot": None, "trigrams": None}  # kind of scripts/make_large.py: features


def large(ctx: Context) -> None:
    """Each kind of large set: linear training in memory and with --memory, and kernels on its first rows."""
    ctx.report.section("large", "Generated sets, whole process (ratio: LIBLINEAR, with kernels LIBSVM / ours)")
    least = {}
    for kind, features in LARGE.items():
        path = ctx.made(kind, "mb", min(ctx.made_mb, bars.LARGE_MB), features)
        for number in ctx.numbers or bars.LARGE_NUMBERS:
            words = ["-q", "-s", str(number)]
            jobs = {
                "ours": [*ours("train"), *words, path, ctx.path("ours.model")],
                "disk": [*ours("train"), *words, "--memory", ctx.memory, path, ctx.path("disk.model")],
                "theirs": [ctx.reference("train"), *words, path, ctx.path("theirs.model")],
            }
            least[f"-s {number}, {kind}"] = compare(ctx, f"{kind} -s {number}", jobs)
            shutil.rmtree(f"{path}.rows", ignore_errors=True)
        part = ctx.made(kind, "rows", bars.LARGE_KERNEL_ROWS, features)
        for number in bars.LARGE_KERNELS:
            words = ["-q", "-s", str(number), "-t", "2"]
            jobs = {
                "ours": [*ours("train"), *words, part, ctx.path("ours.model")],
                "theirs": [ctx.reference("svm-train"), *words, part, ctx.path("theirs.model")],
            }
            least[f"-s {number} -t 2, {kind}"] = compare(ctx, f"{kind} -s {number} -t 2", jobs)
    for what, ratio in least.items():
        if ratio is not None:
            ctx.report.bar(f"large sets, {what}, theirs / ours", ratio, ">=", bars.LARGE_EACH)


def on_disk(ctx: Context) -> None:
    """Each solver number in memory, with --memory for the first time, and with --memory again."""
    limit = float(ctx.memory[:-1]) * LETTERS[ctx.memory[-1]]
    path = Path(ctx.made("dense", "mb", ctx.made_mb, FEATURES))
    rows = Path(f"{path}.rows")
    ctx.report.section(
        "on-disk",
        f"svm-train --memory {ctx.memory} on {path.stat().st_size / 1e6:.0f} MB of text, {FEATURES} features, whole "
        "process: seconds and peak MB in memory, with --memory the first and second time; second / in memory",
    )
    most, slowest, apart = 0.0, 0.0, 0.0
    for number in ctx.numbers or NUMBERS:
        shutil.rmtree(rows, ignore_errors=True)
        found = {}
        for way, more in (("memory", ()), ("first", ("--memory", ctx.memory)), ("again", ("--memory", ctx.memory))):
            sample, model = Sample(), ctx.path(f"{way}.model")
            run_once([*ours("train"), "-q", *solver(number), *more, path, model], sample, environment())
            gap, primal = map(float, CERTIFICATE.search(Path(model).read_text()).groups())
            found[way] = {"seconds": sample.median, "peak_mb": 1.048576 * sample.peak_mb, "gap": gap, "primal": primal}
        here, there = found["memory"], found["again"]
        ratio = there["seconds"] / here["seconds"]
        difference = abs(there["primal"] / here["primal"] - 1.0) / (there["gap"] + here["gap"] + PRINTED)
        cells = "   ".join(f"{way} {f['seconds']:7.2f} s {f['peak_mb']:6.0f} MB" for way, f in found.items())
        ctx.report.row(f"-s {number:<3} {cells}   ratio {ratio:5.2f}", job=f"-s {number}", runs=found, ratio=ratio)
        most = max(most, found["first"]["peak_mb"], there["peak_mb"])
        slowest, apart = max(slowest, ratio), max(apart, difference)
    ctx.report.bar(f"peak MB with --memory {ctx.memory}, worst -s", most, "<=", limit / 1e6)
    ctx.report.bar("with --memory and an existing folder / in memory, worst -s", slowest, "<=", bars.ON_DISK_SLOWER)
    ctx.report.bar(
        "difference of the objectives / sum of the certified gaps, worst -s", apart, "<=", bars.ON_DISK_APART
    )
    shutil.rmtree(rows, ignore_errors=True)
