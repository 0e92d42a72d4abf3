"""Sums over labelled rows that determine the least-squares SVMs of all classes, for any C and bias feature.

    gram_g = sum r_i x_i x_i' over a group of labels,   first_c = sum r_i x_i and weight_c = sum r_i over one label

r_i is the weight of a row.  Each label with a class weight (-wi) is a group, all others form one group, because a class
weight applies only when the class is the positive one.  Rows can be added and removed.  The bias feature is not
included: its part of the sums follows from first and weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmtool.data.row_storage import Rows


class ClassStatistics:
    """The sums over m features, see the module's docstring.

    labels: in order of appearance.  own: labels with their own group; gram[1 + k] belongs to own[k], gram[0] to all
    others.  gram f8[1 + len(own), m, m], upper triangles; first f8[labels, m]; weight f8[labels]; count i8[labels].
    past f8[m]: bound of the sizes that gram's diagonal has had: r_i x_ij^2 of all changes, and the diagonal after each;
    its round-off is some EPS of it.
    """

    def __init__(self, own: Sequence[int] = (), m: int = 0):
        self.own, self.m = tuple(dict.fromkeys(own)), m
        self.labels: list[int] = []
        self.gram = np.zeros((1 + len(self.own), m, m))
        self.first, self.weight, self.count = np.zeros((0, m)), np.zeros(0), np.zeros(0, np.int64)
        self.past = np.zeros(m)

    @property
    def n(self) -> int:
        """Number of rows in the sums."""
        return int(self.count.sum())

    def group(self, label: int) -> int:
        """Index of a label's group in gram."""
        return 1 + self.own.index(label) if label in self.own else 0

    def update(
        self, rows: Rows, labels: Sequence[int], class_index: np.ndarray, r: np.ndarray | None = None, sign: float = 1.0
    ) -> None:
        """Add rows (sign 1) or remove them (sign -1).

        labels[class_index_i] is the label of row i; r f8[n]: weights of the rows (None: 1).  The rows may have new
        features and new labels.  A label without rows is dropped.
        """
        self.reserve(rows.n_features, labels)
        if not rows.n:
            return
        r = np.ones(rows.n) if r is None else r
        plain, m, k = rows.without_bias(), rows.n_features, len(labels)
        groups = [self.group(label) for label in labels]
        for g in sorted(set(groups)):
            empty = (
                sign > 0.0
                and m == self.m
                and not any(n for label, n in zip(self.labels, self.count, strict=True) if self.group(label) == g)
            )
            part = self.gram[g] if empty else np.zeros((m, m))
            weights = r if len(set(groups)) == 1 else np.where(np.array(groups)[class_index] == g, r, 0.0)
            plain.add_gram(weights, part)
            if not empty:
                self.gram[g, :m, :m] += sign * part
            self.past[:m] += np.diagonal(part) + np.diagonal(self.gram[g])[:m]
        at = [self.labels.index(label) for label in labels]
        self.first[at, :m] += sign * plain.class_sums(r, class_index, k)
        self.weight[at] += sign * np.bincount(class_index, r, k)
        self.count[at] += int(sign) * np.bincount(class_index, minlength=k)
        self._drop_empty()

    def reserve(self, m: int, labels: Sequence[int]) -> None:
        """Extend the arrays to at least m features and by new labels, which have no rows yet."""
        new = [label for label in labels if label not in self.labels]
        if new:
            self.labels += new
            k = len(new)
            self.first = np.vstack([self.first, np.zeros((k, self.m))])
            self.weight = np.append(self.weight, np.zeros(k))
            self.count = np.append(self.count, np.zeros(k, np.int64))
        if m > self.m:
            more = m - self.m
            before, self.gram = self.gram, np.zeros((len(self.gram), m, m))
            self.gram[:, : self.m, : self.m] = before
            self.first = np.pad(self.first, ((0, 0), (0, more)))
            self.past, self.m = np.pad(self.past, (0, more)), m

    def join(self, other: ClassStatistics) -> None:
        """Add the rows of other sums with the same groups."""
        self.reserve(other.m, other.labels)
        other.reserve(self.m, [])
        at = [self.labels.index(label) for label in other.labels]
        self.gram += other.gram
        self.past += other.past
        self.first[at] += other.first
        self.weight[at] += other.weight
        self.count[at] += other.count

    def _drop_empty(self) -> None:
        """Drop labels without rows and clear groups without rows, which hold only round-off."""
        kept = np.flatnonzero(self.count > 0)
        if len(kept) < len(self.labels):
            self.labels = [self.labels[k] for k in kept]
            self.first, self.weight, self.count = self.first[kept], self.weight[kept], self.count[kept]
            filled = {self.group(label) for label in self.labels}
            for g in set(range(len(self.gram))) - filled:
                self.gram[g] = 0.0
            if not filled:
                self.past[:] = 0.0

    def clear(self) -> None:
        """Set all sums to 0, for sums that are 0 up to round-off; counts and labels are kept."""
        for sums in (self.gram, self.first, self.weight, self.past):
            sums[...] = 0.0
