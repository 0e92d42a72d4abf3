"""Hostile arguments to svmtool's Python interface: functions, estimators, LIBLINEAR's and LIBSVM's modules.

A try is one or several calls, drawn from its seed and number.  It may end in a sound result, or in a ValueError or
TypeError of one sentence; certificates must not be false, and nothing warns but the package itself.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import os
import pickle
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import svmtool
from stress import fuzz_arguments as hostile
from stress.fuzz_arguments import pick
from stress.fuzz_shared import Breached, changed, where
from stress.fuzz_shared import mutated as damaged
from svmtool import api, liblinearutil, registry, svmutil
from svmtool.api.settings import DEFAULTS, FURTHER
from svmtool.errors import SvmtoolError
from svmtool.models.linear import LinearModel

try:
    from svmtool import sklearn as estimators
except ImportError:  # an extra
    estimators = None

ROUNDING, LOSS_ROUNDING = 1e-9, 1e-14  # share of |P| by which D may lie above it; round-off of losses of about 1
# Texts of Python, numpy and ctypes for what should have been checked before.
RAW = re.compile(
    r"has no len|"
    r"ufunc|unhashable|^argument \d|has no attribute|unpack|positional argument|not subscriptable|object is not|"
    r"not supported between|broadcast|0-dimensional|truth value|invalid literal|out of bounds|iteration over|"
    r"cannot be interpreted|can't multiply|unsupported operand|size-1|length-1"
)
# Words of the commands, which no user of Python has typed.
COMMANDS = re.compile(
    r"(?:^|\s|\()(--[a-z][a-z-]+|-[a-zA-Z])(?=[\s,.:;)]|$)|svm-scale|svm-train|\b(ERROR|WARNING): |fscanf"
)
RAW_WARNINGS = ("ComplexWarning", "VisibleDeprecationWarning")
NUMBERED = re.compile(r"\bsolver \d")  # no word of an estimator's user, either
METRICS = ("accuracy", "f1", "auc", "log-loss", "mse", "r2", "average-precision")
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
NUMBERS = [row.number for row in registry.SOLVERS]
KERNEL_NAMES = [row.name for row in registry.KERNEL_SOLVERS]

Calls = Callable[[np.random.Generator, str], None]


class Unsound(Exception):
    """A result that breaks a law."""


def call(rng: random.Random, folder: Path) -> tuple[str, str]:
    """One try: what was called, and whether it ended in a `result` or was `refused`."""
    name, generator = rng.choice(list(FACES)), np.random.default_rng(rng.getrandbits(64))
    with warnings.catch_warnings(record=True) as heard, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        with contextlib.redirect_stderr(io.StringIO()):
            law, words = _outcome(FACES[name], generator, str(folder))
    for text in (words, *(str(one.message) for one in heard)):
        if name != "drop-in" and (COMMANDS.search(text) or (name == "estimator" and NUMBERED.search(text))):
            raise Breached(name, ("no words of the commands", text[:300]))
    for one in heard:
        ours = "svmtool" in str(one.filename) or "sklearn" in str(one.filename) or __file__ == one.filename
        raw = issubclass(one.category, (RuntimeWarning, DeprecationWarning)) or one.category.__name__ in RAW_WARNINGS
        if (raw or not ours) and not law.startswith("no "):
            law, words = "no raw warning", f"{one.category.__name__}: {one.message} ({one.filename}:{one.lineno})"
    if law.startswith("no "):
        raise Breached(name, (law, words))
    return name, law or "result"


def _outcome(face: Calls, rng: np.random.Generator, folder: str) -> tuple[str, str]:
    """The broken law and what was seen; `refused` with a sentence, or two empty texts."""
    try:
        face(rng, folder)
        return "", ""
    except Unsound as e:
        return "no false result", str(e)
    except (ValueError, TypeError) as e:
        text = str(e)
        known = type(e) in (ValueError, TypeError) or isinstance(e, SvmtoolError) or "sklearn" in type(e).__module__
        if known and text and len(text) <= 4000 and not RAW.search(text):
            return "refused", text
        return "no raw error", where(e)
    except OSError as e:
        return ("refused", str(e)) if e.errno is not None else ("no raw error", where(e))
    except Exception as e:
        return "no other error", where(e)


# Results


def check_fit(done: api.Fit) -> None:
    """Unsound for a false certificate, or for one that says nothing without saying so."""
    check_values(done.certificate, done.converged)
    model = done.model
    numbers = model.W if isinstance(model, LinearModel) else model.coef
    if done.converged and not np.all(np.isfinite(numbers)):
        raise Unsound(f"a converged model has weights that are not finite: {done!r}")
    repr(done), done.message, done.n_iter, done.alpha, done.support, done.log


def check_values(found: Any, converged: bool, bounded: bool = True) -> None:
    """bounded: whether a dual bound exists, as it does but for kernels that are not positive semidefinite."""
    P, D, gap = float(found.primal), float(found.dual), float(found.gap)
    if np.isnan([P, D, gap]).any():
        raise Unsound(f"primal {P}, dual {D}, gap {gap}")
    size = max(abs(P), abs(D))
    if D - P > ROUNDING * size + LOSS_ROUNDING:
        raise Unsound(f"the dual value {D!r} is above the primal value {P!r}")
    if gap == 0.0 and P - D > ROUNDING * size + LOSS_ROUNDING:
        raise Unsound(f"gap 0 with primal {P!r}, dual {D!r}")
    if not np.isfinite(gap) and converged and bounded:
        raise Unsound(f"converged with gap {gap}")


def check_answers(values: Any, n: int | None) -> None:
    answers = isinstance(values, np.ndarray) or sparse.issparse(values)  # of several labels a row
    if not answers or values.ndim not in (1, 2) or (n is not None and values.shape[0] != n):
        raise Unsound(f"predictions of shape {getattr(values, 'shape', None)} for {n} rows")


# Arguments


def _data(rng: np.random.Generator, hostility: float = 0.2) -> tuple[Any, Any, Any, int]:
    """Rows, labels, weights, and the number of rows that they were made with."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    X: Any = hostile.table(rng, n, d)
    X = hostile.rows(rng, X) if rng.random() < hostility else X
    y: Any = hostile.labels(rng, n)
    y = hostile.vector(rng, y) if rng.random() < 0.3 * hostility else y
    weights = hostile.vector(rng, rng.integers(0, 3, n) * 1.0) if rng.random() < 0.5 * hostility else None
    return X, y, weights, n


