"""The file of --keep-dual: a line for each row of the data, in it a number for each problem of the model."""

from __future__ import annotations

import numpy as np

from svmtool.formats.output import replacing


def write(path: str, point: np.ndarray) -> None:
    """Write a dual point, f8 (n, problems), with the digits from which the same doubles are read."""
    with replacing(path) as file:
        np.savetxt(file, point, fmt="%.17g")
