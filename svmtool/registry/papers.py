"""Registry rows of the papers' problems, numbers 30 and above, solved by the engine: --method fast."""

from __future__ import annotations

from typing import Any

from svmtool.registry.libsvm import ALFPGM, C_SVC_OBJECTIVE, KERNEL_OPTIONS, LIBSVM_PAPER, kernel_row
from svmtool.registry.row import (
    ADAPTABLE_FEATURES,
    BIAS_OPTION,
    HINGE_OBJECTIVE,
    MFN,
    MFN_PAPER,
    MULTIPLIER_ROUNDS,
    ON_DISK,
    PAIRS,
    RUN_OPTIONS,
    SPARK,
    SQUARED_HINGE_OBJECTIVE,
    Solver,
    gap_of_theta,
)
from svmtool.tolerances import GRAM_BELOW

FREE_BIAS = "free (not regularised); -B b (b >= 0): a feature of value b with a regularised weight; -B -1: no bias"
NESVM = "Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010: "
LSSVM_PAPER = "Le, Nguyen, Nguyen and Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: "
LEAST_SQUARES = "min over w of  1/2 |w|^2 + sum_i C_i (1 - y_i w.x_i)^2"
APPENDED = "a feature of value 1 is appended to every row unless -B says otherwise; its weight is regularised"
PAKDD15 = "Le, Phung, Nguyen and Venkatesh, Fast One-Class Support Vector Machine for Novelty Detection, PAKDD 2015: "
FOSVM1, FOSVM2 = PAKDD15 + "Algorithm 2 (FOSVM1)", PAKDD15 + "Algorithm 3 (FOSVM2)"
ADAPTING = frozenset({"--add", "--remove", "--every-rows", "--every-seconds"})
THETA = 0.1
THETA_RULE = f"no row has w.{{0}} < (1 - theta) rho, theta = --theta (default {THETA:g}), certified"
SAMPLE_RULE = f"no row of a sample of --sample rows (default 3000) has w.{{0}} < (1 - theta) rho (default {THETA:g}); "
SAMPLE_RULE += "not certified: m rows miss a share eps of violating rows with probability at most exp(-m eps)"
BOUNDARY = "none; rho is that of the rows chosen; the model's boundary is {}, or with --boundary rho it is rho"
REACHED = "the one that all rows reach, at least (1 - theta) rho"
NOVELTY_OPTIONS = frozenset(
    {"--theta", "--boundary", "--max-seconds", "--max-iter", "--seed", "--solver-log", "--plot"}
)  # fmt: skip
NOVELTY = "min over w, rho of  1/2 |w|^2 - rho,  w.{0} >= rho for all i"
GAP_RULE = "certified relative duality gap (P - D)/P <= --gap (default {})"


def to_gap(gap_default: float = 1e-6, besides: str = "", **fields: Any) -> Solver:
    """Return a row that stops at a certified gap; besides: what else its rule says."""
    rule = GAP_RULE.format(f"{gap_default:.0e}".replace("e-0", "e-"))
    return Solver(stopping=rule + besides, gap_default=gap_default, **fields)


def with_free_bias(gap_default: float = 1e-3, **fields: Any) -> Solver:
    """Return a row that stops at a certified gap and whose bias is free."""
    return to_gap(gap_default, bias=FREE_BIAS, free_bias=True, **fields)


FOSVM1_ROW = Solver(
    number=80,
    name="fosvm",
    word="ONECLASS_SVM",
    module="svmtool.solvers.fosvm",
    help="one-class SVM without slack by cutting planes, linear unless -t, -g, -d or -r is given",
    objective=NOVELTY.format("x_i"),
    loss="hinge",
    kind="hard one-class",
    space="dual",
    bias=BOUNDARY.format(REACHED),
    gap_default=gap_of_theta(THETA),
    stopping=THETA_RULE.format("x_i"),
    supported=NOVELTY_OPTIONS | {"--gap"},
    paper=FOSVM1,
)
SAMPLED_FOSVM: dict[str, Any] = {  # of rows 81, beside those of 80
    "number": 81,
    "name": "fosvm-sample",
    "plan": "plan_sampled",
    "bias": BOUNDARY.format("(1 - theta) rho, or, if larger, the one that all rows reach"),
    "help": "one-class SVM without slack by cutting planes from samples of the rows",
    "paper": FOSVM2,
}


