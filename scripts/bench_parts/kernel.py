"""svm-train with the Gaussian kernel compared with LIBSVM's and with SVC of scikit-learn and oneDAL."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench_parts import bars
from bench_parts.context import Context, imports
from bench_parts.measure import CommandFailed, OverTimeError, Sample, environment, geometric_mean, ours, run_once

HERE = Path(__file__).parent
SLOW = 5.0  # above this many seconds there are only two rounds
NEVER = 1e-9  # ratio if ours did not finish
PEERS = {"scikit-learn": "sklearn", "oneDAL": "sklearnex"}  # name and module of their SVC


class Case(NamedTuple):
    """A prepared set with its training settings; gamma None: the default."""

    label: str
    path: str
    C: float
    gamma: float | None

    def options(self, eps: float = bars.KERNEL_EPS, cache_mb: int = bars.KERNEL_CACHE_MB) -> list[str]:
        """Options of svm-train, ours and LIBSVM's."""
        words = ["-t", "2", "-c", f"{self.C:g}", "-e", f"{eps:g}", "-m", str(cache_mb)]
        return words if self.gamma is None else [*words, "-g", f"{self.gamma:g}"]


class Run(Sample):
    """Repeated runs of one tool, with what the last wrote to stdout.

    over: the budget ended the first run, and `seconds` holds the budget; failed: its words if it ended otherwise.
    """

    def __init__(self) -> None:
        super().__init__()
        self.text, self.failed, self.over = "", "", False

    def __str__(self) -> str:
        if self.failed:
            return "failed"
        return f"{'over ' if self.over else ''}{self.median:.4g} s"

    def facts(self) -> dict:
        """For the JSON file."""
        if self.failed:
            return {"failed": self.failed}
        return {"seconds": self.median, "over": self.over, "peak_mb": self.peak_mb, "runs": self.seconds}


def cases(ctx: Context, wanted: Iterable[tuple]) -> list[Case]:
    """The available ones of (set, C, gamma), or files of the command line at the defaults."""
    if ctx.files:
        return [Case(f.name, str(f), 1.0, None) for f in ctx.files]
    found = []
    for name, C, gamma in wanted:
        path = None if name in ctx.skipped else ctx.find(name)
        if path is not None:
            first, split = bars.KERNEL_FIRST.get(name), bars.KERNEL_SPLIT.get(name)
            part = "" if split is None else f" to {split} / above"
            part += "" if first is None else f", first {first}"
            label = f"{name}{part} C {C:g} gamma {'1/d' if gamma is None else f'{gamma:g}'}"
            found.append(Case(label, prepared(ctx, path, first, split), C, gamma))
    return found


def prepared(ctx: Context, path: str, first: int | None, split: int | None = None) -> str:
    """The first rows of a set, labels up to `split` made +1 and those above it -1; `path` itself without either."""
    if first is None and split is None:
        return path
    target = ctx.path(f"{Path(path).name}.{first}.{split}")
    with open(path, encoding="ascii") as source, open(target, "w", encoding="ascii") as sink:
        for line in itertools.islice(source, first):
            label = line.split(maxsplit=1)[0]
            sink.write(line if split is None else ("+1" if float(label) <= split else "-1") + line[len(label) :])
    return target


def side_by_side(jobs: Mapping[str, Sequence], budget: float, repeats: int, output: str) -> dict[str, Run]:
    """Run the commands alternately, A B A B; returns a Run for each.  Failed or too slow ones are not repeated.

    Where one takes longer than SLOW there are two rounds at most; else the first of them does not count.  A command
    whose stdout is JSON with "seconds" has measured itself.
    """
    env = environment()
    runs = {name: Run() for name in jobs}
    quick, rounds = False, repeats + 1
    k = 0
    while k < rounds:
        for name, argv in jobs.items():
            run = runs[name]
            if run.over or run.failed:
                continue
            try:
                run_once(argv, run, env, output)
            except OverTimeError:
                run.over = len(run.seconds) == 1
                run.seconds[-1:] = [budget] if run.over else []
            except CommandFailed as e:
                run.failed = str(e)
                continue
            run.text = Path(output).read_text(encoding="utf-8", errors="replace")
            if run.text.startswith("{"):
                run.seconds[-1] = json.loads(run.text)["seconds"]
        if k == 0:
            quick = max((r.seconds[0] for r in runs.values() if r.seconds), default=0.0) <= SLOW
            rounds = repeats + 1 if quick else min(repeats, 2)
        k += 1
    for run in runs.values():
        if quick and len(run.seconds) > 1:
            del run.seconds[0]
    return runs