SOUND: dict[str, Any] = {  # arguments that are hostile less often than others, so that some calls give results
    "kernel": lambda rng, given: pick(rng, KERNELS) if rng.random() < 0.5 else None,
    "solver": lambda rng, given: pick(rng, KERNEL_NAMES if isinstance(given.get("kernel"), str) else NUMBERS),
    "method": lambda rng, given: pick(rng, ("paper", "fast")),
    "folds": lambda rng, given: pick(rng, (2, 2, 3, 5)),
    "metrics": lambda rng, given: pick(rng, (*METRICS, list(METRICS[:2]), len)),
    "score": lambda rng, given: pick(rng, ("f1", "mae")),
    "callback": lambda rng, given: pick(rng, (len, lambda record: None)),
    "init": lambda rng, given: _model(rng),
    "threads": lambda rng, given: 1,
    "max_seconds": lambda rng, given: 1.0,
    "n_jobs": lambda rng, given: 1,
}
ALWAYS = ("kernel", "solver", "threads", "max_seconds", "n_jobs", "folds")


def keywords(rng: np.random.Generator, names: Any) -> dict[str, Any]:
    """Some of the keyword arguments of these names, mostly hostile; those of ALWAYS mostly are not."""
    given: dict[str, Any] = {}
    for name in (name for name in SOUND if name in names):
        if name in ALWAYS or rng.random() < 0.15:
            given[name] = SOUND[name](rng, given) if rng.random() < 0.97 else hostile.number(rng)
    others = sorted(set(names) - set(SOUND)) + ["other"]
    return given | {pick(rng, others): hostile.number(rng) for _ in range(pick(rng, (0, 0, 0, 1, 2)))}


def names_of(function: Any) -> set[str]:
    """The keyword arguments of a function, with all settings where it takes further ones."""
    found = inspect.signature(function).parameters.values()
    further = {*DEFAULTS, *FURTHER} if any(p.kind is p.VAR_KEYWORD for p in found) else set()
    given = {"X", "y", "sample_weight", "model", "path", "text"}
    return ({p.name for p in found if p.kind is not p.VAR_KEYWORD} | further) - given


