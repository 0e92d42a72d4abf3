"""Whether the first line of a table of text holds names: it is judged beside the next ones, column by column."""

from __future__ import annotations

from collections.abc import Sequence

from svmtool.conversion.table import is_missing

LABEL_NAMES = ("label", "target", "y", "class")  # a column of such a name holds the labels, in any case of letters
ROWS_BESIDE = 100  # rows after the first that it is compared with, at most
TAKEN_AS_NAMES = "the first line is taken as names: --no-header takes it as a row"
TAKEN_AS_ROW = "the first line is taken as a row: --header takes it as names"


def is_number(cell: str) -> bool:
    """Whether a cell is a number, without the underscores that Python allows in one."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def judged(first: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[bool, str]:
    """Whether the cells `first` are names, by the rows below; and a line for the user where that stays open.

    For names speak a text above numbers, and one of LABEL_NAMES.  Against names speak a text that is also below, and
    one that two columns have.  Where nothing speaks, or both do, cells without a number are names, and so are those
    with a text that is not below where the texts below recur.
    """
    given = [cell.strip() for cell in first]
    named = [cell for cell in given if cell]
    numeric = any(is_number(cell) and not is_missing(cell) for cell in given)
    favours = unlike = False
    opposes = len(set(named)) < len(named)
    for k, cell in enumerate(given):
        if is_missing(cell) or is_number(cell):
            continue
        below = [text for row in rows if len(row) == len(given) and not is_missing(text := row[k].strip())]
        numbers = all(map(is_number, below))
        favours |= cell.lower() in LABEL_NAMES or (numbers and len(below) > 0)
        opposes |= cell in below
        unlike |= not numbers and len(set(below)) < len(below)
    if favours != opposes:
        return favours, "" if favours or numeric else TAKEN_AS_ROW
    names = not numeric or (unlike and not opposes)
    return names, TAKEN_AS_NAMES if names else TAKEN_AS_ROW
