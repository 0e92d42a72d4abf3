"""Arguments that no loop may see: sparse indices outside of a shape, keywords that are no numbers, heavy weights.

Each is a ValueError or TypeError of one sentence, in every entry point.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from naming import case_of
from scipy import sparse

from svmtool import api, liblinearutil, registry, svmutil
from svmtool.api import settings
from svmtool.options.train import BY_KEYWORD

RNG = np.random.default_rng(3)
X = RNG.integers(-1, 3, (12, 4)).astype(float)
Y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
HUGE = 10**400

# What is changed in a sparse matrix, by its format.
DAMAGES = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"), "coo": ("row", "col"),
    "dia": ("offsets",),
}  # fmt: skip
PLACES = (-1, -(10**6), 10**9, 2**31 - 1)


def malformed() -> list[tuple[str, object]]:
    """Sparse matrices of every format with an index outside of the shape, or an array of another length or type."""
    found: list[tuple[str, object]] = []
    for form, names in DAMAGES.items():
        for name in names:
            for value in PLACES if form != "dia" else (2**32, -(2**31)):
                m = getattr(sparse, form + "_matrix")(X)
                array = getattr(m, name).astype(np.int64)
                array[-1 if name == "indptr" else 0] = value
                setattr(m, name, array)
                found.append((f"{form} {name} {value}", m))
            for change in (lambda a: a[:-1], lambda a: a.astype(float), lambda a: a[:, None]):
                if form == "coo" and len(change(np.zeros(2))) == 2:  # its setter restores type and shape
                    continue
                m = getattr(sparse, form + "_matrix")(X)
                setattr(m, name, change(getattr(m, name)))
                found.append((f"{form} {name} of another form", m))
    for value in PLACES:
        m = sparse.lil_matrix(X)
        m.rows[0] = [value]
        m.data[0] = [1.0]
        found.append((f"lil {value}", m))
        d = sparse.dok_matrix(X)
        dict.__setitem__(getattr(d, "_dict", d), (0, value), 1.0)
        found.append((f"dok {value}", d))
    return found


def test_malformed_sparse_matrices_reach_no_conversion():
    linear, kernel = api.fit(X, Y, 2), api.fit(X, Y, 0, kernel="rbf")
    theirs = liblinearutil.train(Y.tolist(), X.tolist(), "-q"), svmutil.svm_train(Y.tolist(), X.tolist(), "-q")
    calls = {
        "fit": lambda m: api.fit(m, Y, 2), "kernel": lambda m: api.fit(m, Y, 0, kernel="rbf"),
        "predict": lambda m: api.predict(linear, m), "decision_values": lambda m: api.decision_values(kernel, m),
        "cross_validate": lambda m: api.cross_validate(m, Y, 2), "search_C": lambda m: api.search_C(m, Y),
        "write": lambda m: api.write_svmlight(m, Y, "never"),
        "train": lambda m: liblinearutil.train(Y, m, "-q"), "svm_train": lambda m: svmutil.svm_train(Y, m, "-q -t 0"),
        "of a kernel": lambda m: svmutil.svm_train(Y, m, "-q -t 4"),
        "their predict": lambda m: liblinearutil.predict([], m, theirs[0], "-q"),
        "svm_predict": lambda m: svmutil.svm_predict([], m, theirs[1], "-q"),
        "scale": liblinearutil.csr_find_scale_param,
    }  # fmt: skip
    for what, m in malformed():
        for name, call in calls.items():
            with case_of(what, name), pytest.raises(ValueError, match=f"not a valid {m.format.upper()} matrix"):
                call(m)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["_matrix", "_array"])
def test_sound_matrices_of_every_format_give_the_same_model(form, kind):
    whole = X + 5.0  # without zeros: blocks would hold them
    for rows in (whole, whole[:, :1]):
        with case_of(rows.shape):
            made = getattr(sparse, form + kind)(rows)
            assert api.dumps(api.fit(made, Y, 3)) == api.dumps(api.fit(rows, Y, 3))


def test_flags_of_scipy_are_not_trusted():
    """Indices that were changed after scipy found them ascending; repeated values are summed in float64."""
    m = sparse.csr_matrix(X)
    assert m.has_canonical_format
    for a, b in zip(m.indptr, m.indptr[1:], strict=False):
        m.indices[a:b], m.data[a:b] = m.indices[a:b][::-1].copy(), m.data[a:b][::-1].copy()
    assert api.dumps(api.fit(m, Y, 3)) == api.dumps(api.fit(X, Y, 3))
    small = sparse.coo_matrix((np.array([100, 100, 1], np.int8), ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    assert api.decision_values(api.fit([[1.0], [-1.0]], [1, 0], 2, bias=-1), small)[0] > 0


NO_NUMBERS = (
    np.nan, np.inf, -np.inf, HUGE, 10**5000, "x", b"1", np.ma.masked, np.array([1.0, 2.0]), [], {}, 1j, object(), len,
    Fraction(HUGE), Decimal("1e400"), np.datetime64("2020-01-01"), np.longdouble("1e4000"), 2**63,
)  # fmt: skip


def solver_with(name: str) -> dict:
    """A solver that has the keyword."""
    option = settings.OPTION_OF[name]
    if name in settings.DEFAULTS and not registry.anywhere(option, registry.rows_of(kernel=False)):
        return {"solver": 0, "kernel": "poly"}
    rows = [r for r in registry.SOLVERS if option in registry.supported_options(r)]
    if not rows:
        return {"solver": 73, "kernel": "rbf"} if name == "sgd_rows" else {"solver": 60, "kernel": "rbf"}
    return {"solver": rows[0].number}


@pytest.mark.parametrize("name", sorted(set(settings.DEFAULTS) | settings.FURTHER))
def test_values_that_are_none_name_their_keyword(name):
    """None, too, where every run has a value; no other error and no warning of numpy."""
    given = solver_with(name)
    for value in (*NO_NUMBERS, *([None] if name in settings.NEVER_NONE else ())):
        with case_of(name, settings.shown(value)), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                api.fit(X, Y, **{**given, name: value}, **({} if name == "max_seconds" else {"max_seconds": 0.2}))
            except (TypeError, ValueError) as e:
                assert type(e) in (TypeError, ValueError) and name in str(e) and len(str(e)) < 300, e
            else:
                assert accepted(name, value)


def accepted(name: str, value: object) -> bool:
    """Whether a value has a meaning: LIBLINEAR's bias without a feature, an empty dict, numbers within 64 bits."""
    if name == "class_weight":
        return value == {}
    kind = BY_KEYWORD[name].kind
    if kind is not None and kind.python is int and value == np.inf:
        return kind.holds(np.inf)
    return isinstance(value, (float, int)) and ((kind is not None and kind.python is float) or value == 2**63)


