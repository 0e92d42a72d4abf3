"""svm-predict: LIBLINEAR's predict to the letter for linear models, LIBSVM's for kernel models; scores and metrics.

The test file is scored a few blocks at a time, so memory does not grow with it
(--metrics with two classes keeps nine bytes a row, for the area under the ROC
curve).  All outputs appear whole at the end or not at all.

The plain job, classification without -b, --scores and --metrics, runs without numpy.  Which program is meant the
model says: its first word is `solver_type` or `svm_type`.
"""

from __future__ import annotations

import contextlib

from svmtool import interrupts
from svmtool.cli import memory_limit, overwriting
from svmtool.cli.console import Console
from svmtool.errors import ModelError, SvmtoolError, UsageError, clipped
from svmtool.integers import parse_count

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from svmtool.cli.predict.kernel import KernelJob
    from svmtool.cli.predict.report import Report
    from svmtool.formats.models.linear import StoredModel
    from svmtool.formats.models.text import ModelText
    from svmtool.formats.scored_text import Scored
    from svmtool.formats.source import Source
    from svmtool.models.kernel import KernelModel

USAGE = """\
Usage: predict [options] test_file model_file output_file
options:
-b 0|1 : write probabilities, of logistic models and those of svm-train -b 1 (default 0)
-q : quiet mode (no result lines)
svm-predict --help tells of the long options
"""

HELP = """\
Usage: svm-predict [options] test_file model_file output_file

Predicts the rows of a LIBSVM text file with a model of svm-train, LIBLINEAR or
LIBSVM, and prints the accuracy (or the errors of a regression).

test_file may be - (standard input), a pipe, or end in .gz, .bz2 or .xz;
output_file may be - (standard output).  Options stand before the files.

  -b 0|1           write probabilities, of logistic models and of models that
                   were trained with -b 1 (default 0)
  -q               quiet: no accuracy or error lines
  --scores FILE    write the decision values too: one row a line, blanks between
                   (kernel models: one for each pair of classes)
  --metrics        print precision, recall and F1 a class and their means, the
                   area under the ROC curve (two classes, one-class: rows not
                   labelled 1 are its outliers, label -1), the mean absolute
                   error in ranks of a model of -s 43; for a
                   regression the mean absolute error and R2
  --threads N      use N threads (default: all cores, or OMP_NUM_THREADS)
  --spark MASTER   let Spark do it (local[N], spark://HOST:PORT, yarn, ..):
                   test_file is a file, directory or pattern as Spark reads
                   them, output_file and --scores name new directories, whose
                   part files hold the lines in the order of the input
  --version, --help
"""

VALUED = ("--scores", "--threads", "--spark")


class Options:
    """What a command line asks for; `page` is the text that --help or --version ask for."""

    __slots__ = ("probabilities", "quiet", "scores", "metrics", "threads", "spark", "files", "page")

    def __init__(self) -> None:
        self.probabilities = self.quiet = self.metrics = False
        self.scores: str | None = None
        self.spark: str | None = None
        self.threads: int | None = None
        self.files: list[str] = []
        self.page: str | None = None


def parse(argv: list[str]) -> Options:
    """Read the arguments as LIBLINEAR's predict does: the character behind the dash decides.

    Raises UsageError (an empty text: usage alone), SvmtoolError for our own options.
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
                raise UsageError("")
            from svmtool.formats.numbers import parse_int_prefix

            options.probabilities = parse_int_prefix(argv[i]) != 0
            i += 1
        else:
            raise UsageError(f"unknown option: -{word[1]}")
    options.files = argv[i : i + 3]
    if len(options.files) < 2:
        raise UsageError("")
    if options.files[:2] == ["-", "-"]:
        raise SvmtoolError("ERROR: test_file and model_file cannot both be standard input")
    test, model, output = [*options.files, None][:3]
    if options.scores is not None and options.scores == output:
        raise SvmtoolError(f"ERROR: --scores and output_file are both {options.scores}")
    overwriting.refuse(
        [("test_file", test), ("model_file", model)], [("output_file", output), ("--scores", options.scores)]
    )
    return options


def _long(options: Options, argv: list[str], word: str, i: int) -> int:
    """Take one of our own options; returns the place behind it and its value."""
    name, given, value = word.partition("=")
    if word == "--help":
        options.page = HELP
    elif word == "--version":
        from svmtool import __version__

        options.page = f"svm-predict (svmtool) {__version__}\n"
    elif word == "--metrics":
        options.metrics = True
    elif name in VALUED:
        if not given:
            if i == len(argv):
                raise SvmtoolError(f"ERROR: {name} wants a value behind it")
            value, i = argv[i], i + 1
        if name == "--scores":
            if not value:
                raise SvmtoolError("ERROR: --scores wants the name of a file")
            options.scores = value
        elif name == "--spark":
            options.spark = value
        else:
            options.threads = parse_count(value)
            if options.threads < 1:
                raise SvmtoolError(f"ERROR: --threads wants a number of at least 1, not {clipped(value)!r}")
    else:
        raise UsageError(f"unknown option: {word}")
    return i


def main(argv: list[str]) -> int:
    """Run svm-predict with these arguments (without the program's name); returns the exit status."""
    console = Console()

    def work() -> int:
        options = parse(argv)
        if options.page is not None:
            console.out(options.page)
            return 0
        report = predict(options)
        console.out(("" if options.quiet else report.result_lines()) + report.metric_lines())
        for warning in [] if options.quiet else report.warnings():
            console.warn(warning)
        return 0

    return console.answer(work, lambda: USAGE)


def predict(options: Options) -> Plain | Report:
    """Do what the options ask for; returns what it has counted.

    The order of checks is LIBLINEAR's: test file, output file, model, probabilities, then the rows.
    """
    if options.spark is not None:
        interrupts.raise_from_now_on()  # folders, and a Java process, are to go
        from svmtool.cli.predict.spark import predict as predict_on_spark

        return predict_on_spark(options)
    from svmtool.compiled import threads
    from svmtool.formats.models.text import load
    from svmtool.formats.output import replacing
    from svmtool.formats.source import open_source

    threads.set_count(options.threads)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(options.files[0]))
        if len(options.files) < 3:
            raise SvmtoolError("can't open output file (null): name an output file, or - for standard output")
        output = stack.enter_context(replacing(options.files[2]))
        with load(options.files[1]) as text:
            job = job_of(text, options)
        del text
        scores = stack.enter_context(replacing(options.scores)) if options.scores is not None else None
        report = job.report(output, scores)
        for block in job.blocks(source):
            report.add(block)
    return report


