"""What SVMlight's format has beside LIBSVM's: comment lines, blank lines, queries (`qid:3`) and text after `#`.

    # two queries
    2 qid:1 1:0.5 3:1   # the first document
    1 qid:2 1:0.3

With svm-train --multilabel rows may begin with several labels, `1,5,7 3:1`, or none.

The fast loops read LIBSVM's format.  A block of lines at which they stop is read again without its additions; the text
after `#` is the name of its row.  `tolerant` is False where a command stands for LIBLINEAR's or LIBSVM's own: these
refuse such lines, and ignore a comment without a colon at the end of a row.
"""

from __future__ import annotations

import re

from svmtool.compiled.loops.text.text_loops import LABELLED, SETS, UNLABELLED
from svmtool.errors import DataError
from svmtool.integers import parse_integer

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from svmtool.data.label_sets import LabelSets

tolerant = True
BLANKS, SPACE = b" \t", b" \t\r\v\f"
NO_QUERY = -(2**63)  # of a row without qid
BLANK_LINE = re.compile(rb"^[ \t\r\v\f]*$", re.MULTILINE)
SET = re.compile(rb"^[ \t]*(?:([^\s:]+)(?=\s|$))?", re.MULTILINE)  # what a row has before its features
LABELS = re.compile(rb"(?:[+-]?[0-9]{1,10}(?:,[+-]?[0-9]{1,10})*)?")
NO_SET = "the labels of a row are whole numbers of 32 bits, separated by commas"
QUERY = re.compile(rb"([ \t]*(?:[^ \t:]+[ \t]+)?)qid:([^ \t\r]*)")  # after the label, if there is one


class Rows:
    """The rows of a block of lines without their additions.

    text: as LIBSVM's.  lines: of each row the number of its line in the block, from 0 on; count: lines of the block.
    queries, names: of each row; None where no row has any.
    others: the lines that are no rows, with the number of rows before each.
    sets: of rows with several labels, which `text` lacks; else None.
    """

    sets: LabelSets | None = None

    def __init__(
        self, text: bytes, lines: list[int], count: int, queries: list[int] | None, names: list[bytes] | None,
        others: list[tuple[int, bytes]],
    ):  # fmt: skip
        self.text, self.lines, self.count, self.queries, self.names = text, lines, count, queries, names
        self.others = others

    def returned(self, text: bytes) -> bytes:
        """Lines of these rows with the additions that `text` lacks."""
        found: list[bytes] = []
        others = iter([*self.others, (len(self.lines), b"")])
        before, other = next(others)
        for k, line in enumerate(text.split(b"\n")[:-1]):
            while before == k:
                found.append(other)
                before, other = next(others)
            if self.queries is not None and self.queries[k] != NO_QUERY:
                label, blank, rest = line.partition(b" ")
                line = b"%s qid:%d%s%s" % (label, self.queries[k], blank, rest)
            if self.names is not None and self.names[k]:
                line = b"%s # %s" % (line.rstrip(), self.names[k])
            found.append(line)
        found += [line for rows, line in self.others if rows == len(self.lines)]
        return b"".join(line + b"\n" for line in found)


def removed(text: bytes, file: str, form: int = LABELLED, first_line: int = 0) -> Rows | None:
    """The rows of complete lines; None where these have no additions.

    form: see text_loops.LABELLED; a blank line is a row where rows have no labels.
    DataError for a qid that is no whole number, and for sets with anything else.
    """
    rows = _without_additions(text, file, form, first_line) if tolerant else None
    if form != SETS:
        return rows
    if rows is None:
        count = text.count(b"\n")
        rows = Rows(text, list(range(count)), count, None, None, [])
    rows.sets = _sets_of(rows, file, first_line)
    rows.text = SET.sub(b"0 ", rows.text[:-1]) + b"\n" if rows.text else b""
    return rows


def _sets_of(rows: Rows, file: str, first_line: int) -> LabelSets:
    """The labels of each row."""
    import numpy as np

    from svmtool.data.label_sets import LabelSets

    found = SET.findall(rows.text[:-1]) if rows.text else []
    tokens = b",".join(filter(None, found)).split(b",") if any(found) else []
    try:
        numbers = np.array(tokens, np.bytes_).astype(np.float64)
        if not np.all(np.trunc(numbers) == numbers) or not np.all(np.abs(numbers) < 2.0**31):
            raise ValueError
    except ValueError:
        k = next(k for k, one in enumerate(found) if not _is_set(one))
        shown = found[k].decode("utf-8", "backslashreplace")
        raise DataError(first_line + rows.lines[k] + 1, file, shown, NO_SET) from None
    return LabelSets.of_counts(np.array([one.count(b",") + 1 if one else 0 for one in found], np.int64), numbers)


def _is_set(token: bytes) -> bool:
    """Whether the labels before a row's features are what they should be."""
    numbers = token.split(b",") if token else []
    return bool(LABELS.fullmatch(token)) and all(abs(int(number)) < 2**31 for number in numbers)


def _without_additions(text: bytes, file: str, form: int, first_line: int) -> Rows | None:
    """`removed` of everything but sets of labels."""
    bare = form == UNLABELLED
    if b"#" not in text and b"qid:" not in text and (bare or not BLANK_LINE.search(text, 0, len(text) - 1)):
        return None
    kept: list[bytes] = []
    lines, queries, names, others = [], [], [], []
    every = text.split(b"\n")[:-1]
    for k, line in enumerate(every):
        body, mark, name = line.partition(b"#")
        if not body.strip(SPACE) and (mark or not bare):
            others.append((len(kept), line))
            continue
        query = NO_QUERY
        if b"qid:" in body and (found := QUERY.match(body)):
            query = _query(found[2], first_line + k + 1, file)
            body = found[1] + body[found.end() :].lstrip(BLANKS)
        kept.append(body.rstrip(BLANKS))
        lines.append(k)
        queries.append(query)
        names.append(name.strip())
    return Rows(
        b"".join(body + b"\n" for body in kept), lines, len(every),
        queries if any(q != NO_QUERY for q in queries) else None, names if any(names) else None, others,
    )  # fmt: skip


def _query(text: bytes, line: int, file: str) -> int:
    try:
        number = parse_integer(text)
        if abs(number) < 2**63:
            return number
    except ValueError:
        pass
    raise DataError(line, file, f"qid:{text.decode('utf-8', 'backslashreplace')}", "a qid is a whole number")
