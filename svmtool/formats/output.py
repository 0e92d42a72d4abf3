"""Atomic output files: a file appears complete under its name or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator

from svmtool.errors import SvmtoolError
from svmtool.formats import scratch_files
from svmtool.formats.regular_file import mode_of

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str, refusal: str = "can't open output file") -> Iterator[BinaryIO]:
    """A binary file object that becomes the file `path` when the block ends without an exception.

    Until then it has a temporary name in the same folder.  After an exception or Ctrl-C it is removed and the old file
    is unchanged.  Temporary files of killed runs are removed too.  Symbolic links are followed and the mode bits of an
    old file kept.  `-`, devices, pipes and sockets (/dev/stdout, /dev/null) are written directly.

    Raises SvmtoolError "`refusal` PATH" if the file cannot be created and "can't write PATH: ..." if writing fails.
    BrokenPipeError is passed on.
    """
    if not path:  # the temporary file would be in the wrong folder
        raise SvmtoolError(f"{refusal} '': the name is empty")
    direct = _direct(path, refusal)
    if direct is not None:
        with _write_errors(path):
            yield from _written_directly(direct)
        return
    if os.path.basename(path) in ("", ".", ".."):  # realpath would turn it into a file name
        raise SvmtoolError(f"{refusal} {path}: it names a directory")
    target = os.path.realpath(path)
    try:
        mode = mode_of(target)
        scratch, fd = scratch_files.create(target, 0o666 if mode is None else 0o600)
    except (OSError, ValueError) as e:
        raise _cannot_open(path, refusal, e) from None
    try:
        with _write_errors(path), open(fd, "wb", buffering=1 << 18) as file:
            if mode is not None:
                os.fchmod(fd, mode)
            yield file
            file.flush()
            os.fsync(fd)
        with _write_errors(path):
            os.replace(scratch, target)
        scratch_files.end(scratch, renamed=True)
    except BaseException:
        scratch_files.end(scratch, renamed=False)
        raise


def unwritable(path: str) -> str:
    """Why no file can be created as `path`, as the end of a message that names it; empty if it can."""
    if not path:
        return "'': the name is empty"
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
        return ""  # a device or a pipe
    if os.path.isdir(path) or os.path.basename(path) in ("", ".", ".."):
        return ": it is a directory"
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        return f": there is no folder {os.path.dirname(path)}"
    for name in [folder, *([path] if os.path.exists(path) else [])]:
        if not os.access(name, os.W_OK):
            return f": no permission to write {'into ' if name == folder else ''}{name}"
    return ""


def _written_directly(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a file object and close it afterwards, unless it is standard output's own."""
    try:
        yield file
        file.flush()
    finally:
        if file is not getattr(sys.stdout, "buffer", None):
            with contextlib.suppress(OSError):  # the write error has been reported
                file.close()


def _direct(path: str, refusal: str) -> BinaryIO | None:
    """The file object for `-`, a device, a pipe or a socket; None for a regular or new file."""
    if path in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        if sys.stdout is None:
            raise SvmtoolError(f"{refusal} {path}: there is no standard output")
        sys.stdout.flush()
        own = sys.stdout.buffer
        return open(os.dup(own.fileno()), "wb") if isinstance(own, io.RawIOBase) else own  # raw: python -u
    try:
        kind = os.stat(path).st_mode
        if stat.S_ISREG(kind):
            return None
        if stat.S_ISDIR(kind):
            raise SvmtoolError(f"{refusal} {path}: it is a directory")
        return open(path, "wb")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as e:
        raise _cannot_open(path, refusal, e) from None


def _cannot_open(path: str, refusal: str, e: Exception) -> SvmtoolError:
    reason = "" if isinstance(e, FileNotFoundError) else f": {getattr(e, 'strerror', None) or e}"
    return SvmtoolError(f"{refusal} {path}{reason}")


@contextlib.contextmanager
def _write_errors(path: str) -> Iterator[None]:
    """Turn a failed write (full disk, quota) into an SvmtoolError that names the file."""
    try:
        yield
    except (BrokenPipeError, InterruptedError):
        raise
    except OSError as e:
        name = "to standard output" if path == "-" else path
        raise SvmtoolError(f"can't write {name}: {e.strerror or e}") from e
