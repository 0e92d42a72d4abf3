"""Recognises files that are no LIBSVM text by their first line.  Imported after a malformed first line."""

from __future__ import annotations

import os

CONVERT = "svmtool convert --from {} FILE OUT makes LIBSVM text of it"
MODEL = (b"solver_type ", b"svm_type ")
BEGINNINGS = (
    (b"\xef\xbb\xbf", "the file begins with a byte-order mark (BOM): save it as UTF-8 without one"),
    (MODEL, "this is a model file: the data file comes first"),
    ((b"@relation", b"@RELATION", b"@attribute", b"@ATTRIBUTE", b"%"),
     "this is an ARFF file: save it as CSV, then " + CONVERT.format("csv")),
    ((b"{", b"["), "this is JSON: write it as CSV, then " + CONVERT.format("csv")),
    (b"PAR1", "this is a Parquet file: " + CONVERT.format("parquet")),
    (b"PK\x03\x04", "this is a zip archive, perhaps .npz: " + CONVERT.format("npz")),
    (b"<", "this is HTML or XML, perhaps the error page of a download"),
)  # fmt: skip
TABLES = (b",", "CSV", "csv"), (b";", "CSV with semicolons", "csv"), (b"\t", "a table with tabs", "tsv")


def is_model(path: str) -> bool:
    """Whether a regular file begins like a model."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(max(map(len, MODEL))).startswith(MODEL)


def advice(line: bytes) -> str:
    """What a malformed first line says about its file, with the remedy; empty if it is not known."""
    text = line.lstrip(b" \t")
    for beginning, sentence in BEGINNINGS:
        if text.startswith(beginning):
            return sentence
    if b":" in line:
        return ""
    for mark, name, kind in TABLES:
        if mark in line:
            return f"this looks like {name}: {CONVERT.format(kind)}"
    return ""
