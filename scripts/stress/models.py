"""Reads model files without code of the package, so that checks see what a user gets."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)"
CERTIFICATE = re.compile(
    rf"(?:Certified|Estimated) relative gap = ({NUMBER}|none: [^(]*) "
    rf"\(primal ({NUMBER}), dual ({NUMBER}), KKT violation ({NUMBER})"
)
SHOWN_GAP, SHOWN = 0.006, 1e-8  # precision of a printed gap, and of other printed numbers
LISTS = ("label", "rho", "nr_sv", "probA", "probB", "prob_density_marks", "gamma", "coef0")


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

    def numbers(self, key: str) -> np.ndarray:
        return np.array([float(t) for t in self.header.get(key, ())])

    @property
    def kernel(self) -> bool:
        return "svm_type" in self.header

    @property
    def W(self) -> np.ndarray:
        """f8 (features and bias, columns) of a linear model."""
        classes = int(self.header["nr_class"][0])
        columns = 1 if classes == 2 and self.header["solver_type"][0] != "MCSVM_CS" else classes
        rows = [[float(t) for t in line.split()] for line in self.body]
        return np.array(rows).reshape(len(rows) if columns else 0, columns)

    @property
    def stopped(self) -> str:
        """The model's note on why the runs ended."""
        return next((note for note in self.notes if note.startswith("# Stopped:")), "")

    @property
    def certificate(self) -> Certificate | None:
        hits = [hit for note in self.notes if (hit := CERTIFICATE.search(note))]
        numbers = [np.inf if text.startswith("none") else float(text) for text in hits[0].groups()] if hits else []
        return Certificate(*numbers) if hits else None

    def not_finite(self) -> list[tuple[str, str]]:
        """Key and word of the numbers of the model that should be finite and are not."""
        words = [(key, token) for key, tokens in self.header.items() if key in LISTS for token in tokens]
        words += [("weights", token) for token in " ".join(self.body).replace(":", " ").split()]
        return [(key, t) for key, t in words if t.lstrip("-+").lower() in ("nan", "inf", "infinity")]


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
