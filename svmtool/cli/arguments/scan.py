"""Common parts of both command lines: numbers as C reads them, and the scan of the options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from svmtool import registry
from svmtool.errors import SvmtoolError, UsageError, clipped
from svmtool.integers import parse_integer
from svmtool.numbers import parse_prefix
from svmtool.options import check_together, strict_real, value_of
from svmtool.options.train import GONE, LINEAR, LONG, OPTIONS, OWN, SHARE
from svmtool.params import Request, Settings


class Command(NamedTuple):
    """A parsed command line."""

    action: str  # train | adapt | help | version | explain
    settings: Settings
    request: Request = Request()
    data: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()  # messages for stderr


def _is_number(text: str) -> bool:
    try:
        strict_real(text)
    except ValueError:
        return False
    return True


def atoi(text: str) -> int:
    """C's atoi: the integer that `text` begins with, 0 without one; SvmtoolError beyond 32 bits."""
    digits = text.lstrip(" \t\n\v\f\r")
    end = 1 if digits[:1] in ("+", "-") else 0
    while end < len(digits) and "0" <= digits[end] <= "9":
        end += 1
    value = parse_integer(digits[:end]) if digits[:end].strip("+-") else 0
    if not -(2**31) <= value < 2**31:
        raise SvmtoolError(f"ERROR: {clipped(text)}: not an integer of 32 bits")
    return value


VALUELESS = {option.flag[1]: option for option in LINEAR if option.kind is None}
TEXTS = ("help", "help-all", "version")  # actions that print a text and need no data


def no_files(argv: list[str]) -> UsageError:
    """The error for a line without a data file; an empty message where there are no arguments at all."""
    return UsageError("the training file is missing: it comes after the options" if argv else "")


def unknown(argument: str, sentence: str = "unknown option") -> SvmtoolError:
    """The error for an unknown option, with the closest known one, or with what stands in place of a former one."""
    from svmtool.cli import suggestions

    name = argument.partition("=")[0]
    if name in GONE:
        return SvmtoolError(f"ERROR: {name} is gone: {GONE[name]}")
    return UsageError(suggestions.unknown(argument, "svm-train", sentence))


def is_long(argument: str) -> bool:
    """Whether it is a long option of svmtool, with or without =value."""
    return argument.partition("=")[0] in LONG


