"""Commands on a terminal whose screen is read: a pseudo-terminal and pyte, which interprets what is written on it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pyte

LINES = 24


class Screen:
    """A command, `python ARGV`, with a terminal of so many columns as stderr and, if wanted, as stdout."""

    def __init__(self, argv, folder, columns=80, stdout=False, **environment):
        self.terminal, end = pty.openpty()
        self.screen = pyte.Screen(columns or 80, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.resize(columns)
        self.seen = b""
        self.run = subprocess.Popen(
            [sys.executable, *argv], stdin=subprocess.PIPE, stdout=end if stdout else subprocess.PIPE, stderr=end,
            cwd=folder, env={**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environment},
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(end)

    def resize(self, columns):
        """Change the width of the window; 0: the terminal does not say it.  The command gets SIGWINCH."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES if columns else 0, columns, 0, 0))
        self.screen.resize(LINES, columns or 80)

    def lines(self):
        """What the screen shows, without empty lines."""
        return [text for line in self.screen.display if (text := line.rstrip())]

    def read(self, seconds) -> bool:
        """Show what the command writes within this time; False: it has ended."""
        if select.select([self.terminal], [], [], seconds)[0]:
            try:
                some = os.read(self.terminal, 65536)
            except OSError:  # Linux: the other end is closed
                return False
            self.seen += some
            self.stream.feed(some)
            return bool(some)
        return True

    def until(self, holds: Callable[[list[str]], object]):
        """Wait until the lines of the screen fulfil a condition; returns them; fails after a minute."""
        end = time.monotonic() + 60.0
        while not holds(self.lines()):
            assert time.monotonic() < end and self.read(1.0), f"did not appear: {self.seen!r}"
        return self.lines()

    def end(self, text=None):
        """Give the command its input, wait for its end, and return its exit status, stdout and the lines left."""
        if text is not None:
            self.run.stdin.write(text)
        self.run.stdin.close()
        while self.read(60.0):
            pass
        out = b"" if self.run.stdout is None else self.run.stdout.read()
        status = self.run.wait(60)
        os.close(self.terminal)
        return status, out, self.lines()
