"""One trial: draws data of a family and a case, runs its commands and checks the laws; runs in a worker."""

from __future__ import annotations

import gc
import itertools
import os
import shlex
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stress import cases, families, laws, models, objective, peers
from stress.cases import DATA, MODEL, START, WEIGHTS, Case, Run
from stress.fuzz_shared import said
from stress.laws import Certified, Check, Ended
from stress.pool import Done
from stress.report import Breach, Report, Tally

PEER_SECONDS = 20.0
FACTOR, EXTRA = 20.0, 5.0  # a breach: more than this many times the peer's time, and seconds more
OUR_SECONDS = 60.0  # time limit of the checks of a command
THREADS_SHARE = 0.3  # of cases whose first run is repeated with another number of threads


class Plan(NamedTuple):
    """Settings of all trials.

    seed; family and solvers (separated by commas) to restrict to (empty: all); folder of real and hostile sets; peers;
    whether times are checked; limit of a command in seconds.
    """

    seed: int
    family: str
    solver: str
    shared: str
    peers: peers.Peers
    timed: bool = True
    limit: float = 60.0

    def families(self) -> dict[str, Callable]:
        known = {**families.FAMILIES, **families.found(Path(self.shared))}
        return {name: make for name, make in known.items() if name.startswith(self.family)}

    def solvers(self) -> list:
        chosen = set(self.solver.split(","))
        return [r for r in cases.rows_of_registry() if not self.solver or {cases.name_of(r), r.name} & chosen]


def run(plan: Plan, tries: float, first: int, workers: int, report: Report, until: float) -> None:
    """Run this number of trials (inf: unlimited) until a time.monotonic() and report them."""
    numbers = itertools.takewhile(lambda k: k < first + tries, itertools.count(first))
    report.collect(attempt, ((plan, k) for k in numbers), workers, until, tally_of_loss)


def tally_of_loss(done: Done) -> Tally:
    """The breach of a command that was killed or ended its process."""
    tally = Tally()
    family, solver = done.doing.get("family", "?"), done.doing.get("solver", "?")
    tally.counts["solver", solver] += 1
    law, words = laws.CRASH, f"the process ended: {done.lost}"
    if done.lost == "hang":
        law, words = laws.HANG, f"no end within {done.job[0].limit:g} s"
        if done.doing.get("checking"):
            law, words = laws.CHECKED, f"the checks of its result did not end within {OUR_SECONDS:g} s"
    files = {name: text for name, text in done.files.items() if name in (DATA, WEIGHTS, START)}
    command = shlex.join(["svm-train", *done.doing.get("argv", [])])
    tally.breaches.append(Breach(law, solver, family, f"{words} (trial {done.job[1]})", command, files))
    return tally


def train(argv: list[str], model: str) -> Ended:
    """Run svm-train in this folder and this process; argv ends with data and model; model: its name."""
    from svmtool.cli.train import main

    path = Path(model)
    path.unlink(missing_ok=True)
    warnings.resetwarnings()
    warnings.simplefilter("ignore", RuntimeWarning)  # as the commands do
    began, busy = time.perf_counter(), time.process_time()
    done = said(lambda: main(argv))
    seconds = min(time.perf_counter() - began, time.process_time() - busy)
    gc.unfreeze()  # commands freeze imported objects, which here would include those of the previous command
    return Ended(done.status, done.err + done.fault, seconds, path.read_text() if path.exists() else None)


def attempt(announce: Callable[..., None], folder: str, plan: Plan, index: int) -> Tally:
    """Run trial number `index`; announce(seconds, **what) is called before each command."""
    known = plan.families()
    generator = np.random.default_rng([plan.seed, index])
    name = list(known)[index % len(known)]
    os.chdir(folder)
    with np.errstate(all="ignore"):
        sample = known[name](generator)
        solvers = [row for row in plan.solvers() if name != families.SMALL or (row.kernel and row.number < 5)]
        case = cases.draw(generator, sample.rows, sample.targets, solvers or plan.solvers(), plan.timed)
        return Trial(announce, plan, name, case).run(generator)