def choosable(*rows: Solver) -> tuple[Solver, ...]:
    """Return the rows with --method, which chooses between them and those of printed.py."""
    return tuple(row._replace(supported=row.supported | {"--method"}) for row in rows)


LP_SVM: dict[str, Any] = {  # what rows 30 and 31 share
    "word": "L2R_L1LOSS_SVC_DUAL",
    "module": "svmtool.solvers.alm",
    "objective": "min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))^p",
    "loss": "Lp hinge",
    "supported": (RUN_OPTIONS | ON_DISK | SPARK | {"-R", "--loss-power"}) - {"-e"},
    "paper": MULTIPLIER_ROUNDS,
}
LP_SVM_HELP = "Lp-SVM (--loss-power) with a free bias"
ROWS = choosable(
    with_free_bias(1e-4, number=30, name="alm", help=LP_SVM_HELP, **LP_SVM),
    with_free_bias(1e-6, number=31, name="alm-exact", help=LP_SVM_HELP + ", to a smaller gap", **LP_SVM),
    to_gap(
        number=40,
        name="mfn",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector classification to a certified gap",
        objective=SQUARED_HINGE_OBJECTIVE,
        loss="squared hinge",
        bias=BIAS_OPTION + " unless -R is given",
        besides="; with -e it stops as -s 2 does",
        supported=RUN_OPTIONS | {"-R", "-C"} | ON_DISK | SPARK,
        paper=MFN,
    ),
    to_gap(
        number=41,
        name="mfn-huber",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn_huber",
        help="L2-regularized modified Huber loss classification to a certified gap",
        objective="min over w of  1/2 |w|^2 + sum_i C_i L(1 - y_i w.x_i), L(t) = 0 for t <= 0, "
        "t^2/2 for 0 < t < 2, 2 (t - 1) for t >= 2",
        loss="modified Huber",
        bias=BIAS_OPTION + " unless -R is given",
        besides="; with -e it stops by the rule of -s 2, applied to this objective's gradient",
        supported=RUN_OPTIONS | SPARK | {"-R"},
        paper=MFN_PAPER + "finite Newton steps with an exact line search (Section 4) for the modified Huber loss "
        "of Section 6 (Eqs. 21 to 23)",
    ),
    to_gap(
        number=42,
        name="mfn-l1",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        help="L2-regularized L1-loss support vector classification to a certified gap",
        objective=HINGE_OBJECTIVE,
        loss="hinge",
        bias=BIAS_OPTION + " unless -R is given",
        supported=(RUN_OPTIONS | ON_DISK | SPARK | {"-R"}) - {"-e"},
        paper=MFN_PAPER + "the problem of Section 6 with the hinge; solved as -s 3: " + MULTIPLIER_ROUNDS,
    ),
    to_gap(
        number=43,
        name="mfn-ordinal",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        help="L2-regularized ordinal regression: labels are integers whose order is that of p ranks",
        objective="min over w, b of  1/2 (|w|^2 + |b|^2) + sum_i C_i (sum_{s < rank i} max(0, 1 - (w.x_i - b_s))^2 "
        "+ sum_{s >= rank i} max(0, 1 + (w.x_i - b_s))^2),  s = 1 .. p - 1",
        kind="ordinal",
        loss="squared hinge",
        regulariser="1/2 (|w|^2 + |b|^2)",
        bias="the p - 1 thresholds b, regularised",
        besides="; with -e |f'(w)| <= e |f'(0)|",
        supported=RUN_OPTIONS - {"-B"},
        paper=MFN_PAPER
        + "finite Newton steps with an exact line search (Section 4) for the problem of Section 7, Eq. 25",
    ),
    with_free_bias(
        number=50,
        name="nesvm",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        help="C-SVM with a free bias",
        objective="min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))",
        loss="hinge",
        supported=(RUN_OPTIONS | ON_DISK | SPARK | PAIRS | {"-R"}) - {"-e"},
        paper=NESVM + "the problem of C-SVM (Eqs. 45 and 46); solved as -s 3: " + MULTIPLIER_ROUNDS,
    ),
    with_free_bias(
        number=51,
        name="nesvm-lp",
        word="L1R_L2LOSS_SVC",
        module="svmtool.solvers.lp_svm",
        help="LP-SVM (hinge loss, L1 norm) with a free bias",
        objective="min over w, b of  |w|_1 + sum_i C_i max(0, 1 - y_i (w.x_i + b))",
        loss="hinge",
        regulariser="|w|_1",
        supported=(RUN_OPTIONS | PAIRS | {"-R"}) - {"-e"},
        paper=NESVM
        + "the problem of LP-SVM (Eqs. 49 and 50) and its smoothing, minimised by Newton steps; then restarted "
        "PDHG, or interior-point steps",
    ),
    with_free_bias(
        number=52,
        name="nesvm-ls",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.lssvm",
        help="LS-SVM (least squares of the margins) with a free bias",
        objective="min over w, b of  1/2 |w|^2 + sum_i C_i (1 - y_i (w.x_i + b))^2",
        loss="least squares",
        supported=(RUN_OPTIONS | SPARK | PAIRS | {"-R"}) - {"-e"},
        paper=NESVM + "the problem of LS-SVM (Eqs. 53 and 54); solved by one factorisation, or with more features by "
        "conjugate gradients",
    ),
    to_gap(
        number=70,
        name="lssvm",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.lssvm",
        help="LS-SVM (least squares of the margins), one exact step",
        objective=LEAST_SQUARES,
        loss="least squares",
        bias=APPENDED,
        bias_default=1.0,
        sums_below=GRAM_BELOW,
        besides=f"; with up to {GRAM_BELOW} features one exact step",
        supported=(RUN_OPTIONS | ON_DISK | SPARK | {"-C", "--loo"}) - {"-e"},
        paper=LSSVM_PAPER + "the problem of Section III, Eq. 2; with more features solved by conjugate gradients",
    ),
    to_gap(
        number=71,
        name="alsvm",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.alsvm",
        help="LS-SVM to which rows can be added and from which they can be removed",
        objective=LEAST_SQUARES,
        loss="least squares",
        bias=APPENDED,
        bias_default=1.0,
        sums_below=ADAPTABLE_FEATURES,
        besides=": one exact step",
        supported=(RUN_OPTIONS | ADAPTING | {"-C", "--loo"}) - {"-e"},
        paper=LSSVM_PAPER + "the problem of Section IV; solved by one factorisation of sums over the rows, which rows "
        "added and removed change",
    ),
    Solver(
        number=72,
        name="falsvm",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.falsvm",
        help="LS-SVM of the rows found misclassified in passes over the data (Algorithm 2 of the paper)",
        objective=LEAST_SQUARES
        + " over the rows added; the certificate covers all rows; after --add or --remove only the rows added",
        loss="least squares",
        bias=APPENDED,
        bias_default=1.0,
        optimal=False,
        sums_below=ADAPTABLE_FEATURES,
        stopping="after N passes over the rows (--passes N, default 1)",
        supported=(RUN_OPTIONS | ADAPTING | {"--passes"})
        - {"-e", "--gap", "--max-iter", "--initial-model", "--grid", "--score"},
        paper=LSSVM_PAPER + "Algorithm 2",
    ),
    FOSVM1_ROW,
    FOSVM1_ROW._replace(**SAMPLED_FOSVM, stopping=SAMPLE_RULE.format("x_i"), supported=NOVELTY_OPTIONS | {"--sample"}),
)

