"""Helpers for tests of adaptable models: dense rows, batch solutions, and the recursion of the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from reference import random_rows

from svmtool.formats.models import linear


class Row(NamedTuple):
    """A labelled row; missing features at the end of x are 0."""

    label: int
    x: tuple[float, ...]

    @property
    def text(self) -> str:
        return f"{self.label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(self.x) if v) + "\n"


def draw(rng: np.random.Generator, n: int, d: int, labels=(1, -1)) -> list[Row]:
    X = random_rows(rng, n, d)
    return [Row(int(rng.choice(labels)), tuple(x.tolist())) for x in X]


def text_of_rows(rows: list[Row]) -> str:
    return "".join(row.text for row in rows)


def dense(rows: list[Row], bias: float = 1.0) -> np.ndarray:
    """Rows with the bias feature."""
    d = max((j + 1 for row in rows for j, v in enumerate(row.x) if v), default=0)
    A = np.zeros((len(rows), d))
    for i, row in enumerate(rows):
        k = min(d, len(row.x))
        A[i, :k] = row.x[:k]
    return A if bias < 0 else np.hstack([A, np.full((len(rows), 1), bias)])


def batch(rows: list[Row], C: float = 1.0, bias: float = 1.0, factor: dict[int, float] | None = None) -> dict:
    """label -> weights of its two-class problem (with two labels: the weights and their negative)."""
    A, y, factor = dense(rows, bias), np.array([row.label for row in rows]), factor or {}
    labels = list(dict.fromkeys(y.tolist()))
    own = np.array([factor.get(label, 1.0) for label in y])
    found = {}
    for label in labels:
        cost = own if len(labels) == 2 else np.where(y == label, own, 1.0)
        sign = np.where(y == label, 1.0, -1.0)
        G = A.T @ (cost[:, None] * A) + np.eye(A.shape[1]) / (2.0 * C)
        found[label] = np.linalg.solve(G, A.T @ (cost * sign))
    return found


def weights_in(path: str) -> dict:
    """`batch` of a model file: label -> weights."""
    m = linear.read(path)
    if m.nr_class == 2:
        return {m.labels[0]: m.W[:, 0], m.labels[1]: -m.W[:, 0]}
    return {label: m.W[:, k] for k, label in enumerate(m.labels)}


def apart(found: dict, wanted: dict, bias: float = 1.0) -> float:
    """The largest relative distance of the weights of a label; inf if the labels differ.

    Features after the last one in the rows may be missing in one of them; their weight is 0 up to round-off.
    """
    if set(found) != set(wanted):
        return np.inf
    worst, edge = 0.0, int(bias >= 0)
    for label, w in wanted.items():
        v, d = found[label], len(w) - edge
        extra = v[d : len(v) - edge]
        assert len(v) >= len(w) and not np.any(np.abs(extra) > 1e-9), "weights of features that no row has"
        v = np.append(v[:d], v[len(v) - edge :])
        worst = max(worst, float(np.linalg.norm(v - w)) / max(float(np.linalg.norm(w)), 1e-6))
    return worst


def streamed(svm_train, text: str, *argv) -> tuple[int, str, str]:
    """svm_train of the arguments with `text` on the standard input."""
    Path("stream").write_text(text)
    with open("stream") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        return svm_train(*argv)


class PaperForm:
    """ALSVM as in the paper: P = G^-1 and w, updated row by row (Eqs. 4-6, 8-10)."""

    def __init__(self, d: int, C: float):
        nu = 1.0 / (2.0 * C)
        self.P, self.w = np.eye(d) / nu, np.zeros(d)

    def add(self, x: np.ndarray, y: float) -> None:
        Px = self.P @ x
        a = float(x @ Px)
        self.P -= np.outer(Px, Px) / (1.0 + a)
        self.w = self.w + Px / (1.0 + a) * (y - float(self.w @ x))

    def remove(self, x: np.ndarray, y: float) -> None:
        Px = self.P @ x
        a = float(x @ Px)
        assert a < 1.0, "this row was never added"
        self.P += np.outer(Px, Px) / (1.0 - a)
        self.w = self.w + Px / (1.0 - a) * (float(self.w @ x) - y)
