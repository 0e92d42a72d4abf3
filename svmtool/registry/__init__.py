"""The table of solvers: one row for each value of -s.

Everything that depends on the choice of a solver comes from this table: `--help`, `--explain`, the tables of `docs/`,
the checks of options, the word in the model file, and the parameters of tests and benchmarks.  To add a solver, add one
file in `solvers/` and one row in liblinear.py, libsvm.py or papers.py.  Few other places name a
solver: `scripts/stress`, `tests/helpers`, and SOUND_FOR_HINGES of training/reductions/base.py.

Solver modules are named by strings, so that reading this table imports none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from svmtool.errors import SvmtoolError
from svmtool.registry import liblinear, libsvm, papers, printed
from svmtool.registry.printed import with_loss as with_loss
from svmtool.registry.row import CLASSIFIERS, About, Solver

COMMON_OPTIONS = frozenset({"-s", "-v", "-q", "--threads", "--strict", "--metrics", "--plain-model"})
COSTS = frozenset({"-c", "-w"})
WEIGHTED_KINDS = ("classification", "all classes", "ordinal")  # whose labels are classes, with factors of their costs
KIND_OPTIONS = {  # options of the training, independent of the solver; LIBLINEAR and LIBSVM take costs for all numbers
    **dict.fromkeys(("classification", "all classes"), COSTS | {"--probability", "--balanced"}),
    **dict.fromkeys(("regression", "ordinal", "one-class"), COSTS),
    "hard one-class": frozenset(),
}
DUAL_KINDS = ("classification", "regression")  # whose certifiers keep the dual point for --keep-dual
LABEL_OPTIONS = frozenset({"--multilabel", "--thresholds", "--prune"})  # of linear problems of one label and the rest


def _rendered(rows: Iterable[Solver]) -> tuple[Solver, ...]:
    """The rows with their defaults in the stopping rules."""
    return tuple(
        row._replace(stopping=row.stopping.replace("[eps]", f"{row.eps_default:g}")) if "[eps]" in row.stopping else row
        for row in rows
    )


SOLVERS = _rendered(liblinear.ROWS + papers.ROWS)
_BY_KEY: dict[int | str, Solver] = {key: row for row in SOLVERS for key in (row.number, row.name)}

# What -s means on a command line with kernels, where 0 to 4 are LIBSVM's.
KERNEL_SOLVERS = _rendered(libsvm.ROWS + papers.KERNEL_ROWS)
_KERNEL_BY_KEY: dict[int | str, Solver] = {key: row for row in KERNEL_SOLVERS for key in (row.number, row.name)}

# The papers' numbers with --method paper, their default: each runs its paper's algorithm as printed.
PRINTED = _rendered(printed.PRINTED)
KERNEL_PRINTED = _rendered(printed.KERNEL_PRINTED)
_PRINTED_BY_KEY: dict[int | str, Solver] = {key: row for row in PRINTED for key in (row.number, row.name)}
_KERNEL_PRINTED_BY_KEY: dict[int | str, Solver] = {key: row for row in KERNEL_PRINTED for key in (row.number, row.name)}


def default_method(number: int, kernel: bool = False) -> str:
    """The value of --method when it is not given: paper where a number is a paper's."""
    return "paper" if number in (_KERNEL_PRINTED_BY_KEY if kernel else _PRINTED_BY_KEY) else "fast"


def find(key: int | str, method: str = "fast") -> Solver:
    """Return the row of a number or a name; raises SvmtoolError, which lists those that exist.

    method: one of row.METHODS; numbers that are no paper's have one row for both.
    """
    row = _PRINTED_BY_KEY.get(key) if method == "paper" else None
    row = row or _BY_KEY.get(key)
    if row is not None:
        return row
    advice = closest(str(key), SOLVERS) or f"use -s {in_words(SOLVERS)}"
    raise SvmtoolError(f"ERROR: unknown solver type: {key}: {advice}")


def closest(name: str, rows: Iterable[Solver]) -> str:
    """`did you mean NAME (-s NUMBER)?` for a mistyped name of one of these rows, else empty."""
    import difflib

    numbers = {row.name: row.number for row in rows}
    for found in difflib.get_close_matches(name, numbers, 1):
        return f"did you mean {found} (-s {numbers[found]})?"
    return ""


def find_kernel(key: int | str, method: str = "fast") -> Solver | None:
    """`find` on a command line with kernels; None if there is no such row."""
    row = _KERNEL_PRINTED_BY_KEY.get(key) if method == "paper" else None
    return row or _KERNEL_BY_KEY.get(key)


def rows_of(kernel: bool) -> tuple[Solver, ...]:
    """Return all rows, with both methods."""
    return KERNEL_SOLVERS + KERNEL_PRINTED if kernel else SOLVERS + PRINTED


