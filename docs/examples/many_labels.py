"""Many labels

Each row has some of 40 labels, or none; most labels are rare. `fit` takes the matrix that marks them and trains a
problem for each label. Values above 0 find few of the rare labels. `thresholds="cv"` chooses for each label, by
cross-validation, the value from which a row has it.
"""

from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.metrics import f1_score

import svmtool

plt.style.use(Path(__file__).with_name("style.mplstyle"))
generator = np.random.default_rng(0)
n, features, labels = 4000, 60, 40
X = generator.normal(size=(n, features))
scores = X @ generator.normal(size=(features, labels)) / np.sqrt(features) + 0.6 * generator.normal(size=(n, labels))
share = np.geomspace(0.3, 0.01, labels)  # of the rows that have the label
Y = scores > np.quantile(scores, 1.0 - share, axis=0, method="inverted_cdf").diagonal()
train, test = slice(0, 3000), slice(3000, None)

f1 = {}
chosen: dict[str, Literal["cv"] | None] = {"values above 0": None, "thresholds by cross-validation": "cv"}
for name, thresholds in chosen.items():
    done = svmtool.fit(X[train], csr_matrix(Y[train]), solver="l2svc", C=0.1, bias=1, thresholds=thresholds)
    found = csr_matrix(svmtool.predict(done, X[test])).toarray()
    f1[name] = f1_score(Y[test], found, average=None, zero_division=0.0)
    micro, macro = (f1_score(Y[test], found, average=kind, zero_division=0.0) for kind in ("micro", "macro"))
    print(f"{name:31} micro F1 {micro:.3f}  macro F1 {macro:.3f}  worst certified gap {done.certificate.gap:.0e}")

fig, ax = plt.subplots()
for (name, values), marker in zip(f1.items(), "so", strict=True):
    ax.semilogx(100 * Y[train].mean(axis=0), values, marker, color="C1" if marker == "s" else "C0", label=name)
ax.set(xlabel="training rows that have the label, %", ylabel="F1 of the label, rows held out")
ax.set_xticks([1, 3, 10, 30], ["1", "3", "10", "30"])
ax.legend()
fig.savefig("many_labels.png")
