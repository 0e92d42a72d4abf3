"""svm-predict --certified: decision values with what is certain of them, which needs the lengths of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from svmtool.cli.predict.kernel import chunk_bytes
from svmtool.compiled.buffers import Buffer
from svmtool.errors import ModelError
from svmtool.formats.scored_text import Scored
from svmtool.formats.source import Source
from svmtool.formats.svmlight.table import raw_tables
from svmtool.models.certain import certain, radii_of, why_none
from svmtool.models.linear import LinearModel


def scored_blocks(model: LinearModel, path: str) -> Callable[[Source, LinearModel, int], Iterator[Scored]]:
    """`formats.scored_text.scored_blocks` with `certain`; ModelError if the model of this path certifies no labels."""
    if why := why_none(model):
        raise ModelError(f"{path}: --certified: {why}")
    try:
        radii_of(model)
    except ModelError as e:
        raise ModelError(f"{e}\ncan't open model file {path}") from None
    return _scored_blocks


def _scored_blocks(source: Source, model: LinearModel, form: int) -> Iterator[Scored]:
    for rows in raw_tables(source, chunk_bytes(model.columns), form=form):
        table, block = rows.table(), Scored(0, 0)
        block.n, block.largest, block.labels = len(table), rows.n_features, rows.labels
        block.names = rows.additions and rows.additions.names
        decisions = model.decision_values(table)
        block.decisions = Buffer("f8", decisions.size)
        block.decisions.array()[: decisions.size] = decisions.ravel()
        block.certain = certain(model, table, decisions)
        yield block