def _precomputed(rng: np.random.Generator, given: dict[str, Any], X: Any, n: int) -> Any:
    """A square matrix, where that is needed, mostly."""
    if not isinstance(kernel := given.get("kernel"), str) or kernel != "precomputed" or rng.random() < 0.2:
        return X
    A = hostile.table(rng, n, 3)
    with np.errstate(all="ignore"):
        K = A @ A.T
    return hostile.rows(rng, K) if rng.random() < 0.2 else K


# Faces


MODELS = (
    *({"solver": s} for s in (2, 0, 4, 21, 11, 43)),
    *({"kernel": name, "solver": s} for name, s in zip(
        (*KERNELS, "rbf"), ("svc", "svc", "nu-svc", "svc", "svc", "one-class"), strict=True)),
)  # fmt: skip
WITHOUT = (21, 11, 43, "one-class")  # probabilities


@functools.lru_cache
def _trained(k: int) -> Any:
    own, given = np.random.default_rng(k), MODELS[k]
    X, y = own.normal(size=(12, 3)), own.integers(0, 2 + k % 2, 12)
    y[:3] = 0, 1, k % 2 + (k % 2 == 0)
    rows = X @ X.T if given.get("kernel") == "precomputed" else X
    return svmtool.fit(rows, y, **given, probability=given["solver"] not in WITHOUT, threads=1)


def _model(rng: np.random.Generator) -> Any:
    """A trained model of some kind; a Fit, or its model."""
    done = copy.deepcopy(_trained(int(rng.integers(len(MODELS)))))
    return done if rng.random() < 0.5 else done.model


def mutated(rng: np.random.Generator, folder: str) -> None:
    """A model whose attributes were changed."""
    model = _model(rng)
    model = getattr(model, "model", model)
    X = hostile.table(rng, 5, 12 if rng.random() < 0.5 else 3)
    if rng.random() < 0.3:
        with contextlib.suppress(ValueError):
            svmtool.predict(model, X, threads=1)  # prepares it
    for _ in range(int(rng.integers(1, 3))):
        name = pick(rng, sorted(vars(model).keys() - {"scores"}))
        value = getattr(model, name)
        hostile_array = isinstance(value, np.ndarray) and rng.random() < 0.7
        with contextlib.suppress(AttributeError):
            setattr(model, name, changed(hostile.plain(rng), value) if hostile_array else hostile.number(rng))
    if rng.random() < 0.3:
        svmtool.save_model(model, os.path.join(folder, "mutated.model"))
        svmtool.loads(svmtool.dumps(model))
    else:
        use = pick(rng, (svmtool.decision_values, svmtool.predict, svmtool.probabilities))
        check_answers(use(model, X, threads=1), None)


TEXTS = ("", "solver_type L2R_LR\n", "svm_type c_svc\n", None, b"", bytearray(b"a"), 3, ["a"], memoryview(b"abc"))
PATHS = ("", "absent", "absent/absent", "\0", "a" * 3000, None, 3.5, b"absent", -1, 10**9, ["a"], ".")


def _path(rng: np.random.Generator, folder: str) -> Any:
    path = "rows" if rng.random() < 0.6 else pick(rng, PATHS)
    if isinstance(path, str) and path not in ("", "."):
        return os.path.join(folder, path)
    return os.path.join(os.fsencode(folder), path) if isinstance(path, bytes) else path


def _text(rng: np.random.Generator) -> Any:
    text = damaged(hostile.plain(rng), svmtool.dumps(_model(rng)).encode()).decode("latin-1")
    return text if rng.random() < 0.5 else pick(rng, TEXTS)


def public(some: tuple[str, ...], hostility: float) -> Calls:
    """A face that calls one of these functions; those that save are followed by those that read."""

    def face(rng: np.random.Generator, folder: str) -> None:
        function = getattr(svmtool, pick(rng, some))
        X, y, weights, n = _data(rng, hostility)
        given, path = keywords(rng, names_of(function)), _path(rng, folder)
        streams = (io.BytesIO(b"1 1:2\n"), io.StringIO("1 1:2\n"), io.BytesIO(b"1 1:\xff"))
        source = pick(rng, streams) if function is svmtool.read_svmlight and rng.random() < 0.2 else path
        model = _model(rng) if rng.random() < 0.9 else hostile.number(rng)
        known = {"X": _precomputed(rng, given, X, n), "y": y, "model": model, "path": source, "text": _text(rng)}
        known |= {} if weights is None else {"sample_weight": weights}
        taken = inspect.signature(function).parameters
        found = function(**given, **{name: x for name, x in known.items() if name in taken})
        if hostility > 0.5:
            check_answers(found, None)
        if isinstance(found, api.Fit):
            check_fit(found)
            check_answers(svmtool.predict(found, known["X"], threads=1), None)
            svmtool.loads(svmtool.dumps(pickle.loads(pickle.dumps(found))))
        if again := {"save_model": svmtool.load_model, "write_svmlight": svmtool.read_svmlight}.get(function.__name__):
            again(path)

    return face


