"""Keywords of `fit` and its companions to Settings; messages name keywords, not options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from svmtool import params, registry
from svmtool.api.solver_choice import CHECKED, OPTION_OF, kernel_row, named, refuse_unsupported, row_of
from svmtool.api.values import flag, is_whole, real, shown, text, whole
from svmtool.api.wording import in_keywords
from svmtool.data.dataset import Dataset
from svmtool.data.labels import balanced_weights
from svmtool.params import Settings, check_kernel_after_reading
from svmtool.registry.printed import ORDINAL_LOSSES
from svmtool.registry.row import BOUNDARIES, METHODS, Solver, are_heuristics
from svmtool.training import intent
from svmtool.training.inputs import MAX_DIGITS

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
    keyword: tuple(name for name, number in KERNEL_NUMBERS.items() if number in intent.KERNELS_WITH[option])
    for keyword, option in (("gamma", "-g"), ("degree", "-d"), ("coef0", "-r"))
}

# Least values of whole numbers.
COUNT_KEYWORDS = {
    "passes": 1, "sample": 1, "pairs": 1, "min_alpha_opt": 1, "max_alpha_opt": 1,
    "min_alpha_check": 1, "sgd_rows": 1, "max_iter": 1, "seed": 0, "degree": 0,
}  # fmt: skip
REALS = frozenset(
    {"C", "p", "nu", "eps", "gap", "max_seconds", "bias", "loss_power", "coef0", "cache_mb", "delta_alpha", "theta"}
    | {"objective_change", "mu_end", "prune"}
)
FLAGS = frozenset(
    {"regularize_bias", "probability", "shrinking", "homotopy", "paper_form", "loo", "one_vs_one", "keep_dual"}
)
REQUESTS = frozenset(
    {"probability", "paper_form", "loo", "one_vs_one", "keep_dual"}
)  # flags that ask for nothing where they are False
# Keywords that have a value in every run: None is none of them.
NEVER_NONE = frozenset(
    name
    for name, value in {
        **DEFAULTS,
        **params.NO_OPTIONS._asdict(),
        "loo": False,
        "paper_form": False,
        "keep_dual": False,
    }.items()
    if value is not None
)
SQUARED, MAX_SQUARED = frozenset({"bias", "p", "coef0", "gamma"}), 10.0 ** (MAX_DIGITS / 2)
POSITIVE_KEYWORDS = frozenset({"cache_mb", "gap", "max_seconds", "delta_alpha", "objective_change", "mu_end", "prune"})
OR_INFINITE = frozenset({"min_alpha_opt", "max_alpha_opt"})  # whole numbers that may be infinite


def check_names(given: Mapping[str, Any], more: tuple[str, ...]) -> None:
    """Raise TypeError for an unknown keyword, naming the closest one."""
    for name in given:
        if name not in DEFAULTS and name not in OPTION_OF:
            option = "--" + name.replace("_", "-")
            if option in params.GONE:
                raise TypeError(in_keywords(f"{option} is gone: {params.GONE[option]}"))
            close = get_close_matches(name, [*DEFAULTS, *OPTION_OF, *more], 1)
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")


def settings_of(
    data: Dataset | None, solver: int | str | None, kernel: str | None, given: Mapping[str, Any],
    also: tuple[str, ...], default: int = 1,
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
    if values.get("paper_form") and values.setdefault("method", "paper") != "paper":
        raise ValueError("paper_form=True is method='paper': remove it, or method")
    if kernel is None:
        return _linear(data, default if solver is None else solver, values, also)
    return _with_kernel(data, "svc" if solver is None else solver, kernel, values, also)


def _asked(values: Mapping[str, Any], also: tuple[str, ...]) -> list[str]:
    """The names of what the solver must have."""
    return [*(name for name, value in values.items() if name not in REQUESTS or value), *also]


def _checked(name: str, value: Any) -> Any:
    """The value of a keyword in its type; TypeError or ValueError for an invalid one."""
    if value is None:
        if name in NEVER_NONE:
            raise TypeError(f"{name} must have a value, not None")
        return None
    if name in OR_INFINITE and isinstance(value, float) and value == math.inf:
        return math.inf
    if name in COUNT_KEYWORDS:
        return whole(name, value, COUNT_KEYWORDS[name])
    if name in FLAGS:
        return flag(name, value)
    if name == "method" and text(name, value) not in METHODS:
        raise ValueError(f"method must be {' or '.join(map(repr, METHODS))}, not {shown(value)}")
    if name == "loss" and text(name, value) not in ORDINAL_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, ORDINAL_LOSSES))}, not {shown(value)}")
    if name == "heuristics" and not are_heuristics(text(name, value)):
        raise ValueError(f"heuristics must be some of h1, h2 and h3, joined by commas, or 'none', not {shown(value)}")
    if name == "thresholds" and text(name, value) != "cv":
        raise ValueError(f"thresholds must be 'cv' or None, not {shown(value)}")
    if name == "boundary" and text(name, value) not in BOUNDARIES:
        raise ValueError(f"boundary must be {' or '.join(map(repr, BOUNDARIES))}, not {shown(value)}")
    if name in REALS or (name in ("mu", "gamma") and not isinstance(value, str)):
        value = real(name, value)
        if name in SQUARED and MAX_SQUARED < abs(value) < float("inf"):
            raise ValueError(f"{name} == {value:g} overflows when it is squared")
        if name in POSITIVE_KEYWORDS and not 0 < value < float("inf"):
            raise ValueError(f"{name} == {value:g}, must be a number > 0.")
    return value


def _linear(data: Dataset | None, solver: int | str, values: dict[str, Any], also: tuple[str, ...]) -> Settings:
    for name in values:
        if name in KERNEL:
            raise ValueError(f"{name} is for kernels: give kernel too, or leave it out")
    s = dict(values)
    s.pop("paper_form", None)
    weights, theta = s.pop("class_weight", None), s.pop("theta", None)
    if not 1.0 <= s.get("loss_power", 2.0) < float("inf"):
        raise ValueError(f"loss_power == {s['loss_power']:g}, must be a number >= 1.")
    if "bias" not in s and not s.get("regularize_bias", True):
        s["bias"] = 1.0
    method = s.pop("method", None)
    settings = Settings.of(**s)
    names = _asked(values, also)
    if isinstance(solver, str) and solver == "auto":
        from svmtool.training import auto_select

        options = [CHECKED.get(name) or OPTION_OF[name] for name in names]
        assert data is not None
        settings, _ = auto_select.select(settings, [*options, *(["-B"] if "bias" in s else [])], data)
        refuse_unsupported(settings.row, names)
    else:
        row = row_of(solver, method)
        refuse_unsupported(row, names)
        _check_stopping(row, values)
        settings = settings.replace(solver=row.number, method=row.method)
        settings = settings if theta is None else settings.with_theta(theta)
        settings = settings if "bias" in s else settings.with_default_bias()
    if settings.run.options.mu is not None:
        _check_mu(settings)
    if settings.run.options.one_vs_one and settings.run.probability:
        raise ValueError("one_vs_one and probability cannot be combined: there are no sigmoids of pairs")
    if weights is not None:
        settings = settings.replace(class_weights=class_weights(weights, data, settings.row))
    run = settings.run
    for name, chosen in (("prune", run.prune is not None), ("keep_dual", run.keep_dual)):
        if chosen and run.options.one_vs_one:
            raise ValueError(f"one_vs_one and {name} cannot be combined")
    if "multilabel" in also:
        if run.probability or run.options.one_vs_one or run.loo or run.keep_dual or solver == "auto":
            raise ValueError("sets of labels have no probability, one_vs_one, loo, keep_dual or solver='auto'")
        settings = settings.replace(multilabel=True)
    elif run.thresholds is not None:
        raise ValueError("thresholds is for sets of labels: y is a matrix with a column for each label then")
    params.check_after_reading(settings)
    return settings


def _check_stopping(row: Solver, values: Mapping[str, Any]) -> None:
    rules = [name for name in ("eps", "theta", *(() if row.printed else ("gap",))) if name in values]
    if len(rules) > 1:
        raise ValueError(f"{rules[0]} and {rules[1]} both decide when to stop: give one of them")
    if not 0.0 < values.get("theta", 0.5) < 1.0:
        raise ValueError(f"theta == {values['theta']:g}, must be between 0 and 1.")


def _check_mu(settings: Settings) -> None:
    mu, row = settings.run.options.mu, settings.row
    if mu == "balance":
        raise ValueError("mu='balance' is gone: mu='merit' is the paper's rule")
    if isinstance(mu, str) and mu not in ("merit", "geometric"):
        raise ValueError(f"mu must be 'merit', 'geometric' or a number > 0, not {shown(mu)}")
    if isinstance(mu, str) and "--loss-power" not in row.supported:  # the rules are ALM's
        raise ValueError(f"mu of solver {row.number} ({row.name}) must be a number > 0, not {mu!r}")
    if mu is not None and not isinstance(mu, str) and not 0.0 < mu < float("inf"):
        raise ValueError(f"mu == {mu:g}, must be a number > 0.")


def _with_kernel(
    data: Dataset | None, solver: int | str, kernel: str, values: dict[str, Any], also: tuple[str, ...]
) -> Settings:
    if text("kernel", kernel) not in KERNEL_NUMBERS:
        raise ValueError(f"kernel must be None or one of {sorted(KERNEL_NUMBERS)}, not {shown(kernel)}")
    s = dict(values)
    for name in s:
        linear = name in OPTION_OF and not registry.anywhere(OPTION_OF[name], registry.rows_of(kernel=True))
        if linear or name in LINEAR_KEYWORDS:
            raise ValueError(f"{name} is for linear models: remove it or kernel")
        if kernel not in KERNELS_WITH.get(name, KERNEL_NUMBERS):
            raise ValueError(f"kernel={kernel!r} has no {name}: it is for {', '.join(KERNELS_WITH[name])}")
    s.pop("paper_form", None)
    row = kernel_row(solver, kernel, s.pop("method", None))
    refuse_unsupported(row, _asked(values, also))
    _check_stopping(row, values)
    weights, theta, gamma = s.pop("class_weight", None), s.pop("theta", None), s.pop("gamma", "auto")
    if isinstance(gamma, str):
        if gamma != "auto":
            raise ValueError(f"gamma must be 'auto' or a number >= 0, not {shown(gamma)}")
        gamma = 0.0
    settings = Settings.of_kernel(
        **s, solver=row.number, kernel_type=KERNEL_NUMBERS[kernel], gamma=gamma, method=row.method
    )
    settings = settings if theta is None else settings.with_theta(theta)
    if weights is not None:
        settings = settings.replace(class_weights=class_weights(weights, data, row))
    check_kernel_after_reading(settings)
    return settings


def class_weights(given: Any, data: Dataset, row: Solver) -> tuple[tuple[int, float], ...]:
    """Pairs of label and factor of a dict, or of "balanced": see `balanced_weights`."""
    if row.kind not in ("classification", "all classes", "ordinal"):
        raise ValueError(f"class_weight is for classification, not for {named(row)}")
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, not {shown(given)}")
        if data is not None and data.sets is not None:
            raise ValueError("class_weight='balanced' is for one label a row: give a dict")
        return balanced_weights(data.labels, data.weights)
    if not isinstance(given, Mapping):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None, not {shown(given)}")
    pairs = []
    for label, factor in given.items():
        if not is_whole(label):
            raise ValueError(f"class_weight: labels are whole numbers, not {shown(label)}")
        pairs.append((whole("class_weight: a label", label), real("class_weight", factor)))
    return tuple(pairs)
