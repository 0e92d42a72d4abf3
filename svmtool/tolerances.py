"""Tolerances and limits that solvers, compiled loops and the registry's stopping rules share.

A change compiles the loops anew.
"""

EPS = 2.0**-52  # machine epsilon of doubles
SUM_ROUNDOFF = 4.0 * EPS  # relative round-off of a sum of two numbers that are sums of two
MIN_POSITIVE = 1e-300  # replaces 0 as a divisor or as the argument of a logarithm
SUM_RTOL = 1e-12  # relative error of a long sum that counts as round-off
VALUE_RTOL = 1e-9  # share of a value up to which another value of the same point may differ by round-off
SAME_RTOL = 1e-6  # relative difference of numbers that count as equal: they print the same digits, or text is rounded
FINE_RTOL = 1e-10  # so small a relative change is in no digit that is printed
SPLIT_FACTOR = 2.0**27 + 1.0  # splits a double number into halves whose products are exact
# Certified relative gaps
OPTIMAL_GAP = 1e-12  # gap of an exact minimiser: the rest is round-off
ROUNDOFF_GAP = 1e-8  # a solution counts as optimal up to this gap if round-off stalls progress
CONFIRMED_GAP = 1e-6  # certified gap that confirms an exact minimiser; also the target of a method that takes over
RULE_MIN_GAP = 1e-6  # the rule of -e ends a fast method only below this gap, which costs at most one more step
SLOW_MIN_GAP = 1e-3  # the same for a method that converges slowly
WARNING_GAP = 1e-2  # certified gap above which a run that the rule of -e has ended has not converged
AIM_SHARE = 0.999  # share of the target gap to which solvers run: the certifier, whose sums are others, then finds it
LEAST_RULE_GAP = 1e-10  # least gap that a rule of -e asks for

# Rules of -e
L1_GAP_AN_EPS = 1e-4  # |w|_1: certified gap at which a run ends, as a multiple of -e
TUBE_GAP_AN_EPS = 1e-5  # the same for -s 12 and 13
RULE_SHARE = 0.05  # -s 12, 13: share of LIBLINEAR's tolerance at which a larger gap, too, may end a run
BUDGET = 0.5  # once LIBLINEAR's own rule holds, most further work, as a share of that so far
LATE_RULE_SHARE = 0.1  # share of -s 2's tolerance to which LIBLINEAR continues -s 1 after ...
LATE_EPOCHS = 300  # ... its limit on epochs
LATE_TUBE_SHARE = 1e-3  # -e of -s 11 as a share of that of -s 12, which LIBLINEAR continues so after as many epochs
EPOCH_TOL = 0.3  # share of LIBLINEAR's tolerance that epochs reach: our order of rows may end at a worse objective

# Progress: what is minimised (a gap, a sum of complementarity products, a violation) falls below this share of its
# least value, or the dual value rises by this share of the gap
SUFFICIENT_DECREASE, SUFFICIENT_RISE = 0.9, 1e-3
# Smaller relative changes in a step are round-off: of a function itself, and of a dual value or augmented Lagrangian
NEWTON_RTOL, DUAL_RTOL = 1e-14, 1e-13
# Round-off stalls progress after as many steps in a row without any: on one function, with two variables to improve
# (primal and dual), and after as many rounds of such steps
STALL_STEPS, PAIR_STALL_STEPS, STALL_ROUNDS = 3, 12, 30
DIRECT_AFTER = 100  # steps, at least, after which a direct solution of least squares over few rows follows
SIGMA_MAX = 1e8  # largest sigma of multiplier rounds, and the one at which phi with beta = 0 stands for f
RIDGE = 1e-12  # added curvature, relative: keeps systems of a free bias, or of dependent rows, regular
CG_LOOSE, CG_TIGHT = 0.1, 1e-6  # tolerances of conjugate gradients; between them it follows what is left to gain
CALL_NONZEROS = 1e7  # numbers that loops go over in one call: limits are checked between calls
SEARCH_RTOL = 1e-2  # share of a first slope, residual or step to which inexact searches and systems are solved
ARMIJO = 1e-4  # share of the expected fall that a step must achieve
MAX_TRIALS = 60  # most points of a search along a line, or halvings of a step
TIGHTER = 0.3  # factor of a tolerance each time that it is met and the run goes on
NEGLIGIBLE_ERROR = 0.1  # share of the tolerance up to which errors of decision values do not matter
FIRST_CHECK_STEPS = 128  # steps or rounds of a solver before the first check of progress
USUAL_PRODUCTS = 30  # usual number of products in a step by conjugate gradients

# Sizes
DUAL_ROWS = 4000  # active rows up to which Newton steps factorise their system
GRAM_BELOW = 1500  # up to this many features (or rows) the Gram matrix is formed and factorised: 18 MB
MATRIX_ROWS = 2048  # rows up to which the matrix of their inner products is formed or kept: 32 MB
VALUES_AT_ONCE = 1 << 20  # numbers that are scanned, copied or computed at a time: 8 MB
MANY_VALUES = 1 << 22  # numbers up to which all are computed or copied: some hundredths of a second
ROWS_AT_ONCE = 1 << 13  # rows, or weights' features, that are handled at a time
DENSE_BELOW = GRAM_BELOW  # features up to which a set that is mostly non-zero is held as a dense matrix

# Units of bytes
MB = 1e6  # of --memory and of messages
MIB = 1 << 20  # of -m, as LIBSVM counts, and of buffers


def text(x: float) -> str:
    """A tolerance as the documentation writes it: 1e-6, 0.001."""
    return f"{x:g}".replace("e-0", "e-")


# One-class problems, see objectives/one_class.py
MIN_VALUE_SHARE = 1e-8  # share of M below which |P| does not count: there the gap is relative to that
SCORE_RTOL = 1e-12  # relative round-off of v.phi(x_i), as share of |v| times the size of the rows
