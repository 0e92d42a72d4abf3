"""What a solver decides before its first step.

A solver module has METHODS, a dict from the name of each method to one line that describes it, and `plan`, which
chooses one of them from the problem alone: sizes, layout, loss, bias and options.  A plan has no side effects and
costs little beside a pass over the rows.  Decisions by costs measured during the run stay in the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from svmtool.solvers.shared.base import Monitor


class Plan(NamedTuple):
    """The method that a solver chooses for a problem.

    method  a key of the solver's METHODS
    why     the facts that decided, in words, for --explain and the solver log
    """

    method: str
    why: str = ""


def begin(monitor: Monitor, methods: Mapping[str, str], plan: Plan, method: str | None = None) -> str:
    """Return the method to begin with, `method` if given, else the plan's; the monitor records it and the reason.

    ValueError if the solver has no method of that name.
    """
    if method is not None and method not in methods:
        raise ValueError(f"no method {method!r} in this solver: it has {', '.join(methods)}")
    chosen = plan if method is None else Plan(method, "chosen by the caller")
    monitor.uses(methods[chosen.method], chosen.why)
    return chosen.method
