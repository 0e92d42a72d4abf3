"""The line search from the blocks' breakpoints against the line search in memory, and against sums by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from loop_suite import check_each_loop_is_called, close
from spark_blocks import Here, cut, numbers_text, settings_of

from svmtool.compiled.loops.loss import breakpoint_loops
from svmtool.data.csr import CsrRows
from svmtool.distributed.line_search import BINS
from svmtool.distributed.reductions import DistributedOneVsRest
from svmtool.objectives.augmented import Augmented, ModifiedHuber
from svmtool.objectives.squared_hinge import SquaredHinge


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, breakpoint_loops)


KINDS = {
    "squared": lambda rows, y, cost, target: SquaredHinge(rows, y, cost, target=target),
    "squared, one target": lambda rows, y, cost, target: SquaredHinge(rows, y, cost),
    "hinge": lambda rows, y, cost, target: Augmented(rows, y, cost, 1.0, target=target),
    "huber": lambda rows, y, cost, target: ModifiedHuber(rows, y, cost, target=target),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def losses(kind: str, n: int, on_breakpoints: bool, seed: int = 0):
    """An objective in mid-run with a direction; optionally with breakpoints at ends of bins, and constant rows."""
    rng = np.random.default_rng(seed)
    rows = CsrRows(np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), 1)
    terms = rng.choice([-1.0, 1.0], n), rng.random(n) * (rng.random(n) < 0.9), rng.choice([-0.5, 0.0, 1.0], n)
    o = KINDS[kind](rows, *terms)
    o.set_point(np.zeros(1))
    o.z[:], o.dz[:] = 1.0 - rng.normal(size=n), rng.normal(size=n)
    if on_breakpoints:
        o.z[:], o.dz[:] = np.round(4.0 * o.z) / 4.0, np.round(o.dz)
    elif isinstance(o, Augmented) and not isinstance(o, ModifiedHuber):
        o.beta[:], o.sigma = rng.random(n), 7.0
    return o


def slope_of(o, t: float) -> float:
    return float(o.along(t)[0])


@every_kind
@pytest.mark.parametrize("on_breakpoints", [False, True])
@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (2.0, 4.0), (0.25, 0.25 + 1.0 / 64)])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_breakpoints_give_the_slope_at_the_ends_of_all_bins(kind, on_breakpoints, low, high, n):
    o = losses(kind, n, on_breakpoints)
    target, beta, *numbers = o.breakpoint_terms()
    at, bend, start = np.zeros(2 * n), np.zeros(2 * n), np.zeros(2)
    count = breakpoint_loops.gather_breakpoints(o.z, o.dz, target, beta, o.cost, at, bend, start, *numbers, low, high)
    assert np.all((at[:count] >= low) & (at[:count] < high))
    sums, step = np.zeros(2 * BINS), (high - low) / BINS
    breakpoint_loops.sum_breakpoints(at[:count].copy(), bend[:count].copy(), sums, low, step, BINS)
    for k in (0, 1, 7, BINS // 2, BINS):
        t = low + k * step
        before = at[:count] < t
        wanted = start[0] + start[1] * (t - low) + float(bend[:count][before] @ (t - at[:count][before]))
        found = start[0] + (start[1] + sums[: 2 * k : 2].sum()) * (t - low) - sums[1 : 2 * k : 2].sum()
        close(np.array([found, wanted]), np.array([slope_of(o, t)] * 2))


@pytest.mark.parametrize(("kind", "more"), [(SquaredHinge, {}), (Augmented, {"p": 1.0})])
@pytest.mark.parametrize("regularize_bias", [True, False])
def test_line_search_of_blocks_is_that_of_memory(kind, more, regularize_bias):
    settings = settings_of(31, bias=1.0, regularize_bias=regularize_bias)
    ranks, lone = Here(cut(numbers_text(2), 3)), Here(cut(numbers_text(2), 1))
    far_one = DistributedOneVsRest(ranks, settings).task(0).objective(kind, **more)
    DistributedOneVsRest(lone, settings).task(0)
    block = lone.blocks[0]
    near = kind(block.rows, block.y, block.cost, free_bias=not regularize_bias, **more)
    for o in (near, far_one):
        o.set_point(np.zeros(o.d))
    p = -near.gradient()[1]
    far_one.gradient()
    for _ in range(3):
        t, before = near.line_search(p), ranks.costs.passes
        assert far_one.line_search(p) == pytest.approx(t, rel=1e-9)
        assert ranks.costs.passes - before <= 3
        for o in (near, far_one):
            o.step(t, p)
        p = -near.gradient()[1]
