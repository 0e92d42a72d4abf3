"""Registry rows of LIBLINEAR's solver numbers."""

from __future__ import annotations

from typing import Any

from svmtool.registry.row import (
    BIAS_OPTION,
    HINGE_OBJECTIVE,
    MFN,
    MFN_PAPER,
    MULTIPLIER_ROUNDS,
    ON_DISK,
    RUN_OPTIONS,
    SPARK,
    SQUARED_HINGE_OBJECTIVE,
    Solver,
)
from svmtool.tolerances import (
    BUDGET,
    EPOCH_TOL,
    GRAM_BELOW,
    L1_GAP_AN_EPS,
    LATE_EPOCHS,
    LATE_RULE_SHARE,
    LATE_TUBE_SHARE,
    RULE_MIN_GAP,
    RULE_SHARE,
    SLOW_MIN_GAP,
    TUBE_GAP_AN_EPS,
    text,
)

SQUARED_TUBE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, |t_i - w.x_i| - p)^2"
MFN_TUBE = MFN + ", with two squared hinges for each row, one on each side of the tube"
LOGISTIC_OBJECTIVE = "min over w of  1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i w.x_i))"
LOGISTIC_PAPER = "Lin, Weng and Keerthi, Trust Region Newton Method for Large-Scale Logistic Regression, "
LOGISTIC_PAPER += "JMLR 9 (2008) 627-650: truncated Newton steps, with the line search of "
LOGISTIC_PAPER += MFN_PAPER.rstrip(": ")
YUAN = "Yuan, Ho and Lin, An Improved GLMNET for L1-regularized Logistic Regression, JMLR 13 (2012) 1999-2030: "
YUAN += "proximal Newton (Algorithm 1)"
GRADIENT_RULE = (
    "|f'(w)| <= e * max(1, min(pos, neg)) / l * |f'(0)|, where pos and neg are the numbers of rows of the two classes "
    "and l is their sum (LIBLINEAR's rule for -s {}; default -e [eps])"
)
PROJECTED_RULE = (
    "the largest and the smallest projected gradient of the dual, and their difference, are all within -e of zero "
    f"(LIBLINEAR's rule for -s {{}}; default [eps]; coordinate descent continues to {EPOCH_TOL:g} times that)"
)
# Added to LIBLINEAR's rule where features or rows are few and Newton steps converge fast; a tube has two terms a row
FEW = f"with up to {GRAM_BELOW} features or rows the certified gap must also be at most {text(RULE_MIN_GAP)}"
TUBE_ROWS = f"{GRAM_BELOW // 2} rows"
ELSE = f", with more at most {text(SLOW_MIN_GAP)}"
L1_RULE = (
    f"certified relative duality gap (P - D)/P <= {text(L1_GAP_AN_EPS)} times -e, at most {text(SLOW_MIN_GAP)} "
    f"(default -e [eps]); or LIBLINEAR's rule for -s {{}} holds{{}} and the gap is at most {text(SLOW_MIN_GAP)}"
)
TUBE_RULE = (
    f"certified relative duality gap (P - D)/P <= {text(TUBE_GAP_AN_EPS)} times -e, at most {text(RULE_MIN_GAP)} "
    f"(default -e [eps]); above {GRAM_BELOW} features and {TUBE_ROWS} also when LIBLINEAR's rule for -s {{}} holds "
    f"with {RULE_SHARE:g} e"
)
BUDGETED = (
    f"; once LIBLINEAR's own rule, or its limit of {LATE_EPOCHS} epochs, is reached, a run does at most {BUDGET:.0%} "
    "more work than so far"
)


def primal(eps_default: float = 0.01, **fields: Any) -> Solver:
    """Return the row of a problem that LIBLINEAR solves in the primal; its bias is free with -R."""
    return Solver(bias=BIAS_OPTION + " unless -R is given", eps_default=eps_default, **fields)


def dual(**fields: Any) -> Solver:
    """Return the row of a problem that LIBLINEAR solves in the dual; its bias is regularised."""
    return Solver(space="dual", bias=BIAS_OPTION, eps_default=0.1, **fields)


