"""Labels and accuracy of a classifier or one-class model, computed without numpy."""

from __future__ import annotations

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import BinaryIO

    from svmtool.formats.scored_text import Scored
    from svmtool.models.kernel import KernelModel
    from svmtool.models.linear import LinearModel


class Plain:
    """Writes labels block by block and counts correct ones; notice: as of Job."""

    def __init__(self, model: LinearModel | KernelModel, output: BinaryIO, notice: str | None):
        from svmtool.compiled.buffers import Buffer

        names = (1, -1) if model.labels is None else model.labels
        self.output, self.model, self.notice = output, model, notice
        self.names = Buffer("f8", len(names))
        for k, name in enumerate(names):
            self.names.items[k] = name
        self.texts = [b"%d\n" % name for name in names]
        self.total = self.hits = 0

    def add(self, block: Scored) -> None:
        from svmtool.compiled.buffers import Buffer
        from svmtool.compiled.loops.text.decision_loops import count_hits

        places = Buffer("i8", block.n)
        self.model.choose(block.decisions, places, block.n)
        self.hits += count_hits(block.labels, self.names, places, block.n)
        self.total += block.n
        self.output.write(b"".join(map(self.texts.__getitem__, places.items[: block.n])))

    def tally(self) -> tuple[int, int]:
        return self.total, self.hits

    def merge(self, tally: tuple[int, int]) -> None:
        """Add the counts of rows that another process has written."""
        self.total, self.hits = self.total + tally[0], self.hits + tally[1]

    def result_lines(self) -> str:
        """The accuracy, as LIBLINEAR or LIBSVM prints it."""
        return (self.notice or "") + accuracy_line(self.hits, self.total, self.notice is not None)

    def metric_lines(self) -> str:
        return ""

    def warnings(self) -> list[str]:
        return []


def accuracy_line(hits: int, total: int, of_libsvm: bool) -> str:
    """LIBLINEAR's or LIBSVM's line; without rows C prints 0 / 0 as -nan."""
    percent = "%g" % (hits / total * 100) if total else "-nan"
    return f"Accuracy = {percent}% ({hits}/{total}){' (classification)' if of_libsvm else ''}\n"
