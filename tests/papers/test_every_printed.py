"""One suite for every paper's algorithm as printed: laws within the certified gaps, limits, odd data, the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from both_methods import PRINTED, agree, every_printed, has_costs, rows_and_labels, solved
from naming import case_of
from reference import text_of
from sampling import pairs_in_turn

from svmtool import registry
from svmtool.api import dumps
from svmtool.compiled import threads

WITH_KERNEL = [row for row in PRINTED if row.kernel]
ENDS = ("iterations", "time", "interrupted")  # a limit's statuses


@every_printed
def test_it_agrees_with_the_engine_and_with_itself(row):
    """The same problem by either method, to a smaller tolerance, and put differently."""
    X, y = rows_and_labels(row)
    order, half = np.random.default_rng(1).permutation(len(X)), {"C": 0.5} if has_costs(row) else {}
    more = {} if row.eps_default is None or not row.optimal else {"eps": 0.1 * row.eps_default}
    records: list[dict] = []
    plain = solved(row, X, y, callback=records.append)
    assert records[-1]["objective"] == pytest.approx(plain.certificate.primal, rel=1e-9)
    opposite = (4.0 if row.kind == "ordinal" else 0.0) - y if has_costs(row) else y
    wide = solved(row, scipy.sparse.csr_array(np.insert(X[order], 1, 0.0, axis=1)), opposite[order])
    assert row.kernel or np.all(wide.model.W[1] == 0.0)
    twice = solved(row, np.vstack((X, X)), np.append(y, y), **half)
    agree(plain, solved(row, X, y, **more), solved(row, X, y, "fast"), wide, twice)


@pytest.mark.parametrize(("row", "kernel"), pairs_in_turn(WITH_KERNEL, ["linear", "poly"]))  # rbf: of the test above
def test_it_agrees_with_the_engine_with_each_kernel(row, kernel):
    X, y = rows_and_labels(row, seed=3)
    agree(solved(row, X, y, kernel=kernel), solved(row, X, y, "fast", kernel))


@every_printed
def test_threads_leave_the_bits(row):
    X, y = rows_and_labels(row)
    found = []
    for count in (1, 2):
        with threads.limited(count):
            found.append(dumps(solved(row, X, y)))
    assert found[0] == found[1]


@every_printed
def test_limits_keep_a_model(row):
    X, y = rows_and_labels(row, 200, 6, 5)
    late = solved(row, X, y, max_seconds=1e-9)
    assert np.isfinite(late.certificate.primal) and (late.status.name in ENDS or late.status.converged)
    if "--max-iter" in row.supported:
        eps = {"eps": 1e-6} if "-e" in row.supported - registry.without_effect(row) else {}
        short = solved(row, X, y, max_iter=1, **eps)
        assert np.all(short.n_iter <= 1) and np.isfinite(short.certificate.primal)
        assert short.status.name == "iterations" or short.status.converged


ODD = {
    "one row": lambda X, y: (X[:1], y[:1]),
    "one class": lambda X, y: (X, np.ones(len(y))),
    "rows of zeros": lambda X, y: (0.0 * X, y),
    "more features than rows": lambda X, y: (np.hstack([X[:5]] * 4), y[:5]),
    "huge": lambda X, y: (1e60 * X, y),
    "tiny": lambda X, y: (1e-100 * X, y),
    "very different columns": lambda X, y: (X * np.logspace(-6, 6, X.shape[1]), y),
}


@every_printed
def test_odd_data(row):
    """Results are finite, or not converged."""
    for k, (name, change) in enumerate(ODD.items()):
        X, y = change(*rows_and_labels(row, seed=6))
        more = {"C": (1.0, 1e-6, 1e6)[k % 3]} if has_costs(row) else {}
        with case_of(name, more):
            done = solved(row, X, y, max_seconds=0.1, **more)
            c = done.certificate
            assert np.isfinite(c.primal) or not done.converged
            assert not c.dual > c.primal + 1e-9 * abs(c.primal)
            assert np.all(np.isfinite(done.model.rho if row.kernel else done.model.W))


@every_printed
def test_the_log_names_the_papers_steps_only(row, svm_train):
    X, y = rows_and_labels(row)
    more = ["-t", "2"] if row.kernel else []
    status, _, err = svm_train("-s", row.number, *more, "--solver-log", "log", "d", "m", data=text_of(X, y))
    assert status == 0, err
    named = {json.loads(line)["method"] for line in Path("log").read_text().splitlines()}
    assert named and named <= set(registry.methods(row).values())


@every_printed
def test_explain_states_the_algorithm(row, svm_train):
    more = ["-t", "2"] if row.kernel else []
    status, out, _ = svm_train("-s", row.number, *more, "--explain")
    about = registry.about(row)
    assert status == 0 and row.stopping in out
    facts = {"algorithm": about.algorithm, "an iteration": about.iteration, "--method fast": about.fast}
    found = [(name, text) for name, text in facts.items() if re.search(rf"^{name} +{re.escape(text)}$", out, re.M)]
    assert dict(found) == facts
    assert out.count("\nnot as printed") == len(about.differs)
    status, out, _ = svm_train("-s", row.number, *more, "--explain", "--method", "fast")
    assert status == 0 and "not as printed" not in out
