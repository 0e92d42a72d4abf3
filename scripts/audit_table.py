"""Audits models of several packages, trained with their defaults but for what is named, on five sets.

python scripts/audit_table.py FOLDER     prints the table of docs/audit.md; FOLDER has the sets, plain or .xz

It needs scikit-learn, liblinear-official, libsvm-official, skglm, celer, snapml and vowpalwabbit; those that are not
installed are left out.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import packages
import svmtool

# set, its test rows, and package and model: options of LIBLINEAR or LIBSVM, Vowpal Wabbit's, or an estimator
SETS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("a9a", "a9a.t", (
        ("LIBLINEAR", "-s 3"), ("LIBLINEAR", "-s 0 -B 1"), ("scikit-learn", "LinearSVC(loss='hinge')"),
        ("scikit-learn", "LogisticRegression()"), ("scikit-learn", "SGDClassifier()"),
        ("Vowpal Wabbit, 1 pass", "--loss_function hinge --l2 1e-4"), ("snapml", "SupportVectorMachine()"))),
    ("farm-ads", "", (
        ("LIBLINEAR", "-s 6"), ("scikit-learn", "RidgeClassifier()"), ("celer", "LogisticRegression()"),
        ("skglm", "SparseLogisticRegression(alpha=1/n)"), ("snapml", "LogisticRegression()"))),
    ("satimage.scale", "satimage.scale.t", (
        ("scikit-learn", "LinearSVC()"), ("scikit-learn", "LogisticRegression()"),
        ("scikit-learn", "SGDClassifier(loss='log_loss')"), ("scikit-learn", "SVC()"), ("LIBLINEAR", "-s 4"))),
    ("abalone_scale", "", (
        ("scikit-learn", "LinearSVR()"), ("scikit-learn", "SVR()"), ("scikit-learn", "NuSVR()"),
        ("LIBLINEAR", "-s 11 -p 0.1"))),
    ("splice_scale", "", (
        ("LIBSVM", "-s 0"), ("LIBSVM", "-s 0 -t 0 -c 10"), ("scikit-learn", "NuSVC()"),
        ("scikit-learn", "OneClassSVM()"))),
)  # fmt: skip
STATED = {"-c": "C", "-p": "p"}  # options that the models of LIBLINEAR and LIBSVM do not hold, and their keywords


def vowpal(options: str, X: Any, y: Any) -> str:
    """The text of a model."""
    from vowpalwabbit import Workspace

    folder = tempfile.mkdtemp(prefix="audit-")
    rows, model = os.path.join(folder, "rows"), os.path.join(folder, "model")
    svmtool.write_svmlight(X, y, rows)
    Path(rows).write_text(re.sub(r"^(\S+)", r"\1 |", Path(rows).read_text(), flags=re.MULTILINE))
    fixed = f"--quiet --holdout_off -k -d {rows} --cache_file {rows}.cache --readable_model {model}"
    Workspace(f"{options} {fixed} --predict_only_model", enable_logging=False).finish()
    return model


def trained(package: str, words: str, X: Any, y: Any) -> tuple[Any, dict[str, Any]]:
    """A model, and what it does not state of its problem."""
    if package.startswith("Vowpal"):
        return vowpal(words, X, y), {"solver": 42, "C": 1 / (1e-4 * len(y)), "bias": 1.0}
    name = next(name for name, (label, *_) in packages.PACKAGES.items() if label == package)
    if name in packages.C_PACKAGES:
        options = words.split()
        given = {STATED[o]: float(v) for o, v in zip(options[::2], options[1::2], strict=True) if o in STATED}
        return packages.trained(name, words, packages.rows_of(name, X, y)), {"C": 1.0, **given}
    model = packages.estimator(name, words, n=len(y))
    seeded = {"random_state": 0} if name == "sklearn" and "random_state" in model.get_params() else {}
    return model.set_params(**seeded).fit(X, y), {}


def rows(folder: str, name: str, n_features: int | None = None) -> Any:
    path = os.path.join(folder, name)
    X, y = svmtool.read_svmlight(path if os.path.exists(path) else path + ".xz", n_features)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    print("| set | model | above the minimum | training labels | test labels |\n| --- | --- | --: | --: | --: |")
    for name, tested, models in SETS:
        X, y = rows(folder, name)
        test = rows(folder, tested, X.shape[1]) if tested else None
        for package, words in models:
            try:
                model, stated = trained(package, words, X, y)
            except ImportError as e:
                print(f"{name}: {package} is left out: {e}", file=sys.stderr)
                continue
            done = svmtool.audit(model, X, y, test=test, max_seconds=60, **stated)
            far = f"{100 * done.excess:.2g} %" + ("" if done.gap <= 1e-6 else f" (within {done.gap:.0e})")
            here = f"{done.differ:,} of {done.rows:,}" if done.differ is not None else f"by {done.distance:.2g}"
            there = "" if done.test_differ is None else f"{done.test_differ:,} of {done.test_rows:,}"
            print(f"| {name} | {package} `{words}` | {far} | {here} | {there} |", flush=True)
    found = {d.name: d.version for d in importlib.metadata.distributions()}
    used = [*(distribution for _, distribution, _ in packages.PACKAGES.values()), "vowpalwabbit"]
    print("\nVersions: " + ", ".join(f"{name} {found[name]}" for name in used if name in found))


if __name__ == "__main__":
    main(sys.argv[1])
