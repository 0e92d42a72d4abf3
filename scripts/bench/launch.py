"""Runs one command and reports its time and memory: python -I -S launch.py PIPE LIMIT COMMAND ...

Writes "seconds status peak_KB over" to the file descriptor PIPE; over: 1 where LIMIT seconds (0: none) ended it.  This
process is kept small: the peak memory that the system reports for a command includes what its parent had at the moment
of the fork, and the benchmark's own process may hold numpy.
"""

from __future__ import annotations

import os
import signal
import sys
import time

GRACE = 5.0  # seconds between SIGTERM and SIGKILL


def main() -> None:
    pipe, limit, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(pipe, False)
    over = asked = False
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)

    def end(number: int, _frame: object) -> None:
        """End the command at the limit or with the benchmark: SIGTERM first, then SIGKILL."""
        nonlocal over, asked
        over = over or number == signal.SIGALRM
        os.kill(child, signal.SIGKILL if asked else signal.SIGTERM)
        asked = True
        signal.setitimer(signal.ITIMER_REAL, GRACE)

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    report = f"{seconds!r} {os.waitstatus_to_exitcode(status)} {usage.ru_maxrss} {int(over)}\n"
    os.write(pipe, report.encode())


if __name__ == "__main__":
    main()
