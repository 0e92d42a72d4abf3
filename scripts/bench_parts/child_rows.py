"""Child process: makes a set of rows of two classes, which a plane parts but for noise.

Arguments: file, rows, features.  Every feature is there in every row, with three digits; the same bytes every time.
"""

from __future__ import annotations

import os
import sys

import numpy as np

AT_ONCE = 20_000  # rows
NOISE = 1.5  # beside a plane whose weights are of size 1


def main() -> None:
    path, rows, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(5)
    plane = rng.standard_normal(d)
    digits = np.frombuffer(b"".join(b"0.%03d" % k for k in range(1000)), np.uint8).reshape(1000, 5)
    line, places = b"+1", []
    for j in range(1, d + 1):
        line += b" %d:" % j
        places.append(len(line))
        line += b"0.000"
    template = np.frombuffer(line + b"\n", np.uint8)
    at = (np.array(places)[:, None] + np.arange(5)).reshape(-1)
    with open(path + ".part", "wb") as file:
        for first in range(0, rows, AT_ONCE):
            m = min(AT_ONCE, rows - first)
            k = rng.integers(0, 1000, (m, d))
            side = (k / 1000 - 0.5) @ plane + NOISE * rng.standard_normal(m)
            text = np.tile(template, (m, 1))
            text[:, 0] = np.where(side > 0, ord("+"), ord("-"))
            text[:, at] = digits[k].reshape(m, -1)
            file.write(text.tobytes())
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