def within(budget: float, argv: Sequence) -> list[str]:
    """A command with a time limit."""
    return ["timeout", "-k", "5", f"{budget:g}", *map(str, argv)]


def trainers(ctx: Context, case: Case) -> dict[str, list[str]]:
    """The commands that train on a case, by name."""
    jobs = {"ours": within(ctx.budget, [*ours("train"), *case.options(), case.path, ctx.path("ours.model")])}
    if ctx.libsvm:
        argv = [ctx.reference("svm-train"), *case.options(), case.path, ctx.path("theirs.model")]
        jobs["LIBSVM"] = within(ctx.budget, argv)
    for name, module in PEERS.items():
        if ctx.peer_python and imports(ctx.peer_python, module):
            order = {
                "path": case.path, "peer": module, "C": case.C, "gamma": case.gamma, "eps": bars.KERNEL_EPS,
                "cache_mb": bars.KERNEL_CACHE_MB, "budget": ctx.budget,
            }  # fmt: skip
            jobs[name] = [ctx.peer_python, str(HERE / "child_svc.py"), json.dumps(order)]
    return jobs


def ratio_of(mine: Run, theirs: Run | None) -> float | None:
    """Their time over ours, a lower bound if theirs exceeded the budget.

    None where theirs is absent or failed, or where both were over: then nothing can be said.
    """
    if theirs is None or theirs.failed or (mine.over and theirs.over):
        return None
    return NEVER if mine.failed or mine.over else theirs.median / mine.median


def objectives(text: str) -> list[float]:
    """The objectives that svm-train printed, one for each pair of classes."""
    return [float(value) for value in re.findall(r"^obj = (\S+),", text, re.MULTILINE)]


def apart(found: list[float], best: list[float]) -> tuple[float, float]:
    """Relative differences of objectives: of the sums, and the largest of one problem."""
    if len(found) != len(best) or not best:
        raise CommandFailed(f"{len(found)} objectives beside LIBSVM's {len(best)}")
    return _relative(sum(found), sum(best)), max(map(_relative, found, best), key=abs)


def _relative(value: float, best: float) -> float:
    return (value - best) / max(abs(best), 1e-300)


def data_mb(path: str) -> float:
    """MB of a set as compressed sparse rows: 12 bytes for each number, 8 for each row."""
    numbers = rows = 0
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            numbers, rows = numbers + block.count(b":"), rows + block.count(b"\n")
    return (12 * numbers + 8 * rows) / 2**20


