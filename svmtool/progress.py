"""What a run is doing, and its display by tqdm: bars on a terminal and, from Python, in notebooks.

Long computations name their parts with `doing` or `counted` and count what is done; solvers leave their last gap by
`reached`.  One run of the process is shown at a time, and of it only what the thread that began it does.  A thread
draws the bars; it imports tqdm once the run has lasted FIRST_SECONDS.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import time

from svmtool import interrupts, systems
from svmtool.tolerances import MB

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TextIO

FIRST_SECONDS = 0.5  # shorter runs show nothing
INTERVAL_SECONDS = 0.5  # between two drawings
MIN_SECONDS = 0.1  # between two drawings after messages
SIZE = 80, 24  # columns and lines, where the terminal does not say them
ERASE = "\r\x1b[J"  # from the first bar's line, where the cursor is, to the end of the screen
BAR = "{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
SHORT = "{percentage:3.0f}%|{bar}| {elapsed}"
NO_BAR = "{desc}{elapsed}{postfix}"
TQDM_BAR = 10  # columns of tqdm's bar on a line of any length
# What a line leaves out where it is too long, the least important first, and the columns that its bar then has at least
LEFT_OUT = (("", 4), ("asked", 4), ("desc", 4), ("gap", 4), ("count", 1), ("rest", 1))

_lock = _thread.RLock()  # held while bars are drawn and messages are printed
_shown: shown | None = None


class doing:  # noqa: N801  used as a statement
    """A block that is one part of the work.

    what : a word or two
    total : number of steps, None if it is not known; any thread counts them by `step`
    source : an input whose bytes are the steps, with the attributes `taken` and `size` (None: not known)
    """

    __slots__ = ("what", "total", "source", "done", "began", "_run")

    def __init__(self, what: str, total: int | None = None, source: Any = None):
        self.what, self.total, self.source, self.done = what, total, source, 0
        self.began, self._run = time.perf_counter(), None

    def step(self) -> None:
        """Count one step."""
        self.done += 1
        if self._run is not None:
            self._run.gap = None  # was that of the step

    def share(self) -> float | None:
        """The share of the part that is done, None if it is not known."""
        source = self.source
        done, total = (self.done, self.total or 0) if source is None else (source.taken, source.size or 0)
        return min(done / total, 1.0) if total else None

    def count(self) -> str:
        """What is done, as text: `fold 2 of 5`; of bytes only where their number is not known."""
        if self.source is not None:
            return f"{self.source.taken / MB:.0f} MB" if self.source.size is None else ""
        return f"{self.what} {min(self.done + 1, self.total or 0)} of {self.total}"

    def __enter__(self) -> doing:
        self._run = _of_this_thread()
        if self._run is not None:
            self._run.parts.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._run is not None and self in self._run.parts:
            del self._run.parts[self._run.parts.index(self) :]
            self._run.gap = None


def counted(what: str, items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items; each is a step of one part of the work."""
    with doing(what, len(items)) as part:
        for item in items:
            yield item
            part.step()


def reached(gap: float, target: float | None) -> None:
    """Tell the gap of a solver, and the requested gap if there is one."""
    run = _of_this_thread()
    if run is not None:
        run.gap, run.target = gap, target


def described() -> str:
    """What the run is doing, as text; empty if no run is kept."""
    run = _shown
    return "" if run is None else ", ".join(t.strip(": ") for _, _, words in run._rows() for t in words.values() if t)


def is_drawn() -> bool:
    """Whether bars show what the run is doing."""
    run = _shown
    return run is not None and run.draws and not run.hidden()


def _of_this_thread() -> shown | None:
    run = _shown
    return run if run is not None and run.thread == _thread.get_ident() else None


