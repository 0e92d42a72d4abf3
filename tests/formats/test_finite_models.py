"""Models with non-finite numbers are not written; errors of range and memory are messages that name the file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from both_methods import arguments_of
from engine import engine
from reference import text_of
from sampling import pairs_in_turn

from svmtool import registry
from svmtool.cli.predict.command import main as predict
from svmtool.data.class_statistics import ClassStatistics
from svmtool.errors import ModelError
from svmtool.formats.adaptable import state
from svmtool.formats.models import kernel, linear
from svmtool.models.linear import LinearModel, sigmoid_notes

SMALL = "1 1:1 2:1\n-1 1:-1 2:0.5\n1 1:2\n-1 2:-1\n"


@pytest.mark.parametrize(
    ("place", "bad"), pairs_in_turn(["W", "bias", "rho", "sigmoid"], [np.nan, np.inf, -np.inf])
)
def test_linear(tmp_path, place, bad):
    path = tmp_path / "m"
    path.write_text("old")
    word, labels, W = ("ONECLASS_SVM", None, [[1.0]]) if place == "rho" else ("L2R_L2LOSS_SVC", (1, -1), [[1.0]])
    parts = {
        "W": {"W": np.array([[bad]])}, "bias": {"bias": bad, "W": np.ones((2 if bad > 0 else 1, 1))},
        "rho": {"rho": bad}, "sigmoid": {"notes": sigmoid_notes([(bad, 1.0)])},
    }  # fmt: skip
    model = LinearModel(**{"word": word, "labels": labels, "n_features": 1, "bias": -1.0, "W": W, **parts[place]})
    if place == "rho" and np.isinf(bad):  # LIBLINEAR's own, of a share of no rows or of all
        linear.write(str(path), model)
        assert linear.read(str(path)).rho == bad
        return
    with pytest.raises(ModelError):
        linear.write(str(path), model)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("options", [["-n", 1], ["-n", 0], []], ids=str)
@pytest.mark.parametrize("data", [SMALL, ""], ids=["rows", "no-rows"])
def test_rho_of_all_rows_or_none(svm_train, capsys, options, data):
    """LIBLINEAR writes inf, -inf, or nan without rows; finite numbers give the same predictions."""
    assert svm_train("-q", "-s", 21, *options, "d", "m", data=data)[0] == 0
    text = Path("m").read_text()
    Path("t").write_text(SMALL)
    assert not re.search("nan|inf", text)
    if options or not data:
        assert predict(["t", "m", "o"]) == 0
        rho = "nan" if not data else "inf" if options == ["-n", 1] else "-inf"
        Path("m").write_text(re.sub("^rho .*$", f"rho {rho}", text, flags=re.MULTILINE))
        ours = capsys.readouterr()
        assert predict(["t", "m", "o2"]) == 0
        assert ours == capsys.readouterr() and Path("o").read_bytes() == Path("o2").read_bytes()


@pytest.mark.parametrize("place", ["coef", "rho", "values", "probA"])
def test_kernel(svm_train, place):
    assert svm_train("-q", "-t", 2, "-b", 1, "d", "m", data=SMALL * 5)[0] == 0
    model, before = kernel.read("m"), Path("m").read_bytes()
    array = getattr(model, place)
    array.reshape(-1)[0] = np.nan
    with pytest.raises(ModelError, match="weights overflowed"):
        kernel.write("m", model)
    assert Path("m").read_bytes() == before


def test_state(tmp_path):
    sums = ClassStatistics((), 2)
    sums.gram[0, 1, 1] = np.inf
    with pytest.raises(ModelError, match="weights overflowed"):
        state.write(str(tmp_path / "m"), state.State(71, 1.0, 1.0, (), sums))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("solver", "data"),
    pairs_in_turn(
        [" ".join(arguments_of(r)) for r in registry.rows_of(kernel=False) if "-c" in registry.supported_options(r)],
        [SMALL, "".join(f"{(-1) ** k} 1:{1000000 + k}\n" for k in range(6))],
    ),
)
def test_whatever_is_written_is_finite(svm_train, solver, data):
    """At the limit of refuse_overflow; the command silences the solvers' warnings."""
    for c in ("1e6", "1e200"):
        with np.errstate(all="ignore"):
            status, _, err = svm_train("-q", *solver.split(), "-c", c, "--max-seconds", 1, "d", "m", data=data)
        assert status == 0 or (status == 1 and err.count("\n") == 1), err
        if Path("m").exists():
            numbers = [line for line in Path("m").read_text().splitlines() if not line.startswith("#")]
            assert not re.search(r"\b(nan|inf)", "\n".join(numbers), re.IGNORECASE)


@pytest.mark.parametrize(
    "argv, data",
    [(("-s", 2), "1.5 1:1\n1.2 1:2\n"), (("-s", 2), "1 1:1e200\n-1 1:2\n"), (("-s", 71), "99999999999 1:1\n1 1:2\n"),
     (("-s", 43), "1.5 1:1\n2 1:2\n"), (("-t", 2), "1 1:1e200\n-1 1:2\n")],
)  # fmt: skip
def test_faults_of_the_rows_name_the_file(svm_train, argv, data):
    status, _, err = svm_train("-q", *argv, "d", "m", data=data)
    assert status == 1 and err.startswith("d: ") and err.count("\n") == 1 and not Path("m").exists()


@pytest.mark.parametrize("number", [0, 1, 2, 4, 52])
def test_rows_so_far_apart_that_the_kernel_is_one_matrix(number, svm_train):
    """Whole numbers up to 1e15: every K(x, z) is 0 but K(x, x) = 1, with any rounding error of |x|^2 - x.x."""
    rng = np.random.default_rng(1)
    X, y = np.rint(rng.uniform(-1e15, 1e15, (30, 5))), np.where(np.arange(30) < 16, 1.0, -1.0)
    status, out, err = svm_train("-t", 2, *engine(number), "--gap", 1e-6, "d", "m", data=text_of(X, y))
    assert (status, err) == (0, "")
    assert float(re.search(r"Certified relative gap = (\S+)", out)[1]) <= 1e-6
    value = float(re.search(r"primal (\S+),", out)[1])
    if number == 0:  # a = 1 - rho for one class, 1 + rho for the other: all of them, up to the bound of 1
        a, b = 14 / 16, 1.0
        wanted = 16 * a + 14 * b - 0.5 * (16 * a * a + 14 * b * b)
        assert value == pytest.approx(wanted, rel=1e-6)
    elif number == 2:
        assert value == pytest.approx(-0.5 * 15**2 / 30, rel=1e-6)
