"""One suite for every row of the registry: optimum, certificate, stopping rules, limits and interruption."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from solver_suite import (
    MFN,
    PROBLEMS,
    SOME,
    Solved,
    choose_path,
    every_layout,
    every_path,
    every_row,
    honours,
    keep_sparse,
)

from svmtool.compiled import threads
from svmtool.problem import rows as rows_module
from svmtool.problem.rows import DenseRows
from svmtool.solvers import base
from svmtool.solvers.base import StopFlag


@pytest.fixture(autouse=True)
def sparse_layout(monkeypatch):
    """Only where a test says so are rows dense."""
    keep_sparse(monkeypatch)


@pytest.fixture
def walk(monkeypatch):
    """Choose a path of a back end; from then on solvers take it."""
    return lambda row, path: choose_path(monkeypatch, row, path)


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
    assert [record["iteration"] for record in s.result.history] == list(range(len(s.result.history)))
    assert s.result.iterations >= len(s.result.history)  # coordinate passes may run without a record each
    np.testing.assert_allclose(s.w, s.minimiser(p), atol=10 * s.room)


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
    if row.module != MFN:
        pytest.skip("this back end has one path")
    from svmtool.problem.dual_passes import DualPasses
    from svmtool.problem.squared_hinge import SquaredHinge
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
    spy(mfn, "newton_steps", lambda args: "newton " + next(a for a in args if isinstance(a, str)))
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
