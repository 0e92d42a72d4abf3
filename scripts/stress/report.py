"""Reports of trials: counts, breaches in groups, their folders, and the final table."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stress import pool
from stress.pool import Done


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


class Report:
    """The sum of all tallies; prints the first breach of each group and saves it in `folder`/1, 2 .."""

    def __init__(self, folder: Path):
        self.folder, self.counts = folder, Counter()
        self.groups: dict[str, str] = {}
        self.found: Counter = Counter()

    def collect(
        self, work: Callable[..., Tally], jobs: Iterator[tuple], workers: int, until: float,
        of_loss: Callable[[Done], Tally],
    ) -> None:  # fmt: skip
        """Run jobs until a time.monotonic()."""
        for done in pool.run(work, jobs, workers, until):
            if done.fault:
                raise RuntimeError(f"{done.job[-1]}, {done.doing}: the stress test itself failed:\n{done.fault}")
            self.add(done.result if done.lost is None else of_loss(done))

    def add(self, tally: Tally) -> None:
        self.counts.update(tally.counts)
        for breach in tally.breaches:
            self.found[breach.group] += 1
            if breach.group not in self.groups:
                self.groups[breach.group] = f"{breach.words}\n      {self._keep(breach)}"
                print(f"BREACH {breach.group}: {self.groups[breach.group]}", flush=True)

    def _keep(self, breach: Breach) -> str:
        """Save a breach; returns the command line that repeats it."""
        place = self.folder / str(1 + len(self.groups))
        place.mkdir(parents=True, exist_ok=True)
        (place / "command").write_text(f"{breach.command}\n")
        for name, content in breach.files.items():
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
        for group, words in sorted(self.groups.items()):
            lines += ["", f"BREACH {group}, {self.found[group]} times", f"    {words}"]
        return "\n".join([*lines, "", f"{self.tried} tried, {self.breaches} breaches in {len(self.groups)} groups"])
