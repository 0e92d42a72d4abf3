"""Tolerances and limits shared by solvers and by the registry's stopping rules."""

EPS = 2.0**-52  # machine epsilon of doubles
# Certified relative gaps
OPTIMAL_GAP = 1e-12  # gap of an exact minimiser: the rest is round-off
ROUNDOFF_GAP = 1e-8  # a solution counts as optimal up to this gap if round-off stalls progress
RULE_MIN_GAP = 1e-6  # the rule of -e ends a fast method only below this gap, which costs at most one more step
SLOW_MIN_GAP = 1e-3  # the same for a method that converges slowly

SAFETY = 0.3  # share of LIBLINEAR's tolerance that epochs reach: our order of rows may end at a worse objective

# Sizes
GRAM_BELOW = 1500  # up to this many features (or rows) the Gram matrix is formed and factorised: 18 MB
DENSE_BELOW = GRAM_BELOW  # features up to which a set that is mostly non-zero is held as a dense matrix

# Units of bytes
MB = 1e6  # of --memory and of messages
MIB = 1 << 20  # of -m, as LIBSVM counts


def text(x: float) -> str:
    """A tolerance as the documentation writes it: 1e-6, 0.001."""
    return f"{x:g}".replace("e-0", "e-")
