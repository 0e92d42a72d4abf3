"""Prediction jobs: scored rows and the report for a linear or a kernel model."""

from __future__ import annotations

from svmtool.cli import checks
from svmtool.cli.predict.plain import Plain
from svmtool.errors import ModelError

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from svmtool.cli.predict.kernel import KernelJob
    from svmtool.cli.predict.options import Options
    from svmtool.cli.predict.report import Report
    from svmtool.formats.models.text import ModelText
    from svmtool.formats.scored_text import Scored
    from svmtool.formats.source import Source


def job_of(text: ModelText, options: Options) -> LinearJob | KernelJob:
    """The job for a model file's text; ModelError if it is no model or does not support the options."""
    from svmtool.formats.models.text import is_kernel_model

    if is_kernel_model(text):
        from svmtool.cli.predict.kernel import KernelJob

        return KernelJob(text, options)
    return LinearJob(text, options)


class LinearJob:
    """Prediction with a linear model; ModelError if the model does not support the options."""

    def __init__(self, text: ModelText, options: Options):
        from svmtool.formats.models.linear import parse
        from svmtool.models.linear import LOGISTIC_WORDS, NO_CLASSES, NO_PROBABILITIES, sigmoids_of

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
        self.largest, self.known = 0, model.n_features  # largest index of the rows so far, and of the model
        self.beyond = "are ignored"

    def report(self, output: BinaryIO, scores: BinaryIO | None) -> Plain | Report:
        """The object that writes and counts scored blocks."""
        model, options = self.model, self.options
        if model.task != "regression" and not (options.probabilities or scores or options.metrics):
            return Plain(model, output)
        checks.require_memory()
        from svmtool.cli.predict.report import Report
        from svmtool.formats.models.linear import with_array

        return Report(with_array(model), output, scores, options.probabilities, options.metrics)

    def blocks(self, source: Source) -> Iterator[Scored]:
        """The scored rows of the test file."""
        from svmtool.formats.scored_text import scored_blocks

        for block in scored_blocks(source, self.model):
            self.largest = max(self.largest, block.largest)
            yield block
