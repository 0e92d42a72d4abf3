"""Predictions of models of several labels a row, with the measures of --metrics."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from svmtool.data.label_sets import LabelSets
from svmtool.formats.scored_text import Scored
from svmtool.metrics import LabelCounts, share
from svmtool.models.linear import LinearModel, largest_columns
from svmtool.numbers import format_rows

AT = (1, 3, 5)  # of the precision at the k labels of the largest decision values


class SetReport:
    """Writes the labels of rows, separated by commas, block by block, and counts.

    top: each row has this many labels; None: those above their thresholds.
    """

    def __init__(self, model: LinearModel, output: BinaryIO, scores: BinaryIO | None, top: int | None, metrics: bool):
        self.model, self.output, self.scores, self.top, self.metrics = model, output, scores, top, metrics
        assert model.labels is not None
        self.thresholds = None if top is not None else model.thresholds
        self.names = [b"%d" % label for label in model.labels]
        self._order = np.argsort(model.labels)
        self._sorted = np.array(model.labels, np.float64)[self._order]
        self.counts = LabelCounts(model.labels)
        self.beyond: dict[float, int] = {}  # rows of each label that the model lacks
        self.rows = self.exact = 0
        self.hits = np.zeros(len(AT), np.int64)

    def add(self, block: Scored) -> None:
        """Count and write n more rows."""
        n, k = block.n, len(self.names)
        decisions = block.decisions.array()[: n * k].reshape(n, k)
        counts, columns = self.model.choose_sets(decisions, self.thresholds, self.top)
        chosen = LabelSets.of_counts(counts, columns)
        texts = [self.names[c] for c in columns.tolist()]
        ends = chosen.indptr.tolist()
        self.output.write(b"".join(b",".join(texts[a:z]) + b"\n" for a, z in zip(ends[:-1], ends[1:], strict=True)))
        if self.scores is not None:
            self.scores.write(format_rows(decisions, 17))
        self._count(
            LabelSets.of_labels(block.labels.array()[:n]) if block.sets is None else block.sets, chosen, decisions
        )

    def _count(self, true: LabelSets, chosen: LabelSets, decisions: np.ndarray) -> None:
        n, k = decisions.shape
        pairs = np.unique(np.stack((true.rows.astype(np.float64), true.labels), axis=1), axis=0)
        rows, labels = pairs[:, 0].astype(np.int64), pairs[:, 1]
        place = np.minimum(np.searchsorted(self._sorted, labels), k - 1)
        known = self._sorted[place] == labels
        for label, count in zip(*np.unique(labels[~known], return_counts=True), strict=True):
            self.beyond[float(label)] = self.beyond.get(float(label), 0) + int(count)
        has = np.zeros((n, k), bool)
        has[rows[known], self._order[place[known]]] = True
        given = np.zeros((n, k), bool)
        given[chosen.rows, chosen.labels] = True
        self.rows += n
        without = np.bincount(rows[~known], minlength=n) == 0
        self.exact += int(np.count_nonzero((has == given).all(axis=1) & without))
        self.counts.actual += has.sum(axis=0)
        self.counts.predicted += given.sum(axis=0)
        self.counts.right += (has & given).sum(axis=0)
        if self.metrics:
            best = largest_columns(decisions, max(AT))
            right = np.take_along_axis(has, best, axis=1)
            self.hits += [int(right[:, :at].sum()) for at in AT]

    def _whole(self) -> LabelCounts:
        """The counts, with those of the labels that the model lacks."""
        found = LabelCounts([*self.counts.labels, *(0 for _ in self.beyond)])
        k = len(self.names)
        found.actual[:k], found.predicted[:k], found.right[:k] = (
            self.counts.actual, self.counts.predicted, self.counts.right,
        )  # fmt: skip
        found.actual[k:] = list(self.beyond.values())
        return found

    def result_lines(self) -> str:
        """The share of rows whose labels are all right."""
        percent = 100.0 * share(self.exact, self.rows)
        return f"Exact matches = {percent:g}% ({self.exact}/{self.rows})\n"

    def metric_lines(self) -> str:
        """The lines of --metrics; empty without it."""
        if not self.metrics:
            return ""
        counts = self._whole()
        lines = f"Micro F1 = {100.0 * counts.micro_f1():g}%\nMacro F1 = {100.0 * counts.macro_f1():g}%\n"
        for at, hits in zip(AT, self.hits.tolist(), strict=True):
            lines += f"Precision at {at} = {100.0 * share(hits, at * self.rows):g}%\n"
        return lines

    def warnings(self) -> list[str]:
        """Lines for stderr about the result lines."""
        if not self.beyond:
            return []
        some = ", ".join(f"{label:g}" for label in sorted(self.beyond)[:6]) + (", .." if len(self.beyond) > 6 else "")
        count = f"{len(self.beyond)} label{'s' * (len(self.beyond) != 1)}"
        return [f"WARNING: the rows have {count} that the model lacks ({some})"]
