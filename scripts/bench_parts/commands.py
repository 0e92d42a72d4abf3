"""Whole processes: start-up, training, prediction, scaling, memory, and equal bytes."""

from __future__ import annotations

import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.certify import REGRESSION
from bench_parts.context import Context
from bench_parts.measure import Sample, alternate, environment, geometric_mean, ours, run_once

HERE = Path(__file__).parent


def startup(ctx: Context) -> None:
    """Compare small jobs with unavoidable imports, and the first run with later ones."""
    ctx.report.section("startup", "Start-up, whole process, milliseconds")
    heart = ctx.find("heart_scale")
    if heart is None:
        return
    model, out = ctx.path("heart.model"), ctx.path("heart.out")
    run_once([*ours("train"), "-q", "-s", "2", heart, model], Sample(), environment())
    jobs = {
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import click": [sys.executable, "-c", "import click"],
        "svm-train -s 2": [*ours("train"), "-s", "2", heart, ctx.path("heart.model2")],
        "svm-predict": [*ours("predict"), heart, model, out],
        "svm-scale": [*ours("scale"), heart],
        "svm-train --help": [*ours("train"), "--help"],
    }
    if ctx.liblinear:
        jobs["LIBLINEAR train -s 2"] = [ctx.reference("train"), "-s", "2", heart, ctx.path("heart.model3")]
    samples = alternate(jobs, max(ctx.repeats, 3 if ctx.quick else 11))
    for name, s in samples.items():
        ctx.report.row(f"{name:24} {1e3 * s.median:8.1f}", job=name, seconds=s.median)
    for name in ("svm-train -s 2", "svm-predict", "svm-scale"):
        ratio = samples[name].median / samples["import numpy"].median
        ctx.report.bar(f"{name} on heart_scale / import numpy", ratio, "<=", bars.STARTUP)
    ratio = samples["svm-train --help"].median / samples["import click"].median
    ctx.report.bar("svm-train --help / import click", ratio, "<=", bars.HELP)
    first, later = Sample(), samples["svm-train -s 2"]
    bare = environment(XDG_CACHE_HOME=ctx.path("no-cache-yet"), NUMBA_CACHE_DIR=ctx.path("no-cache-yet"))
    run_once(jobs["svm-train -s 2"], first, bare)
    ctx.report.bar("first run with empty caches / later runs", first.median / later.median, "<=", bars.FIRST_RUN)


def compare(ctx: Context, label: str, jobs: dict, outputs: dict | None = None) -> float | None:
    """Time `ours`, `theirs` and `sklearn` alternately; prints a row and returns theirs / ours."""
    jobs = {name: argv for name, argv in jobs.items() if argv and argv[0]}
    samples = alternate(jobs, ctx.repeats, outputs)
    ratio = None
    if "theirs" in samples:  # a failure of ours counts as infinitely slow
        ratio = samples["theirs"].median / samples["ours"].median if "ours" in samples else 1e-9
    cells = [f"{name} {s.median:8.3f} s {s.peak_mb:6.0f} MB" for name, s in samples.items()]
    shown = "" if ratio is None else f"  ratio {ratio:5.2f}"
    ctx.report.row(
        f"{label:40} " + "   ".join(cells) + shown,
        job=label,
        seconds={name: s.median for name, s in samples.items()},
        peak_mb={name: s.peak_mb for name, s in samples.items()},
        ratio=ratio,
    )
    return ratio


