"""Registry rows of the papers' algorithms as printed: --method paper, the default of the numbers from 30.

Each row is that of the engine (papers.py), which solves the same problem, with the module in papers/, the paper's own
tolerance for -e and its stopping rule.  What the module runs, and where it differs from print, stands in its ABOUT.
--gap ends no run here: it is the certified gap that the result is compared with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from svmtool.registry import papers
from svmtool.registry.libsvm import ALFPGM, KERNEL_OPTIONS
from svmtool.registry.row import ALM, RUN_OPTIONS, Solver

LINEAR_OPTIONS = RUN_OPTIONS | {"--method"}
WITH_KERNEL = (KERNEL_OPTIONS | {"--method"}) - {"-h"}
FREE = LINEAR_OPTIONS | {"-R"}  # of rows with a free bias
ENGINE = {row.number: row for row in papers.ROWS}
KERNEL_ENGINE = {row.number: row for row in papers.KERNEL_ROWS}


def as_printed(engine: Solver, module: str, supported: Iterable[str], **fields: Any) -> Solver:
    """Return the row of a paper's algorithm from the engine's row of the same problem."""
    return engine._replace(
        module=f"svmtool.papers.{module}", plan="plan", supported=frozenset(supported), printed=True, gap_default=None,
        over_sums="", sums_below=-1, **fields,
    )  # fmt: skip


# Each paper's rows: of linear problems, then with kernels.

ALM_OPTIONS = FREE | {"--loss-power", "--mu", "--objective-change"}
ALM_RULE = (
    "|d obj / d w| <= -e (default [eps]), or the objective changes by less than --objective-change (default 1e-4), "
)
ALM_RULE += "or 100 iterations (--max-iter)"

PRINTED: tuple[Solver, ...] = (
    as_printed(
        ENGINE[30], "alm", ALM_OPTIONS, eps_default=1e-2, stopping=ALM_RULE, paper=ALM + "Algorithm 2",
        help="Lp-SVM (--loss-power) with a free bias, inexact augmented Lagrangian",
    ),
    as_printed(
        ENGINE[31], "alm", ALM_OPTIONS, eps_default=1e-2, stopping=ALM_RULE, paper=ALM + "Algorithm 1",
        help="Lp-SVM (--loss-power) with a free bias, exact augmented Lagrangian",
    )._replace(plan="plan_exact"),
)  # fmt: skip
ALFPGM_OPTIONS = {"--pairs", "--delta-alpha", "--min-alpha-opt", "--max-alpha-opt", "--min-alpha-check", "--paper-form"}
KERNEL_PRINTED: tuple[Solver, ...] = (
    as_printed(
        KERNEL_ENGINE[60], "alfpgm", WITH_KERNEL | ALFPGM_OPTIONS, eps_default=1e-2,
        stopping="the violation of the most violating pair of all dual variables is at most -e (default [eps])",
        paper=ALFPGM.partition(":")[0] + ": Algorithms 1 and 2, pWSS (Section 3)",
    ),
)  # fmt: skip