ROWS = (
    primal(
        number=0,
        name="lr",
        word="L2R_LR",
        module="svmtool.solvers.logistic",
        help="L2-regularized logistic regression (primal)",
        objective=LOGISTIC_OBJECTIVE,
        loss="logistic",
        stopping=GRADIENT_RULE.format(0) + f", and a certified gap of at most {text(RULE_MIN_GAP)}, or of "
        f"{text(SLOW_MIN_GAP)} where conjugate gradients solve more than {GRAM_BELOW} features" + BUDGETED,
        supported=RUN_OPTIONS | {"-R", "-C", "--guarantee"} | ON_DISK | SPARK,
        paper=LOGISTIC_PAPER,
    ),
    dual(
        number=1,
        name="l2svc-dual",
        word="L2R_L2LOSS_SVC_DUAL",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector classification (dual)",
        objective=SQUARED_HINGE_OBJECTIVE,
        loss="squared hinge",
        stopping=PROJECTED_RULE.format(1) + "; " + FEW + f"; after {LATE_EPOCHS} epochs also when "
        f"|f'(w)| <= {LATE_RULE_SHARE:g} * e * max(1, min(pos, neg)) / l * |f'(0)| (LIBLINEAR also continues by the "
        "rule of -s 2 then)" + BUDGETED,
        supported=RUN_OPTIONS | {"--guarantee"} | ON_DISK | SPARK,
        paper=MFN,
    ),
    primal(
        number=2,
        name="l2svc",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector classification (primal)",
        objective=SQUARED_HINGE_OBJECTIVE,
        loss="squared hinge",
        stopping=GRADIENT_RULE.format(2) + "; " + FEW + ELSE + BUDGETED,
        supported=RUN_OPTIONS | {"-R", "-C", "--guarantee"} | ON_DISK | SPARK,
        paper=MFN,
    ),
    dual(
        number=3,
        name="l1svc-dual",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        help="L2-regularized L1-loss support vector classification (dual)",
        objective=HINGE_OBJECTIVE,
        loss="hinge",
        stopping=PROJECTED_RULE.format(3) + "; " + FEW + BUDGETED,
        supported=RUN_OPTIONS | {"--guarantee"} | ON_DISK | SPARK,
        paper=MULTIPLIER_ROUNDS + "; p = 1 and a regularised bias",
    ),
    dual(
        number=4,
        name="crammer-singer",
        word="MCSVM_CS",
        module="svmtool.solvers.alm_classes",
        help="support vector classification by Crammer and Singer",
        objective="min over w_1 .. w_k of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)",
        kind="all classes",
        loss="hinge",
        stopping="the largest difference of two dual gradients that a step of one row can reduce is at most -e "
        "(LIBLINEAR's rule for -s 4; default [eps]); "
        + FEW.replace("features or rows", "features times classes")
        + BUDGETED.replace(f", or its limit of {LATE_EPOCHS} epochs,", ""),
        supported=RUN_OPTIONS,
        paper="Keerthi, Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class "
        "Linear SVMs, KDD 2008, then " + MULTIPLIER_ROUNDS + "; multipliers in the simplex",
    ),
    primal(
        number=5,
        name="l1r-l2svc",
        word="L1R_L2LOSS_SVC",
        module="svmtool.solvers.l1.proximal_newton",
        help="L1-regularized L2-loss support vector classification",
        objective="min over w of  |w|_1 + sum_i C_i max(0, 1 - y_i w.x_i)^2",
        loss="squared hinge",
        regulariser="|w|_1",
        stopping=L1_RULE.format(5, f" in an epoch, or with {EPOCH_TOL:g} e at a point,") + BUDGETED,
        supported=RUN_OPTIONS | {"-R"} | SPARK,
        paper=YUAN + ", here for the squared hinge",
    ),
    primal(
        number=6,
        name="l1r-lr",
        word="L1R_LR",
        module="svmtool.solvers.l1.proximal_newton",
        help="L1-regularized logistic regression",
        objective="min over w of  |w|_1 + sum_i C_i log(1 + exp(-y_i w.x_i))",
        loss="logistic",
        regulariser="|w|_1",
        stopping=L1_RULE.format(6, "") + BUDGETED,
        supported=RUN_OPTIONS | {"-R"} | SPARK,
        paper=YUAN,
    ),
    dual(
        number=7,
        name="lr-dual",
        word="L2R_LR_DUAL",
        module="svmtool.solvers.logistic",
        help="L2-regularized logistic regression (dual)",
        objective=LOGISTIC_OBJECTIVE,
        loss="logistic",
        stopping="the largest absolute derivative of the dual is at most -e (LIBLINEAR's rule for -s 7; default [eps]) "
        f"and a certified gap of at most {text(RULE_MIN_GAP)}" + BUDGETED,
        supported=RUN_OPTIONS | {"--guarantee"} | SPARK,
        paper=LOGISTIC_PAPER,
    ),
    primal(
        number=11,
        name="l2svr",
        word="L2R_L2LOSS_SVR",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector regression (primal)",
        objective=SQUARED_TUBE,
        kind="regression",
        loss="squared hinge",
        eps_default=0.0001,
        stopping="|f'(w)| <= e * |f'(0)| (LIBLINEAR's rule for -s 11; default -e [eps]); "
        + FEW.replace("rows", TUBE_ROWS)
        + ELSE
        + BUDGETED,
        supported=(RUN_OPTIONS | ON_DISK | SPARK | {"-p", "-R", "-C"}) - {"--stratified"},
        paper=MFN_TUBE,
    ),
    dual(
        number=12,
        name="l2svr-dual",
        word="L2R_L2LOSS_SVR_DUAL",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector regression (dual)",
        objective=SQUARED_TUBE,
        kind="regression",
        loss="squared hinge",
        stopping=TUBE_RULE.format(12) + f"; after {LATE_EPOCHS} epochs also when |f'(w)| <= {LATE_TUBE_SHARE:g} * e * "
        "|f'(0)| (LIBLINEAR also continues by the rule of -s 11 then), and the gap is at most "
        f"{text(SLOW_MIN_GAP)}" + BUDGETED,
        supported=(RUN_OPTIONS | SPARK | {"-p"}) - {"--stratified"},
        paper=MFN_TUBE,
    ),
    dual(
        number=13,
        name="l1svr-dual",
        word="L2R_L1LOSS_SVR_DUAL",
        module="svmtool.solvers.alm",
        help="L2-regularized L1-loss support vector regression (dual)",
        objective="min over w of  1/2 |w|^2 + sum_i C_i max(0, |t_i - w.x_i| - p)",
        kind="regression",
        loss="hinge",
        stopping=TUBE_RULE.format(13) + BUDGETED,
        supported=(RUN_OPTIONS | SPARK | {"-p"}) - {"--stratified"},
        paper=MULTIPLIER_ROUNDS
        + "; p = 1, a regularised bias and two hinges for each row, one on each side of the tube",
    ),
    Solver(
        number=21,
        name="one-class",
        word="ONECLASS_SVM",
        module="svmtool.solvers.one_class",
        help="one-class support vector machine (dual)",
        objective="min over w, rho of  1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - nu (sum_i c_i) rho,  c_i = 1 or "
        "the row's weight in --weights",
        kind="one-class",
        loss="hinge",
        space="dual",
        bias="none: rho takes its place",
        costs=False,
        eps_default=0.01,
        stopping="the largest w.x_i of rows whose dual variable can decrease exceeds the smallest w.x_i of rows whose "
        "dual variable can increase by at most -e (LIBLINEAR's rule for -s 21; default [eps]), and a certified gap of "
        f"at most {text(RULE_MIN_GAP)}",
        supported=(RUN_OPTIONS | SPARK | {"-n"}) - {"-B", "--stratified", "--grid", "--score"},
        paper="Chou, Lin and Lin, Dual Coordinate-Descent Methods for Linear One-Class SVM and SVDD, SDM 2020: "
        "two-level coordinate descent (supplement, Algorithm 7)",
    ),
)
