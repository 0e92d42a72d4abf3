"""LIBSVM's model files: equal bytes, files of other tools, and invalid files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import skip_without_densities
from kernel_models import GOOD, random_model, train_and_test

from svmtool.errors import ModelError
from svmtool.formats.models import kernel as kernel_model
from svmtool.formats.models.text import is_kernel_model, load
from svmtool.models.kernel import SVM_TYPES, KernelModel
from svmtool.models.kernel_functions import Kernel

FIELDS = ("svm_type", "kernel", "labels", "nr_class", "nr_sv", "notes")
NUMBERS = ("rho", "coef", "indptr", "indices", "values", "probA", "probB", "density_marks")


def save(folder, text: str) -> str:
    path = folder / "m"
    path.write_bytes(text.encode())
    return str(path)


def same(a: KernelModel, b: KernelModel) -> None:
    for name in FIELDS:
        assert getattr(a, name) == getattr(b, name), name
    for name in NUMBERS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        assert x is None or np.array_equal(x, y), name


def test_written_bytes(tmp_path):
    model = KernelModel(
        "nu_svc", Kernel(1, 1 / 13, 3, -0.5), (4, 2, -9), 3, np.array([0.1, -0.0, 1e300]),
        np.array([[1, 0.1, -0.0], [1.5, 5e-324, -2]]), (1, 1, 1), np.array([0, 3, 3, 4]),
        np.array([-1, 0, 2147483646, 99999999], np.int32), np.array([0.123456789012, 123456789, -0.0, 1234567.849]),
        np.array([-2, -1, -0.5]), np.array([0.1, 0, 1]), notes=("# ours",),
    )  # fmt: skip
    path = str(tmp_path / "m")
    kernel_model.write(path, model)
    assert Path(path).read_text() == (
        "svm_type nu_svc\nkernel_type polynomial\ndegree 3\ngamma 0.076923076923076927\ncoef0 -0.5\nnr_class 3\n"
        "total_sv 3\nrho 0.10000000000000001 -0 1.0000000000000001e+300\nlabel 4 2 -9\nprobA -2 -1 -0.5\n"
        "probB 0.10000000000000001 0 1\nnr_sv 1 1 1\nSV\n1 1.5 0:0.123456789012 1:123456789 2147483647:-0 \n"
        "0.10000000000000001 4.9406564584124654e-324 \n-0 -2 100000000:1234567.849 \n# ours\n"
    )
    same(kernel_model.read(path), model)


@pytest.mark.parametrize("svm_type", SVM_TYPES)
def test_models_round_trip(svm_type, tmp_path):
    model, _ = random_model(np.random.default_rng(2), Kernel(2, 0.5), svm_type, 4, 25, 6)
    path = str(tmp_path / "m")
    kernel_model.write(path, model)
    same(kernel_model.read(path), model)


VARIANTS = {
    "tabs, blank lines and several keys a line": GOOD.replace("\nrho ", "\n\n\trho\t").replace("\ntotal", " total"),
    "another order": GOOD.replace("svm_type c_svc\n", "").replace("nr_sv", "svm_type c_svc nr_sv"),
    "carriage returns": GOOD.replace("\n", "\r\n"),
    "notes and blank lines": GOOD + " \r\n# a note\n",
    "odd spellings": GOOD.replace("1:1 ", "+1:0x1p0  ").replace("-1 2:2", "-0x1\t2: 2"),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_libsvm_reads_is_read(variant, tmp_path):
    wanted = kernel_model.read(save(tmp_path, GOOD))
    assert wanted.coef.tolist() == [[1.0, -1.0]] and wanted.values.tolist() == [1.0, -0.5, 2.0]
    text = save(tmp_path, VARIANTS[variant])
    assert is_kernel_model(load(text)) or variant == "another order"
    found = kernel_model.read(text)
    found.notes = ()
    same(found, wanted)


EARLY = "ERROR: fscanf failed to read model: "
ONE_CLASS = "svm_type one_class\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 0\nrho 0.25\nSV\n"
KEYS = ("kernel_type", "gamma", "nr_sv", "label", "rho")
SINGLE = {"nr_class 2": "nr_class 1", "rho 0.25": "rho", "label 1 -1": "label 1", "nr_sv 1 1": "nr_sv 2"}


def with_words(text: str, words: dict[str, str]) -> str:
    """A text with other words in the place of some."""
    for old, new in words.items():
        assert old in text
        text = text.replace(old, new)
    return text


FAULTS = {
    **{
        f"no {key}": (re.sub(f"^{key} .*\n", "", GOOD, flags=re.MULTILINE), {}, "ERROR: the model lacks")
        for key in KEYS
    },
    **{
        f"rho {word}": (text, {"rho 0.25": f"rho {word}"}, EARLY + "line 6: number 1 of 1 numbers after rho is")
        for text, word in ((GOOD, "nan"), (ONE_CLASS, "inf"))
    },
    "another vector": (GOOD + "-1 1:5 \n", {}, "ERROR: line 12: '-1' follows the model"),
    "counts do not add up": (GOOD, {"nr_sv 1 1": "nr_sv 2 1"}, "ERROR: nr_sv of the model does not add up"),
    "a class alone": (GOOD, SINGLE, "ERROR: a model of one class"),
    "coefficient": (GOOD, {"-1 2:2": "x 2:2"}, EARLY + "support vector 2: token 'x': the label is not a number"),
    "serial": (GOOD, {"rbf": "precomputed"}, EARLY + "support vector 1: for a precomputed kernel it must be 0:number"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_keep_the_sentences_of_libsvm(fault, tmp_path):
    text, words, sentence = FAULTS[fault]
    path = save(tmp_path, with_words(text, words))
    with pytest.raises(ModelError) as caught:
        kernel_model.read(path)
    first, _, last = str(caught.value).rpartition("\n")
    assert (first + "\n").startswith(sentence), first
    assert last == f"can't open model file {path}"


@pytest.mark.parametrize("svm_type", range(5))
@pytest.mark.parametrize("kernel", range(5))
@pytest.mark.parametrize("probabilities", [0, 1])
def test_libsvms_own_models_are_rewritten_to_the_byte(svm_type, kernel, probabilities, libsvm_programs, tmp_path):
    if SVM_TYPES[svm_type] == "one_class" and probabilities:
        skip_without_densities(libsvm_programs["svm-train"])
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    options = ["-s", svm_type, "-t", kernel, "-b", probabilities, "-n", 0.2, "-g", 0.05, "-r", 0.1]
    for classes in (2, 4):
        rows, _ = train_and_test(tmp_path, kernel, classes)
        train = [libsvm_programs["svm-train"], "-q", *map(str, options), rows, theirs]
        subprocess.run(train, check=True, stdout=subprocess.DEVNULL)
        model = kernel_model.read(str(theirs))
        assert model.svm_type == SVM_TYPES[svm_type] and model.kernel.kind == kernel
        assert model.gives_probabilities == bool(probabilities) and model.total_sv > 1
        kernel_model.write(str(ours), model)
        assert ours.read_bytes() == theirs.read_bytes()
