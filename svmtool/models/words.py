"""The words of LIBLINEAR's model files and their meaning.  Needs no numpy."""

from __future__ import annotations

from svmtool.errors import ModelError
from svmtool.numbers import parse_number

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import Any

REGRESSION_WORDS = ("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL")
ONE_CLASS_WORD = "ONECLASS_SVM"
CRAMMER_SINGER_WORD = "MCSVM_CS"
LOGISTIC_WORDS = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
# The words of LIBLINEAR's model files, in the order of its solver numbers.
WORDS = (
    "L2R_LR", "L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "MCSVM_CS", "L1R_L2LOSS_SVC", "L1R_LR",
    "L2R_LR_DUAL", *REGRESSION_WORDS, ONE_CLASS_WORD,
)  # fmt: skip
RANKS_NOTE = "# The labels are ranks: ordinal regression"  # follows the weights of an ordinal model
NO_PROBABILITIES = "probability output is only supported for logistic regression "
NO_PROBABILITIES += "and for classifiers that svm-train -b 1 has trained"
SIGMOID_NOTE = "# Sigmoid: "  # followed by A and B, a line for each column of the weights (one for two classes)


def weight_columns(word: str, nr_class: int) -> int:
    """Columns of W: one for two classes (two for MCSVM_CS), else one for each class."""
    return 1 if nr_class == 2 and word != CRAMMER_SINGER_WORD else nr_class


def weight_rows(n_features: int, bias: float) -> int:
    """Rows of W: one for each feature, one more for the bias."""
    return n_features + (1 if bias >= 0 else 0)


def task_of(word: str) -> str:
    """`classification`, `regression` or `one-class`."""
    if word in REGRESSION_WORDS:
        return "regression"
    return "one-class" if word == ONE_CLASS_WORD else "classification"


def sigmoid_notes(sigmoids: list[tuple[float, float]]) -> tuple[str, ...]:
    """Lines with A and B of each decision value: P(class) = 1 / (1 + exp(A f + B))."""
    return tuple(f"{SIGMOID_NOTE}{A:.17g} {B:.17g}" for A, B in sigmoids)


def sigmoids_of(model: Any) -> list[tuple[float, float]]:
    """A and B of each decision value, from the notes; empty without them, ModelError if they are damaged."""
    lines = [note[len(SIGMOID_NOTE) :] for note in model.notes if note.startswith(SIGMOID_NOTE)]
    if not lines or model.task != "classification":
        return []
    wanted = 1 if model.nr_class == 2 else model.nr_class
    try:
        pairs = [(parse_number(a), parse_number(b)) for a, b in map(str.split, lines)]
    except ValueError:
        pairs = []
    if len(pairs) != wanted or any(x - x != 0 for pair in pairs for x in pair):
        raise ModelError(f"ERROR: the model must have {wanted} lines '{SIGMOID_NOTE}A B', A and B finite numbers")
    return pairs

NO_CLASSES = "the model has no classes (it was trained on an empty file) and cannot predict"
OVERFLOWN = "the weights overflowed and no model is written: scale the features (svm-scale) or choose "
OVERFLOWN += "a smaller -c"
