"""Parameters of a training, LIBLINEAR's and LIBSVM's checks of them, and the Request of a command line.

The checks keep LIBLINEAR's messages and their order.  They run after the data has been read, because LIBLINEAR reports
a malformed file before a bad -c.
"""

from typing import Any, NamedTuple

from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.registry.row import gap_of_theta

KERNEL_NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number of -t
LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED = range(5)
NEEDS_GAMMA = (POLYNOMIAL, RBF, SIGMOID)
MAX_FAST_POWER = 2.0  # of --loss-power with --method fast
HARD_ROWS = (0, 3)  # numbers of kernel rows that take C = inf


class KernelChoice(NamedTuple):
    """A kernel by LIBSVM's parameters: the number of -t, degree, gamma (0: one over the features) and coef0."""

    kernel_type: int = 2  # RBF
    degree: int = 3
    gamma: float = 0.0
    coef0: float = 0.0


class Problem(NamedTuple):
    """The optimisation problem; with a kernel `solver` is a number of registry.KERNEL_SOLVERS."""

    solver: int = 1
    C: float = 1.0
    p: float = 0.1  # half the width of the tube of a regression
    nu: float = 0.5
    bias: float = -1.0  # value of the appended feature, < 0: none
    regularize_bias: bool = True
    class_weights: tuple[tuple[int, float], ...] = ()  # (label, factor) in the order given; factors of a label multiply
    loss_power: float = 2.0  # the p of the Lp hinge, >= 1; of the engine at most MAX_FAST_POWER
    kernel: KernelChoice | None = None  # None: a linear model
    method: str = "fast"  # --method: one of registry.row.METHODS; of numbers that are no paper's there is one

    @property
    def row(self) -> registry.Solver:
        """The registry's row of the solver; raises SvmtoolError if there is none."""
        if self.kernel is None:
            return registry.find(self.solver, self.method)
        row = registry.find_kernel(self.solver, self.method)
        if row is None:
            known = registry.in_words(registry.KERNEL_SOLVERS)
            raise SvmtoolError(f"ERROR: unknown svm type: {self.solver}: with a kernel use -s {known}")
        return row


class Stopping(NamedTuple):
    """When a run ends; None means that the solver's own rule decides, or that there is no limit."""

    eps: float | None = None  # -e
    gap: float | None = None  # certified relative gap, in place of eps
    max_iter: int | None = None
    max_seconds: float | None = None


class Options(NamedTuple):
    """Options of single solvers, by the names of their command line options; None or the default: the solver decides.

    mu           --mu: a number, or the name of a rule of ALM
    objective_change
                 --objective-change: of ALM, below which change of the objective a run ends
    homotopy     False with --no-homotopy
    mu_end       --mu-end: of NESVM's homotopy, the mu at or below which a stage is the last
    one_vs_one   --one-vs-one: of a linear model, a problem for each pair of classes
    passes       --passes: passes of FALSVM over the rows
    sample       --sample: rows that a round of FOSVM2 draws
    heuristics   --heuristics: those of L2-SVM-MFN, joined by commas, or none
    loss         --loss: the loss of ordinal regression
    boundary     --boundary: theta, or rho for the plane as the paper prints it
    sgd_rows     --sgd-rows: rows of the largest gradients that a step of -s 73 uses
    pairs        --pairs: of ALFPGM, half the size of a working set
    delta_alpha, min_alpha_opt, max_alpha_opt
                 --delta-alpha and others: of ALFPGM, when MinMaxLimiter takes a variable out; inf: never
    min_alpha_check
                 --min-alpha-check: of ALFPGM, candidates for the second variable of a pair; None: all
    """

    mu: str | float | None = None
    objective_change: float = 1e-4
    homotopy: bool = True
    mu_end: float | None = None
    one_vs_one: bool = False
    passes: int = 1
    sample: int | None = None
    heuristics: str = "h1,h2"
    loss: str = "squared-hinge"
    boundary: str = "theta"
    sgd_rows: int | None = None
    pairs: int | None = None
    delta_alpha: float = 1e-6
    min_alpha_opt: float = 5
    max_alpha_opt: float = 20
    min_alpha_check: int | None = None


