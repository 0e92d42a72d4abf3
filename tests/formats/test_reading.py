"""Reading ahead in a thread: messages in their order, and no unnecessary reading."""

from __future__ import annotations

import pytest

from svmtool.formats.svmlight import inputs


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["--weights", "absent", "bad"], "Wrong input format at line 1: bad: "),
        (["--weights", "absent", "d"], "can't open input file absent"),
        (["-c", "-1", "--weights", "absent", "d"], "ERROR: C <= 0"),
        (["-c", "-1", "bad"], "Wrong input format at line 1: bad: "),
        (["--initial-model", "absent", "nothing"], "can't open model file absent"),
    ],
)
def test_order_of_faults(argv, sentence, svm_train, tmp_path):
    (tmp_path / "bad").write_text("x\n")
    status, out, err = svm_train(*argv, data="1 1:1\n-1 1:2\n")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(sentence)


@pytest.mark.parametrize(
    "argv",
    [["-s", "99x", "--stratified"], ["-e", "1", "--gap", "1"], ["-t", "2", "-s", "30"], ["-t", "2", "-Z", "1"]]
    + [["-Z", "1"]],
)
def test_a_bad_option_reads_nothing(argv, svm_train, monkeypatch):
    found: list = []
    monkeypatch.setattr(inputs, "read_raw", lambda source, *how: found.append(source.name))
    assert svm_train(*argv, "d", "m", data="1 1:1\n-1 1:2\n")[0] == 1
    assert found == []
