"""Stress test: trains every solver on random data for a given time, checks the results and reports breaches.

    python scripts/stress [--minutes M] [--trials N] [--seed N] [--jobs J] [--only FAMILY] [--solver S] [--results DIR]
    python scripts/stress --fuzz [--minutes M] [--trials N] [--seed N] [--jobs J] [--only KIND] [--results DIR]

With --fuzz: hostile files, folders of rows, command lines and Python arguments, kills, Ctrl-C and full disks.
LIBLINEAR_DIR and LIBSVM_DIR are folders with the built programs; otherwise Debian's are used, if installed.  Exit
status 1 if there was a breach.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path = [str(REPOSITORY), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]

import machine  # noqa: E402
from stress import fuzz, peers, trial  # noqa: E402
from stress.report import Report  # noqa: E402


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="stress", description="Train every solver on random data and check the results.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    for name, kind, default, words in (
        ("minutes", float, None, "duration; 10 without --trials"),
        ("trials", int, None, "end after this many trials (with --fuzz: of each kind)"),
        ("first", int, 0, "number of the first trial: repeats a part of a run"),
        ("seed", int, 1, "seed of the data"),
        ("jobs", int, machine.cores() or 1, "parallel workers"),
        ("only", str, "", f"families whose names begin with this; with --fuzz one of {', '.join(fuzz.KINDS)}"),
        ("solver", str, "", "numbers (60k: with kernels) or names of -s, separated by commas"),
        ("results", Path, REPOSITORY / "results" / "stress", "folder for breaches"),
    ):
        parser.add_argument(f"--{name}", type=kind, default=default, help=words)
    parser.add_argument("--fuzz", action="store_true", help="try hostile input and faults instead of solvers")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    minutes = chosen.minutes or (math.inf if chosen.trials is not None else 10.0)
    until, tries = time.monotonic() + 60.0 * minutes, math.inf if chosen.trials is None else chosen.trials
    plan = trial.Plan(chosen.seed, chosen.only, chosen.solver, str(REPOSITORY.parent / "shared"), peers.find())
    kinds = [kind for kind in fuzz.KINDS if chosen.only in ("", kind)]
    if not (kinds if chosen.fuzz else plan.families() and plan.solvers()):
        print("no such kind, family or solver", file=sys.stderr)
        return 2
    for name, path in (("LIBLINEAR", plan.peers.liblinear), ("LIBSVM", plan.peers.libsvm)):
        if path is None and not chosen.fuzz:
            print(f"{name} is missing: dual values and times are not compared with it", file=sys.stderr)
    results = chosen.results
    if results.exists() and any(results.iterdir()):
        results = results / time.strftime("%Y%m%d-%H%M%S")
    report = Report(results)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if chosen.fuzz:
            fuzz.run(kinds, tries, chosen.seed, chosen.first, chosen.jobs, report, until)
        else:
            trial.run(plan, tries, chosen.first, chosen.jobs, report, until)
    except KeyboardInterrupt:
        print("\ninterrupted; results so far", file=sys.stderr)
    print(report.text())
    return 1 if report.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
