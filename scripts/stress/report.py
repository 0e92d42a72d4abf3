"""Reports of trials: counts, breaches in groups, their folders, and the final tables."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from pathlib import Path
from typing import NamedTuple

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
    def group(self) -> tuple[str, str, str]:
        return self.law, self.solver, self.family


@dataclasses.dataclass
class Tally:
    """Results of trials.

    Counts of commands by family and by solver, of laws checked by (family, law), of error messages and of fuzzed inputs
    by (kind, ending); the breaches.
    """

    commands: Counter = dataclasses.field(default_factory=Counter)
    solvers: Counter = dataclasses.field(default_factory=Counter)
    laws: Counter = dataclasses.field(default_factory=Counter)
    refusals: Counter = dataclasses.field(default_factory=Counter)
    endings: Counter = dataclasses.field(default_factory=Counter)
    breaches: list[Breach] = dataclasses.field(default_factory=list)

    def ran(self, family: str, solver: str, status: int | None, err: str) -> None:
        """Count a command, and its message if it failed."""
        self.commands[family] += 1
        self.solvers[solver] += 1
        if status == 1:
            words = [line for line in err.splitlines() if line.strip() and not line.startswith("WARNING")]
            self.refusals[" ".join("#" if any(c.isdigit() for c in t) else t for t in " ".join(words).split())] += 1

    def checked(self, family: str, law: str) -> None:
        self.laws[family, law] += 1


class Report:
    """The sum of all tallies; saves breaches in `folder`/1, 2 .."""

    def __init__(self, folder: Path):
        self.folder, self.total = folder, Tally()
        self.groups: dict[tuple[str, str, str], list[str]] = {}
        self.counts: Counter = Counter()
        self.written = 0

    def add(self, tally: Tally) -> list[str]:
        """Add a tally; returns a line for each breach of a new group."""
        for field in ("commands", "solvers", "laws", "refusals", "endings"):
            getattr(self.total, field).update(getattr(tally, field))
        new = []
        for breach in tally.breaches:
            self.counts[breach.group] += 1
            kept = self.groups.setdefault(breach.group, [])
            if len(kept) < KEPT:
                kept.append(f"{breach.words}\n      {self._keep(breach)}")
            if len(kept) == 1 and self.counts[breach.group] == 1:
                new.append(f"BREACH {_group(breach.group)}: {kept[0]}")
        return new

    def _keep(self, breach: Breach) -> str:
        """Save a breach; returns the command line that repeats it."""
        self.written += 1
        place = self.folder / str(self.written)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in breach.files.items():
            (place / name).write_bytes(content)
        (place / "command").write_text(breach.command + "\n")
        (place / "breach").write_text(f"{_group(breach.group)}: {breach.words}\n")
        return f"cd {shlex.quote(str(place))} && {breach.command}"

    @property
    def commands(self) -> int:
        return sum(self.total.commands.values())

    @property
    def tried(self) -> str:
        """The number of trials or commands as text."""
        tried = self.total.endings.total()
        return f"{tried} trials" if tried else f"{self.commands} commands"

    @property
    def breaches(self) -> int:
        return sum(self.counts.values())

    def text(self) -> str:
        """Tables of counts, then all groups of breaches with their command lines."""
        lines = self._fuzzed() if self.total.endings else self._commands()
        for group in sorted(self.groups):
            lines += ["", f"BREACH {_group(group)}, {self.counts[group]} times"]
            lines += [f"    {words}" for words in self.groups[group]]
        lines += ["", f"{self.tried}, {self.breaches} breaches in {len(self.groups)} groups"]
        return "\n".join(lines)

    def _fuzzed(self) -> list[str]:
        kinds: dict[str, dict[str, int]] = {}
        for (kind, ending), count in sorted(self.total.endings.items()):
            kinds.setdefault(kind, {})[ending] = count
        lines = ["", f"{'kind':32} {'tried':>9}  how it ended"]
        for kind, endings in kinds.items():
            shown = ", ".join(f"{count} {ending}" for ending, count in endings.items())
            lines.append(f"{kind:32} {sum(endings.values()):9}  {shown}")
        return lines

    def _commands(self) -> list[str]:
        broken: Counter = Counter()
        for (law, _, family), count in self.counts.items():
            broken[family, law] += count
        lines = ["", f"{'family':32} {'commands':>9} {'laws':>9} {'breaches':>9}"]
        for family in sorted(self.total.commands):
            laws = sum(count for (f, _), count in self.total.laws.items() if f == family)
            wrong = sum(count for (f, _), count in broken.items() if f == family)
            lines.append(f"{family:32} {self.total.commands[family]:9} {laws:9} {wrong:9}")
        lines += ["", f"{'law':32} {'checked':>9} {'breaches':>9}"]
        for law in dict.fromkeys([law for _, law in self.total.laws] + [group[0] for group in self.counts]):
            checked = sum(count for (_, other), count in self.total.laws.items() if other == law)
            lines.append(f"{law:32} {checked:9} {sum(c for (_, o), c in broken.items() if o == law):9}")
        lines += ["", f"{'solver':32} {'commands':>9}"]
        lines += [f"{solver:32} {count:9}" for solver, count in sorted(self.total.solvers.items())]
        if self.total.refusals:
            lines += ["", "refused with exit status 1:"]
            lines += [f"{count:9}  {words}" for words, count in self.total.refusals.most_common(30)]
        return lines


def _group(group: tuple[str, str, str]) -> str:
    law, solver, family = group
    return f"{law}: {solver} on {family}"
