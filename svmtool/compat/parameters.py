"""What LIBLINEAR's `parameter` and LIBSVM's `svm_parameter` share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from svmtool.api.values import flag, real, shown, whole
from svmtool.compat.output import print_null
from svmtool.params import PART_OF, Request, Settings


class Parameters:
    """Attributes with the originals' names, set from options and free to be changed afterwards."""

    NAMES: ClassVar[dict[str, str]]  # attribute -> field of a part of the settings, see params.PART_OF
    VALIDATES: ClassVar[str]  # attribute for -v

    def __init__(self, options: Any = None):
        self.parse_options(options)

    def __str__(self) -> str:
        shown = (item for item in vars(self).items() if not item[0].startswith("_"))
        return "\n ".join(f"{name}: {value}" for name, value in shown)

    def read(self, given: Any) -> tuple[Settings, Request]:
        """Return what options mean."""
        raise AssertionError("subclasses read options")

    def set_to_default_values(self) -> None:
        """Set all attributes to their defaults."""
        self.parse_options(None)

    def parse_options(self, given: Any) -> None:
        """Set all attributes anew from options; ValueError with a message for an invalid one."""
        s, request = self._parsed, self._request = self.read(given)
        for name, field in self.NAMES.items():
            value = _field(s, field)
            setattr(self, name, int(value) if isinstance(value, bool) else value)
        eps = s.row.eps_default if s.stopping.eps is None else s.stopping.eps
        self.eps = self._parsed_eps = 0.0 if eps is None else eps  # 0: the certified gap decides
        self.weight_label = [label for label, _ in s.problem.class_weights]
        self.weight = [factor for _, factor in s.problem.class_weights]
        self.nr_weight = len(self.weight)
        setattr(self, self.VALIDATES, request.folds is not None)
        self.nr_fold = request.folds or 0
        self.print_func: Callable[[bytes], object] | None = print_null if request.quiet else None

    def settings(self) -> Settings:
        """Return the settings that the attributes mean now."""
        changed: dict[str, Any] = {}
        for name, field in self.NAMES.items():
            value, parsed = getattr(self, name), _field(self._parsed, field)
            if isinstance(parsed, float):
                changed[field] = real(name, value)
            else:
                changed[field] = type(parsed)(whole(name, int(value) if value is True or value is False else value))
        eps = real("eps", self.eps)
        if eps != self._parsed_eps:
            changed["eps"] = eps
        labels = [whole("weight_label", label) for label in _listed("weight_label", self.weight_label)]
        factors = [real("weight", factor) for factor in _listed("weight", self.weight)]
        weights = tuple(zip(labels, factors, strict=False))
        return self._parsed.replace(class_weights=weights[: whole("nr_weight", self.nr_weight)], **changed)

    def of_model(self, settings: Settings) -> Parameters:
        """Return a copy for the model that was trained with these settings; later changes of this one do not reach it.

        It prints nothing: the originals' models have no `print_func`.
        """
        found = copy.copy(self)
        found.weight_label, found.weight = list(self.weight_label), list(self.weight)
        found.print_func = print_null
        solver = next(name for name, field in self.NAMES.items() if field == "solver")
        setattr(found, solver, settings.problem.solver)  # -s auto has chosen it
        return found

    def request(self) -> Request:
        """Return what the attributes request besides the settings."""
        folds = whole("nr_fold", self.nr_fold) if self._flag(self.VALIDATES) else None
        if self.print_func is not None and not callable(self.print_func):
            raise TypeError(f"print_func must be a function or None, not {shown(self.print_func)}")
        return self._request._replace(folds=folds, quiet=self.print_func is print_null)

    def _flag(self, name: str) -> bool:
        return flag(name, getattr(self, name))


def _listed(name: str, values: Any) -> list[Any]:
    """The elements of a list, a tuple or an array; TypeError for anything else."""
    if not isinstance(values, (list, tuple, np.ndarray)) or np.ndim(values) != 1:
        raise TypeError(f"{name} must be a list, not {shown(values)}")
    return list(values)


def _field(settings: Settings, name: str) -> Any:
    """The value of a field of any part of the settings."""
    part = PART_OF[name]
    return getattr(settings.problem.kernel if part == "kernel" else getattr(settings, part), name)