NO_OPTIONS = Options()


class Run(NamedTuple):
    """How a training is computed, and its results besides the model."""

    seed: int | None = None
    threads: int | None = None  # None: as set for the process
    probability: int = 0  # 1: fit what svm-predict -b 1 needs
    loo: bool = False  # leave-one-out accuracy
    stratified: bool = False  # folds with equal shares of each class
    grouped: bool = False  # folds that do not divide the rows of a group
    multilabel: bool = False  # rows have several labels each
    thresholds: str | None = None  # cv: decision values above which a row has a label, by folds
    keep_dual: bool = False  # the certificate's dual point is a result too
    prune: float | None = None  # most that a training row's decision value may move by weights that are left out
    cache_mb: float = 100.0  # kernel rows that are kept, in MB
    shrinking: int = 1
    options: Options = NO_OPTIONS


class Settings(NamedTuple):
    """All parameters of a training.  Immutable: `settings.replace(C=2.0)` returns a changed copy.

    >>> Settings.of(solver=3, C=0.5, gap=1e-6).problem.C
    0.5
    """

    problem: Problem = Problem()
    stopping: Stopping = Stopping()
    run: Run = Run()

    @classmethod
    def of(cls, **keywords: Any) -> "Settings":
        """Return settings of a linear model from keywords of any part; TypeError names one that no part has."""
        return cls().replace(**keywords)

    @classmethod
    def of_kernel(cls, **keywords: Any) -> "Settings":
        """Return settings of a model with a kernel: `of` with LIBSVM's defaults, C-SVC and the RBF kernel."""
        return cls(Problem(solver=0, kernel=KernelChoice())).replace(**keywords)

    def with_theta(self, theta: float) -> "Settings":
        """Return the settings with FOSVM's theta, which is a paper's -e and stands for a gap otherwise."""
        return self.replace(eps=theta) if self.row.printed else self.replace(gap=gap_of_theta(theta))

    def replace(self, **keywords: Any) -> "Settings":
        """Return a copy with some fields of its parts changed; TypeError names a keyword that no part has."""
        problem = self.problem
        changes: dict[str, dict[str, Any]] = {}
        for name, value in keywords.items():
            part = PART_OF.get(name)
            if part is None or (part == "kernel" and problem.kernel is None):
                raise TypeError(f"{name!r} is not a parameter of a {'kernel' if problem.kernel else 'linear'} model")
            changes.setdefault(part, {})[name] = value
        if problem.kernel is not None and "kernel" in changes:
            changes.setdefault("problem", {})["kernel"] = problem.kernel._replace(**changes.pop("kernel"))
        if "options" in changes:
            changes.setdefault("run", {})["options"] = self.run.options._replace(**changes.pop("options"))
        return self._replace(**{part: getattr(self, part)._replace(**fields) for part, fields in changes.items()})

    @property
    def row(self) -> registry.Solver:
        """See Problem.row; with the loss of --loss."""
        row, loss = self.problem.row, self.run.options.loss
        return row if loss == NO_OPTIONS.loss or "--loss" not in row.supported else registry.with_loss(row, loss)

    @property
    def target(self) -> float | None:
        """The certified gap to stop at; None if eps decides instead."""
        gap, eps = self.stopping.gap, self.stopping.eps
        if gap is not None or eps is not None:
            return gap
        row = self.row
        return None if row.printed else row.gap_default

    def with_default_bias(self) -> "Settings":
        """Return the settings of a linear model with the bias of the solver's paper, free or regularised."""
        row = next((r for r in registry.SOLVERS if r.number == self.problem.solver), None)
        if row is None:
            return self
        return self.replace(bias=1.0, regularize_bias=False) if row.free_bias else self.replace(bias=row.bias_default)


# The part that holds each field.
PART_OF = {
    name: part
    for part, kind in (
        ("problem", Problem), ("kernel", KernelChoice), ("stopping", Stopping), ("run", Run), ("options", Options),
    )
    for name in kind._fields
    if name not in ("kernel", "options")
}  # fmt: skip


