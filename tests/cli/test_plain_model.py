"""--plain-model: model files end with the weights, for scripts that read every line after the header as numbers."""

from __future__ import annotations

import pytest

DATA = "1 1:1 2:1\n-1 1:-1 2:0.5\n1 1:2\n-1 2:-1\n3 2:4\n"


@pytest.mark.parametrize("argv", ["-s 1", "-s 0", "-s 40", "-s 11", "-s 21", "-s 4", "-s auto", "-t 2", "-t 0 -b 1"])
def test_only_the_lines_after_the_weights_are_left_out(argv, svm_train, tmp_path):
    status, out, err = svm_train(*argv.split(), "d", "m", data=DATA)
    assert status == 0
    full = (tmp_path / "m").read_text()
    assert svm_train("--plain-model", *argv.split(), "d", "m") == (0, out, err)
    plain = (tmp_path / "m").read_text()
    assert "#" not in plain and full.startswith(plain) and full[len(plain) :].startswith("#")
    if "-t" not in argv:
        header, _, weights = plain.partition("\nw\n")
        assert header.startswith("solver_type ")
        for line in weights.splitlines():
            list(map(float, line.split()))


@pytest.mark.parametrize(
    "argv, reason",
    [
        ("-s 2 -b 1", "cannot be combined with -b 1: its sigmoids come after the weights"),
        ("-s 43", "models of -s 43 (mfn-ordinal) need lines after the weights"),
        ("-s 71", "models of -s 71 (alsvm) need lines after the weights"),
    ],
)
def test_models_that_need_their_lines(argv, reason, svm_train):
    status, out, err = svm_train("--plain-model", *argv.split(), "d", "m", data=DATA)
    assert (status, out) == (1, "") and err.startswith("ERROR: --plain-model") and err.endswith(reason + "\n")
