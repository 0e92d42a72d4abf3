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
from svmtool.registry.papers import ADAPTING
from svmtool.registry.row import ALM, BIAS_OPTION, MFN_PAPER, PAIRS, RUN_OPTIONS, Solver

LINEAR_OPTIONS = RUN_OPTIONS | {"--method"}
WITH_KERNEL = (KERNEL_OPTIONS | {"--method"}) - {"-h"}
WHOLE_MATRIX = WITH_KERNEL - {"-m"}  # of rows that hold the whole kernel matrix, whatever -m says
FREE = LINEAR_OPTIONS | {"-R"}  # of rows with a free bias
DIRECT = LINEAR_OPTIONS - {"--max-iter", "--initial-model"}  # of rows that solve in one step, or one for each row
ENGINE = {row.number: row for row in papers.ROWS}
KERNEL_ENGINE = {row.number: row for row in papers.KERNEL_ROWS}


def as_printed(engine: Solver, module: str, supported: Iterable[str], plan: str = "plan", **fields: Any) -> Solver:
    """Return the row of a paper's algorithm from the engine's row of the same problem."""
    return engine._replace(
        module=f"svmtool.papers.{module}", plan=plan, supported=frozenset(supported), printed=True, gap_default=None,
        sums_below=-1, **fields,
    )  # fmt: skip


# What the rows of each paper share.

ALM_OPTIONS = FREE | {"--loss-power", "--mu", "--objective-change"}
ALM_RULE = (
    "|d obj / d w| <= -e (default [eps]), or the objective changes by less than --objective-change (default 1e-4), "
)
ALM_RULE += "or 100 iterations (--max-iter)"

ORDINAL_LOSSES = {"squared-hinge": "squared hinge", "huber": "modified Huber", "hinge": "hinge"}  # values of --loss
MFN_LIMIT = "; or 50 iterations (--max-iter), or f no longer falls"
MFN_RULE = "|r| <= -e |z| after least squares (Eq. 13; default [eps]), and y_i w.x_i <= 1 + 1e-8 in the active rows, "
MFN_RULE += ">= 1 - 1e-8 in the others" + MFN_LIMIT
HUBER_RULE = "|r| <= -e |z| after least squares (Eq. 13; default [eps]), and no row leaves its index set of xi_i <= 0, "
HUBER_RULE += "< 2, >= 2 by more than 1e-8" + MFN_LIMIT
TAU_RULE = (
    "tau_j/8 sum C_i <= -e f(w) at the end of stage j, the sum over the rows with |xi_i| < tau_j (default [eps]); a "
)
TAU_RULE += "stage ends as -s 41 with -e 1e-6"
ORDINAL_RULE = MFN_RULE.replace("y_i w.x_i", "+-(w.x_i - b_s)").replace("active rows", "active pairs of i and s")
TAU_EPS = 1e-4  # the paper's end is `satisfactorily`
HUBER_LOSS = "; L(t) = 0 for t <= 0, t^2/2 for 0 < t < 2, 2 (t - 1) for t >= 2"


def with_loss(row: Solver, loss: str) -> Solver:
    """Return the row of ordinal regression with another one of ORDINAL_LOSSES."""
    name = ORDINAL_LOSSES[loss]
    if name == row.loss:
        return row
    huber, eps = name == "modified Huber", row.eps_default if name == "modified Huber" else TAU_EPS
    objective = row.objective.replace("))^2", "))")
    objective = objective.replace("max(0, ", "L(") + HUBER_LOSS if huber else objective
    stopping = (HUBER_RULE if huber else TAU_RULE).replace("[eps]", f"{eps:g}")
    word = row.word if huber else "L2R_L1LOSS_SVC_DUAL"
    return row._replace(loss=name, objective=objective, stopping=stopping, eps_default=eps, word=word)


