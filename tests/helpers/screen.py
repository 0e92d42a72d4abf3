"""Commands on a terminal whose screen is read: a pseudo-terminal, and pyte, which interprets what is written on it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pyte

LINES = 24


class Screen:
    """A process, `python ARGV`, with a terminal of so many columns as stderr and, if wanted, as stdout."""

    def __init__(self, argv, folder, columns=80, stdout=False, **environment):
        self.terminal, end = pty.openpty()
        self.screen = pyte.Screen(columns or 80, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self._set_columns(columns)
        self.seen = b""
        self.run = subprocess.Popen(
            [sys.executable, *argv], stdin=subprocess.PIPE, stdout=end if stdout else subprocess.PIPE, stderr=end,
            cwd=folder, env={**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environment},
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(end)

    def _set_columns(self, columns):
        """0: the terminal does not say its size."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES if columns else 0, columns, 0, 0))

    def resize(self, columns):
        """Change the width of the window, which cuts lines that are too long; the process gets SIGWINCH.

        The process stands still meanwhile, and between two drawings: what it has written is for the old width.
        """
        self.settle()
        os.kill(self.run.pid, signal.SIGSTOP)
        os.waitpid(self.run.pid, os.WUNTRACED)
        while select.select([self.terminal], [], [], 0.0)[0]:
            self.read(0.0)
        self.screen.resize(LINES, columns)
        self._set_columns(columns)
        os.kill(self.run.pid, signal.SIGCONT)

    def lines(self):
        """What the screen shows, without empty lines."""
        return [text for line in self.screen.display if (text := line.rstrip())]

    def read(self, seconds) -> bool:
        """Show what the process writes within this time; False: it has ended."""
        if select.select([self.terminal], [], [], seconds)[0]:
            try:
                some = os.read(self.terminal, 65536)
            except OSError:  # Linux: the other end is closed
                return False
            self.seen += some
            self.stream.feed(some)
            return bool(some)
        return True

    def settle(self) -> None:
        """Read until nothing is written for a part of the time between two drawings."""
        seen = -1
        while seen < len(self.seen):
            seen = len(self.seen)
            self.read(0.2)

    def until(self, holds: Callable[[list[str]], object]):
        """Wait until the lines of the screen fulfil a condition; returns them; fails after a minute."""
        end = time.monotonic() + 60.0
        while not holds(self.lines()):
            assert time.monotonic() < end and self.read(1.0), f"did not appear: {self.seen!r}"
        return self.lines()

    def send(self, text):
        """Write to the standard input of the process."""
        self.run.stdin.write(text)
        self.run.stdin.flush()

    def end(self, text=b""):
        """Give the process the rest of its input, wait for its end; returns exit status, stdout and the lines left."""
        self.run.stdin.write(text)
        self.run.stdin.close()
        while self.read(60.0):
            pass
        out = b"" if self.run.stdout is None else self.run.stdout.read()
        status = self.run.wait(60)
        if self.run.stdout is not None:
            self.run.stdout.close()
        os.close(self.terminal)
        return status, out, self.lines()
