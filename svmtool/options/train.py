"""The options of svm-train: LIBLINEAR's letters, LIBSVM's of lines with a kernel, and svmtool's long options."""

from __future__ import annotations

import math

from svmtool.integers import parse_integer
from svmtool.options import (
    COUNT,
    FILE,
    MASTER,
    POSITIVE,
    Kind,
    Option,
    in_words,
    number,
    one_of,
    own,
    strict_real,
    whole,
)
from svmtool.params import KERNEL_NAMES
from svmtool.registry.printed import ORDINAL_LOSSES
from svmtool.registry.row import BOUNDARIES, HEURISTICS, METHODS, SCORE_NAMES, are_heuristics, gap_of_theta
from svmtool.tolerances import MB

MAX_VALUES = 100_000  # of --grid
UNITS = {"K": 1e3, "M": MB, "G": 1e9}
# Options of earlier versions, and what stands in their place.
GONE = {"--inner-steps": "-s 30 runs the paper's one gradient step"}
VALIDATING = ("-v", "-C", "--grid")


def _bytes(text: str) -> float:
    """A number of bytes, with a unit or without."""
    unit = UNITS.get(text[-1:].upper())
    return strict_real(text) if unit is None else strict_real(text[:-1]) * unit


def _values_of_C(text: str) -> tuple[float, ...]:
    """The values of C=V,V,.. or C=LOW:HIGH:N, N values at equal ratios, ascending."""
    key, _, values = text.partition("=")
    parts = values.split(":")
    if key.strip() != "C":
        raise ValueError(text)
    if len(parts) == 3:
        low, high, n = strict_real(parts[0]), strict_real(parts[1]), parse_integer(parts[2])
        if not 0 < low < high < math.inf or not 2 <= n <= MAX_VALUES:
            raise ValueError(text)
        return tuple(sorted({float(f"{low * (high / low) ** (k / (n - 1)):.6g}") for k in range(n)}))
    return tuple(sorted({strict_real(v) for v in values.split(",")}))


# Kinds of values.  Those of letters are read as C reads numbers, whatever their range, which is for Python.
REAL, SQUARED, FLAG = number("a number"), number("a number", squared=True), Kind("True or False", bool)
NAME = Kind("a name")
SIZE = Kind("a size such as 500M or 2G", float, POSITIVE.holds, parse=_bytes)
VALUES_OF_C = Kind(
    "C=0.01,0.1,1 or C=LOW:HIGH:N, N values of C > 0 at equal ratios",
    object, lambda found: all(0 < C < math.inf for C in found), parse=_values_of_C,
)  # fmt: skip
MU = Kind(
    "{} or {}, or a number > 0", float, POSITIVE.holds, ("merit", "geometric"), strict_real,
    former=(("balance", "merit"),),
)  # fmt: skip
THETA = number("a number between 0 and 1", lambda value: 0 < value < 1 and gap_of_theta(value) > 0)
SHARE = number("a number above 0, at most 1", lambda value: 0 < value <= 1)
ZERO_OR_ONE, SINGLE = one_of("0", "1", python=bool), one_of("float64", "float32", python=bool)
SPEED_UPS = Kind("{}, {} and {}, joined by commas, or {}", holds=are_heuristics, names=(*HEURISTICS, "none"))

