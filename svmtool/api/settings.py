"""Keywords of `fit` and its companions to Settings; messages name keywords, not options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from svmtool import params
from svmtool.api.solver_choice import OPTION_OF, kernel_row, named, refuse_foreign, refuse_unsupported, row_of
from svmtool.api.values import flag, is_whole, real, shown, text, whole
from svmtool.api.wording import in_keywords
from svmtool.data.dataset import Dataset
from svmtool.data.labels import balanced_weights
from svmtool.options.train import BY_KEYWORD, GONE
from svmtool.params import Settings, check_kernel_after_reading
from svmtool.registry.row import Solver
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


# Keywords that `fit` names, and their defaults.
DEFAULTS: dict[str, Any] = {
    "C": 1.0, "p": 0.1, "nu": 0.5, "eps": None, "gap": None, "class_weight": None, "max_iter": None,
    "max_seconds": None, "seed": None, "probability": False, "bias": None, "regularize_bias": True, "loss_power": 2.0,
    "gamma": "auto", "degree": 3, "coef0": 0.0, "cache_mb": 100.0, "shrinking": True,
}  # fmt: skip
NOT_GIVEN: dict[str, Any] = {name: None if value is None else Default(value) for name, value in DEFAULTS.items()}
# Keywords of the table of options that are no parameters of a training: functions that have them name them.
OF_FUNCTIONS = ("sample_weight", "init", "folds", "stratified", "groups", "search", "multilabel", "guarantee")
FURTHER = frozenset(OPTION_OF) - {*DEFAULTS, *OF_FUNCTIONS}  # keywords that `fit` takes without naming them
# The values of keywords where they are not given.
USUAL = {**params.NO_OPTIONS._asdict(), **dict.fromkeys(("loo", "paper_form", "keep_dual"), False), **DEFAULTS}
NEVER_NONE = frozenset(name for name, value in USUAL.items() if value is not None)
# The kernels that have a parameter.
KERNELS_WITH = {
    keyword: tuple(name for name, number in KERNEL_NUMBERS.items() if number in intent.KERNELS_WITH[option])
    for keyword, option in (("gamma", "-g"), ("degree", "-d"), ("coef0", "-r"))
}
MAX_SQUARED = 10.0 ** (MAX_DIGITS / 2)


def check_names(given: Mapping[str, Any], more: tuple[str, ...]) -> None:
    """Raise TypeError for an unknown keyword, naming the closest one."""
    for name in given:
        if name not in DEFAULTS and name not in FURTHER:
            option = "--" + name.replace("_", "-")
            if option in GONE:
                raise TypeError(in_keywords(f"{option} is gone: {GONE[option]}"))
            close = get_close_matches(name, [*DEFAULTS, *FURTHER, *more], 1)
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
    also : names of OF_FUNCTIONS that the solver must support

    Raises
    ------
    ValueError, SvmtoolError, TypeError
        for invalid values, and for keywords that the solver does not have.
    """
    some = ((k, v) for k, v in given.items() if type(v) is not Default and (v is not None or k in NEVER_NONE))
    values = {k: checked(k, v) for k, v in some}
    if values.get("paper_form") and values.setdefault("method", "paper") != "paper":
        raise ValueError("paper_form=True is method='paper': remove it, or method")
    if kernel is None:
        return _linear(data, default if solver is None else solver, values, also)
    return _with_kernel(data, "svc" if solver is None else solver, kernel, values, also)


def _asked(values: Mapping[str, Any], also: tuple[str, ...]) -> list[str]:
    """The names of what the solver must have."""
    return [*(name for name, value in values.items() if value is not False or USUAL[name] is not False), *also]


def checked(name: str, value: Any) -> Any:
    """The value of a keyword in its type, by the table of options; TypeError or ValueError for an invalid one."""
    if value is None:
        raise TypeError(f"{name} must have a value, not None")
    kind = BY_KEYWORD[name].kind
    if kind is None or kind.python is bool or name == "keep_dual":  # whose option names a file
        return flag(name, value)
    if kind.python is object:
        return value
    if kind.python is str or (kind.names and isinstance(value, str)):
        for word, instead in kind.former:
            if word == value:
                raise ValueError(f"{name}={word!r} is gone: use {name}={instead!r}")
        if text(name, value) not in kind.names and not (kind.python is str and kind.holds(value)):
            raise ValueError(f"{name} must be {kind.must(repr)}, not {shown(value)}")
        return value
    if kind.python is int:
        unlimited = isinstance(value, float) and value == math.inf and kind.holds(value)
        return value if unlimited else whole(name, value, kind.least)
    value = real(name, value)
    if kind.squared and MAX_SQUARED < abs(value) < float("inf"):
        raise ValueError(f"{name} == {value:g} overflows when it is squared")
    if not kind.holds(value):
        raise ValueError(f"{name} == {value:g}, must be {kind.must(repr)}.")
    return value


def _linear(data: Dataset | None, solver: int | str, values: dict[str, Any], also: tuple[str, ...]) -> Settings:
    s = dict(values)
    s.pop("paper_form", None)
    weights, theta = s.pop("class_weight", None), s.pop("theta", None)
    if "bias" not in s and not s.get("regularize_bias", True):
        s["bias"] = 1.0
    method, names = s.pop("method", None), _asked(values, also)
    if isinstance(solver, str) and solver == "auto":
        from svmtool.training import auto_select

        refuse_foreign(_asked(values, ()), kernel=False)
        options = [OPTION_OF[name] for name in names]
        assert data is not None
        settings, _ = auto_select.select(Settings.of(**s), [*options, *(["-B"] if "bias" in s else [])], data)
        refuse_unsupported(settings.row, names)
    else:
        row = row_of(solver, method)
        refuse_unsupported(row, names)
        _check_stopping(row, values)
        settings = Settings.of(**s, solver=row.number, method=row.method)
        settings = settings if theta is None else settings.with_theta(theta)
        settings = settings if "bias" in s else settings.with_default_bias()
    mu, row = settings.run.options.mu, settings.row
    if isinstance(mu, str) and "--loss-power" not in row.supported:  # the rules are ALM's
        raise ValueError(f"mu of {named(row)} must be a number > 0, not {mu!r}")
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


def _with_kernel(
    data: Dataset | None, solver: int | str, kernel: str, values: dict[str, Any], also: tuple[str, ...]
) -> Settings:
    if text("kernel", kernel) not in KERNEL_NUMBERS:
        raise ValueError(f"kernel must be None or one of {sorted(KERNEL_NUMBERS)}, not {shown(kernel)}")
    s = dict(values)
    for name in _asked(values, ()):
        if kernel not in KERNELS_WITH.get(name, KERNEL_NUMBERS):
            raise ValueError(f"kernel={kernel!r} has no {name}: it is for {', '.join(KERNELS_WITH[name])}")
    s.pop("paper_form", None)
    row = kernel_row(solver, kernel, s.pop("method", None))
    refuse_unsupported(row, _asked(values, also))
    _check_stopping(row, values)
    weights, theta, gamma = s.pop("class_weight", None), s.pop("theta", None), s.pop("gamma", "auto")
    settings = Settings.of_kernel(
        **s, solver=row.number, kernel_type=KERNEL_NUMBERS[kernel], gamma=0.0 if gamma == "auto" else gamma,
        method=row.method,
    )  # fmt: skip
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