NESVM_CHANGE = "|F_mu(w(k+1)) - F_mu(w(k))| < -e (default [eps])"
NESVM_LIMIT = "; or 10000 iterations in all (--max-iter)"
NESVM_STOPPING = NESVM_CHANGE + NESVM_LIMIT
NESVM_STAGES = f"{NESVM_CHANGE} in each stage of a fixed mu; the stage with mu <= --mu-end is the last{NESVM_LIMIT}"
NESVM_OPTIONS = frozenset({"--mu", "--no-homotopy", "--mu-end"})
NESVM = papers.NESVM + "Algorithm 2 (homotopy), with --no-homotopy Algorithm 1; "
NESVM_C, NESVM_LP = NESVM + "C-SVM, Eqs. 45-48", NESVM + "LP-SVM, Eqs. 49-52"
NESVM_LS = papers.NESVM + "Algorithm 1; LS-SVM, Eqs. 53-56"
ALFPGM_OPTIONS = {"--pairs", "--delta-alpha", "--min-alpha-opt", "--max-alpha-opt", "--min-alpha-check", "--paper-form"}

FURTHEST_RULE = "no row outside A has w.{0} < (1 - theta) rho, theta = -e or --theta (default [eps])"
SAMPLED_RULE = "none of --sample rows (default 59) drawn from outside A has w.{0} < (1 - theta) rho, theta = -e or "
SAMPLED_RULE += "--theta (default [eps]); not certified: m rows miss a share eps of violating rows with probability at "
SAMPLED_RULE += "most exp(-m eps)"


def _fosvm(engine: Solver, phi: str) -> Solver:
    """Return a row of FOSVM; phi: the name of a row's features."""
    rule, plan = (FURTHEST_RULE, "plan") if engine.number == 80 else (SAMPLED_RULE, "plan_sampling")
    supported = engine.supported - {"-m"} | {"-e", "--gap"}
    return as_printed(engine, "fosvm", supported, plan, eps_default=papers.THETA, stopping=rule.format(phi))


