"""The parts of svm-predict that need numpy: regression, probabilities, decision values and metrics."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from svmtool.cli.predict import accuracy_line
from svmtool.compiled.decision_loops import add_errors
from svmtool.formats.linear_model import StoredModel
from svmtool.formats.numbers import format_numbers, format_rows
from svmtool.formats.scored_text import Scored
from svmtool.metrics import ClassCounts, RankCurve, determination, quotient, rank_places, squared_correlation
from svmtool.model import LinearModel


class Report:
    """Writes predictions (and scores) block by block; result lines are LIBLINEAR's, metric lines ours."""

    def __init__(
        self, stored: StoredModel, output: BinaryIO, scores: BinaryIO | None, probabilities: bool, metrics: bool
    ):
        W = stored.W.array()
        self.model = LinearModel(
            stored.word, stored.labels, stored.n_features, stored.bias, W, stored.rho, stored.notes
        )
        self.output, self.scores, self.probabilities, self.metrics = output, scores, probabilities, metrics
        self.total = self.hits = 0
        self.sums = np.zeros(7)  # of decision_loops.add_errors
        self.ranks = np.sort(stored.labels).astype(float) if metrics and self.model.is_ordinal else None
        self.distance = 0.0  # between predicted and true ranks, summed
        names = (1, -1) if stored.labels is None else stored.labels
        self.counts = ClassCounts(names)
        self.curve: RankCurve | None = None
        if metrics and stored.task == "one-class":
            self.curve = RankCurve(1.0)
        elif metrics and stored.nr_class == 2 and stored.task == "classification":
            self.curve = RankCurve(float(names[0]), float(names[1]))
        if probabilities:
            output.write(" ".join(["labels", *map(str, names)]).encode() + b"\n")

    def add(self, block: Scored) -> None:
        """Write and count the rows of a block."""
        n, columns = block.n, self.model.columns
        labels, decisions = block.labels.array()[:n], block.decisions.array()[: n * columns].reshape(n, columns)
        predictions = self.model.labels_from(decisions)
        self.total += n
        if n == 0:
            return
        if self.probabilities:
            rows = np.column_stack((predictions, self.model.probabilities(decisions)))
            self.output.write(format_rows(rows, 6))
        else:
            self.output.write(format_numbers(predictions, 17))
        if self.scores is not None:
            self.scores.write(format_rows(decisions, 17))
        if self.model.task == "regression":
            add_errors(labels, predictions, self.sums, n)
            return
        self.hits += int(np.count_nonzero(labels == predictions))
        if self.metrics:
            self.counts.add(labels, predictions)
        if self.ranks is not None:
            self.distance += float(
                np.sum(np.abs(rank_places(predictions, self.ranks) - rank_places(labels, self.ranks)))
            )
        if self.curve is not None:
            self.curve.add(labels, decisions[:, 0])

    def result_lines(self) -> str:
        """Accuracy, or the two lines of a regression, as LIBLINEAR prints them."""
        if self.model.task != "regression":
            return accuracy_line(self.hits, self.total)
        return (
            f"Mean squared error = {quotient(self.sums[0], self.total)} (regression)\n"
            f"Squared correlation coefficient = {squared_correlation(self.sums, self.total)} (regression)\n"
        )

    def metric_lines(self) -> str:
        """What --metrics asks for; empty without it."""
        if not self.metrics:
            return ""
        if self.model.task == "regression":
            squares, _, y, _, yy, _, absolute = self.sums.tolist()
            r2 = determination(squares, y, yy, self.total)
            return f"Mean absolute error = {quotient(absolute, self.total)}\nR2 = {r2:g}\n"
        lines = [
            f"Label {label:g}: precision = {100 * precision:g}%, recall = {100 * recall:g}%, F1 = {100 * f1:g}% "
            f"({rows} rows)\n"
            for label, precision, recall, f1, rows in self.counts.rows()
        ]
        precision, recall, f1 = self.counts.macro()
        lines.append(
            f"Macro average: precision = {100 * precision:g}%, recall = {100 * recall:g}%, F1 = {100 * f1:g}%\n"
        )
        if self.ranks is not None:
            lines.append(f"Mean absolute error = {quotient(self.distance, self.total)} (ranks)\n")
        if self.curve is not None:
            lines.append(f"AUC = {self.curve.area():g}\n")
        return "".join(lines)
