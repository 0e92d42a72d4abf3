"""Running commands side by side and measuring them: wall seconds and peak memory of whole processes.

This process stays small (no numpy): what a child's peak memory is told to be
includes what its parent had at the moment of the fork.
"""

from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
TIMEOUT_STATUS = 124  # of `timeout` where it ended the command


class CommandFailed(RuntimeError):
    """A command ended with a status other than 0; the text holds its own words."""


class OverTimeError(CommandFailed):
    """The limit of time ended a command: `timeout`, or its own alarm."""


class Sample:
    """Repeated measurements of one command: seconds of each run, and the largest peak memory in MB."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.peak_mb = 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def environment(**extra: str) -> dict[str, str]:
    """What children see: the package of this repository, bytecode kept on disk as after an installation."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *filter(None, [env.get("PYTHONPATH")])])
    env.update(extra)
    return env


def ours(command: str) -> list[str]:
    """The beginning of our command line: the installed svm-train and so on, else `python -m svmtool train`."""
    script = Path(sys.executable).parent / f"svm-{command}"
    return [str(script)] if script.exists() else [sys.executable, "-m", "svmtool", command]


def run_once(argv: Sequence[str], sample: Sample, env: Mapping[str, str], output: str = os.devnull) -> None:
    """Run a command once, stdout into `output`; raises CommandFailed."""
    with open(output, "wb") as sink, open(os.devnull, "rb") as nothing:
        start = time.perf_counter()
        child = subprocess.Popen(
            list(map(str, argv)), stdin=nothing, stdout=sink, stderr=subprocess.PIPE, env=dict(env)
        )
        assert child.stderr is not None
        words = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        sample.seconds.append(time.perf_counter() - start)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
    sample.peak_mb = max(sample.peak_mb, usage.ru_maxrss / 1024)
    if child.returncode in (TIMEOUT_STATUS, -signal.SIGALRM):
        raise OverTimeError(f"{' '.join(map(str, argv))} took longer than it may")
    if child.returncode:
        raise CommandFailed(f"{' '.join(map(str, argv))} failed ({child.returncode}): {words.decode(errors='replace')}")


def alternate(
    jobs: Mapping[str, Sequence[str]], repeats: int, outputs: Mapping[str, str] | None = None
) -> dict[str, Sample]:
    """Run the commands in turn, A B A B ..., after one round that does not count; one Sample for each.

    Commands of more than five seconds are run twice only.  One that fails is left out, with a word on stdout.
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
    """nan for no ratios at all."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def child_json(argv: Sequence[str], **extra: str):
    """Run a measuring child and take the JSON from the last line of its stdout."""
    import json

    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, env=environment(**extra))
    if done.returncode:
        raise CommandFailed(f"{' '.join(map(str, argv))} failed ({done.returncode}):\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Report:
    """Collects tables and bars, prints them as they come, and becomes the JSON file."""

    def __init__(self, show: Callable[[str], None] = print):
        self.show, self.sections = show, []

    def section(self, name: str, title: str) -> None:
        self.sections.append({"name": name, "title": title, "rows": [], "bars": []})
        self.show(f"\n## {title}")

    def row(self, text: str, **facts) -> None:
        self.sections[-1]["rows"].append(facts)
        self.show(text)

    def bar(self, text: str, value: float, relation: str, limit: float) -> None:
        """State whether a bar holds; nan counts as not measured."""
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
        """Print all bars together; whether none fails."""
        bars = [bar for section in self.sections for bar in section["bars"]]
        self.show("\n## Bars")
        for bar in bars:
            word = {None: "not measured", True: "holds", False: "FAILS"}[bar["holds"]]
            value = "-" if bar["value"] is None else f"{bar['value']:.3g}"
            self.show(f"{word:12} {bar['text']}: {value} {bar['relation']} {bar['limit']:g}")
        return all(bar["holds"] is not False for bar in bars)
