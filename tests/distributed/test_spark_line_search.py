"""The line search from the blocks' breakpoints against the line search in memory, and against sums by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from spark_blocks import Here, cut, numbers_text, settings_of

from svmtool.distributed.reductions import DistributedOneVsRest
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.squared_hinge import SquaredHinge


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