class shown:  # noqa: N801  used as a statement
    """A block whose work is kept, and shown if stderr is a terminal, unless another block's work is.

    hidden : whether nothing may be shown now
    auto : by tqdm.auto, so also in notebooks
    """

    def __init__(self, hidden: Callable[[], bool] = bool, auto: bool = False):
        self.hidden, self.auto = hidden, auto
        self.parts: list[doing] = []  # from the outermost part to the innermost
        self.gap: float | None = None
        self.target: float | None = None
        self.drawn = False  # bars are on the screen
        self._largest_gap = 0.0
        self._bars: list[tuple[tuple[doing, bool], Any]] = []
        self._Bar: Any = None
        self._width: int | None = None
        self.last = 0.0

    def __enter__(self) -> shown:
        global _shown
        self.stream: TextIO = sys.stderr
        self.terminal = on_terminal()
        self.draws = self.terminal or self.auto and "ipykernel.zmqshell" in sys.modules
        with _lock:
            if _shown is not None:
                return self
            _shown, self.thread, self._whole = self, _thread.get_ident(), doing("working")
            self._ending = _thread.allocate_lock()
            self._ending.acquire()
        if self.draws:
            interrupts.before_end = _erase_at_once
            with contextlib.suppress(RuntimeError):  # no more threads: nothing is shown
                _thread.start_new_thread(self._draw_in_turn, ())
        return self

    def __exit__(self, *_: object) -> None:
        global _shown
        if _shown is self:
            with _lock:
                self.erase()
                self._close(0)
                _shown = None
            self._ending.release()

    def _draw_in_turn(self) -> None:
        seconds = FIRST_SECONDS
        while not self._ending.acquire(True, seconds):
            seconds = INTERVAL_SECONDS
            if self._Bar is None and self._may_draw():
                self._Bar = _bar_class(self.auto, self.terminal)
            if self._Bar is not None:
                self.draw()

    def _may_draw(self) -> bool:
        """Whether bars may be on the screen now: not where another process group has the terminal."""
        if self.hidden():
            return False
        try:
            return systems.in_foreground(self.stream.fileno())
        except (OSError, ValueError):  # a notebook, or a terminal that does not control this process
            return True

    def draw(self) -> None:
        """Draw the bars as things are now."""
        with _lock, contextlib.suppress(OSError, ValueError):  # the terminal is gone
            if _shown is self and self._may_draw():
                self._draw()

    def _draw(self) -> None:
        rows, width = self._rows(), None
        if self.terminal:
            size = os.get_terminal_size(self.stream.fileno())
            columns, lines = size.columns or SIZE[0], size.lines or SIZE[1]
            rows, width = rows[: max(1, lines - 1)], max(1, columns - 1)
            if width != self._width:
                self.erase()  # many terminals break lines that have become too long
        kept = 0
        for (key, _), (part, share, _) in zip(self._bars, rows, strict=False):
            if key != (part, share is None):
                break
            kept += 1
        self._close(kept)
        self._width, self.drawn, self.last = width, self.terminal, time.perf_counter()
        for at, (part, share, words) in enumerate(rows):
            if at >= kept:
                total = None if share is None else 1.0
                options = {"leave": False, "file": self.stream, "ncols": width, "nrows": SIZE[1]}
                bar = self._Bar(total=total, delay=1e-9, **options)  # the delay: not drawn before it is complete
                bar.start_t = time.time() - (self.last - part.began)
                self._bars.append(((part, share is None), bar))
            bar = self._bars[at][1]
            if not bar.disable:  # TQDM_DISABLE
                bar.n, bar.ncols = share or 0.0, width
                _fit(bar, words, width)
                bar.refresh()

    def _rows(self) -> list[tuple[doing, float | None, dict[str, str]]]:
        """Part, share and words of each bar."""
        rows: list[tuple[doing, float | None, dict[str, str]]] = []
        last, names = self._whole, []
        for part in list(self.parts):
            if part.source is None and part.total is None:
                names.append(part.what)
                last = part
            elif part.source is not None or (part.total or 0) > 1:
                name = ", ".join(names) if part.source is None else part.what
                rows.append((part, part.share(), {"desc": name and f"{name}: ", "count": part.count()}))
                names = []
        if names or not rows:
            rows.append((last, self._share_of_gap(), {"desc": ", ".join(names or [last.what]) + ": "}))
        gap, target = self.gap, self.target
        if gap is not None and gap < 1e300:
            rows[-1][2]["gap"] = f"gap {gap:.1e}"
            if target is not None:
                rows[-1][2]["asked"] = f"asked {target:.1e}"
        return rows

    def _share_of_gap(self) -> float | None:
        """The share of the decades from the first gap of a solver to the requested gap."""
        from math import log

        gap, target = self.gap, self.target
        if gap is None or target is None or not 0.0 < target or not gap < 1e300:
            self._largest_gap = 0.0
            return None
        gap = max(gap, target)
        self._largest_gap = max(self._largest_gap, gap)
        return log(self._largest_gap / gap) / log(self._largest_gap / target) if self._largest_gap > target else None

    def erase(self) -> None:
        """Remove the bars from the screen until they are drawn again."""
        if self.drawn:
            self.drawn = False
            if self._may_draw():
                with contextlib.suppress(OSError, ValueError):
                    self.stream.write(ERASE)
                    self.stream.flush()

    def _close(self, kept: int) -> None:
        """Close all bars but the first."""
        while len(self._bars) > kept:
            bar = self._bars.pop()[1]
            if self.terminal and not self.drawn:
                bar.disable = True  # is not on the screen
            bar.total = None  # else a notebook shows that it was not complete
            bar.close()


