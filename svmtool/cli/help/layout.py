"""Layout of --explain: a name and a text on each line, wrapped on a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME_WIDTH = 13
WIDEST, NARROWEST = 100, 40


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """One line for each (name, text); several on a terminal where it is too narrow."""
    width = _columns()
    return "".join(_lines(f"{name:<{NAME_WIDTH - 1}} {text}", width) for name, text in rows)


def _lines(line: str, width: int | None) -> str:
    if width is None:
        return line + "\n"
    indent = " " * NAME_WIDTH
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


def _columns() -> int | None:
    """Columns to fill, if stdout is a terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (AttributeError, OSError, ValueError):  # stdout is closed, a file or a pipe
        return None
    return max(NARROWEST, min(WIDEST, columns)) if columns else None
