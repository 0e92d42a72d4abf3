"""Runs the papers' experiments and writes the report.

    python scripts/experiments [--only alm-table1,..] [--quick] [--peer-python PYTHON] [--data DIR] [--results DIR]

Finished cells are saved in the results folder: a second run continues where the first stopped.  Each experiment has a
budget of seconds; cells that have not begun by then are left out.
Every run writes report.md into the results folder; one of all experiments without --quick also EXPERIMENTS.md.
"""

from __future__ import annotations

import argparse
import datetime
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
from experiments.declare import Cell, Experiment, Finding, Outcome  # noqa: E402
from experiments.runner import Runner  # noqa: E402
from svmtool import __version__  # noqa: E402


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="experiments", description="Runs the papers' experiments and writes the report.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    known, shared = studies.all_of_them(), REPOSITORY.parent / "shared" / "data"
    parser.add_argument("--only", default="", help="experiments to run, comma-separated (default: all)")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--quick", action="store_true", help="few small cells, to test that everything works")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python with the packages of peers.txt")
    parser.add_argument("--data", action="append", help="folder of sets, plain or .xz (default: shared/data, data)")
    parser.add_argument("--results", default=str(REPOSITORY / "results" / "experiments"), help="folder for results")
    chosen = parser.parse_args()
    names = [name for name in chosen.only.split(",") if name] or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such experiment: {', '.join(unknown)} (there are {', '.join(known)})")
    if not shutil.which(chosen.peer_python):
        parser.error(f"no such Python: {chosen.peer_python}")
    chosen.experiments = [known[name] for name in names]
    chosen.data = [Path(folder) for folder in chosen.data or (shared, REPOSITORY / "data")]
    return chosen


class Session:
    """Runs cells within the budgets of their experiments."""

    def __init__(self, chosen: argparse.Namespace, bar: tqdm):
        self.runner = Runner(chosen.data, Path(chosen.results), chosen.peer_python)
        self.chosen, self.bar, self.failed = chosen, bar, 0
        self.spent = {e.name: 0.0 for e in chosen.experiments}

    def budget(self, experiment: Experiment) -> float:
        if not self.chosen.quick:
            return experiment.budget
        left = len(self.spent) - list(self.spent).index(experiment.name) + 1
        return 2.0 * (QUICK_SECONDS - sum(self.spent.values())) / left  # twice its share of the time that is left

    def run(self, experiment: Experiment, cells: list[Cell]) -> list[Outcome]:
        outcomes, name, budget = [], experiment.name, self.budget(experiment)
        self.bar.total = (self.bar.total or 0) + len(cells)
        for cell in cells:
            self.bar.set_postfix_str(f"{name}: {cell}"[:80])
            started = time.monotonic()
            outcomes.append(self.runner.run(cell) if self.spent[name] < budget else Outcome(cell, [], "left out"))
            self.spent[name] += time.monotonic() - started
            if outcomes[-1].ended == "failed":
                self.failed += 1
                tqdm.write(f"{name}: {cell} failed: {outcomes[-1].words.strip()}", file=sys.stderr)
            self.bar.update()
        return outcomes

    def finding(self, experiment: Experiment, outcomes: list[Outcome]) -> Finding:
        finding = experiment.conclude(outcomes)
        if missing := sum(o.ended == "left out" for o in outcomes):
            finding.measured += f" {missing} of {len(outcomes)} measurements were left out for lack of time."
        name = experiment.name
        tqdm.write(f"{name}, {self.spent[name]:.0f} s: {finding.measured} Holds: {finding.holds}.")
        return finding

    def facts(self) -> dict[str, str]:
        versions = self.runner.versions.items()
        facts = {
            "date": datetime.date.today().isoformat(),
            "machine": f"{machine.processor()}, {machine.cores()} cores, {platform.system()}",
            "Python": platform.python_version(),
            "version": f"svmtool {__version__}",
            "compared with": ", ".join(v for tool, v in sorted(versions) if v and tool != measures.OURS),
            "quick": "a few small cells, to see that everything runs: no conclusions" * self.chosen.quick,
            "not installed": ", ".join(sorted(tool for tool, version in versions if not version)),
        }  # fmt: skip
        return {name: words for name, words in facts.items() if words}


def main() -> int:
    chosen = options()
    if chosen.list:
        print("\n".join(f"{e.name:24} {e.source}: {e.claim}" for e in chosen.experiments))
        return 0
    with tqdm(unit="cell", disable=None) as bar:
        session = Session(chosen, bar)
        found = [(e, session.finding(e, session.run(e, e.cells(chosen.quick)))) for e in chosen.experiments]
    Path(chosen.results).mkdir(parents=True, exist_ok=True)
    whole = [REPOSITORY / "EXPERIMENTS.md"] if not chosen.only and not chosen.quick else []
    for path in (Path(chosen.results) / "report.md", *whole):
        report.write(path, report.markdown(session.facts(), found))
        print(f"written: {path}")
    return 1 if session.failed else 0


if __name__ == "__main__":
    sys.exit(main())
