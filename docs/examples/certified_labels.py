"""Labels that more training cannot change

A certified gap bounds how far the weights are from the optimum's, and so how far a decision value can still move:
`certified_mask` finds the rows whose class is that of the exact optimum. The accuracy of the optimum, which nobody
has computed, lies in the band.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from svmtool.sklearn import LinearSVC

plt.style.use(Path(__file__).with_name("style.mplstyle"))
X, y = load_breast_cancer(return_X_y=True)
folds = []
for inside, outside in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    scaler = StandardScaler().fit(X[inside])
    folds.append((scaler.transform(X[inside]), y[inside], scaler.transform(X[outside]), y[outside]))


def held_out(C: float, tol: float) -> tuple[float, float, float]:
    """Shares of rows that are right, surely right, and not surely wrong, each predicted by the other folds' model."""
    found = []
    for rows, labels, others, truth in folds:
        model = LinearSVC(C=C, tol=tol).fit(rows, labels)
        found.append([model.predict(others) == truth, model.certified_mask(others)])
    right, sure = np.concatenate(found, axis=1)
    return 100 * right.mean(), 100 * (right & sure).mean(), 100 * (right | ~sure).mean()


path = np.logspace(-5, 3, 25)
fig, ax = plt.subplots()
for tol, colour in ((1e-2, "C1"), (1e-4, "C0")):
    accuracy, low, high = np.array([held_out(C, tol) for C in path]).T
    ax.fill_between(path, low, high, color=colour, alpha=0.25, linewidth=0, label=f"certified band, tol = {tol:g}")
    width = high - low
    print(f"tol = {tol:g}: the band is {width.max():.1f} points wide at most, {np.median(width):.1f} in the median")
ax.semilogx(path, accuracy, marker="o", markersize=3.5, label="accuracy, tol = 0.0001")
best = np.argmax(accuracy)
print(f"best: C = {path[best]:.2g}, {accuracy[best]:.1f} % right")
ax.set(xlabel="C", ylabel="rows held out that are right, %", ylim=(90, 100))
ax.legend(loc="lower right")
fig.savefig("certified_labels.png")
