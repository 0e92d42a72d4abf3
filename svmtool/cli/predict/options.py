"""The command line of svm-predict, parsed as LIBLINEAR's predict does."""

from __future__ import annotations

from svmtool.cli import checks
from svmtool.errors import SvmtoolError, UsageError

BRIEF = """\
Usage: {} [options] test_file model_file output_file
svm-predict --help lists the options
"""


class Options:
    """The parsed command line; `page` is the text of --help or --version, if given."""

    def __init__(self) -> None:
        self.probabilities = self.quiet = self.metrics = False
        self.row_names = self.certified = False
        self.labelled = True  # the rows of the test file have labels
        self.scores: str | None = None
        self.names: str | None = None
        self.spark: str | None = None
        self.threads: int | None = None
        self.top: int | None = None
        self.files: list[str] = []
        self.ignored: list[str] = []  # arguments after the files
        self.page: str | None = None


def parse(argv: list[str], libsvm: bool = False) -> Options:
    """Parse the arguments as LIBLINEAR's predict does: only the character after the dash counts.

    libsvm: with LIBSVM's texts; the output file is required.
    Raises UsageError (an empty text: usage only), or SvmtoolError for svmtool's own options.
    """
    options, given = Options(), set[str]()
    i = 0
    while i < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        word, i = argv[i], i + 1
        if word.startswith("--"):
            i = _long(options, argv, i - 1, given)
            if options.page is not None:
                return options
        elif word[1] == "q":
            options.quiet = True
        elif word[1] == "b":
            if i == len(argv):
                raise UsageError("-b needs a value: 0 or 1")
            from svmtool.numbers import parse_int_prefix

            options.probabilities = parse_int_prefix(argv[i]) != 0
            i += 1
        else:
            raise _unknown(word, libsvm)
    options.files, options.ignored = argv[i : i + 3], argv[i + 3 :]
    if len(options.files) < (3 if libsvm else 2):
        missing = ("test_file", "model_file", "output_file")[len(options.files)]
        raise UsageError(f"{missing} is missing: the files are test_file model_file output_file" if argv else "")
    if options.files[:2] == ["-", "-"]:
        raise SvmtoolError("ERROR: test_file and model_file cannot both be standard input")
    test, model, output = [*options.files, None][:3]
    if options.scores is not None and options.scores == output:
        raise SvmtoolError(f"ERROR: --scores and output_file are both {options.scores}")
    if given:
        from svmtool.options import check_together
        from svmtool.options.predict import OPTIONS

        check_together(given, OPTIONS)
    checks.refuse_overwriting(
        [("test_file", test), ("model_file", model), ("--names", options.names)],
        [("output_file", output), ("--scores", options.scores)],
    )
    return options


def _unknown(word: str, libsvm: bool) -> UsageError:
    from svmtool.cli.suggestions import unknown

    return UsageError(unknown(word, "svm-predict", "Unknown option" if libsvm else "unknown option"))


def _long(options: Options, argv: list[str], i: int, given: set[str]) -> int:
    """Read svmtool's own option argv[i] and add it to those given; returns the index after it and its value."""
    from svmtool.options import value_of
    from svmtool.options.predict import OPTIONS

    name = argv[i].partition("=")[0]
    option = next((option for option in OPTIONS if option.flag == name), None)
    if option is None:
        raise _unknown(argv[i], False)
    value, i = value_of(option, argv, i)
    if name == "--help":
        from svmtool.cli.help_texts import command_help

        options.page = command_help("svm-predict")
    elif name == "--version":
        from svmtool import __version__

        options.page = f"svm-predict (svmtool) {__version__}\n"
    else:
        setattr(options, option.setting, value)
        given.add(name)
    if name == "--row-names":
        from svmtool.formats.svmlight import additions

        if not additions.tolerant:
            raise SvmtoolError("ERROR: --row-names needs svm-predict, which reads the text after #")
    return i
