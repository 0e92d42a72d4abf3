"""One suite for every row of the registry: optimum, certificate, and laws that need no oracle.

What is asked of a row comes from the row.  A back end with several ways to its
answer lists them in PATHS, as constants to change, so that small problems walk
each of them; `test_paths_are_taken` holds that they do.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import reference
from reference import ORACLES, Problem, table_of

from svmtool import registry
from svmtool.compiled import threads
from svmtool.problem import rows as rows_module
from svmtool.problem.rows import DenseRows
from svmtool.settings import Settings
from svmtool.solvers import base
from svmtool.solvers.base import StopFlag
from svmtool.training.multiclass import Problems

GAP = 1e-11

_OBJECTIVE, _MFN = "svmtool.problem.objective", "svmtool.solvers.mfn"
_NOT_SMALL = {(_OBJECTIVE, "SMALL_FEATURES"): -1}
_SAMPLED = {(_MFN, "SAMPLE_GROUP"): 2, (_MFN, "SAMPLE_ROWS"): 4, (_MFN, "SAMPLE_ROWS_A_FEATURE"): 0}
_WIDE = {**_NOT_SMALL, (_MFN, "GRAM_BELOW"): 0}
_ONE_PASS = {**_WIDE, (_MFN, "DUAL_PASSES"): 1}

# back end -> name of a path -> constants that lead there
PATHS: dict[str, dict[str, dict]] = {
    _MFN: {
        "small": {(_OBJECTIVE, "SMALL_FEATURES"): 1000},
        "small-sampled": {(_OBJECTIVE, "SMALL_FEATURES"): 1000, **_SAMPLED},
        "features": _NOT_SMALL,
        "features-sampled": {**_NOT_SMALL, **_SAMPLED},
        "passes": _WIDE,
        "rows": _ONE_PASS,
        "products": {**_ONE_PASS, (_MFN, "ROWS_SIDE"): 0},
    }
}
EVERYWHERE = [
    pytest.param(row, path, id=f"{row.name}-{path}")
    for row in registry.SOLVERS
    for path in PATHS.get(row.module, {"default": {}})
]
every_path = pytest.mark.parametrize("row, path", EVERYWHERE)
every_row = pytest.mark.parametrize("row", registry.SOLVERS, ids=lambda row: row.name)
every_layout = pytest.mark.parametrize("layout", ["csr", "dense"])


@pytest.fixture
def walk(monkeypatch):
    """Choose a path of a back end; from then on solvers take it."""

    def choose(row: registry.Solver, path: str) -> None:
        for (module, name), value in PATHS.get(row.module, {}).get(path, {}).items():
            monkeypatch.setattr(importlib.import_module(module), name, value)

    return choose


class Solved:
    """Answer of one row to one problem: w, result, certificate and the settings."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, stop=None, report=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        self.p = p
        self.settings = Settings(
            solver=row.number, C=1.0, bias=p.bias, regularize_bias=not p.free, solver_given=True, **settings
        )
        problems = Problems(table_of(p.X, p.y), self.settings, p.cost)
        if layout == "dense":
            kept = p.cost > 0
            problems.rows = DenseRows(np.ascontiguousarray(p.X[kept]), p.bias)
        elif not isinstance(problems.rows, rows_module.CsrRows):
            pytest.fail("the sparse layout was not kept")
        first = problems.classes.labels[0]
        start = None if start is None else first * np.asarray(start)[:, None]
        [self.result] = problems.fit(start, report, stop)
        self.certificate = problems.certify([self.result])
        self.w = first * self.result.w  # the first class of the data counts as +1 there
        self.value, self.minimiser = ORACLES[row.loss]
        self.f = self.value(p, self.w)

    @property
    def status(self):
        return self.result.status

    @property
    def room(self) -> float:
        """How far w may lie from the minimiser: f grows by at least half the squared distance (bias regularised)."""
        return 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


@pytest.fixture(autouse=True)
def sparse_layout(monkeypatch):
    """Only where a test says so are rows dense."""
    monkeypatch.setattr(rows_module, "DENSE_FROM", 2.0)


def honours(row, p: Problem) -> bool:
    return not p.free or "-R" in row.honours


TALL = {"n": 60, "d": 8}
WIDE = {"n": 20, "d": 45}
PROBLEMS = {
    "tall": reference.random_problem(1, **TALL),
    "tall-easy": reference.random_problem(2, **TALL, C=0.01),
    "tall-hard": reference.random_problem(3, **TALL, C=100.0),
    "tall-bias": reference.random_problem(4, **TALL, bias=1.0),
    "tall-free": reference.random_problem(5, **TALL, bias=1.0, free=True),
    "wide": reference.random_problem(6, **WIDE),
    "wide-hard-bias": reference.random_problem(7, **WIDE, C=100.0, bias=2.0),
    "wide-free": reference.random_problem(8, **WIDE, bias=1.0, free=True),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]


