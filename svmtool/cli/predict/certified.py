"""svm-predict --certified: decision values with what is certain of them, which needs the lengths of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from svmtool.cli.predict.kernel import chunk_bytes
from svmtool.compiled.buffers import Buffer
from svmtool.errors import ModelError
from svmtool.formats.scored_text import Scored
from svmtool.formats.source import Source
from svmtool.formats.svmlight.table import raw_tables
from svmtool.models.certain import bounds_of, certain, why_none
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel

Model = LinearModel | KernelModel


def scored_blocks(model: Model, path: str) -> Callable[[Source, Model, int], Iterator[Scored]]:
    """`scored_blocks` with `certain`; ModelError if the model of this path certifies no labels."""
    if why := why_none(model):
        raise ModelError(f"{path}: --certified: {why}")
    try:
        bounds_of(model)
    except ModelError as e:
        raise ModelError(f"{e}\ncan't open model file {path}") from None
    return _scored_blocks


def _scored_blocks(source: Source, model: Model, form: int) -> Iterator[Scored]:
    first_index = 0 if isinstance(model, KernelModel) else 1
    for rows in raw_tables(source, chunk_bytes(model.columns), first_index=first_index, form=form):
        table, block = rows.table(), Scored(0, 0)
        block.n, block.largest, block.labels = len(table), rows.n_features, rows.labels
        block.names = rows.additions and rows.additions.names
        decisions = model.decision_values(table)
        block.decisions = Buffer("f8", decisions.size)
        block.decisions.array()[: decisions.size] = decisions.ravel()
        block.certain = certain(model, table, decisions)
        yield block
