"""Helpers for tests of kernel models: random models, their texts, and decision values in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from reference import csr_of

from svmtool.data.dataset import Dataset
from svmtool.models.kernel import CLASSIFIER_TYPES, KernelModel
from svmtool.models.kernel_functions import LINEAR, POLYNOMIAL, PRECOMPUTED, RBF, Kernel

KERNELS = [
    Kernel(0),
    Kernel(1, 0.3, 3, 0.5),
    Kernel(1, 0.7, 0, 0.5),
    Kernel(1, -0.5, 6, -1.0),
    Kernel(2, 0.4),
    Kernel(3, 0.2, 3, -0.3),
    Kernel(4),
]

HEADER = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n"
GOOD = HEADER + "1 1:1 2:-0.5 \n-1 2:2 \n"


def kernel_value(kernel: Kernel, x: np.ndarray, z: np.ndarray) -> float:
    """K(x, z) by its definition."""
    if kernel.kind == RBF:
        return float(np.exp(-kernel.gamma * np.sum((x - z) ** 2)))
    if kernel.kind == LINEAR:
        return float(x @ z)
    u = kernel.gamma * float(x @ z) + kernel.coef0
    return u**kernel.degree if kernel.kind == POLYNOMIAL else float(np.tanh(u))


def table_of(X: np.ndarray, rng: np.random.Generator | None = None, shift: int = 0) -> Dataset:
    """The non-zeros of dense rows as a Dataset with labels 0; shift: added to every index."""
    indptr, indices, values = csr_of(X)
    indices += np.int32(shift)
    return Dataset(np.zeros(len(X)), indptr, indices, values, int(indices.max(initial=-1)) + 1)


def random_model(rng: np.random.Generator, kernel: Kernel, svm_type: str, k: int, m: int, d: int, shift: int = 0):
    """A model with m support vectors in d features, and these as dense rows; precomputed: of m + 3 training rows."""
    Z = np.round(rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6), 3)
    classes = svm_type in CLASSIFIER_TYPES
    k = k if classes else 2
    counts = np.bincount(rng.integers(0, k, m), minlength=k) if classes else None
    coef = rng.normal(size=(max(1, k - 1) if classes else 1, m))
    rho = rng.normal(size=k * (k - 1) // 2)
    support = table_of(Z, shift=shift)
    if kernel.kind == PRECOMPUTED:
        serials = np.sort(rng.permutation(m + 3)[:m]) + 1
        support = Dataset(None, np.arange(m + 1), np.full(m, -1, np.int32), serials.astype(np.float64), 0)
    labels = tuple(int(x) for x in rng.permutation(50)[:k]) if classes else None
    nr_sv = None if counts is None else tuple(counts.tolist())
    arrays = support.indptr, support.indices, support.values
    return KernelModel(svm_type, kernel, labels, k, rho, coef, nr_sv, *arrays), Z


def decisions(model: KernelModel, K: np.ndarray) -> np.ndarray:
    """Decision values (n, pairs) from the kernel values (n, support vectors), pair by pair."""
    if model.nr_sv is None:
        return K @ model.coef[0][:, None] - model.rho
    classes = np.repeat(np.arange(model.nr_class), model.nr_sv)
    found = []
    for i in range(model.nr_class):
        for j in range(i + 1, model.nr_class):
            mine, other = classes == i, classes == j
            value = K[:, mine] @ model.coef[j - 1, mine] + K[:, other] @ model.coef[i, other]
            found.append(value - model.rho[len(found)])
    return np.array(found).T.reshape(len(K), -1)


def train_and_test(folder: Path, kernel: int, classes: int) -> tuple[Path, Path]:
    """Files of 90 rows to train on and 70 others, clouds in 7 features; precomputed: their inner products."""
    rng = np.random.default_rng(classes)
    labels = rng.integers(0, classes, 160) * 3 - 2
    X = rng.normal(size=(160, 7)) + 0.4 * np.outer(labels, [1, 0, -1, 0, 1, 0, 0]) * (rng.random((160, 7)) < 0.7)
    X[:, 3] *= 10 ** rng.uniform(-6, 1, 160)
    files = folder / "train", folder / "test"
    for path, rows, first in ((files[0], range(90), 0), (files[1], range(90, 160), 1)):
        with open(path, "w") as file:
            for i in rows:
                if kernel == PRECOMPUTED:
                    given = [f"{j + 1}:{X[i] @ X[j]:.9g}" for j in range(90)]
                    file.write(f"{labels[i]} 0:{i + 1} {' '.join(given)}\n")
                else:
                    pairs = [f"{j}:{x:.7g}" for j, x in enumerate(X[i], first) if abs(x) > 0.3]
                    file.write(f"{labels[i]} {' '.join(pairs)}\n")
    return files
