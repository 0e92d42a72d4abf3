"""Input files: plain files are read at any position, others (pipes, `-`, .gz, .bz2, .xz) sequentially."""

from __future__ import annotations

import os
import stat
import sys

from svmtool.errors import SvmtoolError

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


class Source:
    """An open input.

    name: the path as given by the user.  size: bytes of a plain regular file, None for sequential input.
    """

    __slots__ = ("name", "size", "_fd", "_stream", "_own", "_start")

    def __init__(self, name: str, fd: int, size: int | None, stream=None, own: bool = True):
        self.name, self.size, self._fd, self._stream, self._own = name, size, fd, stream, own
        self._start = 0

    def read_into(self, buffer) -> int:
        """Fill a writable buffer from the current position; returns the number of bytes, fewer at the end."""
        view = memoryview(buffer).cast("B")
        done = 0
        try:
            while done < len(view):
                if self._stream is None:
                    n = os.readv(self._fd, [view[done:]])
                else:
                    n = self._stream.readinto(view[done:])
                if not n:
                    break
                done += n
        except KeyboardInterrupt:
            raise
        except Exception as e:  # zlib.error and lzma.LZMAError share no other base
            raise SvmtoolError(f"can't read {self.name}: {_reason(e)}") from e
        return done

    def read_at(self, buffer, offset: int) -> None:
        """Fill a writable buffer from byte `offset` of a regular file; thread-safe."""
        view = memoryview(buffer).cast("B")
        try:
            while len(view):
                n = os.preadv(self._fd, [view], offset)
                if n == 0:
                    raise SvmtoolError(f"{self.name} became shorter while it was read")
                view, offset = view[n:], offset + n
        except OSError as e:
            raise SvmtoolError(f"can't read {self.name}: {_reason(e)}") from e

    def repeatable(self) -> Source:
        """A source of the remaining bytes that `rewind` can set back to the current position.

        A file is returned itself; a pipe is copied to a temporary file and closed.
        """
        try:
            if self._stream is None:
                self._start = os.lseek(self._fd, 0, os.SEEK_CUR)
                return self
            if self._stream.seekable():
                return self
        except OSError:
            pass  # a pipe or a terminal: not an error here
        import tempfile

        try:
            spool = tempfile.TemporaryFile(prefix="svmtool-")
            buffer = memoryview(bytearray(1 << 20))
            while n := self.read_into(buffer):
                spool.write(buffer[:n])
            spool.seek(0)
        except OSError as e:
            raise SvmtoolError(f"can't keep {self.name} in a temporary file: {_reason(e)}") from e
        self.close()
        return Source(self.name, -1, None, spool, own=False)

    def rewind(self) -> None:
        """Go back to the position where `repeatable` was called."""
        if self._stream is None:
            os.lseek(self._fd, self._start, os.SEEK_SET)
        else:
            self._stream.seek(0)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._own and self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def _reason(e: BaseException) -> str:
    if isinstance(e, OSError) and e.strerror:
        return e.strerror
    return str(e) or type(e).__name__


def open_source(path: str, refusal: str = "can't open input file") -> Source:
    """Open `path` for reading; `-` is standard input.

    Files that end in .gz, .bz2 or .xz are decompressed.  Raises SvmtoolError "`refusal` PATH", followed by a reason if
    the file exists.
    """
    if path == "-":
        if sys.stdin is None:
            raise SvmtoolError(f"{refusal} {path}: there is no standard input")
        return Source(path, sys.stdin.fileno(), None, own=False)
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise SvmtoolError(f"{refusal} {path}") from None
    except (OSError, ValueError) as e:  # ValueError: a NUL in the name
        raise SvmtoolError(f"{refusal} {path}: {_reason(e)}") from None
    facts = os.fstat(fd)
    if stat.S_ISDIR(facts.st_mode):
        os.close(fd)
        raise SvmtoolError(f"{refusal} {path}: it is a directory")
    suffix = os.path.splitext(path)[1]
    if suffix in COMPRESSED:
        return Source(path, -1, None, _decoder(suffix, fd), own=False)
    return Source(path, fd, facts.st_size if stat.S_ISREG(facts.st_mode) else None)


def _decoder(suffix: str, fd: int):
    raw = open(fd, "rb")
    if suffix == ".gz":
        import gzip

        stream = gzip.GzipFile(fileobj=raw, mode="rb")
    elif suffix == ".bz2":
        import bz2

        stream = bz2.BZ2File(raw)
    else:
        import lzma

        stream = lzma.LZMAFile(raw)
    return _Both(stream, raw)


class _Both:
    """A decoder that also closes the file it reads."""

    def __init__(self, stream, raw):
        self.stream, self.raw = stream, raw
        self.readinto, self.seek, self.seekable = stream.readinto, stream.seek, stream.seekable

    def close(self) -> None:
        self.stream.close()
        self.raw.close()
