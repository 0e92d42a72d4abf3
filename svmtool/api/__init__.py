"""Training and prediction from Python: arrays in, objects out.

Nothing is printed, and no file is opened except by the functions that take a path.  Arrays are never changed.
Results have the same bits for any number of threads, and are those of `svm-train` on the same rows and options.

Examples
--------
>>> import numpy as np
>>> import svmtool
>>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.8, 0.1]])
>>> y = np.array([1, 2, 1, 2])
>>> done = svmtool.fit(X, y, solver=3)
>>> done.converged
True
>>> svmtool.predict(done.model, X)
array([1., 2., 1., 2.])
"""

from __future__ import annotations

from svmtool.api.files import dumps, export, load_model, loads, read_svmlight, save_model, write_svmlight
from svmtool.api.prediction import certified_mask, decision_values, predict, probabilities
from svmtool.api.result import Fit
from svmtool.api.training import fit
from svmtool.api.validation import Search, Validation, cross_validate, search_C

__all__ = [
    "Fit",
    "Search",
    "Validation",
    "certified_mask",
    "cross_validate",
    "decision_values",
    "dumps",
    "export",
    "fit",
    "load_model",
    "loads",
    "predict",
    "probabilities",
    "read_svmlight",
    "save_model",
    "search_C",
    "write_svmlight",
]
