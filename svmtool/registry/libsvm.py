"""Registry rows of LIBSVM's solver numbers; their names are the words of its model files."""

from __future__ import annotations

from svmtool.registry.row import Solver

ALFPGM = "Aregbesola and Griva, A Fast Algorithm for Training Large Scale Support Vector Machines, "
ALFPGM += "J. Computer and Communications 10 (2022): decomposition with sets of pairs; "
LIBSVM_PAPER = "Chang and Lin, LIBSVM: a Library for Support Vector Machines, ACM TIST 2 (2011) 27, Section 2"
KERNEL_OPTIONS = frozenset(
    {"-t", "-d", "-g", "-r", "-m", "-e", "-h", "-b", "--probability", "--gap", "--max-seconds", "--max-iter", "--seed"}
    | {"--weights", "--groups", "--solver-log", "--plot"}
)
C_SVC_OBJECTIVE = "min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.f(x_i) + b)),  f(x).f(z) = K(x, z)"
FREE = "free (not regularised); rho in the model file is its negative"
STOPPING = "the violation of the most violating pair of all dual variables is at most -e "
STOPPING += "(LIBSVM's rule; default -e [eps])"


def kernel_row(
    number: int, name: str, word: str, about: str, objective: str, loss: str, kind: str, more=(), costs: bool = True
) -> Solver:
    """Return the row of a problem with kernels; all use the same solver."""
    return Solver(
        number=number,
        name=name,
        word=word,
        module="svmtool.solvers.alfpgm",
        help=about,
        objective=objective,
        loss=loss,
        kind=kind,
        space="dual",
        kernel=True,
        bias=FREE,
        free_bias=True,
        costs=costs,
        eps_default=1e-3,
        stopping=STOPPING,
        supported=KERNEL_OPTIONS | frozenset(more),
        paper=ALFPGM + LIBSVM_PAPER,
    )


CLASSES, REGRESSION = "classification", "regression"
ROWS = (
    kernel_row(0, "c_svc", "c_svc", "C-SVC (classification)", C_SVC_OBJECTIVE, "hinge", CLASSES),
    kernel_row(
        1, "nu_svc", "nu_svc", "nu-SVC (classification)",
        "min over w, b, q of  1/2 |w|^2 - nu q + 1/n sum_i max(0, q - y_i (w.f(x_i) + b))",
        "hinge", CLASSES, {"-n"}, costs=False,
    ),
    kernel_row(
        2, "one_class", "one_class", "one-class SVM",
        "min over w, rho of  1/2 |w|^2 - nu n rho + sum_i max(0, rho - w.f(x_i))",
        "hinge", "one-class", {"-n"}, costs=False,
    ),
    kernel_row(
        3, "epsilon_svr", "epsilon_svr", "epsilon-SVR (regression)",
        "min over w, b of  1/2 |w|^2 + C sum_i max(0, |t_i - w.f(x_i) - b| - p)",
        "tube", REGRESSION, {"-p"},
    ),
    kernel_row(
        4, "nu_svr", "nu_svr", "nu-SVR (regression)",
        "min over w, b, p of  1/2 |w|^2 + C (nu n p + sum_i max(0, |t_i - w.f(x_i) - b| - p))",
        "tube", REGRESSION, {"-n"},
    ),
)  # fmt: skip
