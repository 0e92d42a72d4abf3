"""oneDAL's SVC by scikit-learn-intelex.  The method is "SVC"; a step is tol; settings: C, gamma, cache_mb."""

from __future__ import annotations

from importlib.metadata import version

from experiments.problem import Fitted, Problem
from experiments.tools.sklearn import kernel_fit

METHODS = ("SVC",)


def VERSION() -> str:
    import sklearnex

    return f"oneDAL {version('scikit-learn-intelex')}" if sklearnex else ""


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from sklearnex.svm import SVC

    gamma = settings.get("gamma", 1.0 / problem.X.shape[1])
    tolerance = {} if step is None else {"tol": step}
    machine = SVC(C=problem.C, gamma=gamma, cache_size=settings.get("cache_mb", 1000), **tolerance)
    found = kernel_fit(machine, problem, gamma)
    if not hasattr(machine, "_onedal_estimator"):
        raise RuntimeError("scikit-learn-intelex left this fit to scikit-learn")
    return found
