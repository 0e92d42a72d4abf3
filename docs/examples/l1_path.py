"""The path of |w|_1

With |w|_1 as regulariser more features get a weight as C grows. `l1_min_c` is the C below which all weights are 0.
Each fit starts from the last one's weights, and each has a certified gap: a weight of 0 comes from the problem, not
from an early stop.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmtool.sklearn import LinearSVC, l1_min_c

plt.style.use(Path(__file__).with_name("style.mplstyle"))
data = load_breast_cancer()
X, y = StandardScaler().fit_transform(data.data), data.target
path = l1_min_c(X, y, loss="squared_hinge") * np.logspace(0, 3, 25)

model = LinearSVC(penalty="l1", tol=1e-6, warm_start=True)
weights, accuracy = [], []
for C in path:
    weights.append(model.set_params(C=C).fit(X, y).coef_[0].copy())
    assert model.gap_ <= 1e-6
    fresh = make_pipeline(StandardScaler(), LinearSVC(penalty="l1", C=C))
    accuracy.append(100 * cross_val_score(fresh, data.data, y, cv=5).mean())
curves = np.array(weights)
used = np.count_nonzero(curves, axis=1)
for i in range(0, len(path), 6):
    print(f"C = {path[i]:.2g}: {used[i]:2} of {X.shape[1]} features, {accuracy[i]:.1f} % right in cross-validation")

fig, (ax, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True, height_ratios=[2, 1])
ax.semilogx(path, curves, color="#cccccc")
for feature in np.argsort(-np.abs(curves[len(path) // 2]))[:5]:
    ax.semilogx(path, curves[:, feature], label=data.feature_names[feature])
ax.set_ylabel("weight")
ax.legend(fontsize=9, loc="upper left")
below.semilogx(path, accuracy, marker="o", markersize=3)
below.set(xlabel="C", ylabel="right in cross-validation, %", ylim=(85, 100))
features = below.twinx()
features.semilogx(path, used, color="C3", linestyle=":")
features.set_ylabel("features used (dotted)")
features.grid(visible=False)
fig.savefig("l1_path.png")
