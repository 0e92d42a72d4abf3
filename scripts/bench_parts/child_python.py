"""Child process: fits in memory, ours and those of other Python packages, one for each line of stdin.

Its argument is an order in JSON: {"path": data file, "kind": a key of KINDS, "C": ..}.  The first line on stdout is
{"rows", "features", "classes", "nonzeros", "tools", "absent": {tool: reason}}.  A line {"tool", "tol", "limit"} on
stdin, with a limit in seconds, is answered by {"seconds", "objective"}; for the tool `minimum` by {"primal", "dual"} of
our certificate at the gap `tol`, and for `ours` also by {"gap"}.  A fit that exceeds its limit ends the process by
SIGALRM; one that raises is answered by {"error"}.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

from bench_parts.certify import rows_of, value_of

# share of non-zeros from which the rows are a dense array: SVC is faster on one from the second on
DENSE, DENSE_KERNEL = 0.3, 0.1
MAX_ITERATIONS = 10_000_000  # the tolerance or the time limit ends a fit
CHOLESKY_BYTES = 2e9  # most bytes of newton-cholesky's Hessian
BLOCK = 1000  # rows of a kernel matrix at a time
WARM = 0.1  # tolerance of the warm-up fits
CACHE_MB = 200  # of the kernels, scikit-learn's default

# LIBLINEAR's number of each kind's objective
KINDS = {"squared hinge": 2, "hinge": 3, "logistic": 0, "rbf": None}


class Data:
    """The arrays that all tools are given, and LIBLINEAR's own copy."""

    def __init__(self, csr: Any, y: np.ndarray, dense: float = DENSE):
        self.csr, self.y, self.dense = csr, y, dense
        self.csr.indices, self.csr.indptr = self.csr.indices.astype("i4"), self.csr.indptr.astype("i4")
        n, d = self.csr.shape
        self.classes, codes = np.unique(self.y, return_inverse=True)
        self.codes = codes.reshape(-1)
        self.X = self.csr.toarray() if self.csr.nnz > dense * n * d else self.csr
        self.squares = np.asarray(self.csr.multiply(self.csr).sum(axis=1)).ravel()
        self.gamma = 1.0 / d

    def few(self) -> Data:
        """Two rows of each class."""
        rows = np.concatenate([np.flatnonzero(self.codes == k)[:2] for k in range(len(self.classes))])
        return Data(self.csr[rows], self.y[rows], self.dense)

    def linear_value(self, solver: int, W: np.ndarray, labels: list, C: float) -> float:
        """The objective of weights f8 (features, columns), whose columns belong to these labels."""
        return value_of(solver, self.csr, self.y, W, labels, C)

    def rbf_value(self, machine: Any, C: float) -> float:
        """Sum of the primal objectives of all pairs of classes, of an SVC with scikit-learn's attributes."""
        k, support = len(self.classes), np.asarray(machine.support_)
        dual, b = machine.dual_coef_, np.asarray(machine.intercept_)
        dual = np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual)
        ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        A = np.zeros((len(support), len(pairs)))
        for p, (i, j) in enumerate(pairs):
            A[ends[i] : ends[i + 1], p] = dual[j - 1, ends[i] : ends[i + 1]]
            A[ends[j] : ends[j + 1], p] = dual[i, ends[j] : ends[j + 1]]
        if k == 2:  # positive for the second class
            A, b = -A, -b
        F = np.empty((len(self.y), len(pairs)))
        vectors = self.csr[support]
        for at in range(0, len(self.y), BLOCK):
            rows = slice(at, at + BLOCK)
            products = (self.csr[rows] @ vectors.T).toarray()
            distances = self.squares[rows, None] + self.squares[support] - 2.0 * products
            F[rows] = np.exp(-self.gamma * np.maximum(distances, 0.0)) @ A
        total = 0.5 * float(np.sum(A * F[support]))
        for p, (i, j) in enumerate(pairs):
            for label, sign in ((i, 1.0), (j, -1.0)):
                z = sign * (F[self.codes == label, p] + b[p])
                total += C * float(np.sum(np.maximum(0.0, 1.0 - z)))
        return total


