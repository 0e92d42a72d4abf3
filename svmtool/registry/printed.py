"""Registry rows of the papers' algorithms as printed: --method paper, the default of the numbers from 30.

Each row is that of the engine (papers.py), which solves the same problem, with the module in papers/, the paper's own
tolerance for -e and its stopping rule.  What the module runs, and where it differs from print, stands in its ABOUT.
--gap ends no run here: it is the certified gap that the result is compared with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from svmtool.registry import papers
from svmtool.registry.libsvm import KERNEL_OPTIONS
from svmtool.registry.row import ALM, RUN_OPTIONS, Solver

LINEAR_OPTIONS = RUN_OPTIONS | {"--method"}
WITH_KERNEL = (KERNEL_OPTIONS | {"--method"}) - {"-h"}
FREE = LINEAR_OPTIONS | {"-R"}  # of rows with a free bias
ENGINE = {row.number: row for row in papers.ROWS}
KERNEL_ENGINE = {row.number: row for row in papers.KERNEL_ROWS}


def as_printed(engine: Solver, module: str, supported: Iterable[str], plan: str = "plan", **fields: Any) -> Solver:
    """Return the row of a paper's algorithm from the engine's row of the same problem."""
    return engine._replace(
        module=f"svmtool.papers.{module}", plan=plan, supported=frozenset(supported), printed=True, gap_default=None,
        over_sums="", sums_below=-1, **fields,
    )  # fmt: skip


FURTHEST_RULE = "no row outside A has w.{0} < (1 - theta) rho, theta = -e or --theta (default [eps])"
SAMPLED_RULE = "none of --sample rows (default 59) drawn from outside A has w.{0} < (1 - theta) rho, theta = -e or "
SAMPLED_RULE += "--theta (default [eps]); not certified: m rows miss a share eps of violating rows with probability at "
SAMPLED_RULE += "most exp(-m eps)"


def _fosvm(engine: Solver, phi: str) -> Solver:
    """Return a row of FOSVM; phi: the name of a row's features."""
    rule, plan = (FURTHEST_RULE, "plan") if engine.number == 80 else (SAMPLED_RULE, "plan_sampling")
    supported = engine.supported - {"-m"} | {"-e", "--gap"}
    return as_printed(engine, "fosvm", supported, plan, eps_default=papers.THETA, stopping=rule.format(phi))


# Each paper's rows: of linear problems, then with kernels.

PRINTED: tuple[Solver, ...] = (
    as_printed(
        ENGINE[30], "alm", FREE | {"--loss-power", "--mu", "--objective-change"}, eps_default=1e-2,
        stopping="|obj'(w, b)| <= -e (default [eps]), or the objective changes by less than --objective-change (1e-4), "
        "or 100 iterations (--max-iter)",
        paper=ALM + "Algorithm 2",
    ),
    _fosvm(ENGINE[80], "x_i"),
    _fosvm(ENGINE[81], "x_i"),
)  # fmt: skip
KERNEL_PRINTED: tuple[Solver, ...] = (
    _fosvm(KERNEL_ENGINE[80], "f(x_i)"),
    _fosvm(KERNEL_ENGINE[81], "f(x_i)"),
)
