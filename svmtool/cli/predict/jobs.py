"""Prediction jobs: scored rows and their report, for a linear or a kernel model."""

from __future__ import annotations

from svmtool.cli import checks
from svmtool.cli.predict.plain import Plain
from svmtool.errors import ModelError

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from svmtool.cli.predict.label_sets import SetReport
    from svmtool.cli.predict.options import Options
    from svmtool.cli.predict.report import Report
    from svmtool.formats.models.text import ModelText
    from svmtool.formats.scored_text import Scored
    from svmtool.formats.source import Source


class Job:
    """Prediction with one model: `blocks` scores the rows of a test file, and `report` writes and counts them.

    known, largest: the largest index of the model, and of the rows so far.  beyond: what larger indices of rows do.
    whose: what `known` is of; LIBSVM's files state that of the support vectors alone.
    notice: text before the result lines of LIBSVM; None: the lines are LIBLINEAR's.
    score: yields the scored rows of a source and a model, block by block; its last argument is the form of labels.
    """

    def __init__(
        self, options: Options, score: Callable[[Source, Any, int], Iterator[Scored]], model: Any, known: int,
        beyond: str, notice: str | None = None, whose: str = "the model",
    ):  # fmt: skip
        self.options, self.score, self.model, self.notice = options, score, model, notice
        self.known, self.beyond, self.largest, self.whose = known, beyond, 0, whose

    def report(self, output: BinaryIO, scores: BinaryIO | None) -> Plain | Report | SetReport:
        """The object that writes and counts scored blocks."""
        model, options = self.model, self.options
        if self.several:
            if options.spark is not None:
                raise ModelError(f"{options.files[1]}: --spark does not apply to a model of several labels a row")
            checks.require_memory()
            from svmtool.cli.predict.label_sets import SetReport

            return SetReport(model, output, scores, options.top, options.metrics)
        if model.kind != "regression" and not (options.probabilities or scores or options.metrics or options.certified):
            return Plain(model, output, self.notice)
        checks.require_memory()
        from svmtool.cli.predict.report import Report

        return Report(model, output, scores, options.probabilities, options.metrics, self.notice, options.certified)

    @property
    def several(self) -> bool:
        """Whether rows have several labels."""
        return getattr(self.model, "is_multilabel", False)

    def blocks(self, source: Source) -> Iterator[Scored]:
        """The scored rows of the test file; DataError for the first malformed one."""
        from svmtool.compiled.loops.text.text_loops import SETS, SOME_LABELLED, UNLABELLED

        labelled = SETS if self.several else SOME_LABELLED
        for block in self.score(source, self.model, labelled if self.options.labelled else UNLABELLED):
            self.largest = max(self.largest, block.largest)
            yield block


def job_of(text: ModelText, options: Options) -> Job:
    """The job for a model file's text; ModelError if it is no model or does not support the options."""
    from svmtool.formats.models.text import is_kernel_model

    if is_kernel_model(text):
        from svmtool.cli.predict import kernel

        if options.top is not None:
            raise ModelError(f"{options.files[1]}: --top needs a model of svm-train --multilabel")
        scored, prepared = kernel.scored_blocks, kernel.prepared(text, options)
        if options.certified:
            from svmtool.cli.predict import certified

            scored = certified.scored_blocks(prepared[0], options.files[1])
        return Job(options, scored, *prepared)
    from svmtool.formats.models.linear import parse
    from svmtool.formats.scored_text import scored_blocks
    from svmtool.models.linear import LOGISTIC_WORDS, NO_CLASSES, NO_PROBABILITIES, sigmoids_of

    path = options.files[1]
    model = parse(text)
    if options.probabilities and model.is_multilabel:
        raise ModelError(f"{path}: -b 1 does not apply to a model of several labels a row")
    if options.probabilities and model.word not in LOGISTIC_WORDS:
        try:
            sigmoids = sigmoids_of(model)
        except ModelError as e:
            raise ModelError(f"{e}\ncan't open model file {path}") from None
        if not sigmoids:
            raise ModelError(NO_PROBABILITIES)
    if model.columns == 0:
        raise ModelError(f"{path}: {NO_CLASSES}")
    if options.top is not None and not model.is_multilabel:
        raise ModelError(f"{path}: --top needs a model of svm-train --multilabel")
    if options.certified:
        from svmtool.cli.predict import certified

        return Job(options, certified.scored_blocks(model, path), model, model.n_features, "are ignored")
    return Job(options, scored_blocks, model, model.n_features, "are ignored")
