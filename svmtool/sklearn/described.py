"""Docstrings of estimators: one text for each parameter and attribute that they share, and `described`, which adds it.

An estimator's own docstring describes what only it has, and takes precedence; then `_described` of its base classes.
"""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

Texts = dict[str, tuple[str, str]]  # name to type and description

PARAMETERS: Texts = {
    "C": (
        "float",
        "Weight of the loss relative to the regulariser; larger values follow the training rows more closely.",
    ),
    "fit_intercept": ("bool", "Whether the model has an intercept."),
    "intercept_scaling": (
        "float",
        "Value of the constant feature whose weight makes the intercept, regularised as the others.",
    ),
    "verbose": ("int", "1 shows progress bars and prints the certificate, 2 prints it and each iteration."),
    "n_jobs": ("int or None", "Number of threads; None: as many as the process may use, -1: all cores."),
    "kernel": (
        '{"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable',
        'The kernel; "precomputed": X holds its values; a callable returns the values of the rows of two arrays.',
    ),
    "degree": ("int", "Degree of the polynomial kernel."),
    "gamma": (
        '{"scale", "auto"} or float',
        'Coefficient of the kernel; "scale": 1 / (n_features * variance of X, weighted by rows), "auto": 1 / '
        "n_features.",
    ),
    "coef0": ("float", "Constant of the polynomial and sigmoid kernels."),
    "cache_size": ("float", "Memory for kernel values, in MB."),
    "random_state": ("int, RandomState instance or None", "Seed of the solver's random choices."),
    "max_iter": ("int or None", "Limit on the solver's iterations; None: no limit."),
    "max_seconds": ("float or None", "Limit on the seconds of a fit; None: no limit."),
    "tol": ("float", "Certified relative gap at which the fit ends."),
    "class_weight": (
        'dict, "balanced" or None',
        'Factors of C by class, without effect in NuSVC; "balanced": n_samples / (n_classes * rows of the '
        "class), where `sample_weight` counts as repeated rows but in SVC and NuSVC.",
    ),
    "probability": (
        'bool, "sigmoid" or "isotonic"',
        'Add `predict_proba`, calibrated on decision values of 5-fold cross-validation; True is "sigmoid" (Platt).',
    ),
    "warm_start": ("bool", "Start from the weights of the last fit."),
    "dual": (
        'bool or "auto"',
        "Chooses nothing, the method is chosen by measured costs; what scikit-learn refuses is refused.",
    ),
    "epsilon": ("float", "Half the width of the tube in which errors cost nothing."),
    "shrinking": ("bool", "Accepted for compatibility."),
    "decision_function_shape": (
        '{"ovr", "ovo"}',
        "Columns of `decision_function`: one for each class, or one for each pair of classes.",
    ),
    "break_ties": (
        "bool",
        "Whether `predict` takes the class of the largest decision value where several classes have as many votes.",
    ),
}
ATTRIBUTES: Texts = {
    "coef_": (
        "ndarray of shape (1, n_features) or (n_classes, n_features)",
        "Weights; of two classes one row, for `classes_[1]`.",
    ),
    "intercept_": ("ndarray of shape (1,) or (n_classes,)", "Intercepts."),
    "classes_": ("ndarray of shape (n_classes,)", "The classes in ascending order."),
    "n_iter_": ("int", "Iterations, of several problems the most."),
    "gap_": (
        "float",
        "Certified relative gap (P - D) / P: the objective exceeds its minimum by at most this share of itself.",
    ),
    "objective_": ("float", "The primal value P, of several problems their sum."),
    "certificate_": (
        "Bunch",
        "`primal`, `dual`, `gap` and KKT `violation`; of several problems sums, and the largest gap and violation.",
    ),
    "converged_": ("bool", "Whether the fit met its stopping rule."),
    "n_features_in_": ("int", "Number of features."),
    "feature_names_in_": ("ndarray of shape (n_features_in_,)", "Names of the features, where X had column names."),
    "support_": ("ndarray of shape (n_SV,)", "Row numbers of the support vectors."),
    "support_vectors_": (
        "ndarray or sparse matrix of shape (n_SV, n_features)",
        "The support vectors; empty for a precomputed or callable kernel.",
    ),
    "n_support_": ("ndarray of shape (1,)", "Number of support vectors."),
    "dual_coef_": (
        "{ndarray, sparse matrix} of shape (1, n_SV)",
        "Coefficients of the support vectors; sparse after a fit on sparse rows.",
    ),
    "offset_": ("float", "The decision function is `score_samples` less this."),
    "fit_status_": ("int", "0 if the fit converged, else 1."),
    "shape_fit_": ("tuple of int", "Shape of the training rows."),
    "class_weight_": ("ndarray of shape (n_classes,)", "Factor of C of each class."),
    "probA_": (
        "ndarray of shape (n_pairs,)",
        'Slopes of the sigmoids, with probability="sigmoid"; deprecated in scikit-learn 1.9.',
    ),
    "probB_": (
        "ndarray of shape (n_pairs,)",
        'Offsets of the sigmoids, with probability="sigmoid"; deprecated in scikit-learn 1.9.',
    ),
}
OF_ALL = (
    "gap_", "objective_", "certificate_", "converged_", "n_features_in_", "feature_names_in_",
)  # fmt: skip
SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^(\w+)(?: : .*)?\n(?:(?:    .*)?\n)*", re.MULTILINE)

Estimator = TypeVar("Estimator", bound=type)


def described(estimator: Estimator) -> Estimator:
    """Add to an estimator's docstring the parameters and attributes that the tables describe.

    Parameters are those of the constructor, in its order, with its defaults.  Attributes are those in `_fitted` of
    the base classes, the estimator's own, where a name alone stands for its text, and those of all estimators.

    Parameters
    ----------
    estimator : type
        The class.

    Returns
    -------
    type
        The class.
    """
    text = inspect.getdoc(estimator)
    if text is None:  # python -OO
        return estimator
    own = {name: _entries(body) for name, body in SECTION.findall(text + "\n")}
    about, _, examples = SECTION.sub("", text + "\n").partition("Examples\n")
    known = own.get("Parameters", {})
    parameters = [
        known.get(p.name) or _entry(p.name, PARAMETERS, estimator, f", default={_quoted(p.default)}")
        for p in inspect.signature(estimator).parameters.values()
    ]
    families = [name for base in reversed(estimator.__mro__) for name in vars(base).get("_fitted", ())]
    named = dict.fromkeys(families, "") | own.get("Attributes", {}) | dict.fromkeys(OF_ALL, "")
    attributes = [kept or _entry(name, ATTRIBUTES, estimator) for name, kept in named.items()]
    sections = [("Parameters", parameters), ("Attributes", attributes)]
    body = "\n".join(f"{name}\n{'-' * len(name)}\n{''.join(entries)}" for name, entries in sections)
    estimator.__doc__ = f"{about.rstrip()}\n\n{body}\nExamples\n{examples.rstrip()}\n"
    return estimator


def _entries(body: str) -> dict[str, str]:
    """The entries of a section by name; empty for a name alone."""
    found = {entry[1]: entry[0].rstrip() + "\n" for entry in ENTRY.finditer(body)}
    return {name: "" if text.strip() == name else text for name, text in found.items()}


def _entry(name: str, texts: Texts, estimator: type, default: str = "") -> str:
    families = (vars(base).get("_described", {}) for base in estimator.__mro__)
    kind, text = next((family[name] for family in families if name in family), None) or texts[name]
    return f"{name} : {kind}{default}\n    {text}\n"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