def job_of(text: ModelText, options: Options) -> LinearJob | KernelJob:
    """What to do with the model in a text; ModelError where it is none, or does not do what the options ask for."""
    from svmtool.formats.models.text import is_kernel_model

    if is_kernel_model(text):
        from svmtool.cli.predict.kernel import KernelJob

        return KernelJob(text, options)
    return LinearJob(text, options)


class LinearJob:
    """What to do with a linear model; ModelError where it does not do what the options ask for."""

    def __init__(self, text: ModelText, options: Options):
        from svmtool.formats.models.linear import LOGISTIC_WORDS, NO_PROBABILITIES, parse, sigmoids_of
        from svmtool.formats.models.text import NO_CLASSES

        path = options.files[1]
        model = parse(text)
        if options.probabilities and model.word not in LOGISTIC_WORDS:
            try:
                sigmoids = sigmoids_of(model)
            except ModelError as e:
                raise ModelError(f"{e}\ncan't open model file {path}") from None
            if not sigmoids:
                raise ModelError(NO_PROBABILITIES)
        if model.columns == 0:
            raise ModelError(f"{path}: {NO_CLASSES}")
        self.model, self.options = model, options

    def report(self, output: BinaryIO, scores: BinaryIO | None) -> Plain | Report:
        """Where scored blocks are to go."""
        model, options = self.model, self.options
        if model.task != "regression" and not (options.probabilities or scores or options.metrics):
            return Plain(model, output)
        memory_limit.require()
        from svmtool.cli.predict.report import Report
        from svmtool.models.linear import LinearModel

        W = model.W.array()
        whole = LinearModel(model.word, model.labels, model.n_features, model.bias, W, model.rho, model.notes)
        return Report(whole, output, scores, options.probabilities, options.metrics)

    def blocks(self, source: Source) -> Iterator[Scored]:
        """The scored rows of the test file."""
        from svmtool.formats.scored_text import scored_blocks

        return scored_blocks(source, self.model)


class Plain:
    """Labels of a classifier or one-class model, and the accuracy, without numpy."""

    def __init__(self, model: StoredModel | KernelModel, output: BinaryIO):
        from svmtool.compiled.buffers import Buffer

        names = (1, -1) if model.labels is None else model.labels
        self.output, self.model = output, model
        self.names = Buffer("f8", len(names))
        for k, name in enumerate(names):
            self.names.items[k] = name
        self.texts = [b"%d\n" % name for name in names]
        self.total = self.hits = 0

    def add(self, block: Scored) -> None:
        """Write and count the rows of a block."""
        from svmtool.compiled.buffers import Buffer
        from svmtool.compiled.loops.text.decision_loops import count_hits

        places = Buffer("i8", block.n)
        self.model.choose(block.decisions, places, block.n)
        self.hits += count_hits(block.labels, self.names, places, block.n)
        self.total += block.n
        self.output.write(b"".join(map(self.texts.__getitem__, places.items[: block.n])))

    def tally(self) -> tuple[int, int]:
        """What it has counted, for another's `take`."""
        return self.total, self.hits

    def take(self, tally: tuple[int, int]) -> None:
        """Count rows that were written elsewhere."""
        self.total, self.hits = self.total + tally[0], self.hits + tally[1]

    def result_lines(self) -> str:
        """The accuracy, as LIBLINEAR prints it."""
        return accuracy_line(self.hits, self.total)

    def metric_lines(self) -> str:
        return ""

    def warnings(self) -> list[str]:
        return []


def accuracy_line(hits: int, total: int) -> str:
    """LIBLINEAR's line; without rows it prints what C makes of 0 / 0."""
    percent = "%g" % (hits / total * 100) if total else "-nan"
    return f"Accuracy = {percent}% ({hits}/{total})\n"


def classified(accuracy: str) -> str:
    """LIBLINEAR's line of accuracy as LIBSVM has it."""
    return accuracy.rstrip("\n") + " (classification)\n"
