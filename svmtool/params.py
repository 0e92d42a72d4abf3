"""Parameters of a training run with a linear model, and LIBLINEAR's checks of them.

The checks keep LIBLINEAR's messages and their order.  They run after the data has been read, because LIBLINEAR
reports a malformed file before a bad -c.
"""

from __future__ import annotations

from typing import NamedTuple

from svmtool import registry
from svmtool.errors import SvmtoolError


class Settings(NamedTuple):
    """All settings of a run.  Immutable: `settings._replace(C=2.0)` returns a changed copy.

    None means "not given".  Times are in seconds.
    """

    solver: int = 1
    auto: bool = False  # -s auto: the solver is chosen once the data are read
    C: float = 1.0
    p: float = 0.1
    nu: float = 0.5
    eps: float | None = None  # -e; None: the solver's own default
    bias: float = -1.0  # value of the appended feature, < 0: none
    regularize_bias: bool = True
    class_weights: tuple[tuple[int, float], ...] = ()  # (label, factor) in the order given; factors of a label multiply
    folds: int | None = None  # -v
    find_C: bool = False
    solver_given: bool = False
    bias_given: bool = False
    C_given: bool = False
    p_given: bool = False
    quiet: bool = False
    weights: str | None = None  # file with one cost factor for each row
    initial_model: str | None = None
    gap: float | None = None  # stop at this certified relative gap
    max_seconds: float | None = None
    max_iter: int | None = None
    seed: int | None = None
    probability: bool = False  # -b 1: fit and store a sigmoid for each decision value
    loss_power: float = 2.0  # --loss-power: the p of the Lp hinge
    inner_steps: int | None = None  # conjugate gradient steps in an iteration of inexact ALM; None: as many as needed
    mu: str | float | None = None  # --mu: growth of ALM's penalty, or NESVM's smoothing; None: the solver decides
    passes: int | None = None  # --passes: passes of FALSVM over the rows
    loo: bool = False  # --loo: print the leave-one-out accuracy
    add: str | None = None  # --add: rows to add to an adaptable model
    remove: str | None = None  # --remove: rows to remove from it
    every_rows: int | None = None  # --every-rows: rows of a stream between two written models
    every_seconds: float | None = None
    sample: int | None = None  # --sample: rows drawn in a round of FOSVM2; None: 3000
    memory: float | None = None  # --memory: bytes that the process may use; None: rows are kept in memory
    scratch: str = ""  # --scratch: folder of rows on disk; empty: beside the data
    no_cache: bool = False  # remove rows on disk at the end of the run
    spark: str | None = None  # --spark: the master's URL
    no_homotopy: bool = False  # NESVM with one smoothing parameter: Algorithm 1 of its paper
    threads: int | None = None
    stratified: bool = False
    strict: bool = False
    solver_log: str | None = None
    plot: str | None = None
    given: tuple[str, ...] = ()  # with -s auto: names of the options on the command line

    @property
    def homotopy(self) -> bool:
        return not self.no_homotopy

    @property
    def row(self) -> registry.Solver:
        """The registry's row of the chosen solver; raises SvmtoolError if there is none."""
        return registry.find(self.solver)

    def with_default_bias(self) -> Settings:
        """Return settings with the bias of the solver's paper, free or regularised, unless -B was given."""
        row = next((r for r in registry.SOLVERS if r.number == self.solver), None)
        if row is None or self.bias_given:
            return self
        if row.free_bias:
            return self._replace(bias=1.0, regularize_bias=False)
        return self._replace(bias=row.bias_default)


_FREE_BIAS_WORDS = "L2R_LR, L2R_L2LOSS_SVC, L1R_L2LOSS_SVC, L1R_LR, and L2R_L2LOSS_SVR"
_FREE_BIAS_NUMBERS = (0, 2, 5, 6, 11)  # LIBLINEAR's; rows of our own tell it by their `honours`


def _is_finite(x: float) -> bool:
    return x - x == 0.0


def check_after_reading(settings: Settings) -> None:
    """LIBLINEAR's check_parameter: raise SvmtoolError for the first fault, in its order.

    Values that LIBLINEAR accepts but no problem can use (nan, infinity, negative costs) are refused afterwards.
    """
    s, number = settings, settings.solver
    eps = s.eps if s.eps is not None else 1.0
    if eps <= 0:
        raise SvmtoolError("ERROR: eps <= 0")
    if s.C <= 0:
        raise SvmtoolError("ERROR: C <= 0")
    if s.p < 0 and number in (11, 12, 13):  # with 12 and 13 LIBLINEAR goes on, to meaningless weights
        raise SvmtoolError("ERROR: p < 0")
    if s.bias >= 0 and number == 21:
        raise SvmtoolError("ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM")
    if not s.regularize_bias:
        if s.bias != 1:
            raise SvmtoolError("ERROR: To not regularize bias, must specify -B 1 along with -R")
        ours = [row.number for row in registry.supporting("-R")]
        if number not in _FREE_BIAS_NUMBERS and number not in ours:
            raise SvmtoolError(f"ERROR: -R option supported only for solver {_FREE_BIAS_WORDS}")
    registry.find(number)
    _check_numbers(settings)


def _check_numbers(settings: Settings) -> None:
    """Refuse nan, infinities and negative costs."""
    named = [("-e", settings.eps), ("-c", settings.C), ("-p", settings.p), ("-n", settings.nu), ("-B", settings.bias)]
    for option, value in named:
        if value is not None and not _is_finite(value):
            raise SvmtoolError(f"ERROR: {option} is {value}: it must be a finite number")
    if settings.solver == 21 and not 0 <= settings.nu <= 1:
        raise SvmtoolError(f"ERROR: -n is {settings.nu:g}: the share of rows left out lies between 0 and 1")
    for label, factor in settings.class_weights:
        if not _is_finite(factor) or factor < 0:
            raise SvmtoolError(f"ERROR: -w{label} is {factor:g}: a class weight must be a finite number >= 0")