Fit = Callable[[float], Any]  # of a tolerance: what `value` takes


class Tools:
    """The tools of one kind: `fits` by name, `value` of what they return, and why others are `absent`."""

    def __init__(self, data: Data, kind: str, C: float):
        self.data, self.kind, self.C, self.solver = data, kind, C, KINDS[kind]
        self.fits: dict[str, Fit] = {}
        self.absent: dict[str, str] = {}
        self._ours()
        peers = {
            "squared hinge": (self._linear_svc, self._liblinear),
            "hinge": (self._linear_svc, self._liblinear, self._snapml_svm),
            "logistic": (self._logistic, self._liblinear, self._snapml_logistic),
            "rbf": (self._svc,),
        }[kind]
        for peer in peers:
            peer()

    def value(self, found: Any) -> float:
        """The objective of a fit's result: an estimator, or weights with labels."""
        if self.solver is None:
            return self.data.rbf_value(found, self.C)
        if isinstance(found, tuple):
            W, labels = found
        else:
            W, labels = np.atleast_2d(found.coef_).T, self._labels(found)
        return self.data.linear_value(self.solver, np.asarray(W, np.float64), labels, self.C)

    def _labels(self, found: Any) -> list:
        """The labels of the columns of coef_; a lone column belongs to the second label."""
        classes = getattr(found, "classes_", None)
        labels = list(self.data.classes if classes is None else classes)
        return labels[::-1] if len(labels) == 2 else labels

    def minimum(self, gap: float) -> dict:
        from svmtool import api

        d, solver = self.data, self.solver
        more = {"kernel": "rbf", "cache_mb": CACHE_MB, "gamma": d.gamma} if solver is None else {"bias": -1.0}
        done = api.fit(d.X, d.y, 0 if solver is None else solver, C=self.C, gap=gap, **more)
        return {"primal": done.certificate.primal, "dual": done.certificate.dual}

    def _estimator(self, make: Callable[[float], Any]) -> Fit:
        return lambda tol: make(tol).fit(self.data.X, self.data.y)

    def _module(self, name: str, *tools: str) -> Any:
        """A module, or None, which is noted for the tools that need it."""
        try:
            return importlib.import_module(name)
        except ImportError as e:
            self.absent |= dict.fromkeys(tools, f"not installed: {e}")
            return None

    def _ours(self) -> None:
        from svmtool import sklearn as mine

        C, common = self.C, {"fit_intercept": False, "max_iter": None}
        make: dict[str, Callable[[float], Any]] = {
            "squared hinge": lambda tol: mine.LinearSVC(C=C, tol=tol, **common),
            "hinge": lambda tol: mine.LinearSVC(C=C, tol=tol, loss="hinge", **common),
            "logistic": lambda tol: mine.LogisticRegression(C=C, tol=tol, **common),
            "rbf": lambda tol: mine.SVC(C=C, tol=tol, gamma=self.data.gamma, cache_size=CACHE_MB),
        }
        self.fits["ours"] = self._estimator(make[self.kind])

    def _linear_svc(self) -> None:
        svm = self._module("sklearn.svm", "LinearSVC")
        if svm:
            options = {"loss": self.kind.replace(" ", "_"), "dual": "auto" if self.kind != "hinge" else True}
            options |= {"C": self.C, "fit_intercept": False, "max_iter": MAX_ITERATIONS}
            self.fits["LinearSVC"] = self._estimator(lambda tol: svm.LinearSVC(tol=tol, **options))

    def _logistic(self) -> None:
        names = {f"LogisticRegression, {solver}": solver for solver in ("liblinear", "lbfgs", "newton-cholesky")}
        found = self._module("sklearn.linear_model", *names)
        if len(self.data.classes) > 2:
            self.absent |= dict.fromkeys(names, "solves another problem for several classes")
            return
        for name, solver in names.items() if found else ():
            if solver == "newton-cholesky" and 8.0 * self.data.csr.shape[1] ** 2 > CHOLESKY_BYTES:
                self.absent[name] = "its Hessian needs too much memory"
                continue
            options = {"C": self.C, "fit_intercept": False, "max_iter": MAX_ITERATIONS, "solver": solver}
            self.fits[name] = self._estimator(lambda tol, o=options: found.LogisticRegression(tol=tol, **o))

    def _svc(self) -> None:
        for name, module in (("SVC", "sklearn.svm"), ("SVC of sklearnex", "sklearnex.svm")):
            svm = self._module(module, name)
            if svm:
                options = {"C": self.C, "gamma": self.data.gamma, "cache_size": CACHE_MB}
                self.fits[name] = self._estimator(lambda tol, svm=svm, o=options: svm.SVC(tol=tol, **o))

    def _liblinear(self) -> None:
        numbers = {"squared hinge": (1, 2), "hinge": (3,), "logistic": (0, 7)}[self.kind]
        names = {f"liblinear -s {number}": number for number in numbers}
        found = self._module("liblinear.liblinearutil", *names)
        if not found:
            return
        problem = found.problem(self.data.y, self.data.csr)

        def fit(number: int) -> Fit:
            def run(tol: float) -> Any:
                return found.train(problem, found.parameter(f"-s {number} -c {self.C!r} -e {tol!r} -q"))

            return run

        for name, number in names.items():
            self.fits[name] = fit(number)

    def _snapml_svm(self) -> None:
        self._snapml("SupportVectorMachine", "snapml SupportVectorMachine", loss="hinge")

    def _snapml_logistic(self) -> None:
        self._snapml("LogisticRegression", "snapml LogisticRegression", dual=True)

    def _snapml(self, kind: str, name: str, **more: Any) -> None:
        snapml = self._module("snapml", name)
        if len(self.data.classes) > 2:
            self.absent[name] = "its several classes are left out"
        elif snapml:
            options = {"regularizer": 1.0 / self.C, "max_iter": 1_000_000, "fit_intercept": False, **more}
            options["n_jobs"] = os.cpu_count()
            self.fits[name] = self._estimator(lambda tol: getattr(snapml, kind)(tol=tol, **options))


