"""Keywords of `fit` and its companions to Settings; messages name keywords, not options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from svmtool import params, registry
from svmtool.api.arrays import TOO_LARGE
from svmtool.data.dataset import Dataset
from svmtool.data.labels import balanced_weights
from svmtool.errors import clipped
from svmtool.params import Settings, check_kernel_after_reading
from svmtool.registry.row import BOUNDARIES, Solver, gap_of_theta

KERNEL_NUMBERS = {
    "linear": params.LINEAR, "poly": params.POLYNOMIAL, "polynomial": params.POLYNOMIAL,
    "rbf": params.RBF, "sigmoid": params.SIGMOID, "precomputed": params.PRECOMPUTED,
}  # fmt: skip



class Default:
    """The value of a keyword that was not given; one that was given counts, even if it is the same."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


# Keywords and their defaults: of all runs, of linear models, and of models with a kernel.
COMMON_KEYWORDS: dict[str, Any] = {
    "C": 1.0, "p": 0.1, "nu": 0.5, "eps": None, "gap": None, "class_weight": None, "max_iter": None,
    "max_seconds": None, "seed": None, "probability": False,
}  # fmt: skip
LINEAR_KEYWORDS: dict[str, Any] = {"bias": None, "regularize_bias": True, "loss_power": 2.0}
KERNEL: dict[str, Any] = {"gamma": "auto", "degree": 3, "coef0": 0.0, "cache_mb": 100.0, "shrinking": True}
DEFAULTS = {**COMMON_KEYWORDS, **LINEAR_KEYWORDS, **KERNEL}
NOT_GIVEN: dict[str, Any] = {name: None if value is None else Default(value) for name, value in DEFAULTS.items()}
# The kernels that have a parameter.
KERNELS_WITH = {
    "gamma": ("poly", "polynomial", "rbf", "sigmoid"), "degree": ("poly", "polynomial"),
    "coef0": ("poly", "polynomial", "sigmoid"),
}  # fmt: skip

# Keywords of single solvers, and those of `COMMON` and `LINEAR` that not every solver has: the option that a row of the
# registry must support.
OPTION_OF = {
    **{name: "--" + name.replace("_", "-") for name in params.Options._fields},
    "homotopy": "--no-homotopy", "loo": "--loo", "theta": "--theta",
}  # fmt: skip
CHECKED = {
    "C": "-c", "p": "-p", "nu": "-n", "eps": "-e", "gap": "--gap", "class_weight": "-w", "max_iter": "--max-iter",
    "max_seconds": "--max-seconds", "seed": "--seed", "probability": "--probability", "bias": "-B",
    "regularize_bias": "-R", "loss_power": "--loss-power", "sample_weight": "--weights", "init": "--initial-model",
    "stratified": "--stratified", "search": "-C", "shrinking": "-h",
}  # fmt: skip
# Least values of whole numbers.
COUNT_KEYWORDS = {
    "inner_steps": 1, "passes": 1, "sample": 1, "pairs": 1, "min_alpha_opt": 1, "max_alpha_opt": 1,
    "min_alpha_check": 1, "sgd_rows": 1, "max_iter": 1, "seed": 0, "degree": 0,
}  # fmt: skip
REALS = frozenset(
    {"C", "p", "nu", "eps", "gap", "max_seconds", "bias", "loss_power", "coef0", "cache_mb", "delta_alpha", "theta"}
)
FLAGS = frozenset({"regularize_bias", "probability", "shrinking", "homotopy", "paper_form", "loo"})
REQUESTS = frozenset({"probability", "paper_form", "loo"})  # flags that ask for nothing where they are False
# Keywords that have a value in every run: None is none of them.
NEVER_NONE = frozenset(
    name for name, value in {**DEFAULTS, **params.NO_OPTIONS._asdict(), "loo": False}.items() if value is not None
)
LARGEST_WHOLE = 2**63 - 1  # what the commands and the loops take
POSITIVE_KEYWORDS = frozenset({"cache_mb", "gap", "max_seconds", "delta_alpha"})
PAPER_LIMITS = ("delta_alpha", "min_alpha_opt", "max_alpha_opt", "min_alpha_check")  # of paper_form

_KEYWORD_OF = {option: name for name, option in CHECKED.items() if not option.startswith("--")} | {
    "-g": "gamma", "-r": "coef0", "-d": "degree", "-m": "cache_mb", "-s": "solver", "-t": "kernel", "-v": "folds",
    "-b": "probability", "--weights": "sample_weight", "--initial-model": "init",
}  # fmt: skip
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-zA-Z])(?![\w-])")


