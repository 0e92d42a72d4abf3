"""Help texts of svm-train for kernels, rendered from the registry."""

from __future__ import annotations

from svmtool import registry
from svmtool.cli.arguments.long_options import LONG_OPTIONS
from svmtool.cli.help import layout
from svmtool.kernel_params import KERNEL_NAMES, PRECOMPUTED, kernel_of
from svmtool.params import Settings

ABOUT = (
    "With -t, -g, -d or -r the options are LIBSVM's and a kernel is used: -s 0 to 4 are LIBSVM's problems, -m is the "
    "cache size, -b 1 stores probabilities, -v draws LIBSVM's folds, and the model file is LIBSVM's. The default "
    "kernel is RBF. -s 60 and -s 73 always use a kernel; without these options it is the linear kernel. -s 50, -s 52, "
    "-s 80 and -s 81 use none without these options."
)

KERNELS = ("x.z", "(GAMMA x.z + COEF0)^DEGREE", "exp(-GAMMA |x-z|^2)", "tanh(GAMMA x.z + COEF0)", "given in the data")

NO_COSTS = "none: every row must satisfy its constraint"

# LIBSVM's options: flag, value, meaning.
OPTIONS = (
    ("-s", "SOLVER", "number or name of the solver (default 0)"),
    ("-t", "KERNEL", "; ".join(f"{k} {name}" for k, name in enumerate(KERNEL_NAMES)) + " (default 2)"),
    ("-d", "DEGREE", "degree of the polynomial kernel (default 3)"),
    ("-g", "GAMMA", "gamma of kernels 1 to 3 (default 0: one over the largest feature index)"),
    ("-r", "COEF0", "coef0 of kernels 1 and 3 (default 0)"),
    ("-c", "C", "cost of an error (default 1)"),
    ("-n", "NU", "-s 1, 2, 4: least share of support vectors and largest share of errors (default 0.5)"),
    ("-p", "P", "-s 3: half the width of the tube in which errors cost nothing (default 0.1)"),
    ("-m", "MB", "memory for rows of the kernel matrix (default 100)"),
    ("-e", "EPS", "tolerance of the stopping rule (default 0.001)"),
    ("-h", "0|1", "LIBSVM's shrinking: accepted without effect"),
    ("-b", "0|1", "1: store the sigmoids that svm-predict -b 1 needs (default 0)"),
    ("-wLABEL", "FACTOR", "multiply C for the rows of a class (C-SVC)"),
    ("-v", "N", "cross-validation with N folds; no model is written"),
    ("-q", "", "quiet: no output of the solver"),
)


def solver_rows() -> list[tuple[str, str]]:
    """(`-s 0, c_svc`, its problem and default tolerance) for each kernel solver."""
    rows = []
    for row in registry.KERNEL_SOLVERS:
        rows.append((f"-s {row.number}, {row.name}", f"{row.help} (default {row.default})"))
    return rows


def option_rows() -> list[tuple[str, str]]:
    """(flag with its value, meaning) for LIBSVM's options."""
    return [(f"{flag} {value}".strip(), text) for flag, value, text in OPTIONS]


def stopping_text(settings: Settings) -> str:
    """When a run with these settings stops."""
    eps, gap, _, _ = settings.stopping
    if gap is not None:
        return f"certified relative duality gap (P - D)/|P| <= {gap:g} (--gap)"
    return settings.row.stopping + (f"; here -e {eps:g}" if eps is not None else "")


def explain(s: Settings) -> str:
    """The text of --explain: problem, kernel, stopping rule, options and paper of the chosen solver."""
    row = s.row
    number = kernel_of(s).kernel_type
    known = 0 <= number <= PRECOMPUTED
    own = sorted(name for name in LONG_OPTIONS if registry.anywhere(name, registry.KERNEL_SOLVERS))
    taken = [*(flag for flag, _, _ in OPTIONS), *own] if row.number < 30 else sorted(registry.supported_options(row))
    cost = f"C_i = C * (product of the -w factors of the row's class), of C-SVC; C = {s.problem.C:g}"
    if "-c" not in registry.supported_options(row):
        cost = NO_COSTS
    facts = (
        ("solver", f"-s {row.number}, {row.name}: {row.help}"),
        ("task", row.task),
        ("problem", row.objective),
        (
            "kernel",
            f"-t {number}, {KERNEL_NAMES[number]}: {KERNELS[number]}" if known else "unknown",
        ),
        ("costs", cost),
        ("classes", "three or more: one problem for each pair of classes, then a vote"),
        ("bias", row.bias),
        ("stops when", stopping_text(s)),
        ("model file", f"svm_type {row.word}"),
        ("options", " ".join(taken)),
        ("paper", row.paper),
        ("module", row.module),
    )
    return layout.facts(facts)
