"""svm-predict --spark: Spark's executors write the same lines to a directory of part files."""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from typing import Any

from svmtool.cli.predict.jobs import job_of
from svmtool.compiled import threads
from svmtool.errors import SvmtoolError
from svmtool.formats.models.text import ModelText, load

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from svmtool.cli.predict.options import Options
    from svmtool.cli.predict.plain import Plain
    from svmtool.cli.predict.report import Report
    from svmtool.formats.source import Source


def predict(options: Options) -> Plain | Report:
    """Do what the options ask for; returns what it has counted.

    Model and options are examined before Spark is started.
    """
    path, model, targets = _names(options)
    with load(model) as text:
        content = text.all()
    report = job_of(ModelText.of(content, model), options).report(*_outputs(options))
    from svmtool.distributed.predict import score
    from svmtool.distributed.session import Session

    with Session(options.spark, "svm-predict") as session, _Bar(options.quiet) as bar:
        scorer = PartScorer(session.context.broadcast(content), options)
        for tally in score(session, path, targets, scorer, bar):
            report.take(tally)
    return report


def _names(options: Options) -> tuple[str, str, list[str]]:
    """Input, model, and the output directories: predictions, and decision values where they are asked for."""
    if len(options.files) < 3:
        raise SvmtoolError("can't open output directory (null): --spark writes a directory: name it behind the model")
    path, model, target = options.files
    if "-" in (path, target, options.scores):
        raise SvmtoolError("ERROR: --spark reads files and writes directories, not standard input and output")
    if options.threads is not None:
        raise SvmtoolError("ERROR: --threads does not go with --spark: the master says how many tasks run side by side")
    return path, model, [target] if options.scores is None else [target, options.scores]


class PartScorer:
    """What an executor does with the lines of one partition: the model is a broadcast of its file's bytes."""

    def __init__(self, model: Any, options: Options):
        self.model, self.options = model, options

    def __call__(self, source: Source, part: int) -> Generator[tuple[bytes | None, ...], None, Any]:
        """Texts for the output directories, block by block; a header stands in the first part alone.

        What follows is the job of the same command without Spark, on one thread.
        """
        threads.set_count(1)  # other tasks have the other cores
        job = job_of(ModelText.of(self.model.value, self.options.files[1]), self.options)
        outputs = _outputs(self.options)
        report = job.report(*outputs)
        if part:
            _taken(outputs[0])
        for block in job.blocks(source):
            report.add(block)
            yield tuple(map(_taken, outputs))
        yield tuple(map(_taken, outputs))  # the header of no rows
        return report.tally()


def _outputs(options: Options) -> tuple[io.BytesIO, io.BytesIO | None]:
    """Where predictions and, if they are asked for, decision values go before they are sent on."""
    return io.BytesIO(), None if options.scores is None else io.BytesIO()


def _taken(output: io.BytesIO | None) -> bytes | None:
    """What has been written since the last call, None for nothing."""
    if output is None:
        return None
    text = output.getvalue()
    output.seek(0)
    output.truncate()
    return text or None


class _Bar:
    """How many parts are done, on a terminal."""

    def __init__(self, quiet: bool):
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if not self._shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc="scoring", unit="part", leave=False, file=sys.stderr)
        if done != self._bar.n:
            self._bar.n = done
            self._bar.refresh()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._bar is not None:
            self._bar.close()
