"""One trial: draws data of a family and a case, runs its commands and checks the laws; runs in a worker."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stress import cases, families, laws, models, peers, sets
from stress.cases import DATA, MODEL, START, WEIGHTS, Case, Run
from stress.commands import Catcher, Ended
from stress.laws import Certified, Check
from stress.report import Breach, Tally

PEER_SECONDS = 20.0
OUR_SECONDS = 60.0  # time limit of the checks of a command
THREADS_SHARE = 0.3  # of cases whose first run is repeated with another number of threads


class Plan(NamedTuple):
    """Settings of all trials.

    seed; family and solvers (separated by commas) to restrict to (empty: all); folder of real and hostile sets; peers;
    whether times are checked; the bound of a time, factor times the peer's plus `extra` seconds; limit of a command.
    """

    seed: int
    family: str
    solver: str
    shared: str
    peers: peers.Peers
    timed: bool = True
    factor: float = 20.0
    extra: float = 5.0
    limit: float = 60.0

    def families(self) -> dict[str, Callable]:
        known = {**families.FAMILIES, **sets.found(Path(self.shared))}
        return {name: make for name, make in known.items() if name.startswith(self.family)}

    def solvers(self) -> list:
        rows = cases.rows_of_registry()
        chosen = set(self.solver.split(","))
        return [row for row in rows if not self.solver or {cases.name_of(row), row.name} & chosen]


@lru_cache
def _catcher(folder: str) -> Catcher:
    """The worker's catcher, created at the first call."""
    return Catcher(Path(folder))


def attempt(announce: Callable[..., None], folder: str, plan: Plan, index: int) -> Tally:
    """Run trial number `index`; announce(seconds, **what) is called before each command."""
    known = plan.families()
    generator = np.random.default_rng([plan.seed, index])
    name = list(known)[index % len(known)]
    catcher = _catcher(folder)
    with np.errstate(all="ignore"):
        sample = known[name](generator)
        solvers = [row for row in plan.solvers() if name != families.SMALL or (row.kernel and row.number < 5)]
        case = cases.draw(generator, sample.rows, sample.targets, solvers or plan.solvers(), plan.timed)
    return Trial(announce, catcher, plan, name, case).run(generator)


class Point(NamedTuple):
    """The value of a solution, its round-off, a description of its origin, and the run that computed it, if any."""

    law: str
    key: tuple
    value: float
    rounding: float
    words: str
    of: Certified | None


