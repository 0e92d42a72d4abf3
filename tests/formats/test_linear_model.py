"""LIBLINEAR's model files: equal bytes, files of other tools, and invalid files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import skip_unless_known

from svmtool.errors import ModelError
from svmtool.formats.models import linear
from svmtool.models.linear import SOLVER_WORDS, LinearModel

SOLVERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 21), SOLVER_WORDS, strict=True))
GOOD = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.5 \n-0.25 \n"


def test_written_bytes(tmp_path):
    model = LinearModel("L2R_L2LOSS_SVC", (3, -1, 20), 2, 2.5, [[1, 0.1, -0.0], [0, 1e300, 5e-324], [-1, 2, 3]])
    path = str(tmp_path / "m")
    linear.write(path, model)
    assert Path(path).read_bytes() == (
        b"solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 3 -1 20\nnr_feature 2\nbias 2.5\nw\n"
        b"1 0.10000000000000001 -0 \n0 1.0000000000000001e+300 4.9406564584124654e-324 \n-1 2 3 \n"
    )


FAULTS = {
    "kernel model": ("svm_type c_svc\n", "unknown text in model file: [svm_type]: this is a kernel model, a linear"),
    "ends early": (GOOD[:40], "ERROR: fscanf failed to read the model"),
    # LIBLINEAR reads uninitialised memory in these, or crashes later
    "label first": ("label 1 -1\n" + GOOD, "ERROR: label is before nr_class"),
    "no solver": (GOOD.replace("solver_type L2R_LR\n", ""), "ERROR: the model lacks solver_type"),
    "no rho": (GOOD.replace("L2R_LR", "ONECLASS_SVM"), "ERROR: the one-class model has no rho"),
    "nan for rho": (
        GOOD.replace("L2R_LR", "ONECLASS_SVM").replace("w\n", "rho -nan\nw\n"),
        "ERROR: fscanf failed to read the model: line 6: rho is -nan, which is not finite",
    ),
    "infinite rho that is not of one-class": (
        GOOD.replace("w\n", "rho inf\nw\n"),
        "ERROR: fscanf failed to read the model: line 6: rho is inf, which",
    ),
    **{
        f"weight {word}": (
            GOOD.replace("-0.25", word),
            f"ERROR: fscanf failed to read the model: line 8: number 2 of 2 weights is {word}, which is not finite",
        )
        for word in ("nan", "1e400")
    },
    "a weight too many": (GOOD + "1 \n", "ERROR: line 9: '1' follows the model"),
    "label beyond 32 bits": (GOOD.replace("label 1", "label 2147483648"), "ERROR: label: 2147483648 does not fit"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_keep_the_sentences_of_liblinear(fault, tmp_path):
    text, sentence = FAULTS[fault]
    path = str(tmp_path / "m")
    Path(path).write_text(text)
    with pytest.raises(ModelError) as caught:
        linear.read(path)
    first, last = str(caught.value).split("\n")
    assert first.startswith(sentence)
    assert last == f"can't open model file {path}"


@pytest.mark.parametrize("number", SOLVERS)
@pytest.mark.parametrize("bias", [(), ("-B", "1")])
def test_liblinears_own_models_are_rewritten_to_the_byte(number, bias, reference, heart_scale, tmp_path):
    if number == 21 and bias:
        pytest.skip("LIBLINEAR refuses a bias for one-class")
    skip_unless_known(number, reference)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    subprocess.run([reference["train"], "-q", "-s", str(number), *bias, heart_scale, theirs], check=True)
    model = linear.read(str(theirs))
    assert model.word == SOLVERS[number]
    linear.write(str(ours), model)
    assert ours.read_bytes() == theirs.read_bytes()
