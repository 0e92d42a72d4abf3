"""Embeddings

A network that was trained on other data turns rows into dense vectors, and a linear classifier learns from a few
labelled ones. Here the network is trained on the digits 0 to 4, moved about on a canvas; its hidden layer is the
embedding of the digits 5 to 9, which it has never seen. Embeddings of any model are used in the same way: `fit` reads
arrays of float32 without a copy.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from svmtool.sklearn import LinearSVC

plt.style.use(Path(__file__).with_name("style.mplstyle"))
generator = np.random.default_rng(0)
pixels, digit = load_digits(return_X_y=True)
SIZES = (10, 20, 40, 80, 160, 320)


def moved(images: np.ndarray, times: int) -> np.ndarray:
    """Each image `times` times, at random places of a canvas of 12 x 12 pixels."""
    canvas = np.zeros((times * len(images), 12, 12), np.float32)
    for place, image in zip(canvas, np.tile(images.reshape(-1, 8, 8), (times, 1, 1)), strict=True):
        top, left = generator.integers(5, size=2)
        place[top : top + 8, left : left + 8] = image / 16.0
    return canvas.reshape(len(canvas), -1)


known = digit < 5
network = MLPClassifier((128,), max_iter=200, n_iter_no_change=4, tol=1e-2, random_state=0)
network.fit(moved(pixels[known], 8), np.tile(digit[known], 8))
canvas, labels = moved(pixels[~known], 1), digit[~known]
hidden = np.maximum(canvas @ network.coefs_[0] + network.intercepts_[0], 0.0)
kinds = {"embeddings": hidden / np.linalg.norm(hidden, axis=1, keepdims=True), "pixels": canvas}

accuracy = {name: np.zeros((len(SIZES), 6)) for name in kinds}
for draw in range(6):
    order = generator.permutation(len(labels))
    rest = order[max(SIZES) :]
    for name, rows in kinds.items():
        for i, size in enumerate(SIZES):
            model = LinearSVC(C=10.0).fit(rows[order[:size]], labels[order[:size]])
            accuracy[name][i, draw] = 100 * model.score(rows[rest], labels[rest])

fig, ax = plt.subplots()
for name, values in accuracy.items():
    print(f"{name} ({kinds[name].dtype}): {values[0].mean():.0f} % with 10 rows, {values[-1].mean():.0f} % with 320")
    low, middle, high = np.percentile(values, [0, 50, 100], axis=1)
    ax.fill_between(SIZES, low, high, alpha=0.2)
    ax.plot(SIZES, middle, marker="o", label=f"{name}: median, least and most of six draws")
ax.set(xscale="log", xlabel="labelled rows", ylabel="rows held out that are right, %")
ax.set_xticks(SIZES, [str(size) for size in SIZES])
ax.minorticks_off()
ax.legend(loc="lower right")
fig.savefig("embeddings.png")
