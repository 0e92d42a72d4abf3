"""Runs the papers' experiments and writes the report.

    python scripts/experiments [--only alm-table1,..] [--quick] [--peer-python PYTHON] [--data DIR] [--results DIR]

Finished cells are saved in the results folder: a second run continues where the first stopped.  Where the noise of the
times could change a verdict, short cells are measured in further rounds (measures.py).  Each experiment has a budget of
seconds; cells that have not begun by then are left out.
Every run writes report.md into the results folder; one of all experiments without --quick also EXPERIMENTS.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import functools
import platform
import shutil
import sys
import time
from pathlib import Path

QUICK_SECONDS = 280.0  # of all experiments with --quick
HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path = [str(REPOSITORY), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]

from tqdm import tqdm  # noqa: E402

import machine  # noqa: E402
from experiments import measures, report, studies  # noqa: E402
from experiments.declare import Cell, Outcome  # noqa: E402
from experiments.runner import Runner  # noqa: E402
from svmtool import __version__  # noqa: E402


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments", description="Runs the papers' experiments and writes the report.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", default="", help="experiments to run, comma-separated (default: all)")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--quick", action="store_true", help="few small cells, to test that everything works")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python with the packages of peers.txt")
    parser.add_argument(
        "--data", action="append", help="folder of data sets, plain or .xz (default: shared/data, data)"
    )
    parser.add_argument("--results", default=str(REPOSITORY / "results" / "experiments"), help="folder for results")
    return parser.parse_args()


def main() -> int:
    chosen = options()
    known = studies.all_of_them()
    if chosen.list:
        for e in known.values():
            print(f"{e.name:24} {e.source}: {e.claim}")
        return 0
    names = [name for name in chosen.only.split(",") if name] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such experiment: {', '.join(unknown)} (there are {', '.join(known)})", file=sys.stderr)
        return 1
    if not shutil.which(chosen.peer_python):
        print(f"no such Python: {chosen.peer_python}", file=sys.stderr)
        return 1
    folders = [Path(f) for f in chosen.data or (REPOSITORY.parent / "shared" / "data", REPOSITORY / "data")]
    results = Path(chosen.results)
    runner = Runner(folders, results, chosen.peer_python)
    found, failed, spent = [], 0, dict.fromkeys(names, 0.0)
    with tqdm(unit="cell", disable=None) as bar:

        def run(name: str, cells: list[Cell]) -> list[Outcome]:
            nonlocal failed
            outcomes = []
            bar.total = (bar.total or 0) + len(cells)
            budget = known[name].budget
            if chosen.quick:  # twice its share of the time that is left
                budget = 2.0 * (QUICK_SECONDS - sum(spent.values())) / (len(names) - names.index(name) + 1)
            for cell in cells:
                bar.set_postfix_str(f"{name}: {cell}"[:80])
                started = time.monotonic()
                outcomes.append(runner.run(cell) if spent[name] < budget else Outcome(cell, [], "left out"))
                spent[name] += time.monotonic() - started
                if outcomes[-1].ended == "failed":
                    failed += 1
                    tqdm.write(f"{name}: {cell} failed: {outcomes[-1].words.strip()}", file=sys.stderr)
                bar.update()
            return outcomes

        first = {name: run(name, known[name].cells(chosen.quick)) for name in names}
        for name, outcomes in first.items():  # further rounds follow all first ones, so that time passes between them
            finding = known[name].conclude(outcomes)
            if not chosen.quick:
                finding = measures.with_repeats(known[name].conclude, outcomes, functools.partial(run, name))
            if missing := sum(o.ended == "left out" for o in outcomes):
                note = f" {missing} of {len(outcomes)} measurements were left out for lack of time."
                finding = dataclasses.replace(finding, measured=finding.measured + note)
            found.append((known[name], finding))
            tqdm.write(f"{name}, {spent[name]:.0f} s: {finding.measured} Holds: {finding.holds}.")
    facts = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{machine.processor()}, {machine.cores()} cores, {platform.system()}",
        "Python": platform.python_version(),
        "version": f"svmtool {__version__}",
        "compared with": ", ".join(v for tool, v in sorted(runner.versions.items()) if v and tool != measures.OURS),
    }  # fmt: skip
    if chosen.quick:
        facts["quick"] = "a few small cells, to see that everything runs: no conclusions"
    absent = sorted(tool for tool, version in runner.versions.items() if not version)
    if absent:
        facts["not installed"] = ", ".join(absent)
    results.mkdir(parents=True, exist_ok=True)
    whole = [REPOSITORY / "EXPERIMENTS.md"] if not chosen.only and not chosen.quick else []
    for path in (results / "report.md", *whole):
        report.write(path, report.markdown(facts, found))
        print(f"written: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
