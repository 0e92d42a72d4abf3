"""The benchopt benchmark in benchmarks/: its solvers reach one objective."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest
from conftest import REPOSITORY
from naming import case_of

FOLDER = REPOSITORY / "benchmarks"
SOLVERS = sorted(FOLDER.glob("solvers/*.py"))
LOSSES = ("hinge", "squared_hinge", "logistic")


def load(path):
    """The class of a file."""
    spec = importlib.util.spec_from_file_location(f"benchopt_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(getattr(module, name) for name in ("Objective", "Dataset", "Solver") if name in vars(module))


@pytest.fixture
def benchopt(monkeypatch):
    """benchopt, or its base classes without content where it is not installed."""
    try:
        import benchopt  # noqa: F401
    except ImportError:
        package, rules = types.ModuleType("benchopt"), types.ModuleType("benchopt.stopping_criterion")
        package.BaseObjective = package.BaseDataset = package.BaseSolver = object
        rules.SufficientProgressCriterion = dict
        monkeypatch.setitem(sys.modules, "benchopt", package)
        monkeypatch.setitem(sys.modules, "benchopt.stopping_criterion", rules)


def made(file, /, **attributes):
    """An object of a file's class with these parameters, as benchopt sets them."""
    found = object.__new__(load(file))
    vars(found).update(attributes)
    return found


def test_solvers_reach_one_objective(benchopt):
    data = made(FOLDER / "datasets" / "simulated.py", n_samples=200, n_features=20, noise=0.5, seed=1).get_data()
    tested = set()
    for loss in LOSSES:
        objective = made(FOLDER / "objective.py", loss=loss, C=0.1)
        objective.set_data(**data)
        values = {}
        for path in SOLVERS:
            for form in ("primal", "dual"):
                solver = made(path, form=form)
                given = objective.get_objective()
                if "skip" in vars(type(solver)) and solver.skip(**given)[0]:
                    continue
                try:
                    solver.set_objective(**given)
                    solver.run(1e-8)
                except ImportError:
                    continue
                values[path.stem, form] = objective.evaluate_result(**solver.get_result())
        with case_of(loss, values):
            best = min(found["value"] for found in values.values())
            assert best < objective.evaluate_result(**objective.get_one_result())["value"]
            assert all(found["value"] == pytest.approx(best, rel=1e-5) for found in values.values())
            assert 0.0 <= values["svmtool", "dual"]["certified_gap"] <= 1e-8
            tested |= {name for name, _ in values}
    assert {"svmtool", "scikit_learn"} <= tested


def test_a_file_is_read_with_labels_of_one_and_minus_one(benchopt, data):
    found = made(FOLDER / "datasets" / "libsvm.py", path=str(data / "breast_cancer")).get_data()
    assert found["X"].shape[0] == len(found["y"]) and set(np.unique(found["y"])) == {-1.0, 1.0}
