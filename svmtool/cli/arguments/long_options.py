"""svmtool's own long options for linear and kernel solvers: names, values and help."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from svmtool.errors import SvmtoolError, clipped
from svmtool.integers import parse_integer
from svmtool.registry.row import gap_of_theta


class LongOption(NamedTuple):
    """An option of our own: where its value goes and how it is read (None: a flag)."""

    setting: str
    metavar: str
    read: Callable[[str, str], object] | None
    help: str
    letter: str = ""  # a short name that other editions of LIBLINEAR gave it


def _whole(least: int) -> Callable[[str, str], int]:
    def read(name: str, text: str) -> int:
        try:
            value = parse_integer(text.strip())
        except ValueError:
            value = least - 1
        if value < least or value >= 2**63:
            raise SvmtoolError(f"ERROR: {name} {clipped(text)}: wants an integer >= {least}")
        return value

    return read


def _number(text: str) -> float:
    """nan for what is none, which lies in no range."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _positive(name: str, text: str) -> float:
    value = _number(text)
    if not 0 < value < float("inf"):
        raise SvmtoolError(f"ERROR: {name} {text}: wants a number > 0")
    return value


def _bytes(name: str, text: str) -> float:
    """A number of bytes: K, M and G are thousands, millions and thousands of millions."""
    unit = {"K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:].upper(), 0.0)
    value = _number(text[:-1] if unit else text) * (unit or 1.0)
    if not 0 < value < float("inf"):
        raise SvmtoolError(f"ERROR: {name} {text}: wants a size such as 500M or 2G")
    return value


def _theta(name: str, text: str) -> float:
    """The gap that a theta stands for."""
    value = _number(text)
    if not 0 < value < 1 or not gap_of_theta(value) > 0:
        raise SvmtoolError(f"ERROR: {name} {text}: wants a number between 0 and 1")
    return gap_of_theta(value)


def _power(name: str, text: str) -> float:
    value = _number(text)
    if not 1 <= value <= 2:
        raise SvmtoolError(f"ERROR: {name} {text}: wants a number from 1 to 2")
    return value


def _mu(name: str, text: str) -> str | float:
    """A way in which ALM's mu moves, or NESVM's mu itself; which of the two the solver decides."""
    if text in ("merit", "geometric", "balance"):
        return text
    try:
        return _positive(name, text)
    except SvmtoolError:
        raise SvmtoolError(f"ERROR: {name} {text}: wants merit, geometric or balance, or a number > 0") from None


def _file(name: str, text: str) -> str:
    if not text:
        raise SvmtoolError(f"ERROR: {name}: wants a file name")
    return text


def _master(name: str, text: str) -> str:
    if not text:
        raise SvmtoolError(f"ERROR: {name}: wants a master's URL")
    return text


def _zero_or_one(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise SvmtoolError(f"ERROR: {name} {text}: wants 0 or 1")
    return text == "1"


LONG_OPTIONS: dict[str, LongOption] = {
    "--weights": LongOption("weights", "FILE", _file, "cost factors, one number for each row of the data", "W"),
    "--initial-model": LongOption("initial_model", "FILE", _file, "start from this model", "i"),
    "--probability": LongOption(
        "probability", "0|1", _zero_or_one, "1: store the sigmoids that svm-predict -b 1 needs (default 0)", "b"
    ),
    "--gap": LongOption("gap", "G", _positive, "stop at this certified relative duality gap instead of by -e"),
    "--max-seconds": LongOption("max_seconds", "T", _positive, "stop after T seconds with the best model so far"),
    "--max-iter": LongOption("max_iter", "N", _whole(1), "stop after N iterations with the best model so far"),
    "--seed": LongOption("seed", "N", _whole(0), "seed of random orders and folds (default: LIBLINEAR's folds)"),
    "--memory": LongOption("memory", "SIZE", _bytes, "use at most this much memory (2G, 500M); rows stay on disk"),
    "--scratch": LongOption("scratch", "DIR", _file, "--memory: folder for the rows (default: that of the data)"),
    "--no-cache": LongOption("no_cache", "", None, "--memory: delete the rows on disk at the end of the run"),
    "--spark": LongOption(
        "spark", "URL", _master, "train on a Spark cluster (local[2], spark://HOST:PORT ..), which reads the data file"
    ),
    "--loss-power": LongOption("loss_power", "P", _power, "power of the hinge, from 1 to 2 (default 2)"),
    "--mu": LongOption("mu", "MU", _mu, "ALM: merit (Eq. 29), geometric or balance; NESVM: its (first) smoothing, > 0"),
    "--no-homotopy": LongOption(
        "no_homotopy", "", None, "NESVM's Algorithm 1: one smoothing parameter, --mu (default 5)"
    ),
    "--inner-steps": LongOption(
        "inner_steps", "N", _whole(1), "CG steps per iteration; 1 is the paper's gradient step"
    ),
    "--passes": LongOption("passes", "N", _whole(1), "FALSVM: passes over the rows (default 1)"),
    "--loo": LongOption("loo", "", None, "print the exact leave-one-out accuracy of the training rows"),
    "--add": LongOption("add", "FILE", _file, "add these rows to the model of -i; -: rows from standard input"),
    "--remove": LongOption("remove", "FILE", _file, "remove these rows from the model of -i"),
    "--every-rows": LongOption("every_rows", "N", _whole(1), "--add -: write the model every N rows"),
    "--every-seconds": LongOption(
        "every_seconds", "T", _positive, "--add -: write the model every T seconds if rows came (default 10)"
    ),
    "--stratified": LongOption("stratified", "", None, "with -v or -C: folds with equal shares of each class"),
    "--paper-form": LongOption("paper_form", "", None, "use the paper's own working sets and subproblems"),
    "--pairs": LongOption(
        "pairs", "P", _whole(1), "pairs of variables in a working set (default 1024; the paper's 50)"
    ),
    "--delta-alpha": LongOption(
        "delta_alpha", "D", _positive, "--paper-form: smaller changes count as zero (default 1e-6)"
    ),
    "--min-alpha-opt": LongOption(
        "min_alpha_opt", "N", _whole(1), "--paper-form: visits at a bound before a variable is set aside (default 5)"
    ),
    "--max-alpha-opt": LongOption(
        "max_alpha_opt", "N", _whole(1), "--paper-form: visits before any variable is set aside (default 20)"
    ),
    "--min-alpha-check": LongOption(
        "min_alpha_check", "N", _whole(1), "--paper-form: candidates examined for the second variable (default: all)"
    ),
    "--sgd-rows": LongOption(
        "sgd_rows", "T", _whole(1), "the paper's plain steps on the T largest gradients (default: blocks)"
    ),
    "--theta": LongOption(
        "gap",
        "T",
        _theta,
        "stop when no row is below the plane by more than this fraction of rho (default 0.1)",
    ),
    "--sample": LongOption("sample", "M", _whole(1), "rows examined in a round (default 3000)"),
    "--threads": LongOption("threads", "N", _whole(1), "use N threads (default: all cores of this process)"),
    "--strict": LongOption("strict", "", None, "status 2 when not converged, -e left a gap above 1e-2, or -b 1 failed"),
    "--solver-log": LongOption("solver_log", "FILE", _file, "write one JSON line per iteration, with the method used"),
    "--plot": LongOption("plot", "FILE", _file, "draw gap and objective against time (needs matplotlib)"),
    "--explain": LongOption("", "", None, "print the problem, the stopping rule and the paper behind -s, and exit"),
    "--version": LongOption("", "", None, "print the version and exit"),
    "--help": LongOption("", "", None, "print this help and exit"),
}