class Trial:
    """Runs the commands of one case in the catcher's folder and collects the results."""

    def __init__(self, announce: Callable[..., None], catcher: Catcher, plan: Plan, family: str, case: Case):
        self.announce, self.catcher, self.plan, self.family, self.case = announce, catcher, plan, family, case
        self.tally = Tally()

    def run(self, generator: np.random.Generator) -> Tally:
        """Run all commands and checks."""
        Path(DATA).write_text(self.case.rows.text())
        if self.case.weights is not None:
            Path(WEIGHTS).write_text("\n".join(f"{x:g}" for x in self.case.weights) + "\n")
        start = self._start()
        if self.case.start and start is None:
            return self.tally
        seen = [done for run in self.case.runs if (done := self._one(run, start)) is not None]
        points = self._points(seen) if self.case.runs[0].convex else []
        for mine in seen:
            for point in points:
                if point.key == mine.run.key and point.of is not mine:
                    check = laws.bound_holds(point.law, mine, point.value, point.rounding, point.words)
                    self.note(mine.run, check, mine.ended)
        if seen and generator.random() < THREADS_SHARE:
            self._threads(seen[0])
        if self.family == families.SMALL and seen and self.plan.timed:
            self._beside(seen[0])
        return self.tally

    def _beside(self, mine: Certified) -> None:
        """Compare a run to LIBSVM's own rule with LIBSVM's: the objective of nu-SVC has no common scale, only times."""
        argv, own = peers.counterpart(mine.run, self.plan.peers), mine.run.argv
        if argv is None or mine.run.gap is not None or {"--max-iter", "--max-seconds"} & set(own):
            return
        rule = own[own.index("-e") + 1] if "-e" in own else None
        self.announce(PEER_SECONDS + OUR_SECONDS, family=self.family, solver=mine.run.name, argv=argv)
        theirs = peers.run([*argv, "-q"], PEER_SECONDS, rule)
        model = None if theirs.model is None else models.parse(theirs.model)
        if model is None or model.not_finite() or not _same_kernel(model, mine.model):
            return
        values = laws.values_of(mine.run, self.case.rows, model)
        if values is None or len(values) != len(mine.values):
            return
        value, time = laws.beside(mine, values, theirs.seconds)
        if self._comparable(mine, values) and mine.run.convex:
            self.note(mine.run, value, mine.ended)
        self.note(mine.run, time, mine.ended)

    def _start(self) -> models.Model | None:
        """The model of -i, if the case has one and its training succeeded."""
        Path(START).unlink(missing_ok=True)
        if not self.case.start:
            return None
        ended = self._train((*self.case.start, "--max-seconds", "10"), START, self.case.runs[0])
        if ended is None or ended.status != 0 or ended.model is None:
            return None
        model = models.parse(ended.model)
        return None if model.not_finite() else model

    def _train(self, argv: tuple[str, ...], model: str, run: Run, **more: Any):
        self.announce(self.plan.limit, family=self.family, solver=run.name, argv=[*argv, DATA, model])
        return self.catcher.train([*argv, DATA, model], model)

    def _one(self, run: Run, start: models.Model | None) -> Certified | None:
        """Run and check one command; None if there is no result to compare with."""
        ended = self._train(run.argv, MODEL, run)
        self.announce(OUR_SECONDS, family=self.family, solver=run.name, argv=[*run.argv, DATA, MODEL], checking=True)
        self.tally.ran(self.family, run.name, ended.status, ended.err)
        seen, check = laws.certified(run, self.case, ended)
        for one in check:
            self.note(run, one, ended)
        if seen.values is not None and start is not None:
            before = laws.values_of(run, self.case.rows, start)
            if before is not None and len(before) == len(seen.values):
                self.note(run, laws.no_worse_than_start(seen, before), ended)
        if run.seconds is not None:
            self.note(run, laws.within_limit(run, ended.seconds), ended)
        elif self.plan.timed and not run.row.printed:  # a paper's algorithm takes the time that it takes
            self._time(run, ended)
        good = seen.values is not None and seen.model.certificate is not None
        good = good and "not certified" not in seen.model.stopped  # after samples P is that of a part of the rows
        return seen if good and np.isfinite(seen.model.certificate.dual) else None

    def _time(self, run: Run, ended: Ended) -> None:
        """Compare the time with the peer's, which is measured only if ours could be too long.

        Other programs on the machine may slow a run down: a time that is too long counts if it is so twice.
        """
        seconds = ended.seconds
        if seconds <= self.plan.extra:
            self.note(run, Check(laws.TIME, ""), ended)
            return
        argv = peers.counterpart(run, self.plan.peers)
        if argv is None:
            return
        limit = (seconds - self.plan.extra) / self.plan.factor
        self.announce(limit + OUR_SECONDS, family=self.family, solver=run.name, argv=argv)
        theirs = peers.run(argv, limit + 1.0, None)
        check = laws.in_good_time(seconds, theirs.seconds, self.plan.factor, self.plan.extra)
        if check.words:
            seconds = min(seconds, self._train(run.argv, MODEL, run).seconds)
            check = laws.in_good_time(seconds, theirs.seconds, self.plan.factor, self.plan.extra)
        self.note(run, check, ended)

    def _points(self, seen: list[Certified]) -> list[Point]:
        """Values that no certified dual value may exceed: those of all runs and of the first run's peer."""
        found = [Point(laws.SAME, m.run.key, m.value, m.rounding, " ".join(m.run.argv), m) for m in seen]
        argv = peers.counterpart(seen[0].run, self.plan.peers) if seen else None
        if argv is None or len(np.unique(self.case.rows.labels)) < 2:
            return found
        mine = seen[0]
        self.announce(PEER_SECONDS + OUR_SECONDS, family=self.family, solver=mine.run.name, argv=argv)
        theirs = peers.run([*argv, "-q"], PEER_SECONDS)
        model = None if theirs.model is None else models.parse(theirs.model)
        if model is None or model.not_finite() or not _same_kernel(model, mine.model):
            return found
        values = laws.values_of(mine.run, self.case.rows, model)
        if values is not None and self._comparable(mine, values):
            words = shlex.join([Path(argv[0]).name, *argv[1:], "-e", peers.TIGHT])
            value, rounding = sum(v.value for v in values), sum(v.rounding for v in values)
            found.append(Point(laws.DUAL, mine.run.key, value, rounding, words, None))
        return found

    @staticmethod
    def _comparable(mine: Certified, values: list) -> bool:
        """Whether values can be compared; nu-SVC's are scaled by a number that depends on the model."""
        return mine.run.row.word != "nu_svc" and len(values) == len(mine.values)

    def _threads(self, mine: Certified) -> None:
        """Repeat the first run with one and with two threads; runs ended by a time limit may differ."""
        if mine.run.seconds is not None:
            return
        one, two = (self._train(("--threads", t, *mine.run.argv), MODEL, mine.run) for t in ("1", "2"))
        self.note(mine.run, laws.same_for_threads(one, two), one)

    def note(self, run: Run, check: Check, ended: Ended) -> None:
        """Count a check, and save a breach with its files."""
        self.tally.checked(self.family, check.law)
        if check.words:
            names = [name for name in (DATA, WEIGHTS, START) if name == DATA or name in run.argv]
            files = {name: Path(name).read_bytes() for name in names}
            if ended.model is not None:
                files[MODEL] = ended.model.encode()
            command = shlex.join(["svm-train", *run.argv, DATA, MODEL])
            self.tally.breaches.append(Breach(check.law, run.name, self.family, check.words, command, files))


def _same_kernel(one: models.Model, two: models.Model) -> bool:
    """Whether two models have the same kernel: Debian's LIBSVM 3.24 rounds -g and -r to single precision."""
    return all(float(one.header.get(key, "0")[0]) == float(two.header.get(key, "0")[0]) for key in ("gamma", "coef0"))