def train(ctx: Context) -> None:
    """svm-train with its default -e on the large sets."""
    ctx.report.section("train", "svm-train, default -e, whole process (theirs: LIBLINEAR; ratio: theirs / ours)")
    names = bars.QUICK["large"] if ctx.quick else bars.LARGE_SETS
    for solver in (2, 1):
        ratios = []
        for name, path in ctx.sets(names):
            jobs = {
                "ours": [*ours("train"), "-q", "-s", str(solver), path, ctx.path("ours.model")],
                "theirs": [ctx.reference("train"), "-q", "-s", str(solver), path, ctx.path("theirs.model")],
                "sklearn": [ctx.peer_python, str(HERE / "child_sklearn.py"), path, str(solver)],
            }
            ratio = compare(ctx, f"{name} -s {solver}", jobs)
            if ratio is not None:
                ratios.append(ratio)
                ctx.report.bar(f"svm-train -s {solver} on {name}, LIBLINEAR / ours", ratio, ">=", bars.TRAIN_EACH)
        ctx.report.bar(f"svm-train -s {solver}, geometric mean", geometric_mean(ratios), ">=", bars.TRAIN_MEAN)


def whole(ctx: Context) -> None:
    """svm-train by each of LIBLINEAR's other numbers for classes, default -e, on the large sets."""
    for solver in ctx.numbers or [s for s in bars.DEFAULT_EPS if s not in (1, 2, *REGRESSION)]:
        ctx.report.section(
            f"whole {solver}", f"svm-train -s {solver}, default -e, whole process (ratio: theirs / ours)"
        )
        ratios = []
        for name, path in ctx.sets(bars.QUICK["large"] if ctx.quick else bars.LARGE_SETS):
            limit = ["timeout", f"{bars.WHOLE_SECONDS:g}"]
            jobs = {
                "ours": [*limit, *ours("train"), "-q", "-s", str(solver), path, ctx.path("ours.model")],
                "theirs": [*limit, ctx.reference("train"), "-q", "-s", str(solver), path, ctx.path("theirs.model")],
            }
            ratio = compare(ctx, f"{name} -s {solver}", jobs)
            if ratio is not None:
                ratios.append(ratio)
        what = f"svm-train -s {solver}, LIBLINEAR / ours, sets over 10 MB"
        ctx.report.bar(f"{what}, worst of {len(ratios)}", min(ratios, default=float("nan")), ">=", bars.TRAIN_EACH)
        ctx.report.bar(f"{what}, geometric mean", geometric_mean(ratios), ">=", bars.TRAIN_EACH)


def multiclass(ctx: Context) -> None:
    """svm-train -s 2 with several classes."""
    ctx.report.section("multiclass", "svm-train -s 2, several classes, whole process (ratio: LIBLINEAR / ours)")
    ratios = []
    for name, path in ctx.sets(bars.QUICK["multiclass"] if ctx.quick else bars.MULTICLASS_SETS):
        jobs = {
            "ours": [*ours("train"), "-q", "-s", "2", path, ctx.path("ours.model")],
            "theirs": [ctx.reference("train"), "-q", "-s", "2", path, ctx.path("theirs.model")],
        }
        ratio = compare(ctx, name, jobs)
        if ratio is not None:
            ratios.append(ratio)
    ctx.report.bar("several classes, geometric mean", geometric_mean(ratios), ">=", bars.MULTICLASS_MEAN)


def predict(ctx: Context) -> None:
    """svm-predict with the same model for both tools."""
    ctx.report.section("predict", "svm-predict, whole process (ratio: LIBLINEAR / ours)")
    for train_name, test_name in bars.QUICK["predict"] if ctx.quick else bars.PREDICT_SETS:
        train_set, test_set = ctx.find(train_name), ctx.find(test_name)
        if train_set is None or test_set is None:
            continue
        model = ctx.path(f"{train_name}.model")
        trainer = ctx.reference("train")
        argv = [trainer, "-q", "-s", "1", "-c", "0.01", train_set, model] if trainer else None
        run_once(argv or [*ours("train"), "-q", "-c", "0.01", train_set, model], Sample(), environment())
        jobs = {
            "ours": [*ours("predict"), test_set, model, ctx.path("ours.out")],
            "theirs": [ctx.reference("predict"), test_set, model, ctx.path("theirs.out")],
        }
        ratio = compare(ctx, test_name, jobs)
        if ratio is not None:
            same = Path(ctx.path("ours.out")).read_bytes() == Path(ctx.path("theirs.out")).read_bytes()
            ctx.report.row(f"   same bytes: {same}", job=f"{test_name} same bytes", same=same)
            ctx.report.bar(f"svm-predict on {test_name}, LIBLINEAR / ours", ratio, ">=", bars.PREDICT_EACH)


