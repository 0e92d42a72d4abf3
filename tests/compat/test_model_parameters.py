"""`param` of a model: what the training was asked for, as in the originals; after loading what the file states."""

from __future__ import annotations

import dropins
import numpy as np
import pytest
from naming import case_of

LINEAR_FIELDS = ("solver_type", "eps", "C", "nr_weight", "p", "nu", "regularize_bias", "w_recalc")
KERNEL_FIELDS = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "cache_size", "eps", "C", "nr_weight", "nu", "p",
    "shrinking", "probability",
)  # fmt: skip
DATA = dropins.made(rows=40, features=4)
ROWS = dropins.dicts(DATA.X)


@pytest.fixture(params=dropins.BOTH)
def which(request):
    return request.param


def drawn(rng: np.random.Generator, letters: str) -> str:
    """Options with values that no default has."""
    values = {
        "c": f"{rng.uniform(0.5, 2):.3f}", "e": f"{rng.uniform(0.01, 0.2):.3f}", "p": f"{rng.uniform(0.2, 0.4):.3f}",
        "n": f"{rng.uniform(0.1, 0.3):.3f}", "g": f"{rng.uniform(0.1, 1):.3f}", "d": "2", "r": "0.25", "m": "50",
        "h": "0", "w1": "2.5", "w-1": "0.5", "t": str(rng.integers(4)), "B": "1",
    }  # fmt: skip
    chosen = [x for x in letters.split() if rng.random() < 0.5]
    return " ".join(f"-{x} {values[x]}" for x in chosen)


def check(m, param, fields) -> None:
    """The model's parameters are those of the training, and stay so."""
    wanted = {name: getattr(param, name) for name in fields}
    labels = [(param.weight_label[k], param.weight[k]) for k in range(param.nr_weight)]
    assert {name: getattr(m.param, name) for name in fields} == wanted
    assert [(m.param.weight_label[k], m.param.weight[k]) for k in range(m.param.nr_weight)] == labels
    param.C = 77.0
    assert m.param.C == wanted["C"]


def test_linear(which):
    lib = dropins.linear(which)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        number = int(rng.choice([0, 1, 2, 3, 5, 6, 7, 11, 12, 13]))
        options = f"-s {number} -q " + drawn(rng, "c e p n w1 w-1 B")
        with case_of(options):
            param = lib.parameter(options)
            check(lib.train(lib.problem(DATA.y.tolist(), ROWS), param), param, LINEAR_FIELDS)
            m = lib.train(DATA.y.tolist(), ROWS, options)
            check(m, lib.parameter(options), LINEAR_FIELDS)
            assert not m.param.init_sol


def test_kernel(which):
    lib = dropins.kernel(which)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        options = f"-s {rng.integers(5)} -q " + drawn(rng, "c e p n g d r m h w1 w-1 t")
        with case_of(options):
            param = lib.svm_parameter(options)
            m = lib.svm_train(lib.svm_problem(DATA.y.tolist(), ROWS), param)
            check(m, param, KERNEL_FIELDS)  # gamma of the caller's object, too
            assert m.param.gamma == (float(options.split("-g ")[1].split()[0]) if "-g" in options else 0.25)
            assert m.get_svm_type() == param.svm_type
