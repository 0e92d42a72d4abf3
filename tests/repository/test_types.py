"""Programs of users pass type checkers: the examples of the documentation, and one that uses most of the interface."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

RIGHT = """\
from __future__ import annotations

import numpy as np

import svmtool
from svmtool.sklearn import SVC, LinearSVC, LinearSVR, LogisticRegression, OneClassSVM

X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
done = svmtool.fit(X, ["no", "no", "yes", "yes"], solver="l2svc", C=10.0, gap=1e-8)
weights: np.ndarray = done.model.W.round(3)
gap: float = done.certificate.gap
text: str = done.message
kernel = svmtool.fit(X, [0, 0, 1, 1], kernel="rbf", gamma=0.5, probability=True, class_weight={0: 2.0})
vectors: int = kernel.model.total_sv
labels: np.ndarray = svmtool.predict(done, X)
shares: np.ndarray = svmtool.probabilities(kernel.model, X)
found = svmtool.cross_validate(X, [0, 0, 1, 1], folds=2, metrics="accuracy", C=2.0)
accuracy: float = found.metrics["accuracy"]
best: float = svmtool.search_C(X, [0, 0, 1, 1], folds=2).best.C
svmtool.save_model(done, "m")
again: np.ndarray = svmtool.decision_values(svmtool.load_model("m"), X)
predicted: np.ndarray = LinearSVC(C=2.0).fit(X, [0, 0, 1, 1]).predict(X)
values: np.ndarray = SVC().fit(X, [0, 0, 1, 1]).decision_function(X)
targets: np.ndarray = LinearSVR(dual=True).fit(X, [0.0, 1.0, 2.0, 3.0]).predict(X)
sure: np.ndarray = LogisticRegression().fit(X, [0, 0, 1, 1]).predict_proba(X)
inside: np.ndarray = OneClassSVM(nu=0.5).fit(X).predict(X)
svmtool.save_model(LinearSVC().fit(X, [0, 0, 1, 1]), "n")
"""
WRONG = (
    "svmtool.fit(X, [0, 0, 1, 1], c=1.0)",
    "svmtool.fit(X, [0, 0, 1, 1], C='1')",
    "svmtool.cross_validate(X, [0, 0, 1, 1], c=1.0)",
    "done.model.total_sv",
)
# scikit-learn has no types of its own
MYPY = "mypy --strict --disable-error-code=import-untyped --disable-error-code=import-not-found"
# what programs of users see no type of is half of the work
UNSEEN = "compiled coordinate data engine formats kernels linalg objectives papers solvers".split()
PYPROJECT = f"""[[tool.mypy.overrides]]
module = {["numba.*", "matplotlib.*", *(f"svmtool.{part}.*" for part in UNSEEN)]}
follow_imports = "skip"
follow_imports_for_stubs = true
"""
CHECKERS = {"mypy": MYPY.split(), "pyright": ["pyright", "--pythonpath", sys.executable]}


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_of_users(checker, tmp_path, monkeypatch):
    """Each wrong line is an error, and no other line, in one run of the checker."""
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"needs {checker}: pip install {checker}")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "user.py").write_text(RIGHT + "\n".join(WRONG) + "\n")
    # pyright infers types of scikit-learn's functions, and wrong ones
    programs = list((REPOSITORY / "docs" / "examples").glob("*.py")) if checker == "mypy" else []
    for program in programs:
        shutil.copy(program, tmp_path)
    monkeypatch.setenv("MYPY_CACHE_DIR", str(REPOSITORY / ".mypy_cache" / "users"))  # what has not changed is not read
    command = [sys.executable, "-m", *CHECKERS[checker], "user.py", *(program.name for program in programs)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    found = {(name, int(line)) for name, line in re.findall(r"(\w+\.py):(\d+):.* error:", done.stdout)}
    assert found == {("user.py", RIGHT.count("\n") + k + 1) for k in range(len(WRONG))}, done.stdout


def test_keywords_are_those_of_fit():
    import inspect

    from svmtool.api.keywords import FitKeywords, SolverOptions
    from svmtool.api.settings import DEFAULTS, FURTHER
    from svmtool.api.training import fit
    from svmtool.options.train import BY_KEYWORD

    named = {p.name for p in inspect.signature(fit).parameters.values() if p.kind is p.KEYWORD_ONLY} - {"kernel"}
    assert set(SolverOptions.__annotations__) == FURTHER
    assert set(FitKeywords.__annotations__) == named | FURTHER
    assert set(DEFAULTS) <= named
    for keyword, annotation in {**SolverOptions.__annotations__, **FitKeywords.__annotations__}.items():
        option, known = BY_KEYWORD.get(keyword), getattr(annotation, "__forward_arg__", annotation)
        if option is not None and "Literal" in known and option.kind is not None and option.kind.names:
            assert f"Literal[{', '.join(map(repr, option.kind.names))}]" in known, keyword
