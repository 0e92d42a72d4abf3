"""-C --guarantee: the balls of solutions, the rows that they decide, and bounds that no C of the range exceeds."""

from __future__ import annotations

import numpy as np
import pytest
from reference import table_of, text_of

import svmtool
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.training.reductions.base import problems_of
from svmtool.training.validation import guarantee
from svmtool.training.validation.cross_validation import Folds

TINY = 1e-9  # slack of lengths and bounds that rounding and gaps of 1e-12 explain


def made(labels: tuple[int, ...], n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, len(labels)])
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.8)
    f = X @ (1.0, -1.0, 0.5, 0.0) + 0.8 * rng.normal(size=n) + 0.2
    return X, np.array(labels, float)[np.digitize(f, np.quantile(f, np.arange(1, len(labels)) / len(labels)))]


def solved(table, settings: Settings, gap: float):
    problems = problems_of(table, settings.replace(gap=gap, keep_dual=True))
    return problems, problems.fit()


@pytest.mark.parametrize(("solver", "gap"), [(0, 1e-10), (2, 1e-1), (7, 1e-3)])
def test_solutions_lie_in_the_balls_and_decided_rows_are_wrong(solver, gap):
    """From rough and exact solutions of neighbours, for C between and at them."""
    for labels in ((1, -1), (1, 2, 3)):
        (X, y), settings = made(labels), Settings.of(solver=solver, bias=1.0, class_weights=((1, 2.0),))
        inside, outside = table_of(X[:40], y[:40]), table_of(X[40:], y[40:])
        for low, ratio in ((0.003, 8.0), (0.2, 1.3), (5.0, 1.02)):
            Cs = low, low * ratio
            ends = [guarantee.witness_of(*solved(inside, settings.replace(C=C), gap), outside) for C in Cs]
            always = np.full(20, True)
            for s in ratio ** np.linspace(0.0, 1.0, 3):
                problems, results = solved(inside, settings.replace(C=low * s), 1e-12)
                w = problems.weights(results)
                for end, scale in zip(ends, (s, s / ratio), strict=True):
                    centre, scores, square = end.ball(scale)
                    off = np.sqrt(np.sum((w - centre) ** 2, axis=0)) - np.sqrt(square)
                    assert np.all(off <= 1e-5 * np.sqrt(np.sum(w * w, axis=0))), (labels, low, s, off)
                    assert np.allclose(scores, np.c_[X[40:], np.ones(20)] @ centre)
                always &= problems.model(w).predict(outside) != y[40:]
            assert guarantee.wrong_between(*ends, ratio) <= np.count_nonzero(always)
            if gap == 1e-10 and ratio < 1.1:  # the bound is near what is so
                assert guarantee.wrong_between(*ends, ratio) >= np.count_nonzero(always) - 1


def brute_force(table, settings: Settings, low: float, count: int) -> float:
    """The best share of right rows among `count` values of C, each solved from zero to a gap of 1e-8."""
    folds, best = Folds(table, settings, 3), 0.0
    for C in np.geomspace(low, 1024.0, count):
        predictions, _ = folds.evaluate(settings.replace(C=float(C), gap=1e-8), StopFlag(None))
        best = max(best, float(np.mean(predictions == table.labels)))
    return best


@pytest.mark.parametrize(("solver", "labels"), [(0, (1, -1)), (2, (1, 2, 3))])
def test_no_C_exceeds_the_bound(solver, labels):
    X, y = made(labels, seed=solver)
    y[0] = 5.0  # a class of one row, which its fold's model does not know
    settings = Settings.of(solver=solver, bias=1.0 if solver == 3 else -1.0)
    table = table_of(X, y)
    found = guarantee.search(Folds(table, settings, 3), settings, 5.0, StopFlag(), first_C=0.05)
    best = max(tried.score for tried in found.tried)
    assert found.best.score == best and found.best.C == min(t.C for t in found.tried if t.score == best)
    assert found.bound <= best + 0.05 + TINY and found.bound >= best and found.ended_at == ""
    assert found.tried[1].C == 1024.0
    assert brute_force(table, settings, found.tried[0].C, 3) <= found.bound + TINY


def test_the_command_prints_the_bound(svm_train):
    status, out, err = svm_train(
        "-C", "-v", 3, "-s", 3, "--guarantee", 10, "-c", 0.01, "d", data=text_of(*made((1, -1), 40))
    )
    lines = out.splitlines()
    assert (status, err) == (0, "") and lines[-1].startswith("No C from 0.01 to 1024 has a CV accuracy above ")
    assert lines[-2].startswith("Best C = ") and lines[-1].endswith(f"values of C: {len(lines) - 3}")
    best, bound = (float(line.split("%")[0].split()[-1]) for line in lines[-2:])
    assert best <= bound <= best + 10.0


def test_python_searches_as_the_command():
    X, y = made((1, -1), 40)
    found = svmtool.search_C(X, y, 3, folds=3, guarantee=15.0, C=1.0)
    table, settings = table_of(X, y), Settings.of(solver=3)
    same = guarantee.search(Folds(table, settings, 3), settings, 15.0, StopFlag(), first_C=1.0)
    assert (found.best, found.bound) == (same.best, same.bound) and found.bound <= found.best.score + 0.15 + TINY
    assert svmtool.search_C(X, y, 2).bound is None
    for keywords, message in (({"gap": 1e-3}, "gap"), ({"solver": 5}, "has no guarantee")):
        with pytest.raises(ValueError, match=message):
            svmtool.search_C(X, y, **{"solver": 2, "guarantee": 1.0, **keywords})
    with pytest.raises(ValueError, match="a matrix y"):
        svmtool.search_C(X, np.eye(2)[(y > 0).astype(int)], 2, guarantee=1.0)


def test_a_time_limit_says_what_holds_so_far(svm_train, out_of_time):
    out_of_time()
    data = text_of(*made((1, -1)))
    status, out, err = svm_train("-q", "-C", "--guarantee", 1e-3, "--strict", "d", data=data)
    assert status == 2 and "No C from" in out and "above 100%" in out and "the search ended at C = " in err


def test_advice_names_no_option_that_it_excludes(svm_train):
    rng = np.random.default_rng(5)
    data = text_of(rng.normal(size=(40, 8)), np.arange(40) % 2)
    for more, advice in (((), "raise --max-iter or loosen -e or --gap\n"), (("--guarantee", 5), "raise --max-iter\n")):
        err = svm_train("-q", "-C", "-s", 2, "-v", 2, "--max-iter", 1, *more, "d", data=data)[2]
        assert "folds did not converge at" in err and err.endswith(f"iteration limit reached: {advice}")


def test_a_search_that_only_it_has_is_named(svm_train):
    status, _, err = svm_train("--guarantee", 1, "-C", "-s", 5, "d", data="1 1:1\n-1 1:-1\n")
    assert status == 1 and "here also for -s 1, -s 3, -s 7" in err