# Letters: of a linear model, as in LIBLINEAR, then with a kernel, as in LIBSVM.
LINEAR = (
    Option(
        "-s", "number or name of the solver, or auto: chosen from data and options (default 1)", NAME, "SOLVER",
        keyword="solver", tried=("--solver", "--type"),
    ),
    Option(
        "-c", "cost of a violated margin (default 1); with -C the first value tried", REAL, "C", "C", "C",
        excludes=("--grid",), tried=("--cost",),
    ),
    Option(
        "-p", "half the width of the tube in which errors cost nothing (default 0.1)", SQUARED, "P", "p", "p",
        tried=("--tube",),
    ),
    Option(
        "-n", "approximate share of rows on the wrong side of the plane (default 0.5)", REAL, "NU", "nu", "nu",
        tried=("--nu",),
    ),
    Option(
        "-e", "tolerance of the solver's stopping rule", REAL, "EPS", "eps", "eps",
        tried=("--epsilon", "--eps", "--tolerance", "--tol"),
    ),
    Option(
        "-B", "append a feature of this value to every row if >= 0 (default -1: none)", SQUARED, "BIAS", "bias", "bias",
        tried=("--bias",),
    ),
    Option(
        "-R", "do not regularise the bias; needs -B 1", setting="regularize_bias", keyword="regularize_bias",
        sets=False, tried=("--no-regularize-bias",),
    ),
    Option(
        "-wLABEL", "multiply C for the rows of a class, e.g. -w1 5 -w-1 0.5", Kind("factors", object), "FACTOR",
        "class_weights", "class_weight", tried=("--class-weight",),
    ),
    Option(
        "-v", "cross-validation with N folds; no model is written", whole(2), "N", "folds", "folds",
        tried=("--folds", "--cross-validation", "--cv"),
    ),
    Option(
        "-C", "search for the best C by cross-validation; no model is written", setting="find_C", keyword="search",
        excludes=("--grid",), tried=("--search",),
    ),
    Option("-q", "quiet: no output of the solver", setting="quiet", tried=("--quiet",)),
)  # fmt: skip
KERNEL = (
    Option("-s", "number or name of the solver (default 0)", NAME, "SOLVER", keyword="solver"),
    Option(
        "-t", "; ".join(f"{k} {name}" for k, name in enumerate(KERNEL_NAMES)) + " (default 2)", whole(0), "KERNEL",
        "kernel_type", "kernel", tried=("--kernel",),
    ),
    Option(
        "-d", "degree of the polynomial kernel (default 3)", whole(0), "DEGREE", "degree", "degree",
        tried=("--degree",),
    ),
    Option(
        "-g", "gamma of kernels 1 to 3 (default 0: one over the largest feature index)",
        number("{} or a number >= 0", squared=True, names=("auto",)), "GAMMA", "gamma", "gamma", tried=("--gamma",),
    ),
    Option("-r", "coef0 of kernels 1 and 3 (default 0)", SQUARED, "COEF0", "coef0", "coef0", tried=("--coef0",)),
    Option("-c", "cost of an error (default 1)", REAL, "C", "C", "C"),
    Option(
        "-n", "-s 1, 2, 4: least share of support vectors and largest share of errors (default 0.5)", REAL, "NU", "nu",
        "nu",
    ),
    Option("-p", "-s 3: half the width of the tube in which errors cost nothing (default 0.1)", SQUARED, "P", "p", "p"),
    Option(
        "-m", "memory for rows of the kernel matrix (default 100)", POSITIVE, "MB", "cache_mb", "cache_mb",
        tried=("--cache",),
    ),
    Option("-e", "tolerance of the stopping rule (default 0.001)", REAL, "EPS", "eps", "eps"),
    Option("-h", "LIBSVM's shrinking: accepted without effect", FLAG, "0|1", "shrinking", "shrinking"),
    Option("-b", "1: store the sigmoids that svm-predict -b 1 needs (default 0)", FLAG, "0|1", "probability"),
    Option("-wLABEL", "multiply C for the rows of a class (C-SVC)", REAL, "FACTOR", "class_weights"),
    Option("-v", "cross-validation with N folds; no model is written", whole(2), "N", "folds", "folds"),
    Option("-q", "quiet: no output of the solver", setting="quiet"),
)  # fmt: skip


def _keyword(flag: str, help: str, kind: Kind | None = None, metavar: str = "", **more: object) -> Option:
    """Return an option whose keyword in Python has its name, too."""
    return own(flag, help, kind, metavar, **{"keyword": flag[2:].replace("-", "_"), **more})


