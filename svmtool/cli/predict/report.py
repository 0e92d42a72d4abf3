"""The parts of svm-predict that need numpy: regression, probabilities, decision values and metrics."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from svmtool.cli.predict.plain import Hits
from svmtool.formats.scored_text import Scored
from svmtool.metrics import ClassCounts, RankCurve, RegressionErrors, quotient, rank_places
from svmtool.models.certain import share_line
from svmtool.numbers import format_numbers, format_rows


class Report:
    """Writes predictions (and scores) block by block; has the result lines and svmtool's metrics.

    notice: as of Job.
    """

    def __init__(
        self, model: Any, output: BinaryIO, scores: BinaryIO | None, probabilities: bool, metrics: bool,
        notice: str | None, certified: bool = False,
    ):  # fmt: skip
        self.certified = certified
        self.model, self.output, self.scores, self.metrics, self.notice = model, output, scores, metrics, notice
        self.probabilities = probabilities and model.kind != "regression"
        self.certain = [0, 0]  # rows of --certified, and those whose labels are certain
        self.missed = 0  # rows whose probabilities reached LIBSVM's iteration limit
        self.errors = RegressionErrors()
        self.ranks = np.sort(model.labels).astype(float) if metrics and model.is_ordinal else None
        self.distance = 0.0  # between predicted and true ranks, summed
        names = (1, -1) if model.labels is None else model.labels
        self.names = np.array(() if model.kind == "regression" else names, np.float64)
        self.hits = Hits(self.names.tolist(), notice is not None)
        self.counts = ClassCounts(names)
        self.curve: RankCurve | None = None
        if metrics and model.kind == "one-class":
            self.curve = RankCurve(1.0)
        elif metrics and model.nr_class == 2 and model.kind == "classification":
            self.curve = RankCurve(float(names[0]), float(names[1]))
        if self.probabilities:
            words = ["label", "normal", "outlier"] if model.kind == "one-class" else ["labels", *map(str, names)]
            output.write(" ".join(words).encode() + b"\n")

    def predict(self, decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Predictions f8[n], and probabilities f8[n, classes] or None; LIBSVM predicts the most probable class."""
        model = self.model
        if not self.probabilities:
            return model.labels_from(decisions), None
        if self.notice is None:
            return model.labels_from(decisions), model.probabilities(decisions)
        probabilities, missed = model.estimate(decisions)
        self.missed += missed
        if model.kind == "one-class":
            return model.labels_from(decisions), probabilities
        return np.array(model.labels, np.float64)[np.argmax(probabilities, axis=1)], probabilities

    def add(self, block: Scored) -> None:
        """Write and count the rows of a block."""
        n, columns = block.n, self.model.columns
        labels, decisions = block.labels.array()[:n], block.decisions.array()[: n * columns].reshape(n, columns)
        predictions, probabilities = self.predict(decisions)
        if n == 0:
            return
        if probabilities is not None:
            self.output.write(format_rows(np.column_stack((predictions, probabilities)), 6))
        else:
            self.output.write(format_numbers(predictions, 17))
        if self.scores is not None and columns:
            known = decisions if block.certain is None else np.column_stack((decisions, block.certain))
            self.scores.write(format_rows(known, 17))
        if block.certain is not None:
            self.certain = [self.certain[0] + n, self.certain[1] + int(np.count_nonzero(block.certain))]
        given = labels == labels  # nan is no label
        if not given.all():
            labels, predictions, decisions = labels[given], predictions[given], decisions[given]
        known, hits = (int(np.count_nonzero(x)) for x in (np.isin(labels, self.names), labels == predictions))
        self.hits.merge((n, len(labels), known, hits))
        if self.model.kind == "regression":
            self.errors.add(labels, predictions)
            return
        if self.metrics:
            one_class = self.model.kind == "one-class"  # every label but 1 is an outlier, as for the curve
            self.counts.add(np.where(labels == 1.0, 1.0, -1.0) if one_class else labels, predictions)
        if self.ranks is not None:
            between = rank_places(predictions, self.ranks) - rank_places(labels, self.ranks)
            self.distance += float(np.sum(np.abs(between)))
        if self.curve is not None:
            self.curve.add(labels, decisions[:, 0])

    def tally(self) -> tuple:
        """The counts, for `merge`."""
        return self.hits.tally(), self.missed, self.errors, self.distance, self.counts, self.curve

    def merge(self, tally: tuple) -> None:
        """Add the counts of later rows that another process has written."""
        hits, missed, errors, distance, counts, curve = tally
        self.hits.merge(hits)
        self.missed, self.distance = self.missed + missed, self.distance + distance
        self.errors.merge(errors)
        self.counts.merge(counts)
        if self.curve is not None:
            self.curve.merge(curve)

    def result_lines(self) -> str:
        """Accuracy, or the two lines of a regression, as LIBLINEAR or LIBSVM prints them."""
        before = (self.notice or "") + "Exceeds max_iter in multiclass_prob\n" * self.missed
        if self.model.kind != "regression":
            return before + self.hits.line()
        if not self.hits.measured:
            return before
        return (
            f"{before}Mean squared error = {self.errors.mean_squared()} (regression)\n"
            f"Squared correlation coefficient = {self.errors.squared_correlation()} (regression)\n"
        )

    def warnings(self) -> list[str]:
        """Lines for stderr about the result lines."""
        found = self.hits.warnings()
        return found + self.errors.warnings() if self.model.kind == "regression" and self.hits.measured else found

    def metric_lines(self) -> str:
        """The lines of --certified and --metrics; empty without them."""
        before = share_line(*self.certain) if self.certified else ""
        if not self.metrics or not self.hits.measured:
            return before
        if self.model.kind == "regression":
            return f"Mean absolute error = {self.errors.mean_absolute()}\nR2 = {self.errors.determination():g}\n"
        lines = [before] + [
            f"Label {label:g}: precision = {100 * precision:g}%, recall = {100 * recall:g}%, F1 = {100 * f1:g}% "
            f"({rows} rows)\n"
            for label, precision, recall, f1, rows in self.counts.rows()
        ]
        precision, recall, f1 = self.counts.macro()
        lines.append(
            f"Macro average: precision = {100 * precision:g}%, recall = {100 * recall:g}%, F1 = {100 * f1:g}%\n"
        )
        if self.ranks is not None:
            lines.append(f"Mean absolute error = {quotient(self.distance, self.hits.counts.items[0])} (ranks)\n")
        if self.curve is not None:
            lines.append(f"AUC = {self.curve.area():g}\n")
        return "".join(lines)
