"""Refuses to write over an input file: compares files, not names, before anything is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from svmtool.errors import SvmtoolError

Named = tuple[str, str | None]  # what a file is for, and its path; None: not requested


def refuse(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """SvmtoolError where an output is the same file as an input or another output, links of both kinds included.

    Devices and pipes are accepted everywhere; `-` is the file behind standard input or output.
    """
    read = [(what, path, _identity(path, 0)) for what, path in inputs if path and (path == "-" or os.path.exists(path))]
    written: list[tuple[str, str, object]] = []
    for what, path in outputs:
        if not path:
            continue
        identity = _identity(path, 1)
        if identity is None:
            continue
        for source, name, other in read:
            if identity == other:
                raise SvmtoolError(f"ERROR: {what} {path} would overwrite {source} {name}: give it another name")
        for sibling, name, other in written:
            if identity == other:
                both = name if name == path else f"{name} ({path})"
                raise SvmtoolError(f"ERROR: {sibling} and {what} are both {both}")
        written.append((what, path, identity))


def _identity(path: str, stream: int) -> object:
    """The identity of a regular file, also of one that does not exist yet; None for anything else.

    stream: the descriptor of `-`.
    """
    try:
        facts = os.fstat(stream) if path == "-" else os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a name that cannot be opened either
        return None
    return (facts.st_dev, facts.st_ino) if stat.S_ISREG(facts.st_mode) else None
