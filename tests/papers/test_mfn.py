"""-s 40 to 43 with --method paper: iterates against the paper's text, optima, laws, limits and the command."""

from __future__ import annotations

import mfn_transcribed
import numpy as np
import pytest
from reference import text_of

from svmtool import api
from svmtool.papers.mfn import How, Problem, l2_svm_mfn
from svmtool.papers.mfn_extensions import Pairs, continuation

LOSSES = ("squared-hinge", "huber", "hinge")
CASES = [(40, {}), (41, {}), (42, {}), *((43, {"loss": loss}) for loss in LOSSES)]
every_case = pytest.mark.parametrize(("solver", "loss"), CASES, ids=lambda v: str(v) if v else "")


def made(n: int = 60, d: int = 5, seed: int = 0, ranks: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes -1 and 1, or ranks 1 to `ranks`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.2
    score = X @ rng.normal(size=d) + 0.7 * rng.normal(size=n)
    if not ranks:
        return X, np.where(score > 0.0, 1, -1)
    return X, 1 + np.searchsorted(np.quantile(score, np.arange(1, ranks) / ranks), score)


def of_case(solver: int, n: int = 60, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return made(n, d, seed, 4 if solver == 43 else 0)


def iterates(steps) -> list[np.ndarray]:
    """beta of each iteration after the start."""
    return [point.beta for point in steps][1:]


def same(mine: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    """Equal numbers of iterates, of which the first ten agree."""
    assert len(mine) == len(theirs) >= 1
    for a, b in list(zip(mine, theirs, strict=True))[:10]:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max())


def ten_rows(ranks: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten rows with the bias feature of the paper last."""
    X, t = made(10, 3, 3, ranks)
    return np.hstack((X, np.ones((10, 1)))), t if ranks else t.astype(float)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("heuristics", ["none", "h1", "h2", "h1,h2"])
def test_iterates_are_those_of_appendix_a(C, heuristics):
    X, t = ten_rows()
    P = Problem(X, t, np.full(10, C), "squared hinge")
    h1, h2 = "h1" in heuristics, "h2" in heuristics
    same(
        iterates(l2_svm_mfn(P, 1e-6, How(heuristics, 50))),
        mfn_transcribed.newton(X, t, 0.5 / C, np.zeros(4), h1=h1, h2=h2),
    )


def test_first_guess_is_scaled_by_eqs_8_and_9_and_a_seed_is_not():
    X, t = ten_rows()
    P, w = Problem(X, t, np.full(10, 2.0), "squared hinge"), np.array([900.0, -300.0, 700.0, 40.0])
    start = mfn_transcribed.guess(X, t, 0.25, w[:-1])
    points = list(l2_svm_mfn(P, 1e-6, How("h1,h2", 50, w, False, 1.0)))
    np.testing.assert_allclose(points[0].beta, start, rtol=1e-10)
    same([p.beta for p in points[1:]], mfn_transcribed.newton(X, t, 0.25, start))
    points = list(l2_svm_mfn(P, 1e-6, How("h1,h2", 50, start, True, 1.0)))
    assert np.array_equal(points[0].beta, start)
    same([p.beta for p in points[1:]], mfn_transcribed.newton(X, t, 0.25, start, 1))


def test_a_guess_without_weights_but_the_bias_starts_from_zero():
    """(9) has no solution: eq. (8) scales weights that are all zero."""
    X, t = ten_rows()
    how = How("", 50, np.array([0.0, 0.0, 0.0, 2.0]), bias=1.0)
    points = list(l2_svm_mfn(Problem(X, t, np.ones(10), "squared hinge"), 1e-6, how))
    assert not np.any(points[0].beta) and np.all(np.isfinite(points[-1].beta))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_iterates_of_the_modified_huber_loss_are_those_of_section_6(C):
    X, t = ten_rows()
    P = Problem(X, t, np.full(10, C), "modified Huber")
    theirs = mfn_transcribed.newton(X, t, 1.0 / C, np.zeros(4), cap=2.0)
    same(iterates(l2_svm_mfn(P, 1e-6, How("h1,h2", 50))), theirs)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_iterates_of_the_hinge_are_those_of_its_limit(C):
    X, t = ten_rows()
    P = Problem(X, t, np.full(10, C), "hinge")
    same(iterates(continuation(P, 1e-3, How("h1,h2", 50))), mfn_transcribed.hinge(X, t, C, 1e-3))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_iterates_of_ordinal_regression_are_those_of_section_7(C):
    X, ranks = ten_rows(3)
    s, i = np.divmod(np.arange(20), 10)
    y = np.where(ranks[i] > s + 1, 1.0, -1.0)
    P = Problem(Pairs(X, i, s, 2), y, np.full(20, C), "squared hinge")
    written_out = np.hstack((X[i], -np.eye(2)[s]))  # (x_i, -e_s), the rows of Eq. 25
    same(iterates(l2_svm_mfn(P, 1e-6, How("h1,h2", 50))), mfn_transcribed.newton(written_out, y, 0.5 / C, np.zeros(6)))


@pytest.mark.parametrize("heuristics", ["h1,h2", "h3", "none"])
@every_case
def test_dual_point_of_section_4_7_certifies(solver, loss, heuristics):
    X, y = of_case(solver)
    done = api.fit(X, y, solver=solver, heuristics=heuristics, **loss)
    assert done.certificate.dual > 0.999 * done.certificate.primal and done.certificate.violation < 0.01


def test_model_a_thousand_times_too_large_starts_near_the_optimum():
    X, y = made()
    done = api.fit(X, y, solver=40, C=3.0)
    start = []
    done.model.W *= 1000.0
    again = api.fit(X, y, solver=40, C=3.0, init=done.model, callback=start.append)
    assert start[0]["objective"] <= 2.0 * again.certificate.primal
    assert again.certificate.gap <= 1e-8


def test_values_of_C_are_seeded_but_the_first(svm_train, monkeypatch):
    from svmtool.papers import mfn

    X, y = made()
    seen, steps = [], mfn.appendix_a
    monkeypatch.setattr(
        mfn, "appendix_a", lambda P, f, beta, ini, *more: (seen.append((ini, beta)), steps(P, f, beta, ini, *more))[1]
    )
    status, out, _ = svm_train("-s", 40, "--grid", "C=1,2,4", "d", data=text_of(X, y))
    assert status == 0 and len(out.splitlines()) == 5
    assert [(ini, bool(np.any(beta))) for ini, beta in seen] == [(0, False), (1, True), (1, True)]
    seen.clear()
    assert svm_train("-s", 40, "-v", 2, "d")[0] == 0
    assert [ini for ini, _ in seen] == [0, 0]


def test_loss_of_ordinal_regression(svm_train):
    X, y = of_case(43)
    data = text_of(X, y)
    for loss, text in zip(LOSSES, ("squared hinge", "modified Huber", "hinge"), strict=True):
        status, out, err = svm_train("-q", "-s", 43, "--loss", loss, "d", "m", data=data)
        assert (status, out, err) == (0, "", "")
        _, out, _ = svm_train("--explain", "-s", 43, "--loss", loss)
        assert f"loss         {text}\n" in out
    status, _, err = svm_train("-s", 43, "--method", "fast", "--loss", "huber", "d")
    assert (status, err) == (1, "ERROR: solver 43 (mfn-ordinal) does not support --loss: use --method paper\n")
    assert svm_train("-s", 43, "--loss", "square", "d")[2].startswith("ERROR: --loss square: must be one of")
    assert svm_train("-s", 40, "--heuristics", "h1,h1", "d")[2].startswith("ERROR: --heuristics h1,h1: must be")
    assert svm_train("-s", 40, "-R", "-B", 1, "d")[2] == (
        "ERROR: solver 40 (mfn) --method paper does not support -R: use --method fast\n"
    )
    with pytest.raises(ValueError, match="loss must be one of"):
        api.fit(X, y, solver=43, loss="log")
    with pytest.raises(ValueError, match="heuristics must be"):
        api.fit(X, y, solver=40, heuristics="h9")
