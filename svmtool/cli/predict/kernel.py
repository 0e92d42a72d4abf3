"""svm-predict for kernel models, with the output of LIBSVM's svm-predict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel.kernel_loops import PRECOMPUTED, RBF, largest_index
from svmtool.errors import DataError, ModelError
from svmtool.formats.models.kernel import parse
from svmtool.formats.scored_text import Scored
from svmtool.formats.svmlight.table import CHUNK_BYTES, raw_tables
from svmtool.models.kernel import NO_KERNEL_PROBABILITIES, UNFIT, KernelModel

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
MAX_CHUNK_PAIRS = 16  # up to this many pairs of classes the decision values of a whole chunk of text need little memory
MIN_CHUNK_BYTES = 1 << 16  # bytes


def prepared(text: ModelText, options: Options) -> tuple[KernelModel, int, str, str, str]:
    """The model of a text, and known, beyond, notice and whose of its Job; ModelError for options that it lacks."""
    model = parse(text)
    if options.probabilities and not model.gives_probabilities:
        raise ModelError(NO_KERNEL_PROBABILITIES)
    notice = ""
    if model.gives_probabilities and not options.probabilities:
        notice = DISABLED
    elif options.probabilities and model.kind == "regression":
        notice = LAPLACE % model.probA.items[0]
    kind = model.kernel.kind
    known = sys.maxsize if kind == PRECOMPUTED else model.noted_features
    whose = "the model"
    if known is None:
        known, whose = largest_index(model.indices) + 1, "the support vectors"
    return model, known, "count only as distance" if kind == RBF else "have no effect", notice, whose


def chunk_bytes(columns: int) -> int:
    """Bytes of text to score at a time, with this many decision values a row."""
    return max(MIN_CHUNK_BYTES, CHUNK_BYTES // max(1, columns // MAX_CHUNK_PAIRS))


def scored_blocks(source: Source, model: KernelModel, form: int) -> Iterator[Scored]:
    """Score every line of an open source; form: of its labels, see text_loops.

    Raises DataError for a malformed line, and for a row without the required values of a precomputed kernel.
    """
    scores = model.scores
    first = 0
    for rows in raw_tables(source, chunk_bytes(model.columns), first_index=0, form=form):
        row = scores.unfit_row(rows)
        if row >= 0:
            raise DataError(first + row + 1, source.name, "", UNFIT.format(scores.last))
        block = Scored(0, 0)
        block.n, block.largest, block.labels = rows.labels.size, rows.n_features, rows.labels
        block.names = rows.additions and rows.additions.names
        block.decisions = Buffer("f8", block.n * model.columns)
        scores.decide(rows, block.n, block.decisions)
        yield block
        first += block.n
