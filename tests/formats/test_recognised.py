"""Files that are not plain LIBSVM text: compressed ones are read by any name, others are named with the remedy."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys

import pytest
from sampling import pairs_in_turn

from svmtool.cli.predict import command as predict

ROWS = "1 1:1 2:0.5\n-1 1:-1\n"
ZSTD = bytes.fromhex("28b52ffd0458a100003120313a3120323a302e350a2d3120313a2d310a9b69e501")
PACKED = {"gzip": gzip.compress(ROWS.encode()), "bz2": bz2.compress(ROWS.encode()), "xz": lzma.compress(ROWS.encode())}


IN = "svmtool convert --from csv FILE OUT converts it\n"


def test_zstd_without_a_decoder_is_one_sentence(svm_train, tmp_path, monkeypatch):
    for name in ("zstandard", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "d").write_bytes(ZSTD)
    reason = "it is compressed by zstd: decompress it (zstd -d), or install Python's zstandard"
    assert svm_train("d", "m") == (1, "", f"can't read d: {reason}\n")


KINDS = [(kind, start) for kind in (*PACKED, "plain") for start in ("cat d |", "")]


@pytest.mark.parametrize(("kind_and_start", "name"), pairs_in_turn(KINDS, ["train", "predict", "scale"]))
def test_compressed_standard_input(kind_and_start, name, svm_train, tmp_path):
    kind, start = kind_and_start
    svm_train("-q", "t", "m") if (tmp_path / "t").write_text(ROWS) else None
    (tmp_path / "d").write_bytes(PACKED.get(kind, ROWS.encode()))
    argv = {"train": "-q - o", "predict": "- m o", "scale": "-"}[name]
    line = f"{start} {sys.executable} -m svmtool {name} {argv}{'' if start else ' < d'}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    if name == "scale":
        assert done.stdout == "1 1:1 2:1 \n-1 1:-1 2:-1 \n"
    else:
        assert (tmp_path / "o").read_text() == ((tmp_path / "m").read_text() if name == "train" else "1\n-1\n")


@pytest.mark.parametrize(
    "text, end",
    [
        ("y,height,width\n1,0.5,2\n", "this looks like CSV: " + IN),
        ("1,0.5,2\n", "this looks like CSV: " + IN),
        ("1;5;2\n", "CSV with semicolons: " + IN),
        ("1\t0.5\t2\n", "a table with tabs: " + IN.replace("csv", "tsv")),
        ("\ufeff1 1:1\n", "the file begins with a byte-order mark (BOM): save it as UTF-8 without one\n"),
        ("@relation iris\n", "this is an ARFF file: save it as CSV, then " + IN),
        ('{"rows": 1}\n', "this is JSON: write it as CSV, then " + IN),
        ("solver_type L2R_LR\nnr_class 2\n", "this is a model file: the data file comes first\n"),
        ("svm_type c_svc\n", "this is a model file: the data file comes first\n"),
        ("<html>\n", "this is HTML or XML, perhaps the error page of a download\n"),
        ("PK\x03\x04 1\n", "this is a zip archive, perhaps .npz: " + IN.replace("csv", "npz")),
        ("PAR1 1\n", "this is a Parquet file: " + IN.replace("csv", "parquet")),
        ("1:1 2:1\n", "each row begins with one (svm-predict --no-labels reads rows without)\n"),
        ("word\n", "the label is not a number\n"),
    ],
)
def test_other_files_are_named_with_the_remedy(text, end, svm_train):
    status, out, err = svm_train("-q", "d", "m", data=text)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Wrong input format at line 1: d: token ") and err.endswith(end), err


@pytest.mark.parametrize("comment", [" # note", "\t#", " #note, 7", " # a b # c", " # note\r"])
def test_comments_at_the_end_of_a_line(comment, svm_train, tmp_path):
    """Read as LIBLINEAR and LIBSVM read them, in training and prediction, linear and with a kernel."""
    for options in ([], ["-t", 2]):
        (tmp_path / "c").write_bytes(ROWS.replace("\n", f"{comment}\n").encode())
        assert svm_train("-q", *options, "d", "m", data=ROWS) == (0, "", "")
        assert svm_train("-q", *options, "c", "n") == (0, "", "")
        assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()
        assert predict.main(["-q", "c", "n", "o"]) == 0
        assert (tmp_path / "o").read_text() == "1\n-1\n"


@pytest.fixture
def unlabelled(svm_train, tmp_path):
    """u: the rows of d without labels; predict(*argv) runs svm-predict with a model m of them."""
    rows = "1 1:1 2:0.5\n-1 1:-1\n1\n-1 2:-3\n"
    (tmp_path / "u").write_text("".join(f"{line.partition(' ')[2]}\n" for line in rows.splitlines()))

    def run():
        assert svm_train("-q", "d", "m", data=rows)[0] == 0
        return predict.main(["--no-labels", "u", "m", "o"])

    return run


def test_labels_with_no_labels_are_an_error(unlabelled, tmp_path, capsys):
    (tmp_path / "u").write_text("1:1\n1 2:1\n")
    assert unlabelled() == 1
    assert capsys.readouterr().err.startswith("Wrong input format at line 2: u: token '1': no colon: ")
    assert predict.main(["--no-labels", "--metrics", "u", "m", "o"]) == 1
    assert capsys.readouterr().err == "ERROR: --no-labels cannot be combined with --metrics\n"


def test_many_rows_without_labels(unlabelled, tmp_path, monkeypatch):
    """Blocks end anywhere: inside a line, after a newline."""
    from svmtool.formats import source as module

    assert unlabelled() == 0
    whole = (tmp_path / "o").read_bytes()
    for size in range(1, 12):
        monkeypatch.setattr(module, "READ_BYTES", size)
        assert predict.main(["--no-labels", "u", "m", "o"]) == 0
        assert (tmp_path / "o").read_bytes() == whole
