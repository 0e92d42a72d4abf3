"""One suite for every row of the registry: optimum, certificate, stopping rules, limits and interruption."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from naming import case_of
from optima import optimum
from sampling import every_turn
from solver_suite import EVERYWHERE, LAYOUTS, PROBLEMS, SOME, Solved, every_path, every_row, layout_of, share, supported

from svmtool.compiled import threads
from svmtool.data import row_storage
from svmtool.linalg import columns
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import MAX_RECORDS, StopFlag
from svmtool.tolerances import LATE_RULE_SHARE

RULED = [case for case in EVERYWHERE if "-e" in case.row.supported]
SMALL_BLOCK = 32  # BLOCK_WORK that gives a problem of 60 rows more blocks than threads


@every_turn
@every_path
def test_optimum_and_certificate(case, turn):
    for number in share(case, turn, 4):
        half, shift = divmod(number, 2)
        for k, (name, p) in enumerate([*PROBLEMS.items()][half::2]):
            layout = LAYOUTS[(k + shift) % 2]
            with case_of(name, layout):
                if supported(case, p):
                    check_optimum(Solved(case, p, layout))


def check_optimum(s: Solved) -> None:
    best = optimum(s.p).value
    assert s.status.converged, s.status
    assert best * (1 - 1e-10) <= s.f <= best * (1 + 1e-8)
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.result.history[-1]["objective"] == pytest.approx(s.f, rel=1e-9)
    assert s.certificate.dual <= best * (1 + 1e-10)
    assert s.certificate.gap <= 1e-8
    assert s.certificate.violation <= 1e-3
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9), "a bound above the optimum"
        assert record["objective"] >= best * (1 - 1e-9)
        assert record["gap"] >= 0
    recorded = [record["iteration"] for record in s.result.history]
    in_a_row = min(len(recorded), MAX_RECORDS // 2)  # a long run keeps no more
    assert recorded[:in_a_row] == list(range(in_a_row))
    assert recorded == sorted(set(recorded)) and (len(recorded) > MAX_RECORDS // 2 or recorded[-1] == len(recorded) - 1)
    assert s.result.iterations >= len(s.result.history)  # epochs may run without a record each
    np.testing.assert_allclose(s.w, optimum(s.p).w, atol=10 * s.radius)


@every_path
def test_target_gap_is_reached(case):
    iterations = []
    for gap in (0.5, 1e-3, 1e-10):
        s = Solved(case, PROBLEMS["tall-hard"], gap=gap)
        assert s.status.converged and s.certificate.gap <= gap * (1 + 1e-6) + 1e-15
        assert s.result.history[-1]["gap"] <= gap or s.status is base.OPTIMAL
        iterations.append(len(s.result.history))  # epochs may hand over to steps, which count anew
    assert iterations == sorted(iterations)


@every_turn
@pytest.mark.parametrize("case", RULED, ids=lambda case: case.id)
def test_liblinear_rule_holds_at_the_end(case, turn):
    """-e as LIBLINEAR means it for the number, computed here anew from what the solver returns."""
    problems = *SOME, PROBLEMS["tall-hard"]
    tolerances = {case.row.eps_default, 1e-1, 1e-4} - {None}  # without a default the row stops by --gap
    for k, (eps, start) in enumerate(itertools.product(sorted(tolerances), (None, 0.3))):
        for number in share(case, turn, 8, RULED):
            layout, p = LAYOUTS[(number // 4 + k + k // 2) % 2], problems[number % 4]
            with case_of(f"e {eps:g}", "cold" if start is None else "warm", f"problem {number % 4}", layout):
                w = None if start is None else np.full(p.A.shape[1], start)
                s = Solved(case, p, layout, w, eps=eps)
                assert s.status.converged, s.status
                assert rule_holds(case, s, eps)


def rule_holds(case, s, eps) -> bool:
    """LIBLINEAR's rule for the number at the answer; with |w|_1 the certified gap that replaces it, or that rule with
    a gap of at most 1e-3."""
    if s.p.l1:
        if s.certificate.gap <= min(max(1e-4 * eps, 1e-10), 1e-3) * (1 + 1e-6):
            return True
        near = s.p.value(s.w) <= optimum(s.p).value * (1 + 1e-3)
        return near and reference.liblinear_rule(s.p, s.w, eps)
    if case.row.space == "primal":
        return reference.liblinear_rule(s.p, s.w, eps)
    # LIBLINEAR's rule after its cap on epochs
    if case.row.number == 1 and reference.liblinear_rule(s.p, s.w, LATE_RULE_SHARE * eps):
        return True
    # from a primal method: the dual point that belongs to w
    alpha = s.p.dual_point(s.w) if s.result.alpha is None else s.result.alpha
    assert np.all(alpha >= 0) and np.all(alpha <= s.p.cost * s.p.l.cap)
    apart = np.max(np.abs(s.p.weights(alpha) - s.w))
    # the point's own weights, better ones, or a primal method's that gave it
    better = s.result.alpha is not None and s.p.value(s.w) <= s.p.value(s.p.weights(alpha))
    assert apart <= 1e-6 * (1 + np.linalg.norm(s.w)) or better or s.certificate.gap <= 1e-3 * (s.result.alpha is None)
    # LIBLINEAR measures row by row while w still moves; at the end of that epoch twice its number is safe
    return np.max(np.abs(s.p.projected_gradients(alpha))) <= 2 * eps


@every_row
def test_default_of_the_row_decides(case):
    """Neither -e nor --gap given."""
    s = Solved(case, PROBLEMS["tall-hard"], gap=None, eps=None)
    assert s.status.converged
    if case.row.gap_default is not None:
        assert s.certificate.gap <= case.row.gap_default
    else:
        assert rule_holds(case, s, case.row.eps_default)


@every_turn
@every_path
def test_same_bits_for_any_number_of_threads(case, turn, monkeypatch):
    monkeypatch.setattr(row_storage, "BLOCK_WORK", SMALL_BLOCK)
    monkeypatch.setattr(columns, "BLOCK_WORK", SMALL_BLOCK)
    combinations = [*itertools.product(("tall", "tall-bias"), LAYOUTS)]
    for name, layout in (combinations[k] for k in share(case, turn, len(combinations))):
        answers = []
        for count in (1, 3):
            with threads.limited(count):
                answers.append(Solved(case, PROBLEMS[name], layout, seed=5))
        a, b = answers
        with case_of(name, layout):
            assert a.result.w.tobytes() == b.result.w.tobytes()
            assert a.result.history == b.result.history
            assert a.certificate.line() == b.certificate.line()


@every_turn
@every_path
def test_a_run_that_is_ended_early(case, turn):
    """Early epochs overshoot, the more the larger the features are."""
    stop = StopFlag()
    stop.set = True
    ends = [(base.ITERATIONS, {"max_iter": most}) for most in (1, 3)]
    ends += [(base.TIME, {"max_seconds": 1e-9}), (base.INTERRUPTED, {"stop": stop})]
    for k, (name, size) in enumerate((("tall-hard", 1.0), ("wide", 10.0))):
        p, layout = PROBLEMS[name], layout_of(case, turn, k)
        p = p._replace(X=size * p.X)
        full = Solved(case, p, layout)
        for status, limit in ends:
            with case_of(name, status.name, limit):
                s = Solved(case, p, layout, **limit)
                assert s.status is status or s.status.converged, "one call may end before it can look at the clock"
                assert s.result.history and np.all(np.isfinite(s.w)), "what prints the end of a run needs a record"
                assert s.f <= s.p.value(np.zeros_like(s.w)) * (1 + 1e-12)
                assert s.f <= min(record["objective"] for record in s.result.history) * (1 + 1e-12)
                assert s.certificate.dual <= full.f * (1 + 1e-9) and full.f <= s.certificate.primal * (1 + 1e-9)
                most = limit.get("max_iter", np.inf)
                assert s.result.iterations <= most + 1
                assert status is not base.ITERATIONS or s.status is status or full.result.iterations <= most + 1
    assert "--max-iter" in base.ITERATIONS.advice and "--max-seconds" in base.TIME.advice


@every_turn
@every_path
def test_interruption_keeps_the_best_iterate(case, turn):
    for k, (moment, name) in enumerate(itertools.product((0, 1, 2), ("tall-hard", "wide"))):
        p, layout = PROBLEMS[name], layout_of(case, turn, k + k // 2)
        stop, seen = StopFlag(), []

        def report(stop=stop, seen=seen, moment=moment, **record):
            seen.append(record)
            stop.set = record["iteration"] >= moment

        with case_of(name, layout, f"record {moment}"):
            start = np.full(p.A.shape[1], 2.0)
            s = Solved(case, p, layout, start=start, stop=stop, report=report)
            assert s.status is base.INTERRUPTED or s.status.converged
            if s.status is base.INTERRUPTED:
                assert len(seen) <= moment + 2
            assert s.f <= min(record["objective"] for record in seen) * (1 + 1e-12)
            assert all(record["seconds"] >= 0 for record in seen)


@pytest.mark.parametrize("number", [0, 5, 6])
def test_a_free_bias_and_one_class(number):
    """The bias alone makes every loss 0, as far as rounding states."""
    p = PROBLEMS["tall-free"]
    for case in (case for case in EVERYWHERE if case.row.number == number):
        s = Solved(case, p._replace(y=np.ones_like(p.y)))
        assert s.status.converged and s.f == 0.0 and s.certificate.gap == 0.0
        assert np.count_nonzero(s.w) == 1 and s.w[-1] > 0.0


@every_row
def test_extreme_costs(case):
    """From where w is almost 0 to where the hinge is almost hard."""
    for C in (1e-12, 1e-6, 1e6):
        p = reference.random_problem(9, 40, 6, C)
        s = Solved(case, p, gap=1e-8)
        assert s.status.converged, (C, s.status)
        assert s.certificate.gap <= 1e-8
        assert np.any(s.w) or case.row.regulariser == "|w|_1", "zero weights tell no rows apart, whatever their gap"