@pytest.mark.parametrize("value", [True, False, 1, 0, 1.0, np.True_, np.int64(0), np.array(1.0)])
def test_flags_take_truth_values(value):
    done = api.fit(X, Y, 0, kernel="rbf", shrinking=value, probability=value)
    assert done.model.gives_probabilities == bool(value)


HEAVY = [1e100, 1e135, 1e140, 1e145, 1e150, 1e154, 1e200, 1e300, 1e307]


def test_heavy_weights_overflow_nowhere():
    """A refusal that names the weight, or a sound certificate; of every problem."""
    runs: list[tuple] = [(row.number, None) for row in registry.SOLVERS] + [
        (row.name, kernel) for row in registry.KERNEL_SOLVERS for kernel in ("rbf", "linear", "poly")
    ]
    refused = 0
    for solver, kernel in runs:
        for weight in HEAVY:
            weights = np.where(X[:, 0] > 0, weight, 1.0) if weight != 1e300 else weight
            with case_of(solver, kernel, weight):
                try:
                    done = api.fit(X, Y, solver, kernel=kernel, sample_weight=weights, max_seconds=0.05)
                except ValueError as e:
                    known = (f"{weight:g}", "no sample_weight", "infeasible", "numbers overflow", "numbers underflow")
                    assert any(words in str(e) for words in known), e
                    refused += 1
                    continue
                c = done.certificate
                assert c.primal >= c.dual - 1e-9 * max(abs(c.primal), abs(c.dual)) and not np.isnan(c.gap)
                assert c.gap > 0.0 or c.primal - c.dual <= 1e-9 * abs(c.primal)
    assert refused