def kernel(ctx: Context) -> None:
    """Training time of each case and tool; objectives relative to a tight run of LIBSVM; peak memory."""
    report = ctx.report
    report.section(
        "kernel",
        f"svm-train -t 2, tolerance {bars.KERNEL_EPS:g}, -m {bars.KERNEL_CACHE_MB}: ours and LIBSVM's as whole "
        f"processes, SVC.fit alone of the others; nothing longer than {ctx.budget:g} s (ratio: theirs / ours)",
    )
    ratios: dict[str, list[float]] = {"LIBSVM": [], "scikit-learn": [], "oneDAL": []}
    cut = dict.fromkeys(ratios, 0)
    above, distances = [], []
    for case in cases(ctx, bars.QUICK["kernel"] if ctx.quick else bars.KERNEL_CASES):
        runs = side_by_side(trainers(ctx, case), ctx.budget, ctx.repeats, ctx.path("kernel.out"))
        mine = runs["ours"]
        for name, run in runs.items():
            if run.failed:
                report.show(f"   {name}: {run.failed}")
        beside = {name: ratio for name in ratios if (ratio := ratio_of(mine, runs.get(name))) is not None}
        for name, ratio in beside.items():
            ratios[name].append(ratio)
            cut[name] += runs[name].over
        cells = "   ".join(f"{name} {run}" for name, run in runs.items())
        shown = "  ".join(f"{name} {'>' * runs[name].over}{ratio:.2f}" for name, ratio in beside.items())
        report.row(
            f"{case.label:52} {cells}   ratio: {shown}",
            job=case.label, C=case.C, gamma=case.gamma, tools={name: run.facts() for name, run in runs.items()},
            ratios=beside,
        )  # fmt: skip
        rivals = {name: beside[name] for name in ("LIBSVM", "oneDAL") if name in beside}
        what = f"{case.label}, faster of {' and '.join(rivals) or 'LIBSVM and oneDAL'} / ours"
        report.bar(what, min(rivals.values(), default=float("nan")), ">=", bars.KERNEL_EACH)
        if not mine.failed:
            above.append(mine.peak_mb - bars.KERNEL_CACHE_MB - data_mb(case.path))
        if ctx.libsvm and not mine.failed and not mine.over:
            distances.append(_objective(ctx, case, runs))
    for name, limit in (("LIBSVM", bars.KERNEL_LIBSVM_MEAN), ("oneDAL", bars.KERNEL_ONEDAL_MEAN)):
        what = f"kernels, {name} / ours, geometric mean of {len(ratios[name])}"
        if cut[name]:
            what += f" ({cut[name]} of them more than that: over {ctx.budget:g} s)"
        report.bar(what, geometric_mean(ratios[name]), ">=", limit)
    known = [abs(d) for d in distances if d is not None]
    what = f"kernels, objective against LIBSVM's at -e {bars.KERNEL_TIGHT:g}, worst of {len(known)} sets"
    report.bar(what, max(known, default=float("nan")), "<=", bars.KERNEL_OBJECTIVE)
    what = f"kernels, MB above -m {bars.KERNEL_CACHE_MB} and the data, worst"
    report.bar(what, max(above, default=float("nan")), "<=", bars.KERNEL_MEMORY_MB)
    _small_cache(ctx)


def _objective(ctx: Context, case: Case, runs: dict[str, Run]) -> float | None:
    """Show our objective and LIBSVM's relative to its tight run; returns our distance, None without that run."""
    argv = [ctx.reference("svm-train"), *case.options(bars.KERNEL_TIGHT), case.path, ctx.path("theirs.model")]
    tight = side_by_side({"tight": within(ctx.budget, argv)}, ctx.budget, 0, ctx.path("kernel.out"))["tight"]
    job = f"{case.label} objective"
    if tight.failed or tight.over:
        ctx.report.row(f"   LIBSVM -e {bars.KERNEL_TIGHT:g}: {tight.failed or tight}", job=job, tight=tight.facts())
        return None
    best = objectives(tight.text)
    total, worst = apart(objectives(runs["ours"].text), best)
    shown = f"   objective: ours {total:+.1e}"
    if len(best) > 1:
        shown += f" (worst of {len(best)} pairs {worst:+.1e})"
    their = runs["LIBSVM"]
    other = None if their.failed or their.over else apart(objectives(their.text), best)[0]
    if other is not None:
        shown += f", LIBSVM {other:+.1e}"
    ctx.report.row(
        f"{shown} from LIBSVM's at -e {bars.KERNEL_TIGHT:g} ({tight})",
        job=job, tight=tight.facts(), ours=total, worst_pair=worst, theirs=other,
    )  # fmt: skip
    return total


def _small_cache(ctx: Context) -> None:
    """Our peak memory with -m smaller than the rows of the kernel matrix that training uses."""
    wanted = bars.QUICK["kernel-memory"] if ctx.quick else bars.KERNEL_MEMORY_CASES
    for *which, cache_mb in wanted if not ctx.files else ():
        for case in cases(ctx, [tuple(which)]):
            argv = [*ours("train"), *case.options(cache_mb=cache_mb), case.path, ctx.path("ours.model")]
            run = side_by_side({"ours": within(ctx.budget, argv)}, ctx.budget, 0, os.devnull)["ours"]
            data = data_mb(case.path)
            text = f"{case.label:52} ours {run}, {run.peak_mb:.0f} MB with -m {cache_mb} and {data:.1f} MB of data"
            ctx.report.row(text, job=f"{case.label} memory", cache_mb=cache_mb, data_mb=data, ours=run.facts())
            more = float("nan") if run.failed else run.peak_mb - cache_mb - data
            ctx.report.bar(f"{case.label}, MB above -m {cache_mb} and the data", more, "<=", bars.KERNEL_MEMORY_MB)
