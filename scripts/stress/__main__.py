"""Data that nobody tuned on, for a given time: every registry row, the laws of an answer, and every breach told.

    python scripts/stress [--minutes M] [--seed N] [--jobs J] [--only FAMILY] [--solver S] [--results DIR]

LIBLINEAR_DIR and LIBSVM_DIR are folders with the built programs; without them Debian's are used where they are.
Exit status 1 when there was a breach.  `python scripts/stress --list` names families and solvers.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path = [str(REPOSITORY), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]

import machine  # noqa: E402
from stress import cases, peers, session, trial  # noqa: E402
from stress.pool import Done  # noqa: E402
from stress.report import Report  # noqa: E402

SHARED = REPOSITORY.parent / "shared"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="stress", description="Data that nobody tuned on against every solver, and the laws of an answer.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it runs")
    parser.add_argument("--trials", type=int, default=None, help="end after so many trials, whatever the time")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial: repeats a part of a run")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other data")
    parser.add_argument("--jobs", type=int, default=machine.cores() or 1, help="workers side by side")
    parser.add_argument("--only", default="", metavar="FAMILY", help="families whose names begin so")
    parser.add_argument("--solver", default="", metavar="S", help="a number (60k: with kernels) or name of -s")
    parser.add_argument("--factor", type=float, default=20.0, help="a breach: longer than so many times the peer")
    parser.add_argument("--room", type=float, default=5.0, help=".. and so many seconds")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds in which any command comes to an end")
    parser.add_argument("--shared", default=str(SHARED), help="folder with data/*.xz and hostile/*")
    parser.add_argument("--untimed", action="store_true", help="no clock, no peers: as the tests' sample")
    parser.add_argument("--results", default=str(REPOSITORY / "results" / "stress"), help="folder of breaches")
    parser.add_argument("--list", action="store_true", help="list families and solvers")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    asked = peers.Peers(None, None) if chosen.untimed else peers.find()
    plan = trial.Plan(
        chosen.seed, chosen.only, chosen.solver, chosen.shared, asked, not chosen.untimed, chosen.factor, chosen.room,
        chosen.limit,
    )  # fmt: skip
    if chosen.list:
        print("\n".join(plan.families()))
        print(", ".join(cases.name_of(row) for row in plan.solvers()))
        return 0
    if not plan.families() or not plan.solvers():
        print(f"no such {'family' if plan.solvers() else 'solver'}: see --list", file=sys.stderr)
        return 2
    tell_what_is_missing(plan)
    results = Path(chosen.results)
    if results.exists() and any(results.iterdir()):
        results = results / time.strftime("%Y%m%d-%H%M%S")
    report = Report(results)
    end = time.monotonic() + 60.0 * chosen.minutes
    count = 0

    def say(done: Done, lines: list[str]) -> None:
        nonlocal count
        count += 1
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
        for line in lines:
            print(line, flush=True)
        if sys.stderr.isatty():
            what = f"{done.doing.get('family', '')} {done.doing.get('solver', '')}"
            words = f"{count} trials, {report.commands} commands, {report.breaches} breaches: {what}"
            print(words[:100], end="", file=sys.stderr, flush=True)

    jobs = session.trials(plan, chosen.first)
    if chosen.trials is not None:
        jobs = (job for _, job in zip(range(chosen.trials), jobs, strict=False))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        session.run(jobs, chosen.jobs, report, end, say)
    except KeyboardInterrupt:
        print("\ninterrupted: what was found so far", file=sys.stderr)
    print(report.text())
    return 1 if report.breaches else 0


def tell_what_is_missing(plan: trial.Plan) -> None:
    """A sentence for each thing without which less is tried."""
    if not any(name.startswith("real:") for name in plan.families()) and not plan.family:
        print(f"{plan.shared}/data is absent: no real sets are tried", file=sys.stderr)
    if not any(name.startswith("hostile:") for name in plan.families()) and not plan.family:
        print(f"{plan.shared}/hostile is absent: its small sets are left out", file=sys.stderr)
    for name, path in (("LIBLINEAR", plan.peers.liblinear), ("LIBSVM", plan.peers.libsvm)):
        if path is None and plan.timed:
            print(f"{name} is absent: no dual value and no time is held against it", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
