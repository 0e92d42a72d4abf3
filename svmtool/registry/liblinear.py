"""Rows of the registry: LIBLINEAR's numbers."""

from __future__ import annotations

from svmtool.registry.row import ALM, BIAS, HINGE, MFN, MFN_PAPER, ON_DISK, RUN_OPTIONS, SPARK, SQUARED_HINGE, Solver

SQUARED_TUBE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, |t_i - w.x_i| - p)^2"
MFN_TUBE = MFN + ", with two squared hinges a row, one on each side of the tube"
LOGISTIC = "min over w of  1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i w.x_i))"
LOGISTIC_PAPER = "Lin, Weng and Keerthi, Trust Region Newton Method for Large-Scale Logistic Regression, "
LOGISTIC_PAPER += "JMLR 9 (2008) 627-650: truncated Newton steps, with the first guess and the ray search of "
LOGISTIC_PAPER += MFN_PAPER.rstrip(": ")
YUAN = "Yuan, Ho and Lin, An Improved GLMNET for L1-regularized Logistic Regression, JMLR 13 (2012) 1999-2030: "
YUAN += "proximal Newton (Algorithm 1) with working sets"
L1_GAP = "certified relative duality gap (P - D)/P <= 1e-4 times -e, at most 1e-3 (default -e 0.01): "
L1_RULE = "except on small problems that rule with e / 20 also ends a run when the last steps foretell that about "
L1_RULE += "1e-2 e of the objective is left to gain, and the gap is at most 1e-3 or half as much work again has not "
L1_RULE += "made it so"
WIDE_RULE = (
    "above some 1500 features it also stops when LIBLINEAR's rule holds with e / 20 and the gap is at most min(e, 0.1)"
    ", or after about twice the work that LIBLINEAR's rule, or its cap of 300 passes, took"
)

