"""Reports of trials: counts, breaches in groups, their folders, and the final tables."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

KEPT = 3  # breaches of one law by one solver on one family that are saved with their data
SHOWN = 30  # lines of a table of messages
REFUSED = "refused with exit status 1"


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
    """Results of trials: counts by table, line and column, and the breaches."""

    counts: Counter = dataclasses.field(default_factory=Counter)
    breaches: list[Breach] = dataclasses.field(default_factory=list)

    def count(self, table: str, line: str, column: str) -> None:
        self.counts[table, line, column] += 1

    def ran(self, family: str, solver: str, status: int | None, err: str) -> None:
        """Count a command, and its message if it failed."""
        self.count("family", family, "commands")
        self.count("solver", solver, "commands")
        if status == 1:
            words = [line for line in err.splitlines() if line.strip() and not line.startswith("WARNING")]
            text = " ".join("#" if any(c.isdigit() for c in t) else t for t in " ".join(words).split())
            self.count(REFUSED, text, "times")


class Report:
    """The sum of all tallies; saves breaches in `folder`/1, 2 .."""

    def __init__(self, folder: Path):
        self.folder, self.counts = folder, Counter()
        self.groups: dict[str, list[str]] = {}
        self.found: Counter = Counter()

    def add(self, tally: Tally) -> list[str]:
        """Add a tally; returns a line for each breach of a new group."""
        self.counts.update(tally.counts)
        new = []
        for breach in tally.breaches:
            self.found[breach.group] += 1
            self.counts["law", breach.law, "breaches"] += 1
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
        """The number of trials or commands."""
        return sum(count for (table, *_), count in self.counts.items() if table in ("kind", "solver"))

    @property
    def breaches(self) -> int:
        return self.found.total()

    def text(self) -> str:
        """Tables of counts, then all groups of breaches with their command lines."""
        tables: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        for (table, line, column), count in sorted(self.counts.items()):
            tables[table][line][column] = count
        lines = []
        for table, found in tables.items():
            lines += ["", f"{table}:"]
            shown = sorted(found, key=lambda line: -found[line]["times"])[:SHOWN] if table == REFUSED else found
            for line in shown:
                lines.append(f"{line:40} " + ", ".join(f"{count:7} {column}" for column, count in found[line].items()))
        for group in sorted(self.groups):
            lines += ["", f"BREACH {group}, {self.found[group]} times"]
            lines += [f"    {words}" for words in self.groups[group]]
        return "\n".join([*lines, "", f"{self.tried} tried, {self.breaches} breaches in {len(self.groups)} groups"])
