"""Parameters of a training run with a kernel, and LIBSVM's checks of them in its order and words."""

from __future__ import annotations

from typing import Any, NamedTuple

from svmtool import registry
from svmtool.errors import SvmtoolError

KERNEL_NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number of -t
LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED = range(5)
NEEDS_GAMMA = (POLYNOMIAL, RBF, SIGMOID)


# Settings that some solvers take by keyword; each is an option --name-with-dashes that a row may support.
FOR_SOLVERS = (
    "paper_form",
    "pairs",
    "delta_alpha",
    "min_alpha_opt",
    "max_alpha_opt",
    "min_alpha_check",
    "sgd_rows",
    "sample",
)


class KernelSettings(NamedTuple):
    """All settings of a run.  Immutable.  None means "not given"; the cache is in MB, times are in seconds."""

    solver: int = 0  # number of a row of registry.KERNEL_SOLVERS
    kernel_type: int = RBF
    degree: int = 3
    gamma: float = 0.0  # 0: one over the largest feature index
    coef0: float = 0.0
    C: float = 1.0
    nu: float = 0.5
    p: float = 0.1
    cache_mb: float = 100.0
    eps: float | None = None  # -e; None: the solver's own default, or --gap decides
    shrinking: int = 1
    probability: int = 0
    class_weights: tuple[tuple[int, float], ...] = ()  # (label, factor) in the order given; factors of a label multiply
    folds: int | None = None  # -v
    quiet: bool = False
    gap: float | None = None  # stop at this certified relative gap
    max_seconds: float | None = None
    max_iter: int | None = None
    seed: int | None = None
    sgd_rows: int | None = None  # t of -s 73; None: its default form
    sample: int | None = None  # rows drawn in a round of FOSVM2; None: 3000
    threads: int | None = None
    strict: bool = False
    solver_log: str | None = None
    plot: str | None = None
    paper_form: bool = False  # this and the next five: see solvers.alfpgm.Options
    pairs: int | None = None
    delta_alpha: float = 1e-6
    min_alpha_opt: int = 5
    max_alpha_opt: int = 20
    min_alpha_check: int | None = None

    @property
    def row(self) -> registry.Solver:
        """The registry's row; raises SvmtoolError if there is none."""
        row = registry.find_kernel(self.solver)
        if row is None:
            known = registry.in_words(registry.KERNEL_SOLVERS)
            raise SvmtoolError(f"ERROR: unknown svm type: {self.solver}: with a kernel use -s {known}")
        return row

    @property
    def svm_type(self) -> str:
        """LIBSVM's word for the problem."""
        return self.row.word

    @property
    def for_solver(self) -> dict[str, Any]:
        """Keyword arguments of the row's solver beside problem, tolerance and memory."""
        is_supported = self.row.supported
        own = {name: getattr(self, name) for name in FOR_SOLVERS if "--" + name.replace("_", "-") in is_supported}
        return {**own, "seed": self.seed} if "sample" in own else own

    @property
    def tolerance(self) -> float:
        """The violation to stop at; 0 if --gap decides instead."""
        if self.eps is not None:
            return self.eps
        return 0.0 if self.gap is not None else self.row.eps_default or 0.0

    @property
    def target(self) -> float | None:
        """The certified gap to stop at; None if -e decides instead."""
        return self.gap if self.gap is not None or self.eps is not None else self.row.gap_default


def check_after_reading(s: KernelSettings) -> None:
    """LIBSVM's svm_check_parameter: raise SvmtoolError for the first fault.

    Values that LIBSVM accepts but no problem can use are refused afterwards.
    """
    word, kernel = s.svm_type, s.kernel_type
    faults = (
        (not 0 <= kernel < len(KERNEL_NAMES), "unknown kernel type"),
        (kernel in NEEDS_GAMMA and s.gamma < 0, "gamma < 0"),
        (kernel == POLYNOMIAL and s.degree < 0, "degree of polynomial kernel < 0"),
        (s.cache_mb <= 0, "cache_size <= 0"),
        (s.eps is not None and s.eps <= 0, "eps <= 0"),
        (word in ("c_svc", "epsilon_svr", "nu_svr") and s.C <= 0, "C <= 0"),
        (word in ("nu_svc", "one_class", "nu_svr") and (s.nu <= 0 or s.nu > 1), "nu <= 0 or nu > 1"),
        (word == "epsilon_svr" and s.p < 0, "p < 0"),
        (s.shrinking not in (0, 1), "shrinking != 0 and shrinking != 1"),
        (s.probability not in (0, 1), "probability != 0 and probability != 1"),
    )
    for wrong, sentence in faults:
        if wrong:
            raise SvmtoolError(f"ERROR: {sentence}")
    if s.row.task == "hard one-class":
        _check_positive_kernel(s)
    named = [("-c", s.C), ("-e", s.eps), ("-p", s.p), ("-n", s.nu), ("-m", s.cache_mb), ("-g", s.gamma)]
    for option, value in [*named, ("-r", s.coef0)]:
        if value is not None and value - value != 0.0:
            raise SvmtoolError(f"ERROR: {option} is {value}: it must be a finite number")
    for label, factor in s.class_weights:
        if factor - factor != 0.0 or factor < 0:
            raise SvmtoolError(f"ERROR: -w{label} is {factor:g}: a class weight must be a finite number >= 0")


def _check_positive_kernel(s: KernelSettings) -> None:
    """Refuse kernels without a feature space: a distance from the origin does not exist there."""
    task = f"-s {s.row.number} ({s.row.name}) seeks a distance from the origin in the kernel's feature space: "
    if s.kernel_type == SIGMOID:
        raise SvmtoolError(f"ERROR: {task}-t 3 (sigmoid) has none, use -t 2")
    if s.kernel_type == POLYNOMIAL and s.coef0 < 0:
        raise SvmtoolError(f"ERROR: {task}-t 1 (polynomial) with -r {s.coef0:g} has none, use -r 0 or more")


def check_feasible(s: KernelSettings, counts: list[int]) -> None:
    """nu-SVC: check that nu is feasible for each pair of classes (counts[k] rows); raises SvmtoolError as LIBSVM
    does.
    """
    if s.svm_type != "nu_svc":
        return
    for i, a in enumerate(counts):
        for b in counts[i + 1 :]:
            if s.nu * (a + b) / 2 > min(a, b):
                most = 2 * min(a, b) / (a + b)
                raise SvmtoolError(
                    f"ERROR: specified nu is infeasible: two classes of {a} and {b} rows allow -n {most:g} at most"
                )
