"""Stress test: trains every solver on random data for a given time, checks the results and reports breaches.

    python scripts/stress [--minutes M] [--seed N] [--jobs J] [--only FAMILY] [--solver S] [--results DIR]
    python scripts/stress --fuzz [--minutes M] [--inputs N] [--rows N] [--lines N] [--kills N] [--interrupts N] ..

With --fuzz: hostile files, folders of rows, command lines and Python arguments, kills, Ctrl-C and full disks; all kinds
for the given minutes, or the given number of each named kind.  LIBLINEAR_DIR and LIBSVM_DIR are folders with the built
programs; otherwise Debian's are used, if installed.  Exit status 1 if there was a breach.
`python scripts/stress --list` lists families and solvers.
"""

from __future__ import annotations

import argparse
import itertools
import math
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path = [str(REPOSITORY), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]

from tqdm import tqdm  # noqa: E402

import machine  # noqa: E402
from stress import cases, families, fuzz, peers, trial  # noqa: E402
from stress.pool import Done  # noqa: E402
from stress.report import Report  # noqa: E402

SHARED = REPOSITORY.parent / "shared"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="stress", description="Train every solver on random data and check the results.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    for name, kind, default, words in (
        ("minutes", float, None, "duration; 10 unless numbers are given"),
        ("trials", int, None, "end after this many trials, without a time limit"),
        ("first", int, 0, "number of the first trial: repeats a part of a run"),
        ("seed", int, 1, "seed of the data"),
        ("jobs", int, machine.cores() or 1, "parallel workers"),
        ("only", str, "", "families whose names begin with this"),
        ("solver", str, "", "numbers (60k: with kernels) or names of -s, separated by commas"),
        ("shared", str, str(SHARED), "folder with data/*.xz and hostile/*"),
    ):
        parser.add_argument(f"--{name}", type=kind, default=default, help=words)
    parser.add_argument("--untimed", action="store_true", help="without checks of time and without peers")
    parser.add_argument("--results", default=str(REPOSITORY / "results" / "stress"), help="folder for breaches")
    fuzzing = parser.add_argument_group("hostile input and faults", "with --fuzz; each a number of trials")
    fuzzing.add_argument("--fuzz", action="store_true", help="run these instead of solvers")
    for name, about in fuzz.KINDS.items():
        fuzzing.add_argument(f"--{name}", type=int, default=None, metavar="N", help=about.help)
    parser.add_argument("--list", action="store_true", help="list families and solvers")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    plan = plan_of(chosen)
    if chosen.list:
        print("\n".join(plan.families()))
        print(", ".join(cases.name_of(row) for row in plan.solvers()))
        return 0
    if not plan.families() or not plan.solvers():
        print(f"no such {'family' if plan.solvers() else 'solver'}: see --list", file=sys.stderr)
        return 2
    results = Path(chosen.results)
    if results.exists() and any(results.iterdir()):
        results = results / time.strftime("%Y%m%d-%H%M%S")
    report = Report(results)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        (run_fuzz if chosen.fuzz else run_trials)(chosen, plan, report)
    except KeyboardInterrupt:
        print("\ninterrupted; results so far", file=sys.stderr)
    print(report.text())
    return 1 if report.breaches else 0


def plan_of(chosen: argparse.Namespace) -> trial.Plan:
    tools = peers.Peers(None, None) if chosen.untimed else peers.find()
    return trial.Plan(chosen.seed, chosen.only, chosen.solver, chosen.shared, tools, not chosen.untimed)


def run_trials(chosen: argparse.Namespace, plan: trial.Plan, report: Report) -> None:
    warn_of_missing(plan)
    jobs = ((plan, index) for index in itertools.count(chosen.first))
    until = end(chosen.minutes or (10.0 if chosen.trials is None else math.inf))
    trial.run(itertools.islice(jobs, chosen.trials), chosen.jobs, report, until, progress_printer(report))


def run_fuzz(chosen: argparse.Namespace, plan: trial.Plan, report: Report) -> None:
    numbers = {kind: getattr(chosen, kind.replace("-", "_")) for kind in fuzz.KINDS}
    named = any(number is not None for number in numbers.values())
    wanted = {kind: float(number or 0) if named else math.inf for kind, number in numbers.items()}
    minutes = chosen.minutes or (math.inf if named else 10.0)
    fuzz.run(wanted, chosen.seed, chosen.first, chosen.jobs, report, end(minutes), progress_printer(report))


def end(minutes: float) -> float:
    return time.monotonic() + 60.0 * minutes


def progress_printer(report: Report) -> Callable[[Done, list[str]], None]:
    """A function that prints new breaches, and on a terminal a progress line."""

    bar = tqdm(bar_format="{desc}", disable=None, leave=False, dynamic_ncols=True)

    def say(done: Done, lines: list[str]) -> None:
        for line in lines:
            with bar.external_write_mode():
                print(line, flush=True)
        what = " ".join(str(done.doing[k]) for k in ("kind", "family", "solver") if k in done.doing)
        bar.set_description_str(f"{report.tried} tried, {report.breaches} breaches: {what}")

    return say


def warn_of_missing(plan: trial.Plan) -> None:
    """Print a line for each missing set or program that reduces the tests."""
    for start, folder in ((families.REAL, "data"), (families.HOSTILE, "hostile")):
        if not any(name.startswith(start) for name in plan.families()) and not plan.family:
            print(f"{plan.shared}/{folder} is missing: its sets are left out", file=sys.stderr)
    for name, path in (("LIBLINEAR", plan.peers.liblinear), ("LIBSVM", plan.peers.libsvm)):
        if path is None and plan.timed:
            print(f"{name} is missing: dual values and times are not compared with it", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
