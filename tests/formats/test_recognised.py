"""Files that are not plain LIBSVM text: compressed ones are read by any name, others are named with the remedy."""

from __future__ import annotations

import sys

import pytest

ROWS = "1 1:1 2:0.5\n-1 1:-1\n"
ZSTD = bytes.fromhex("28b52ffd0458a100003120313a3120323a302e350a2d3120313a2d310a9b69e501")
IN = "svmtool convert --from csv FILE OUT converts it\n"


def test_zstd_without_a_decoder_is_one_sentence(svm_train, tmp_path, monkeypatch):
    for name in ("zstandard", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "d").write_bytes(ZSTD)
    reason = "it is compressed by zstd: decompress it (zstd -d), or install Python's zstandard"
    assert svm_train("d", "m") == (1, "", f"can't read d: {reason}\n")


@pytest.mark.parametrize(
    "text, end",
    [
        ("y,height,width\n1,0.5,2\n", "this looks like CSV: " + IN),
        ("1\t0.5\t2\n", "a table with tabs: " + IN.replace("csv", "tsv")),
        ("\ufeff1 1:1\n", "the file begins with a byte-order mark (BOM): save it as UTF-8 without one\n"),
        ("@relation iris\n", "this is an ARFF file: save it as CSV, then " + IN),
        ('{"rows": 1}\n', "this is JSON: write it as CSV, then " + IN),
        ("solver_type L2R_LR\nnr_class 2\n", "this is a model file: the data file comes first\n"),
        ("<html>\n", "this is HTML or XML, perhaps the error page of a download\n"),
        ("PK\x03\x04 1\n", "this is a zip archive, perhaps .npz: " + IN.replace("csv", "npz")),
        ("PAR1 1\n", "this is a Parquet file: " + IN.replace("csv", "parquet")),
        ("1:1 2:1\n", "each row begins with one (svm-predict --no-labels reads rows without)\n"),
    ],
)
def test_other_files_are_named_with_the_remedy(text, end, svm_train):
    status, out, err = svm_train("-q", "d", "m", data=text)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Wrong input format at line 1: d: token ") and err.endswith(end), err
