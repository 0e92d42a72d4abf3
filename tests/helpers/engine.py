"""The options by which svm-train runs the engine: of the papers' numbers it is not the default method."""

from __future__ import annotations


def engine(number: int) -> tuple:
    """`-s number`, with `--method fast` where the number is a paper's."""
    return ("-s", number, "--method", "fast") if number >= 30 else ("-s", number)