def scale(ctx: Context) -> None:
    """svm-scale to -1..1 and to 0..1."""
    ctx.report.section("scale", "svm-scale, whole process (theirs: LIBSVM; ratio: theirs / ours)")
    for name, path in ctx.sets(bars.QUICK["scale"] if ctx.quick else bars.SCALE_SETS):
        for options in ((), ("-l", "0")):
            outputs = {"ours": ctx.path("ours.scale"), "theirs": ctx.path("theirs.scale")}
            jobs = {"ours": [*ours("scale"), *options, path], "theirs": [ctx.reference("svm-scale"), *options, path]}
            label = " ".join([name, *options])
            ratio = compare(ctx, label, jobs, outputs)
            if ratio is not None:
                same = _same(outputs["ours"], outputs["theirs"])
                ctx.report.row(f"   same bytes: {same}", job=f"{label} same bytes", same=same)
                ctx.report.bar(f"svm-scale {label}, LIBSVM / ours", ratio, ">=", bars.SCALE_EACH)
            for output in outputs.values():
                Path(output).unlink(missing_ok=True)


def _same(a: str, b: str) -> bool:
    """Whether two files hold the same bytes; they may be larger than memory."""
    with open(a, "rb") as f, open(b, "rb") as g:
        while True:
            x, y = f.read(1 << 20), g.read(1 << 20)
            if x != y or not x:
                return x == y


def memory(ctx: Context) -> None:
    """Peak memory of svm-train -s 2."""
    ctx.report.section("memory", "Peak memory of svm-train, MB")
    for name, path in ctx.sets(bars.QUICK["memory"] if ctx.quick else bars.MEMORY_SETS):
        for solver in (2, 1):
            mine, theirs = Sample(), Sample()
            env = environment()
            argv = ["-q", "-s", str(solver), "-e", "0.1", path]
            run_once([*ours("train"), *argv, ctx.path("ours.model")], mine, env)
            text, facts = f"{name + f' -s {solver}':40} ours {mine.peak_mb:7.0f}", {"ours": mine.peak_mb}
            if ctx.liblinear:
                run_once([ctx.reference("train"), *argv, ctx.path("theirs.model")], theirs, env)
                text, facts = text + f"   theirs {theirs.peak_mb:7.0f}", {**facts, "theirs": theirs.peak_mb}
            ctx.report.row(text, job=name, solver=solver, peak_mb=facts)
            if ctx.liblinear:
                more = mine.peak_mb - theirs.peak_mb
                ctx.report.bar(f"MB above LIBLINEAR's, -s {solver} on {name}", more, "<=", bars.MEMORY_MB)


def determinism(ctx: Context) -> None:
    """Two runs, one and two threads: equal model files."""
    ctx.report.section("determinism", "Equal model files from repeated runs and other numbers of threads")
    names = ("heart_scale", "a9a") if ctx.quick else ("heart_scale", "a9a", "poker", "imdb.tfidf", "connect-4")
    most = 0.0
    for name, path in ctx.sets(names):
        for solver in ("1", "2", "40"):
            texts = []
            for k, count in enumerate(("1", "2", "2")):
                model = ctx.path(f"threads{k}.model")
                run_once([*ours("train"), "-q", "--threads", count, "-s", solver, path, model], Sample(), environment())
                texts.append(Path(model).read_bytes())
            different = float(len(set(texts)) - 1)
            ctx.report.row(
                f"{name:40} -s {solver}: {len(set(texts))} distinct", job=name, solver=solver, same=not different
            )
            most = max(most, different)
    ctx.report.bar("distinct model files beyond the first over runs and threads, worst pair", most, "<=", 0.0)
