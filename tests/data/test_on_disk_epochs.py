"""Epochs over rows on disk use pieces, with a check of the memory after each."""

from __future__ import annotations

import numpy as np
import pytest
from engine import engine

from svmtool.coordinate import hinge
from svmtool.data.csr import CsrRows
from svmtool.formats.rowcache import folder


def wide_text(rows: int, features: int) -> str:
    """More features than any solver forms Gram matrices of."""
    rng = np.random.default_rng(7)
    lines = []
    for _ in range(rows):
        where = np.sort(rng.choice(features, 8, replace=False)) + 1
        label = rng.integers(2) * 2 - 1
        lines.append(f"{label} " + " ".join(f"{j}:{rng.random() + 0.2 * label * (j % 2):.3f}" for j in where))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("number", [0, 1, 3, 11, 42])
def test_random_passes_run_in_pieces(number, svm_train, monkeypatch, tmp_path):
    (tmp_path / "wide").write_text(wide_text(400, 3000))
    steps, pieces = [], CsrRows.pieces

    def noted(rows, lo, hi, step=0):
        if rows.mapped is not None:
            steps.append(step)
        return pieces(rows, lo, hi, step)

    monkeypatch.setattr(folder, "ROW_BYTES_PER_TEXT_BYTE", np.inf)
    monkeypatch.setattr(CsrRows, "pieces", noted)
    assert svm_train("-q", *engine(number), "--memory", "1G", "wide", "model")[0] == 0
    assert hinge.MEMORY_CHECK_CHUNKS in steps
