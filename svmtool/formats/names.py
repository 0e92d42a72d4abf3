"""Names of features and labels: a JSON file beside data or a model, DATA.names or MODEL.names.

    {"format": "svmtool names", "version": 1,
     "label": "species",                       name of the label column, or null
     "classes": {"1": "setosa", "2": "virginica"},   string of each integer label; absent if labels are numbers
     "features": ["length", "color=blue", "color=red"],   names of features 1, 2, 3 ..
     "one_hot": {"color": ["blue", "red"]},    columns of strings, one feature COLUMN=VALUE for each value
     "means": [2.5, 0.25, 0.75],               of the features in the training data, null for one without values
     "missing": "mean",                        what stands for missing values; absent if nothing did
     "labelled": false}                        the rows have no labels; absent if they have

A text file with one feature name on each line is accepted too, if it is given or is called MODEL.names.  For a model
NAME.model, NAME.names is taken as well, but only in the format above: others use that suffix for descriptions of data.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from typing import Any, BinaryIO, NamedTuple

from svmtool.errors import SvmtoolError, visible
from svmtool.formats.output import replacing
from svmtool.formats.source import open_source
from svmtool.integers import parse_integer

SUFFIX, MODEL_SUFFIX = ".names", ".model"
NAMES_FORMAT, NAMES_VERSION = "svmtool names", 1
MAX_BYTES = 1 << 28  # bytes
FILLED = ("mean", "zero")  # what may stand for missing values


class Names(NamedTuple):
    """Names of features in order, strings of integer labels, the label column and the values of one-hot columns.

    means: of the features in the training data, nan for one without values; empty if not known.  missing: one of
    FILLED, or empty.  labelled: whether the rows have labels.
    """

    features: tuple[str, ...] = ()
    classes: dict[int, str] = {}
    label: str | None = None
    one_hot: dict[str, tuple[str, ...]] = {}
    means: tuple[float, ...] = ()
    missing: str = ""
    labelled: bool = True

    def feature(self, index: int) -> str:
        """Name of the feature with this index, from 0 on."""
        return self.features[index] if index < len(self.features) else f"feature {index + 1}"

    def of_class(self, label: float) -> str:
        """String of a label; the number itself if it has none; empty for nan, which is no label."""
        number = f"{label:.17g}" if label == label else ""
        return self.classes.get(int(label), number) if label == label // 1 else number


def write(path: str, names: Names) -> None:
    """Write the file atomically."""
    content = {
        "format": NAMES_FORMAT, "version": NAMES_VERSION, "label": names.label,
        **({"classes": {str(k): v for k, v in names.classes.items()}} if names.classes else {}),
        "features": list(names.features),
        **({"one_hot": {k: list(v) for k, v in names.one_hot.items()}} if names.one_hot else {}),
        **({"means": [None if x != x else x for x in names.means]} if names.means else {}),
        **({"missing": names.missing} if names.missing else {}), **({} if names.labelled else {"labelled": False}),
    }  # fmt: skip
    with replacing(path) as file:
        file.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


def read(path: str) -> Names:
    """Read names; SvmtoolError for a file that is neither JSON of this format nor lines of text."""
    with open_source(path, "can't open names file") as source:
        content, block = bytearray(), bytearray(1 << 16)
        while n := source.read_into(block):
            content += block[:n]
            if len(content) > MAX_BYTES:
                raise SvmtoolError(f"{path} is no file of names: it is larger than {MAX_BYTES >> 20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SvmtoolError(f"{path} is no file of names: it is not UTF-8 text") from None
    if not text.lstrip().startswith("{"):
        return Names(tuple(line.strip() for line in text.splitlines()))
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()  # ValueError for half a surrogate pair
        return _checked(found)
    except (ValueError, RecursionError) as e:
        raise SvmtoolError(f"{path} is no file of names: {e}") from None


def _checked(content: dict) -> Names:
    """Names of a JSON object; ValueError if it has another form."""
    if content.get("format") != NAMES_FORMAT or content.get("version") != NAMES_VERSION:
        raise ValueError(f'it lacks "format": "{NAMES_FORMAT}" and "version": {NAMES_VERSION}')
    features, classes = content.get("features", []), content.get("classes", {})
    one_hot, label = content.get("one_hot", {}), content.get("label")
    if not _are_strings(features):
        raise ValueError('"features" must be a list of strings')
    if not isinstance(classes, dict) or not _are_strings(list(classes.values())):
        raise ValueError('"classes" must be an object of strings')
    if not isinstance(one_hot, dict) or not all(map(_are_strings, one_hot.values())):
        raise ValueError('"one_hot" must be an object of lists of strings')
    if label is not None and not isinstance(label, str):
        raise ValueError('"label" must be a string or null')
    means, missing, labelled = content.get("means", []), content.get("missing", ""), content.get("labelled", True)
    if not isinstance(means, list) or not all(x is None or _is_value(x) for x in means):
        raise ValueError('"means" must be a list of numbers and null')
    if features and means and len(means) != len(features):
        raise ValueError(f'"means" has {len(means)} numbers for {len(features)} features')
    if missing not in ("", *FILLED):
        raise ValueError(f'"missing" must be {" or ".join(FILLED)}')
    if not isinstance(labelled, bool):
        raise ValueError('"labelled" must be true or false')
    try:
        numbers = {parse_integer(k): v for k, v in classes.items()}
    except ValueError:
        raise ValueError('the keys of "classes" must be integers') from None
    if any(not -(2**31) <= number < 2**31 for number in numbers):
        raise ValueError('the keys of "classes" must fit into 32 bits')
    known = tuple(math.nan if x is None else float(x) for x in means)
    return Names(
        tuple(features), numbers, label, {k: tuple(v) for k, v in one_hot.items()}, known, missing, labelled
    )  # fmt: skip


def _are_strings(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) for v in values)


def _is_value(x: object) -> bool:
    """Whether x is a number that readers of LIBSVM's format take."""
    if not isinstance(x, (int, float)) or isinstance(x, bool):
        return False
    return x == 0 or sys.float_info.min <= abs(x) <= sys.float_info.max


