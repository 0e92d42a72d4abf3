"""Audits models of several packages, trained with their defaults but for what is named, on five sets.

python scripts/audit_table.py FOLDER     prints the table of docs/audit.md; FOLDER has the sets, plain or .xz

It needs scikit-learn, liblinear-official, libsvm-official, skglm, celer, snapml and vowpalwabbit; those that are not
installed are left out.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import svmtool

Models = Iterator[tuple[str, Callable[[Any, Any], Any], dict[str, Any]]]
PACKAGES = ("scikit-learn", "liblinear-official", "libsvm-official", "skglm", "celer", "snapml", "vowpalwabbit")
SETS = {"a9a": "a9a.t", "farm-ads": "", "satimage.scale": "satimage.scale.t", "abalone_scale": "", "splice_scale": ""}


def of(model: Any) -> Callable[[Any, Any], Any]:
    """Fit an estimator."""
    return lambda X, y: model.fit(X, y)


def liblinear(options: str) -> Callable[[Any, Any], Any]:
    from liblinear import liblinearutil

    return lambda X, y: liblinearutil.train(y, X, options + " -q")


def libsvm(options: str) -> Callable[[Any, Any], Any]:
    from libsvm import svmutil

    return lambda X, y: svmutil.svm_train(y, X, options + " -q")


def vowpal(options: str) -> Callable[[Any, Any], Any]:
    from vowpalwabbit import Workspace

    def train(X: Any, y: Any) -> str:
        folder = tempfile.mkdtemp(prefix="audit-")
        rows, model = os.path.join(folder, "rows"), os.path.join(folder, "model")
        with open(rows, "w") as file:
            for i, label in enumerate(y):
                row = slice(*X.indptr[i : i + 2])
                words = (f"{j + 1}:{v:.9g}" for j, v in zip(X.indices[row], X.data[row], strict=True))
                file.write(f"{label:.0f} | {' '.join(words)}\n")
        fixed = f"--quiet --holdout_off -k -d {rows} --cache_file {rows}.cache --readable_model {model}"
        Workspace(f"{options} {fixed} --predict_only_model", enable_logging=False).finish()
        return model

    return train


def two_classes(n: int) -> Models:
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.svm import LinearSVC

    yield "LIBLINEAR `-s 3`", liblinear("-s 3"), {"C": 1.0}
    yield "LIBLINEAR `-s 0 -B 1`", liblinear("-s 0 -B 1"), {"C": 1.0}
    yield "scikit-learn `LinearSVC(loss='hinge')`", of(LinearSVC(loss="hinge", random_state=0)), {}
    yield "scikit-learn `LogisticRegression()`", of(LogisticRegression()), {}
    yield "scikit-learn `SGDClassifier()`", of(SGDClassifier(random_state=0)), {}
    stated = {"solver": 42, "C": 1 / (1e-4 * n), "bias": 1.0}
    yield "Vowpal Wabbit, hinge, `--l2 1e-4`, 1 pass", vowpal("--loss_function hinge --l2 1e-4"), stated
    import snapml

    yield "snapml `SupportVectorMachine()`", of(snapml.SupportVectorMachine()), {}


def text(n: int) -> Models:
    from sklearn.linear_model import RidgeClassifier

    yield "LIBLINEAR `-s 6`", liblinear("-s 6"), {"C": 1.0}
    yield "scikit-learn `RidgeClassifier()`", of(RidgeClassifier()), {}
    import celer
    import skglm
    import snapml

    yield "celer `LogisticRegression()`", of(celer.LogisticRegression()), {}
    yield "skglm `SparseLogisticRegression(alpha=1/n)`", of(skglm.SparseLogisticRegression(alpha=1 / n)), {}
    yield "snapml `LogisticRegression()`", of(snapml.LogisticRegression()), {}


def classes(n: int) -> Models:
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.svm import SVC, LinearSVC

    yield "scikit-learn `LinearSVC()`", of(LinearSVC(random_state=0)), {}
    yield "scikit-learn `LogisticRegression()`", of(LogisticRegression()), {}
    yield "scikit-learn `SGDClassifier(loss='log_loss')`", of(SGDClassifier(loss="log_loss", random_state=0)), {}
    yield "scikit-learn `SVC()`", of(SVC()), {}
    yield "LIBLINEAR `-s 4`", liblinear("-s 4"), {"C": 1.0}


def regression(n: int) -> Models:
    from sklearn.svm import SVR, LinearSVR, NuSVR

    yield "scikit-learn `LinearSVR()`", of(LinearSVR(random_state=0)), {}
    yield "scikit-learn `SVR()`", of(SVR()), {}
    yield "scikit-learn `NuSVR()`", of(NuSVR()), {}
    yield "LIBLINEAR `-s 11`", liblinear("-s 11 -p 0.1"), {"C": 1.0, "p": 0.1}


def kernels(n: int) -> Models:
    from sklearn.svm import NuSVC, OneClassSVM

    yield "LIBSVM `-s 0`", libsvm("-s 0"), {"C": 1.0}
    yield "LIBSVM `-s 0 -t 0 -c 10`", libsvm("-s 0 -t 0 -c 10"), {"C": 10.0}
    yield "scikit-learn `NuSVC()`", of(NuSVC()), {}
    yield "scikit-learn `OneClassSVM()`", of(OneClassSVM()), {}


def rows(folder: str, name: str, n_features: int | None = None) -> Any:
    path = os.path.join(folder, name)
    X, y = svmtool.read_svmlight(path if os.path.exists(path) else path + ".xz", n_features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    print("| set | model | above the minimum | training labels | test labels |\n| --- | --- | --: | --: | --: |")
    for (name, tested), models in zip(SETS.items(), (two_classes, text, classes, regression, kernels), strict=True):
        X, y = rows(folder, name)
        test = rows(folder, tested, X.shape[1]) if tested else None
        try:
            for title, train, stated in models(len(y)):
                done = svmtool.audit(train(X, y), X, y, test=test, max_seconds=60, **stated)
                far = f"{100 * done.excess:.2g} %" + ("" if done.gap <= 1e-6 else f" (within {done.gap:.0e})")
                here = f"{done.differ:,} of {done.rows:,}" if done.differ is not None else f"by {done.distance:.2g}"
                there = "" if done.test_differ is None else f"{done.test_differ:,} of {done.test_rows:,}"
                print(f"| {name} | {title} | {far} | {here} | {there} |", flush=True)
        except ImportError as e:
            print(f"{name}: the rest is left out: {e}", file=sys.stderr)
    found = {d.name: d.version for d in importlib.metadata.distributions()}
    print("\nVersions: " + ", ".join(f"{name} {found[name]}" for name in PACKAGES if name in found))


if __name__ == "__main__":
    main(sys.argv[1])
