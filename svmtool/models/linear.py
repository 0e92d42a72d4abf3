"""Linear models: decision values, labels and probabilities; the words of LIBLINEAR's model files.

Imports numpy where it is used: svm-predict often needs none.
"""

from __future__ import annotations

from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.decision_loops import choose, decide, logistic
from svmtool.errors import ModelError
from svmtool.integers import parse_count
from svmtool.numbers import parse_number

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import numpy as np

REGRESSION_WORDS = ("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL")
ONE_CLASS_WORD = "ONECLASS_SVM"
CRAMMER_SINGER_WORD = "MCSVM_CS"
LOGISTIC_WORDS = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
# The words of LIBLINEAR's model files, in the order of its solver numbers.
SOLVER_WORDS = (
    "L2R_LR", "L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "MCSVM_CS", "L1R_L2LOSS_SVC", "L1R_LR",
    "L2R_LR_DUAL", *REGRESSION_WORDS, ONE_CLASS_WORD,
)  # fmt: skip
RANKS_NOTE = "# The labels are ranks: ordinal regression"  # follows the weights of an ordinal model
MULTILABEL_NOTE = "# Several labels a row: "  # followed by the word of the problems, and perhaps `of` a count
THRESHOLDS_NOTE = "# Thresholds: "  # of a multi-label model, followed by a number for each label
SOFTMAX_NOTE = "# Probabilities: softmax of the decision values"  # of a multinomial logistic model
# Followed by a bound of |w - w*| of each problem, which certain.py uses
RADIUS_NOTE = "# Certified radius: "
OFFSET_NOTE = "# Certified offset: "  # and of |b - b*| where the bias b is free
BOUNDS_NOTES = RADIUS_NOTE, OFFSET_NOTE
# Followed by a JSON list: what the labels 0, 1, .. stand for, where classes are no integers of 32 bits
CLASSES_NOTE = "# Class names: "
NO_PROBABILITIES = "probability output is only supported for logistic regression "
NO_PROBABILITIES += "and for classifiers that svm-train -b 1 has trained"
SIGMOID_NOTE = "# Sigmoid: "  # followed by A and B, a line for each column of the weights (one for two classes)
NO_CLASSES = "the model has no classes (it was trained on an empty file) and cannot predict"
OVERFLOWN = "the weights overflowed and no model is written: scale the features or choose a smaller C"

BLOCK_ROWS = 2048
BLOCK_DECISIONS = 1 << 22  # decision values of a block of rows
SHOWN = 10  # classes in the text of a model
MAX_LOGIT = 700.0  # exp() does not overflow up to here, so that no sum of probabilities is 0


def classes_note(classes: list[Any]) -> str:
    """The note that names labels 0, 1, ..; what JSON does not have as text."""
    import json

    return CLASSES_NOTE + json.dumps([c if isinstance(c, (str, int, float)) else str(c) for c in classes])


def array_of_classes(classes: list[Any]) -> np.ndarray:
    """The classes as an array, of objects where their types differ."""
    import numpy as np

    return np.array(classes, None if len({type(c) for c in classes}) == 1 else object)


def weight_arrays(W: Any) -> tuple[Any, Any, Any]:
    """Weights as `decide` and `score_lines` take them: starts and columns of those of each feature, and their values.

    Starts are empty where all weights are there.
    """
    if hasattr(W, "indptr"):
        return W.indptr, W.labels, W.values
    return Buffer("i8", 0), Buffer("i4", 0), W


def weight_columns(word: str, nr_class: int) -> int:
    """Columns of W: one for two classes (two for MCSVM_CS), else one for each class."""
    return 1 if nr_class == 2 and word != CRAMMER_SINGER_WORD else nr_class