def default_rows(kernel: bool = False) -> tuple[Solver, ...]:
    """Return one row for each number, with the method that runs when --method is not given."""
    known = _KERNEL_PRINTED_BY_KEY if kernel else _PRINTED_BY_KEY
    return tuple(known.get(row.number, row) for row in (KERNEL_SOLVERS if kernel else SOLVERS))


def supporting(option: str, kernel: bool = False) -> list[Solver]:
    """Return the rows that support an option with one of their methods, in the order of the table."""
    return [row for row in (KERNEL_SOLVERS if kernel else SOLVERS) if methods_with(option, row)]


def methods_with(option: str, row: Solver) -> list[str]:
    """Return the methods of --method with which the number of a row supports an option."""
    printed = (_KERNEL_PRINTED_BY_KEY if row.kernel else _PRINTED_BY_KEY).get(row.number)
    engine = (_KERNEL_BY_KEY if row.kernel else _BY_KEY)[row.number] if row.printed else row
    rows = {"paper": printed, "fast": engine}
    return [method for method, found in rows.items() if found is not None and option in supported_options(found)]


@functools.cache
def supported_options(row: Solver) -> frozenset[str]:
    """Return all options that a row supports."""
    linear = not row.kernel and "--add" not in row.supported
    own = (LABEL_OPTIONS if linear and row.kind == "classification" else frozenset()) | row.supported
    own |= {"--keep-dual"} if linear and row.kind in DUAL_KINDS else set()
    if linear and not row.printed and row.kind in CLASSIFIERS and row.regulariser == "1/2 |w|^2":
        own |= {"--certify-labels"}
    return COMMON_OPTIONS | KIND_OPTIONS[row.kind] - (frozenset() if row.costs else {"--balanced"}) | own


@functools.cache
def without_effect(row: Solver) -> frozenset[str]:
    """Return the options that a row accepts although it has no use for them.

    LIBLINEAR and LIBSVM accept those of other problems; the papers' algorithms accept -e where print has no tolerance.
    """
    unused = {"-n", "-p"} - row.supported if row.number < 30 else set()
    unused |= {"-e"} if row.printed and row.eps_default is None else set()
    costs = COSTS if not row.costs else set() if row.kind in WEIGHTED_KINDS else {"-w"}
    return frozenset(unused | costs)


def anywhere(option: str, rows: Iterable[Solver]) -> bool:
    """Whether one of these rows supports an option."""
    return any(option in supported_options(row) for row in rows)


def same_problem(a: Solver, b: Solver) -> bool:
    """Whether two rows minimise the same function, by whatever method and stopping rule."""
    return (a.kind, a.loss, a.regulariser, a.free_bias) == (b.kind, b.loss, b.regulariser, b.free_bias)


def in_words(rows: Iterable[Solver]) -> str:
    """Return the numbers of rows as text: `1, 2 or 40`; `no solver` for none."""
    texts = [str(row.number) for row in rows]
    if len(texts) < 2:
        return texts[0] if texts else "no solver"
    return ", ".join(texts[:-1]) + " or " + texts[-1]


def entry(row: Solver) -> Callable:
    """Import the module of a row and return its solver: see `solver_of`."""
    return solver_of(module(row.module), row.plan)


def solver_of(module: Any, plan: str = "plan") -> Callable:
    """Return solve(problem, monitor, rule, start=None, seed=1, method=None) of a solver's module.

    It solves by `method`, None: by the plan's, and reports the choice to the monitor.  plan: name of the function that
    chooses.
    """

    def solve(
        problem: Any, monitor: Any, rule: Any, start: Any = None, seed: int = 1, method: str | None = None
    ) -> Any:
        chosen = getattr(module, plan)(problem, rule, start)
        return module.solve(problem, monitor, rule, start, seed, monitor.begin(module.METHODS, chosen, method))

    return solve


def planner(row: Solver) -> Callable:
    """Import the module of a row and return the function that chooses its method.

    It is called as plan(task, rule, start) for linear models and as plan(problem, rule, start) with kernels.
    """
    return getattr(module(row.module), row.plan)


def methods(row: Solver) -> Mapping[str, str]:
    """Import the module of a row and return its METHODS: a line of text for each name."""
    return module(row.module).METHODS


def about(row: Solver) -> About:
    """Import the module of a printed row and return what it says about the row's number."""
    return module(row.module).ABOUT[row.number]


def planned(row: Solver, plans: Iterable[Any]) -> list[str]:
    """Return a line for each distinct plan of a row's solver: the method and the reason for it."""
    known = methods(row)
    return list(dict.fromkeys(": ".join(filter(None, (known[plan.method], plan.why))) for plan in plans))


@functools.cache
def module(name: str) -> Any:
    """The module of that name; the import system takes a share of a small fit even where it is loaded."""
    import importlib

    return importlib.import_module(name)
