"""svmtool's own long options for linear and kernel solvers: names, values and help."""

from __future__ import annotations

import math
from collections.abc import Callable

from svmtool.errors import SvmtoolError, clipped
from svmtool.integers import parse_integer
from svmtool.records import Record
from svmtool.registry.printed import ORDINAL_LOSSES
from svmtool.registry.row import BOUNDARIES, METHODS, SCORE_NAMES, are_heuristics, gap_of_theta
from svmtool.tolerances import MB

MAX_VALUES = 100_000  # of --grid


class LongOption(Record):
    """A long option: the field of the settings that it sets, and the function that reads its value (None: a flag)."""

    setting: str
    metavar: str
    read: Callable[[str, str], object] | None
    help: str
    letter: str = ""  # short name, as in other versions of LIBLINEAR
    flag: bool | str = True  # the value that a flag sets
    more: str = ""  # the field that a second value, a share, sets where one follows


def _whole(least: int) -> Callable[[str, str], int]:
    def read(name: str, text: str) -> int:
        try:
            value = parse_integer(text.strip())
        except ValueError:
            value = least - 1
        if value < least or value >= 2**63:
            raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be an integer >= {least}")
        return value

    return read


def _visits(name: str, text: str) -> float:
    """An integer >= 1, or inf."""
    if text.strip().lower() == "inf":
        return math.inf
    try:
        return _whole(1)(name, text)
    except SvmtoolError as error:
        raise SvmtoolError(f"{error}, or inf") from None


def _number(text: str) -> float:
    """The number, or nan, which passes no range check."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _positive(name: str, text: str) -> float:
    value = _number(text)
    if not 0 < value < float("inf"):
        raise SvmtoolError(f"ERROR: {name} {text}: must be a number > 0")
    return value


def _bytes(name: str, text: str) -> float:
    """A number of bytes; K, M and G mean 1e3, 1e6 and 1e9."""
    unit = {"K": 1e3, "M": MB, "G": 1e9}.get(text[-1:].upper(), 0.0)
    value = _number(text[:-1] if unit else text) * (unit or 1.0)
    if not 0 < value < float("inf"):
        raise SvmtoolError(f"ERROR: {name} {text}: must be a size such as 500M or 2G")
    return value


def _theta(name: str, text: str) -> float:
    value = _number(text)
    if not 0 < value < 1 or not gap_of_theta(value) > 0:
        raise SvmtoolError(f"ERROR: {name} {text}: must be a number between 0 and 1")
    return value


def _power(name: str, text: str) -> float:
    value = _number(text)
    if not 1 <= value < float("inf"):
        raise SvmtoolError(f"ERROR: {name} {text}: must be a number >= 1")
    return value


def _mu(name: str, text: str) -> str | float:
    """A value of mu, or the name of an update rule of ALM's."""
    if text in ("merit", "geometric"):
        return text
    if text == "balance":
        raise SvmtoolError(f"ERROR: {name} balance is gone: {name} merit is the paper's rule")
    try:
        return _positive(name, text)
    except SvmtoolError:
        raise SvmtoolError(f"ERROR: {name} {text}: must be merit or geometric, or a number > 0") from None


def _file(name: str, text: str) -> str:
    if not text:
        raise SvmtoolError(f"ERROR: {name}: needs a file name")
    return text


def _master(name: str, text: str) -> str:
    if not text:
        raise SvmtoolError(f"ERROR: {name}: needs a master's URL")
    return text


def _values_of_C(name: str, text: str) -> tuple[float, ...]:
    """The values of C=V,V,.. or C=LOW:HIGH:N, N values at equal ratios, ascending."""
    key, _, values = text.partition("=")
    parts = values.split(":")
    try:
        if key.strip() != "C":
            raise ValueError
        if len(parts) == 3:
            low, high, n = float(parts[0]), float(parts[1]), parse_integer(parts[2])
            if not 0 < low < high < math.inf or not 2 <= n <= MAX_VALUES:
                raise ValueError
            found = {float(f"{low * (high / low) ** (k / (n - 1)):.6g}") for k in range(n)}
        else:
            found = {float(v) for v in values.split(",")}
        if not all(0 < C < math.inf for C in found):
            raise ValueError
    except (ValueError, OverflowError):
        raise SvmtoolError(
            f"ERROR: {name} {clipped(text)}: must be C=0.01,0.1,1 or C=LOW:HIGH:N, N values of C > 0 at equal ratios"
        ) from None
    return tuple(sorted(found))


def _score(name: str, text: str) -> str:
    if text not in SCORE_NAMES:
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be one of {', '.join(SCORE_NAMES)}")
    return text