class Request(NamedTuple):
    """Files, validation, messages and memory of one run of svm-train; None means "not given".  Times are in seconds."""

    given: tuple[str, ...] = ()  # names of the options on the command line, in their order
    auto: bool = False  # -s auto: the solver is chosen once the data are read
    folds: int | None = None  # -v
    find_C: bool = False  # -C
    grid: tuple[float, ...] | None = None  # values of C, ascending
    guarantee: float | None = None  # percentage points by which no C beats the best of -C
    metrics: bool = False  # measures in addition to LIBLINEAR's line of -v
    score: str | None = None  # measure by which -C and --grid choose, None: accuracy or mean squared error
    balanced: bool = False  # class weights n / (classes * rows of the class)
    weights: str | None = None  # file with one cost factor for each row
    initial_model: str | None = None
    certify_labels: str | None = None  # rows whose labels are to be certain
    certified_share: float = 1.0  # of these
    add: str | None = None  # rows to add to an adaptable model
    remove: str | None = None  # rows to remove from it
    every_rows: int | None = None  # rows of a stream between two written models
    every_seconds: float | None = None
    single: bool = False  # values are read as float32
    memory: float | None = None  # bytes that the process may use; None: rows are kept in memory
    scratch: str = ""  # folder of rows on disk; empty: beside the data
    no_cache: bool = False  # remove rows on disk at the end of the run
    spark: str | None = None  # the master's URL
    keep_dual_in: str | None = None  # file for the dual point of the certificate
    solver_log: str | None = None
    plot: str | None = None
    plain_model: bool = False  # no lines after the weights
    quiet: bool = False
    strict: bool = False


_FREE_BIAS_WORDS = "L2R_LR, L2R_L2LOSS_SVC, L1R_L2LOSS_SVC, L1R_LR, and L2R_L2LOSS_SVR"
_FREE_BIAS_NUMBERS = (0, 2, 5, 6, 11)  # LIBLINEAR's; for ours the registry's `supported` decides


def check_after_reading(settings: Settings) -> None:
    """LIBLINEAR's check_parameter: raise SvmtoolError for the first fault, in its order.

    Values that LIBLINEAR accepts but no problem can use (nan, infinity, negative costs) are refused afterwards.
    """
    s, number, eps = settings.problem, settings.problem.solver, settings.stopping.eps
    if eps is not None and eps <= 0:
        raise SvmtoolError("ERROR: eps <= 0")
    if s.C <= 0:
        raise SvmtoolError("ERROR: C <= 0")
    if s.p < 0 and number in (11, 12, 13):  # with 12 and 13 LIBLINEAR continues, to meaningless weights
        raise SvmtoolError("ERROR: p < 0")
    if s.bias >= 0 and number == 21:
        raise SvmtoolError("ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM")
    if not s.regularize_bias:
        if s.bias != 1:
            raise SvmtoolError("ERROR: To not regularize bias, must specify -B 1 along with -R")
        if number not in _FREE_BIAS_NUMBERS and number not in [row.number for row in registry.supporting("-R")]:
            raise SvmtoolError(f"ERROR: -R option supported only for solver {_FREE_BIAS_WORDS}")
    row = registry.find(number, s.method)
    if s.loss_power > MAX_FAST_POWER and "--loss-power" in row.supported and not row.printed:
        able = registry.in_words(registry.supporting("--loss-power"))
        raise SvmtoolError(f"ERROR: --loss-power {s.loss_power:g}: above 2 it needs --method paper and -s {able}")
    _check_finite(settings, ("-B", s.bias))
    _check_theta(row, eps)
    if number == 21 and not 0 <= s.nu <= 1:
        raise SvmtoolError(f"ERROR: -n is {s.nu:g}: the share of rows left out lies between 0 and 1")


def _check_finite(settings: Settings, *more: tuple[str, float]) -> None:
    """Refuse nan, infinities and negative costs; more: (option, value) besides those of all problems."""
    s = settings.problem
    for option, value in (("-c", s.C), ("-e", settings.stopping.eps), ("-p", s.p), ("-n", s.nu), *more):
        if value is not None and value - value != 0.0:
            raise SvmtoolError(f"ERROR: {option} is {value}: it must be a finite number")
    for label, factor in s.class_weights:
        if factor - factor != 0.0 or factor < 0:
            raise SvmtoolError(f"ERROR: -w{label} is {factor:g}: a class weight must be a finite number >= 0")


