"""Labels and accuracy of a classifier or one-class model, computed without numpy."""

from __future__ import annotations

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from svmtool.compiled.buffers import Buffer
    from svmtool.formats.scored_text import Scored
    from svmtool.models.kernel import KernelModel
    from svmtool.models.linear import LinearModel

SHOWN = 6  # labels in a message


class Hits:
    """Counts rows of a test set: all, those with a label, with one of the labels `names`, and predicted right.

    Rows without a label, or nan, are predicted but not measured.
    """

    def __init__(self, names: Sequence[float], of_libsvm: bool):
        from svmtool.compiled.buffers import Buffer

        self.names, self.of_libsvm = names, of_libsvm
        self.rows, self.counts = 0, Buffer("i8", 3)

    def add(self, labels: Buffer, places: Buffer, n: int) -> None:
        """Add n rows: their labels, and the place of each predicted label among `names`."""
        from svmtool.compiled.buffers import Buffer
        from svmtool.compiled.loops.text.decision_loops import count_hits

        known = Buffer("f8", len(self.names))
        for k, name in enumerate(self.names):
            known.items[k] = name
        count_hits(labels, known, places, self.counts, n)
        self.rows += n

    def tally(self) -> tuple[int, ...]:
        return self.rows, *self.counts.items

    def merge(self, tally: tuple[int, ...]) -> None:
        """Add the counts of other rows."""
        self.rows += tally[0]
        for k, count in enumerate(tally[1:]):
            self.counts.items[k] += count

    @property
    def measured(self) -> bool:
        """Whether some row has a label, or there are no rows at all."""
        return not self.rows or self.counts.items[0] > 0

    def line(self) -> str:
        """LIBLINEAR's or LIBSVM's line of the accuracy; without rows C prints 0 / 0 as -nan."""
        if not self.measured:
            return ""
        labelled, _, hits = self.counts.items
        percent = "%g" % (hits / labelled * 100) if labelled else "-nan"
        return f"Accuracy = {percent}% ({hits}/{labelled}){' (classification)' if self.of_libsvm else ''}\n"

    def warnings(self) -> list[str]:
        """Lines about rows that are not measured, or whose measure says nothing."""
        labelled, known, _ = self.counts.items
        if not self.measured:
            return ["the rows have no labels: they are predicted, nothing is measured"]
        found = []
        if labelled < self.rows:
            found.append(f"WARNING: {self.rows - labelled} of {self.rows} rows have no label and are not counted")
        if labelled and not known and self.names:
            some = ", ".join(f"{name:g}" for name in self.names[:SHOWN])
            some += ", .." if len(self.names) > SHOWN else ""
            found.append(f"WARNING: no row has a label of the model ({some}): these rows cannot be predicted right")
        return found


class Plain:
    """Writes labels block by block and counts correct ones; notice: as of Job."""

    def __init__(self, model: LinearModel | KernelModel, output: BinaryIO, notice: str | None):
        names = (1, -1) if model.labels is None else model.labels
        self.output, self.model, self.notice = output, model, notice
        self.texts = [b"%d\n" % name for name in names]
        self.hits = Hits(names, notice is not None)

    def add(self, block: Scored) -> None:
        from svmtool.compiled.buffers import Buffer

        places = Buffer("i8", block.n)
        self.model.choose(block.decisions, places, block.n)
        self.hits.add(block.labels, places, block.n)
        self.output.write(b"".join(map(self.texts.__getitem__, places.items[: block.n])))

    def tally(self) -> tuple[int, ...]:
        return self.hits.tally()

    def merge(self, tally: tuple[int, ...]) -> None:
        """Add the counts of rows that another process has written."""
        self.hits.merge(tally)

    def result_lines(self) -> str:
        """The accuracy, as LIBLINEAR or LIBSVM prints it."""
        return (self.notice or "") + self.hits.line()

    def metric_lines(self) -> str:
        return ""

    def warnings(self) -> list[str]:
        """Lines for stderr about the result lines."""
        return self.hits.warnings()
