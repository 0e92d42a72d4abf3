"""Input files: plain files are read at any position, others (pipes, `-`, compressed files) sequentially."""

from __future__ import annotations

import io
import os
import stat
import sys

from svmtool.errors import SvmtoolError

# First bytes of compressed files, whatever their names.
MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
MAGIC_BYTES = 6
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # usual suffixes of such files


class Source:
    """An open input.

    name: the path as given by the user.  size: bytes of a plain regular file, None for sequential input.  taken: bytes
    read so far.
    """

    __slots__ = ("name", "size", "taken", "_fd", "_stream", "_own", "_start", "_fresh", "_head")

    def __init__(self, name: str, fd: int, size: int | None, stream=None, own: bool = True):
        self.name, self.size, self._fd, self._stream, self._own = name, size, fd, stream, own
        self._start = self.taken = 0
        self._fresh = size is None and stream is None  # nothing is read yet, and it may be compressed
        self._head = b""  # bytes that were read to find out

    def read_into(self, buffer) -> int:
        """Fill a writable buffer from the current position; returns the number of bytes, fewer at the end."""
        view = memoryview(buffer).cast("B")
        done = 0
        try:
            if self._fresh:
                self._begin()
            while done < len(view):
                if self._head:
                    n = min(len(self._head), len(view) - done)
                    view[done : done + n] = self._head[:n]
                    self._head = self._head[n:]
                elif self._stream is None:
                    n = os.readv(self._fd, [view[done:]])
                else:
                    n = self._stream.readinto(view[done:])
                if not n:
                    break
                done += n
        except (KeyboardInterrupt, SvmtoolError):
            raise
        except Exception as e:  # zlib.error and lzma.LZMAError share no other base
            raise SvmtoolError(f"can't read {self.name}: {_reason(e)}") from e
        self.taken += done
        return done

    def _begin(self) -> None:
        """Read the first bytes of a sequential input; a compressed one gets a decoder."""
        self._fresh = False
        head = b""
        while len(head) < MAGIC_BYTES and (more := os.read(self._fd, MAGIC_BYTES - len(head))):
            head += more
        if kind := compression_of(head):
            self._stream = _decoder(kind, io.BufferedReader(_Resumed(head, self._fd)), self.name)
        else:
            self._head = head

    def read_at(self, buffer, offset: int) -> None:
        """Fill a writable buffer from byte `offset` of a regular file; thread-safe."""
        view = memoryview(buffer).cast("B")
        try:
            while len(view):
                n = os.preadv(self._fd, [view], offset)
                if n == 0:
                    raise SvmtoolError(f"{self.name} became shorter while it was read")
                view, offset = view[n:], offset + n
                self.taken += n  # threads may lose a count; it is only shown
        except OSError as e:
            raise SvmtoolError(f"can't read {self.name}: {_reason(e)}") from e

    def repeatable(self) -> Source:
        """A source of the remaining bytes that `rewind` can set back to the current position.

        A file is returned itself; a pipe is copied to a temporary file and closed.
        """
        try:
            if self._stream is None:
                self._start = os.lseek(self._fd, 0, os.SEEK_CUR)
                if not self._fresh or not compression_of(os.pread(self._fd, MAGIC_BYTES, self._start)):
                    return self
            elif self._stream.seekable():
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
        self.taken = 0
        if self._stream is None:
            os.lseek(self._fd, self._start, os.SEEK_SET)
            self._head = b""
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

    Files compressed by gzip, bzip2, xz or zstd are decompressed; their first bytes tell.

    Raises SvmtoolError "`refusal` PATH", followed by a reason if the file exists.
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
    if not stat.S_ISREG(facts.st_mode):
        return Source(path, fd, None)
    kind = compression_of(os.pread(fd, MAGIC_BYTES, 0))
    if kind:
        return Source(path, -1, None, _decoder(kind, open(fd, "rb"), path), own=False)
    return Source(path, fd, facts.st_size)


def compression_of(head: bytes) -> str:
    """gzip, bzip2, xz or zstd by the first bytes of a file; empty if it is not compressed."""
    return next((kind for magic, kind in MAGIC if head.startswith(magic)), "")


class _Resumed(io.RawIOBase):
    """The bytes of a descriptor after some that were read before, which come first."""

    def __init__(self, head: bytes, fd: int):
        self.head, self.fd = head, fd

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        view = memoryview(buffer).cast("B")
        if not self.head:
            return os.readv(self.fd, [view])
        n = min(len(self.head), len(view))
        view[:n] = self.head[:n]
        self.head = self.head[n:]
        return n


def _decoder(kind: str, raw: io.BufferedReader, name: str):
    """A binary file of the decompressed bytes of `raw`, which it closes."""
    seekable = raw.seekable()
    if kind == "gzip":
        import gzip

        return _Both(gzip.GzipFile(fileobj=raw, mode="rb"), raw, seekable)
    if kind == "bzip2":
        import bz2

        return _Both(bz2.BZ2File(raw), raw, seekable)
    if kind == "xz":
        import lzma

        return _Both(lzma.LZMAFile(raw), raw, seekable)
    try:
        from compression.zstd import ZstdFile  # Python 3.14

        return _Both(ZstdFile(raw), raw, seekable)
    except ImportError:
        pass
    try:
        from zstandard import ZstdDecompressor
    except ImportError:
        raw.close()
        raise SvmtoolError(
            f"can't read {name}: it is compressed by zstd: decompress it (zstd -d), or install Python's zstandard"
        ) from None
    return _Both(ZstdDecompressor().stream_reader(raw, read_across_frames=True), raw, False)


class _Both:
    """A decoder that also closes the file it reads."""

    def __init__(self, stream, raw, seekable: bool):
        self.stream, self.raw, self._seekable = stream, raw, seekable
        self.readinto, self.seek = stream.readinto, stream.seek

    def seekable(self) -> bool:
        return self._seekable

    def close(self) -> None:
        self.stream.close()
        self.raw.close()