def in_keywords(text: str) -> str:
    """A message of the commands with keywords in place of options."""

    def keyword(found: re.Match) -> str:
        option = found[1]
        if option.startswith("--"):
            return _KEYWORD_OF.get(option) or option[2:].replace("-", "_")
        return _KEYWORD_OF.get(option, option)

    return _OPTION.sub(keyword, text.removeprefix("ERROR: "))


def check_names(given: Mapping[str, Any], more: tuple[str, ...] = ()) -> None:
    """Raise TypeError for an unknown keyword, naming the closest one."""
    for name in given:
        if name not in DEFAULTS and name not in OPTION_OF:
            close = get_close_matches(name, [*DEFAULTS, *OPTION_OF, *more], 1)
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")


def settings_of(
    data: Dataset | None, solver: int | str | None, kernel: str | None, given: Mapping[str, Any],
    also: tuple[str, ...] = (), default: int = 1,
) -> Settings:  # fmt: skip
    """The settings of a run.

    Parameters
    ----------
    data : the rows; needed only for `solver="auto"` and `class_weight="balanced"`
    solver : number or name; None: `default`, with a kernel C-SVC
    given : keywords; None and `Default` are not given; their names are checked
    also : other names in `CHECKED` that the solver must support

    Raises
    ------
    ValueError, SvmtoolError, TypeError
        for invalid values, and for keywords that the solver does not have.
    """
    values = {k: _checked(k, v) for k, v in given.items() if not isinstance(v, Default)}
    values = {k: v for k, v in values.items() if v is not None}
    if "eps" in values and "gap" in values:
        raise ValueError("eps and gap both decide when to stop: give one of them")
    for name in PAPER_LIMITS:
        if name in values and not values.get("paper_form"):
            raise ValueError(f"{name} needs paper_form=True")
    if kernel is None:
        return _linear(data, default if solver is None else solver, values, also)
    return _with_kernel(data, "svc" if solver is None else solver, kernel, values, also)


def _asked(values: Mapping[str, Any], also: tuple[str, ...]) -> list[str]:
    """The names of what the solver must have."""
    return [*(name for name, value in values.items() if name not in REQUESTS or value), *also]


def shown(value: Any) -> str:
    """A value in a message: one short line."""
    try:
        return clipped(" ".join(repr(value).split()))
    except Exception:  # a whole number of too many digits, or a foreign class
        return f"a value of type {type(value).__name__}"


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of any numeric type but bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        with np.errstate(all="ignore"):
            return isinstance(value, Integral) or bool(int(value) == value)
    except (OverflowError, ValueError):  # infinite, or nan
        return False


def whole(name: str, value: Any, least: int = -LARGEST_WHOLE) -> int:
    """The value as an integer from `least` on; TypeError for another type, ValueError outside of the range."""
    value = _scalar(value)
    if not is_whole(value):
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} == {shown(number)}, must be >= {least}.")
    if number > LARGEST_WHOLE:
        raise ValueError(f"{name} must be an integer up to {LARGEST_WHOLE}, not {shown(number)}")
    return number


def real(name: str, value: Any) -> float:
    """The value as a float; TypeError for another type, ValueError for an integer beyond the range of float64."""
    value = _scalar(value)
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    try:
        with np.errstate(all="ignore"):  # numbers of more than 64 bits become infinite
            return float(value)
    except OverflowError:
        raise ValueError(f"{name} contains {TOO_LARGE}.") from None


