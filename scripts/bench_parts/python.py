"""Fits from Python, arrays in memory: seconds to the same certified objective, ours and other packages'.

The pairs (set, problem, C) are measured in an order that depends on the seed alone, until the time is up; each result
is saved at once, as in `all-sets`.  All tools of a pair run in one process, in turn.
"""

from __future__ import annotations

import json
import lzma
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import machine
from bench_parts import bars, python_distribution
from bench_parts.all_sets import Results, code_hash, in_order, sets_of
from bench_parts.all_sets_pair import ENOUGH_SECONDS, MAX_RUNS, DataSet
from bench_parts.context import Context
from bench_parts.measure import CommandFailed, OverTimeError, child_json, environment

HERE = Path(__file__).parent
RESULTS = "python.jsonl"
KINDS = ("squared hinge", "hinge", "logistic", "rbf")
OURS = "ours"
CERTAIN = 1e-6  # gap of the run that gives the minimum's lower bound
AROUND_SECONDS = 300.0  # for reading, warming up, and computing an objective
PACKAGES = ("scikit-learn", "scikit-learn-intelex", "liblinear-official", "snapml")

VERSIONS = f"""
import importlib.metadata as m, json
print(json.dumps({{d.name: d.version for d in m.distributions() if d.name in {PACKAGES}}}))
"""


class Pair(NamedTuple):
    """One problem on one set; solver: its kind."""

    name: str
    solver: str
    C: float

    @property
    def command(self) -> str:
        return f"{self.solver}, C {self.C:g}, {self.name}"


def python(ctx: Context) -> None:
    """Measure pairs until the time is up; reports the distribution of the ratios."""
    ctx.report.section("python", "Fits from Python to a certified relative gap of 1e-4: other packages' time / ours")
    if not ctx.peer_python:
        ctx.report.show("   left out: no Python with scikit-learn was given (--peer-python)")
        return
    found = {name: data for name, data in sets_of(ctx).items() if data.classes}
    pairs = in_order([Pair(name, kind, C) for name in found for kind in KINDS for C in bars.COSTS], ctx.seed)
    results = Results(ctx.cache / RESULTS, conditions(ctx), sorted(found), len(pairs))
    if results.ignored:
        ctx.report.show(f"   {results.ignored} lines of {results.path} are of other conditions: ignored")
    done = {(row["set"], row["solver"], row["C"]) for row in results.rows if "failed" not in row}
    end = time.monotonic() + 60.0 * ctx.minutes
    try:
        for pair in pairs:
            if tuple(pair) in done:
                continue
            if time.monotonic() > end:
                break
            row = {"set": pair.name, "solver": pair.solver, "C": pair.C, "mb": found[pair.name].megabytes}
            try:
                row |= measured(ctx, pair, found[pair.name])
            except (CommandFailed, OSError, ArithmeticError, LookupError, TypeError, ValueError, lzma.LZMAError) as e:
                row["failed"] = f"{type(e).__name__}: {e}"[-500:]
            results.add(row)
            ctx.report.row(python_distribution.line_of(row), **row)
    finally:  # after Ctrl-C too
        evaluation = python_distribution.Evaluation(results.header, results.rows)
        for line in evaluation.text().splitlines():
            ctx.report.show(line)
        for bar in evaluation.bars():
            ctx.report.bar(*bar)
        ctx.report.show(f"\nsaved: {results.path}")


def conditions(ctx: Context) -> dict:
    """The conditions under which results are comparable."""
    versions = child_json([ctx.peer_python, "-c", VERSIONS])
    return {
        "processor": machine.processor(), "cores": machine.cores(), "limit": ctx.limit, "code": code_hash(),
        "peers": dict(sorted(versions.items())),
    }  # fmt: skip


def measured(ctx: Context, pair: Pair, data: DataSet) -> dict:
    """{"facts", "minimum", "runs": {tool: {"ended", ...}}, "absent"} of a pair, or {"left_out": why}."""
    order = {"path": data.path, "kind": pair.solver, "C": pair.C}
    with Child(ctx.peer_python, order) as child:
        facts = child.facts
        if pair.solver == "rbf" and facts["rows"] > bars.PYTHON_KERNEL_ROWS:
            return {"left_out": f"more than {bars.PYTHON_KERNEL_ROWS} rows"}
        minimum = child.ask("minimum", CERTAIN, ctx.limit)
        if "dual" not in minimum:
            return {"left_out": f"no certified minimum: {minimum.get('error', 'over the time limit')}"}
        low, high = minimum["dual"], minimum["primal"]
        if not high - low <= 0.1 * bars.PYTHON_GAP * abs(high):
            return {"left_out": "no certified minimum: the gap is too large"}
        runs = {OURS: climbed(child, OURS, low, ctx.limit)}
        limit = ctx.limit
        if runs[OURS]["ended"] == "yes":
            limit = min(limit, max(bars.MIN_PYTHON_SECONDS, bars.PYTHON_TIMES_OURS * runs[OURS]["seconds"]))
        for tool in facts["tools"]:
            if tool != OURS:
                runs[tool] = climbed(child, tool, low, limit)
        in_turn(child, {tool: run for tool, run in runs.items() if run["ended"] == "yes"}, ctx.limit)
    absent = facts.pop("absent")
    return {"facts": facts, "minimum": minimum, "limit": limit, "runs": runs, "absent": absent}


