"""Child process: writes a synthetic set of two classes, separable by a hyperplane except for noise.

Arguments: file, rows, features.  Every feature is there in every row, with three digits; the same bytes every time.
"""

from __future__ import annotations

import os
import sys

import numpy as np

DIGITS, AT_ONCE, NOISE = 5, 20_000, 1.5  # bytes of a number; rows; beside a plane whose weights are of size 1


def empty_line(d: int) -> bytes:
    """The text of a row whose numbers are all 0."""
    return b"+1" + b"".join(b" %d:0.000" % j for j in range(1, d + 1)) + b"\n"


def main() -> None:
    path, rows, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(5)
    plane = rng.standard_normal(d)
    digits = np.frombuffer(b"".join(b"%.3f" % (v / 1000) for v in range(1000)), "u1").reshape(1000, DIGITS)
    line = np.frombuffer(empty_line(d), "u1")
    places = np.flatnonzero(line == ord(":"))[:, None] + 1 + np.arange(DIGITS)
    with open(path + ".tmp", "wb") as file:
        for first in range(0, rows, AT_ONCE):
            m = min(AT_ONCE, rows - first)
            drawn = rng.integers(0, 1000, (m, d))
            z = (drawn / 1000 - 0.5) @ plane + NOISE * rng.standard_normal(m)
            lines = np.tile(line, (m, 1))
            lines[:, 0] = np.where(z > 0, ord("+"), ord("-"))
            lines[:, places.ravel()] = digits[drawn].reshape(m, -1)
            file.write(lines.tobytes())
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
