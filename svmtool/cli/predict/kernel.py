"""svm-predict for kernel models, with the output of LIBSVM's svm-predict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from svmtool.cli import checks
from svmtool.cli.predict.plain import Plain, classified
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel.kernel_loops import PRECOMPUTED, RBF, largest_index
from svmtool.errors import DataError, ModelError
from svmtool.formats.models.kernel import parse
from svmtool.formats.scored_text import Scored
from svmtool.formats.svmlight.table import CHUNK, raw_tables
from svmtool.models.kernel import NO_PROBABILITIES, UNFIT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from svmtool.cli.predict.options import Options
    from svmtool.cli.predict.report import KernelReport
    from svmtool.formats.models.text import ModelText
    from svmtool.formats.source import Source

DISABLED = "Model supports probability estimates, but disabled in prediction.\n"
LAPLACE = (
    "Prob. model for test data: target value = predicted value + z,\n"
    "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g\n"
)
FEW_PAIRS = 16  # up to this many pairs of classes the decision values of a CHUNK of text need little memory
MIN_CHUNK = 1 << 16  # bytes


class KernelJob:
    """Prediction with a kernel model; ModelError if the model does not support the options."""

    def __init__(self, text: ModelText, options: Options):
        self.model, self.options = parse(text), options
        self.notice = ""
        if options.probabilities:
            if not self.model.gives_probabilities:
                raise ModelError(NO_PROBABILITIES)
            if self.model.task == "regression":
                self.notice = LAPLACE % self.model.probA.items[0]
        elif self.model.gives_probabilities:
            self.notice = DISABLED
        kind, indices = self.model.kernel.kind, self.model.indices
        self.largest, self.known = 0, largest_index(indices) + 1 if kind != PRECOMPUTED else sys.maxsize
        self.beyond = "count only as distance" if kind == RBF else "have no effect"

    def report(self, output: BinaryIO, scores: BinaryIO | None) -> KernelPlain | KernelReport:
        """The object that writes and counts scored blocks."""
        options, task = self.options, self.model.task
        if task != "regression" and not (options.probabilities or scores or options.metrics):
            return KernelPlain(self.model, output, self.notice)
        checks.require_memory()
        from svmtool.cli.predict.report import KernelReport

        probabilities = options.probabilities and task != "regression"
        return KernelReport(self.model, output, scores, probabilities, options.metrics, self.notice)

    def blocks(self, source: Source) -> Iterator[Scored]:
        """The scored rows of the test file; DataError for a row without the required values of a precomputed kernel."""
        model, scores = self.model, self.model.scores
        chunk = max(MIN_CHUNK, CHUNK // max(1, model.columns // FEW_PAIRS))
        first = 0
        for rows in raw_tables(source, chunk, least=0):
            n, self.largest = rows.labels.size, max(self.largest, rows.n_features)
            row = scores.unfit_row(rows)
            if row >= 0:
                raise DataError(first + row + 1, source.name, "", UNFIT.format(scores.last))
            block = Scored(0, 0)
            block.n, block.labels, block.decisions = n, rows.labels, Buffer("f8", n * model.columns)
            scores.decide(rows, n, block.decisions)
            yield block
            first += n


class KernelPlain(Plain):
    """Plain for kernel models; notice: text printed before the accuracy."""

    def __init__(self, model, output: BinaryIO, notice: str):
        super().__init__(model, output)
        self.notice = notice

    def result_lines(self) -> str:
        return self.notice + classified(super().result_lines())