def weights_of(model: Any) -> tuple[np.ndarray, list]:
    """Weights f8 (features, columns) and labels of a model of liblinear-official."""
    labels = [model.label[k] for k in range(model.nr_class)]
    columns = 1 if model.nr_class == 2 else model.nr_class
    return np.ctypeslib.as_array(model.w, (model.nr_feature * columns,)).reshape(-1, columns).copy(), labels


def main() -> None:
    order = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the tools print

    def say(**answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    warnings.simplefilter("ignore")  # limits are found by the objective
    data = Data(*rows_of(order["path"]), DENSE_KERNEL if KINDS[order["kind"]] is None else DENSE)
    for fit in Tools(data.few(), order["kind"], order["C"]).fits.values():  # libraries are loaded
        with contextlib.suppress(Exception):
            fit(WARM)
    tools = Tools(data, order["kind"], order["C"])
    n, d = data.csr.shape
    say(rows=n, features=d, classes=len(data.classes), nonzeros=int(data.csr.nnz), tools=list(tools.fits),
        absent=tools.absent)  # fmt: skip
    for line in sys.stdin:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, asked["limit"])
        try:
            if asked["tool"] == "minimum":
                found = tools.minimum(asked["tol"])
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                say(**found)
                continue
            start = time.perf_counter()
            done = tools.fits[asked["tool"]](asked["tol"])
            seconds = time.perf_counter() - start
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            more = {"gap": done.gap_} if asked["tool"] == "ours" else {}
            say(seconds=seconds, objective=tools.value(weights_of(done) if hasattr(done, "nr_class") else done), **more)
        except Exception as e:  # the benchmark reports it
            with contextlib.suppress(ValueError):
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            say(error=f"{type(e).__name__}: {e}"[-300:])


if __name__ == "__main__":
    main()
