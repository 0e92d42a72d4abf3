"""Hostile arguments to svmtool's Python interface: functions, estimators, LIBLINEAR's and LIBSVM's modules.

A try is one or several calls, drawn from its seed and number.  It may end in a sound result, or in a ValueError or
TypeError of one sentence; certificates must not be false, and nothing warns but the package itself.
"""

from __future__ import annotations

import contextlib
import copy
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

import svmtool
from stress import fuzz_arguments as hostile
from stress.fuzz_arguments import pick
from stress.fuzz_shared import NASTY, Breached
from stress.fuzz_shared import mutated as damaged
from svmtool import api, liblinearutil, registry, svmutil
from svmtool.api.settings import DEFAULTS, OPTION_OF
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
        return "no raw error", _where(e)
    except OSError as e:
        return ("refused", str(e)) if e.errno is not None else ("no raw error", _where(e))
    except Exception as e:
        return "no other error", _where(e)


def _where(e: BaseException) -> str:
    """The error and the last line of this package that it passed."""
    place, trace = "", e.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "svmtool" in code.co_filename:
            place = f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(e).__name__} at {place}: {str(e)[:200]}"


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
    if not isinstance(values, np.ndarray) or values.ndim not in (1, 2) or (n is not None and len(values) != n):
        raise Unsound(f"predictions of shape {getattr(values, 'shape', None)} for {n} rows")


# Arguments


