"""Parameters of a kernel model: LIBSVM's kernels, and LIBSVM's checks with its messages, in its order."""

from __future__ import annotations

from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.params import KernelChoice, Settings

KERNEL_NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number of -t
LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED = range(5)
NEEDS_GAMMA = (POLYNOMIAL, RBF, SIGMOID)


def kernel_of(settings: Settings) -> KernelChoice:
    """The kernel of settings that have one."""
    kernel = settings.problem.kernel
    assert kernel is not None
    return kernel


def tolerance(settings: Settings) -> float:
    """The violation to stop at; 0 if a gap decides instead."""
    if settings.stopping.eps is not None:
        return settings.stopping.eps
    return 0.0 if settings.stopping.gap is not None else settings.row.eps_default or 0.0


def check_after_reading(settings: Settings) -> None:
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
    if row.task == "hard one-class":
        _check_positive_kernel(row, kernel)
    named = [("-c", s.C), ("-e", eps), ("-p", s.p), ("-n", s.nu), ("-m", run.cache_mb)]
    for option, value in [*named, ("-g", kernel.gamma), ("-r", kernel.coef0)]:
        if value is not None and value - value != 0.0:
            raise SvmtoolError(f"ERROR: {option} is {value}: it must be a finite number")
    for label, factor in s.class_weights:
        if factor - factor != 0.0 or factor < 0:
            raise SvmtoolError(f"ERROR: -w{label} is {factor:g}: a class weight must be a finite number >= 0")


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
                most = 2 * min(a, b) / (a + b)
                rows = f"two classes of {a:.15g} and {b:.15g} rows"
                raise SvmtoolError(f"ERROR: specified nu is infeasible: {rows} allow -n {most:g} at most")
