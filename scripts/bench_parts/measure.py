"""Runs commands alternately and measures wall time and peak memory of whole processes."""

from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LAUNCHER = str(Path(__file__).with_name("launch.py"))
TIMEOUT_STATUS = 124  # of `timeout`


class CommandFailed(RuntimeError):
    """A command failed with exit status `status`, if known; the text contains its output."""

    def __init__(self, text: str, status: int | None = None):
        super().__init__(text)
        self.status = status


class NoSetsError(RuntimeError):
    """None of the data sets that a part measures is in the data folders."""


class OverTimeError(CommandFailed):
    """A command was ended by the time limit."""


class Sample:
    """Measurements of one command: seconds of each run, and the largest peak memory in MB."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.peak_mb = 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def environment(**extra: str) -> dict[str, str]:
    """The environment of children: this repository's package, with bytecode on disk as after an installation."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *filter(None, [env.get("PYTHONPATH")])])
    env.update(extra)
    return env


def ours(command: str) -> list[str]:
    """The beginning of our command line: the installed command, else `python -m svmtool train`."""
    script = Path(sys.executable).parent / f"svm-{command}"
    return [str(script)] if script.exists() else [sys.executable, "-m", "svmtool", command]


def solver(number: int | str) -> list[str]:
    """The options that choose a number, of the papers' numbers with the engine."""
    return ["-s", str(number), *(("--method", "fast") if int(number) >= 30 else ())]


def run_once(
    argv: Sequence[str], sample: Sample, env: Mapping[str, str], output: str = os.devnull, limit: float = 0.0
) -> None:
    """Run a command once, stdout into `output`, for `limit` seconds at most (0: no limit); raises CommandFailed."""
    words = list(map(str, argv))
    reading, pipe = os.pipe()
    with open(reading) as answer, open(output, "wb") as sink:
        launcher = [sys.executable, "-I", "-S", LAUNCHER, str(pipe), repr(limit)]
        child = subprocess.Popen(
            [*launcher, *words], stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.PIPE, env=dict(env),
            pass_fds=(pipe,),
        )  # fmt: skip
        os.close(pipe)
        try:
            _, errors = child.communicate()
        except BaseException:  # the launcher ends the command
            child.terminate()
            child.wait()
            raise
        found = answer.read().split()
    if not found:
        raise CommandFailed(f"{' '.join(words)} was not measured: {errors.decode(errors='replace')}")
    status, over = int(found[1]), found[3] == "1"
    sample.seconds.append(float(found[0]))
    sample.peak_mb = max(sample.peak_mb, int(found[2]) / 1024)
    if over or status in (TIMEOUT_STATUS, -signal.SIGALRM):
        raise OverTimeError(f"{' '.join(words)} exceeded its time limit")
    if status:
        raise CommandFailed(f"{' '.join(words)} failed ({status}): {errors.decode(errors='replace')}", status)


def alternate(
    jobs: Mapping[str, Sequence[str]], repeats: int, outputs: Mapping[str, str] | None = None
) -> dict[str, Sample]:
    """Run the commands in turn, A B A B ..., after one warm-up round; one Sample for each.

    Commands of more than five seconds are run twice only.  One that fails is left out, with a message on stdout.
    """
    env = environment()
    samples = {}
    for name, argv in jobs.items():
        sample = Sample()
        try:
            run_once(argv, sample, env, (outputs or {}).get(name, os.devnull))
        except CommandFailed as e:
            print(f"   {e}")
            continue
        samples[name] = sample
    jobs = {name: argv for name, argv in jobs.items() if name in samples}
    if not samples:
        return {}
    slow = max(s.seconds[0] for s in samples.values()) > 5
    for s in samples.values():
        if not slow:
            s.seconds.clear()
    for _ in range(1 if slow else repeats):
        for name, argv in jobs.items():
            run_once(argv, samples[name], env, (outputs or {}).get(name, os.devnull))
    return samples


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean; nan without ratios."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def child_json(argv: Sequence[str], limit: float | None = None, **extra: str):
    """Run a measuring child for at most `limit` seconds; returns the JSON of its last line of output."""
    import json

    words = list(map(str, argv))
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment(**extra), timeout=limit)
    except subprocess.TimeoutExpired:
        raise OverTimeError(f"{' '.join(words)} exceeded its time limit") from None
    if done.returncode:
        raise CommandFailed(f"{' '.join(map(str, argv))} failed ({done.returncode}):\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Report:
    """Collects and prints tables and bars, and writes the JSON file."""

    def __init__(self, show: Callable[[str], None] = print):
        self.show, self.sections = show, []

    def section(self, name: str, title: str) -> None:
        self.sections.append({"name": name, "title": title, "rows": [], "bars": []})
        self.show(f"\n## {title}")

    def row(self, text: str, **facts) -> None:
        self.sections[-1]["rows"].append(facts)
        self.show(text)

    def bar(self, text: str, value: float, relation: str, limit: float) -> None:
        """Record whether a bar is met; nan counts as not measured."""
        good = None if math.isnan(value) else value <= limit if relation == "<=" else value >= limit
        word = {None: "not measured", True: "holds", False: "FAILS"}[good]
        self.sections[-1]["bars"].append(
            {
                "text": text,
                "value": None if good is None else value,
                "limit": limit,
                "relation": relation,
                "holds": good,
            }
        )
        self.show(f"   bar: {text}: {value:.3g} {relation} {limit:g}: {word}")

    def summary(self) -> bool:
        """Print all bars; returns whether none fails."""
        bars = [bar for section in self.sections for bar in section["bars"]]
        self.show("\n## Bars")
        for bar in bars:
            word = {None: "not measured", True: "holds", False: "FAILS"}[bar["holds"]]
            value = "-" if bar["value"] is None else f"{bar['value']:.3g}"
            self.show(f"{word:12} {bar['text']}: {value} {bar['relation']} {bar['limit']:g}")
        return all(bar["holds"] is not False for bar in bars)