@contextlib.contextmanager
def cleared(stream: Any) -> Iterator[None]:
    """Within this block text can be written to the stream: the terminal has no bars.

    Afterwards they are drawn again, of many messages by the thread alone.
    """
    run = _shown
    if run is None or not run.terminal or not stream.isatty():  # not locked: a pipe may wait for its reader
        yield
        return
    with _lock:
        drawn = run.drawn
        run.erase()
        yield
        if drawn and time.perf_counter() - run.last > MIN_SECONDS:
            run.draw()


def on_terminal() -> bool:
    """Whether stderr is a terminal that can erase a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _fit(bar: Any, words: dict[str, str], width: int | None) -> None:
    """Give a bar its words, as many as fit."""
    for name, least in LEFT_OUT:
        words = {key: text for key, text in words.items() if key != name}
        bar.desc = words.get("desc", "")
        bar.postfix = ", ".join(text for key, text in words.items() if key != "desc" and text)
        bar.bar_format = NO_BAR if bar.total is None else SHORT if name == "rest" else BAR
        line = bar.format_meter(**{**bar.format_dict, "ncols": None})
        if width is None or len(line) - (0 if bar.total is None else TQDM_BAR - least) <= width:
            break


def _bar_class(auto: bool, terminal: bool) -> Any:
    """tqdm without its monitor thread and its lock for processes, which make threads and semaphores."""
    if auto:
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = 0

    def printer(file: Any) -> Callable[[str], None]:
        """As tqdm's, but erases to the end of the line: blanks would reach beyond a line that has become shorter."""

        def show(text: str) -> None:
            file.write(f"\r{text}\x1b[K\r")
            file.flush()

        return show

    if terminal:
        Bar.status_printer = staticmethod(printer)
    Bar.set_lock(_lock)
    return Bar


def _erase_at_once() -> None:
    """Remove the bars where Ctrl-C ends the process: stderr may be in use."""
    run = _shown
    if run is not None and _lock.acquire(timeout=1.0) and run.drawn and run._may_draw():
        os.write(2, ERASE.encode())


def _after_fork() -> None:
    """The child of a fork has no thread that draws; its copies of bars are not on the screen."""
    global _shown
    if _shown is not None:
        _shown.drawn = False
        for _, bar in _shown._bars:
            bar.disable = True
    _shown = None
    _lock.release()


systems.after_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)