def find(given: str | None, *beside: str) -> Names:
    """The names of `given`, else of the first file of names that exists beside these files, else none."""
    path = next(filter(None, map(path_beside, beside)), None) if given is None else given
    return Names() if path is None else read(path)


def completed(names: Names, model: Any) -> Names:
    """The names, with the classes that a model of text labels holds itself where they name none."""
    known = None if names.classes else model.class_names
    return names if known is None else names._replace(classes=dict(enumerate(map(str, known))))


def path_beside(path: str) -> str | None:
    """The file of names beside a file, FILE.names or for NAME.model the NAME.names that `write` wrote; None without."""
    if path == "-":
        return None
    if os.path.exists(path + SUFFIX):
        return path + SUFFIX
    stem = path.removesuffix(MODEL_SUFFIX)
    return stem + SUFFIX if stem != path and has_our_format(stem + SUFFIX) else None


def has_our_format(path: str) -> bool:
    """Whether a file begins as those of `write` do; False if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return json.dumps(NAMES_FORMAT).encode() in file.read(100)
    except OSError:
        return False


class NamedLabels:
    """An output file whose lines begin with a label; the fields of a line are separated by tabs.

    Each write holds whole lines.
    """

    def __init__(self, output: BinaryIO, names: Names):
        self.output, self.begun = output, False
        self.texts = {
            str(label).encode(): visible(re.sub(r"[\t\r\n]", " ", text)).encode()
            for label, text in names.classes.items()
        }

    def write(self, text: bytes) -> int:
        """Write lines with the first field of each replaced, in a header of probabilities all fields."""
        lines = text.split(b"\n")
        for k, line in enumerate(lines):
            fields = line.split(b" ")
            is_header = not self.begun and fields[0] == b"labels"
            self.begun = True
            renamed = len(fields) if is_header else 1
            fields[:renamed] = [self._named(field) for field in fields[:renamed]]
            lines[k] = b"\t".join(fields)
        return self.output.write(b"\n".join(lines))

    def _named(self, labels: bytes) -> bytes:
        """The strings of a label, or of several with commas between them."""
        return b",".join(self.texts.get(label, label) for label in labels.split(b","))


def named_metrics(lines: str, names: Names) -> str:
    """The lines of --metrics with the strings of labels."""

    def named(found: re.Match[str]) -> str:
        return f"Label {visible(names.of_class(float(found[1])))}:"

    return re.sub(r"^Label (\S+):", named, lines, flags=re.MULTILINE)
