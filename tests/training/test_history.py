"""--solver-log, --plot and what the console prints where."""

from __future__ import annotations

import os

import pytest

from svmtool.cli.entry import BROKEN_PIPE, guarded
from svmtool.errors import SvmtoolError
from svmtool.training.history import History

SMALL = "+1 1:1 2:0.5\n-1 1:-1 2:0.25\n+1 1:0.5 2:1\n-1 1:-0.5 2:-1\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [("--plot x.bmp", "must end in .png, .svg, .pdf"),
     ("--solver-log /dev/full", "can't write to /dev/full: No space left")],
)  # fmt: skip
def test_outputs_that_cannot_be_written(options, sentence, svm_train):
    status, _, err = svm_train("-q", *options.split(), "d", "m", data=SMALL)
    assert status == 1 and sentence in err and err.count("\n") == 1


def test_plot_without_matplotlib_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SvmtoolError, match=r"pip install 'svmtool\[plot\]'"):
        History(plot=str(tmp_path / "x.png"))


def test_picture_has_a_line_for_each_class(tmp_path):
    for count, words in ((3, ["7: worst, gap 0.5"]), (30, ["30 problems", "5: worst, gap 0.5"])):
        path = tmp_path / f"{count}.svg"
        with History(plot=str(path), target=1e-3) as history:
            for label in range(5, 5 + count):
                gap = 0.5 if label == (7 if count == 3 else 5) else 1e-4
                for k, some in enumerate((1.0, gap)):
                    history.record(seconds=0.1 * k, objective=2.0 - k, bound=0.0, gap=some, iteration=k, label=label)
        text = path.read_text()
        for part in (*words, "target gap: 0.001"):
            assert f">{part}</text>" in text
        assert text.count("median") >= 1


def test_a_lack_of_memory_is_one_sentence(capsys, monkeypatch):
    def work():
        raise MemoryError

    assert guarded(work) == 1
    err = capsys.readouterr().err
    assert err.startswith("ERROR: not enough memory for this data: ") and err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_stdout_does_not_cost_the_model(command, tmp_path):
    (tmp_path / "d").write_text(SMALL)
    with open("/dev/full", "wb") as full:
        done = command("train", "d", "m", stdout=full, stderr=-1, capture_output=False)
    assert done.returncode == 1
    assert done.stderr == b"can't write to standard output: No space left on device\n"
    assert (tmp_path / "m").read_bytes().startswith(b"solver_type L2R_L2LOSS_SVC_DUAL\n")


@pytest.mark.parametrize("arguments", [["d", "m"], ["-q", "--solver-log", "-", "d", "m"]], ids=["text", "log"])
def test_model_is_written_though_the_reader_went_away(arguments, command, tmp_path):
    (tmp_path / "d").write_text(SMALL)
    read, write = os.pipe()
    os.close(read)
    done = command("train", *arguments, stdout=write, stderr=-1, capture_output=False)
    os.close(write)
    assert done.stderr == b"" and done.returncode in (0, BROKEN_PIPE)
    assert (tmp_path / "m").exists()
