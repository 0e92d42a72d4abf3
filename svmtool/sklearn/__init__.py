"""Estimators with scikit-learn's interface: change the import, keep the rest of the program.

Every fitted estimator has a certificate of its accuracy: `gap_`, `certificate_`, `objective_`, `converged_`.
Needs scikit-learn 1.6 or newer: pip install "svmtool[sklearn]".

Examples
--------
>>> from svmtool.sklearn import LinearSVC
>>> model = LinearSVC(C=0.5).fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]], ["a", "b", "a", "b"])
>>> model.predict([[3.0, 0.5]]).tolist(), bool(model.gap_ <= model.tol)
(['b'], True)
"""

try:
    import sklearn  # noqa: F401
except ImportError as e:
    raise ImportError('svmtool.sklearn needs scikit-learn: pip install "svmtool[sklearn]"') from e

from sklearn.svm import l1_min_c as l1_min_c

from svmtool.sklearn.adaptable import AdaptableLSSVC
from svmtool.sklearn.kernel import SVC, NuSVC
from svmtool.sklearn.kernel_one_class import FastOneClassSVM, OneClassSVM
from svmtool.sklearn.kernel_regression import SVR, NuSVR
from svmtool.sklearn.least_squares import LSSVC
from svmtool.sklearn.linear import LinearSVC
from svmtool.sklearn.logistic import LogisticRegression
from svmtool.sklearn.one_class import LinearOneClassSVM
from svmtool.sklearn.papers import LPSVC, LpSVC, OrdinalSVM
from svmtool.sklearn.regression import LinearSVR

__all__ = [
    "AdaptableLSSVC",
    "FastOneClassSVM",
    "LPSVC",
    "LSSVC",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LpSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OrdinalSVM",
    "SVC",
    "SVR",
]
