"""Draws the commands of a trial: a registry row, others for the same problem, and options that all of them support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stress import objective
from stress.families import Generator
from stress.rows import Rows
from svmtool import registry
from svmtool.params import POLYNOMIAL, SIGMOID
from svmtool.registry import Solver

MATES = 2  # further rows of the registry for the same problem
MAX_KERNEL_ROWS = 400
MAX_KERNEL_CLASSES = 15  # in most cases, because there is a problem for each pair
COSTS = [f"{10.0**k:g}" for k in range(-6, 9)]
BIASES = ("0", "1", "1", "1", "10", "0.001")
FACTORS = ("0", "1e-6", "0.1", "5", "100", "1e4")
EPS = ("0.5", "0.1", "0.01", "0.001", "1e-5", "1e-8")
GAPS = ("0.1", "0.01", "0.001", "1e-4", "1e-6", "1e-8")
NUMBERS = (  # option, field of Problem, values, share of the cases
    ("-c", "C", COSTS, 1.0),
    ("-p", "p", ("0", "0.1", "1", "100"), 0.6),
    ("-n", "nu", ("0.01", "0.1", "0.5", "0.9"), 0.6),
    ("--loss-power", "power", ("1", "1.3", "1.5", "1.7", "2"), 0.8),
)  # fmt: skip
WEIGHTS, START, DATA, MODEL = "weights", "start", "data", "model"  # names of files


class Run(NamedTuple):
    """One command: its row, arguments without data and model, and its problem; gap and seconds: its limits."""

    row: Solver
    argv: tuple[str, ...]
    problem: objective.Problem
    gap: float | None = None
    seconds: float | None = None

    @property
    def name(self) -> str:
        kernel = f" -t {self.problem.kernel}" if self.row.kernel else ""
        return f"-s {self.row.number}{' --method paper' if self.row.printed else ''}{kernel}"

    def value_of(self, option: str) -> str | None:
        """The value of an option, None if it is not given."""
        return self.argv[self.argv.index(option) + 1] if option in self.argv else None

    @property
    def key(self) -> tuple:
        """A key that is equal for runs with the same objective."""
        return (self.row.kernel, self.problem)

    @property
    def convex(self) -> bool:
        """Whether the problem is convex; with some kernels there are only stationary points."""
        if not self.row.kernel:
            return True
        negative = float(self.value_of("-r") or 0.0) < 0
        return self.problem.kernel != SIGMOID and not (self.problem.kernel == POLYNOMIAL and negative)


class Case(NamedTuple):
    """The runs of one trial on rows; start: arguments of the command that trains the model of `-i`, empty without it;
    weights: of --weights, one for each row."""

    rows: Rows
    runs: tuple[Run, ...]
    start: tuple[str, ...]
    weights: tuple[float, ...] | None


def rows_of_registry() -> list[Solver]:
    return [*registry.SOLVERS, *registry.KERNEL_SOLVERS]


def mates_of(row: Solver) -> list[Solver]:
    """Other rows of the registry for the same problem."""
    table = registry.KERNEL_SOLVERS if row.kernel else registry.SOLVERS
    same = [other for other in table if other.number != row.number and registry.same_problem(row, other)]
    return [other for other in same if not row.kernel or other.word == row.word]


def with_method(rng: Generator, row: Solver) -> Solver:
    """The row, or that of its paper's algorithm as printed, where there is one: one of the two, drawn."""
    printed = registry.find_kernel(row.number, "paper") if row.kernel else registry.find(row.number, "paper")
    return printed if printed is not row and rng.random() < 0.5 else row


def method_of(row: Solver) -> tuple[str, ...]:
    """The arguments that choose the row's method."""
    return ("--method", row.method) if "--method" in row.supported else ()


def name_of(row: Solver) -> str:
    """The name of a row for --solver: its number, followed by k for kernels."""
    return f"{row.number}{'k' if row.kernel else ''}"


def draw(rng: Generator, rows: Rows, targets: np.ndarray, solvers: list[Solver], timed: bool) -> Case:
    """Draw a case on these rows; solvers: rows of the registry to choose from; timed: whether times are checked."""
    row = solvers[rng.integers(len(solvers))]
    mates = mates_of(row)
    chosen = [row, *(mates[k] for k in rng.permutation(len(mates))[:MATES])]
    chosen = [with_method(rng, row) for row in chosen]
    if row.kind == "regression":
        rows = rows.labelled(targets)
    if row.kernel and rows.n > MAX_KERNEL_ROWS:
        rows = rows.take(np.sort(rng.choice(rows.n, MAX_KERNEL_ROWS, replace=False)))
    if row.kernel:
        names = np.unique(rows.labels)
        if row.kind == "classification" and len(names) > MAX_KERNEL_CLASSES and rng.random() < 0.8:
            rows = rows.take(np.flatnonzero(np.isin(rows.labels, names[:MAX_KERNEL_CLASSES])))
        return Case(rows, _kernel_runs(rng, rows, chosen, timed), (), None)
    return _linear(rng, rows, chosen, timed)


def _common(chosen: list[Solver], option: str) -> bool:
    return all(option in registry.supported_options(row) for row in chosen)


