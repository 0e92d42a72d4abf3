"""Slow line parser: parses one line of LIBSVM text by the full grammar, for lines that the compiled loop rejects.

Valid lines mean the same as to LIBLINEAR (hexadecimal numbers, `1: 3`, `+1:2`, a comment at the end).  Lines
that it rejects, and those that it silently truncates, wraps or misreads, are rejected with a reason.  A malformed
first line may show that the file is in another format: `advice`.
"""

from __future__ import annotations

import os
import re

from svmtool.compiled.loops.text.text_loops import LABELLED, LAST_INDEX, UNLABELLED
from svmtool.errors import DataError
from svmtool.formats.svmlight import additions
from svmtool.integers import parse_integer
from svmtool.numbers import number_length, parse_number

NO_LABEL = "the label is missing: each row begins with one (svm-predict --no-labels reads rows without)"
SEVERAL = "a row has one label: svm-train --multilabel trains on rows with several, 1,5,7"
LABEL_NEEDED = "the label is not finite: nan stands for no label, and there is nothing to train or validate on"
BLANKS = b" \t"
SPACE = b" \t\r\v\f"  # skipped by C's strtod and strtol
SMALLEST_NORMAL = 2.2250738585072014e-308

# What the first line of another format begins with, and what to do
CONVERT = "svmtool convert --from {} FILE OUT converts it"
MODEL_KEYWORDS = (b"solver_type ", b"svm_type ")
BEGINNINGS = (
    (b"\xef\xbb\xbf", "the file begins with a byte-order mark (BOM): save it as UTF-8 without one"),
    (MODEL_KEYWORDS, "this is a model file: the data file comes first"),
    ((b"@relation", b"@RELATION", b"@attribute", b"@ATTRIBUTE", b"%"),
     "this is an ARFF file: save it as CSV, then " + CONVERT.format("csv")),
    ((b"{", b"["), "this is JSON: write it as CSV, then " + CONVERT.format("csv")),
    (b"PAR1", "this is a Parquet file: " + CONVERT.format("parquet")),
    (b"PK\x03\x04", "this is a zip archive, perhaps .npz: " + CONVERT.format("npz")),
    (b"<", "this is HTML or XML, perhaps the error page of a download"),
)  # fmt: skip
TABLES = (b",", "CSV", "csv"), (b";", "CSV with semicolons", "csv"), (b"\t", "a table with tabs", "tsv")

INDEX = re.compile(rb"[+-]?[0-9]+\Z")
_BLANKS = re.compile(rb"[ \t]*")
_NONZERO = re.compile(rb"[1-9a-f]", re.I)


def parse_line(
    line: bytes,
    number: int,
    file: str,
    tiny: bool = False,
    first_index: int = 1,
    form: int = LABELLED,
    data: bool = True,
) -> tuple[float, list[int], list[float]]:
    """Parse a line without its newline; returns label, indices (starting at 1) and values.

    first_index: the smallest valid index.  form: see text_loops.LABELLED.
    data: whether the line is of a data file, whose comments additions.py removes.
    tiny: accept values below the normal range of doubles, as LIBSVM's svm-scale but not LIBLINEAR does.
    Raises DataError with the line number, the token and the reason.
    """

    def refuse(token: bytes, reason: str):
        if number == 1:
            reason = ": ".join(filter(None, (reason, advice(line))))
        raise DataError(number, file, token.decode("utf-8", "backslashreplace"), reason)

    if not line.strip(SPACE) and form != UNLABELLED:
        refuse(b"", "the line is empty")
    at = len(line) - len(line.lstrip(BLANKS))
    token = _word(line, at)
    label = float("nan")
    if b"," in token and b":" in line and additions.LABELS.fullmatch(token):
        refuse(token, SEVERAL)
    if form != UNLABELLED or token.lower() == b"nan":
        label = _label(token, form, refuse)
        at += len(token)
    indices: list[int] = []
    values: list[float] = []
    previous = first_index - 1
    while True:
        at = _past_blanks(line, at)
        if at == len(line) or (at == len(line) - 1 and line.endswith(b"\r")):
            return label, indices, values
        word = _word(line, at)
        if word.startswith(b"#"):
            if (data and additions.tolerant) or b":" in line[at:]:  # LIBLINEAR and LIBSVM read on to the next colon
                refuse(word, "the comment contains a colon: remove it")
            return label, indices, values
        if b":" not in word:
            refuse(word, "no colon: a feature must be index:value")
        colon = at + word.index(b":")
        index = _index(line[at:colon], word, previous, first_index, refuse)
        start = _past_blanks(line, colon + 1)
        token = _word(line, start)
        end = start + len(token)
        values.append(_value(token, line[at:end].rstrip(BLANKS), end == len(line), tiny, refuse))
        indices.append(index)
        previous, at = index, end