@every_layout
@pytest.mark.parametrize("name", PROBLEMS)
@every_path
def test_optimum_and_certificate(row, path, name, layout, walk):
    p = PROBLEMS[name]
    if not honours(row, p):
        pytest.skip(f"-s {row.number} does not honour -R")
    walk(row, path)
    s = Solved(row, p, layout)
    best = s.value(p, s.minimiser(p))
    assert s.status.converged, s.status
    assert best * (1 - 1e-10) <= s.f <= best * (1 + 1e-8)
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 + 1e-10)
    assert s.certificate.gap <= 1e-8
    assert s.certificate.violation <= 1e-3
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9), "a bound above the optimum"
        assert record["objective"] >= best * (1 - 1e-9)
        assert record["gap"] >= 0
    assert [record["iteration"] for record in s.result.history] == list(range(s.result.iterations))
    np.testing.assert_allclose(s.w, s.minimiser(p), atol=10 * s.room)


@every_path
def test_weight_two_is_the_row_twice(row, path, walk):
    walk(row, path)
    p = SOME[0]
    twice = Problem(np.vstack([p.X, p.X[:20]]), np.append(p.y, p.y[:20]), np.append(p.cost, p.cost[:20]))
    double = p._replace(cost=np.append(2 * p.cost[:20], p.cost[20:]))
    a, b = Solved(row, twice), Solved(row, double)
    assert np.linalg.norm(a.w - b.w) <= a.room
    assert a.f == pytest.approx(b.f, rel=1e-9)


@every_path
def test_all_rows_twice_at_half_the_cost(row, path, walk):
    walk(row, path)
    for p in SOME:
        twice = p._replace(X=np.vstack([p.X, p.X]), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))
        a, b = Solved(row, p), Solved(row, twice)
        assert np.linalg.norm(a.w - b.w) <= a.room
        assert a.f == pytest.approx(b.f, rel=1e-9)


@every_path
def test_features_twice_over_root_two(row, path, walk):
    walk(row, path)
    for p in SOME:
        both = p._replace(X=np.hstack([p.X, p.X]) / np.sqrt(2))
        a, b = Solved(row, p), Solved(row, both)
        assert a.f == pytest.approx(b.f, rel=1e-9)
        d = p.X.shape[1]
        assert np.linalg.norm(b.w[:d] - b.w[d : 2 * d]) <= 2 * a.room


@every_path
@pytest.mark.parametrize("factor", [0.125, 30.0])
def test_scaled_features(row, path, factor, walk):
    walk(row, path)
    for p in SOME:
        bias = factor * p.bias if p.bias >= 0 else p.bias
        a, b = Solved(row, p), Solved(row, p._replace(X=factor * p.X, cost=p.cost / factor**2, bias=bias))
        assert np.linalg.norm(factor * b.w - a.w) <= 2 * a.room
        assert factor**2 * b.f == pytest.approx(a.f, rel=1e-9)


@every_path
def test_opposite_labels(row, path, walk):
    walk(row, path)
    for p in SOME:
        a, b = Solved(row, p), Solved(row, p._replace(y=-p.y))
        assert np.linalg.norm(a.w + b.w) <= a.room


@every_path
def test_a_column_of_zeros_changes_nothing(row, path, walk):
    walk(row, path)
    for p in SOME:
        a, b = Solved(row, p), Solved(row, p._replace(X=np.insert(p.X, 3, 0.0, axis=1)))
        assert b.w[3] == 0.0
        assert np.linalg.norm(a.w - np.delete(b.w, 3)) <= a.room


@every_path
def test_order_of_rows(row, path, walk):
    walk(row, path)
    order = np.random.default_rng(0).permutation
    for p in SOME:
        k = order(len(p.y))
        a, b = Solved(row, p), Solved(row, p._replace(X=p.X[k], y=p.y[k], cost=p.cost[k]))
        assert np.linalg.norm(a.w - b.w) <= a.room


@every_path
def test_rows_of_cost_zero_are_not_there(row, path, walk):
    walk(row, path)
    for p in SOME:
        cost = p.cost.copy()
        cost[5::4] = 0.0
        kept = cost > 0
        a = Solved(row, p._replace(cost=cost))
        b = Solved(row, p._replace(X=p.X[kept], y=p.y[kept], cost=cost[kept]))
        assert np.linalg.norm(a.w - b.w) <= a.room


