"""svm-predict: LIBLINEAR's predict for linear models, LIBSVM's for kernel models, with scores and metrics.

The test file is scored in blocks, so memory does not grow with its size (--metrics with two classes keeps nine bytes a
row, for the area under the ROC curve).  Outputs appear complete at the end or not at all.

Classification without -b, --scores and --metrics runs without numpy.  The first word of the model, `solver_type` or
`svm_type`, decides which program's output is printed.
"""

from __future__ import annotations

import contextlib

from svmtool import interrupts
from svmtool.cli.console import Console
from svmtool.cli.predict.jobs import job_of
from svmtool.cli.predict.options import BRIEF, Options, parse
from svmtool.errors import ModelError, SvmtoolError, clipped, visible
from svmtool.progress import doing

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from svmtool.cli.predict.jobs import Job
    from svmtool.cli.predict.label_sets import SetReport
    from svmtool.cli.predict.plain import Plain
    from svmtool.cli.predict.report import Report
    from svmtool.formats.names import Names


def main(argv: list[str], libsvm: bool = False) -> int:
    """Run svm-predict with these arguments (without the program's name); returns the exit status.

    libsvm: read the command line as LIBSVM's svm-predict.
    """
    console = Console()

    def work() -> int:
        options = parse(argv, libsvm)
        if options.page is not None:
            console.out(options.page)
            return 0
        if options.ignored:
            console.warn(f"WARNING: {clipped(' '.join(options.ignored))} after the output file has no effect")
        console.quiet = options.quiet
        if "-" in (*options.files[2:3], options.scores):
            console.fills_stdout()
        names = None
        if options.names is not None:
            from svmtool.formats.names import has_our_format, read

            names = read(options.names)
            if not names.classes and not has_our_format(options.names):
                raise SvmtoolError(f"ERROR: --names {options.names}: the file holds no strings of labels")
        report = predict(options, console, names)
        lines = report.metric_lines()
        if names is not None:
            from svmtool.formats.names import named_metrics

            lines = named_metrics(lines, names)
        silent = options.quiet or not options.labelled
        console.out(("" if silent else report.result_lines()) + lines)
        console.warn(*([] if silent else report.warnings()))
        return 0

    name = "svm-predict" if libsvm else "predict"
    def usage() -> str:
        from svmtool.cli import help_texts

        return help_texts.command_usage("svm-predict", name) + "svm-predict --help lists the long options\n"

    return console.run(work, usage, BRIEF.format(name))


def predict(options: Options, console: Console, names: Names | None = None) -> Plain | Report | SetReport:
    """Predict; returns the report with accuracy and metrics.  Warnings about the features go to the console.

    Checks are made in LIBLINEAR's order: test file, output file, model, probabilities, then the rows.
    """
    if options.spark is not None:
        interrupts.raise_from_now_on()  # to remove folders and end the Java process
        from svmtool.cli.predict.spark import predict as predict_on_spark

        job, report = predict_on_spark(options)
        _warn_of_features(job, options, console)
        return report
    from svmtool.compiled import threads
    from svmtool.formats.models.text import load
    from svmtool.formats.output import replacing
    from svmtool.formats.source import open_source

    threads.set_count(options.threads)
    if len(options.files) > 2 and options.files[2] != "-":
        interrupts.loss = f"{visible(options.files[2])} is not written"
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_source(options.files[0]))
        if len(options.files) < 3:
            raise SvmtoolError("can't open output file (null): name an output file, or - for standard output")
        output = stack.enter_context(replacing(options.files[2]))
        with load(options.files[1]) as text:
            try:
                job = job_of(text, options)
            except ModelError as e:
                from svmtool.formats.svmlight.slow_line import is_model

                if is_model(options.files[0]):
                    order = "the order is test_file model_file output_file"
                    raise ModelError(f"{e}: {options.files[0]} is a model, {order}") from None
                raise
        del text
        scores = stack.enter_context(replacing(options.scores)) if options.scores is not None else None
        named = RowNames(output) if options.row_names else None
        to: Any = output if named is None else named
        if names is not None:
            from svmtool.formats.names import NamedLabels

            to = NamedLabels(to, names)
        report = job.report(to, scores)
        with doing("predicting", source=source):
            for block in job.blocks(source):
                if named is not None:
                    named.names = block.names or [b""] * block.n
                report.add(block)
    interrupts.loss = ""
    _warn_of_features(job, options, console)
    return report


class RowNames:
    """An output file whose lines are followed by names of rows; `names`: those of the lines written next."""

    def __init__(self, output: BinaryIO | Any):
        self.output = output
        self.names: list[bytes] = []

    def write(self, text: bytes) -> int:
        lines = text.split(b"\n")
        head = len(lines) - 1 - len(self.names)  # a header of probabilities has no name
        shown = [visible(name.decode("utf-8", "backslashreplace").replace("\t", " ")).encode() for name in self.names]
        names = [b""] * head + [b"\t" + name if name else b"" for name in shown] + [b""]
        self.names = []
        return self.output.write(b"\n".join(map(bytes.__add__, lines, names)))


def _warn_of_features(job: Job, options: Options, console: Console) -> None:
    """Warn of features that the model does not have."""
    if job.largest > job.known:
        extra = f"features up to {job.largest}, {job.whose} {job.known}"
        console.warn(f"WARNING: {options.files[0]} has {extra}: larger indices {job.beyond}")
