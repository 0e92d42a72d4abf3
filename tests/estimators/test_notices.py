"""Every kind of notice reaches every face that such a run has; all faces agree on whether the run has converged."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from spark_blocks import Here, cut, far  # noqa: E402

import svmtool  # noqa: E402
from svmtool import liblinearutil, registry, svmutil  # noqa: E402
from svmtool.params import Settings  # noqa: E402
from svmtool.sklearn import LSSVC, SVC, LinearOneClassSVM, LinearSVC, OneClassSVM  # noqa: E402
from svmtool.training import notices  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0.0, 1, -1)
CENTRED = np.array([[1.0, 2.0], [-1.0, -2.0], [2.0, -1.0], [-2.0, 1.0]])
LATE = 1e-9  # seconds

# kind, what its sentence says, rows, labels, the command's options, keywords of `fit`, an estimator
CASES = [
    ("training", "w = 0: ", CENTRED, np.ones(4), "-s 21", {"solver": 21}, LinearOneClassSVM()),
    ("training", "w = 0: ", CENTRED, np.ones(4), "-s 2 -t 0", {"solver": "one-class", "kernel": "linear"},
     OneClassSVM(kernel="linear")),
    ("leave-one-out", "no leave-one-out accuracy", X, Y, f"-s 70 --method fast --loo --max-seconds {LATE}",
     {"solver": 70, "method": "fast", "loo": True, "max_seconds": LATE}, LSSVC(max_seconds=LATE)),
    ("probabilities", "holds no probabilities", X[:1], Y[:1], "-s 3 -b 1",
     {"solver": 3, "probability": True, "one_class": True}, None),
    ("status", "not converged: iteration limit", X, Y, "-s 3 -c 100 --max-iter 1",
     {"solver": 3, "C": 100, "max_iter": 1}, LinearSVC(loss="hinge", C=100, max_iter=1, tol=1e-12)),
    ("status", "not converged: time limit", X, Y, f"-s 0 -t 2 -g 1 --max-seconds {LATE}",
     {"solver": 0, "kernel": "rbf", "gamma": 1.0, "max_seconds": LATE}, SVC(max_seconds=LATE)),
    ("gap", "the optimum may lie up to", X, Y, "-s 0 -t 3 -g 0.1 -e 1",
     {"solver": 0, "kernel": "sigmoid", "gamma": 0.1, "eps": 1.0}, SVC(kernel="sigmoid", gamma=0.1, tol=1.0)),
]  # fmt: skip


def text(rows, labels) -> str:
    return "".join(
        f"{t:g} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) + "\n"
        for t, row in zip(labels, rows.tolist(), strict=True)
    )


def caught(work, *arguments):
    """The result of `work`, and the warnings that it raised."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        return work(*arguments), [(w.category, str(w.message)) for w in found]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]} {c[4]}")
def test_every_face_shows_it(case, svm_train, capsys, out_of_time):
    kind, says, rows, labels, options, keywords, estimator = case
    converged = kind == "training"
    argv, limit, _ = options.partition(" --max-seconds")
    if limit:  # one that is over before the data are read would end the command
        out_of_time()
    for quiet in ([], ["-q"]):
        status, _, err = svm_train(*quiet, "--strict", *argv.split(), "d", "m", data=text(rows, labels))
        assert status == (0 if converged else 2) and f"{says}" in err and err.startswith("WARNING: ")

    done = svmtool.fit(rows, labels, **keywords)
    assert any(says.replace("(-b 1)", "(probability)") in sentence for sentence in done.warnings)
    assert done.converged == converged and (converged or "not converged" in repr(done))
    assert not any(" -" in sentence for sentence in done.warnings), "options in place of keywords"

    if estimator is not None:
        y = () if "OneClass" in type(estimator).__name__ else (labels,)
        _, found = caught(estimator.fit, rows, *y)
        category = UserWarning if converged else ConvergenceWarning
        says_there = says.replace("iteration limit", "Solver terminated early")  # scikit-learn's words
        assert any(what is category and says_there in sentence for what, sentence in found), found
        assert estimator.converged_ == converged

    if "kernel" in keywords:
        svmutil.svm_train(labels.tolist(), rows, options + " -q")
    elif kind != "leave-one-out":  # an option that the module refuses
        liblinearutil.train(labels.tolist(), rows, options + " -q")
    assert kind == "leave-one-out" or says in capsys.readouterr().err

    row = registry.find(keywords["solver"])
    if "--spark" in row.supported and not {"kernel", "loo", "probability"} & set(keywords):
        there = far(Here(cut(text(rows, labels), 2)), Settings.of(**keywords).with_default_bias())
        assert any(says in notice.sentence for notice in notices.notices(row, there))
