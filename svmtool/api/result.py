"""The result of `fit`."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from svmtool.api.wording import in_classes, in_keywords
from svmtool.certify.linear import Certificate
from svmtool.data.dataset import of_all_rows
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import RULE, Status
from svmtool.training.lines import liblinear_log
from svmtool.training.notices import Notice, advice, converged
from svmtool.training.outcome import worst_status

M = TypeVar("M", bound=LinearModel | KernelModel, covariant=True)


class Fit(Generic[M]):
    """The result of `fit`: a model, its certificate and facts about the run.  Immutable.

    Attributes
    ----------
    model : LinearModel or KernelModel
        The trained model.
    certificate : Certificate
        `primal` and `dual` value, relative `gap` and KKT `violation`; with several problems sums of the values, and the
        largest gap and violation.  Computed from the weights, not reported by the solver.
    loo_score : float or None
        With `loo=True` the leave-one-out accuracy.
    notices : tuple of Notice
        What the user must know besides, in the commands' words.
    seconds : float
        Duration of the whole call.
    """

    __slots__ = (
        "model", "certificate", "loo_score", "notices", "seconds", "_row", "_results", "_kept", "_n", "_support",
        "_text", "_features",
    )  # fmt: skip

    model: M
    certificate: Certificate
    loo_score: float | None
    notices: tuple[Notice, ...]
    seconds: float
    _row: Solver
    _results: list[Any]
    _kept: np.ndarray | None
    _n: int
    _support: np.ndarray | None
    _text: str | None
    _features: int | None

    def __init__(self, **fields: Any):
        for name in self.__slots__:
            object.__setattr__(self, name, fields.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Fit cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Fit cannot be changed: {name}")

    def __reduce__(self) -> tuple:
        return _restored, ({name: getattr(self, name) for name in self.__slots__},)

    @property
    def status(self) -> Status:
        """`name`, `converged` and `advice` of the problem with the worst status."""
        return worst_status(self._results) or RULE

    @property
    def converged(self) -> bool:
        """Whether `svm-train --strict` accepts the run: rule, gap and what was asked for besides."""
        return converged(self.notices)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the commands print as warnings, with keywords."""
        names = self.model.class_names
        found = tuple(in_keywords(notice.sentence) for notice in self.notices)
        return found if names is None else tuple(in_classes(sentence, names) for sentence in found)

    @property
    def message(self) -> str:
        """Why the run ended, and what to do about it."""
        if self.status.converged and not self.converged:
            return in_keywords("; ".join(notice.sentence for notice in self.notices if not notice.converged))
        return in_keywords(advice(self.status, self._row))

    @property
    def n_iter(self) -> np.ndarray:
        """Iterations of each problem, ndarray of int, (problems,)."""
        return np.array([r.iterations for r in self._results], np.int64)

    @property
    def alpha(self) -> np.ndarray | None:
        """The dual variables (n, problems), of a regression their differences; None where the solver has none.

        With a kernel: the coefficients of the support vectors, as the model has them.
        """
        if isinstance(self.model, KernelModel):
            return self.model.coef
        found = [r.alpha for r in self._results]
        if not found or any(a is None for a in found):
            return None
        alpha = found[0] if found[0].ndim == 2 else np.stack(found, axis=1)
        return of_all_rows(alpha, self._kept, self._n)

    @property
    def dual_point(self) -> np.ndarray | None:
        """With `keep_dual=True` the feasible dual point of `certificate`, (n, problems): its value is `dual` or more.

        Of a regression differences, as `alpha`, which is the solver's own point.
        """
        point = self.certificate.point
        return None if point is None else of_all_rows(point, self._kept, self._n)

    @property
    def support(self) -> np.ndarray | None:
        """The rows that are support vectors, in the order of a kernel model; None where there is no alpha."""
        if isinstance(self.model, KernelModel):
            return self._support
        alpha = self.alpha
        return None if alpha is None else np.flatnonzero(np.any(alpha != 0.0, axis=1))

    @property
    def log(self) -> str:
        """What LIBLINEAR or LIBSVM prints about the run."""
        if self._text is not None:
            return self._text
        return "".join(liblinear_log(self._row, result) for result in self._results)

    def __repr__(self) -> str:
        c = self.certificate
        word = "converged" if self.converged else "not converged"
        return (
            f"<Fit: solver {self._row.number} ({self._row.name}), {word}: {self.message}; objective {c.primal:.6g}, "
            f"{c.kind.lower()} gap {c.gap:.2g}, {self.seconds:.3g} s>"
        )


def _restored(fields: dict[str, Any]) -> Fit:
    return Fit(**fields)
