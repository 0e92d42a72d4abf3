"""Reads model files without code of the package, so that checks see what a user gets."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

import numpy as np

from stress.rows import Rows

NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)"
CERTIFICATE = re.compile(
    rf"(?:Certified|Estimated) relative gap = ({NUMBER}|none: [^(]*) "
    rf"\(primal ({NUMBER}), dual ({NUMBER}), KKT violation ({NUMBER})"
)
SHOWN_GAP, SHOWN = 0.006, 1e-8  # precision of a printed gap, and of other printed numbers
Pairs = tuple[tuple[int, float], ...]  # index and value of each feature of a row
LISTS = ("label", "rho", "nr_sv", "probA", "probB", "prob_density_marks")


class Certificate(NamedTuple):
    """The numbers of the certificate line."""

    gap: float
    primal: float
    dual: float
    violation: float


class Model(NamedTuple):
    """A model.  header: the words before the weights, lists as tuples of text; body: the numbers after `w` or the lines
    after `SV`; notes: the lines that start with '#'."""

    header: dict[str, tuple[str, ...]]
    body: list[str]
    notes: list[str]

    @property
    def kernel(self) -> bool:
        return "svm_type" in self.header

    @property
    def labels(self) -> list[int]:
        return [int(t) for t in self.header.get("label", ())]

    @property
    def rho(self) -> np.ndarray:
        return np.array([float(t) for t in self.header.get("rho", ())])

    @property
    def W(self) -> np.ndarray:
        """f8 (features and bias, columns) of a linear model."""
        classes = int(self.header["nr_class"][0])
        columns = 1 if classes == 2 and self.header["solver_type"][0] != "MCSVM_CS" else classes
        rows = [[float(t) for t in line.split()] for line in self.body]
        return np.array(rows).reshape(len(rows) if columns else 0, columns)

    @property
    def bias(self) -> float:
        return float(self.header["bias"][0])

    @property
    def stopped(self) -> str:
        """The model's note on why the runs ended."""
        return next((note for note in self.notes if note.startswith("# Stopped:")), "")

    @property
    def certificate(self) -> Certificate | None:
        hits = [hit for note in self.notes if (hit := CERTIFICATE.search(note))]
        numbers = [np.inf if text.startswith("none") else float(text) for text in hits[0].groups()] if hits else []
        return Certificate(*numbers) if hits else None

    def not_finite(self) -> list[str]:
        """The words of the model that should be finite numbers and are not."""
        lines = [" ".join((key, *tokens)) for key, tokens in self.header.items() if key in (*LISTS, "gamma", "coef0")]
        tokens = " ".join([*lines, *self.body]).replace(":", " ").split()
        return [t for t in tokens if t.lstrip("-+").lower() in ("nan", "inf", "infinity")]

    def coefficients(self, rows: Rows) -> np.ndarray | None:
        """f8 (max(1, classes - 1), n) of a kernel model: coefficients of all training rows.

        Support vectors are in the order of the rows, class after class; LIBSVM's have eight digits.  None if these do
        not determine the rows.
        """
        columns = max(1, int(self.header["nr_class"][0]) - 1)
        coef = np.zeros((columns, rows.n))
        places, support = _pairs(rows), [_pairs_of(line.split()[columns:]) for line in self.body]
        if not set(support) <= set(places):
            places = _pairs(rows._replace(values=np.array([float(f"{v:.8g}") for v in rows.values.tolist()])))
        groups, counts = [np.arange(rows.n)], [len(self.body)]
        if self.labels:
            groups = [np.flatnonzero(rows.labels == label) for label in self.labels]
            counts = [int(count) for count in self.header["nr_sv"]]
        lines = iter(zip(self.body, support, strict=True))
        for group, count in zip(groups, counts, strict=True):
            at, taken = 0, Counter()
            for line, pairs in islice(lines, count):
                while places[group[at]] != pairs:
                    at += 1
                coef[:, group[at]] = [float(t) for t in line.split()[:columns]]
                at += 1
                taken[pairs] += 1
            if not _are_distinguishable(rows, group, places, taken):
                return None
        return coef


def _are_distinguishable(rows: Rows, group: np.ndarray, places: list[Pairs], taken: Counter[Pairs]) -> bool:
    """Whether rows of `group` with equal pairs are equal, or all or none of them are `taken`."""
    alike: dict[Pairs, list[int]] = {}
    for i in group.tolist():
        if places[i] in taken:
            alike.setdefault(places[i], []).append(i)
    for pairs, some in alike.items():
        exact = {rows.values[rows.indptr[i] : rows.indptr[i + 1]].tobytes() for i in some}
        if len(exact) > 1 and taken[pairs] < len(some):
            return False
    return True


def _pairs(rows: Rows) -> list[Pairs]:
    """The pairs of each row."""
    pairs = list(zip((rows.indices + 1).tolist(), rows.values.tolist(), strict=True))
    return [tuple(pairs[a:b]) for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]


def _pairs_of(words: list[str]) -> Pairs:
    """The pairs of a support vector."""
    return tuple((int(j), float(value)) for j, value in (word.split(":") for word in words))


def parse(text: str) -> Model:
    """Parse a linear or kernel model, of svmtool, LIBLINEAR or LIBSVM."""
    header: dict[str, tuple[str, ...]] = {}
    lines = text.splitlines()
    at = 0
    while at < len(lines) and lines[at].strip() not in ("w", "SV"):
        key, *tokens = lines[at].split()
        header[key] = tuple(tokens)
        at += 1
    behind = lines[at + 1 :]
    return Model(header, [x for x in behind if not x.startswith("#")], [x for x in behind if x.startswith("#")])
