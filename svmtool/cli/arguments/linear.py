"""The command line of svm-train, read as LIBLINEAR reads it.

LIBLINEAR looks at the one character after the dash and takes the next argument
as its value, whatever that is (`-s2 -q d` means: -s with the value `-q`).
Scripts live with this, so it stays.  Our own long options are whole words, take
`--name value` or `--name=value`, and may stand anywhere before the data file.

Checks that LIBLINEAR makes only after it has read the data are in
`settings.check_after_reading`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from svmtool import registry
from svmtool.cli.arguments.long_options import LONG_OPTIONS
from svmtool.errors import SvmtoolError, UsageError, clipped
from svmtool.integers import parse_integer
from svmtool.params import Settings

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from svmtool.kernel_params import KernelSettings


class Command(NamedTuple):
    """What a command line asks for."""

    action: str  # train | adapt | help | version | explain
    settings: Settings | KernelSettings
    data: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()  # sentences for stderr that stop nothing


def strict_int(text: str) -> int:
    """The integer that `text` is as a whole; ValueError where C would take its beginning only."""
    return parse_integer(text.strip())


def strict_real(text: str) -> float:
    """The number that `text` is as a whole; ValueError where C would take its beginning only."""
    if "_" in text:  # Python reads 1_000, C does not
        raise ValueError(text)
    return float(text)


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


def atof(text: str) -> float:
    """C's atof: the number that `text` begins with (decimal, hexadecimal, inf or nan), 0 without one."""
    try:
        return strict_real(text)
    except ValueError:
        pass
    import re

    decimal = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
    hexadecimal = r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    found = re.match(rf"[ \t\n\v\f\r]*([+-]?(?:({hexadecimal})|{decimal}|inf|nan))", text, re.ASCII | re.IGNORECASE)
    if not found:
        return 0.0
    try:
        return float.fromhex(found[1]) if found[2] else float(found[1])
    except OverflowError:
        return float("-inf" if found[1].startswith("-") else "inf")


_LETTERS = {option.letter: name for name, option in LONG_OPTIONS.items() if option.letter}
_REALS = {"c": "C", "p": "p", "n": "nu", "e": "eps", "B": "bias"}
VALUELESS: dict[str, dict[str, Any]] = {
    "q": {"quiet": True},
    "C": {"find_C": True},
    "R": {"regularize_bias": False},
}
_CHOOSES_KERNEL = "tgdr"


def is_long(argument: str) -> bool:
    """Whether it is one of our own options, with or without =value."""
    return argument.partition("=")[0] in LONG_OPTIONS


def is_kernel_line(argv: list[str]) -> bool:
    """Whether the arguments are LIBSVM's: -t, -g, -d or -r is there, or a -s that is for kernels alone."""
    i, solver = 0, ""
    while i + 1 < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        if is_long(argv[i]):
            i += 1 if "=" in argv[i] or LONG_OPTIONS[argv[i]].read is None else 2
            continue
        if argv[i][1] in _CHOOSES_KERNEL:
            return True
        if argv[i][1] == "s":
            solver = argv[i + 1].strip()
        i += 1 if argv[i][1] in VALUELESS else 2
    linear = {row.number for row in registry.SOLVERS if row.number >= 30}
    rows = [row for row in registry.KERNEL_SOLVERS if row.number not in linear]
    return any(solver == row.name or (solver == str(row.number) and row.number >= 30) for row in rows)