TO_A_GAP: dict[str, Any] = {  # of rows with a kernel
    "eps_default": None,
    "gap_default": 1e-3,
    "stopping": GAP_RULE.format("1e-3"),
    "supported": KERNEL_OPTIONS - {"-h", "-e"},
}
FOSVM1_KERNEL = kernel_row(
    80, "fosvm", "one_class", "one-class SVM without slack by cutting planes", NOVELTY.format("f(x_i)"),
    "hinge", "hard one-class",
)._replace(
    module="svmtool.solvers.fosvm_kernel",
    bias=BOUNDARY.format(REACHED),
    free_bias=False,
    eps_default=None,
    gap_default=gap_of_theta(THETA),
    stopping=THETA_RULE.format("f(x_i)"),
    supported=(KERNEL_OPTIONS | {"--theta", "--boundary"}) - {"-h", "-e", "--weights"},
    paper=FOSVM1,
)  # fmt: skip

KERNEL_ROWS = choosable(
    kernel_row(60, "alfpgm", "c_svc", "C-SVC, with the linear kernel unless -t, -g, -d or -r is given",
               C_SVC_OBJECTIVE, "hinge", "classification"),
    kernel_row(50, "nesvm", "c_svc", "C-SVC to a certified gap", C_SVC_OBJECTIVE, "hinge", "classification")._replace(
        **TO_A_GAP,
        paper=NESVM + "the problem of C-SVM (Eqs. 45 and 46) with a kernel; solved as -s 0: " + ALFPGM + LIBSVM_PAPER,
    ),
    kernel_row(
        51, "nesvm-lp", "c_svc", "LP-SVM (hinge loss, L1 norm of the coefficients), the kernel matrix in memory",
        "min over w, b of  sum_j |w_j| + sum_i C_i max(0, 1 - y_i (sum_j w_j K(x_j, x_i) + b))",
        "hinge", "classification",
    )._replace(
        module="svmtool.solvers.lp_svm_kernel",
        regulariser="|w|_1",
        **TO_A_GAP,
        paper=NESVM + "the problem of LP-SVM (Eqs. 49 and 50) with a kernel; solved as -s 51 on the rows of the kernel "
        "matrix",
    ),
    kernel_row(
        52, "nesvm-ls", "c_svc", "LS-SVM (least squares of the margins) with a free bias, N coefficients",
        "min over w, b of  1/2 |w|^2 + sum_i C_i (1 - y_i (w.f(x_i) + b))^2,  f(x).f(z) = K(x, z)",
        "least squares", "classification",
    )._replace(
        module="svmtool.solvers.shared.kernel_least_squares",
        **TO_A_GAP,
        paper=NESVM + "the problem of LS-SVM (Eqs. 53 and 54) with a kernel; solved by conjugate gradients",
    ),
    kernel_row(
        73, "sgd-lssvm", "c_svc", "LS-SVM (least squares of the margins), N coefficients",
        "min over w, b of  1/2 (|w|^2 + b^2) + sum_i C_i (1 - y_i (w.f(x_i) + b))^2,  f(x).f(z) = K(x, z)",
        "least squares", "classification",
    )._replace(
        module="svmtool.solvers.shared.kernel_least_squares",
        bias="regularised, as the weight of a feature of value 1; rho in the model file is its negative",
        free_bias=False,
        eps_default=1e-2,
        stopping="the largest entry of the dual's gradient is at most -e (default [eps])",
        supported=KERNEL_OPTIONS - {"-h"},
        paper="Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015: the problem, "
        "solved by conjugate gradients",
    ),
    FOSVM1_KERNEL,
    FOSVM1_KERNEL._replace(
        **SAMPLED_FOSVM,
        stopping=SAMPLE_RULE.format("f(x_i)"),
        supported=(FOSVM1_KERNEL.supported | {"--sample"}) - {"--gap"},
    ),
)  # fmt: skip