@every_path
def test_dense_is_sparse(row, path, walk):
    walk(row, path)
    for p in SOME:
        a, b = Solved(row, p, "csr"), Solved(row, p, "dense")
        assert np.linalg.norm(a.w - b.w) <= a.room
        assert a.f == pytest.approx(b.f, rel=1e-9)


@every_layout
@every_path
def test_warm_start_at_the_answer_stops_at_once(row, path, layout, walk):
    walk(row, path)
    for p in SOME:
        best = ORACLES[row.loss][1](p)
        s = Solved(row, p, layout, start=best, gap=1e-6)
        assert s.result.iterations == 1, s.result.history
        assert s.status is base.GAP
        assert np.linalg.norm(s.w - best) <= 1e-3 * np.linalg.norm(best)


@every_path
def test_warm_start_elsewhere_gives_the_same_answer(row, path, walk):
    walk(row, path)
    for p in SOME:
        start = np.random.default_rng(3).normal(size=p.A.shape[1])
        a, b = Solved(row, p), Solved(row, p, start=start)
        assert np.linalg.norm(a.w - b.w) <= a.room


@every_path
def test_gap_is_what_was_asked_for(row, path, walk):
    walk(row, path)
    iterations = []
    for gap in (0.5, 1e-3, 1e-10):
        s = Solved(row, PROBLEMS["tall-hard"], gap=gap)
        assert s.status.converged and s.certificate.gap <= gap * (1 + 1e-6) + 1e-15
        assert s.result.history[-1]["gap"] <= gap or s.status is base.OPTIMAL
        iterations.append(s.result.iterations)
    assert iterations == sorted(iterations)


@every_layout
@pytest.mark.parametrize("start", [None, 0.3], ids=["cold", "warm"])
@pytest.mark.parametrize("eps", [None, 1e-1, 1e-4])
@every_path
def test_liblinear_rule_holds_at_the_end(row, path, eps, start, layout, walk):
    """-e as LIBLINEAR means it for the number, computed here anew from what the solver returns."""
    eps = row.eps_default if eps is None else eps
    if eps is None:
        pytest.skip(f"-s {row.number} stops by --gap when -e is not given")
    walk(row, path)
    for p in (*SOME, PROBLEMS["tall-hard"]):
        w = None if start is None else np.full(p.A.shape[1], start)
        s = Solved(row, p, layout, w, eps=eps)
        assert s.status.converged, s.status
        if row.space == "primal":
            assert reference.liblinear_rule(p, s.w, eps)
            continue
        alpha = s.result.alpha
        if alpha is None:  # from a primal method: the dual point that belongs to w
            alpha = 2.0 * p.cost * np.maximum(1.0 - p.y * (p.A @ s.w), 0.0)
        assert np.all(alpha >= 0)
        np.testing.assert_allclose(p.A.T @ (alpha * p.y), s.w, atol=1e-6 * (1 + np.linalg.norm(s.w)))
        # LIBLINEAR measures row by row while w still moves; at the end of that pass twice its number is safe
        assert np.max(np.abs(reference.projected_gradients(p, alpha))) <= 2 * eps


@every_row
def test_default_of_the_row_decides(row):
    """Neither -e nor --gap given."""
    p = PROBLEMS["tall-hard"]
    s = Solved(row, p, gap=None, eps=None)
    assert s.status.converged
    if row.gap_default is not None:
        assert s.certificate.gap <= row.gap_default
    elif row.space == "primal":
        assert reference.liblinear_rule(p, s.w, row.eps_default)


@every_layout
@every_path
def test_same_bits_for_any_number_of_threads(row, path, layout, walk, monkeypatch):
    walk(row, path)
    monkeypatch.setattr(rows_module, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 2, 2, 1, 3):
        threads.set_count(count)
        try:
            answers.append([Solved(row, p, layout, seed=5) for p in (PROBLEMS["tall"], PROBLEMS["tall-bias"])])
        finally:
            threads.set_count(None)
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            assert a.result.w.tobytes() == b.result.w.tobytes()
            assert a.result.history == b.result.history
            assert a.certificate.line() == b.certificate.line()


def test_blocks_are_more_than_one(monkeypatch):
    """What the test above rests on."""
    monkeypatch.setattr(rows_module, "BLOCK_WORK", 16)
    p = PROBLEMS["tall"]
    assert len(rows_module.CsrRows(*reference.csr_of(p.X), 8).blocks) > 2
    assert len(DenseRows(p.X).blocks) > 2


