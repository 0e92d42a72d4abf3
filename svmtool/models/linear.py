"""Linear models: decision values, labels and probabilities."""

from __future__ import annotations

import numpy as np

from svmtool.compiled import threads
from svmtool.compiled.loops.text.decision_loops import choose, decide, logistic
from svmtool.errors import ModelError
from svmtool.models import words

ROWS_A_BLOCK = 2048
LARGEST_LOGIT = 700.0  # exp() does not overflow up to here, so that no sum of probabilities is 0


class LinearModel:
    """A linear model with the content of LIBLINEAR's file.

    word        one of WORDS; determines how predictions follow from decision values
    labels      class labels in the model's order; None for regression and one-class
    nr_class    number of classes; 2 for regression and one-class
    n_features  largest feature index of the model, without the bias
    bias        value of the appended constant feature; < 0: none
    rho         subtracted from the decision values (one-class), else None
    W           f8 (n_features + 1 where bias >= 0, columns), C order
    notes       lines, each starting with '#', written after the weights
    """

    __slots__ = ("word", "labels", "nr_class", "n_features", "bias", "rho", "W", "notes")

    def __init__(
        self,
        word: str,
        labels: tuple[int, ...] | None,
        n_features: int,
        bias: float,
        W: np.ndarray,
        rho: float | None = None,
        notes: tuple[str, ...] = (),
    ):
        self.word, self.labels, self.n_features, self.bias = word, labels, n_features, bias
        self.nr_class = 2 if labels is None else len(labels)
        self.rho, self.notes = rho, tuple(notes)
        shape = (words.weight_rows(n_features, bias), words.weight_columns(word, self.nr_class))
        self.W = np.ascontiguousarray(W, dtype=np.float64).reshape(shape)

    @property
    def columns(self) -> int:
        """Number of decision values of a row."""
        return self.W.shape[1]

    @property
    def task(self) -> str:
        """`classification`, `regression` or `one-class`."""
        return words.task_of(self.word)

    @property
    def is_ordinal(self) -> bool:
        """Whether the labels are ranks in ascending order (ordinal regression), according to the notes."""
        return words.RANKS_NOTE in self.notes

    @property
    def gives_probabilities(self) -> bool:
        """Whether the model is logistic or has sigmoids."""
        return self.word in words.LOGISTIC_WORDS or bool(words.sigmoids_of(self))

    def decision_values(self, table) -> np.ndarray:
        """Decision values f8 (n, columns) of a Dataset; features beyond n_features are ignored."""
        n = len(table.labels)
        rho = self.rho if self.word == words.ONE_CLASS_WORD and self.rho is not None else 0.0  # other models ignore it
        products = table.products(self.W, self.bias) if hasattr(table, "products") else None
        if products is not None:
            return products - rho
        out = np.empty((n, self.columns))
        call = decide.bind(table.indptr, table.indices, table.values, self.W, out)

        def work(block: int) -> None:
            first = block * ROWS_A_BLOCK
            call(self.columns, self.n_features, self.bias, rho, first, min(n, first + ROWS_A_BLOCK))
            if table.mapped is not None:
                table.mapped.check()

        threads.run_blocks(work, -(-n // ROWS_A_BLOCK))
        return out

    def labels_from(self, decisions: np.ndarray) -> np.ndarray:
        """Predicted labels (or values) f8[n] from decision values."""
        if self.task == "regression":
            return decisions[:, 0].copy()
        by_sign = self.nr_class == 2  # the sign of the first column even where there are two (MCSVM_CS)
        if not by_sign and self.columns == 0:
            raise ModelError(words.NO_CLASSES)
        places = np.empty(len(decisions), dtype=np.int64)
        choose(decisions, places, self.columns, int(by_sign), len(decisions))
        names = (1, -1) if self.labels is None else self.labels
        return np.array(names, dtype=np.float64)[places]

    def predict(self, table) -> np.ndarray:
        """Predicted labels (or values) f8[n] of a Dataset."""
        return self.labels_from(self.decision_values(table))

    def class_values(self, decisions: np.ndarray) -> np.ndarray:
        """Input of the sigmoids: decision values; for Crammer-Singer each class's lead over the best other class."""
        if self.word != words.CRAMMER_SINGER_WORD or self.columns < 3:
            return decisions
        second, best = np.partition(decisions, -2, axis=1)[:, -2:].T[..., None]
        return decisions - np.where(decisions == best, second, best)

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Class probabilities f8 (n, nr_class), from decision values; ModelError if the model gives none.

        A logistic model's own formula takes precedence over stored sigmoids, as in LIBLINEAR's predict.
        """
        if not self.gives_probabilities:
            raise ModelError(words.NO_PROBABILITIES)
        if self.word not in words.LOGISTIC_WORDS:
            A, B = np.array(words.sigmoids_of(self)).T
            values = self.class_values(decisions)[:, : len(A)]
            logits = np.clip(-(values * A + B), -LARGEST_LOGIT, LARGEST_LOGIT)
            decisions = np.ascontiguousarray(logits)
        out = np.empty((len(decisions), self.nr_class))
        logistic(decisions, out, decisions.shape[1], self.nr_class, len(decisions))
        return out
