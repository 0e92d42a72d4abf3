"""Child process: times SVC.fit of scikit-learn or oneDAL.  Its argument is a JSON object:

{"path": data file, "peer": "sklearn" or "sklearnex", "C": .., "gamma": .. or null, "eps": .., "cache_mb": ..,
"budget": seconds that the fit may take: SIGALRM ends the process then} -> {seconds, support}
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

DENSE = 0.1  # share of non-zeros from which both peers are faster on dense rows


def main() -> None:
    order = json.loads(sys.argv[1])
    peer = importlib.import_module(order["peer"] + ".svm")
    X, y = load_svmlight_file(order["path"])
    if X.nnz > DENSE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    else:
        X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")  # required by oneDAL
    gamma = 1.0 / X.shape[1] if order["gamma"] is None else order["gamma"]
    few = np.concatenate([np.flatnonzero(y == label)[:2] for label in np.unique(y)])
    peer.SVC(C=order["C"], gamma=gamma).fit(X[few], y[few])  # warm-up
    machine = peer.SVC(C=order["C"], gamma=gamma, tol=order["eps"], cache_size=order["cache_mb"])
    signal.setitimer(signal.ITIMER_REAL, order["budget"])
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    if order["peer"] == "sklearnex" and not hasattr(machine, "_onedal_estimator"):
        sys.exit("scikit-learn-intelex left this fit to scikit-learn")
    print(json.dumps({"seconds": seconds, "support": int(machine.n_support_.sum())}))


if __name__ == "__main__":
    main()
