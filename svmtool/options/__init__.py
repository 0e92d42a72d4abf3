"""The table of options: one record for each option of svm-train, svm-predict and svm-scale.

From it come the parsing of the commands, the ranges of values and their messages, --help, the man pages, the tables of
docs/options.md, the completion of the shells, the suggestions for misspelt options, and the keywords of the Python
interface with their types.  Which solvers support an option stands in the registry's rows.

train.py, predict.py and scale.py have the records.  Importing them imports neither numpy nor click.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from svmtool.errors import SvmtoolError, clipped
from svmtool.integers import parse_integer


def strict_real(text: str) -> float:
    """Parse all of `text` as a number; ValueError where C would read only its beginning."""
    if "_" in text or not text.isascii():  # Python reads 1_000 and digits of other scripts, C does not
        raise ValueError(text)
    return float(text)


class Kind(NamedTuple):
    """What the values of an option are, on command lines and in Python."""

    text: str  # what a value must be, for messages; each {} is one of `names`
    python: type = str  # its type; object: the Python interface checks it in its own way
    holds: Callable[[Any], bool] = bool  # whether a value of that type is in the range
    names: tuple[str, ...] = ()  # words that are values; of a bool those of False and True
    parse: Callable[[str], Any] = str  # the value of another text; ValueError where it has none
    least: int = 0  # of integers
    former: tuple[tuple[str, str], ...] = ()  # words of earlier versions, and those in their place
    squared: bool = False  # whether problems square it

    def must(self, show: Callable[[str], str] = str) -> str:
        """What a value must be; show: how a name is written."""
        return self.text.format(*map(show, self.names))

    def read(self, name: str, text: str) -> Any:
        """The value of a text for the option `name`; SvmtoolError for a text that has none."""
        if text in self.names:
            return text == self.names[1] if self.python is bool else text
        try:
            value = self.parse(text)
            if self.holds(value):
                return value
        except (ValueError, OverflowError):
            pass
        for word, instead in self.former:
            if word == text:
                raise SvmtoolError(f"ERROR: {name} {word} is gone: use {name} {instead}")
        wrong = f"{name} {clipped(text)}: must be" if text else f"{name} needs"
        raise SvmtoolError(f"ERROR: {wrong} {self.must()}")


class Option(NamedTuple):
    """One option of a command."""

    flag: str
    help: str
    kind: Kind | None = None  # None: it takes no value
    metavar: str = ""
    setting: str = ""  # the field that it sets; empty: the command prints a text and ends
    keyword: str = ""  # of the Python interface
    letter: str = ""  # short name, as in other versions of LIBLINEAR
    sets: Any = True  # the value of an option that takes none
    more: str = ""  # the field that a second value, a share, sets where one follows
    needs: tuple[str, ...] = ()  # it needs one of these
    excludes: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()  # names that users try and that do not exist: messages suggest this option instead

    @property
    def name(self) -> str:
        """The name in messages and in the registry's rows: -w without its label."""
        return self.flag if self.flag.startswith("--") else self.flag[:2]

    @property
    def usage(self) -> str:
        """The flag with its value: `-W, --weights FILE`."""
        return f"{f'-{self.letter}, ' if self.letter else ''}{self.flag} {self.metavar}".strip()

    @property
    def advice(self) -> str:
        """What to write: the flag; with 1 where it is 0 or 1."""
        return f"{self.flag} 1" if self.metavar == "0|1" else self.flag


def own(flag: str, help: str, kind: Kind | None = None, metavar: str = "", **more: Any) -> Option:
    """Return an option that sets the field of its own name."""
    return Option(flag, help, kind, metavar, **{"setting": flag[2:].replace("-", "_"), **more})


def value_of(option: Option, argv: list[str], i: int) -> tuple[Any, int]:
    """What the long option argv[i] sets, and the index behind its value; SvmtoolError for a wrong value."""
    name, equals, text = argv[i].partition("=")
    i += 1
    if option.kind is None:
        if equals:
            raise SvmtoolError(f"ERROR: {name} takes no value")
        return option.sets, i
    if not equals:
        if i == len(argv):
            raise SvmtoolError(f"ERROR: {name} needs a value: {option.flag} {option.metavar}")
        text, i = argv[i], i + 1
    return option.kind.read(name, text), i


def check_together(given: Collection[str], options: Iterable[Option]) -> None:
    """Raise for an option without one that it needs, and for one with another that it excludes."""
    for option in options:
        if option.flag not in given:
            continue
        if option.needs and not any(name.split()[0] in given for name in option.needs):
            raise SvmtoolError(f"ERROR: {option.flag} needs {in_words(option.needs)}")
        for name in option.excludes:
            if name in given:
                raise SvmtoolError(f"ERROR: {option.flag} cannot be combined with {name}")


def in_words(texts: Sequence[str]) -> str:
    """Return `a, b or c`."""
    return f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def number(text: str, holds: Callable[[float], bool] = lambda value: True, **more: Any) -> Kind:
    """Return the numbers in a range."""
    return Kind(text, float, holds, parse=strict_real, **more)


def whole(least: int, infinite: bool = False) -> Kind:
    """Return the integers of 64 bits from `least` on; infinite: inf, too."""

    def parse(text: str) -> float:
        return math.inf if infinite and text.strip().lower() == "inf" else parse_integer(text.strip())

    def holds(value: float) -> bool:
        return least <= value < 2**63 or (infinite and value == math.inf)

    return Kind(f"an integer >= {least}{', or inf' * infinite}", int, holds, parse=parse, least=least)


def one_of(*names: str, python: type = str) -> Kind:
    """Return a choice of words; of a bool those of False and True."""
    text = " or ".join(["{}"] * len(names)) if len(names) < 3 else "one of " + ", ".join(["{}"] * len(names))
    return Kind(text, python, lambda value: value in names, names)


COUNT = whole(1)
POSITIVE = number("a number > 0", lambda value: 0.0 < value < math.inf)
FILE = Kind("a file name")
MASTER = Kind("a master's URL")  # of Spark
LAST = (  # of svm-predict and svm-scale
    own("--threads", "use N threads (default: all cores, or OMP_NUM_THREADS)", COUNT, "N"),
    Option("--version", "print the version and exit"),
    Option("--help", "print this page and exit"),
)
