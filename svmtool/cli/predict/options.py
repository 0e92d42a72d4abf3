"""The command line of svm-predict, parsed as LIBLINEAR's predict does."""

from __future__ import annotations

from svmtool.cli import checks
from svmtool.errors import SvmtoolError, UsageError, clipped
from svmtool.integers import parse_count

BRIEF = """\
Usage: {} [options] test_file model_file output_file
svm-predict --help lists the options
"""
USAGE = """\
Usage: {} [options] test_file model_file output_file
options:
-b 0|1 : write probabilities (logistic models and models of svm-train -b 1; default 0)
-q : quiet mode (no result lines)
svm-predict --help lists the long options
"""
HELP = """\
Usage: svm-predict [options] test_file model_file output_file

Predicts the rows of a LIBSVM text file with a model of svm-train, LIBLINEAR or
LIBSVM, and prints the accuracy (or the errors of a regression).

test_file may be - (standard input) or a pipe, and compressed by gzip, bzip2, xz
or zstd; output_file may be - (standard output).  Options come before the files.

  -b 0|1           write probabilities (logistic models and models trained
                   with -b 1; default 0)
  -q               quiet: no accuracy or error lines
  --scores FILE    also write the decision values: one line per row, separated
                   by blanks (kernel models: one value for each pair of classes)
  --certified      print how many labels are those of the exact optimum for
                   sure; --scores FILE has 1 for these, else 0, in a last
                   column (linear classifiers whose bias is regularised)
  --metrics        print precision, recall and F1 of each class and their means;
                   the area under the ROC curve (two classes, or one-class,
                   where rows not labelled 1 count as outliers); mean
                   absolute error in ranks (models of -s 43); mean
                   absolute error and R2 (regression); micro and macro F1 and
                   precision at 1, 3 and 5 (models of --multilabel)
  --top N          of a model of svm-train --multilabel: write the N labels of
                   the largest decision values of each row
  --names FILE     write the strings of labels that FILE (DATA.names of svmtool
                   convert) has for the integers; fields separated by tabs
  --row-names      write the text after # of each row behind its prediction,
                   after a tab
  --no-labels      the rows of test_file begin with index:value or nan: no
                   accuracy is printed (without it, rows may begin with nan)
  --threads N      use N threads (default: all cores, or OMP_NUM_THREADS)
  --spark MASTER   predict with Spark (local[N], spark://HOST:PORT, yarn, ..):
                   test_file is a file, directory or pattern as Spark reads
                   them, output_file and --scores name new directories, whose
                   part files hold the lines in the order of the input
  --version, --help
"""
VALUED = ("--scores", "--names", "--threads", "--spark", "--top")


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
    options = Options()
    i = 0
    while i < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        word, i = argv[i], i + 1
        if word.startswith("--"):
            i = _long(options, argv, word, i)
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
    if not options.labelled and (options.metrics or options.spark is not None):
        other = "--metrics" if options.metrics else "--spark"
        raise SvmtoolError(f"ERROR: --no-labels cannot be combined with {other}")
    for name, given in (
        ("--names", options.names is not None), ("--row-names", options.row_names), ("--top", options.top is not None),
        ("--certified", options.certified),
    ):  # fmt: skip
        if given and options.spark is not None:
            raise SvmtoolError(f"ERROR: {name} does not apply to --spark")
    checks.refuse_overwriting(
        [("test_file", test), ("model_file", model), ("--names", options.names)],
        [("output_file", output), ("--scores", options.scores)],
    )
    return options


def _unknown(word: str, libsvm: bool) -> UsageError:
    from svmtool.cli.suggestions import unknown

    return UsageError(unknown(word, "svm-predict", "Unknown option" if libsvm else "unknown option"))


def _long(options: Options, argv: list[str], word: str, i: int) -> int:
    """Parse one of svmtool's own options; returns the index after it and its value."""
    name, given, value = word.partition("=")
    if word == "--help":
        options.page = HELP
    elif word == "--version":
        from svmtool import __version__

        options.page = f"svm-predict (svmtool) {__version__}\n"
    elif word in ("--metrics", "--certified"):
        setattr(options, word[2:], True)
    elif word == "--row-names":
        from svmtool.formats.svmlight import additions

        if not additions.tolerant:
            raise SvmtoolError("ERROR: --row-names needs svm-predict, which reads the text after #")
        options.row_names = True
    elif word == "--no-labels":
        options.labelled = False
    elif name in VALUED:
        if not given:
            if i == len(argv):
                raise SvmtoolError(f"ERROR: {name} needs a value")
            value, i = argv[i], i + 1
        if name == "--scores" and not value:
            raise SvmtoolError("ERROR: --scores needs a file name")
        setattr(options, name[2:], _count(name, value) if name in ("--threads", "--top") else value)
    else:
        raise _unknown(word, False)
    return i


def _count(name: str, value: str) -> int:
    found = parse_count(value)
    if not found:
        raise SvmtoolError(f"ERROR: {name} needs a number of at least 1, not {clipped(value)!r}")
    return found
