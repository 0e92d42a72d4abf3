"""Which row of the registry `solver` and `kernel` mean, and which keywords it has."""

from __future__ import annotations

from typing import Any

from svmtool import registry
from svmtool.api.values import is_whole, shown, whole
from svmtool.options.train import BY_KEYWORD
from svmtool.registry.row import Solver

# The option that a row of the registry must support, for each keyword.
OPTION_OF = {keyword: option.name for keyword, option in BY_KEYWORD.items() if keyword not in ("solver", "kernel")}
# Names of solvers, with hyphens, and their numbers.
_NAMES = {row.name: row.number for row in registry.SOLVERS}
_KERNEL_NAMES = {"svc": 0, **{row.name.replace("_", "-"): row.number for row in registry.KERNEL_SOLVERS}}


def row_of(solver: int | str, method: str | None = None) -> Solver:
    """The row of a linear solver's number or name; method: None: as of `svm-train -s`."""
    row = _linear_row(solver)
    return registry.find(row.number, method or registry.default_method(row.number))


def _linear_row(solver: int | str) -> Solver:
    if not isinstance(solver, str):
        return registry.find(_number(solver))
    name = solver.replace("_", "-")
    if name not in _NAMES and name in _KERNEL_NAMES:
        raise ValueError(f"solver={solver!r} needs a kernel: give kernel too, such as kernel='rbf'")
    return registry.find(_NAMES.get(name, solver))


def kernel_row(solver: int | str, kernel: str, method: str | None = None) -> Solver:
    """The row of a number or a name with a kernel; method: as of row_of.

    LIBLINEAR's and LIBSVM's numbers from 1 to 4 are different problems: these have names only.
    """
    known = f"with a kernel use {', '.join(sorted(_KERNEL_NAMES))}"
    if isinstance(solver, str):
        number = _KERNEL_NAMES.get(solver.replace("_", "-"))
        if number is None:
            raise ValueError(f"unknown solver: {shown(solver)}: {known}")
    else:
        number = _number(solver)
    row = registry.find_kernel(number, method or registry.default_method(number, kernel=True))
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


def refuse_foreign(names: list[str], kernel: bool) -> None:
    """ValueError for a keyword that no solver with a kernel, or no linear one, has."""
    for name in names:
        if name in OPTION_OF and not registry.anywhere(OPTION_OF[name], registry.rows_of(kernel)):
            what = "linear models: remove it or kernel" if kernel else "kernels: give kernel too, or leave it out"
            raise ValueError(f"{name} is for {what}")


def refuse_unsupported(row: Solver, names: list[str]) -> None:
    """ValueError for a keyword that would be ignored."""
    supported = registry.supported_options(row) - registry.without_effect(row)
    for name in names:
        if row.kernel and name == "sample_weight":
            if row.kind == "hard one-class":
                raise ValueError(f"{named(row)} has no sample_weight: its problem has no costs")
            continue
        if row.kernel and name == "stratified":  # LIBSVM's folds are where there are classes
            continue
        option = OPTION_OF.get(name)
        if option is None or option in supported:
            continue
        if option == "--probability" and row.kernel and row.number < 30:
            continue
        what = {"search": "search for C", "stratified": "stratified folds", "multilabel": "sets of labels"}.get(name)
        if what is None:
            refuse_foreign([name], row.kernel)
            what = name
        raise ValueError(f"{named(row)} has no {what}{_hint(option, row)}")


def named(row: Solver) -> str:
    """A solver in a message; LIBSVM's problems by their names alone."""
    if row.kernel and row.number < 30:
        return f"solver {row.name.replace('_', '-')!r}"
    return f"solver {row.number} ({row.name})"


def _hint(option: str, row: Solver) -> str:
    """Which solvers have an option that this one does not have; empty where most have it."""
    if option in registry.COSTS:
        return ""
    methods = [m for m in registry.methods_with(option, row) if m != ("paper" if row.printed else "fast")]
    if methods:
        return f": with method={methods[0]!r} it has"
    rows = [other for other in registry.rows_of(row.kernel) if option in registry.supported_options(other)]
    rows = [other for other in rows if option not in registry.without_effect(other)]
    able = list({other.number: other for other in rows}.values())
    if not able:
        return ""
    return ": " + (", ".join(map(named, able)) if row.kernel else f"solver {registry.in_words(able)}") + " has"