def climbed(child: Child, tool: str, low: float, limit: float) -> dict:
    """Run a tool at ever smaller tolerances until its objective is near the lower bound of the minimum.

    ended: yes; over (the time limit), short (the smallest tolerance does not suffice), failed; wrong: its objective is
    below the certified bound.
    """
    spent, best = 0.0, float("inf")
    found: dict[str, Any] = {"ended": "short"}
    for tol in bars.PYTHON_TOLERANCES:
        answer = child.ask(tool, tol, limit - spent)
        if not answer:
            found = {"ended": "over"}
            break
        if "error" in answer:
            found = {"ended": "failed", "words": answer["error"]}
            break
        spent += answer["seconds"]
        best = min(best, distance(answer["objective"], low))
        if best < -bars.PYTHON_GAP:
            found = {"ended": "wrong"}
            break
        if best <= bars.PYTHON_GAP and answer.get("gap", 0.0) <= bars.PYTHON_GAP:
            return {"ended": "yes", "tol": tol, "seconds": answer["seconds"], "distance": best}
        if spent >= limit:
            found = {"ended": "over"}
            break
    return {**found, "seconds": spent, "distance": None if best == float("inf") else best}


def distance(objective: float, low: float) -> float:
    """Relative distance of an objective from a lower bound of the minimum."""
    return (objective - low) / max(abs(objective), 1e-300)


def in_turn(child: Child, runs: dict[str, dict], limit: float) -> None:
    """Repeat the runs that suffice, A B C A B C, and set their median seconds."""
    samples: dict[str, list[float]] = {tool: [] for tool in runs}
    spent = 0.0
    for k in range(MAX_RUNS):
        begun = spent
        for tool, run in runs.items():
            answer = child.ask(tool, run["tol"], limit)
            if "seconds" in answer:
                samples[tool].append(answer["seconds"])
                spent += answer["seconds"]
        if spent + (spent - begun) > ENOUGH_SECONDS and k > 0:
            break
    for tool, run in runs.items():
        run["seconds"] = statistics.median(samples[tool] or [run["seconds"]])
        run["times"] = len(samples[tool])


class Child:
    """The process that has the arrays and runs the tools; it is started again after a fit that the limit ended."""

    def __init__(self, python: str | None, order: dict):
        self._argv = [str(python), str(HERE / "child_python.py"), json.dumps(order)]
        self._errors = tempfile.TemporaryFile("w+")
        try:
            self.facts = self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> dict:
        self._process = subprocess.Popen(
            self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=environment(),
        )  # fmt: skip
        return self._read(AROUND_SECONDS)

    def ask(self, tool: str, tol: float, limit: float) -> dict:
        """The answer of a fit; empty where it took longer than `limit` seconds."""
        if self._process.poll() is not None:
            self._end()
            self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"tool": tool, "tol": tol, "limit": max(limit, 0.01)}) + "\n")
        self._process.stdin.flush()
        return self._read(limit + AROUND_SECONDS)

    def _read(self, seconds: float) -> dict:
        """The next line; {} if its alarm ended the process."""
        assert self._process.stdout is not None
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        status = self._process.wait()
        if status == -signal.SIGALRM:
            return {}
        if status == -signal.SIGKILL:
            raise OverTimeError("the measuring process exceeded its time limit or ran out of memory")
        self._errors.seek(0)
        raise CommandFailed(f"the measuring process failed ({status}): {self._errors.read()[-500:]}", status)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def close(self) -> None:
        self._end()
        self._errors.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def call(ctx: Context) -> None:
    """Microseconds of a call on 100 x 10 values, without those of solving and certifying."""
    ctx.report.section("call", "A call on 100 x 10 values: microseconds (median of 1000 or more)")
    if not ctx.peer_python:
        ctx.report.show("   left out: no Python with scikit-learn was given (--peer-python)")
        return
    for name, found in child_json([ctx.peer_python, HERE / "child_call.py"]).items():
        theirs = f"   scikit-learn's {found['theirs']:6.0f}" if "theirs" in found else ""
        text = f"{name:32} in all {found['whole']:6.0f}   beyond the solver {found['beyond']:6.0f}{theirs}"
        ctx.report.row(text, job=name, **found)
        most = bars.PYTHON_CALL_US if name.startswith("api.fit") else bars.PYTHON_ESTIMATOR_US
        ctx.report.bar(f"{name}, microseconds beyond the solver", found["beyond"], "<=", most)