OWN = (
    own(
        "--weights", "file of cost factors, one number for each row of the data", FILE, "FILE", letter="W",
        keyword="sample_weight",
    ),
    own(
        "--initial-model", "start from this model", FILE, "FILE", letter="i", keyword="init", excludes=VALIDATING,
        tried=("--warm-start",),
    ),
    _keyword(
        "--probability", "1: store the sigmoids that svm-predict -b 1 needs (default 0)", ZERO_OR_ONE, "0|1",
        letter="b",
    ),
    _keyword("--gap", "stop at this certified relative gap, not by -e; --method paper: warn above it", POSITIVE, "G"),
    own(
        "--certify-labels", "go on to smaller gaps until this share of the labels of TEST is certain (default 1: all)",
        FILE, "TEST [SHARE]", more="certified_share",
        excludes=("-C", "-v", "--grid", "--one-vs-one", "--multilabel", "--prune", "--spark"),
    ),
    _keyword(
        "--method", "paper: the paper's algorithm as printed (default); fast: the engine, to a certified gap",
        one_of(*METHODS), "M",
    ),
    _keyword(
        "--max-seconds", "stop after T seconds with the best model so far", POSITIVE, "T", tried=("--time-limit",)
    ),
    _keyword("--max-iter", "stop after N iterations with the best model so far", COUNT, "N"),
    _keyword("--seed", "seed of random orders and folds (default: the original's folds)", whole(0), "N"),
    own(
        "--values", "read the values as float32, in 8 bytes in place of 12, or float64", SINGLE, "TYPE",
        setting="single",
    ),
    own("--memory", "use at most this much memory (2G, 500M); rows stay on disk", SIZE, "SIZE"),
    own(
        "--scratch", "with --memory: folder for the rows (default: that of the data)", FILE, "DIR", needs=("--memory",)
    ),
    own("--no-cache", "with --memory: delete the rows on disk at the end", needs=("--memory",)),
    own(
        "--spark", "train on a Spark cluster (local[2], spark://HOST:PORT ..), which reads the data file", MASTER,
        "URL",
        excludes=(
            "-s auto", "--loo", "--memory", "--one-vs-one", "--threads", "--add", "--remove", "--grid", "--score",
            "--metrics", "--balanced", "--plain-model",
        ),
    ),
    _keyword(
        "--loss-power", "power of the hinge, from 1 (default 2); above 2 with --method paper",
        number("a number >= 1", lambda value: 1 <= value < math.inf), "P",
    ),
    _keyword(
        "--objective-change", "ALM: stop when an iteration changes the objective by less (default 1e-4)", POSITIVE, "X"
    ),
    _keyword(
        "--mu", "ALM: mu, fixed (default C/10), or its rule, merit (Eq. 29) or geometric; NESVM: initial mu, > 0", MU,
        "MU",
    ),
    own(
        "--no-homotopy", "NESVM's Algorithm 1 with one fixed mu, that of --mu (default 5)", setting="homotopy",
        keyword="homotopy", sets=False,
    ),
    _keyword(
        "--mu-end", "NESVM: the stage of the first mu at or below MU is the last (default: see --explain)", POSITIVE,
        "MU",
    ),
    _keyword(
        "--one-vs-one", "one problem for each pair of classes, then a vote; the model file is LIBSVM's",
        excludes=("--probability", "--initial-model", "-C", "--grid", "--score", "--metrics", "--memory"),
    ),
    _keyword(
        "--heuristics", "MFN: speed-up heuristics, some of h1,h2,h3, or none (default h1,h2)", SPEED_UPS, "H"
    ),
    _keyword(
        "--loss", "ordinal regression: squared-hinge (default), huber or hinge", one_of(*ORDINAL_LOSSES), "LOSS"
    ),
    _keyword("--passes", "FALSVM: passes over the rows (default 1)", COUNT, "N"),
    _keyword("--loo", "print the exact leave-one-out accuracy of the training rows", excludes=VALIDATING),
    own("--add", "add these rows to the model of -i; -: rows from standard input", FILE, "FILE"),
    own("--remove", "remove these rows from the model of -i", FILE, "FILE"),
    own("--every-rows", "with --add -: write the model every N rows", COUNT, "N", needs=("--add -",)),
    own(
        "--every-seconds", "with --add -: write the model every T seconds if rows arrived (default 10)", POSITIVE, "T",
        needs=("--add -",),
    ),
    own("--grid", "print a table of trainings at each C (C=0.1,1,10 or C=LOW:HIGH:N)", VALUES_OF_C, "C=V,.."),
    own(
        "--guarantee", "with -C: search until no C can have a validation error E percentage points lower", POSITIVE,
        "E", keyword="guarantee", needs=("-C",),
        excludes=("-R", "-e", "--gap", "--score", "--multilabel", "--memory", "--spark"),
    ),
    own(
        "--score", f"with -C or --grid: choose by {in_words(SCORE_NAMES)}", one_of(*SCORE_NAMES), "NAME",
        needs=("-C", "--grid"),
    ),
    own(
        "--metrics", "with -v: also print F1, AUC, log loss (-b 1) or R2 and others", needs=("-v",),
        excludes=("-C", "--grid"),
    ),
    own(
        "--balanced", "multiply C for each class by rows / (classes * rows of the class); --weights count as repeated "
        "rows",
    ),
    own(
        "--multilabel", "rows have several labels each (1,5,7 3:0.5 ..) or none: one problem for each label",
        keyword="multilabel",
        excludes=(
            "-s auto", "--probability", "--one-vs-one", "--loo", "--memory", "--spark", "--stratified", "--balanced",
            "--grid", "--score", "--metrics", "--plain-model",
        ),
    ),
    _keyword(
        "--thresholds", "with --multilabel: choose by folds above which decision value a row has a label",
        one_of("cv"), "cv", needs=("--multilabel",), excludes=VALIDATING,
    ),
    _keyword(
        "--prune", "leave out weights; no training row's decision value moves by more than EPS", POSITIVE, "EPS",
        excludes=("-s auto", *VALIDATING, "--one-vs-one", "--memory", "--spark"),
    ),
    own(
        "--keep-dual", "write the certificate's dual point, from which scripts/recheck.py recomputes it", FILE, "FILE",
        setting="keep_dual_in", keyword="keep_dual",
        excludes=(*VALIDATING, "--balanced", "--multilabel", "--one-vs-one", "--memory", "--spark"),
    ),
    own(
        "--groups", "with -v, -C or --grid: rows with the same qid are in the same fold", setting="grouped",
        keyword="groups", needs=VALIDATING, excludes=("--stratified", "--memory", "--spark"),
    ),
    own(
        "--stratified", "with -v or -C: folds with equal shares of each class", keyword="stratified",
        needs=("-v", "-C"),
    ),
    own(
        "--paper-form", "another spelling of --method paper", setting="method", keyword="paper_form", sets="paper",
    ),
    _keyword("--pairs", "ALFPGM: pairs of variables in a working set (default 50)", COUNT, "P"),
    _keyword(
        "--delta-alpha", "ALFPGM: a variable that changes by less leaves the search (default 1e-6)", POSITIVE, "D"
    ),
    _keyword(
        "--min-alpha-opt", "ALFPGM: visits before a variable at 0 or C leaves (default 5; inf: it stays)",
        whole(1, infinite=True), "N",
    ),
    _keyword(
        "--max-alpha-opt", "ALFPGM: visits before any variable leaves it (default 20; inf: it stays)",
        whole(1, infinite=True), "N",
    ),
    _keyword(
        "--min-alpha-check", "ALFPGM: candidates for the second variable of a pair (default: all)", COUNT, "N"
    ),
    _keyword("--sgd-rows", "rows of the largest gradients that a step uses (default 1)", COUNT, "T"),
    _keyword(
        "--theta", "stop when no row is below the plane by more than this share of rho (default 0.1)", THETA, "T"
    ),
    _keyword(
        "--boundary", "the model's boundary: theta (default): that of the stopping rule; rho: the paper's",
        one_of(*BOUNDARIES), "B",
    ),
    _keyword("--sample", "rows drawn in each round (default 59, with --method fast 3000)", COUNT, "M"),
    own(
        "--threads", "use N threads (default: all cores of this process)", COUNT, "N", letter="m", tried=("--jobs",)
    ),
    own("--strict", "exit with 2 if not converged, a rule left a gap above 1e-2, -b 1, --loo .. fail"),
    own("--plain-model", "write no lines after the weights, as LIBLINEAR and LIBSVM"),
    own(
        "--solver-log", "write one JSON line per iteration, with the method used", FILE, "FILE", excludes=VALIDATING,
    ),
    own(
        "--plot", "draw gap and objective against time, of -C and --grid the scores (needs matplotlib)", FILE, "FILE",
    ),
    Option("--explain", "print the problem, stopping rule, options and paper of -s, and exit"),
    Option("--version", "print the version and exit"),
    Option("--help", "print the most used options and exit"),
    Option("--help-all", "print all options and solvers and exit"),
)  # fmt: skip
LONG = {option.flag: option for option in OWN}
OPTIONS = (*LINEAR, *KERNEL, *OWN)
# The option of each keyword of Python.
BY_KEYWORD = {option.keyword: option for option in (*KERNEL, *LINEAR, *OWN) if option.keyword}