def _method(name: str, text: str) -> str:
    if text not in METHODS:
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be {' or '.join(METHODS)}")
    return text


def _heuristics(name: str, text: str) -> str:
    if not are_heuristics(text):
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be h1, h2 and h3, joined by commas, or none")
    return text


def _loss(name: str, text: str) -> str:
    if text not in ORDINAL_LOSSES:
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be one of {', '.join(ORDINAL_LOSSES)}")
    return text


def _boundary(name: str, text: str) -> str:
    if text not in BOUNDARIES:
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be theta or rho")
    return text


def _thresholds(name: str, text: str) -> str:
    if text != "cv":
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be cv")
    return text


def _single(name: str, text: str) -> bool:
    if text not in ("float32", "float64"):
        raise SvmtoolError(f"ERROR: {name} {clipped(text)}: must be float32 or float64")
    return text == "float32"


def share(name: str, text: str) -> float:
    """A number above 0, at most 1."""
    value = _number(text)
    if not 0 < value <= 1:
        raise SvmtoolError(f"ERROR: {name}: SHARE {clipped(text)}: must be a number above 0, at most 1")
    return value


def _zero_or_one(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise SvmtoolError(f"ERROR: {name} {text}: must be 0 or 1")
    return text == "1"


LONG_OPTIONS: dict[str, LongOption] = {
    "--weights": LongOption("weights", "FILE", _file, "file of cost factors, one number for each row of the data", "W"),
    "--initial-model": LongOption("initial_model", "FILE", _file, "start from this model", "i"),
    "--probability": LongOption(
        "probability", "0|1", _zero_or_one, "1: store the sigmoids that svm-predict -b 1 needs (default 0)", "b"
    ),
    "--gap": LongOption(
        "gap", "G", _positive, "stop at this certified relative gap, not by -e; --method paper: warn above it"
    ),
    "--certify-labels": LongOption(
        "certify_labels",
        "TEST [SHARE]",
        _file,
        "go on to smaller gaps until this share of the labels of TEST is certain (default 1: all)",
        more="certified_share",
    ),
    "--method": LongOption(
        "method",
        "M",
        _method,
        "paper: the paper's algorithm as printed (default); fast: the engine, to a certified gap",
    ),
    "--max-seconds": LongOption("max_seconds", "T", _positive, "stop after T seconds with the best model so far"),
    "--max-iter": LongOption("max_iter", "N", _whole(1), "stop after N iterations with the best model so far"),
    "--seed": LongOption("seed", "N", _whole(0), "seed of random orders and folds (default: the original's folds)"),
    "--values": LongOption(
        "single", "TYPE", _single, "read the values as float32, in 8 bytes in place of 12, or float64"
    ),
    "--memory": LongOption("memory", "SIZE", _bytes, "use at most this much memory (2G, 500M); rows stay on disk"),
    "--scratch": LongOption("scratch", "DIR", _file, "with --memory: folder for the rows (default: that of the data)"),
    "--no-cache": LongOption("no_cache", "", None, "with --memory: delete the rows on disk at the end"),
    "--spark": LongOption(
        "spark", "URL", _master, "train on a Spark cluster (local[2], spark://HOST:PORT ..), which reads the data file"
    ),
    "--loss-power": LongOption(
        "loss_power", "P", _power, "power of the hinge, from 1 (default 2); above 2 with --method paper"
    ),
    "--objective-change": LongOption(
        "objective_change", "X", _positive, "ALM: stop when an iteration changes the objective by less (default 1e-4)"
    ),
    "--mu": LongOption(
        "mu",
        "MU",
        _mu,
        "ALM: mu, fixed (default C/10), or its rule, merit (Eq. 29) or geometric; NESVM: initial mu, > 0",
    ),
    "--no-homotopy": LongOption(
        "homotopy", "", None, "NESVM's Algorithm 1 with one fixed mu, that of --mu (default 5)", flag=False
    ),
    "--mu-end": LongOption(
        "mu_end",
        "MU",
        _positive,
        "NESVM: the stage of the first mu at or below MU is the last (default: see --explain)",
    ),
    "--one-vs-one": LongOption(
        "one_vs_one", "", None, "one problem for each pair of classes, then a vote; the model file is LIBSVM's"
    ),
    "--heuristics": LongOption(
        "heuristics", "H", _heuristics, "MFN: speed-up heuristics, some of h1,h2,h3, or none (default h1,h2)"
    ),
    "--loss": LongOption("loss", "LOSS", _loss, "ordinal regression: squared-hinge (default), huber or hinge"),
    "--passes": LongOption("passes", "N", _whole(1), "FALSVM: passes over the rows (default 1)"),
    "--loo": LongOption("loo", "", None, "print the exact leave-one-out accuracy of the training rows"),
    "--add": LongOption("add", "FILE", _file, "add these rows to the model of -i; -: rows from standard input"),
    "--remove": LongOption("remove", "FILE", _file, "remove these rows from the model of -i"),
    "--every-rows": LongOption("every_rows", "N", _whole(1), "with --add -: write the model every N rows"),
    "--every-seconds": LongOption(
        "every_seconds", "T", _positive, "with --add -: write the model every T seconds if rows arrived (default 10)"
    ),
    "--grid": LongOption(
        "grid", "C=V,..", _values_of_C, "print a table of trainings at each C (C=0.1,1,10 or C=LOW:HIGH:N)"
    ),
    "--guarantee": LongOption(
        "guarantee", "E", _positive, "with -C: search until no C can have a validation error E percentage points lower"
    ),
    "--score": LongOption(
        "score", "NAME", _score, f"with -C or --grid: choose by {', '.join(SCORE_NAMES[:-1])} or {SCORE_NAMES[-1]}"
    ),
    "--metrics": LongOption("metrics", "", None, "with -v: also print F1, AUC, log loss (-b 1) or R2 and others"),
    "--balanced": LongOption(
        "balanced",
        "",
        None,
        "multiply C for each class by rows / (classes * rows of the class); --weights count as repeated rows",
    ),
    "--multilabel": LongOption(
        "multilabel", "", None, "rows have several labels each (1,5,7 3:0.5 ..) or none: one problem for each label"
    ),
    "--thresholds": LongOption(
        "thresholds",
        "cv",
        _thresholds,
        "with --multilabel: choose by folds above which decision value a row has a label",
    ),
    "--prune": LongOption(
        "prune", "EPS", _positive, "leave out weights; no training row's decision value moves by more than EPS"
    ),
    "--keep-dual": LongOption(
        "keep_dual_in", "FILE", _file, "write the certificate's dual point, from which scripts/recheck.py recomputes it"
    ),
    "--groups": LongOption("grouped", "", None, "with -v, -C or --grid: rows with the same qid are in the same fold"),
    "--stratified": LongOption("stratified", "", None, "with -v or -C: folds with equal shares of each class"),
    "--paper-form": LongOption("method", "", None, "another spelling of --method paper", "", "paper"),
    "--pairs": LongOption("pairs", "P", _whole(1), "ALFPGM: pairs of variables in a working set (default 50)"),
    "--delta-alpha": LongOption(
        "delta_alpha", "D", _positive, "ALFPGM: a variable that changes by less leaves the search (default 1e-6)"
    ),
    "--min-alpha-opt": LongOption(
        "min_alpha_opt", "N", _visits, "ALFPGM: visits before a variable at 0 or C leaves (default 5; inf: it stays)"
    ),
    "--max-alpha-opt": LongOption(
        "max_alpha_opt", "N", _visits, "ALFPGM: visits before any variable leaves it (default 20; inf: it stays)"
    ),
    "--min-alpha-check": LongOption(
        "min_alpha_check", "N", _whole(1), "ALFPGM: candidates for the second variable of a pair (default: all)"
    ),
    "--sgd-rows": LongOption("sgd_rows", "T", _whole(1), "rows of the largest gradients that a step uses (default 1)"),
    "--theta": LongOption(
        "theta", "T", _theta, "stop when no row is below the plane by more than this share of rho (default 0.1)"
    ),
    "--boundary": LongOption(
        "boundary", "B", _boundary, "the model's boundary: theta (default): that of the stopping rule; rho: the paper's"
    ),
    "--sample": LongOption("sample", "M", _whole(1), "rows drawn in each round (default 59, with --method fast 3000)"),
    "--threads": LongOption("threads", "N", _whole(1), "use N threads (default: all cores of this process)", "m"),
    "--strict": LongOption(
        "strict", "", None, "exit with 2 if not converged, a rule left a gap above 1e-2, -b 1, --loo .. fail"
    ),
    "--plain-model": LongOption("plain_model", "", None, "write no lines after the weights, as LIBLINEAR and LIBSVM"),
    "--solver-log": LongOption("solver_log", "FILE", _file, "write one JSON line per iteration, with the method used"),
    "--plot": LongOption(
        "plot", "FILE", _file, "draw gap and objective against time, of -C and --grid the scores (needs matplotlib)"
    ),
    "--explain": LongOption("", "", None, "print the problem, stopping rule, options and paper of -s, and exit"),
    "--version": LongOption("", "", None, "print the version and exit"),
    "--help": LongOption("", "", None, "print the most used options and exit"),
    "--help-all": LongOption("", "", None, "print all options and solvers and exit"),
}