def largest_columns(decisions: np.ndarray, count: int) -> np.ndarray:
    """The columns of the `count` largest decision values of each row, the largest first; i8 (n, count or all)."""
    import numpy as np

    if count < decisions.shape[1]:
        some = np.sort(np.argpartition(-decisions, count - 1, axis=1)[:, :count], axis=1)
    else:
        some = np.tile(np.arange(decisions.shape[1]), (len(decisions), 1))
    order = np.argsort(-np.take_along_axis(decisions, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def stored_word(word: str, labels: int) -> str:
    """The word of a multi-label model's file: of two labels one whose models have two columns, unlike other words."""
    return CRAMMER_SINGER_WORD if labels == 2 else word


def weight_rows(n_features: int, bias: float) -> int:
    """Rows of W: one for each feature, one more for the bias."""
    return n_features + (1 if bias >= 0 else 0)


def kind_of(word: str) -> str:
    """`classification`, `regression` or `one-class`."""
    if word in REGRESSION_WORDS:
        return "regression"
    return "one-class" if word == ONE_CLASS_WORD else "classification"


def sigmoid_notes(sigmoids: list[tuple[float, float]]) -> tuple[str, ...]:
    """Lines with A and B of each decision value: P(class) = 1 / (1 + exp(A f + B))."""
    return tuple(f"{SIGMOID_NOTE}{A:.17g} {B:.17g}" for A, B in sigmoids)


def radius_notes(radii: Iterable[float], offsets: Iterable[float]) -> tuple[str, ...]:
    """The lines with the radius and, of free biases, the offset of each problem; none without them."""
    bounds, free = list(radii), list(offsets)
    lines = [(RADIUS_NOTE, bounds)] * bool(bounds) + [(OFFSET_NOTE, free)] * any(free)
    return tuple(name + " ".join(f"{bound:.17g}" for bound in numbers) for name, numbers in lines)


def sigmoids_of(model: Any) -> list[tuple[float, float]]:
    """A and B of each decision value, from the notes; empty without them, ModelError if they are damaged."""
    lines = [note[len(SIGMOID_NOTE) :] for note in model.notes if note.startswith(SIGMOID_NOTE)]
    if not lines or model.kind != "classification":
        return []
    wanted = 1 if model.nr_class == 2 else model.nr_class
    try:
        pairs = [(parse_number(a), parse_number(b)) for a, b in map(str.split, lines)]
    except ValueError:
        pairs = []
    if len(pairs) != wanted or any(x - x != 0 for pair in pairs for x in pair):
        raise ModelError(f"ERROR: the model must have {wanted} lines '{SIGMOID_NOTE}A B', A and B finite numbers")
    return pairs


class Model:
    """Predictions of linear and kernel models, from `decision_values` and `choose`."""

    @property
    def is_multilabel(self: Any) -> bool:
        """Whether a row has the labels whose decision values are above their thresholds, according to the notes."""
        return any(note.startswith(MULTILABEL_NOTE) for note in self.notes)

    @property
    def class_names(self: Any) -> list[Any] | None:
        """What the labels 0, 1, .. stand for, from the notes; None without names, ModelError if they are damaged."""
        found = [note[len(CLASSES_NOTE) :] for note in self.notes if note.startswith(CLASSES_NOTE)]
        if not found or self.labels is None:
            return None
        import json

        try:
            names = json.loads(found[0])
        except (ValueError, RecursionError):
            names = None
        simple = isinstance(names, list) and all(isinstance(name, (str, int, float)) for name in names)
        if not simple or sorted(self.labels) != list(range(len(names))):
            raise ModelError(f"ERROR: the line '{CLASSES_NOTE}' must have a JSON list of names, one for each label")
        return names

    @property
    def classes(self: Any) -> np.ndarray | None:
        """The classes in the order of `labels`: their names where there are some; None without labels."""
        if self.labels is None:
            return None
        names = self.class_names
        return array_of_classes(list(self.labels) if names is None else [names[label] for label in self.labels])

    def _of_classes(self: Any) -> str:
        """The first classes, for `repr`."""
        if self.labels is None:
            return ""
        names = list(self.labels) if self.class_names is None else self.classes.tolist()
        return f"; classes {', '.join(map(repr, names[:SHOWN]))}{', ..' * (len(names) > SHOWN)}"

    def labels_from(self: Any, decisions: np.ndarray) -> np.ndarray:
        """Predicted labels (or values) f8[n] from decision values."""
        import numpy as np

        if self.kind == "regression":
            return decisions[:, 0].copy()
        places = np.empty(len(decisions), dtype=np.int64)
        self.choose(decisions, places, len(decisions))
        return np.array((1, -1) if self.labels is None else self.labels, dtype=np.float64)[places]

    def predict(self: Any, table) -> np.ndarray:
        """Predicted labels (or values) f8[n] of a Dataset; of many rows and classes by blocks of rows."""
        import numpy as np

        n, step = len(table), max(1, BLOCK_DECISIONS // max(1, self.columns))
        if n <= step:
            return self.labels_from(self.decision_values(table))
        blocks = [np.arange(first, min(n, first + step)) for first in range(0, n, step)]
        return np.concatenate([self.labels_from(self.decision_values(table.take(some))) for some in blocks])


class LinearModel(Model):
    """A linear model with the content of LIBLINEAR's file.

    Attributes
    ----------
    word : str
        One of SOLVER_WORDS; determines how predictions follow from decision values.
    labels : tuple of int or None
        Class labels in the model's order; None for regression and one-class.
    nr_class : int
        Number of classes; 2 for regression and one-class.
    n_features : int
        Largest feature index of the model, without the bias.
    bias : float
        Value of the appended constant feature; below 0: none.
    rho : float or None
        Subtracted from the decision values of one-class models.
    W : ndarray (n_features + 1 where bias >= 0, columns), SparseWeights, Columns or Buffer
        The weights, C order.  SparseWeights and Columns hold no zeros; a Buffer takes the place of an array where numpy
        is not needed.
    notes : tuple of str
        Lines, each starting with '#', written after the weights.
    state : object or None
        Of an adaptable model from Python: what the files beside it will hold, see training/adapting.
    """

    state: Any = None

    def __init__(
        self, word: str, labels: tuple[int, ...] | None, n_features: int, bias: float, W: Any,
        rho: float | None = None, notes: tuple[str, ...] = (),
    ):  # fmt: skip
        self.word, self.labels, self.n_features, self.bias = word, labels, n_features, bias
        self.nr_class = 2 if labels is None else len(labels)
        self.W, self.rho, self.notes = W, rho, tuple(notes)
        if not isinstance(W, Buffer) and not hasattr(W, "pieces"):
            import numpy as np

            shape = weight_rows(n_features, bias), self.columns
            self.W = np.ascontiguousarray(W, dtype=np.float64).reshape(shape)

    def __repr__(self) -> str:
        bias = f", bias {self.bias:g}" if self.bias >= 0 else ""
        features = f"{self.n_features} feature{'s' * (self.n_features != 1)}"
        return f"<LinearModel {self.word}: {features}{bias}{self._of_classes()}>"

    @property
    def columns(self) -> int:
        """Number of decision values of a row."""
        return weight_columns(self.word, self.nr_class)

    @property
    def kind(self) -> str:
        """`classification`, `regression` or `one-class`."""
        return kind_of(self.word)

    @property
    def label_count(self) -> int:
        """Of a multi-label model: labels 0, 1, .. that rows could have, columns of a prediction's matrix."""
        found = [note.rpartition(" of ")[2] for note in self.notes if note.startswith(MULTILABEL_NOTE)]
        least = max(self.labels or (), default=-1) + 1
        return max(least, parse_count(found[0]) or 0) if found else least

    @property
    def thresholds(self) -> np.ndarray:
        """Of a multi-label model: the decision value above which a row has each label, f8[labels]; mostly 0.

        ModelError if the notes are damaged.
        """
        import numpy as np

        found = [note[len(THRESHOLDS_NOTE) :].split() for note in self.notes if note.startswith(THRESHOLDS_NOTE)]
        if not found:
            return np.zeros(self.nr_class)
        try:
            numbers = np.array([parse_number(text) for text in found[0]])
        except ValueError:
            numbers = np.zeros(0)
        if len(numbers) != self.nr_class or np.isnan(numbers).any():
            raise ModelError(f"ERROR: the line '{THRESHOLDS_NOTE}' must have {self.nr_class} numbers")
        return numbers

    @property
    def is_ordinal(self) -> bool:
        """Whether the labels are ranks in ascending order (ordinal regression), according to the notes."""
        return RANKS_NOTE in self.notes

    @property
    def gives_probabilities(self) -> bool:
        """Whether the model is logistic or has sigmoids, of one label a row."""
        return not self.is_multilabel and (self.word in LOGISTIC_WORDS or bool(sigmoids_of(self)))

    def decision_values(self, table) -> np.ndarray:
        """Decision values f8 (n, columns) of a Dataset; features beyond n_features are ignored."""
        import numpy as np

        n = len(table.labels)
        rho = self.rho if self.word == ONE_CLASS_WORD and self.rho is not None else 0.0  # other models ignore it
        if hasattr(table, "products"):  # dense rows
            if not hasattr(self.W, "indptr"):
                return table.products(self.W, self.bias) - rho
            table = table.as_sparse()
        out = np.empty((n, self.columns))
        call = decide.bind(table.indptr, table.indices, table.values, *weight_arrays(self.W), out)

        def work(block: int) -> None:
            first = block * BLOCK_ROWS
            call(self.columns, self.n_features, self.bias, rho, first, min(n, first + BLOCK_ROWS))
            if table.mapped is not None:
                table.mapped.check()

        threads.run_blocks(work, -(-n // BLOCK_ROWS))
        return out

    def choose(self, decisions, places, n: int) -> None:
        """Set places i8[n] to the index of each row's predicted class (one-class: 0 inside, 1 outside)."""
        if self.columns == 0:
            raise ModelError(NO_CLASSES)
        by_sign = self.nr_class == 2  # the sign of the first column even where there are two (MCSVM_CS)
        choose(decisions, places, self.columns, int(by_sign), n)

    def predict_sets(self, table: Any) -> tuple[np.ndarray, np.ndarray]:
        """`choose_sets` of the rows of a Dataset by the thresholds, by blocks of rows."""
        import numpy as np

        n, step, thresholds = len(table), max(1, BLOCK_DECISIONS // max(1, self.columns)), self.thresholds
        blocks = [np.arange(first, min(n, first + step)) for first in range(0, n, step)]
        found = [self.choose_sets(self.decision_values(table.take(some)), thresholds) for some in blocks]
        counts, columns = zip(*found, strict=True) if found else ((np.zeros(0, np.int64),), (np.zeros(0, np.int64),))
        return np.concatenate(counts), np.concatenate(columns)

    def choose_sets(
        self, decisions: np.ndarray, thresholds: np.ndarray | None, top: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many labels each row has, i8[n], and their columns, i8, ascending in each row.

        thresholds, f8[columns]: labels are those above them; or top: those of so many largest decision values.
        """
        import numpy as np

        if top is not None:
            best = np.sort(largest_columns(decisions, top), axis=1)
            return np.full(len(best), best.shape[1]), best.ravel()
        rows, columns = np.nonzero(decisions > thresholds)
        return np.bincount(rows, minlength=len(decisions)), columns

    def class_values(self, decisions: np.ndarray) -> np.ndarray:
        """Input of the sigmoids: decision values; for Crammer-Singer each class's lead over the best other class."""
        if self.word != CRAMMER_SINGER_WORD or self.columns < 3:
            return decisions
        import numpy as np

        second, best = np.partition(decisions, -2, axis=1)[:, -2:].T[..., None]
        return decisions - np.where(decisions == best, second, best)

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Class probabilities f8 (n, nr_class), from decision values; ModelError if the model gives none.

        A logistic model's own formula takes precedence over stored sigmoids, as in LIBLINEAR's predict.
        """
        import numpy as np

        if not self.gives_probabilities:
            raise ModelError(NO_PROBABILITIES)
        if self.word not in LOGISTIC_WORDS:
            A, B = np.array(sigmoids_of(self)).T
            values = self.class_values(decisions)[:, : len(A)]
            decisions = np.ascontiguousarray(np.clip(-(values * A + B), -MAX_LOGIT, MAX_LOGIT))
        if SOFTMAX_NOTE in self.notes:
            shares = np.exp(decisions - decisions.max(axis=1, keepdims=True))
            return shares / shares.sum(axis=1, keepdims=True)
        out = np.empty((len(decisions), self.nr_class))
        logistic(decisions, out, decisions.shape[1], self.nr_class, len(decisions))
        return out
