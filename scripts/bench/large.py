"""Large sets of two classes in LIBSVM's text format, for measurements; the same bytes every time.

| kind | rows | a gigabyte has |
| dense | every feature, three digits | 1 million rows x 100 |
| onehot | 12 categorical columns of unequal sizes: 12 ones | 11 million rows x 1,000,000 |
| trigrams | 700 words of a power law, log(1 + count) log(1 + rank), norm 1 | 120,000 rows x 500,000 |

The classes are the sides of a plane, with noise.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import normalize

COLUMNS, WORDS = 12, 700  # of `onehot`, of a text
AT_ONCE = 500  # rows in memory
DIGITS = 4  # behind the point, to which values are rounded
NOISE = 0.7  # standard deviation, beside 1 of the distances from the plane
SKEW = 4.0  # feature d u^SKEW of a uniform u: the first ones are frequent


def dense(rng: np.random.Generator, d: int) -> scipy.sparse.csr_matrix:
    """Uniform values from .001 to .999."""
    return scipy.sparse.csr_matrix(rng.integers(1, 1000, (AT_ONCE, d)) / 1000)


def onehot(rng: np.random.Generator, d: int) -> scipy.sparse.csr_matrix:
    """A category of each column, which have a range of features each: the last takes half, the first has 2 and more."""
    ends = np.maximum(d // 2 ** np.arange(COLUMNS - 1, -1, -1), 2 * np.arange(1, COLUMNS + 1))
    begins = np.concatenate([[0], ends[:-1]])
    return counts(begins + rng.random((AT_ONCE, COLUMNS)) ** SKEW * (ends - begins), d)


def trigrams(rng: np.random.Generator, d: int) -> scipy.sparse.csr_matrix:
    X = counts(rng.random((AT_ONCE, WORDS)) ** SKEW * d, d)
    X.data = np.log1p(X.data) * np.log(X.indices + 2.0)
    return normalize(X)


def counts(drawn: np.ndarray, d: int) -> scipy.sparse.csr_matrix:
    """How often each row has each feature; drawn: features, rounded down."""
    starts = np.arange(0, drawn.size + 1, drawn.shape[1])
    X = scipy.sparse.csr_matrix((np.ones(drawn.size), drawn.astype(np.int64).ravel(), starts), shape=(AT_ONCE, d))
    X.sum_duplicates()
    return X


KINDS = {"dense": (dense, 100), "onehot": (onehot, 1_000_000), "trigrams": (trigrams, 500_000)}  # and features


def write(kind: str, path: Path, mb: float) -> None:
    """Write a file of at least this size."""
    make, d = KINDS[kind]
    rng = np.random.default_rng(5)
    plane = rng.standard_normal(d)
    beside = path.with_name(path.name + ".tmp")
    with open(beside, "wb") as file:
        while file.tell() < 1e6 * mb:
            X = make(rng, d)
            z = X @ plane
            z = (z - np.median(z)) / z.std() + NOISE * rng.standard_normal(AT_ONCE)
            X.data = X.data.round(DIGITS)
            dump_svmlight_file(X, np.sign(z), file, zero_based=False)
    beside.replace(path)