def test_sums_of_weights_that_overflow_are_refused():
    for call in (lambda w: api.fit(X, Y, 2, sample_weight=w), lambda w: api.cross_validate(X, Y, 2, sample_weight=w)):
        with pytest.raises(ValueError, match=r"sum of sample_weight overflows: the largest weight is 1e\+308"):
            call(np.full(12, 1e308))


def test_masked_values_and_dates_are_no_numbers():
    masked = np.ma.masked_array(X, X > 1)
    calls = {
        "X": lambda: api.fit(masked, Y),
        "y": lambda: api.fit(X, np.ma.masked_array(Y, Y > 0), 11),
        "sample_weight": lambda: api.fit(X, Y, sample_weight=np.ma.masked_array(Y + 2, Y > 0)),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^Input {name} has masked values"):
            call()
    assert api.fit(np.ma.masked_array(X), Y).converged  # nothing is masked
    for kind in ("M8[s]", "m8[s]"):
        with pytest.raises(TypeError, match="^Input X: dates and durations"):
            api.fit(X.astype(kind), Y)


MODELS = {
    f"{row.number} {kernel}": (row.name, kernel)
    for rows, kernel in ((registry.SOLVERS, None), (registry.KERNEL_SOLVERS, "rbf")) for row in rows
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_fits_are_copied_and_pickled_after_predictions(name):
    solver, kernel = MODELS[name]
    done = api.fit(X, Y, solver, kernel=kernel, **({"nu": 0.4} if solver == "nu_svc" else {}))
    wanted = api.predict(done, X)
    for given in (done, done.model, api.loads(api.dumps(done))):
        api.predict(given, X)
        for made in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
            np.testing.assert_array_equal(api.predict(made, X), wanted)


@pytest.mark.parametrize("kernel", [None, "linear", "rbf", "precomputed"])
def test_changed_models_reach_no_loop(kernel):
    done = api.fit(X @ X.T if kernel == "precomputed" else X, Y, 2 if kernel is None else 0, kernel=kernel)
    rows = RNG.normal(size=(3, 12))
    for name, value in vars(done.model).items():
        wrong: list[object] = ["x", 10**9, -(10**9), np.zeros((3, 3)), [1]]
        if isinstance(value, np.ndarray):
            wrong += [value[:-1], value.astype(np.float32), np.concatenate([value, value])]
            wrong += [np.full_like(value, -7)] if name in ("indices", "indptr") else []
        for one in wrong:
            if name in ("bias", "rho") and isinstance(one, int) and not isinstance(value, np.ndarray):
                continue  # any number will do
            with case_of(name, one):
                model = copy.deepcopy(done.model)
                setattr(model, name, one)
                for call in (api.predict, api.decision_values, lambda m, _: api.dumps(m)):
                    with pytest.raises(ValueError, match="do not fit each other"):
                        call(model, rows)


def test_a_changed_kernel_model_is_prepared_again():
    done = api.fit(X, Y, 0, kernel="rbf")
    before = api.decision_values(done, X)
    done.model.coef = 2.0 * done.model.coef
    done.model.rho = 2.0 * done.model.rho
    np.testing.assert_allclose(api.decision_values(done, X), 2.0 * before)
