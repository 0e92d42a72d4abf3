"""`param` of a model: what the training was asked for, as in the originals; after loading what the file states."""

from __future__ import annotations

import dropins
import pytest

LINEAR_FIELDS = ("solver_type", "eps", "C", "nr_weight", "p", "nu", "regularize_bias", "w_recalc")
KERNEL_FIELDS = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "cache_size", "eps", "C", "nr_weight", "nu", "p",
    "shrinking", "probability",
)  # fmt: skip
DATA = dropins.made(rows=40, features=4)
ROWS = dropins.dicts(DATA.X)
LINEAR = "-s 2", "-s 13 -c 0.7 -e 0.05 -p 0.3 -B 1", "-s 3 -n 0.2 -w1 2.5 -w-1 0.5"
KERNEL = "-t 0", "-s 3 -c 0.7 -e 0.05 -p 0.3 -t 1 -d 2 -r 0.25", "-s 1 -n 0.2 -g 0.3 -m 50 -h 0", "-w1 2.5 -w-1 0.5"


def check(m, param, fields) -> None:
    """The model's parameters are those of the training, and stay so."""
    wanted = {name: getattr(param, name) for name in fields}
    labels = [(param.weight_label[k], param.weight[k]) for k in range(param.nr_weight)]
    assert {name: getattr(m.param, name) for name in fields} == wanted
    assert [(m.param.weight_label[k], m.param.weight[k]) for k in range(m.param.nr_weight)] == labels
    param.C = 77.0
    assert m.param.C == wanted["C"]


@pytest.mark.parametrize("which", dropins.BOTH)
@pytest.mark.parametrize("options", LINEAR)
def test_linear(which, options):
    lib = dropins.linear(which)
    param = lib.parameter(options + " -q")
    check(lib.train(lib.problem(DATA.y.tolist(), ROWS), param), param, LINEAR_FIELDS)
    m = lib.train(DATA.y.tolist(), ROWS, options + " -q")
    check(m, lib.parameter(options + " -q"), LINEAR_FIELDS)
    assert not m.param.init_sol


@pytest.mark.parametrize("which", dropins.BOTH)
@pytest.mark.parametrize("options", KERNEL)
def test_kernel(which, options):
    lib = dropins.kernel(which)
    param = lib.svm_parameter(options + " -q")
    m = lib.svm_train(lib.svm_problem(DATA.y.tolist(), ROWS), param)
    check(m, param, KERNEL_FIELDS)  # gamma of the caller's object, too
    assert m.param.gamma == (0.3 if "-g" in options else 0.25) and m.get_svm_type() == param.svm_type
