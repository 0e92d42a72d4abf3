"""A fixed sample of `make stress`: data of every family, every solver, and the checks of results.

Seeds are fixed, no clock decides what is tried, and no other program is asked, so that it says the same everywhere.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

import pytest
from conftest import REPOSITORY, SHARED

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import peers, session
from stress.report import Report
from stress.trial import Plan

SEED = 20_18
NOBODY = peers.Peers(None, None)
WORKERS = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


def sample(tmp_path, family: str, trials: int, shared: str = "") -> Report:
    """Run so many trials of the families with this prefix."""
    report = Report(tmp_path / "breaches")
    plan = Plan(SEED, family, "", shared, NOBODY, timed=False, limit=30.0)
    session.run(islice(session.trials(plan), trials), WORKERS, report)
    return report


def test_made_families_keep_the_laws(tmp_path):
    report = sample(tmp_path, "", 150)
    assert report.commands > 150
    assert not report.breaches, report.text()


@pytest.mark.parametrize(("family", "trials"), [("hostile:", 28), ("real:", 58)])
def test_sets_of_the_shared_folder_keep_the_laws(tmp_path, family, trials):
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is absent: its sets come with the project's shared folder, not with the repository")
    report = sample(tmp_path, family, trials, str(SHARED))
    assert report.commands > trials
    assert not report.breaches, report.text()
