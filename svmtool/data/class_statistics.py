"""Sums over labelled rows that determine the least-squares SVM of each class, for any C and bias feature.

    gram_g = sum r_i x_i x_i' over a group of labels,   first_c = sum r_i x_i and weight_c = sum r_i over one label

r_i is a row's own weight.  Labels that have a class weight of their own (-wi) are a group each, all others one group:
one-against-the-rest weighs a class as itself and not as part of the rest.  Rows are added and taken away; only features
that the file has are kept, for what the bias feature adds follows from first and weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmtool.data.blocks import Rows

UNIT = float(np.finfo(float).eps)


class ClassStatistics:
    """The sums of m features (see the module's text).

    labels: in order of appearance; own: labels that are groups of their own, gram[1 + k] that of own[k], gram[0] the
    rest's; gram f8[1 + len(own), m, m], upper triangles; first f8[labels, m]; weight f8[labels]; count i8[labels].
    past f8[m]: the sums of x_ij^2 that gram's diagonal went through: rounding has left some UNIT of them there.
    """

    def __init__(self, own: Sequence[int] = (), m: int = 0):
        self.own, self.m = tuple(dict.fromkeys(own)), m
        self.labels: list[int] = []
        self.gram = np.zeros((1 + len(self.own), m, m))
        self.first, self.weight, self.count = np.zeros((0, m)), np.zeros(0), np.zeros(0, np.int64)
        self.past = np.zeros(m)

    @property
    def n(self) -> int:
        """Rows in the sums."""
        return int(self.count.sum())

    def group(self, label: int) -> int:
        """The place of a label's group in gram."""
        return 1 + self.own.index(label) if label in self.own else 0

    def change(
        self, rows: Rows, labels: Sequence[int], number: np.ndarray, r: np.ndarray | None = None, sign: float = 1.0
    ) -> None:
        """Add rows (sign 1) or take them away (-1).

        labels[number_i] is the label of row i; r f8[n] are the weights of rows (None: 1).  The rows' features may be
        more than those so far, their labels new; a label whose last row goes is forgotten.
        """
        self.reserve(rows.plain, labels)
        if not rows.n:
            return
        r = np.ones(rows.n) if r is None else r
        plain, m, k = rows.without_bias(), rows.plain, len(labels)
        groups = [self.group(label) for label in labels]
        for g in sorted(set(groups)):
            empty = sign > 0.0 and m == self.m and not any(
                n for label, n in zip(self.labels, self.count, strict=True) if self.group(label) == g
            )
            part = self.gram[g] if empty else np.zeros((m, m))
            mine = r if len(set(groups)) == 1 else np.where(np.array(groups)[number] == g, r, 0.0)
            plain.add_gram(mine, part)
            if not empty:
                self.gram[g, :m, :m] += sign * part
            self.past[:m] += np.diagonal(part) + np.diagonal(self.gram[g])[:m]
        at = [self.labels.index(label) for label in labels]
        self.first[at, :m] += sign * plain.class_sums(r, number, k)
        self.weight[at] += sign * np.bincount(number, r, k)
        self.count[at] += int(sign) * np.bincount(number, minlength=k)
        self._forget()

    def reserve(self, m: int, labels: Sequence[int]) -> None:
        """For m features, where there are fewer, and for labels that are new: they have no rows yet."""
        new = [label for label in labels if label not in self.labels]
        if new:
            self.labels += new
            k = len(new)
            self.first = np.vstack([self.first, np.zeros((k, self.m))])
            self.weight, self.count = np.append(self.weight, np.zeros(k)), np.append(self.count, np.zeros(k, np.int64))
        if m > self.m:
            more = m - self.m
            before, self.gram = self.gram, np.zeros((len(self.gram), m, m))
            self.gram[:, : self.m, : self.m] = before
            self.first, self.past, self.m = np.pad(self.first, ((0, 0), (0, more))), np.pad(self.past, (0, more)), m

    def join(self, other: ClassStatistics) -> None:
        """Add the rows of other sums, of the same groups."""
        self.reserve(other.m, other.labels)
        other.reserve(self.m, [])
        at = [self.labels.index(label) for label in other.labels]
        self.gram += other.gram
        self.past += other.past
        self.first[at] += other.first
        self.weight[at] += other.weight
        self.count[at] += other.count

    def _forget(self) -> None:
        """Labels and groups without rows: what is left of them is rounding."""
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
        """All sums become 0, which they are known to be up to rounding; rows and labels still count."""
        for sums in (self.gram, self.first, self.weight, self.past):
            sums[...] = 0.0