class Scan:
    """The arguments up to the data file, turned into settings."""

    elsewhere = "is for kernels: give -t, -g, -d or -r, or leave it out"  # what is said of options that belong there

    def __init__(self, argv: list[str]):
        self.argv, self.i = argv, 0
        self.settings = Settings()
        self.given: list[str] = []  # options met, by the name that error sentences use
        self.notes: list[str] = []
        self.action = "train"

    def set(self, option: str, **changes: Any) -> None:
        self.given.append(option)
        self.settings = self.settings._replace(**changes)

    def run(self) -> None:
        """Scan; self.i ends at the data file."""
        while self.i < len(self.argv):
            argument = self.argv[self.i]
            if is_long(argument):
                self.long(argument)
                if self.action in ("help", "version"):
                    return
            elif argument.startswith("-") and argument != "-":
                if self.i + 1 >= len(self.argv):
                    raise UsageError("")
                self.short(argument)
            else:
                return

    def long(self, argument: str) -> None:
        name, equals, value = argument.partition("=")
        self.i += 1
        option = LONG_OPTIONS[name]
        if option.setting and option.setting not in self.settings._fields:
            raise SvmtoolError(f"ERROR: {name} {self.elsewhere}")
        if option.read is None:
            if equals:
                raise SvmtoolError(f"ERROR: {name} takes no value")
            if option.setting:
                self.set(name, **{option.setting: True})
            else:
                self.action = name[2:]
            return
        if not equals:
            if self.i >= len(self.argv):
                raise SvmtoolError(f"ERROR: {name} needs a value: {name} {option.metavar}")
            value = self.argv[self.i]
            self.i += 1
        self.set(name, **{option.setting: option.read(name, value)})

    def number(self, option: str, text: str, read: Callable[[str], Any], strict: Callable[[str], Any]) -> Any:
        """A value as C reads it; a note says so where C takes only the beginning of the text."""
        value = read(text)
        try:
            strict(text)
        except ValueError:
            self.notes.append(f"WARNING: {option} {clipped(text)}: read as {value:g}")
        return value

    def folds(self, text: str) -> int:
        """The number of -v."""
        folds = self.number("-v", text, atoi, strict_int)
        if folds < 2:
            raise UsageError("n-fold cross validation: n must >= 2")
        return folds

    def class_weight(self, argument: str, text: str) -> tuple[int, float]:
        """Label and factor of -wLABEL FACTOR."""
        return atoi(argument[2:]), self.number(argument, text, atof, strict_real)

    def short(self, argument: str) -> None:
        """One of LIBLINEAR's options: its second character decides, its value is the next argument."""
        letter, value = argument[1], self.argv[self.i + 1]
        option = "-" + letter
        self.i += 1 if letter in VALUELESS else 2
        if letter == "s":
            name = value.strip()
            if name == "auto":
                self.set(option, auto=True, solver_given=True)
                return
            number = registry.find(name).number if name[:1].isalpha() else self.number(option, value, atoi, strict_int)
            self.set(option, auto=False, solver=number, solver_given=True)
        elif letter == "v":
            self.set(option, folds=self.folds(value))
        elif letter == "w":
            self.set(option, class_weights=(*self.settings.class_weights, self.class_weight(argument, value)))
        elif letter in _REALS:
            x = self.number(option, value, atof, strict_real)
            changes: dict[str, Any] = {_REALS[letter]: x}
            if letter in "cpB":
                changes[_REALS[letter] + "_given"] = True
            if letter == "e" and x == float("inf"):  # LIBLINEAR's mark for "not given"
                changes["eps"] = None
            self.set(option, **changes)
        elif letter in VALUELESS:
            self.set(option, **VALUELESS[letter])
        elif letter in _LETTERS:
            name = _LETTERS[letter]
            long = LONG_OPTIONS[name]
            assert long.read is not None
            self.set(name, **{long.setting: long.read(option, value)})
        elif letter in "mM":
            raise SvmtoolError(f"ERROR: {option} is an option of another edition: use --threads N")
        else:
            shown = argument if argument.startswith("--") else option
            raise UsageError(f"unknown option: {shown}")


def parse(argv: list[str]) -> Command:
    """Read the arguments (without the program's name).

    UsageError: LIBLINEAR would print its usage.  SvmtoolError: one sentence says what is wrong.
    """
    if is_kernel_line(argv):
        from svmtool.cli.arguments import kernel

        return kernel.parse(argv)
    scan = Scan(argv)
    scan.run()
    if scan.action in ("help", "version"):
        return Command(scan.action, scan.settings)
    files = argv[scan.i :]
    adapts = scan.settings.add is not None or scan.settings.remove is not None
    if not files and scan.action == "train" and not adapts:
        raise UsageError("")
    settings, search_note = _choose_for_search(scan.settings)
    notes = (*scan.notes, *search_note)
    if settings.auto:
        settings = settings._replace(given=tuple(scan.given))
    else:
        settings = settings.with_default_bias()
        _check_solver(settings, scan.given)
    if scan.action == "explain":
        if settings.auto:
            raise SvmtoolError("ERROR: -s auto chooses when it has read the data: --explain wants a number or a name")
        return Command("explain", settings, notes=notes)
    if adapts:
        if settings.spark is not None:
            _check_spark(settings)
        from svmtool.cli.arguments import adapting

        return adapting.command(settings, scan.given, files, notes)
    command = training(settings, files, notes)
    check_stopping(scan.given)
    _check_combinations(settings)
    return command


def training(settings: Any, files: list[str], notes: tuple[str, ...]) -> Command:
    """The Command to train on files[0] into files[1], or into the default model."""
    for argument in files[1:2]:
        if is_long(argument):  # a model file of this name is a slip; `-s` is not refused: LIBLINEAR writes to it
            raise SvmtoolError(f"ERROR: {argument} stands after the data file: options come before it")
    model = files[1] if len(files) > 1 else default_model(files[0])
    return Command("train", settings, files[0], model, notes)


def default_model(data: str) -> str:
    """The model's name where none is given: in the current directory, as LIBLINEAR does it; `stdin` for `-`."""
    return ("stdin" if data == "-" else data.rpartition("/")[2]) + ".model"


