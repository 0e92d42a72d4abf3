"""The table of options of each command, by its name."""

from __future__ import annotations

from svmtool.options import Option, predict, scale, train

TABLES: dict[str, tuple[Option, ...]] = {
    "svm-train": train.OPTIONS, "svm-predict": predict.OPTIONS, "svm-scale": scale.OPTIONS,
}  # fmt: skip
