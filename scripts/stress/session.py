"""Runs the trials of a plan and reports them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator

from stress import laws, pool
from stress.cases import DATA, START, WEIGHTS
from stress.pool import Done
from stress.report import Breach, Report, Tally
from stress.trial import OUR_SECONDS, Plan, attempt


def trials(plan: Plan, first: int = 0) -> Iterator[tuple[Plan, int]]:
    """All trials of a plan, an infinite iterator."""
    index = first
    while True:
        yield plan, index
        index += 1


def run(
    jobs: Iterator[tuple[Plan, int]], workers: int, report: Report, until: float = math.inf,
    say: Callable[[Done, list[str]], None] | None = None,
) -> None:  # fmt: skip
    """Run trials until a time.monotonic() and report them; say(done, lines about new breaches) is called for each."""
    for done in pool.run(attempt, jobs, workers, until):
        if done.fault:
            raise RuntimeError(f"trial {done.job[1]}: the stress test itself failed:\n{done.fault}")
        tally = done.result if done.lost is None else tally_of_loss(done)
        lines = report.add(tally)
        if say is not None:
            say(done, lines)


def tally_of_loss(done: Done) -> Tally:
    """The breach of a command that was killed or ended its process."""
    tally = Tally()
    family, solver = done.doing.get("family", "?"), done.doing.get("solver", "?")
    tally.ran(family, solver, None, "")
    law, words = laws.CRASH, f"the process ended: {done.lost}"
    if done.lost == "hang":
        law, words = laws.HANG, f"no end within {done.job[0].limit:g} s"
        if done.doing.get("checking"):
            law, words = laws.CHECKED, f"the checks of its result did not end within {OUR_SECONDS:g} s"
    files = {name: text for name, text in done.files.items() if name in (DATA, WEIGHTS, START)}
    command = shlex.join(["svm-train", *done.doing.get("argv", [])])
    tally.breaches.append(Breach(law, solver, family, f"{words} (trial {done.job[1]})", command, files))
    return tally
