"""Child process: made rows of two classes on either side of a noisy plane, every feature filled.
Arguments: file, bytes, features."""

from __future__ import annotations

import os
import sys

import numpy as np

DIGITS, AT_ONCE, NOISE = 5, 20000, 1.5


def main() -> None:
    path, size, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(5)
    plane = rng.standard_normal(d)
    texts = np.frombuffer(b"".join(b"%.3f" % (v / 1000) for v in range(1000)), "u1").reshape(1000, DIGITS)
    heads = [b" %d:" % j for j in range(1, d + 1)]
    line = np.frombuffer(b"+1" + b"".join(head + b"0.000" for head in heads) + b"\n", "u1")
    places = 2 + np.cumsum([len(head) + DIGITS for head in heads])[:, None] - DIGITS + np.arange(DIGITS)
    left = -(-size // len(line))
    with open(path + ".tmp", "wb") as file:
        while left > 0:
            m = min(AT_ONCE, left)
            left -= m
            drawn = rng.integers(0, 1000, (m, d))
            lines = np.tile(line, (m, 1))
            z = (drawn / 1000 - 0.5) @ plane + NOISE * rng.standard_normal(m)
            lines[:, 0] = np.where(z > 0, ord("+"), ord("-"))
            lines[:, places.ravel()] = texts[drawn].reshape(m, -1)
            file.write(lines.tobytes())
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