def _choose_for_search(settings: Settings) -> tuple[Settings, tuple[str, ...]]:
    """-C: without -s it takes -s 2, and not every solver has it."""
    if not settings.find_C:
        return settings, ()
    if settings.auto:
        return settings, ()
    if not settings.solver_given:
        return settings._replace(solver=2), ("Solver not specified. Using -s 2",)
    ours = [row.number for row in registry.supporting("-C")]
    if settings.solver not in (0, 2, 11) and settings.solver not in ours:
        raise UsageError("Warm-start parameter search only available for -s 0, -s 2 and -s 11")
    return settings, ()


def _check_solver(settings: Settings, given: list[str]) -> None:
    """Refuse options that the chosen solver does not honour.

    A number in no list at all passes: LIBLINEAR speaks of it only after it has read the data.
    Under its own numbers -R too is judged then, and -p and -n are read where they mean nothing, as there.
    """
    row = next((r for r in registry.SOLVERS if r.number == settings.solver), None)
    if row is None:
        return
    for option in given:
        if option in registry.supported_options(row) or (option == "-R" and row.number < 30):
            continue
        if option == "--probability" and not settings.probability:  # says what is so
            continue
        if option == "--initial-model" and (settings.add or settings.remove):  # the model to change, no start
            continue
        if option == "-B" and (settings.bias < 0 or row.number < 30):  # says what is so, or is judged then as well
            continue
        if option in ("-p", "-n") and row.number < 30:
            continue
        able = registry.supporting(option)
        if option == "-B":
            raise SvmtoolError(f"ERROR: solver {row.number} ({row.name}) does not honour -B: {row.bias}")
        advice = f"use -s {registry.in_words(able)}" if able else "no solver of this version does"
        same = [other for other in able if option == "--spark" and registry.same_problem(other, row)]
        if same:
            advice = f"-s {registry.in_words(same)} solves the same problem there"
        raise SvmtoolError(f"ERROR: solver {row.number} ({row.name}) does not honour {option}: {advice}")


def _check_combinations(settings: Settings) -> None:
    """Options that would be ignored beside others are refused."""
    s = settings
    if s.mu is not None and not s.auto and isinstance(s.mu, float) != ("--no-homotopy" in s.row.supported):
        wanted = "a number > 0" if isinstance(s.mu, str) else "merit or geometric"
        raise SvmtoolError(f"ERROR: --mu {s.mu}: -s {s.row.number} ({s.row.name}) wants {wanted}")
    if not s.auto and s.mu == "balance" and "--inner-steps" not in s.row.supported:
        able = registry.in_words(registry.supporting("--inner-steps"))
        raise SvmtoolError(f"ERROR: --mu balance is a way of -s {able}: give merit or geometric")
    validating = "-C" if s.find_C else "-v" if s.folds is not None else ""
    if s.spark is not None:
        _check_spark(s)
    if s.stratified and not validating:
        raise SvmtoolError("ERROR: --stratified needs -v or -C: it says how folds are drawn")
    if s.memory is None and (s.scratch or s.no_cache):
        raise SvmtoolError("ERROR: --scratch and --no-cache say what becomes of rows on disk: --memory puts them there")
    if s.every_rows is not None or s.every_seconds is not None:
        raise SvmtoolError("ERROR: --every-rows and --every-seconds say how often --add - writes the model")
    if validating and s.initial_model is not None:
        raise _of_one_model("--initial-model", validating)
    check_validation(s, validating)


def _check_spark(s: Settings) -> None:
    """Refuse what --spark cannot do."""
    others = {
        "-s auto": s.auto, "--loo": s.loo,
        "--memory": s.memory is not None, "--threads": s.threads is not None,
        "--add": s.add is not None, "--remove": s.remove is not None, "--no-homotopy": s.no_homotopy,
    }  # fmt: skip
    for name, given in others.items():
        if given:
            raise SvmtoolError(f"ERROR: --spark trains one model on rows that lie in executors: not with {name}")


def check_stopping(given: list[str]) -> None:
    """Refuse two options, of those given, that say when to stop."""
    rules = [option for option in ("-e", "--theta", "--gap") if option in given]
    if len(rules) > 1:
        raise SvmtoolError(f"ERROR: {rules[0]} and {rules[1]} both say when to stop: give one of them")


def check_validation(settings: Any, validating: str) -> None:
    """Refuse what -v or -C (`validating`, empty for neither) leaves without a run to tell of."""
    loo = getattr(settings, "loo", False) or None
    for name, value in (("--solver-log", settings.solver_log), ("--plot", settings.plot), ("--loo", loo)):
        if validating and value is not None:
            raise _of_one_model(name, validating)


def _of_one_model(name: str, validating: str) -> SvmtoolError:
    return SvmtoolError(f"ERROR: {name} belongs to a run that trains one model: not with {validating}")
