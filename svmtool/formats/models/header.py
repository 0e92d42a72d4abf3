"""The lines of LIBLINEAR's model files before the weights, see linear.py."""

from __future__ import annotations

from svmtool.errors import ModelError
from svmtool.formats.models.text import ModelText, Scanner
from svmtool.models import linear
from svmtool.models.linear import OVERFLOWN, LinearModel, kind_of, sigmoids_of
from svmtool.numbers import format_one

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import Any

MAX_RHO = 1.7976931348623157e308

EARLY_END = "ERROR: fscanf failed to read the model"


def header_fields(scan: Scanner) -> dict[str, Any]:
    """Read everything up to the word `w`; ModelError with LIBLINEAR's messages."""
    fields: dict[str, Any] = {}
    while (key := scan.word("a keyword")) != "w":
        if key == "solver_type":
            fields[key] = scan.word("a solver's name")
            if fields[key] not in linear.SOLVER_WORDS:
                raise ModelError("unknown solver type.")
        elif key in ("nr_class", "nr_feature"):
            fields[key] = scan.integer(key)
        elif key in ("bias", "rho"):
            limit = key == "rho" and fields.get("solver_type") == linear.ONE_CLASS_WORD  # see _finite
            fields[key] = scan.real(key, ("inf", "nan")[: limit + (fields.get("nr_feature") == 0)] if limit else ())
        elif key == "label":
            if "nr_class" not in fields:
                raise ModelError("ERROR: label is before nr_class in the model")
            fields[key] = scan.integers(key, fields["nr_class"])
        else:
            kernel = ": this is a kernel model, a linear model is expected" if key == "svm_type" else ""
            raise ModelError(f"unknown text in model file: [{key}]{kernel}")
    missing = [key for key in ("solver_type", "nr_class", "nr_feature", "bias") if key not in fields]
    if missing:
        raise ModelError(f"ERROR: the model lacks {', '.join(missing)}")
    if abs(fields.get("rho") or 0.0) == MAX_RHO:
        fields["rho"] *= 2.0  # see _finite
    _check(fields)
    return fields


def _check(fields: dict[str, Any]) -> None:
    """Reject invalid models that LIBLINEAR would accept; drop labels of a model without classes."""
    word, k, kind = fields["solver_type"], fields["nr_class"], kind_of(fields["solver_type"])
    if fields["nr_feature"] < 0 or k < 0:
        raise ModelError("ERROR: nr_feature or nr_class of the model is negative")
    if kind == "classification":
        if "label" not in fields:
            raise ModelError(f"ERROR: the model of {word} has no labels")
        if len(fields["label"]) != k:
            raise ModelError(f"ERROR: the model has {len(fields['label'])} labels for {k} classes")
        return
    fields.pop("label", None)
    if k != 2:
        raise ModelError(f"ERROR: a model of {word} has nr_class 2, not {k}")
    if kind == "one-class" and "rho" not in fields:
        raise ModelError("ERROR: the one-class model has no rho")


def header_of(text: ModelText) -> dict[str, Any]:
    """The fields of a model's first lines, of which a text consists."""
    return header_fields(Scanner(text, EARLY_END))


def header_text(model: LinearModel) -> str:
    """The lines of a model before its weights."""
    lines = [f"solver_type {model.word}", f"nr_class {model.nr_class}"]
    if model.labels is not None:
        lines.append(" ".join(["label", *map(str, model.labels)]))
    lines += [f"nr_feature {model.n_features}", f"bias {format_one(model.bias, 17)}"]
    if model.rho is not None:
        lines.append(f"rho {format_one(_finite(model.rho), 17)}")
    return "\n".join([*lines, "w", ""])


def _finite(rho: float) -> float:
    """A finite number that decides as rho: LIBLINEAR writes inf or -inf if all or no rows are outliers, and nan, which
    predicts -1, without rows."""
    return 0.0 if rho != rho else max(-MAX_RHO, min(rho, MAX_RHO))


def refuse_overflow(model: LinearModel) -> None:
    """Raise SvmtoolError for non-finite weights; a non-finite rho is allowed, see _finite."""
    import numpy as np

    rho = model.rho if model.rho is not None and model.n_features else 0.0
    sigmoids_of(model)
    weights = getattr(model.W, "known", model.W)  # of features in the data; others are 0
    finite = weights.finite if hasattr(weights, "pieces") else np.all(np.isfinite(weights))
    if not (finite and np.isfinite(model.bias) and rho == rho):
        raise ModelError(OVERFLOWN)
