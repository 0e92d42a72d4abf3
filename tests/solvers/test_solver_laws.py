"""Laws that need no oracle, for every row of the registry: what must not change when a problem is put differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from naming import case_of
from optima import Problem, minimiser
from problem_laws import restated
from sampling import every_turn
from solver_suite import SOME, Case, Solved, every_path, layout_of, posed, share

from svmtool.solvers.shared import base


class Law(NamedTuple):
    """A problem with the same answer as `one` (None: the problem as given), once its weights are changed back."""

    name: str
    other: Problem
    back: Callable[[np.ndarray], np.ndarray] = lambda w: w
    factor: float = 1.0  # of the objective
    radii: float = 1.0  # between the weights
    one: Problem | None = None


def laws(case: Case, p: Problem) -> Iterator[Law]:
    d, l1 = p.X.shape[1], posed(case, p).l1
    for name, other in restated(p, "y").items():
        yield Law(name, other)
    yield Law("opposite labels", p._replace(y=-p.y), lambda w: -w)
    zeros = p._replace(X=np.insert(p.X, 3, 0.0, axis=1))
    yield Law("a column of zeros", zeros, lambda w: np.delete(w, 3) if w[3] == 0.0 else np.full(len(w) - 1, np.nan))
    degree = 1 if l1 else 2  # of the regulariser
    for size in (0.125, 30.0):
        bias = size * p.bias if p.bias >= 0 else p.bias
        scaled = p._replace(X=size * p.X, cost=p.cost / size**degree, bias=bias)
        yield Law(f"features {size:g} times", scaled, lambda w, size=size: size * w, size**degree, 2.0)
    # how a weight is divided among two equal features is left open by |w|_1, whose features stay as they are
    part = 1.0 if l1 else np.sqrt(2.0)
    twice = p._replace(X=np.hstack([p.X, p.X]) / part)
    yield Law("features twice", twice, lambda w: np.append((w[:d] + w[d : 2 * d]) / part, w[2 * d :]), 1.0, 2.0)
    double = p._replace(cost=np.append(2 * p.cost[:9], p.cost[9:]))
    repeated = p._replace(X=np.vstack([p.X, p.X[:9]]), y=np.append(p.y, p.y[:9]), cost=np.append(p.cost, p.cost[:9]))
    yield Law("weight two", repeated, one=double)


@every_turn
@every_path
def test_laws(case, turn):
    for number in share(case, turn, 2 * len(SOME)):
        half, k = divmod(number, len(SOME))
        p = SOME[k]
        a = Solved(case, p)
        for law in [*laws(case, p)][half::2]:
            with case_of(law.name, f"problem {k}"):
                one, b = a if law.one is None else Solved(case, law.one), Solved(case, law.other)
                assert np.linalg.norm(law.back(b.w) - one.w) <= law.radii * one.radius
                assert law.factor * b.f == pytest.approx(one.f, rel=1e-9)
        for b in (Solved(case, p, "dense"), Solved(case, p, start=np.random.default_rng(3).normal(size=p.A.shape[1]))):
            assert np.linalg.norm(b.w - a.w) <= a.radius


@every_turn
@every_path
def test_warm_start_at_the_answer_stops_at_once(case, turn):
    if case.path == "interior":
        pytest.skip("interior-point steps begin at a point of their own")
    for k, p in enumerate(SOME):
        best, layout = minimiser(posed(case, p)), layout_of(case, turn, k)
        with case_of(f"problem {k}", layout):
            s = Solved(case, p, layout, start=best, gap=1e-6)
            assert s.result.history[0]["objective"] == pytest.approx(s.p.value(best), rel=1e-12)
            assert s.status is base.GAP
            if not case.hinge:  # weights say nothing of the multipliers of rows on the hinge's breakpoint
                assert s.result.iterations == 1, s.result.history
            assert np.linalg.norm(s.w - best) <= 1e-3 * np.linalg.norm(best)
