"""Integers of any length: our limits apply, not Python's."""

from __future__ import annotations

from pathlib import Path

import pytest

from svmtool.errors import DataError, ModelError
from svmtool.formats.models import kernel, linear
from svmtool.formats.svmlight import table
from svmtool.scaling import ranges

LONG = "1" * 5000  # int() refuses more than 4300 digits


@pytest.mark.parametrize("line", [f"1 {LONG}:1", f"1 1:1 {LONG}: 1"])
def test_index_in_data(tmp_path, line):
    (tmp_path / "d").write_text(line + "\n")
    with pytest.raises(DataError, match=r"1111\.\.\.': the index exceeds 2147483647") as caught:
        table.read(str(tmp_path / "d"))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "options, old, sentence",
    [((), "nr_class 2", "1111... does not fit into 32 bits"), ((), "label 1", "1111... does not fit into 32 bits"),
     *((("-t", 2), word, "does not fit into 32 bits") for word in ("nr_class 2", "total_sv 2", "nr_sv 1")),
     (("-t", 2), " 1:1 ", "the index exceeds 2147483647")],
    ids=str,
)  # fmt: skip
def test_models(svm_train, options, old, sentence):
    assert svm_train("-q", *options, "d", "m", data="1 1:1\n-1 1:-1\n")[0] == 0
    text = Path("m").read_text()
    assert old in text
    Path("m").write_text(text.replace(old, f" {LONG}:1 " if ":" in old else old[:-1] + LONG))
    with pytest.raises(ModelError, match=sentence) as caught:
        (kernel if options else linear).read("m")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("index", [LONG, "1_0", "-1"])
def test_index_in_a_range_file(tmp_path, index):
    (tmp_path / "r").write_text(f"x\n0 1\n{index} 0 1\n")
    with pytest.raises(ranges.RangeError, match="is not a feature index"):
        ranges.read(str(tmp_path / "r"))


@pytest.mark.parametrize(
    "argv, must",
    [(["-v", LONG], ""), ([f"-w{LONG}", 1], ""), (["-t", 2, "-d", LONG], ""), (["--max-iter", LONG], "--max-iter ")],
    ids=["-v", "-w", "-d", "--max-iter"],
)
def test_options_of_train(svm_train, argv, must):
    status, _, err = svm_train(*argv, "d", data="1 1:1\n-1 1:-1\n")
    rest = "must be an integer >= 1" if must else "not an integer of 32 bits"
    assert (status, err) == (1, f"ERROR: {must}{'1' * 57}...: {rest}\n")