class Scan:
    """Scan of the options; `i` is the position in argv.

    Attributes
    ----------
    values : fields of Settings and Request by name, as far as options set them
    given : options found, in their order, by their names in error messages
    """

    rows = registry.rows_of(kernel=False)
    letters = {option.flag[1]: option for option in LINEAR}
    long_letters = {option.letter: option for option in OWN if option.letter}
    elsewhere = "needs a kernel: give -t, -g, -d or -r, or remove it"  # error for long options that no row supports

    def __init__(self, argv: list[str]):
        self.argv, self.i = argv, 0
        self.values: dict[str, Any] = {}
        self.given: list[str] = []
        self.notes: list[str] = []
        self.costs: list[float] = []  # values of -c
        self.action = "train"

    def set(self, option: str, **changes: Any) -> None:
        self.given.append(option)
        self.values.update(changes)

    def parts(self) -> tuple[Settings, Request]:
        """The values in their types; of a repeated option the last, which is noted for -c."""
        if len(costs := sorted({*self.costs})) > 1:
            grid = f"; to compare them use --grid C={','.join(f'{C:g}' for C in costs)}"
            hint = grid if registry.anywhere("--grid", self.rows) else ""
            self.notes.append(f"WARNING: several -c: the last one, {self.costs[-1]:g}, is used{hint}")
        own = {name: value for name, value in self.values.items() if name in Request._fields}
        fields = {name: value for name, value in self.values.items() if name not in own}
        theta = fields.pop("theta", None)
        settings = self.settings(fields)
        if theta is not None and registry.anywhere("--theta", [settings.row]):
            settings = settings.with_theta(theta)
        return settings, Request(given=tuple(self.given), **own)

    def settings(self, values: dict[str, Any]) -> Settings:
        if values.get("eps") == float("inf"):  # LIBLINEAR's value for "not given"
            del values["eps"]
        method = "fast" if values.get("auto") else registry.default_method(values.get("solver", 1))
        return Settings.of(**{"method": method, **values})

    def run(self) -> None:
        """Scan; self.i ends at the data file."""
        while self.i < len(self.argv):
            argument = self.argv[self.i]
            if is_long(argument):
                self.long(argument)
                if self.action in TEXTS:
                    return
            elif argument.startswith("-") and argument != "-":
                if self.i + 1 >= len(self.argv):
                    raise self.last(argument)
                self.short(argument)
            else:
                return

    def last(self, argument: str) -> SvmtoolError:
        """The error for an option that no argument follows."""
        letter = argument[1]
        if letter in self.letters and self.letters[letter].kind is None:
            return no_files(self.argv)
        if letter in self.letters or letter in self.long_letters:
            return UsageError(f"-{letter} needs a value")
        return unknown(argument)

    def long(self, argument: str) -> None:
        option = LONG[argument.partition("=")[0]]
        if option.setting and not registry.anywhere(option.flag, self.rows):
            raise SvmtoolError(f"ERROR: {option.flag} {self.elsewhere}")
        value, self.i = value_of(option, self.argv, self.i)
        if not option.setting:
            self.action = option.flag[2:]
            return
        self.set(option.flag, **{option.setting: value})
        if option.more and self.i < len(self.argv) and _is_number(self.argv[self.i]):
            self.values[option.more] = SHARE.read(f"{option.flag}: SHARE", self.argv[self.i])
            self.i += 1

    def number(self, option: str, text: str, whole: bool = False) -> Any:
        """The number as C reads it, with a warning where C reads only the beginning of the text."""
        value = atoi(text) if whole else parse_prefix(text)
        if option == "-c":
            self.costs.append(value)
        try:
            parse_integer(text.strip()) if whole else strict_real(text)
        except ValueError:
            self.notes.append(f"WARNING: {option} {clipped(text)}: read as {value:g}")
        return value

    def short(self, argument: str) -> None:
        """Read a short option: the second character names it, the next argument is its value."""
        letter, value = argument[1], self.argv[self.i + 1]
        name, option = "-" + letter, self.letters.get(letter)
        if option is None:
            self.long_letter(argument, value)
        elif option.kind is None:
            self.set(name, **{option.setting: option.sets})
        elif letter == "s":
            self.set(name, **self.solver(value))
        elif letter == "w":
            weight = atoi(argument[2:]), self.number(argument, value)
            self.set(name, class_weights=(*self.values.get("class_weights", ()), weight))
        else:
            found = self.number(name, value, whole=option.kind.python is not float)
            if letter == "v" and found < 2:
                raise UsageError("n-fold cross validation: n must >= 2")
            self.set(name, **{option.setting: found})
        self.i += 1 if option is not None and option.kind is None else 2

    def long_letter(self, argument: str, value: str) -> None:
        """Read the short name of a long option."""
        option = self.long_letters.get(argument[1])
        if option is None:
            raise self.unknown(argument, value)
        assert option.kind is not None
        found = option.kind.read(argument[:2], value)
        self.set(option.flag, **{option.setting: self.threads(found) if option.letter == "m" else found})

    def solver(self, value: str) -> dict[str, Any]:
        """What -s VALUE sets."""
        name = value.strip()
        if name == "auto":
            return {"auto": True}
        number = registry.find(name).number if name[:1].isalpha() else self.number("-s", value, whole=True)
        return {"auto": False, "solver": number}

    def threads(self, wanted: Any) -> int:
        """The threads of -m, at most the cores: in LIBSVM's lines it is the cache, of many MB."""
        import os

        cores = os.cpu_count() or 1
        if wanted > cores:
            self.notes.append(f"WARNING: -m {wanted}: {cores} threads are used (LIBSVM's cache size needs -t)")
        return min(wanted, cores)

    def unknown(self, argument: str, value: str) -> SvmtoolError:
        """The error for a short option of another program."""
        if argument[1] == "M":
            return SvmtoolError("ERROR: -M is an option of multi-core LIBLINEAR: use --threads N")
        return unknown(argument)


def training(settings: Settings, request: Request, files: list[str], notes: tuple[str, ...]) -> Command:
    """The Command to train on files[0] into files[1], or into the default model."""
    for argument in files[1:2]:
        if is_long(argument):  # a misplaced option; LIBLINEAR does write to a file named `-s`
            raise SvmtoolError(f"ERROR: {argument} must come before the data file")
    model = files[1] if len(files) > 1 else default_model(files[0])
    if len(files) > 1 and model.startswith("-") and model != "-":
        notes += (f"WARNING: options come before the data file: {clipped(model)} is taken as the name of the model",)
    elif len(files) > 2:
        notes += (f"WARNING: {clipped(' '.join(files[2:]))} after the model file has no effect",)
    return Command("train", settings, request, files[0], model, notes)


def default_model(data: str) -> str:
    """The default name of the model: DATA.model in the current directory, as in LIBLINEAR; stdin.model for `-`."""
    return ("stdin" if data == "-" else data.rpartition("/")[2]) + ".model"


def unsupported(row: registry.Solver, option: str, find: Callable[..., Any], advice: str = "") -> SvmtoolError:
    """The error for an option that a row lacks; find: of the other method's row, which may have it."""
    other = "fast" if row.printed else "paper"
    same = find(row.number, other)
    if same is not None and same is not row and option in registry.supported_options(same):
        advice = f"use --method {other}"
    method = " --method paper" if row.printed else ""
    hint = f": {advice}" if advice else ""
    return SvmtoolError(f"ERROR: solver {row.number} ({row.name}){method} does not support {option}{hint}")


def check(request: Request, printed: bool) -> None:
    """Raise for options that others exclude, or that lack one; printed: of a paper's algorithm --gap is no rule."""
    given = {*request.given, *(("-s auto",) if request.auto else ())}
    rules = [option for option in ("-e", "--theta", *(() if printed else ("--gap",))) if option in given]
    if len(rules) > 1:
        raise SvmtoolError(f"ERROR: {rules[0]} and {rules[1]} are both stopping rules: give one of them")
    check_together(given, OPTIONS)
    if given.issuperset(("--plot", "-v")) and given.isdisjoint(("-C", "--grid")):  # with these -v is their folds
        raise SvmtoolError("ERROR: --plot cannot be combined with -v")