def _problem_options(rng: Generator, rows: Rows, chosen: list[Solver]) -> tuple[list[str], dict]:
    """Options that change the problem and that all support, and the corresponding fields of Problem."""
    argv: list[str] = []
    fields: dict = {}
    for option, field, drawn, share in NUMBERS:
        if _common(chosen, option) and rng.random() < share:
            text = drawn[rng.integers(len(drawn))]
            argv += [option, text]
            fields[field] = float(text)
    label, factor = float(rng.choice(np.unique(rows.labels))), FACTORS[rng.integers(len(FACTORS))]
    weighted = _common(chosen, "-w") and chosen[0].kind != "regression" and abs(label) < 2**31
    if weighted and rng.random() < 0.25:
        argv += [f"-w{label:.0f}", factor]
        if chosen[0].kind != "one-class" and chosen[0].word != "nu_svc":
            fields["factors"] = ((int(label), float(factor)),)
    if chosen[0].word == "nu_svc" and "nu" in fields and rng.random() < 0.5:  # nu at its limit
        counts = np.unique(rows.labels, return_counts=True)[1]
        if len(counts) == 2:
            fields["nu"] = 2.0 * int(counts.min()) / rows.n
            argv[argv.index("-n") + 1] = repr(fields["nu"])
    return argv, fields


def _stopping(rng: Generator, row: Solver, timed: bool) -> tuple[list[str], float | None, float | None]:
    """Options for when a run ends, and the gap and the seconds in them."""
    argv: list[str] = []
    gap = seconds = None
    kind = rng.random()
    if kind < 0.3 and "-e" in registry.supported_options(row):
        argv = ["-e", EPS[rng.integers(len(EPS))]]
    elif kind < 0.6 and "--gap" in registry.supported_options(row):
        text = GAPS[rng.integers(len(GAPS))]
        argv, gap = ["--gap", text], float(text)
    if timed and "--max-seconds" in registry.supported_options(row) and rng.random() < 0.1:
        text = ("0.01", "0.2", "1")[rng.integers(3)]
        argv, seconds = [*argv, "--max-seconds", text], float(text)
    elif "--max-iter" in registry.supported_options(row) and rng.random() < 0.05:
        argv += ["--max-iter", str(int(rng.integers(1, 20)))]
    if "--seed" in registry.supported_options(row) and rng.random() < 0.1:
        argv += ["--seed", str(int(rng.integers(1, 100)))]
    if row.printed and seconds is None:  # print sets no limit of iterations, or one that takes long
        argv += ["--max-seconds", "20"]
    return argv, gap, seconds


def _runs(rng: Generator, chosen: list[Solver], argv: list[str], fields: dict, timed: bool) -> tuple[Run, ...]:
    runs = []
    for row in chosen:
        own, gap, seconds = _stopping(rng, row, timed)
        quiet = ["-q"] if rng.random() < 0.1 else []
        full = ("-s", str(row.number), *method_of(row), *argv, *own, *quiet)
        runs.append(Run(row, full, objective.problem_of(row, **fields), gap, seconds))
    return tuple(runs)


def _linear(rng: Generator, rows: Rows, chosen: list[Solver], timed: bool) -> Case:
    argv, fields = _problem_options(rng, rows, chosen)
    first = chosen[0]
    fields |= {"bias": 1.0, "free": True} if first.free_bias else {"bias": first.bias_default}
    if all("-B" in row.supported for row in chosen) and rng.random() < 0.4:
        text = BIASES[rng.integers(len(BIASES))]
        argv += ["-B", text]
        fields |= {"bias": float(text), "free": False}
        if text == "1" and _common(chosen, "-R") and rng.random() < 0.5:
            argv, fields["free"] = [*argv, "-R"], True
    weights = None
    if _common(chosen, "--weights") and rng.random() < 0.15:
        drawn = 10.0 ** rng.uniform(-3, 3, rows.n) * (rng.random(rows.n) < 0.9)
        weights = tuple(float(f"{x:.6g}") for x in drawn)
        argv += ["--weights", WEIGHTS]
        fields["weights"] = weights
    start: tuple[str, ...] = ()
    if _common(chosen, "--initial-model") and rng.random() < 0.2:
        of_first = ("-s", str(first.number), *method_of(first))
        start = (*of_first, *argv)
        if "-c" in argv:  # a model of another cost
            at, cost = argv.index("-c") + 1, COSTS[rng.integers(len(COSTS))]
            start = (*of_first, *argv[:at], cost, *argv[at + 1 :])
        argv += ["-i", START]
    return Case(rows, _runs(rng, chosen, argv, fields, timed), start, weights)


def _kernel_runs(rng: Generator, rows: Rows, chosen: list[Solver], timed: bool) -> tuple[Run, ...]:
    argv, fields = _problem_options(rng, rows, chosen)
    kernel = int(rng.choice([0, 0, 1, 2, 2, 2, 3]))
    argv += ["-t", str(kernel)]
    if kernel in (1, 2, 3) and rng.random() < 0.5:
        argv += ["-g", f"{10.0 ** rng.integers(-4, 3):g}"]
    if kernel in (1, 3) and rng.random() < 0.5:
        argv += ["-r", ("0", "1", "-1", "10")[rng.integers(4)]]
    if kernel == 1 and rng.random() < 0.5:
        argv += ["-d", str(int(rng.integers(0, 6)))]
    return _runs(rng, chosen, argv, {**fields, "kernel": kernel}, timed)
