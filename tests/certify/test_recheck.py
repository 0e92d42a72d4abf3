"""--keep-dual and scripts/recheck.py, which recomputes P and D from the dual point and shares no code with svmtool."""

from __future__ import annotations

import ast
import runpy
import sys
from fractions import Fraction

import numpy as np
import pytest
from conftest import REPOSITORY
from reference import text_of

import svmtool

SCRIPT = REPOSITORY / "scripts" / "recheck.py"
RECHECK = runpy.run_path(str(SCRIPT))
CLASSES, TUBES, FREE = (0, 1, 2, 3, 5, 6, 7), (11, 12, 13), (0, 2, 5, 6, 11)


def made(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(kind))
    X = np.round(rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.7), 2)
    f = X @ (1.0, -2.0, 0.5) + 0.7 * rng.normal(size=40) + 0.3
    return X, {"two": np.where(f > 0, 1, -1), "three": np.digitize(f, (-1.0, 1.0)), "real": np.round(f, 3)}[kind]


CASES = [(number, kind) for number in CLASSES for kind in ("two", "three")] + [(number, "real") for number in TUBES]


@pytest.fixture
def trained(svm_train, tmp_path, monkeypatch, capsys):
    """A function that trains on rows of a kind with --keep-dual and returns one that rechecks the files."""

    def train(kind: str, *options):
        X, y = made(kind)
        assert svm_train("-q", *options, "--keep-dual", "p", "d", "m", data=text_of(X, y))[0] == 0

        def recheck(*more) -> tuple[int, str]:
            monkeypatch.setattr(sys, "argv", ["recheck.py", "m", "d", "p", *map(str, more)])
            return RECHECK["main"](), capsys.readouterr().out

        return recheck

    return train


def test_it_imports_nothing_of_svmtool():
    found = [node for node in ast.walk(ast.parse(SCRIPT.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(isinstance(node, ast.Import) for node in found)
    assert {name.name for node in found for name in node.names} == {"argparse", "re", "sys", "numpy"}
    assert "__import__" not in SCRIPT.read_text() and "importlib" not in SCRIPT.read_text()


@pytest.mark.parametrize(("number", "kind"), CASES)
def test_both_agree(number, kind, trained):
    options = (["-c", 0.3], ["-B", 1, "--gap", 1e-10], ["-p", 0.2, "-c", 20, "-e", 0.5])[number % 3]
    status, out = trained(kind, "-s", number, *options)()
    assert status == 0 and out.endswith("they agree\n"), out


@pytest.mark.parametrize("number", FREE)
def test_with_a_free_bias_too(number, trained):
    status, out = trained("real" if number in TUBES else "two", "-s", number, "-B", 1, "-R", "--gap", 1e-9)()
    assert status == 0, out


def test_weights_of_labels_and_rows_are_given(trained, tmp_path):
    (tmp_path / "w").write_text("".join(f"{(k % 4) / 2}\n" for k in range(40)))
    options = ("-w1", 3, "-w0", 0)
    for kind in ("two", "three"):
        recheck = trained(kind, "-s", 3, *options, "--weights", "w")
        assert recheck(*options, "-W", "w")[0] == recheck("-W", "w")[0] == 0  # the notes have the factors
        assert recheck("-w1", 1, "-W", "w")[0] == 1
        assert "P is another" in recheck()[1]
        assert np.all(np.loadtxt("p", ndmin=2)[::4] == 0.0) and len(np.loadtxt("p")) == 40


def test_it_notices_what_is_wrong(trained, tmp_path):
    def wrong(file: str, change) -> str:
        recheck = trained("two", "-s", 1, "--gap", 1e-9)
        path = tmp_path / file
        path.write_text(change(path.read_text().splitlines()))
        status, out = recheck()
        assert status == 1
        return out

    weight = wrong("m", lambda lines: "\n".join([*lines[:7], "0.5", *lines[8:]]))
    assert "P is another" in weight
    assert "D is smaller" in wrong("p", lambda lines: "\n".join(["1.5", *lines[1:]]))

    def higher(lines: list[str]) -> str:
        dual = next(line for line in lines if ", dual " in line).split("dual ")[1].split(",")[0]
        return "\n".join(lines).replace(f"dual {dual}", f"dual {float(dual) * (1 + 1e-8):.12g}")

    assert "D is smaller" in wrong("m", higher)


@pytest.mark.parametrize(("number", "kind"), [(1, "two"), (3, "two"), (5, "two"), (12, "real"), (13, "real")])
def test_its_rounding_is_bounded_by_what_it_says(number, kind):
    """Against rational numbers."""
    (X, y), C, p = made(kind), 0.3, 0.25
    own = {"p": p} if number in TUBES else {}
    done = svmtool.fit(X, y, solver=number, C=C, bias=-1.0, keep_dual=True, **own)
    w, a = done.model.W[:, 0], done.dual_point[:, 0]
    d, tube, square = 3, number in TUBES, number in (1, 5, 12)
    place, feature = np.nonzero(X)
    o = type("", (), {"s": number, "p": p, "R": False, "loss": "square" if square else "hinge"})
    LD, signs = np.longdouble, None if tube else np.where(y == done.model.labels[0], 1, -1)
    rows = place, feature, X[place, feature].astype(LD)
    P, D, P_off, D_off = RECHECK["check"](o, y.astype(LD), rows, d, w.astype(LD), a, signs, np.full(len(y), LD(C)))

    exact = np.vectorize(Fraction, otypes=[object])
    A, t, v, cost = exact(X), exact(y.astype(float)), exact(w), Fraction(C)
    z, b = A @ v, exact(a)
    slack = abs(t - z) - Fraction(p) if tube else 1 - signs * z
    positive = np.array([max(xi, Fraction(0)) for xi in slack])
    primal = sum(abs(v)) if number == 5 else v @ v / 2
    primal += cost * sum(positive**2 if square else positive)
    u = A.T @ (b if tube else b * signs)
    dual = sum(t * b - Fraction(p) * abs(b) if tube else b) - (0 if number == 5 else u @ u / 2)
    dual -= sum(b**2) / (4 * cost) if square else 0
    assert abs(Fraction(*P.as_integer_ratio()) - primal) <= Fraction(float(P_off))
    assert abs(Fraction(*D.as_integer_ratio()) - dual) <= Fraction(float(D_off))
    assert P_off < 1e-14 * P and D_off < 1e-13 * P and done.certificate.dual <= D <= P


def test_the_file_is_the_point_of_python(trained):
    (X, y), _ = made("three"), trained("three", "-s", 0, "-c", 2)
    done = svmtool.fit(X, y, solver=0, C=2.0, keep_dual=True)
    assert np.array_equal(np.loadtxt("p"), done.dual_point) and done.dual_point.shape == (40, 3)
    assert svmtool.fit(X, y, solver=0).dual_point is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-s", "4"), "does not support --keep-dual"),
        (("-v", "3"), "--keep-dual cannot be combined with -v"),
        (("-C",), "--keep-dual cannot be combined with -C"),
        (("--multilabel",), "--keep-dual cannot be combined with --multilabel"),
        (("--memory", "1G"), "--keep-dual cannot be combined with --memory"),
        (("-t", "2"), "is for linear models"),
        (("--plot", "p"), " are both p"),
    ],
)
def test_options_that_exclude_it(options, message, svm_train):
    status, _, err = svm_train(*options, "--keep-dual", "p", "d", "m", data="1 1:1\n-1 1:-1\n")
    assert status == 1 and message in err and "Traceback" not in err
