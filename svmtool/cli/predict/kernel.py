"""svm-predict for kernel models, with the output of LIBSVM's svm-predict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from svmtool.cli.predict.jobs import Job
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel.kernel_loops import PRECOMPUTED, RBF, largest_index
from svmtool.errors import DataError, ModelError
from svmtool.formats.models.kernel import parse
from svmtool.formats.scored_text import Scored
from svmtool.formats.svmlight.table import CHUNK, raw_tables
from svmtool.models.kernel import NO_PROBABILITIES, UNFIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svmtool.cli.predict.options import Options
    from svmtool.formats.models.text import ModelText
    from svmtool.formats.source import Source

DISABLED = "Model supports probability estimates, but disabled in prediction.\n"
LAPLACE = (
    "Prob. model for test data: target value = predicted value + z,\n"
    "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%g\n"
)
FEW_PAIRS = 16  # up to this many pairs of classes the decision values of a CHUNK of text need little memory
MIN_CHUNK = 1 << 16  # bytes


class KernelJob(Job):
    """Prediction with a kernel model; ModelError if the model does not support the options."""

    def __init__(self, text: ModelText, options: Options):
        model = parse(text)
        if options.probabilities and not model.gives_probabilities:
            raise ModelError(NO_PROBABILITIES)
        known = largest_index(model.indices) + 1 if model.kernel.kind != PRECOMPUTED else sys.maxsize
        beyond = "count only as distance" if model.kernel.kind == RBF else "have no effect"
        super().__init__(model, options, known, beyond)
        self.notice = ""
        if model.gives_probabilities and not options.probabilities:
            self.notice = DISABLED
        elif options.probabilities and model.task == "regression":
            self.notice = LAPLACE % model.probA.items[0]

    def blocks(self, source: Source) -> Iterator[Scored]:
        """As in Job; DataError for a row without the required values of a precomputed kernel."""
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
