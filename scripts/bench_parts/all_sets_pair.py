"""One pair of a set and a command, -s and -c: measurements of the part `all-sets`, ours and LIBLINEAR's in turn."""

from __future__ import annotations

import json
import math
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.measure import CommandFailed, OverTimeError, Sample, child_json, environment, ours, run_once

ENOUGH_SECONDS, MAX_RUNS = 3.0, 5  # time and number of repeated runs, at most
RULE_MIN_GAP = ("--gap", "1e-6")  # used if our default ends above LIBLINEAR's objective
LIBRARY = "liblinear.so.6"  # in LIBLINEAR's folder, for training alone
NOT_CONVERGED = 2  # exit status with --strict
CHUNK = 1 << 20


class DataSet(NamedTuple):
    """A set; megabytes: of its text; classes, numbers: whether its labels can be used as such."""

    name: str
    path: str
    megabytes: float
    nonzeros: int
    columns: int
    classes: bool
    numbers: bool


class Pair(NamedTuple):
    """One command on one set."""

    name: str
    solver: int
    C: float

    @property
    def command(self) -> str:
        return f"svm-train -s {self.solver} -c {self.C:g} {self.name}"


def measure(ctx: Context, pair: Pair, data: DataSet) -> dict:
    """Measure a pair: {"runs": by tool, "objective": ...}, each run as from `_run_of`."""
    warm(data.path)
    common = ["-q", "-s", str(pair.solver), "-c", f"{pair.C:g}"]
    mine = [*ours("train"), *common]
    gap = ["--gap", f"{bars.ALL_SETS_GAP:g}", "--strict"]
    theirs = ctx.reference("train")
    assert theirs is not None
    jobs = {
        "ours": [*mine, data.path, ctx.path("ours.model")],
        "theirs": [theirs, *common, data.path, ctx.path("theirs.model")],
        "gap": [*mine, *gap, data.path, ctx.path("gap.model")],
    }
    runs = in_turn(jobs, ctx.limit)
    if runs["theirs"]["ended"] == "yes":
        return {"runs": runs, "objective": _objective(ctx, pair, data, mine)}
    return {"runs": runs, "objective": {"left_out": "LIBLINEAR does not end"}}


def warm(path: str) -> None:
    """Read a file, so that it is in the page cache."""
    with open(path, "rb") as f:
        while f.read(CHUNK):
            pass


def in_turn(jobs: dict[str, list[str]], limit: float) -> dict[str, dict]:
    """Run commands alternately, A B C A B C, for ENOUGH_SECONDS, at least one round.

    One that fails or is ended by the limit is not run again.
    """
    env = environment()
    samples = {name: Sample() for name in jobs}
    ends = dict.fromkeys(jobs, "yes")
    words = dict.fromkeys(jobs, "")
    spent = 0.0
    for _ in range(MAX_RUNS):
        begun = spent
        for name, argv in jobs.items():
            if ends[name] != "yes":
                continue
            try:
                run_once(argv, samples[name], env, limit=limit)
            except OverTimeError:
                ends[name] = "over"
            except CommandFailed as e:
                ends[name] = "short" if e.status == NOT_CONVERGED else "failed"
                words[name] = str(e)[-500:]
            spent += samples[name].seconds[-1] if samples[name].seconds else 0.0
        if spent + (spent - begun) > ENOUGH_SECONDS:
            break
    return {name: _run_of(samples[name], ends[name], words[name]) for name in jobs}


def _run_of(sample: Sample, ended: str, words: str) -> dict:
    """Medians of a command's runs; ended: yes, over (the time limit), short (of --gap) or failed, with its message."""
    failure = {"words": words} if words else {}
    seconds = sample.seconds if ended == "yes" else sample.seconds[-1:]
    return {
        "seconds": statistics.median(seconds) if seconds else None, "times": len(sample.seconds),
        "peak_mb": sample.peak_mb, "ended": ended, **failure,
    }  # fmt: skip


def _objective(ctx: Context, pair: Pair, data: DataSet, mine: list[str]) -> dict:
    """Training time to the final objective of LIBLINEAR's default; ours from the solver log."""
    assert ctx.liblinear is not None
    if not (ctx.liblinear / LIBRARY).exists():
        return {"left_out": f"no {LIBRARY} (make lib)"}
    default = bars.DEFAULT_EPS[pair.solver]
    ladder = [default * factor for factor in bars.ALL_SETS_LOOSER]
    order = {
        "costs": [pair.C], "budget": ctx.limit, "path": data.path, "liblinear": str(ctx.liblinear),
        "ladders": {str(pair.solver): ladder},
    }  # fmt: skip
    try:
        steps = child_json([sys.executable, HERE / "child_liblinear.py", json.dumps(order)], limit=2 * ctx.limit)
    except OverTimeError:
        return {"left_out": "LIBLINEAR's library takes too long"}
    except CommandFailed as e:
        return {"left_out": "LIBLINEAR's library fails", "words": str(e)[-500:]}
    ends = [step for step in steps if step["e"] == default]
    if not ends:
        return {"left_out": "LIBLINEAR's library takes too long"}
    target = ends[0]["objective"]
    if not math.isfinite(target):
        return {"left_out": "LIBLINEAR's objective is not finite"}
    target += bars.NEVER_WORSE * abs(target)
    best = min((step for step in steps if step["objective"] <= target), key=lambda step: step["seconds"])
    found = {"target": target, "theirs": best["seconds"], "e": best["e"], "ours": None, "with": []}
    log = Path(ctx.path("ours.log"))
    for more in ((), RULE_MIN_GAP):
        log.unlink(missing_ok=True)
        argv = [*mine, *more, "--solver-log", str(log), data.path, ctx.path("ours.model")]
        try:
            run_once(argv, Sample(), environment(), limit=ctx.limit)
        except OverTimeError:
            pass  # the records so far count
        except CommandFailed as e:
            found["words"] = str(e)[-500:]
        found |= {"ours": seconds_to(log, target, _columns(pair, data)), "with": list(more)}
        if found["ours"] is not None:
            break
    return found


def _columns(pair: Pair, data: DataSet) -> int:
    """Number of problems of a command, each with its own records in the log."""
    return 1 if pair.solver in (4, 11, 12, 13) else data.columns


def seconds_to(log: Path, target: float, columns: int) -> float | None:
    """Time until the sum of best objectives over the `columns` problems of a log reaches the target.

    None if it never does: a problem without a record yet counts as infinitely far.
    """
    records = []
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:  # the incomplete last line of an ended run
            continue
        if record["objective"] is not None:
            records.append((record["seconds"], str(record.get("label")), record["objective"]))
    best: dict[str, float] = {}
    for seconds, label, objective in sorted(records):
        best[label] = min(best.get(label, math.inf), objective)
        if len(best) == columns and math.fsum(best.values()) <= target:
            return seconds
    return None
