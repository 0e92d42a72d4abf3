"""Reports of trials: counts, breaches in groups, their folders, and the final tables."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stress import pool
from stress.pool import Done

KEPT = 3  # breaches of one law by one solver on one family that are saved with their data


class Breach(NamedTuple):
    """A violated law.  words: what is wrong; command: repeats it, given `files`, name to bytes."""

    law: str
    solver: str
    family: str
    words: str
    command: str
    files: dict[str, bytes]

    @property
    def group(self) -> str:
        return f"{self.law}: {self.solver} on {self.family}"


@dataclasses.dataclass
class Tally:
    """Results of trials: counts of what was tried, checked or ended, and the breaches."""

    counts: Counter = dataclasses.field(default_factory=Counter)
    breaches: list[Breach] = dataclasses.field(default_factory=list)


Say = Callable[[Done, list[str]], None]


class Report:
    """The sum of all tallies; saves breaches in `folder`/1, 2 .."""

    def __init__(self, folder: Path):
        self.folder, self.counts = folder, Counter()
        self.groups: dict[str, list[str]] = {}
        self.found: Counter = Counter()

    def collect(
        self, work: Callable[..., Tally], jobs: Iterator[tuple], workers: int, until: float,
        of_loss: Callable[[Done], Tally], say: Say = lambda done, lines: None,
    ) -> None:  # fmt: skip
        """Run jobs until a time.monotonic(); say(done, lines about new breaches) is called for each that ended."""
        for done in pool.run(work, jobs, workers, until):
            if done.fault:
                raise RuntimeError(f"{done.job[-1]}, {done.doing}: the stress test itself failed:\n{done.fault}")
            say(done, self.add(done.result if done.lost is None else of_loss(done)))

    def add(self, tally: Tally) -> list[str]:
        """Add a tally; returns a line for each breach of a new group."""
        self.counts.update(tally.counts)
        new = []
        for breach in tally.breaches:
            self.found[breach.group] += 1
            kept = self.groups.setdefault(breach.group, [])
            if len(kept) < KEPT:
                kept.append(f"{breach.words}\n      {self._keep(breach)}")
            if self.found[breach.group] == 1:
                new.append(f"BREACH {breach.group}: {kept[0]}")
        return new

    def _keep(self, breach: Breach) -> str:
        """Save a breach; returns the command line that repeats it."""
        place = self.folder / str(1 + sum(map(len, self.groups.values())))
        place.mkdir(parents=True, exist_ok=True)
        files = {"command": f"{breach.command}\n", "breach": f"{breach.group}: {breach.words}\n"}
        for name, content in {**breach.files, **{n: text.encode() for n, text in files.items()}}.items():
            (place / name).write_bytes(content)
        return f"cd {shlex.quote(str(place))} && {breach.command}"

    @property
    def tried(self) -> int:
        """The number of tries or commands."""
        return sum(n for (table, _), n in self.counts.items() if table != "law")

    @property
    def breaches(self) -> int:
        return self.found.total()

    def text(self) -> str:
        """All counts, then all groups of breaches with their command lines."""
        lines = [f"{n:9} {table}: {name}" for (table, name), n in sorted(self.counts.items())]
        for group, kept in sorted(self.groups.items()):
            lines += ["", f"BREACH {group}, {self.found[group]} times", *(f"    {words}" for words in kept)]
        return "\n".join([*lines, "", f"{self.tried} tried, {self.breaches} breaches in {len(self.groups)} groups"])