def _past_blanks(text: bytes, start: int) -> int:
    """End of the blanks and tabs from `start` on, without copying the rest (quadratic time in long lines)."""
    return _BLANKS.match(text, start).end()


def _word(text: bytes, start: int) -> bytes:
    """The token from `start` to the next blank or tab."""
    end = start
    while end < len(text) and text[end] not in BLANKS:
        end += 1
    return text[start:end]


def _label(token: bytes, form: int, refuse) -> float:
    body = token.lstrip(SPACE)
    length = number_length(body)
    if length == 0:
        if b":" in token:
            refuse(token, NO_LABEL)
        refuse(token, "the label is not a number")
    elif length != len(body):
        if body[length:] == b"\r":
            refuse(token, "a carriage return follows the label: convert the line ends (CRLF) to LF")
        refuse(token, NO_LABEL if b":" in token else "the label is not a number")
    value = parse_number(body[:length])
    if value != value:
        return float("nan") if form != LABELLED else refuse(token, LABEL_NEEDED)
    if value in (float("inf"), float("-inf")):
        refuse(token, "the label is not finite")
    return value


def _index(text: bytes, word: bytes, previous: int, first_index: int, refuse) -> int:
    body = text.lstrip(SPACE)
    if not body:
        refuse(word, "the index is missing")
    if not INDEX.match(body):
        refuse(word, "the index is not a whole number")
    index = parse_integer(body)
    if index < first_index:
        refuse(word, f"indices start at {first_index}")
    if index > LAST_INDEX:
        refuse(word, f"the index exceeds {LAST_INDEX}")
    if index == previous:
        refuse(word, "the index appears twice in the line")
    if index < previous:
        refuse(word, f"indices must ascend, but this one follows {previous}")
    return index


def _value(token: bytes, shown: bytes, last: bool, tiny: bool, refuse) -> float:
    body = token.lstrip(SPACE)
    length = number_length(body)
    if length == 0:
        refuse(shown, "the value is not a number" if body else "the value is missing")
    text, tail = body[:length], body[length:]
    if tail and not (tail == b"\r" and last):
        refuse(shown, "the value is not a number")
    value = parse_number(text)
    if value != value or "inf" in text.decode().lower():
        refuse(shown, "the value is not finite")
    if value in (float("inf"), float("-inf")):
        refuse(shown, "the value is beyond the range of double precision")
    if abs(value) < SMALLEST_NORMAL and not tiny and _has_nonzero_digit(text):
        refuse(shown, "the value is too close to zero for double precision")
    return value


def _has_nonzero_digit(text: bytes) -> bool:
    """Whether the mantissa of a finite number is non-zero."""
    text = text.lstrip(b"+-").lower()
    mantissa = text[2:].split(b"p")[0] if text.startswith(b"0x") else text.split(b"e")[0]
    return _NONZERO.search(mantissa) is not None


def is_model(path: str) -> bool:
    """Whether a regular file begins like a model."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(max(map(len, MODEL_KEYWORDS))).startswith(MODEL_KEYWORDS)


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
