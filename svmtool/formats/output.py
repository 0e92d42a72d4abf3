"""Atomic output files: a file appears complete under its name or not at all.

A run locks its temporary file until it has its final name; an unlocked one was left by a killed run.  `open_regular`
opens the files that are kept beside a model.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator

from svmtool import interrupts, systems
from svmtool.errors import SvmtoolError

TYPE_CHECKING = False  # typing is not imported at start
if TYPE_CHECKING:
    from typing import BinaryIO

MAX_NAME_BYTES = 200  # of the name of a file or folder in a temporary name

_tidied: set[str] = set()  # targets whose left files this process has removed


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
            try:
                yield direct
                direct.flush()
            finally:
                if direct is not getattr(sys.stdout, "buffer", None):
                    with contextlib.suppress(OSError):  # the write error has been reported
                        direct.close()
        return
    if os.path.basename(path) in ("", ".", ".."):  # realpath would turn it into a file name
        raise SvmtoolError(f"{refusal} {path}: it names a directory")
    target = os.path.realpath(path)
    try:
        mode = mode_of(target)
        scratch, fd = _create_scratch(target, 0o666 if mode is None else 0o600)
    except (OSError, ValueError) as e:
        raise _cannot_open(path, refusal, e) from None
    try:
        with _write_errors(path), open(fd, "wb", buffering=1 << 18) as file:
            if mode is not None:
                systems.set_mode(fd, mode)
            yield file
            file.flush()
            os.fsync(fd)
            if systems.POSIX:
                os.replace(scratch, target)  # before the lock ends with the descriptor
        if not systems.POSIX:  # Windows renames no open file, nor removes one
            with _write_errors(path):
                os.replace(scratch, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise
    finally:
        interrupts.end_file(scratch)


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
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            return open(path, "wb")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as e:
        raise _cannot_open(path, refusal, e) from None
    if stat.S_ISDIR(kind):
        raise SvmtoolError(f"{refusal} {path}: it is a directory")
    return None


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


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open the regular file `path` like os.open; OSError also for other kinds of files.

    With NO_LINKS these include symbolic links.  A pipe is refused at once; opening it would wait for its other end.
    """
    try:
        fd = os.open(path, flags | systems.PRIVATE | systems.NO_WAITING, mode)
    except OSError as e:
        if e.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", path) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return fd


def refuse_other_kinds(path: str) -> None:
    """Raise OSError if `path` exists and is no regular file."""
    with contextlib.suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "it is a symbolic link", path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)


def mode_of(path: str) -> int | None:
    """Mode bits of the file, None if it is missing; OSError if it is not writable, as for fopen."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return mode


def shortened(name: str) -> str:
    """The beginning of a file's name, short enough for a temporary name."""
    return os.fsdecode(os.fsencode(name)[:MAX_NAME_BYTES])


def _create_scratch(target: str, mode: int) -> tuple[str, int]:
    """Create a temporary file in the folder of `target`; returns its name and a descriptor for writing.

    It is registered to be removed at Ctrl-C.  Files that killed runs have left for this target are removed.
    Raises OSError.
    """
    folder, name = os.path.split(target)
    prefix = f".{shortened(name)}."
    _tidy(folder, prefix)
    while True:
        scratch = os.path.join(folder, f"{prefix}{os.getpid()}-{os.urandom(4).hex()}.tmp")
        interrupts.begin_file(scratch)
        try:
            fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | systems.PRIVATE, mode)
        except OSError:
            interrupts.end_file(scratch)
            raise
        _lock(fd)
        if os.fstat(fd).st_nlink:
            return scratch, fd
        os.close(fd)  # another run removed it before it was locked
        interrupts.end_file(scratch)


def _lock(fd: int, wait: bool = True) -> bool:
    """Lock a file; returns whether this process holds the lock.  Some file systems have no locks."""
    try:
        systems.lock(fd, wait)
    except OSError:
        return False
    return True


def _tidy(folder: str, prefix: str) -> None:
    """Remove this user's unlocked files with such names."""
    if folder + "/" + prefix in _tidied:
        return
    _tidied.add(folder + "/" + prefix)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _is_scratch(entry.name, prefix)]:
            with contextlib.suppress(OSError):
                _remove_if_left(os.path.join(folder, name))


def _is_scratch(name: str, prefix: str) -> bool:
    """Whether a file has the name of a temporary file: the prefix, a process's number and a token."""
    if not name.startswith(prefix):
        return False
    import re  # svm-predict starts without it

    return re.fullmatch(r"[0-9]+-[0-9a-f]{8}\.tmp", name[len(prefix) :]) is not None


def _remove_if_left(path: str) -> None:
    if not systems.POSIX:
        os.unlink(path)  # not one that is open
        return
    fd = open_regular(path, os.O_RDONLY | systems.NO_LINKS)
    try:
        if os.fstat(fd).st_uid == systems.user() and _lock(fd, wait=False):
            os.unlink(path)
    finally:
        os.close(fd)
