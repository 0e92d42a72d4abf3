"""Tolerances and limits that several solvers and the registry's stopping rules share.  Each stands here once."""

# Certified relative gaps
OPTIMAL_GAP = 1e-12  # of an exact minimiser: what is left is round-off
ROUNDOFF_GAP = 1e-8  # up to which a solution counts as optimal when round-off stalls progress
RULE_MIN_GAP = 1e-6  # at which the rule of -e may end a method that converges fast: reaching it costs a step or none
ENOUGH = 1e-3  # at which that rule may end a method that converges slowly

# Sizes
GRAM_BELOW = 1500  # features (or rows) up to which their matrix of inner products is formed and factorised: 18 MB


def text(x: float) -> str:
    """A tolerance as the documentation writes it: 1e-6, 0.001."""
    return f"{x:g}".replace("e-0", "e-")
