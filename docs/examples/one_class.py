"""One class

A one-class machine learns from rows of one kind where new ones are unlike them. nu is an upper bound of the share of
training rows that are left outside. `OneClassSVM` has a curved boundary by a kernel; `FastOneClassSVM` takes all
training rows inside.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from svmtool.sklearn import FastOneClassSVM, OneClassSVM

plt.style.use(Path(__file__).with_name("style.mplstyle"))
usual = make_moons(400, noise=0.08, random_state=0)[0]
x, y = np.meshgrid(np.linspace(-2, 3, 160), np.linspace(-1.5, 2, 120))
grid = np.c_[x.ravel(), y.ravel()]
models = {f"OneClassSVM, nu = {nu}": OneClassSVM(nu=nu, gamma=3.0) for nu in (0.3, 0.05)}
models["FastOneClassSVM"] = FastOneClassSVM(gamma=3.0)

fig, axes = plt.subplots(1, 3, figsize=(9.0, 3.2), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(usual)
    outside = model.predict(usual) < 0
    value = model.decision_function(grid).reshape(x.shape)
    ax.contourf(x, y, value, levels=[0.0, np.inf], colors=["C0"], alpha=0.2)
    ax.contour(x, y, value, levels=[0.0], colors=["C0"])
    ax.scatter(*usual[~outside].T, s=6, color="C0")
    ax.scatter(*usual[outside].T, s=10, color="C1", marker="x")
    ax.set_title(f"{name}\n{outside.mean():.1%} of the rows outside")
    ax.grid(visible=False)
fig.savefig("one_class.png")

# Benign tumours are the usual kind; how well do the values find malignant ones?
rows, benign = load_breast_cancer(return_X_y=True)
train = np.flatnonzero(benign)[::2]
test = np.setdiff1d(np.arange(len(rows)), train)
scaler = StandardScaler().fit(rows[train])
for model in (OneClassSVM(nu=0.1), FastOneClassSVM(gamma=1 / 30)):
    model.fit(scaler.transform(rows[train]))
    area = roc_auc_score(benign[test], model.decision_function(scaler.transform(rows[test])))
    print(f"{type(model).__name__}: area under the ROC curve {area:.3f}")
