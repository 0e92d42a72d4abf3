"""Least-squares SVM to which rows are added and from which rows are removed, without the other rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmtool import registry
from svmtool.api.arrays import dataset
from svmtool.api.run import RunContext
from svmtool.certify.linear import worst
from svmtool.data.class_statistics import ClassStatistics
from svmtool.formats.adaptable.row_log import hashes_of
from svmtool.models.linear import LinearModel
from svmtool.objectives.normal_equations import equations_of
from svmtool.sklearn import model_files
from svmtool.sklearn.base import (
    POSITIVE,
    SCALING,
    CertifiedEstimator,
    LinearDecisions,
    check_classes,
    checks_parameters,
)
from svmtool.sklearn.described import described
from svmtool.training.adapting.adaptable import solution
from svmtool.training.inputs import refuse_overflow
from svmtool.training.notices import converged, of_sums

if TYPE_CHECKING:
    from typing_extensions import Self

ALSVM = 71  # number of the solver in the registry


class _Rows:
    """What is kept of the rows in a model.

    sums    sums over them, which determine the model
    known   all classes that have come, in the order in which they came; their places are the labels in `sums`
    hashes  how often each row, with its class and weight, is there
    """

    def __init__(self) -> None:
        self.sums, self.hashes = ClassStatistics(), Counter[int]()
        self.known: list[Any] = []


@described
class AdaptableLSSVC(LinearDecisions, CertifiedEstimator):
    """Least-squares SVM that learns (`partial_fit`) and unlearns (`forget`) rows exactly.

    After any sequence of both, the model is that of one `fit` on the rows that remain, up to round-off.  What is kept
    is sums over rows, of size n_features x n_features, and 8 bytes for each row.

    Parameters
    ----------
    verbose : int, default=0
        1 prints the certificate.

    Attributes
    ----------
    coef_
    intercept_
    classes_ : ndarray of shape (n_classes,)
        The classes that have had rows, and those that `partial_fit` was given as `classes`.
    n_samples_seen_ : int
        Number of rows in the model.
    n_iter_ : int
        Always 1.

    Examples
    --------
    >>> import numpy as np
    >>> from svmtool.sklearn import AdaptableLSSVC
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.5]])
    >>> model = AdaptableLSSVC().fit(X[:3], [0, 1, 0]).partial_fit(X[3:], [1]).forget(X[:1], [0])
    >>> bool(np.allclose(model.coef_, AdaptableLSSVC().fit(X[1:], [1, 0, 1]).coef_))
    True
    """

    _held: _Rows
    _parameter_constraints: dict = {
        "C": [POSITIVE],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [SCALING],
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self, *, C: float = 1.0, fit_intercept: bool = True, intercept_scaling: float = 1.0, verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.C, self.fit_intercept, self.intercept_scaling = C, fit_intercept, intercept_scaling
        self.verbose, self.n_jobs = verbose, n_jobs

    @checks_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on these rows alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, y = self._data(X, y)
        with self._records_told(X, y, sample_weight):  # none: it has no iterations
            return self._change(X, y, sample_weight, 1.0, _Rows())

    @checks_parameters
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to add.
        y : array-like of shape (n_samples,)
            The class of each row.
        classes : array-like of shape (n_classes,), default=None
            All classes that may come; needed where the first rows are of one class.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.
        """
        first = not hasattr(self, "_held")
        X, y = self._data(X, y, reset=first)
        held = _Rows() if first else self._held
        return self._change(X, y, sample_weight, 1.0, held, [] if classes is None else np.unique(classes).tolist())

    @checks_parameters
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove rows that were added before, with the same class and weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to remove.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; a weight of 2 is the same as a repeated row.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a row is not in the model; then no row is removed.
        """
        check_is_fitted(self, "_held")
        X, y = self._data(X, y, reset=False)
        return self._change(X, y, sample_weight, -1.0, self._held)

    def _change(
        self, X: Any, y: np.ndarray, sample_weight: Any, sign: float, held: _Rows, classes: Sequence[Any] = ()
    ) -> Any:
        """Add rows to `held` (sign 1) or remove them (-1), and solve; refused rows leave the estimator as it was."""
        check_classes(y)
        weights = self._weights(sample_weight, X)
        if weights is not None and not weights.all():
            used = np.flatnonzero(weights)
            X, y, weights = X[used], y[used], weights[used]
        names, number = np.unique(y, return_inverse=True)
        known = list(dict.fromkeys([*held.known, *classes, *names.tolist()]))
        if len(known) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                f"one class: {known[0]!r}"
            )
        if len({isinstance(name, str) for name in known}) > 1:
            raise ValueError(f"classes are either all strings or all numbers, not {known!r}")
        codes = np.array([known.index(name) for name in names.tolist()])[number]
        table = dataset(X, codes, weights)
        hashes = hashes_of(table).tolist()
        counts = Counter(hashes)
        if sign < 0.0:
            short = {key for key, count in counts.items() if held.hashes[key] < count}
            if short:
                first = next(i for i, key in enumerate(hashes) if key in short)
                raise ValueError(f"row {first} of X, with its class and weight, is not in the model: no row is removed")
        with RunContext(self._threads()):
            largest = max(float(np.sqrt(held.sums.past.max(initial=0.0))), float(self.intercept_scaling))
            refuse_overflow(table, float(self.C), (), largest=largest)
            present, at = np.unique(codes, return_inverse=True)
            held.sums.update(table.rows(-1.0, 0), present.tolist(), at, table.factors, sign)
            held.known = known
            (held.hashes.update if sign > 0.0 else held.hashes.subtract)(counts)
            held.hashes = +held.hashes
            self._held = held
            self._solve()
        return self

    def _solve(self) -> None:
        """Set the attributes of the model of the rows that it holds now."""
        sums, known, d = self._held.sums, self._held.known, self.n_features_in_
        sums.reserve(d, [])
        self.n_samples_seen_, self.n_iter_ = sums.n, 1
        labels = np.unique(known)
        present = [k for k in range(len(known)) if k in sums.labels]
        self.classes_ = labels
        k = len(labels)
        W, b, results = np.zeros((k, d)), np.zeros(k), []
        bias = float(self.intercept_scaling) if self.fit_intercept else -1.0
        problems = equations_of(sums, float(self.C), bias, np.ones(len(sums.labels))) if sums.n else []
        worst_rounding = 0.0
        place = {code: int(np.searchsorted(labels, known[code])) for code in present}
        for j, problem in enumerate(problems):
            w, certificate, error = solution(problem, sums)
            results.append(certificate)
            worst_rounding = max(worst_rounding, error)
            at = place[sums.labels[j]]
            W[at], b[at] = w[:d], bias * w[d] if self.fit_intercept else 0.0
        if len(sums.labels) == 2:  # one problem: the first label's side
            other = place[sums.labels[1]]
            W[other], b[other] = -W[place[sums.labels[0]]], -b[place[sums.labels[0]]]
        for missing in set(range(k)) - set(place.values()):
            b[missing] = -1.0  # a class without rows is predicted by none
        if k == 2:
            W, b = W[1:], b[1:]
        self.coef_, self.intercept_ = W, b
        found = worst(results)
        notices = of_sums(registry.find(ALSVM), found, worst_rounding)
        self._certify(found, converged(notices))
        if self.verbose:
            print(found.line())
        for notice in notices:
            self._show(notice)

    def _file_model(self) -> LinearModel:
        """The model as its file holds it, without the state that `svm-train --add` needs."""
        check_is_fitted(self)
        word = registry.find(ALSVM).word
        return model_files.classifier(word, self.classes_, self.coef_, self.intercept_, ())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")
