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
    task: str  # classification | all classes | regression | ordinal | one-class
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
OBEYED_BY_TASK = dict.fromkeys(
    ("classification", "all classes"), frozenset({"--probability"})
)  # what the training does, whatever the solver

_MFN_PAPER = "Keerthi and DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs, "
_MFN_PAPER += "JMLR 6 (2005) 341-361: "
_MFN = _MFN_PAPER + "algorithm L2-SVM-MFN (Appendix A), dual solution of Section 4.7"
_SQUARED_HINGE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)^2"
_SQUARED_TUBE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, |t_i - w.x_i| - p)^2"
_MFN_TUBE = _MFN + ", with two squared hinges a row, one on each side of the tube"
_HINGE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)"
_LOGISTIC = "min over w of  1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i w.x_i))"
_LOGISTIC_PAPER = "Lin, Weng and Keerthi, Trust Region Newton Method for Large-Scale Logistic Regression, "
_LOGISTIC_PAPER += "JMLR 9 (2008) 627-650: truncated Newton steps, with the first guess and the ray search of "
_LOGISTIC_PAPER += _MFN_PAPER.rstrip(": ")
_BIAS = "-B b (b >= 0) appends a feature of value b to every row; its weight is regularised"
_ALM = "Nie, Huang, Wang and Huang, New Primal SVM Solver with Linear Computational Cost for Big Data Classifications, "
_ALM += "ICML 2014: "
_FREE_BIAS = "free (not regularised); -B b (b >= 0) appends a feature of value b with a regularised weight, -B -1 none"
_LP_HINGE = "min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))^p"
_YUAN = "Yuan, Ho and Lin, An Improved GLMNET for L1-regularized Logistic Regression, JMLR 13 (2012) 1999-2030: "
_YUAN += "proximal Newton (Algorithm 1) with working sets"
_L1_GAP = "certified relative duality gap (P - D)/P <= 1e-4 times -e, at most 1e-3 (default -e 0.01): "
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
        number=0,
        name="lr",
        word="L2R_LR",
        module="svmtool.solvers.logistic",
        entry="solve",
        help="L2-regularized logistic regression (primal)",
        objective=_LOGISTIC,
        task="classification",
        loss="logistic",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=0.01,
        gap_default=None,
        stopping="|f'(w)| <= e * max(1, min(pos, neg)) / l * |f'(0)|, where pos and neg count the rows of either "
        "class among l (LIBLINEAR's rule for -s 0; default -e 0.01), and a certified gap of 1e-6",
        honours=_RUN_OPTIONS | {"-R", "-C"},
        paper=_LOGISTIC_PAPER,
    ),
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
        number=4,
        name="crammer-singer",
        word="MCSVM_CS",
        module="svmtool.solvers.alm",
        entry="all_classes",
        help="support vector classification by Crammer and Singer, all classes at once",
        objective="min over w_1 .. w_k of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)",
        task="all classes",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="the largest difference of two gradients of the dual that a step of one row could lessen is within -e "
        "of zero (LIBLINEAR's rule for -s 4; default 0.1); "
        "up to some 1500 features times classes also a certified gap of 1e-6",
        honours=_RUN_OPTIONS,
        paper="Keerthi, Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class "
        "Linear SVMs, KDD 2008, then " + _ALM + "Algorithm 1 with multipliers in the simplex",
    ),
    Solver(
        number=5,
        name="l1r-l2svc",
        word="L1R_L2LOSS_SVC",
        module="svmtool.solvers.l1",
        entry="solve",
        help="L1-regularized L2-loss support vector classification",
        objective="min over w of  |w|_1 + sum_i C_i max(0, 1 - y_i w.x_i)^2",
        task="classification",
        loss="squared hinge",
        regulariser="|w|_1",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=0.01,
        gap_default=None,
        stopping=_L1_GAP + "further than LIBLINEAR's rule for -s 5 goes",
        honours=_RUN_OPTIONS | {"-R"},
        paper=_YUAN + ", here for the squared hinge",
    ),
    Solver(
        number=6,
        name="l1r-lr",
        word="L1R_LR",
        module="svmtool.solvers.l1",
        entry="solve",
        help="L1-regularized logistic regression",
        objective="min over w of  |w|_1 + sum_i C_i log(1 + exp(-y_i w.x_i))",
        task="classification",
        loss="logistic",
        regulariser="|w|_1",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=0.01,
        gap_default=None,
        stopping=_L1_GAP + "further than LIBLINEAR's rule for -s 6 goes",
        honours=_RUN_OPTIONS | {"-R"},
        paper=_YUAN,
    ),
    Solver(
        number=7,
        name="lr-dual",
        word="L2R_LR_DUAL",
        module="svmtool.solvers.logistic",
        entry="solve",
        help="L2-regularized logistic regression (dual)",
        objective=_LOGISTIC,
        task="classification",
        loss="logistic",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="the largest derivative of the dual, in size, is at most -e (LIBLINEAR's rule for -s 7; default 0.1), "
        "and a certified gap of 1e-6",
        honours=_RUN_OPTIONS,
        paper=_LOGISTIC_PAPER,
    ),
    Solver(
        number=11,
        name="l2svr",
        word="L2R_L2LOSS_SVR",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized L2-loss support vector regression (primal)",
        objective=_SQUARED_TUBE,
        task="regression",
        loss="squared hinge",
        regulariser="1/2 |w|^2",
        space="primal",
        kernel=False,
        bias=_BIAS + " unless -R is given",
        free_bias=False,
        eps_default=0.0001,
        gap_default=None,
        stopping="|f'(w)| <= e * |f'(0)| (LIBLINEAR's rule for -s 11; default -e 0.0001); "
        "up to some 1500 features also a certified gap of 1e-6",
        honours=(_RUN_OPTIONS | {"-p", "-R", "-C"}) - {"--stratified"},
        paper=_MFN_TUBE,
    ),
    Solver(
        number=12,
        name="l2svr-dual",
        word="L2R_L2LOSS_SVR_DUAL",
        module="svmtool.solvers.mfn",
        entry="solve",
        help="L2-regularized L2-loss support vector regression (dual)",
        objective=_SQUARED_TUBE,
        task="regression",
        loss="squared hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias=_BIAS,
        free_bias=False,
        eps_default=0.1,
        gap_default=None,
        stopping="certified relative duality gap (P - D)/P <= 1e-5 times -e, at most 1e-6 (default -e 0.1): "
        "further than LIBLINEAR's rule for -s 12 goes",
        honours=(_RUN_OPTIONS | {"-p"}) - {"--stratified"},
        paper=_MFN_TUBE,
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
        number=21,
        name="one-class",
        word="ONECLASS_SVM",
        module="svmtool.solvers.one_class",
        entry="solve",
        help="one-class support vector machine (dual)",
        objective="min over w, rho of  1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - nu (sum_i c_i) rho,  c_i = 1 or "
        "the row's number in --weights",
        task="one-class",
        loss="hinge",
        regulariser="1/2 |w|^2",
        space="dual",
        kernel=False,
        bias="none: rho takes its place",
        free_bias=False,
        eps_default=0.01,
        gap_default=None,
        stopping="the largest w.x_i of rows that may shrink in the dual exceeds the smallest of rows that may grow by "
        "-e at most (LIBLINEAR's rule for -s 21; default 0.01); also a certified gap of 1e-6",
        honours=(_RUN_OPTIONS | {"-n"}) - {"-B", "--stratified"},
        paper="Chou, Lin and Lin, Dual Coordinate-Descent Methods for Linear One-Class SVM and SVDD, SDM 2020: "
        "two-level coordinate descent (supplement, Algorithm 7)",
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

_BY_KEY: dict[int | str, Solver] = {key: row for row in SOLVERS for key in (row.number, row.name)}


def find(key: int | str) -> Solver:
    """The row of a number or a name; SvmtoolError says which there are."""
    row = _BY_KEY.get(key)
    if row is not None:
        return row
    raise SvmtoolError(f"ERROR: unknown solver type: {key}: use -s {in_words(SOLVERS)}")


def honouring(option: str) -> list[Solver]:
    """The rows that obey an option, in the order of the table."""
    return [row for row in SOLVERS if option in obeyed(row)]


def obeyed(row: Solver) -> frozenset[str]:
    """All the options that a row obeys."""
    return OBEYED_BY_ALL | OBEYED_BY_TASK.get(row.task, frozenset()) | row.honours


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
