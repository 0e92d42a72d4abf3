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
from svmtool.registry.row import ALM, PAIRS, RUN_OPTIONS, Solver

LINEAR_OPTIONS = RUN_OPTIONS | {"--method"}
WITH_KERNEL = (KERNEL_OPTIONS | {"--method"}) - {"-h"}
WHOLE_MATRIX = WITH_KERNEL - {"-m"}  # of rows that hold the whole kernel matrix, whatever -m says
FREE = LINEAR_OPTIONS | {"-R"}  # of rows with a free bias
ENGINE = {row.number: row for row in papers.ROWS}
KERNEL_ENGINE = {row.number: row for row in papers.KERNEL_ROWS}


def as_printed(engine: Solver, module: str, supported: Iterable[str], plan: str = "plan", **fields: Any) -> Solver:
    """Return the row of a paper's algorithm from the engine's row of the same problem."""
    return engine._replace(
        module=f"svmtool.papers.{module}", plan=plan, supported=frozenset(supported), printed=True, gap_default=None,
        over_sums="", sums_below=-1, **fields,
    )  # fmt: skip


NESVM_STOPPING = "|F_mu(w(k+1)) - F_mu(w(k))| < -e (default [eps])"
NESVM_STAGES = f"{NESVM_STOPPING} in each stage of a fixed mu; the stage with mu <= --mu-end is the last"
NESVM_OPTIONS = frozenset({"--mu", "--no-homotopy", "--mu-end"})

# Each paper's rows: of linear problems, then with kernels.

PRINTED: tuple[Solver, ...] = (
    as_printed(
        ENGINE[30], "alm", FREE | {"--loss-power", "--mu", "--objective-change"}, eps_default=1e-2,
        stopping="|obj'(w, b)| <= -e (default [eps]), or the objective changes by less than --objective-change (1e-4), "
        "or 100 iterations (--max-iter)",
        paper=ALM + "Algorithm 2",
    ),
    as_printed(ENGINE[50], "nesvm", FREE | NESVM_OPTIONS | PAIRS, eps_default=1e-3, stopping=NESVM_STAGES),
    as_printed(ENGINE[51], "nesvm", FREE | NESVM_OPTIONS | PAIRS, "plan_lp", eps_default=1e-3, stopping=NESVM_STAGES),
    as_printed(
        ENGINE[52], "nesvm", FREE | PAIRS, "plan_ls", eps_default=1e-3, stopping=NESVM_STOPPING, paper=papers.NESVM_LS
    ),
)  # fmt: skip
KERNEL_PRINTED: tuple[Solver, ...] = (
    as_printed(
        KERNEL_ENGINE[50], "nesvm_kernel", WHOLE_MATRIX | NESVM_OPTIONS, eps_default=1e-3, stopping=NESVM_STAGES
    ),
    as_printed(
        KERNEL_ENGINE[51], "nesvm_kernel", WHOLE_MATRIX | NESVM_OPTIONS, "plan_lp", eps_default=1e-3,
        stopping=NESVM_STAGES,
    ),
    as_printed(
        KERNEL_ENGINE[52], "nesvm_kernel", WHOLE_MATRIX, "plan_ls", eps_default=1e-3, stopping=NESVM_STOPPING,
        paper=papers.NESVM_LS,
    ),
)  # fmt: skip
