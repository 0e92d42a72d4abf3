"""svm-predict --names: writes the strings of labels in place of the integers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

    from svmtool.formats.names import Names


class NamedLabels:
    """An output file whose lines begin with a label; the fields of a line are separated by tabs.

    Each write holds whole lines.
    """

    def __init__(self, output: BinaryIO, names: Names):
        self.output, self.begun = output, False
        self.texts = {
            str(label).encode(): re.sub(r"[\t\r\n]", " ", text).encode() for label, text in names.classes.items()
        }

    def write(self, text: bytes) -> int:
        """Write lines with the first field of each replaced, in a header of probabilities all fields."""
        lines = text.split(b"\n")
        for k, line in enumerate(lines):
            fields = line.split(b" ")
            is_header = not self.begun and fields[0] == b"labels"
            self.begun = True
            renamed = len(fields) if is_header else 1
            fields[:renamed] = [self.texts.get(field, field) for field in fields[:renamed]]
            lines[k] = b"\t".join(fields)
        return self.output.write(b"\n".join(lines))


def named_metrics(lines: str, names: Names) -> str:
    """The lines of --metrics with the strings of labels."""

    def text(found: re.Match) -> str:
        return f"Label {names.of_class(float(found[1]))}:"

    return re.sub(r"^Label (\S+):", text, lines, flags=re.MULTILINE)