def flag(name: str, value: Any) -> bool:
    """The value as a bool; 0 and 1 are accepted, TypeError for another type."""
    value = _scalar(value)
    if isinstance(value, (bool, np.bool_)) or (is_whole(value) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {shown(value)}")


def text(name: str, value: Any) -> str:
    """The value, which must be a string; else TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {shown(value)}")
    return value


def _scalar(value: Any) -> Any:
    """The element of an array of no dimensions; anything else itself."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _checked(name: str, value: Any) -> Any:
    """The value of a keyword in its type; TypeError or ValueError for an invalid one."""
    if value is None:
        if name in NEVER_NONE:
            raise TypeError(f"{name} must have a value, not None")
        return None
    if name in COUNT_KEYWORDS:
        return whole(name, value, COUNT_KEYWORDS[name])
    if name in FLAGS:
        return flag(name, value)
    if name == "boundary" and text(name, value) not in BOUNDARIES:
        raise ValueError(f"boundary must be {' or '.join(map(repr, BOUNDARIES))}, not {shown(value)}")
    if name in REALS or (name in ("mu", "gamma") and not isinstance(value, str)):
        value = real(name, value)
        if name in POSITIVE_KEYWORDS and not 0 < value < float("inf"):
            raise ValueError(f"{name} == {value:g}, must be a number > 0.")
    return value


def _linear(data: Dataset | None, solver: int | str, values: dict[str, Any], also: tuple[str, ...]) -> Settings:
    for name in values:
        if name in KERNEL:
            raise ValueError(f"{name} is for kernels: give kernel too, or leave it out")
    s = dict(values)
    weights, theta = s.pop("class_weight", None), s.pop("theta", None)
    if theta is not None:
        s["gap"] = _gap_of(theta, s)
    if not 1.0 <= s.get("loss_power", 2.0) <= 2.0:
        raise ValueError(f"loss_power == {s['loss_power']:g}, must be from 1 to 2.")
    if "bias" not in s and not s.get("regularize_bias", True):
        s["bias"] = 1.0
    settings = Settings.of(**s)
    names = _asked(values, also)
    if isinstance(solver, str) and solver == "auto":
        from svmtool.training import auto_select

        options = [CHECKED.get(name) or OPTION_OF[name] for name in names]
        assert data is not None
        settings, _ = auto_select.select(settings, [*options, *(["-B"] if "bias" in s else [])], data)
        _refuse_unsupported(settings.row, names)
    else:
        row = _row(solver)
        _refuse_unsupported(row, names)
        settings = settings.replace(solver=row.number)
        settings = settings if "bias" in s else settings.with_default_bias()
    if settings.run.options.mu is not None:
        _check_mu(settings)
    if weights is not None:
        settings = settings.replace(class_weights=class_weights(weights, data, settings.row))
    params.check_after_reading(settings)
    return settings


def _check_mu(settings: Settings) -> None:
    mu, row = settings.run.options.mu, settings.row
    if isinstance(mu, str) and mu not in ("merit", "geometric", "balance"):
        raise ValueError(f"mu must be 'merit', 'geometric', 'balance' or a number > 0, not {shown(mu)}")
    if isinstance(mu, str) == ("--no-homotopy" in row.supported):
        wanted = "'merit' or 'geometric'" if "--no-homotopy" not in row.supported else "a number > 0"
        raise ValueError(f"mu of solver {row.number} ({row.name}) must be {wanted}, not {mu!r}")
    if not isinstance(mu, str) and not 0.0 < mu < float("inf"):
        raise ValueError(f"mu == {mu:g}, must be a number > 0.")
    if mu == "balance" and "--inner-steps" not in row.supported:
        able = registry.in_words(registry.supporting("--inner-steps"))
        raise ValueError(f"mu='balance' is for solver {able}: give 'merit' or 'geometric'")


def _with_kernel(
    data: Dataset | None, solver: int | str, kernel: str, values: dict[str, Any], also: tuple[str, ...]
) -> Settings:
    if text("kernel", kernel) not in KERNEL_NUMBERS:
        raise ValueError(f"kernel must be None or one of {sorted(KERNEL_NUMBERS)}, not {shown(kernel)}")
    s = dict(values)
    for name in s:
        linear = name in OPTION_OF and not registry.anywhere(OPTION_OF[name], registry.KERNEL_SOLVERS)
        if linear or name in LINEAR_KEYWORDS:
            raise ValueError(f"{name} is for linear models: remove it or kernel")
        if kernel not in KERNELS_WITH.get(name, KERNEL_NUMBERS):
            raise ValueError(f"kernel={kernel!r} has no {name}: it is for {' and '.join(KERNELS_WITH[name])}")
    row = _kernel_row(solver, kernel)
    _refuse_unsupported(row, _asked(values, also))
    weights, theta, gamma = s.pop("class_weight", None), s.pop("theta", None), s.pop("gamma", "auto")
    if theta is not None:
        s["gap"] = _gap_of(theta, s)
    if isinstance(gamma, str):
        if gamma != "auto":
            raise ValueError(f"gamma must be 'auto' or a number >= 0, not {shown(gamma)}")
        gamma = 0.0
    settings = Settings.of_kernel(
        **s, solver=row.number, kernel_type=KERNEL_NUMBERS[kernel],
        gamma=gamma,
    )  # fmt: skip
    if weights is not None:
        settings = settings.replace(class_weights=class_weights(weights, data, row))
    check_kernel_after_reading(settings)
    return settings


def _gap_of(theta: float, s: dict[str, Any]) -> float:
    if s.get("gap") is not None:
        raise ValueError("theta and gap both decide when to stop: give one of them")
    if not 0.0 < theta < 1.0:
        raise ValueError(f"theta == {theta:g}, must be between 0 and 1.")
    return gap_of_theta(theta)


def _row(solver: int | str) -> Solver:
    """The row of a linear solver's number or name."""
    if not isinstance(solver, str):
        return registry.find(_number(solver))
    name = solver.replace("_", "-")
    if name not in _NAMES and name in _KERNEL_NAMES:
        raise ValueError(f"solver={solver!r} needs a kernel: give kernel too, such as kernel='rbf'")
    return registry.find(_NAMES.get(name, solver))


def _kernel_row(solver: int | str, kernel: str) -> Solver:
    """The row of a number or a name with a kernel.

    LIBLINEAR's and LIBSVM's numbers from 1 to 4 are different problems: these have names only.
    """
    known = f"with a kernel use {', '.join(sorted(_KERNEL_NAMES))}"
    if isinstance(solver, str):
        number = _KERNEL_NAMES.get(solver.replace("_", "-"))
        if number is None:
            raise ValueError(f"unknown solver: {shown(solver)}: {known}")
    else:
        number = _number(solver)
    row = registry.find_kernel(number)
    if row is None:
        raise ValueError(f"unknown solver: {number}: {known}")
    if number and number < 30 and not isinstance(solver, str):
        name, linear = row.name.replace("_", "-"), registry.find(number)
        raise ValueError(
            f"solver={number} is {name} for LIBSVM and {linear.name}, a linear classifier, for LIBLINEAR: with "
            f"kernel={kernel!r} give a name, solver={name!r} or solver='svc'"
        )
    return row


def _number(solver: Any) -> int:
    if not is_whole(solver):
        raise TypeError(f"solver must be a number or a name of the registry, not {shown(solver)}")
    return whole("solver", solver, 0)


# Names of solvers, with hyphens, and their numbers.
_NAMES = {row.name: row.number for row in registry.SOLVERS}
_KERNEL_NAMES = {"svc": 0, **{row.name.replace("_", "-"): row.number for row in registry.KERNEL_SOLVERS}}


def _refuse_unsupported(row: Solver, names: list[str]) -> None:
    """ValueError for a keyword that would be ignored."""
    supported = registry.supported_options(row) - registry.without_effect(row)
    for name in names:
        if row.kernel and name == "sample_weight":
            if row.kind == "hard one-class":
                raise ValueError(f"{named(row)} has no sample_weight: its problem has no costs")
            continue
        if row.kernel and name == "stratified":  # LIBSVM's folds are where there are classes
            continue
        option = OPTION_OF.get(name) or CHECKED.get(name)
        if option is None or option in supported:
            continue
        if option == "--probability" and row.kernel and row.number < 30:
            continue
        raise ValueError(f"{named(row)} has no {name}{_hint(option, row)}")


def named(row: Solver) -> str:
    """A solver in a message; LIBSVM's problems by their names alone."""
    if row.kernel and row.number < 30:
        return f"solver {row.name.replace('_', '-')!r}"
    return f"solver {row.number} ({row.name})"


def _hint(option: str, row: Solver) -> str:
    """Which solvers have an option that this one does not have; empty where most have it."""
    if option in registry.COSTS:
        return ""
    if not row.kernel:
        able = registry.supporting(option)
        return f": solver {registry.in_words(able)} has" if able else ""
    rows = [other for other in registry.KERNEL_SOLVERS if option in registry.supported_options(other)]
    return ": " + ", ".join(map(named, rows)) + " has" if rows else ""


def class_weights(given: Any, data: Dataset, row: Solver) -> tuple[tuple[int, float], ...]:
    """Pairs of label and factor of a dict, or of "balanced": n rows / (classes * rows of the class)."""
    if row.kind not in ("classification", "all classes", "ordinal"):
        raise ValueError(f"class_weight is for classification, not for {named(row)}")
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, not {shown(given)}")
        return balanced_weights(data.labels)
    if not isinstance(given, Mapping):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None, not {shown(given)}")
    pairs = []
    for label, factor in given.items():
        if not is_whole(label):
            raise ValueError(f"class_weight: labels are whole numbers, not {shown(label)}")
        pairs.append((whole("class_weight: a label", label), real("class_weight", factor)))
    return tuple(pairs)
