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
from svmtool.registry.papers import ADAPTING
from svmtool.registry.row import ALM, RUN_OPTIONS, Solver

LINEAR_OPTIONS = RUN_OPTIONS | {"--method"}
WITH_KERNEL = (KERNEL_OPTIONS | {"--method"}) - {"-h"}
FREE = LINEAR_OPTIONS | {"-R"}  # of rows with a free bias
DIRECT = LINEAR_OPTIONS - {"--max-iter", "--initial-model"}  # of rows that solve in one step, or one for each row
ENGINE = {row.number: row for row in papers.ROWS}
KERNEL_ENGINE = {row.number: row for row in papers.KERNEL_ROWS}


def as_printed(engine: Solver, module: str, supported: Iterable[str], **fields: Any) -> Solver:
    """Return the row of a paper's algorithm from the engine's row of the same problem."""
    return engine._replace(
        module=f"svmtool.papers.{module}", supported=frozenset(supported), printed=True, gap_default=None,
        over_sums="", sums_below=-1, **{"plan": "plan", **fields},
    )  # fmt: skip


# Each paper's rows: of linear problems, then with kernels.

PRINTED: tuple[Solver, ...] = (
    as_printed(
        ENGINE[30], "alm", FREE | {"--loss-power", "--mu", "--objective-change"}, eps_default=1e-2,
        stopping="|obj'(w, b)| <= -e (default [eps]), or the objective changes by less than --objective-change (1e-4), "
        "or 100 iterations (--max-iter)",
        paper=ALM + "Algorithm 2",
    ),
    as_printed(ENGINE[70], "lssvm", DIRECT | {"-C"}, stopping="the system is solved; the paper has no tolerance"),
    as_printed(
        ENGINE[71], "lssvm", DIRECT | ADAPTING | {"-C"}, plan="plan_alsvm",
        stopping="all rows are added; the paper has no tolerance",
    ),
    as_printed(
        ENGINE[72], "lssvm", (DIRECT | ADAPTING | {"--passes"}) - {"--gap", "--grid", "--score"}, plan="plan_falsvm",
        stopping="after N passes over the rows (--passes N, default 1); the paper has no tolerance",
    ),
)  # fmt: skip
KERNEL_PRINTED: tuple[Solver, ...] = (
    as_printed(
        KERNEL_ENGINE[73], "sgd_lssvm", WITH_KERNEL | {"--sgd-rows"}, eps_default=1e-2,
        stopping="the largest |g_i| is below -e (default [eps])",
        paper="Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015: Algorithm 2",
    ),
)  # fmt: skip