# The rows of linear problems, then those with kernels.
PRINTED: tuple[Solver, ...] = (
    as_printed(
        ENGINE[30], "alm", ALM_OPTIONS, eps_default=1e-2, stopping=ALM_RULE, paper=ALM + "Algorithm 2",
        help="Lp-SVM (--loss-power) with a free bias, inexact augmented Lagrangian",
    ),
    as_printed(
        ENGINE[31], "alm", ALM_OPTIONS, "plan_exact", eps_default=1e-2, stopping=ALM_RULE, paper=ALM + "Algorithm 1",
        help="Lp-SVM (--loss-power) with a free bias, exact augmented Lagrangian",
    ),
    as_printed(
        ENGINE[40], "mfn", LINEAR_OPTIONS | {"--heuristics", "-C"}, eps_default=1e-6, stopping=MFN_RULE,
        bias=BIAS_OPTION, paper=MFN_PAPER + "Sections 3 and 4, Appendix A",
        help="L2-regularized L2-loss support vector classification by L2-SVM-MFN",
    ),
    as_printed(
        ENGINE[41], "mfn_extensions", LINEAR_OPTIONS | {"--heuristics"}, "plan_huber", eps_default=1e-6,
        stopping=HUBER_RULE, bias=BIAS_OPTION, paper=MFN_PAPER + "Section 6, Eqs. 21 to 23",
        help="L2-regularized modified Huber loss classification by L2-SVM-MFN",
    ),
    as_printed(
        ENGINE[42], "mfn_extensions", LINEAR_OPTIONS | {"--heuristics"}, "plan_hinge", eps_default=TAU_EPS,
        stopping=TAU_RULE, bias=BIAS_OPTION, paper=MFN_PAPER + "Section 6, Eqs. 19 to 24",
        help="L2-regularized L1-loss support vector classification by L2-SVM-MFN and continuation",
    ),
    as_printed(
        ENGINE[43], "mfn_extensions", LINEAR_OPTIONS - {"-B"} | {"--heuristics", "--loss"}, "plan_ordinal",
        eps_default=1e-6, stopping=ORDINAL_RULE, paper=MFN_PAPER + "Section 7, Eqs. 25 and 26",
    ),
    as_printed(
        ENGINE[50], "nesvm", FREE | NESVM_OPTIONS | PAIRS, eps_default=1e-3, stopping=NESVM_STAGES, paper=NESVM_C,
        help="C-SVM with a free bias by Nesterov's smoothing",
    ),
    as_printed(
        ENGINE[51], "nesvm", FREE | NESVM_OPTIONS | PAIRS, "plan_lp", eps_default=1e-3, stopping=NESVM_STAGES,
        paper=NESVM_LP, help="LP-SVM (hinge loss, L1 norm) with a free bias by Nesterov's smoothing",
    ),
    as_printed(
        ENGINE[52], "nesvm", FREE | PAIRS, "plan_ls", eps_default=1e-3, stopping=NESVM_STOPPING, paper=NESVM_LS,
        help="LS-SVM (least squares of the margins) with a free bias by Nesterov's method",
    ),
    as_printed(
        ENGINE[70], "lssvm", DIRECT | {"-C", "--max-iter"}, stopping="the system is solved; the paper has no tolerance",
        paper=papers.LSSVM_PAPER + "Section III, Eq. 2",
        help="LS-SVM (least squares of the margins) by one Cholesky factor",
    ),
    as_printed(
        ENGINE[71], "lssvm", DIRECT | ADAPTING | {"-C"}, "plan_alsvm",
        stopping="all rows are added; the paper has no tolerance",
        paper=papers.LSSVM_PAPER + "Section IV, Eqs. 3-10, Algorithm 1",
    ),
    as_printed(
        ENGINE[72], "lssvm", (DIRECT | ADAPTING | {"--passes"}) - {"--gap", "--grid", "--score"}, "plan_falsvm",
        stopping="after N passes over the rows (--passes N, default 1); the paper has no tolerance",
    ),
    _fosvm(ENGINE[80], "x_i"),
    _fosvm(ENGINE[81], "x_i"),
)  # fmt: skip
KERNEL_PRINTED: tuple[Solver, ...] = (
    as_printed(
        KERNEL_ENGINE[50], "nesvm_kernel", WHOLE_MATRIX | NESVM_OPTIONS, eps_default=1e-3, stopping=NESVM_STAGES,
        paper=NESVM_C + ", with a kernel", help="C-SVC by Nesterov's smoothing, the kernel matrix in memory",
    ),
    as_printed(
        KERNEL_ENGINE[51], "nesvm_kernel", WHOLE_MATRIX | NESVM_OPTIONS, "plan_lp", eps_default=1e-3,
        stopping=NESVM_STAGES, paper=NESVM_LP + ", with a kernel",
        help="LP-SVM (L1 norm of the coefficients) by Nesterov's smoothing, the kernel matrix in memory",
    ),
    as_printed(
        KERNEL_ENGINE[52], "nesvm_kernel", WHOLE_MATRIX, "plan_ls", eps_default=1e-3, stopping=NESVM_STOPPING,
        paper=NESVM_LS + ", with a kernel", help="LS-SVM by Nesterov's method, the kernel matrix in memory",
    ),
    as_printed(
        KERNEL_ENGINE[60], "alfpgm", WITH_KERNEL | ALFPGM_OPTIONS, eps_default=1e-2,
        stopping="the violation of the most violating pair of all dual variables is at most -e (default [eps])",
        paper=ALFPGM.partition(":")[0] + ": Algorithms 1 and 2, pWSS (Section 3)",
    ),
    as_printed(
        KERNEL_ENGINE[73], "sgd_lssvm", WITH_KERNEL | {"--sgd-rows"}, eps_default=1e-2,
        stopping="the largest |g_i| is below -e (default [eps])",
        paper="Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015: Algorithm 2",
        help="LS-SVM (least squares of the margins) by steepest sub-gradient, N coefficients",
    ),
    _fosvm(KERNEL_ENGINE[80], "f(x_i)"),
    _fosvm(KERNEL_ENGINE[81], "f(x_i)"),
)  # fmt: skip
