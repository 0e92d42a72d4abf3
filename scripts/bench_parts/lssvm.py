"""Least-squares solvers -s 70, 71 and 72: the paper's table, rows added to a large model, and growth with d."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.hinge import ours
from bench_parts.measure import alternate, child_json
from bench_parts.measure import ours as our_command


def halves(ctx: Context, name: str, path: str) -> tuple[str, str]:
    """Files of four fifths of the rows and of the rest, at random, with a feature of value 1 appended to each row.

    That is the bias feature of all tools.
    """
    lines = [line.strip() for line in Path(path).read_bytes().splitlines()]
    last = 1 + max((int(line.rsplit(b" ", 1)[-1].partition(b":")[0]) for line in lines if b":" in line), default=0)
    order = random.Random(1).sample(range(len(lines)), len(lines))
    cut = 4 * len(lines) // 5
    targets = ctx.path(f"{name}.four"), ctx.path(f"{name}.fifth")
    for target, chosen in zip(targets, (order[:cut], order[cut:]), strict=True):
        Path(target).write_bytes(b"".join(lines[i] + b" %d:1\n" % last for i in sorted(chosen)))
    return targets


def liblinear_run(ctx: Context, solver: int, train: str, test: str | None = None) -> dict:
    """LIBLINEAR's training time, without reading, at default -e and C = 1, and the accuracy of its model."""
    order = {
        "costs": [1.0], "ladders": {str(solver): [bars.DEFAULT_EPS[solver]]}, "budget": ctx.budget, "path": train,
        "liblinear": str(ctx.liblinear),
    }  # fmt: skip
    (found,) = child_json([sys.executable, HERE / "child_liblinear.py", json.dumps(order)])
    if test is not None:
        model = ctx.path("model")
        subprocess.run(
            [ctx.liblinear / "train", "-q", "-s", str(solver), train, model], check=True, capture_output=True
        )
        said = subprocess.run([ctx.liblinear / "predict", test, model, "/dev/null"], check=True, capture_output=True)
        found["accuracy"] = float(re.search(rb"Accuracy = (\S+)%", said.stdout)[1]) / 100
    return found


def lssvm(ctx: Context) -> None:
    """Training time and accuracy on a held-out fifth of the rows, C = 1, of each solver and its peers."""
    report = ctx.report
    report.section("lssvm", "Training alone in ms, accuracy on a fifth held out; C = 1, a bias feature in the data")
    for name, path in ctx.sets(bars.QUICK["lssvm"] if ctx.quick else bars.LSSVM_SETS):
        train, test = halves(ctx, name, path)
        found = ours(train, [{"solver": s, "bias": -1.0} for s in bars.LSSVM], test)
        tools = {f"-s {s}": run for s, run in zip(bars.LSSVM, found, strict=True)}
        if ctx.liblinear:
            tools |= {f"LIBLINEAR -s {s}": liblinear_run(ctx, s, train, test) for s in (2, 3)}
        if ctx.peer_python:
            tools["SGDClassifier"] = child_json([ctx.peer_python, HERE / "child_sgd.py", train, test])
        cells = (f"{tool} {1e3 * run['seconds']:9.2f} {100 * run['accuracy']:6.2f}%" for tool, run in tools.items())
        report.row(f"{name:28} " + "   ".join(cells), job=name, tools=tools)
        peer = tools.get("LIBLINEAR -s 2")
        if peer and name in bars.LSSVM_FAST:
            ratio = peer["seconds"] / tools["-s 70"]["seconds"]
            report.bar(f"-s 70 alone on {name}, LIBLINEAR's -s 2 / ours", ratio, ">=", bars.LSSVM_EACH)