def estimator(rng: np.random.Generator, folder: str) -> None:
    """A scikit-learn estimator with hostile parameters and rows."""
    made = getattr(estimators, pick(rng, estimators.__all__))()
    X, y, weights, n = _data(rng)
    given = {name: x for name, x in keywords(rng, made.get_params()).items() if name in made.get_params()}
    given = {name: x for name, x in given.items() if name != "kernel" or x is not None}
    made.set_params(**given)
    takes_weights = "sample_weight" in made.fit.__code__.co_varnames or hasattr(made.fit, "__wrapped__")
    more = {"sample_weight": weights} if weights is not None and takes_weights else {}
    made.fit(_precomputed(rng, given, X, n), y, **more)
    bounded = getattr(made, "kernel", "") not in ("sigmoid", "precomputed", "poly")
    check_values(made.certificate_, made.converged_, bounded)
    other = hostile.rows(rng, hostile.table(rng, 4, 3)) if rng.random() < 0.5 else X
    for name in ("predict", "decision_function", "predict_proba", "score_samples", "fit_predict"):
        if hasattr(made, name) and rng.random() < 0.5:
            check_answers(getattr(made, name)(other), None)
    if hasattr(made, "partial_fit") and rng.random() < 0.5:
        made.partial_fit(other, hostile.vector(rng, hostile.labels(rng, n)))
    if rng.random() < 0.3:
        pickle.loads(pickle.dumps(made))


def dropin(rng: np.random.Generator, folder: str) -> None:
    """LIBLINEAR's or LIBSVM's module."""
    X, y, _, n = _data(rng)
    y = y.tolist() if isinstance(y, np.ndarray) and rng.random() < 0.8 else y
    tool, linear = pick(rng, ((liblinearutil, True), (svmutil, False)))
    name = (lambda word: word) if linear else (lambda word: f"svm_{word}")
    train, use, problem, parameter, model = (
        getattr(tool, name(word)) for word in ("train", "predict", "problem", "parameter", "model")
    )
    options: Any = f"-q -s {pick(rng, NUMBERS[:11])}" if linear else f"-q -s {rng.integers(5)} -t {rng.integers(5)}"
    if rng.random() < 0.2:
        options = pick(rng, (hostile.number(rng), *(options + more for more in (" -c nan", " -b 1", " -v 2", " -v 0"))))
    if rng.random() < 0.7:
        m = train(y, X, options)
    else:
        rows, asked = problem(y, X), parameter(options)
        if rng.random() < 0.7:
            setattr(asked, pick(rng, [of for of in sorted(vars(asked)) if of[0] != "_"]), hostile.number(rng))
        m = train(rows, asked)
    if isinstance(m, model):
        other = hostile.rows(rng, hostile.table(rng, n, 3)) if rng.random() < 0.5 else X
        use(y if rng.random() < 0.5 else [], other, m, pick(rng, ("-q", "-q -b 1", "", hostile.number(rng))))
        m.get_labels(), m.get_nr_class()
    if rng.random() < 0.2:
        tool.csr_find_scale_param(X, pick(rng, (-1, hostile.number(rng))))
        tool.evaluations(y, pick(rng, (y, hostile.number(rng))))


FACES: dict[str, Calls] = {
    "fit": public(("fit",), 0.2), "mutated model": mutated, "drop-in": dropin,
    "predict": public(("decision_values", "predict", "probabilities"), 0.8),
    "validation": public(("cross_validate", "search_C"), 0.2),
    "files": public(("save_model", "load_model", "loads", "dumps", "write_svmlight", "read_svmlight"), 0.2),
}  # fmt: skip
if estimators is not None:
    FACES["estimator"] = estimator