@every_layout
@every_path
def test_iteration_limit(row, path, layout, walk):
    walk(row, path)
    p = PROBLEMS["tall-hard"]
    full = Solved(row, p, layout)
    s = Solved(row, p, layout, max_iter=1)
    if full.result.iterations > 2:
        assert s.status is base.ITERATIONS and not s.status.converged
        assert "--max-iter" in s.status.advice
    assert s.result.iterations <= 2
    assert s.f <= p.value(np.zeros_like(s.w)) * (1 + 1e-12)
    assert s.f <= min(record["objective"] for record in s.result.history) * (1 + 1e-12)
    assert full.f <= s.certificate.primal * (1 + 1e-9)
    assert s.certificate.dual <= full.f * (1 + 1e-9)


@every_layout
@every_path
def test_time_limit(row, path, layout, walk):
    walk(row, path)
    s = Solved(row, PROBLEMS["tall-hard"], layout, max_seconds=1e-9)
    assert s.status is base.TIME or s.status.converged, "a run in one call ends before it can look at the clock"
    assert "--max-seconds" in base.TIME.advice
    assert np.all(np.isfinite(s.w)) and s.f <= s.p.value(np.zeros_like(s.w)) * (1 + 1e-12)
    assert s.result.history, "what prints the end of a run needs a record"


@every_layout
@every_path
def test_interruption_before_the_first_step(row, path, layout, walk):
    walk(row, path)
    stop = StopFlag()
    stop.set = True
    s = Solved(row, PROBLEMS["tall-hard"], layout, stop=stop)
    assert s.status is base.INTERRUPTED or s.status.converged
    assert np.all(np.isfinite(s.w)) and s.f <= s.p.value(np.zeros_like(s.w)) * (1 + 1e-12)
    assert s.result.history, "what prints the end of a run needs a record"


@every_layout
@pytest.mark.parametrize("moment", [0, 1, 2])
@every_path
def test_interruption_keeps_the_best_iterate(row, path, moment, layout, walk):
    walk(row, path)
    for p in (PROBLEMS["tall-hard"], PROBLEMS["wide"]):
        stop, seen = StopFlag(), []

        def report(stop=stop, seen=seen, **record):
            seen.append(record)
            stop.set = record["iteration"] >= moment

        start = np.full(p.A.shape[1], 2.0)
        s = Solved(row, p, layout, start=start, stop=stop, report=report)
        assert s.status is base.INTERRUPTED or s.status.converged
        if s.status is base.INTERRUPTED:
            assert len(seen) <= moment + 2
        assert s.f <= min(record["objective"] for record in seen) * (1 + 1e-12)
        assert all(record["seconds"] >= 0 for record in seen)


@every_row
def test_extreme_costs(row):
    """From where w is almost 0 to where the hinge is almost hard."""
    for C in (1e-12, 1e-6, 1e6):
        p = reference.random_problem(9, 40, 6, C)
        s = Solved(row, p, gap=1e-8)
        assert s.status.converged, (C, s.status)
        assert s.certificate.gap <= 1e-8


@every_path
def test_paths_are_taken(row, path, monkeypatch, walk):
    """Each path of a back end leads where its name says."""
    if row.module != _MFN:
        pytest.skip("this back end has one path")
    from svmtool.problem.dual_passes import DualPasses
    from svmtool.problem.objective import SquaredHinge
    from svmtool.solvers import mfn

    taken: list[str] = []

    def spy(owner, name, label):
        plain = getattr(owner, name)

        def noted(self, *args, **options):
            taken.append(label(args))
            return plain(self, *args, **options)

        monkeypatch.setattr(owner, name, noted)

    spy(SquaredHinge, "small_newton", lambda args: "small")
    spy(SquaredHinge, "sample", lambda args: "sampled")
    spy(SquaredHinge, "hessian_product", lambda args: "products")
    spy(DualPasses, "run", lambda args: "passes")
    spy(mfn, "_newton", lambda args: f"newton {args[-1]}")
    walk(row, path)
    assert Solved(row, PROBLEMS["tall-hard"]).status.converged
    kinds = set(taken)
    assert ("small" in kinds) == path.startswith("small")
    assert ("sampled" in kinds) == path.endswith("sampled")
    ends = {"features": "newton features", "rows": "newton rows", "products": "newton products", "passes": "passes"}
    if not path.startswith("small"):
        assert ends[path.partition("-")[0]] in kinds, kinds
    if path == "products":
        assert "products" in kinds
