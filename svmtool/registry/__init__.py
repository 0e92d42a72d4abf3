"""The table of solvers: one row for each value of -s that works.

Everything that depends on the choice of a solver is told here once: `--help`,
`--explain`, the README's tables, the checks of options, the model file's word
and the rows of tests and benchmarks all come from it.  A solver is added with
one file in `solvers/` and one row, in liblinear.py, libsvm.py or papers.py;
nothing else names a solver.

Solver modules are named by string, so that reading this table imports none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from svmtool.errors import SvmtoolError
from svmtool.registry import liblinear, libsvm, papers
from svmtool.registry.row import Solver

OBEYED_BY_ALL = frozenset({"-s", "-v", "-q", "--threads", "--strict"})
COSTS = frozenset({"-c", "-w"})
OBEYED_BY_TASK = {  # what the training does, whatever the solver; LIBLINEAR and LIBSVM take costs of all their own
    **dict.fromkeys(("classification", "all classes"), COSTS | {"--probability"}),
    **dict.fromkeys(("regression", "ordinal", "one-class"), COSTS),
    "hard one-class": frozenset(),
}

SOLVERS: tuple[Solver, ...] = liblinear.ROWS + papers.ROWS
_BY_KEY: dict[int | str, Solver] = {key: row for row in SOLVERS for key in (row.number, row.name)}

# What -s means on a command line with kernels, where 0 to 4 are LIBSVM's.
KERNEL_SOLVERS: tuple[Solver, ...] = libsvm.ROWS + papers.KERNEL_ROWS
_KERNEL_BY_KEY: dict[int | str, Solver] = {key: row for row in KERNEL_SOLVERS for key in (row.number, row.name)}


def find(key: int | str) -> Solver:
    """The row of a number or a name; SvmtoolError says which there are."""
    row = _BY_KEY.get(key)
    if row is not None:
        return row
    raise SvmtoolError(f"ERROR: unknown solver type: {key}: use -s {in_words(SOLVERS)}")


def find_kernel(key: int | str) -> Solver | None:
    """The row of a number or a name on a command line with kernels, None where there is none."""
    return _KERNEL_BY_KEY.get(key)


def supporting(option: str) -> list[Solver]:
    """The rows that obey an option, in the order of the table."""
    return [row for row in SOLVERS if option in supported_options(row)]


def supported_options(row: Solver) -> frozenset[str]:
    """All the options that a row obeys."""
    return OBEYED_BY_ALL | OBEYED_BY_TASK[row.task] | row.supported


def same_problem(a: Solver, b: Solver) -> bool:
    """Whether two rows minimise the same function, whatever their ways and rules."""
    return (a.task, a.loss, a.regulariser, a.free_bias) == (b.task, b.loss, b.regulariser, b.free_bias)


def in_words(rows: Iterable[Solver]) -> str:
    """`1, 2 or 40`; `no solver` for no rows."""
    texts = [str(row.number) for row in rows]
    if len(texts) < 2:
        return texts[0] if texts else "no solver"
    return ", ".join(texts[:-1]) + " or " + texts[-1]


def entry(row: Solver) -> Callable:
    """The function behind a row, its module imported now."""
    import importlib

    return getattr(importlib.import_module(row.module), row.entry)
