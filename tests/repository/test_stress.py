"""A fixed sample of `make stress`: data of every family, every solver, and the checks of results.

Seeds are fixed, no time limit selects the trials, and no other program is run, so that results are the same everywhere.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import REPOSITORY, SHARED

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import families, peers, session
from stress.report import Report
from stress.trial import Plan

SEED = 20_18
NOBODY = peers.Peers(None, None)
WORKERS = 1  # tests run in parallel already

# A commit runs two rounds, with one trial of each family, trials of the solvers that are not in them, and some sets of
# the shared folder.  The longest trials, of 12 and 6 s, are in rounds 2 and 5.
COUNT = len(families.FAMILIES)
ALL = {"": range(6 * COUNT), "hostile:": range(28), "real:": range(58)}
CHOSEN = {
    "": {*range(COUNT), *range(3 * COUNT, 4 * COUNT), 34, 35, 41, 47},
    "hostile:": set(range(28)),
    "real:": {*range(1, 29, 2), 12, 16},
}
REST = {family: set(trials) - CHOSEN[family] for family, trials in ALL.items()}


@pytest.mark.parametrize("trials", [CHOSEN, pytest.param(REST, marks=pytest.mark.exhaustive)], ids=["some", "rest"])
def test_data_keep_the_laws(tmp_path, trials):
    """Made families, and the sets of the shared folder where it exists."""
    report = Report(tmp_path / "breaches")
    jobs = [
        (Plan(SEED, family, "", str(SHARED) if family else "", NOBODY, timed=False, limit=30.0), k)
        for family in trials
        for k in sorted(trials[family])
        if not family or SHARED.exists()
    ]
    session.run(iter(jobs), WORKERS, report)
    assert report.commands > len(jobs)
    assert not report.breaches, report.text()


def test_the_command_runs_its_trials(tmp_path):
    line = [sys.executable, str(REPOSITORY / "scripts" / "stress"), "--trials", "1", "--jobs", "1"]
    done = subprocess.run([*line, "--results", str(tmp_path / "r")], capture_output=True, text=True)
    assert done.returncode == 0 and ", 0 breaches" in done.stdout, done.stdout + done.stderr
