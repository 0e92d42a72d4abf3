"""svm-predict --spark: Spark's executors write the predictions to a directory of part files."""

from __future__ import annotations

import functools
import io
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from svmtool.cli.predict.jobs import job_of
from svmtool.cli.predict.label_sets import SetReport
from svmtool.compiled import threads
from svmtool.errors import SvmtoolError
from svmtool.formats.models.text import ModelText, load
from svmtool.progress import doing

if TYPE_CHECKING:
    from svmtool.cli.predict.jobs import Job
    from svmtool.cli.predict.options import Options
    from svmtool.cli.predict.plain import Plain
    from svmtool.cli.predict.report import Report
    from svmtool.formats.source import Source


def predict(options: Options) -> tuple[Job, Plain | Report]:
    """Predict on Spark; returns the job, and the report with accuracy and metrics.

    Model and options are checked before Spark is started.
    """
    path, model, targets = _names(options)
    with load(model) as text:
        content = text.all()
    job = job_of(ModelText.of(content, model), options)
    report = job.report(*_outputs(options))
    assert not isinstance(report, SetReport)  # refused with --spark
    from svmtool.distributed.predict import score
    from svmtool.distributed.session import Session

    with Session(options.spark, "svm-predict") as session, doing("scoring") as part:
        scorer = functools.partial(score_part, session.context.broadcast(content), options)

        def watch(done: int, total: int) -> None:
            part.done, part.total = done, total

        for tally, largest in score(session, path, targets, scorer, watch):
            report.merge(tally)
            job.largest = max(job.largest, largest)
    return job, report


def _names(options: Options) -> tuple[str, str, list[str]]:
    """Input, model and output directories: predictions, and with --scores the decision values."""
    if len(options.files) < 3:
        raise SvmtoolError("can't open output directory (null): name it after the model")
    path, model, target = options.files
    if "-" in (path, target, options.scores):
        raise SvmtoolError("ERROR: --spark reads files and writes directories, not standard input and output")
    if options.threads is not None:
        raise SvmtoolError("ERROR: --threads cannot be used with --spark: the master sets the number of parallel tasks")
    return path, model, [target] if options.scores is None else [target, options.scores]


def score_part(
    model: Any, options: Options, source: Source, part: int
) -> Generator[tuple[bytes | None, ...], None, Any]:
    """In an executor: yield the output of each directory block by block, with a header in the first part only.

    model: a broadcast of the model file's bytes.  Returns the tally and the largest index of the features.

    Runs the job of the same command without Spark, on one thread.
    """
    threads.set_count(1)  # other tasks have the other cores
    job = job_of(ModelText.of(model.value, options.files[1]), options)
    outputs = _outputs(options)
    report = job.report(*outputs)
    if part:
        _drain(outputs[0])
    for block in job.blocks(source):
        report.add(block)
        yield tuple(map(_drain, outputs))
    yield tuple(map(_drain, outputs))  # the header, if there are no rows
    return report.tally(), job.largest


def _outputs(options: Options) -> tuple[io.BytesIO, io.BytesIO | None]:
    """Buffers for predictions and, with --scores, decision values."""
    return io.BytesIO(), None if options.scores is None else io.BytesIO()


def _drain(output: io.BytesIO | None) -> bytes | None:
    """Return what was written since the last call, or None, and empty the buffer."""
    if output is None:
        return None
    text = output.getvalue()
    output.seek(0)
    output.truncate()
    return text or None
