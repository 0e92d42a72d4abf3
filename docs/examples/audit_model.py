"""Audit of a scikit-learn model

`svmtool.audit` says how far a model of another program is from the optimum of its own problem, and how many labels
would differ there. Here that is `LinearSVC` of scikit-learn, which stops after `max_iter` epochs: on features in raw
units its default of 1,000 ends with a warning, far above the minimum.
"""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import svmtool

plt.style.use(Path(__file__).with_name("style.mplstyle"))
warnings.simplefilter("ignore", ConvergenceWarning)
X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), test_size=1 / 3, random_state=0)
scaler = StandardScaler().fit(X)
kinds = {"raw units": (X, X_test), "scaled features": (scaler.transform(X), scaler.transform(X_test))}
limits = [10, 100, 1000, 10_000, 100_000]

fig, (ax, below) = plt.subplots(2, 1, figsize=(7.2, 5.6), sharex=True)
for (name, (rows, test)), marker in zip(kinds.items(), "so", strict=True):
    models = {f"max_iter={n:,}": LinearSVC(loss="hinge", max_iter=n, tol=1e-8, random_state=0) for n in limits}
    found = svmtool.audit({at: model.fit(rows, y) for at, model in models.items()}, rows, y, test=(test, None))
    print(f"{name}:\n{found}\n")
    ax.loglog(limits, [max(a.excess, 1e-8) for a in found], marker=marker, label=name)
    below.semilogx(limits, [a.test_differ for a in found], marker=marker)
ax.axhline(1e-6, color="C3", linestyle=":", label="certified within")
ax.set_ylabel("objective above the minimum,\nas a share of it")
ax.legend()
below.set(xlabel="max_iter of scikit-learn's LinearSVC", ylabel=f"test labels of {len(y_test)}\nthat differ")
fig.savefig("audit_model.png")

# One model in words; C is taken from the estimator.
print(svmtool.audit(LinearSVC(loss="hinge", random_state=0).fit(X, y), X, y, test=(X_test, None)))