def _data(rng: np.random.Generator, hostility: float = 0.2) -> tuple[Any, Any, Any, int, int]:
    """Rows, labels, weights, and the size that they were made with."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    X: Any = hostile.table(rng, n, d)
    X = hostile.rows(rng, X) if rng.random() < hostility else X
    y = hostile.labels(rng, n, rng.random() < 0.3 * hostility)
    weights = hostile.weights(rng, n) if rng.random() < 0.5 * hostility else None
    return X, y, weights, n, d


def _keywords(rng: np.random.Generator) -> dict[str, Any]:
    given: dict[str, Any] = {"max_seconds": 1.0, "threads": 1}
    if rng.random() < 0.5:
        given["kernel"] = pick(rng, KERNELS) if rng.random() < 0.97 else hostile.number(rng)
    numbers = KERNEL_NAMES if "kernel" in given else NUMBERS
    given["solver"] = pick(rng, numbers) if rng.random() < 0.95 else pick(rng, ("auto", hostile.number(rng)))
    if rng.random() < 0.3:
        given["method"] = pick(rng, ("paper", "fast"))
    for _ in range(pick(rng, (0, 0, 0, 1, 2))):
        given[pick(rng, [*DEFAULTS, *OPTION_OF, "threads", "one_class", "other"])] = hostile.number(rng)
    return given


def _precomputed(rng: np.random.Generator, given: dict[str, Any], X: Any, n: int) -> Any:
    """A square matrix, where that is needed, mostly."""
    if not isinstance(kernel := given.get("kernel"), str) or kernel != "precomputed" or rng.random() < 0.2:
        return X
    A = hostile.table(rng, n, 3)
    with np.errstate(all="ignore"):
        K = A @ A.T
    return hostile.rows(rng, K) if rng.random() < 0.2 else K


# Faces


def fit(rng: np.random.Generator, folder: str) -> None:
    X, y, weights, n, _ = _data(rng)
    given = _keywords(rng)
    X = _precomputed(rng, given, X, n)
    if rng.random() < 0.1:
        given["init"] = pick(rng, (_model(rng), hostile.number(rng)))
    if rng.random() < 0.1:
        given["callback"] = pick(rng, (len, hostile.number(rng), lambda record: None))
    done = svmtool.fit(X, y, sample_weight=weights, **given)
    check_fit(done)
    check_answers(svmtool.predict(done, X, threads=1), None)
    again = pick(rng, (copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))))(done)
    svmtool.decision_values(again, X, threads=1)
    svmtool.loads(svmtool.dumps(again))


_models: dict[int, Any] = {}


def _model(rng: np.random.Generator) -> Any:
    """A trained model of some kind; a Fit, or its model."""
    k = int(rng.integers(12))
    if k not in _models:
        own = np.random.default_rng(k)
        X, y = own.normal(size=(12, 3)), own.integers(0, 2 + k % 2, 12)
        y[:3] = 0, 1, k % 2 + (k % 2 == 0)
        linear = ({"solver": s} for s in (2, 0, 4, 21, 11, 43))
        problems = ("svc", "svc", "nu-svc", "svc", "svc", "one-class")
        kernels = ({"kernel": name, "solver": s} for name, s in zip((*KERNELS, "rbf"), problems, strict=True))
        given = [*linear, *kernels][k]
        rows = X @ X.T if given.get("kernel") == "precomputed" else X
        probability = given["solver"] not in (21, 11, 43, "one-class") or k == 0
        _models[k] = svmtool.fit(rows, y, **given, probability=probability, threads=1)
    done = copy.deepcopy(_models[k])
    return done if rng.random() < 0.5 else done.model


def predict(rng: np.random.Generator, folder: str) -> None:
    X, _, _, n, _ = _data(rng, 0.8)
    model: Any = _model(rng) if rng.random() < 0.9 else hostile.number(rng)
    threads = 1 if rng.random() < 0.9 else hostile.number(rng)
    for call in (svmtool.decision_values, svmtool.predict, svmtool.probabilities):
        if rng.random() < 0.6:
            check_answers(call(model, X, threads=threads), None)


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
        if isinstance(value, np.ndarray) and value.size and rng.random() < 0.7:
            with contextlib.suppress(IndexError, OverflowError, TypeError, ValueError), np.errstate(all="ignore"):
                new = value.copy()
                new.flat[int(rng.integers(new.size))] = pick(rng, (*NASTY, np.nan, np.inf, 1e300))
                value = pick(rng, (new, new[:-1], new.astype(np.float32), new.T.copy(), np.repeat(new, 2, axis=0)))
        elif rng.random() < 0.5 and isinstance(value, (int, float)):
            value = pick(rng, (value + 1, value - 1, 10**6, -1))
        else:
            value = hostile.number(rng)
        with contextlib.suppress(AttributeError):
            setattr(model, name, value)
    with contextlib.suppress(ValueError, TypeError):
        check_answers(svmtool.decision_values(model, X, threads=1), None)
    with contextlib.suppress(ValueError, TypeError):
        svmtool.save_model(model, os.path.join(folder, "mutated.model"))
    for call in (svmtool.predict, svmtool.probabilities, lambda m, X, **_: svmtool.loads(svmtool.dumps(m))):
        call(model, X, threads=1)


def validate(rng: np.random.Generator, folder: str) -> None:
    X, y, weights, n, _ = _data(rng)
    given = _keywords(rng)
    given["folds"] = 2 if rng.random() < 0.8 else pick(rng, (3, 5, hostile.number(rng)))
    given["stratified"] = False if rng.random() < 0.8 else pick(rng, (True, hostile.number(rng)))
    if rng.random() < 0.5:
        given["sample_weight"] = weights
    if rng.random() < 0.7:
        names = ("accuracy", "f1", "auc", "log-loss", "mse", "r2", "average-precision")
        given["metrics"] = pick(rng, names if rng.random() < 0.8 else (list(names[:2]), hostile.number(rng), len))
        svmtool.cross_validate(_precomputed(rng, given, X, n), y, **given)
        return
    given.pop("kernel", None)
    given["score"] = pick(rng, (None, "f1", "mae", hostile.number(rng)))
    if not isinstance(given["solver"], int) or given["solver"] not in NUMBERS:
        given["solver"] = 2
    svmtool.search_C(X, y, **given)


TEXTS = ("", "solver_type L2R_LR\n", "svm_type c_svc\n", None, b"", bytearray(b"a"), 3, ["a"], memoryview(b"abc"))
PATHS = ("", "absent", "absent/absent", "\0", "a" * 3000, None, 3.5, b"absent", -1, 10**9, ["a"], ".")


def files(rng: np.random.Generator, folder: str) -> None:
    path = os.path.join(folder, "rows") if rng.random() < 0.6 else pick(rng, PATHS)
    if isinstance(path, (str, bytes)) and path and path[:1] not in ("/", b"/", "."):
        path = os.path.join(folder, path) if isinstance(path, str) else os.path.join(os.fsencode(folder), path)
    odd, X, y = hostile.number(rng), *_data(rng)[:2]
    text = damaged(random.Random(int(rng.integers(2**32))), svmtool.dumps(_model(rng)).encode()).decode("latin-1")
    rows = (io.BytesIO(b"1 1:2\n"), io.StringIO("1 1:2\n"), io.BytesIO(b"1 1:\xff"), odd, path)
    pick(rng, (
        lambda: (svmtool.save_model(pick(rng, (_model(rng), _model(rng), odd)), path), svmtool.load_model(path)),
        lambda: svmtool.loads(pick(rng, (*TEXTS, *[text] * len(TEXTS)))),
        lambda: (svmtool.write_svmlight(X, y, path),
                 svmtool.read_svmlight(path, pick(rng, (None, 4, odd)), threads=pick(rng, (1, odd)))),
        lambda: svmtool.read_svmlight(pick(rng, rows), pick(rng, (None, odd))),
        lambda: svmtool.load_model(path),
        lambda: svmtool.dumps(odd),
    ))()  # fmt: skip


def estimator(rng: np.random.Generator, folder: str) -> None:
    """A scikit-learn estimator with hostile parameters and rows."""
    kind = getattr(estimators, pick(rng, estimators.__all__))
    X, y, weights, n, _ = _data(rng)
    made = kind()
    known = made.get_params()
    given = {"max_seconds": 1.0, "n_jobs": 1}
    if "kernel" in known and rng.random() < 0.5:
        given["kernel"] = pick(rng, KERNELS)
    for _ in range(pick(rng, (0, 0, 0, 1, 2))):
        given[pick(rng, list(known))] = hostile.number(rng)
    made.set_params(**given)
    more = {} if weights is None or not _takes_weights(made) else {"sample_weight": weights}
    made.fit(_precomputed(rng, given, X, n), y, **more)
    bounded = getattr(made, "kernel", "") not in ("sigmoid", "precomputed", "poly")
    check_values(made.certificate_, made.converged_, bounded)
    other = hostile.rows(rng, hostile.table(rng, 4, 3)) if rng.random() < 0.5 else X
    for name in ("predict", "decision_function", "predict_proba", "score_samples", "fit_predict"):
        if hasattr(made, name) and rng.random() < 0.5:
            check_answers(getattr(made, name)(other), None)
    if hasattr(made, "partial_fit") and rng.random() < 0.5:
        made.partial_fit(other, hostile.labels(rng, n, True))
    if rng.random() < 0.3:
        pickle.loads(pickle.dumps(made))


def _takes_weights(made: Any) -> bool:
    return "sample_weight" in made.fit.__code__.co_varnames or hasattr(made.fit, "__wrapped__")


def dropin(rng: np.random.Generator, folder: str) -> None:
    """LIBLINEAR's or LIBSVM's module."""
    X, y, _, n, d = _data(rng)
    y = y if rng.random() < 0.2 or y is None else (y.tolist() if isinstance(y, np.ndarray) else y)
    linear = rng.random() < 0.5
    tool = liblinearutil if linear else svmutil
    train, use = (tool.train, tool.predict) if linear else (tool.svm_train, tool.svm_predict)
    number = pick(rng, NUMBERS[:11]) if linear else int(rng.integers(5))
    options: Any = f"-q -s {number}" if linear else f"-q -s {number} -t {int(rng.integers(5))}"
    if rng.random() < 0.2:
        options = pick(rng, (hostile.number(rng), *(options + more for more in (" -c nan", " -b 1", " -v 2", " -v 0"))))
    what = rng.random()
    if what < 0.7:
        m = train(y, X, options)
    else:
        problem = (tool.problem if linear else tool.svm_problem)(y, X)
        parameter = (tool.parameter if linear else tool.svm_parameter)(options)
        if what < 0.9:
            names = [name for name in sorted(vars(parameter)) if name[0] != "_"]
            setattr(parameter, pick(rng, names), hostile.number(rng))
        m = train(problem, parameter)
    if isinstance(m, (tool.model if linear else tool.svm_model)):
        other = hostile.rows(rng, hostile.table(rng, n, d)) if rng.random() < 0.5 else X
        use(y if rng.random() < 0.5 else [], other, m, pick(rng, ("-q", "-q -b 1", "", hostile.number(rng))))
        m.get_labels(), m.get_nr_class()
    if rng.random() < 0.2:
        tool.csr_find_scale_param(X, pick(rng, (-1, hostile.number(rng))))
        tool.evaluations(y, pick(rng, (y, hostile.number(rng))))


FACES: dict[str, Calls] = {
    "fit": fit, "predict": predict, "mutated model": mutated, "validation": validate, "files": files, "drop-in": dropin,
}  # fmt: skip
if estimators is not None:
    FACES["estimator"] = estimator
