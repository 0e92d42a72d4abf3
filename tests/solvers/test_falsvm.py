"""-s 72 against Algorithm 2 written out, row by row, in the paper's letters."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from adapt_suite import PaperForm
from optima import optimum
from solver_suite import PROBLEMS

from svmtool.compiled import threads
from svmtool.compiled.loops.rows.rand_loops import rand_seed, rand_shuffle
from svmtool.data.dense import DenseRows
from svmtool.formats.models import linear
from svmtool.linalg.systems import PART_ROWS
from svmtool.params import Settings
from svmtool.solvers import falsvm
from svmtool.solvers.shared import base
from svmtool.training.reductions.one_vs_rest import OneVsRest

NAMES = [name for name, p in PROBLEMS.items() if not p.free]


def solved(p, layout="csr", **settings):
    s = Settings.of(solver=72, C=1.0, bias=p.bias, **settings)
    problems = OneVsRest(reference.table_of(p.X, p.y, p.cost), s)
    if layout == "dense":
        problems.rows = DenseRows(np.ascontiguousarray(p.X), p.bias)
    [result] = problems.fit()
    return result, problems.certify(0, result)


def algorithm_2(p, passes=1, seed=1):
    """w and the rows added, one after the other; every row in the scale of its cost, so that nu = 1/2."""
    random, order = np.zeros(32, np.int64), np.arange(len(p.y))
    rand_seed(random, seed)
    paper, added = PaperForm(p.A.shape[1], 1.0), []
    for _ in range(passes):
        rand_shuffle(random, order, 0, len(order))
        for k in order.tolist():
            x, y = p.A[k], p.y[k]
            if not np.any(paper.w) or y * float(paper.w @ x) < 0:
                root = np.sqrt(p.cost[k])
                paper.add(root * x, root * y)
                added.append(k)
    return paper.w, added


@pytest.mark.parametrize("layout", ["csr", "dense"])
@pytest.mark.parametrize("name", NAMES)
def test_is_algorithm_2(name, layout):
    p = PROBLEMS[name]
    for passes, seed in ((1, 1), (3, 7), (40, 2)):
        result, certificate = solved(p, layout, passes=passes, seed=seed)
        w, added = algorithm_2(p, passes, seed)
        assert result.history[-1]["active"] == len(added) > 1
        assert len(added) > PART_ROWS or passes < 40 or name.startswith("wide"), "P changes"
        np.testing.assert_allclose(result.w, w, rtol=1e-9, atol=1e-11)
        # and that is the least-squares SVM of the rows added
        A, y, c = p.A[added], p.y[added], p.cost[added]
        best = np.linalg.solve(A.T @ (c[:, None] * A) + np.eye(A.shape[1]) / 2, A.T @ (c * y))
        np.testing.assert_allclose(result.w, best, rtol=1e-8, atol=1e-10)
        assert result.status is falsvm.PASSES and result.status.converged
        q = p._replace(loss="least squares")
        assert certificate.primal == pytest.approx(q.value(result.w), rel=1e-12)
        assert certificate.dual <= optimum(q).value * (1 + 1e-12)
        assert certificate.gap > 1e-6, "it is no optimum, and must not be reported as one"


def test_limits_and_threads():
    p = PROBLEMS["tall-hard"]
    result, _ = solved(p, max_seconds=1e-9)
    assert result.status is base.TIME and result.history
    found = []
    for count in (1, 2):
        with threads.limited(count):
            found.append(solved(p)[0].w.tobytes())
    assert found[0] == found[1]


def test_command(svm_train, command, data):
    """Several classes, odd data, and what is printed; the certificate states that it is no optimum."""
    status, out, err = svm_train("-s", 72, "--method", "fast", "--passes", 2, data / "digits", "m")
    assert (status, err) == (0, "") and out.count("pass  2 f ") == 10 and "Certified relative gap = " in out
    assert "Stopped: all passes" in "".join(linear.read("m").notes)
    assert float(command("predict", data / "digits.t", "m", "o").stdout.split()[2].rstrip(b"%")) > 70
    for text, C in (("", 1.0), ("1\n1\n-1\n", 1e10), ("3 1:1\n", 1e-12), ("1 1:1e5\n-1 1:1e-9\n", 1e10)):
        assert svm_train("-q", "-s", 72, "-c", C, "d", "m2", data=text)[0] == 0
        assert np.all(np.isfinite(linear.read("m2").W))
    status, _, err = svm_train("-s", 72, "d", data="1 1:1\n-1 6000:1\n")
    assert status == 1 and "are too many" in err
    status, _, err = svm_train("-s", 72, "--gap", 0.1, "d")
    assert status == 1 and "does not support --gap" in err