ROWS = (
    Solver(
        number=0,
        name="lr",
        word="L2R_LR",
        module="svmtool.solvers.logistic",
        help="L2-regularized logistic regression (primal)",
        objective=LOGISTIC,
        loss="logistic",
        space="primal",
        bias=BIAS + " unless -R is given",
        eps_default=0.01,
        stopping="|f'(w)| <= e * max(1, min(pos, neg)) / l * |f'(0)|, where pos and neg count the rows of either "
        "class among l (LIBLINEAR's rule for -s 0; default -e 0.01), and a certified gap of 1e-6, "
        "or 1e-3 where conjugate gradients solve more than 1500 features",
        supported=RUN_OPTIONS | {"-R", "-C"} | ON_DISK | SPARK,
        paper=LOGISTIC_PAPER,
    ),
    Solver(
        number=1,
        name="l2svc-dual",
        word="L2R_L2LOSS_SVC_DUAL",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector classification (dual)",
        objective=SQUARED_HINGE,
        loss="squared hinge",
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="the largest and the smallest projected gradient of the dual, and their difference, "
        "are all within -e of zero (LIBLINEAR's rule for -s 1; default 0.1); "
        "up to some 1500 features at the exact minimum; beyond, where Newton steps end the run, a certified gap of "
        "1e-3, or after 300 passes over the rows |f'(w)| <= 0.1 * e * max(1, min(pos, neg)) / l * |f'(0)| (where "
        "LIBLINEAR, too, goes on by the rule of -s 2)",
        supported=RUN_OPTIONS | ON_DISK | SPARK,
        paper=MFN,
    ),
    Solver(
        number=2,
        name="l2svc",
        word="L2R_L2LOSS_SVC",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector classification (primal)",
        objective=SQUARED_HINGE,
        loss="squared hinge",
        space="primal",
        bias=BIAS + " unless -R is given",
        eps_default=0.01,
        stopping="|f'(w)| <= e * max(1, min(pos, neg)) / l * |f'(0)|, where pos and neg count the rows of either "
        "class among l (LIBLINEAR's rule for -s 2; default -e 0.01); "
        "up to some 1500 features also a certified gap of 1e-6",
        supported=RUN_OPTIONS | {"-R", "-C"} | ON_DISK | SPARK,
        paper=MFN,
    ),
    Solver(
        number=3,
        name="l1svc-dual",
        word="L2R_L1LOSS_SVC_DUAL",
        module="svmtool.solvers.alm",
        entry="exact",
        help="L2-regularized L1-loss support vector classification (dual)",
        objective=HINGE,
        loss="hinge",
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="the largest and the smallest projected gradient of the dual, and their difference, "
        "are all within -e of zero (LIBLINEAR's rule for -s 3; default 0.1); "
        "up to some 1500 features also a certified gap of 1e-6",
        supported=RUN_OPTIONS | ON_DISK | SPARK,
        paper=ALM + "Algorithm 1 with p = 1 and a regularised bias",
    ),
    Solver(
        number=4,
        name="crammer-singer",
        word="MCSVM_CS",
        module="svmtool.solvers.alm_classes",
        help="support vector classification by Crammer and Singer, all classes at once",
        objective="min over w_1 .. w_k of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)",
        task="all classes",
        loss="hinge",
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="the largest difference of two gradients of the dual that a step of one row could lessen is within -e "
        "of zero (LIBLINEAR's rule for -s 4; default 0.1); "
        "up to some 1500 features times classes also a certified gap of 1e-6",
        supported=RUN_OPTIONS,
        paper="Keerthi, Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class "
        "Linear SVMs, KDD 2008, then " + ALM + "Algorithm 1 with multipliers in the simplex",
    ),
    Solver(
        number=5,
        name="l1r-l2svc",
        word="L1R_L2LOSS_SVC",
        module="svmtool.solvers.l1.proximal_newton",
        over_sums="svmtool.solvers.l1.sums",
        help="L1-regularized L2-loss support vector classification",
        objective="min over w of  |w|_1 + sum_i C_i max(0, 1 - y_i w.x_i)^2",
        loss="squared hinge",
        regulariser="|w|_1",
        space="primal",
        bias=BIAS + " unless -R is given",
        eps_default=0.01,
        stopping=L1_GAP + "further than LIBLINEAR's rule for -s 5 goes; " + L1_RULE,
        supported=RUN_OPTIONS | {"-R"} | SPARK,
        paper=YUAN + ", here for the squared hinge",
    ),
    Solver(
        number=6,
        name="l1r-lr",
        word="L1R_LR",
        module="svmtool.solvers.l1.proximal_newton",
        over_sums="svmtool.solvers.l1.sums",
        help="L1-regularized logistic regression",
        objective="min over w of  |w|_1 + sum_i C_i log(1 + exp(-y_i w.x_i))",
        loss="logistic",
        regulariser="|w|_1",
        space="primal",
        bias=BIAS + " unless -R is given",
        eps_default=0.01,
        stopping=L1_GAP + "further than LIBLINEAR's rule for -s 6 goes; " + L1_RULE,
        supported=RUN_OPTIONS | {"-R"} | SPARK,
        paper=YUAN,
    ),
    Solver(
        number=7,
        name="lr-dual",
        word="L2R_LR_DUAL",
        module="svmtool.solvers.logistic",
        help="L2-regularized logistic regression (dual)",
        objective=LOGISTIC,
        loss="logistic",
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="the largest derivative of the dual, in size, is at most -e (LIBLINEAR's rule for -s 7; default 0.1), "
        "and a certified gap of 1e-6",
        supported=RUN_OPTIONS | SPARK,
        paper=LOGISTIC_PAPER,
    ),
    Solver(
        number=11,
        name="l2svr",
        word="L2R_L2LOSS_SVR",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector regression (primal)",
        objective=SQUARED_TUBE,
        task="regression",
        loss="squared hinge",
        space="primal",
        bias=BIAS + " unless -R is given",
        eps_default=0.0001,
        stopping="|f'(w)| <= e * |f'(0)| (LIBLINEAR's rule for -s 11; default -e 0.0001); "
        "up to some 1500 features also a certified gap of 1e-6",
        supported=(RUN_OPTIONS | ON_DISK | SPARK | {"-p", "-R", "-C"}) - {"--stratified"},
        paper=MFN_TUBE,
    ),
    Solver(
        number=12,
        name="l2svr-dual",
        word="L2R_L2LOSS_SVR_DUAL",
        module="svmtool.solvers.mfn",
        help="L2-regularized L2-loss support vector regression (dual)",
        objective=SQUARED_TUBE,
        task="regression",
        loss="squared hinge",
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="certified relative duality gap (P - D)/P <= 1e-5 times -e, at most 1e-6 (default -e 0.1): "
        "further than LIBLINEAR's rule for -s 12 goes; " + WIDE_RULE,
        supported=(RUN_OPTIONS | SPARK | {"-p"}) - {"--stratified"},
        paper=MFN_TUBE,
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
        space="dual",
        bias=BIAS,
        eps_default=0.1,
        stopping="certified relative duality gap (P - D)/P <= 1e-5 times -e, at most 1e-6 (default -e 0.1): "
        "further than LIBLINEAR's rule for -s 13 goes; " + WIDE_RULE,
        supported=(RUN_OPTIONS | SPARK | {"-p"}) - {"--stratified"},
        paper=ALM + "Algorithm 1 with p = 1, a regularised bias and two hinges a row, one on each side of the tube",
    ),
    Solver(
        number=21,
        name="one-class",
        word="ONECLASS_SVM",
        module="svmtool.solvers.one_class",
        help="one-class support vector machine (dual)",
        objective="min over w, rho of  1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - nu (sum_i c_i) rho,  c_i = 1 or "
        "the row's number in --weights",
        task="one-class",
        loss="hinge",
        space="dual",
        bias="none: rho takes its place",
        eps_default=0.01,
        stopping="the largest w.x_i of rows that may shrink in the dual exceeds the smallest of rows that may grow by "
        "-e at most (LIBLINEAR's rule for -s 21; default 0.01); also a certified gap of 1e-6",
        supported=(RUN_OPTIONS | SPARK | {"-n"}) - {"-B", "--stratified"},
        paper="Chou, Lin and Lin, Dual Coordinate-Descent Methods for Linear One-Class SVM and SVDD, SDM 2020: "
        "two-level coordinate descent (supplement, Algorithm 7)",
    ),
)
