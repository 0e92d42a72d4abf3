"""Endless models and ranges, as from a small .gz, are rejected early."""

from __future__ import annotations

import os
import threading

import pytest

from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel, linear
from svmtool.formats.models import text as model_text
from svmtool.scaling import ranges

LINEAR = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2000000000\nbias -1\nw\n"
KERNEL = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2000000000\nrho 0\nlabel 1 -1\n"
KERNEL += "nr_sv 1000000000 1000000000\nSV\n"
MANY = "nr_class 2000000000\nlabel "
NO_TEXT = "can't open model file PATH: not a text file: a word or line is longer than"
WEIGHT = "ERROR: fscanf failed to read the model: 2000000000 weights expected, number"
VECTOR = "ERROR: fscanf failed to read model: support vector"
RANGE = "ERROR: failed to read scaling parameters: PATH:"

# reader, beginning, repeated text, message
CASES = [
    (linear.read, "", "a", NO_TEXT),
    (linear.read, "", "\0", "can't open model file PATH: not a text file: it contains NUL bytes"),
    (linear.read, "", "\n", "can't open model file PATH: not a text file: it contains only blanks"),
    (linear.read, LINEAR, "a", NO_TEXT),
    (linear.read, LINEAR + "1 \n" * 500_000, "a ", WEIGHT + " 500001 is 'a'"),
    (linear.read, MANY, "1 ", "ERROR: label: 2000000000 classes exceed the limit of"),
    (kernel.read, MANY.replace("label", "rho"), "0 ", "ERROR: nr_class: 2000000000 classes have more pairs than"),
    (kernel.read, KERNEL, "a\n", VECTOR + " 1: token 'a'"),
    (kernel.read, KERNEL + "1 1:1\n" * 250_000, "2 1:x\n", VECTOR + " 250001: token '1:x'"),
    (ranges.read, "x\n-1 1\n", "1 ", RANGE + " feature 1 follows 1: indices must ascend"),
]


@pytest.mark.parametrize("read, begun, goes_on, sentence", CASES)
def test_refused_early(read, begun, goes_on, sentence, tmp_path, monkeypatch):
    """Only a few windows are read from an endless pipe before the message."""
    for module in (model_text, kernel):
        monkeypatch.setattr(module, "MAX_LINE", 1 << 21)
    monkeypatch.setattr(model_text, "WINDOW_BYTES", 1 << 20)
    path, sent = str(tmp_path / "endless"), 0
    os.mkfifo(path)

    def send() -> None:
        nonlocal sent
        piece = (goes_on * 65536).encode()
        with open(path, "wb", buffering=0) as file:
            try:
                sent += file.write(begun.encode())
                while True:
                    sent += file.write(piece)
            except BrokenPipeError:
                return

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(SvmtoolError) as error:
        read(path)
    sender.join(60)
    assert str(error.value).startswith(sentence.replace("PATH", path))
    assert sent - len(begun) < 1 << 23


@pytest.mark.parametrize("module, text", [
    (linear, LINEAR.replace("2000000000", "5") + "1 \n-0 \n2.5e-300 \n" + "7" * 400
     + "e-400 \n3\t\n# note 1\n# note 2\n"),
    (linear, LINEAR.replace("2000000000", "3") + "1 2\n\n3"),
    (kernel, KERNEL.replace("2000000000", "3").replace("1000000000 1000000000", "2 1")
     + "1 1:1 7:2.5 \n-0.5 1:3\t\n" + "-0.5 2:" + "0" * 300 + "1\n# note\n \n# another\n"),
    (kernel, KERNEL.replace("2000000000", "2").replace("1000000000 1000000000", "1 1") + "1 1:1\n-1 1:2"),
])  # fmt: skip
def test_models_read_in_windows(module, text, tmp_path, monkeypatch):
    """The same model for any size of the window, from files and pipes."""
    path = tmp_path / "m"
    path.write_text(text)
    whole = module.read(str(path))
    module.write(str(tmp_path / "wanted"), whole)
    for window in (1, 2, 3, 7, 50, 100, 1000):
        monkeypatch.setattr(model_text, "WINDOW_BYTES", window)
        some = module.read(str(path))
        module.write(str(tmp_path / "got"), some)
        assert (tmp_path / "got").read_bytes() == (tmp_path / "wanted").read_bytes()
        assert some.notes == whole.notes
