"""Input files: plain files are read at any position, others (pipes, `-`, compressed files) sequentially.

The length of a line is limited.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from itertools import chain

from svmtool import systems
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.text_loops import PADDING
from svmtool.errors import SvmtoolError
from svmtool.tolerances import MB, MIB

# First bytes of compressed files, whatever their names.
MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
MAGIC_BYTES = 6
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # usual suffixes of such files

READ_BYTES = MIB  # bytes of a sequential input read at once where it is completed or decompressed
END_OF_LINE = b"\n"
MAX_LINE = 1 << 28  # bytes; a small compressed file may contain gigabytes without a newline
BECAME_SHORTER = "became shorter while it was read"
NUL_IN_LINE = "the line contains a NUL byte: this is not a text file"


class Source:
    """An open input.

    name: the path as given by the user.  size: bytes of a plain regular file, None for sequential input.  taken: bytes
    read so far.
    """

    def __init__(self, name: str, fd: int, size: int | None, stream=None, own: bool = True, raw=None):
        self.name, self.size, self._fd, self._own = name, size, fd, own
        self._stream, self._raw = stream, raw  # a decoder, and the compressed file that it reads
        self._start = self.taken = 0
        self._fresh = size is None and stream is None  # nothing is read yet, and it may be compressed
        self._head = b""  # bytes that were read to find out

    def read_into(self, buffer) -> int:
        """Fill a writable buffer from the current position; returns the number of bytes, fewer at the end."""
        view = memoryview(buffer).cast("B")
        if self.size is not None:  # rows that are added meanwhile are not read
            view = view[: max(0, self.size - self.taken)]
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
                    n = systems.read_into(self._fd, view[done:])
                else:
                    n = self._stream.readinto(view[done:])
                if not n:
                    if self.size is not None and self.taken + done < self.size:
                        raise SvmtoolError(f"{self.name} {BECAME_SHORTER}")
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
            rest = iter(lambda: os.read(self._fd, READ_BYTES), b"")
            self._raw = io.BufferedReader(_Pieces(chain([head], rest)))
            self._stream = _decoder(kind, self._raw, self.name)
        else:
            self._head = head

    def read_at(self, buffer, offset: int) -> None:
        """Fill a writable buffer from byte `offset` of a regular file; thread-safe."""
        view = memoryview(buffer).cast("B")
        try:
            while len(view):
                n = systems.read_into_at(self._fd, view, offset)
                if n == 0:
                    raise SvmtoolError(f"{self.name} {BECAME_SHORTER}")
                view, offset = view[n:], offset + n
                self.taken += n  # threads may lose a count, which is then only shown
        except OSError as e:
            raise SvmtoolError(f"can't read {self.name}: {_reason(e)}") from e

    def repeatable(self) -> Source:
        """A source of the remaining bytes that `rewind` can set back to the current position.

        A file is returned itself; a pipe is copied to a temporary file and closed.
        """
        try:
            if self._stream is None:
                self._start = os.lseek(self._fd, 0, os.SEEK_CUR)
                if not self._fresh or not compression_of(systems.pread(self._fd, MAGIC_BYTES, self._start)):
                    return self
            elif self._stream.seekable() and (self._raw is None or self._raw.seekable()):
                return self
        except OSError:
            pass  # a pipe or a terminal: not an error here
        import tempfile

        try:
            spool = tempfile.TemporaryFile(prefix="svmtool-")
            buffer = memoryview(bytearray(READ_BYTES))
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
            self.taken = os.lseek(self._fd, self._start, os.SEEK_SET)
            self._head = b""
        else:
            self.taken = 0
            self._stream.seek(0)

    def close(self) -> None:
        for file in (self._stream, self._raw):
            if file is not None:
                file.close()
        if self._own and self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc) -> None:
        self.close()


def _reason(e: BaseException) -> str:
    return getattr(e, "strerror", None) or str(e) or type(e).__name__


def open_source(path: str, refusal: str = "can't open input file") -> Source:
    """Open `path` for reading; `-` is standard input.

    Files compressed by gzip, bzip2, xz or zstd are decompressed; their first bytes identify them.

    Raises SvmtoolError "`refusal` PATH", followed by a reason if the file exists.
    """
    if path == "-":
        if sys.stdin is None:
            raise SvmtoolError(f"{refusal} {path}: there is no standard input")
        return Source(path, sys.stdin.fileno(), None, own=False)
    try:
        fd = os.open(path, os.O_RDONLY | systems.PRIVATE)
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
    kind = compression_of(systems.pread(fd, MAGIC_BYTES, 0))
    if kind:
        raw = open(fd, "rb")
        return Source(path, -1, None, _decoder(kind, raw, path), own=False, raw=raw)
    return Source(path, fd, facts.st_size)


def compression_of(head: bytes) -> str:
    """gzip, bzip2, xz or zstd by the first bytes of a file; empty if it is not compressed."""
    return next((kind for magic, kind in MAGIC if head.startswith(magic)), "")


def of_pieces(name: str, pieces: Iterator[bytes]) -> Source:
    """A source of the bytes of some pieces, none of them empty."""
    return Source(name, -1, None, _Pieces(pieces), own=False)


class _Pieces(io.RawIOBase):
    """A stream of the bytes of some pieces, none of them empty."""

    def __init__(self, pieces: Iterator[bytes]):
        self.pieces, self.held = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self.held = self.held or next(self.pieces, b"")
        n = min(len(self.held), len(buffer))
        buffer[:n] = self.held[:n]
        self.held = self.held[n:]
        return n


def partial_line_error(text: Buffer, start: int, stop: int) -> str:
    """Why text[start:stop] cannot be the beginning of a line; empty if it can."""
    if text.memory.find(b"\0", start, stop) >= 0:
        return NUL_IN_LINE
    return too_long(MAX_LINE) if stop - start > MAX_LINE else ""


def too_long(longest: int) -> str:
    return f"the line is longer than {longest / MB:.0f} MB"


class LineReader:
    """Reads the complete lines of a source, about `chunk` bytes at a time.

    longest: the limit of the length of a line longer than a chunk.  ended: the whole source has been read.
    """

    def __init__(self, source: Source, chunk: int, longest: int = MAX_LINE):
        self.source, self.longest = source, longest
        self.chunk = chunk if source.size is None else min(chunk, source.size + 1)
        self.ended, self._rest = False, b""  # the beginning of a line

    def read(self, text: Buffer | None = None) -> tuple[Buffer, int, str]:
        """The next lines as (text, size, fault): they are text[:size], and PADDING bytes follow; size 0 at the end.

        text: a buffer to use again if it is large enough.  The last line gets a newline if it has none.  fault: empty,
        or with size 0 why the next line cannot be read: it holds a NUL byte or is too long.
        """
        held, chunk = len(self._rest), self.chunk
        if text is None or text.size < held + chunk + PADDING:
            text = Buffer("u1", held + chunk + chunk // 8 + PADDING)
        text.items[:held] = self._rest
        while not self.ended:
            if text.size < held + chunk + PADDING:  # a line longer than a chunk
                longer = Buffer("u1", 2 * text.size)
                longer.items[:held] = text.items[:held]
                text = longer
            n = self.source.read_into(text.items[held : held + chunk])
            self.ended = n < chunk
            fresh, held = held, held + n
            if self.ended and held and text.items[held - 1] != END_OF_LINE[0]:
                text.items[held] = END_OF_LINE[0]
                held += 1
            whole = text.memory.rfind(END_OF_LINE, fresh, held) + 1
            if whole:
                self._rest = bytes(text.items[whole:held])
                return text, whole, ""
            reason = partial_line_error(text, fresh, held) or (too_long(self.longest) if held > self.longest else "")
            if reason:
                self.ended = True
                return text, 0, reason
        return text, 0, ""


def _decoder(kind: str, raw: io.BufferedReader, name: str):
    """A binary file of the decompressed bytes of `raw`."""
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw, mode="rb")
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(raw)
    if kind == "xz":
        import lzma

        return lzma.LZMAFile(raw)
    try:
        from compression.zstd import ZstdFile  # Python 3.14

        return ZstdFile(raw)
    except ImportError:
        pass
    try:
        from zstandard import ZstdDecompressor
    except ImportError:
        raw.close()
        raise SvmtoolError(
            f"can't read {name}: it is compressed by zstd: decompress it (zstd -d), or install Python's zstandard"
        ) from None
    return ZstdDecompressor().stream_reader(raw, read_across_frames=True)
