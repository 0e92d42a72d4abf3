"""A fixed sample of `make stress`: data of every family, every solver, and the checks of results.

Seeds are fixed, no time limit selects the trials, and no other program is run, so that results are the same everywhere.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest
from conftest import REPOSITORY, SHARED

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import families, peers, session
from stress.report import Report
from stress.trial import Plan

SEED = 20_18
NOBODY = peers.Peers(None, None)
WORKERS = 1  # tests run in parallel already


def sample(tmp_path, family: str, indices: Iterable[int], shared: str = "") -> Report:
    """Run these trials of the families with this prefix."""
    report = Report(tmp_path / "breaches")
    plan = Plan(SEED, family, "", shared, NOBODY, timed=False, limit=30.0)
    session.run(((plan, k) for k in indices), WORKERS, report)
    return report


# Rounds with one trial of each family.  The longest trials, of 12 and 6 s, are in rounds 2 and 5.
@pytest.mark.parametrize("rounds", [(0, 1, 3, 4), pytest.param((2, 5), marks=pytest.mark.exhaustive)], ids=str)
def test_made_families_keep_the_laws(tmp_path, rounds):
    count = len(families.FAMILIES)
    trials = [number * count + k for number in rounds for k in range(count)]
    report = sample(tmp_path, "", trials)
    assert report.commands > len(trials)
    assert not report.breaches, report.text()


def test_the_command_runs_its_trials(tmp_path):
    line = [sys.executable, str(REPOSITORY / "scripts" / "stress"), "--trials", "1", "--jobs", "1"]
    done = subprocess.run([*line, "--results", str(tmp_path / "r")], capture_output=True, text=True)
    assert done.returncode == 0 and ", 0 breaches" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("family", "trials"),
    [("hostile:", range(28)), ("real:", range(29))]
    + [pytest.param("real:", range(29, 58), marks=pytest.mark.exhaustive)],
    ids=str,
)
def test_sets_of_the_shared_folder_keep_the_laws(tmp_path, family, trials):
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is absent: its sets come with the project's shared folder, not with the repository")
    report = sample(tmp_path, family, trials, str(SHARED))
    assert report.commands > len(trials)
    assert not report.breaches, report.text()