class Trial:
    """Runs the commands of one case in the worker's folder and collects the results."""

    def __init__(self, announce: Callable[..., None], plan: Plan, family: str, case: Case):
        self.announce, self.plan, self.family, self.case = announce, plan, family, case
        self.tally = Tally()

    def run(self, generator: np.random.Generator) -> Tally:
        """Run all commands and checks."""
        Path(DATA).write_text(self.case.rows.text())
        if self.case.weights is not None:
            Path(WEIGHTS).write_text("\n".join(f"{x:g}" for x in self.case.weights) + "\n")
        start = None
        if self.case.start:
            ended = self._train((*self.case.start, "--max-seconds", "10"), START, self.case.runs[0])
            start = models.parse(ended.model) if ended.status == 0 and ended.model else None
            if start is None or start.not_finite():
                return self.tally
        seen = [done for run in self.case.runs if (done := self._one(run, start)) is not None]
        if seen and self.case.runs[0].convex:
            self._compare(seen)
        limited = seen and "time limit" in seen[0].model.stopped  # which ends anywhere
        if seen and generator.random() < THREADS_SHARE and not limited:
            one, two = (self._train(("--threads", t, *seen[0].run.argv), MODEL, seen[0].run) for t in ("1", "2"))
            differ = "" if one.model == two.model else "the models of --threads 1 and 2 differ"
            self.note(seen[0].run, Check(laws.THREADS, differ), one)
        if self.family == families.SMALL and seen and self.plan.timed:
            self._beside(seen[0])
        return self.tally

    def _train(self, argv: tuple[str, ...], model: str, run: Run) -> Ended:
        self.announce(self.plan.limit, family=self.family, solver=run.name, argv=[*argv, DATA, model])
        return train([*argv, DATA, model], model)

    def _one(self, run: Run, start: models.Model | None) -> Certified | None:
        """Run and check one command; None if there is no result to compare with."""
        ended = self._train(run.argv, MODEL, run)
        self.announce(OUR_SECONDS, family=self.family, solver=run.name, argv=[*run.argv, DATA, MODEL], checking=True)
        self.tally.counts["solver", run.name] += 1
        seen, checks = laws.certified(run, self.case, ended)
        for check in checks:
            self.note(run, check, ended)
        if seen is not None and seen.values is not None and start is not None:
            before = objective.values(run.problem, self.case.rows, start)
            if len(before) == len(seen.values):
                self.note(run, laws.no_worse_than_start(seen, before), ended)
        if run.seconds is not None:  # which may be exceeded by a second; passes over such small data are short
            self.note(run, laws.in_time(laws.LIMIT, ended.seconds, run.seconds, 1.0, 1.0), ended)
        elif self.plan.timed and not run.row.printed:  # a paper's algorithm takes the time that it takes
            self._time(run, ended)
        if seen is None or seen.values is None or seen.model.certificate is None:
            return None
        partial = "not certified" in seen.model.stopped  # after samples P is that of a part of the rows
        return seen if not partial and np.isfinite(seen.model.certificate.dual) else None

    def _time(self, run: Run, ended: Ended) -> None:
        """Compare the time with the peer's, which is measured only if ours could be too long."""
        limit = (ended.seconds - EXTRA) / FACTOR
        if limit > 0 and (argv := peers.counterpart(run, self.plan.peers)):
            self.announce(limit + OUR_SECONDS, family=self.family, solver=run.name, argv=argv)
            seconds, _ = peers.run(argv, limit + 1.0, None)
            self.note(run, laws.in_time(laws.TIME, ended.seconds, seconds, FACTOR, EXTRA), ended)

    def _compare(self, seen: list[Certified]) -> None:
        """No certified dual value may exceed the value of another run, or of a peer."""
        points = [(laws.SAME, m.run.key, m.value, m.rounding, " ".join(m.run.argv), m) for m in seen]
        for mine in seen if len(np.unique(self.case.rows.labels)) > 1 else ():
            theirs = self._peer(mine, peers.TIGHT)
            if theirs is not None and mine.run.row.word != "nu_svc":  # its scale depends on the model
                points.append((laws.DUAL, mine.run.key, *theirs[:2], f"{theirs[2]} -e {peers.TIGHT}", None))
        for mine, (law, key, value, rounding, words, of) in itertools.product(seen, points):
            if key == mine.run.key and of is not mine:
                self.note(mine.run, laws.bound_holds(law, mine, value, rounding, words), mine.ended)

    def _peer(self, mine: Certified, rule: str | None) -> tuple[float, float, str, float] | None:
        """P of the peer's model for the same problem, its rounding, the peer's command and its seconds."""
        argv = peers.counterpart(mine.run, self.plan.peers)
        if argv is None:
            return None
        self.announce(PEER_SECONDS + OUR_SECONDS, family=self.family, solver=mine.run.name, argv=argv)
        seconds, text = peers.run([*argv, "-q"], PEER_SECONDS, rule)
        model = None if text is None else models.parse(text)
        if model is None or model.not_finite() or not _same_kernel(model, mine.model):
            return None
        other = Certified(mine.run, mine.ended, model, objective.values(mine.run.problem, self.case.rows, model))
        if len(other.values) != len(mine.values):
            return None
        return other.value, other.rounding, shlex.join([Path(argv[0]).name, *argv[1:]]), seconds

    def _beside(self, mine: Certified) -> None:
        """Compare a run to LIBSVM's own rule with LIBSVM's: the objective of nu-SVC has no common scale, only times."""
        if mine.run.gap is not None or {"--max-iter", "--max-seconds"} & set(mine.run.argv):
            return
        theirs = self._peer(mine, mine.run.value_of("-e"))
        if theirs is None:
            return
        if mine.run.row.word != "nu_svc" and mine.run.convex:
            self.note(mine.run, laws.beside(mine, *theirs[:2]), mine.ended)
        late = laws.in_time(laws.SOON, mine.ended.seconds, theirs[3], laws.SOON_FACTOR, laws.SOON_EXTRA)
        self.note(mine.run, late, mine.ended)

    def note(self, run: Run, check: Check, ended: Ended) -> None:
        """Count a check, and save a breach with its files."""
        self.tally.counts["law", check.law] += 1
        if check.words:
            names = [name for name in (DATA, WEIGHTS, START) if name == DATA or name in run.argv]
            files = {name: Path(name).read_bytes() for name in names}
            files |= {MODEL: ended.model.encode()} if ended.model is not None else {}
            command = shlex.join(["svm-train", *run.argv, DATA, MODEL])
            self.tally.breaches.append(Breach(check.law, run.name, self.family, check.words, command, files))


def _same_kernel(one: models.Model, two: models.Model) -> bool:
    """Whether two models have the same kernel: Debian's LIBSVM 3.24 rounds -g and -r to single precision."""
    return all(float(one.header.get(key, "0")[0]) == float(two.header.get(key, "0")[0]) for key in ("gamma", "coef0"))
