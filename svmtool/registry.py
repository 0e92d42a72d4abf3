"""The table of solvers: one row for each value of -s that works.

Everything that depends on the choice of a solver is told here once: `--help`,
`--explain`, the README's tables, the checks of options, the model file's word
and the rows of tests and benchmarks all come from it.  A solver is added with
one file in `solvers/` and one row here; nothing else names a solver.

Solver modules are named by string, so that reading this table imports none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from svmtool.errors import SvmtoolError


class Solver(NamedTuple):
    """One row: what `-s number` (or `-s name`) solves, how it stops and what it obeys."""

    number: int
    name: str  # what -s takes beside the number
    word: str  # solver_type in the model file: the decision rule that LIBLINEAR's predict knows
    module: str  # the back end, imported when a run needs it ...
    entry: str  # ... and the function in it: entry(task, monitor, rule, start, seed) -> Result
    help: str  # one line for --help
    objective: str  # the problem, in ASCII mathematics
    task: str  # classification | regression | ordinal | one-class
    loss: str
    regulariser: str
    space: str  # primal | dual: whose variables LIBLINEAR's stopping rule for this number looks at
    kernel: bool
    bias: str  # what becomes of the bias
    free_bias: bool  # whether it is there and free when no -B is given
    eps_default: float | None  # value of -e when it is not given; None: the certified gap decides
    gap_default: float | None  # value of --gap when neither -e nor --gap is given
    stopping: str  # the rule in words, with the default
    honours: frozenset[str]  # options beyond those that every row obeys (OBEYED_BY_ALL)
    paper: str


OBEYED_BY_ALL = frozenset({"-s", "-c", "-w", "-v", "-q", "--threads", "--strict"})

_MFN_PAPER = "Keerthi and DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs, "
_MFN_PAPER += "JMLR 6 (2005) 341-361: "
_MFN = _MFN_PAPER + "algorithm L2-SVM-MFN (Appendix A), dual solution of Section 4.7"
_SQUARED_HINGE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)^2"
_HINGE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)"
_BIAS = "-B b (b >= 0) appends a feature of value b to every row; its weight is regularised"
_ALM = "Nie, Huang, Wang and Huang, New Primal SVM Solver with Linear Computational Cost for Big Data Classifications, "
_ALM += "ICML 2014: "
_FREE_BIAS = "free (not regularised); -B b (b >= 0) appends a feature of value b with a regularised weight, -B -1 none"
_LP_HINGE = "min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))^p"
_NESVM = "Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010: "
_NESVM += "Algorithm 2 (homotopy), with --no-homotopy Algorithm 1; "
_RUN_OPTIONS = frozenset(
    {
        "-e", "-B", "--weights", "--initial-model", "--gap", "--max-seconds", "--max-iter", "--seed",
        "--stratified", "--solver-log", "--plot",
    }
)  # fmt: skip

SOLVERS: tuple[Solver, ...] = (
    Solver(
        number=1,
        name="l2svc-dual",
        word="L2R_L2LOSS_SVC_DUAL",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized L2-loss support vector classification (dual)",
        objective=_SQUARED_HINGE,
        task="classification",
        loss="squared hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="the largest and the smallest projected gradient of the dual, and their difference, "
        "are all within -e of zero (LIBLINEAR's rule for -s 1; default 0.1); "
        "up to some 1500 features at the exact minimum",
        honours=_RUN_OPTIONS,
        paper=_MFN,
    ),
    Solver(
        number=2,
        name="l2svc",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized L2-loss support vector classification (primal)",
        objective=_SQUARED_HINGE,
        task="classification",
        loss="squared hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=0.01,
        gap_default=None,
        stopping="|f'(w)| <= e * max(1, min(pos, neg)) / l * |f'(0)|, where pos and neg count the rows of either "
        "class among l (LIBLINEAR's rule for -s 2; default -e 0.01); "
        "up to some 1500 features also a certified gap of 1e-6",
        honours=_RUN_OPTIONS | {"-R", "-C"},
        paper=_MFN,
    ),
    Solver(
        number=3,
        name="l1svc-dual",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        entry="exact",
        help="L2-regularized L1-loss support vector classification (dual)",
        objective=_HINGE,
        task="classification",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="the largest and the smallest projected gradient of the dual, and their difference, "
        "are all within -e of zero (LIBLINEAR's rule for -s 3; default 0.1); "
        "up to some 1500 features also a certified gap of 1e-6",
        honours=_RUN_OPTIONS,
        paper=_ALM + "Algorithm 1 with p = 1 and a regularised bias",
    ),
    Solver(
        number=13,
        name="l1svr-dual",
        word="L2R_L1LOSS_SVR_DUAL",
        module="svmtool.solvers.alm",
        entry="exact",
        help="L2-regularized L1-loss support vector regression (dual)",
        objective="min over w of  1/2 |w|^2 + sum_i C_i max(0, |t_i - w.x_i| - p)",
        task="regression",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="certified relative duality gap (P - D)/P <= 1e-5 times -e, at most 1e-6 (default -e 0.1): "
        "further than LIBLINEAR's rule for -s 13 goes",
        honours=(_RUN_OPTIONS | {"-p"}) - {"--stratified"},
        paper=_ALM + "Algorithm 1 with p = 1, a regularised bias and two hinges a row, one on each side of the tube",
    ),
    Solver(
        number=30,
        name="alm",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm_inexact",
        entry="solve",
        help="Lp-SVM (--loss-power) with a free bias, inexact augmented Lagrangian",
        objective=_LP_HINGE,
        task="classification",
        loss="Lp hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_FREE_BIAS,
        free_bias=True,
        eps_default=None,
        gap_default=1e-4,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-4)",
        honours=(_RUN_OPTIONS | {"-R", "--loss-power", "--mu", "--inner-steps"}) - {"-e"},
        paper=_ALM + "Algorithm 2",
    ),
    Solver(
        number=31,
        name="alm-exact",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        entry="exact",
        help="Lp-SVM (--loss-power) with a free bias, exact augmented Lagrangian",
        objective=_LP_HINGE,
        task="classification",
        loss="Lp hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_FREE_BIAS,
        free_bias=True,
        eps_default=None,
        gap_default=1e-6,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-6)",
        honours=(_RUN_OPTIONS | {"-R", "--loss-power", "--mu"}) - {"-e"},
        paper=_ALM + "Algorithm 1",
    ),
    Solver(
        number=40,
        name="mfn",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized L2-loss support vector classification to a certified gap",
        objective=_SQUARED_HINGE,
        task="classification",
        loss="squared hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=None,
        gap_default=1e-6,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-6); with -e it stops as -s 2 does",
        honours=_RUN_OPTIONS | {"-R", "-C"},
        paper=_MFN,
    ),
    Solver(
        number=41,
        name="mfn-huber",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn_huber",
        entry="solve",
        help="L2-regularized modified Huber loss classification to a certified gap",
        objective="min over w of  1/2 |w|^2 + sum_i C_i L(1 - y_i w.x_i), L(t) = 0 for t <= 0, t^2/2 for t < 2, "
        "2 (t - 1) beyond",
        task="classification",
        loss="modified Huber",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=None,
        gap_default=1e-6,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-6); with -e it stops by the rule "
        "of -s 2 on this objective's gradient",
        honours=_RUN_OPTIONS | {"-R"},
        paper=_MFN_PAPER + "modified Huber loss of Section 6",
    ),
    Solver(
        number=42,
        name="mfn-l1",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.mfn_l1",
        entry="solve",
        help="L2-regularized L1-loss support vector classification by continuation to a certified gap",
        objective=_HINGE,
        task="classification",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=None,
        gap_default=1e-6,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-6)",
        honours=(_RUN_OPTIONS | {"-R"}) - {"-e"},
        paper=_MFN_PAPER + "hinge as the limit of Huber's loss, Section 6",
    ),
    Solver(
        number=43,
        name="mfn-ordinal",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized ordinal regression: labels are whole numbers whose order is that of p ranks",
        objective="min over w, b of  1/2 (|w|^2 + |b|^2) + sum_i C_i (sum_{s < rank i} max(0, 1 - (w.x_i - b_s))^2 "
        "+ sum_{s >= rank i} max(0, 1 + (w.x_i - b_s))^2),  s = 1 .. p - 1",
        task="ordinal",
        loss="squared hinge",
        regulariser="1/2 (|w|^2 + |b|^2)",
        space="primal",
        kernel=False,
        bias="its p - 1 thresholds b are the bias, regularised",
        free_bias=False,
        eps_default=None,
        gap_default=1e-6,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-6); with -e |f'(w)| <= e |f'(0)|",
        honours=_RUN_OPTIONS - {"-B"},
        paper=_MFN.partition(":")[0] + ": Section 7, Eq. 25",
    ),
    Solver(
        number=50,
        name="nesvm",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.nesvm",
        entry="c_svm",
        help="C-SVM with a free bias by Nesterov's smoothing",
        objective="min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))",
        task="classification",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_FREE_BIAS,
        free_bias=True,
        eps_default=None,
        gap_default=1e-3,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-3)",
        honours=(_RUN_OPTIONS | {"-R", "--mu", "--no-homotopy"}) - {"-e"},
        paper=_NESVM + "C-SVM, Eqs. 45-48",
    ),
    Solver(
        number=51,
        name="nesvm-lp",
        word="L1R_L2LOSS_SVC",
        module="svmtool.solvers.nesvm",
        entry="lp_svm",
        help="LP-SVM (hinge loss, L1 norm) with a free bias by Nesterov's smoothing",
        objective="min over w, b of  |w|_1 + sum_i C_i max(0, 1 - y_i (w.x_i + b))",
        task="classification",
        loss="hinge",
        regulariser="|w|_1",
        space="primal",
        kernel=False,
        bias=_FREE_BIAS,
        free_bias=True,
        eps_default=None,
        gap_default=1e-3,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-3)",
        honours=(_RUN_OPTIONS | {"-R", "--mu", "--no-homotopy"}) - {"-e"},
        paper=_NESVM + "LP-SVM, Eqs. 49-52",
    ),
    Solver(
        number=52,
        name="nesvm-ls",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.nesvm",
        entry="ls_svm",
        help="LS-SVM (least squares of the margins) with a free bias",
        objective="min over w, b of  1/2 |w|^2 + sum_i C_i (1 - y_i (w.x_i + b))^2",
        task="classification",
        loss="least squares",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_FREE_BIAS,
        free_bias=True,
        eps_default=None,
        gap_default=1e-3,
        stopping="certified relative duality gap (P - D)/P <= --gap (default 1e-3)",
        honours=(_RUN_OPTIONS | {"-R", "--no-homotopy"}) - {"-e"},
        paper=_NESVM + "LS-SVM, Eqs. 53-56",
    ),
)

# LIBLINEAR's other numbers, which scripts may use: refused by name until a row above serves them.
PLANNED: dict[int, str] = {
    0: "L2R_LR",
    4: "MCSVM_CS",
    5: "L1R_L2LOSS_SVC",
    6: "L1R_LR",
    7: "L2R_LR_DUAL",
    11: "L2R_L2LOSS_SVR",
    12: "L2R_L2LOSS_SVR_DUAL",
    21: "ONECLASS_SVM",
}

_BY_KEY: dict[int | str, Solver] = {key: row for row in SOLVERS for key in (row.number, row.name)}


def find(key: int | str) -> Solver:
    """The row of a number or a name; SvmtoolError says which there are."""
    row = _BY_KEY.get(key)
    if row is not None:
        return row
    if key in PLANNED:
        word = PLANNED[key]  # type: ignore[index]
        raise SvmtoolError(f"ERROR: solver {key} ({word}) is not in this version: use -s {in_words(SOLVERS)}")
    raise SvmtoolError(f"ERROR: unknown solver type: {key}: use -s {in_words(SOLVERS)}")


def honouring(option: str) -> list[Solver]:
    """The rows that obey an option, in the order of the table."""
    return [row for row in SOLVERS if option in OBEYED_BY_ALL or option in row.honours]


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
