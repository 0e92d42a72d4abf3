"""svm-scale: scales features and labels as LIBSVM does, byte for byte, in two passes over the file."""

from __future__ import annotations

from svmtool.cli import checks
from svmtool.cli.console import Console
from svmtool.errors import SvmtoolError, UsageError, clipped
from svmtool.numbers import parse_prefix
from svmtool.options import value_of
from svmtool.options.scale import OPTIONS

LETTERS = {option.flag[1]: option for option in OPTIONS if not option.flag.startswith("--")}
LONG = {option.flag: option for option in OPTIONS if option.flag.startswith("--")}


class Options:
    """The parsed command line."""

    def __init__(self):
        self.lower, self.upper = -1.0, 1.0
        self.y: tuple[float, float] | None = None
        self.save: str | None = None
        self.restore: str | None = None
        self.threads: int | None = None
        self.file = ""


def parse(argv: list[str]) -> Options | str:
    """Parse the arguments; returns the options, or the text of --help or --version.

    As in LIBSVM, only the second character of an option counts, its value is the next argument, the last of repeated
    options wins, and options end at the first other argument.  Raises UsageError (an empty text: usage only).
    """
    options = Options()
    i = 0
    while i < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        word, letter, i = argv[i], argv[i][1], i + 1
        if letter == "-":
            option = LONG.get(word.partition("=")[0])
            if option is None:
                raise _unknown(word)
            value, i = value_of(option, argv, i - 1)
            if option.flag == "--help":
                from svmtool.cli import help_texts

                return help_texts.command_help("svm-scale")
            if option.flag == "--version":
                from svmtool import __version__

                return f"svm-scale (svmtool) {__version__}\n"
            setattr(options, option.setting, value)
            continue
        if letter not in LETTERS:
            raise _unknown(word)
        values = argv[i : i + 2 if letter == "y" else i + 1]
        i += 2 if letter == "y" else 1
        if i > len(argv):
            if letter in "sr":
                break  # LIBSVM checks the limits first
            raise UsageError(f"-{letter} needs {'two values' if letter == 'y' else 'a value'}")
        read = values if letter in "sr" else list(map(parse_prefix, values))
        setattr(options, LETTERS[letter].setting, tuple(read) if letter == "y" else read[0])
    if not options.upper > options.lower or (options.y and not options.y[1] > options.y[0]):
        raise SvmtoolError("inconsistent lower/upper specification")
    if options.save is not None and options.restore is not None:
        raise SvmtoolError("cannot use -r and -s simultaneously")
    if i + 1 != len(argv):
        raise UsageError(_wrong_files(argv, i))
    if not all(map(_finite, (options.lower, options.upper, *(options.y or ())))):
        raise SvmtoolError("inconsistent lower/upper specification: a limit is not finite")
    options.file = argv[i]
    if options.file == options.restore == "-":
        raise SvmtoolError("the data and -r cannot both be standard input")
    checks.refuse_overwriting(
        [("the data", options.file), ("-r", options.restore)], [("-s", options.save), ("the scaled rows", "-")]
    )
    return options


def _unknown(word: str) -> UsageError:
    from svmtool.cli.suggestions import unknown

    return UsageError(unknown(word, "svm-scale"))


def _wrong_files(argv: list[str], first: int) -> str:
    """Why the arguments from `first` on are not one data file; empty where there are no arguments at all."""
    if not argv:
        return ""
    if first > len(argv):
        return f"{argv[-1]} needs a file name"
    if first == len(argv):
        return "the data file is missing: it comes after the options"
    return f"one data file is expected, but {clipped(argv[first + 1])} follows {clipped(argv[first])}"


def _finite(x: float) -> bool:
    return x - x == 0.0


def main(argv: list[str]) -> int:
    """Run svm-scale with these arguments (without the program's name); returns the exit status."""
    console = Console()

    def work() -> int:
        options = parse(argv)
        if isinstance(options, str):
            console.out(options)
            return 0
        if options.threads is not None:
            from svmtool.compiled import threads

            threads.set_count(options.threads)
        from svmtool.scaling import rescale

        console.fills_stdout()
        if rescale.run(options, console.warn):
            console.warn(
                f"WARNING: each feature of {options.file} has a single value, and such features are left out: scale "
                "new rows by the ranges of the training data (svm-scale -s RANGES TRAINING_DATA, then -r RANGES)"
            )
        return 0

    def usage() -> str:
        from svmtool.cli import help_texts

        return help_texts.command_usage("svm-scale")

    return console.run(work, usage)
