"""One row of the registry, and texts that several rows share."""

from __future__ import annotations

from typing import NamedTuple

METHODS = ("paper", "fast")  # values of --method: the paper's algorithm as printed, or the engine


class About(NamedTuple):
    """What one number of -s runs with --method paper.

    algorithm  the paper's algorithm, by its number and equations
    differs    what differs from print and why: each slip corrected, each constant that print does not give
    iteration  the cost of an iteration
    fast       what --method fast does instead
    """

    algorithm: str
    differs: tuple[str, ...]
    iteration: str
    fast: str


class Solver(NamedTuple):
    """One solver: what `-s number` (or `-s name`) solves, when it stops and which options it supports.

    The contract of its module.  `problem` is a Task (objectives/task.py), with kernels a KernelProblem or a
    LeastSquaresSvc (kernels/problems.py); each carries the options of its solver.

    METHODS: dict[str, str]
        A line of text for each method that a run can begin with.
    ABOUT: dict[int, About]
        Of modules in papers/ only: for each number what --explain and docs/solvers.md say about it.
    plan(problem, rule, start=None) -> Plan
        Chooses one of them from the problem alone; no side effects.
    solve(problem, monitor, rule, start, seed, method) -> SolverResult
        Solves by one of METHODS, from weights `start` (with kernels: from a feasible alpha; None: from zero).
        registry.entry(row) calls it with the plan's method.
    """

    number: int
    name: str  # -s takes it in place of the number
    word: str  # solver_type in the model file: the decision rule that LIBLINEAR's predict knows
    module: str  # the solver's module, imported when a run needs it
    help: str  # one line for --help
    objective: str  # the problem, in ASCII mathematics
    loss: str
    bias: str  # how the bias is treated
    stopping: str  # the rule in words, with the default
    supported: frozenset[str]  # options beyond those of every row (COMMON_OPTIONS) and of its kind (KIND_OPTIONS)
    paper: str
    space: str = "primal"  # or: dual; the variables of LIBLINEAR's stopping rule for this number
    plan: str = "plan"  # the function that chooses the method
    kind: str = "classification"  # of labels; or: all classes | regression | ordinal | one-class | hard one-class
    regulariser: str = "1/2 |w|^2"
    kernel: bool = False
    free_bias: bool = False  # whether there is an unregularised bias when -B is not given
    bias_default: float = -1.0  # value of -B when it is not given and the bias is not free
    eps_default: float | None = None  # value of -e when it is not given; None: the certified gap decides
    gap_default: float | None = None  # value of --gap when neither -e nor --gap is given
    optimal: bool = True  # whether it converges to the optimum; otherwise neither -e nor --gap has a default
    costs: bool = True  # whether the problem has C: others accept -c without effect, as LIBLINEAR and LIBSVM do
    sums_below: int = -1  # features up to which normal equations are formed; -1: never
    printed: bool = False  # whether it runs its paper's algorithm as printed (--method paper)

    @property
    def method(self) -> str:
        """The value of --method that chooses this row."""
        return "paper" if self.printed else "fast"

    @property
    def default(self) -> str:
        """The stopping option and value that apply when none is given; empty if there is none."""
        if self.eps_default is None and self.gap_default is None:
            return ""
        return f"-e {self.eps_default:g}" if self.gap_default is None else self.gap_option(self.gap_default)

    def gap_option(self, gap: float) -> str:
        """The option that sets this gap."""
        return f"--theta {theta_of_gap(gap):g}" if self.gap_is_theta else f"--gap {gap:g}"

    @property
    def gap_is_theta(self) -> bool:
        """Whether --theta is another spelling of --gap; of a paper's algorithm it is one of -e."""
        return "--theta" in self.supported and not self.printed


def are_heuristics(text: str) -> bool:
    """Whether it names heuristics of L2-SVM-MFN, or none."""
    names = text.split(",")
    return text == "none" or (set(names) <= set(HEURISTICS) and len(set(names)) == len(names))


def gap_of_theta(theta: float) -> float:
    """Return the relative gap of a one-class hyperplane that all rows violate by at most theta, 0 < theta < 1."""
    return (1.0 - theta) ** -2 - 1.0


def theta_of_gap(gap: float) -> float:
    """Return the theta that corresponds to a gap: the inverse of `gap_of_theta`."""
    return 1.0 - (1.0 + gap) ** -0.5


MFN_PAPER = "Keerthi and DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs, "
MFN_PAPER += "JMLR 6 (2005) 341-361: "
MFN = MFN_PAPER + "finite Newton steps with an exact line search (Section 4; of many features at most 1 "
MFN += "where LIBLINEAR's rule for the gradient ends the run), dual solution of Section 4.7"
SQUARED_HINGE_OBJECTIVE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)^2"
HINGE_OBJECTIVE = "min over w of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i w.x_i)"
CLASSIFIERS = ("classification", "all classes")  # kinds of solvers whose labels are classes
BIAS_OPTION = "-B b (b >= 0) appends a feature of value b to every row; its weight is regularised"
ALM = "Nie, Huang, Wang and Huang, New Primal SVM Solver with Linear Computational Cost for Big Data Classifications, "
ALM += "ICML 2014: "
MULTIPLIER_ROUNDS = ALM + "the augmented Lagrangian (Eq. 7) and its multipliers (Eq. 9), minimised by Newton steps"
FAST_ALM = "multiplier steps (Eq. 9 of the paper of -s 30), each after Newton steps in e, w and b together, as -s 3; "
FAST_ALM += "where the data suit them coordinate descent first, or interior-point steps at the end; to a certified gap"
PAIRS = frozenset({"--one-vs-one"})
ADAPTABLE_FEATURES = 5000  # most features of an adaptable model, which keeps matrices of features x features
SPARK = frozenset({"--spark"})  # of solvers that need only sums over the rows
ON_DISK = frozenset({"--memory", "--scratch", "--no-cache"})  # of solvers that make no copy of the rows
HEURISTICS = ("h1", "h2", "h3")  # of --heuristics
BOUNDARIES = ("theta", "rho")  # values of --boundary
# Names of --score; training/validation/scores.py computes them
SCORE_NAMES = (
    "accuracy", "balanced-accuracy", "f1", "auc", "average-precision", "log-loss", "mse", "mae", "r2",
)  # fmt: skip
RUN_OPTIONS = frozenset(
    {
        "-e", "-B", "--weights", "--initial-model", "--gap", "--max-seconds", "--max-iter", "--seed",
        "--stratified", "--groups", "--solver-log", "--plot", "--grid", "--score",
        "--values",
    }
)  # fmt: skip
