"""The keywords of `fit` and of what trains like it, with their types, for type checkers and editors.

`fit` describes them; settings.py checks the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

KernelName = Literal["linear", "poly", "polynomial", "rbf", "sigmoid", "precomputed"]


class SolverOptions(TypedDict, total=False):
    """Options of single solvers: `svm-train --help` describes them."""

    mu: float | Literal["merit", "geometric"] | None
    objective_change: float
    homotopy: bool
    mu_end: float | None
    one_vs_one: bool
    passes: int
    sample: int | None
    heuristics: str
    loss: str
    boundary: str
    sgd_rows: int | None
    pairs: int | None
    delta_alpha: float
    min_alpha_opt: float
    max_alpha_opt: float
    min_alpha_check: int | None
    loo: bool
    theta: float | None
    method: Literal["paper", "fast"]
    paper_form: bool
    thresholds: Literal["cv"] | None
    prune: float | None
    keep_dual: bool


class Keywords(SolverOptions, total=False):
    """Keywords of a training, but for those that `fit`, `cross_validate` and `search_C` each name."""

    C: float
    p: float
    nu: float
    eps: float | None
    gap: float | None
    bias: float | None
    regularize_bias: bool
    loss_power: float
    gamma: float | Literal["auto"]
    degree: int
    coef0: float
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    max_iter: int | None
    max_seconds: float | None
    seed: int | None
    probability: bool
    cache_mb: float
    shrinking: bool


class FitKeywords(Keywords, total=False):
    """Keywords of `fit`, but for `kernel`, which determines the model's type."""

    sample_weight: Any
    init: Any
    callback: Callable[[dict[str, Any]], object] | None
    threads: int | None
    one_class: bool
    progress: bool