def kernel_of(settings: Settings) -> KernelChoice:
    """The kernel of settings that have one."""
    kernel = settings.problem.kernel
    assert kernel is not None
    return kernel


def tolerance(settings: Settings) -> float:
    """The violation to stop at; 0 if a gap decides instead, which it does not for a paper's algorithm."""
    if settings.stopping.eps is not None:
        return settings.stopping.eps
    row = settings.row
    return 0.0 if settings.stopping.gap is not None and not row.printed else row.eps_default or 0.0


def check_kernel_after_reading(settings: Settings) -> None:
    """LIBSVM's svm_check_parameter: raise SvmtoolError for the first fault.

    Values that LIBSVM accepts but no problem can use are refused afterwards.
    """
    s, run, eps, row = settings.problem, settings.run, settings.stopping.eps, settings.row
    word, kernel = row.word, kernel_of(settings)
    number = kernel.kernel_type
    faults = (
        (not 0 <= number < len(KERNEL_NAMES), "unknown kernel type"),
        (number in NEEDS_GAMMA and kernel.gamma < 0, "gamma < 0"),
        (number == POLYNOMIAL and kernel.degree < 0, "degree of polynomial kernel < 0"),
        (run.cache_mb <= 0, "cache_size <= 0"),
        (eps is not None and eps <= 0, "eps <= 0"),
        (word in ("c_svc", "epsilon_svr", "nu_svr") and s.C <= 0, "C <= 0"),
        (word in ("nu_svc", "one_class", "nu_svr") and (s.nu <= 0 or s.nu > 1), "nu <= 0 or nu > 1"),
        (word == "epsilon_svr" and s.p < 0, "p < 0"),
        (run.shrinking not in (0, 1), "shrinking != 0 and shrinking != 1"),
        (run.probability not in (0, 1), "probability != 0 and probability != 1"),
    )
    for wrong, sentence in faults:
        if wrong:
            raise SvmtoolError(f"ERROR: {sentence}")
    if row.kind == "hard one-class":
        _check_theta(row, eps)
        _check_positive_kernel(row, kernel)
    hard = s.C == float("inf") and row.number in HARD_ROWS
    finite = settings.replace(C=1.0) if hard else settings
    _check_finite(finite, ("-m", run.cache_mb), ("-g", kernel.gamma), ("-r", kernel.coef0))


def _check_theta(row: registry.Solver, eps: float | None) -> None:
    if row.kind == "hard one-class" and eps is not None and not eps < 1.0:
        raise SvmtoolError(f"ERROR: -e is {eps:g}: of -s {row.number} it is theta, which lies between 0 and 1")


def _check_positive_kernel(row: registry.Solver, kernel: KernelChoice) -> None:
    """Refuse kernels without a feature space: a distance from the origin does not exist there."""
    task = f"-s {row.number} ({row.name}) seeks a distance from the origin in the kernel's feature space: "
    if kernel.kernel_type == SIGMOID:
        raise SvmtoolError(f"ERROR: {task}-t 3 (sigmoid) has none, use -t 2")
    if kernel.kernel_type == POLYNOMIAL and kernel.coef0 < 0:
        raise SvmtoolError(f"ERROR: {task}-t 1 (polynomial) with -r {kernel.coef0:g} has none, use -r 0 or more")


def check_feasible(settings: Settings, counts: list[int] | list[float]) -> None:
    """nu-SVC: check that nu is feasible for each pair of classes (counts[k] rows, or the sum of their weights); raises
    SvmtoolError as LIBSVM does.
    """
    if settings.row.word != "nu_svc":
        return
    for i, a in enumerate(counts):
        for b in counts[i + 1 :]:
            if settings.problem.nu * (a + b) / 2 > min(a, b):
                max_nu = 2 * min(a, b) / (a + b)
                rows = f"two classes of {a:.15g} and {b:.15g} rows"
                raise SvmtoolError(f"ERROR: specified nu is infeasible: {rows} allow -n {max_nu:g} at most")