def adapt(ctx: Context) -> None:
    """Adding rows to a model of many synthetic rows compared with training again: in memory, and as whole commands."""
    rows, new, d = bars.QUICK["adapt"] if ctx.quick else bars.ADAPT_ROWS
    report = ctx.report
    report.section("adapt", f"{new} rows added to {rows} synthetic rows, d = {d}")
    all_rows, some = ctx.path("many"), ctx.path("new")
    order = {"rows": rows, "new": new, "d": d, "many": all_rows, "some": some, "model": ctx.path("adaptable")}
    found = child_json([sys.executable, HERE / "child_adapt.py", json.dumps(order)])
    ratio = found["training"] / found["adding"]
    report.row(
        f"alone: training {1e3 * found['training']:.1f} ms, adding {1e3 * found['adding']:.2f} ms, removing "
        f"{1e3 * found['removing']:.2f} ms, weights apart by {found['apart']:.1e}",
        job="alone", **found,
    )  # fmt: skip
    report.bar("adding rows, in memory: times faster than training again", ratio, ">=", bars.ADAPT_FASTER)
    report.bar("adding rows: weights' relative distance from training again", found["apart"], "<=", bars.ADAPT_EQUAL)
    for suffix in ("", ".state.npz", ".state.rows"):
        shutil.copyfile(order["model"] + suffix, ctx.path("grown") + suffix)
    train = [*our_command("train"), "-q", "-s", "71", "--method", "fast"]
    jobs = {
        "train": [*train, all_rows, ctx.path("again")],
        "add": [*train, "--add", some, "-i", ctx.path("grown")],
        "import numpy": [sys.executable, "-c", "import numpy"],
    }
    if ctx.liblinear:
        jobs["LIBLINEAR -s 2"] = [str(ctx.liblinear / "train"), "-q", "-s", "2", all_rows, ctx.path("theirs")]
    samples = alternate(jobs, ctx.repeats)
    seconds = {name: sample.median for name, sample in samples.items()}
    report.row(
        "whole commands: " + "   ".join(f"{name} {s:.3f} s" for name, s in seconds.items()),
        job="whole",
        seconds=seconds,
    )
    if "LIBLINEAR -s 2" in seconds:
        what = "adding rows, whole svm-train --add: times faster than LIBLINEAR's training again"
        report.bar(what, seconds["LIBLINEAR -s 2"] / seconds["add"], ">=", bars.ADAPT_FASTER)


def dimensions(ctx: Context) -> None:
    """Training time over the d most frequent features of a set, and the d from which LIBLINEAR is faster."""
    report = ctx.report
    name, sizes = bars.QUICK["lssvm-dims"] if ctx.quick else bars.LSSVM_DIMS
    report.section("lssvm-dims", f"Training alone in ms on the d most frequent features of {name}, C = 1")
    curves: dict[str, list] = {}
    for _, path in ctx.sets((name,))[:1]:
        order = {"path": path, "sizes": sizes, "targets": [ctx.path(f"{name}.{d}") for d in sizes]}
        child_json([sys.executable, HERE / "child_features.py", json.dumps(order)])
        for d, target in zip(sizes, order["targets"], strict=True):
            found = ours(target, [{"solver": s, "bias": 1.0} for s in bars.LSSVM])
            tools = {f"-s {s}": run["seconds"] for s, run in zip(bars.LSSVM, found, strict=True)}
            if ctx.liblinear:
                tools |= {f"LIBLINEAR -s {s}": liblinear_run(ctx, s, target)["seconds"] for s in (2, 3)}
            for tool, seconds in tools.items():
                curves.setdefault(tool, []).append([d, seconds])
            cells = "   ".join(f"{tool} {1e3 * s:9.2f}" for tool, s in tools.items())
            report.row(f"d {d:5d}   {cells}", job=f"d {d}", d=d, seconds=tools)
        for ours_is in (f"-s {s}" for s in bars.LSSVM):
            for peer in ("LIBLINEAR -s 2", "LIBLINEAR -s 3"):
                if peer in curves:
                    report.row(f"{ours_is} against {peer}: {crossing(curves[ours_is], curves[peer])}")
    if curves:
        ctx.draw("draw_dimensions.py", "lssvm_dimensions.svg", curves)


def crossing(mine: list, theirs: list) -> str:
    """The points at which the first is not faster."""
    slower = [d for (d, a), (_, b) in zip(mine, theirs, strict=True) if a > b]
    if not slower:
        return "faster everywhere"
    return "slower at d = " + ", ".join(map(str, slower))
