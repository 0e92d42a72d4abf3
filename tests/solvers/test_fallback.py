"""Without compiled loops everything still works, and to the same bytes: numba compiles them when they are used.

numba keeps what it compiled in a cache on disk, so only the first run of this file takes long.
"""

from __future__ import annotations

import os

import pytest

TRAIN = "\n".join(
    f"{label} {' '.join(f'{j}:{((i * 7 + j * 3) % 11 - 5 + label * (j == 2)) / 4:g}' for j in (1, 2, 4, 5))}"
    for i, label in enumerate([1, -1, 1, 1, -1, -1, 1, -1] * 5)
)


def compiled_loops_exist() -> bool:
    from svmtool import compiled

    return any(os.path.exists(compiled.library_path(kind)) for kind in ("so", "o"))


@pytest.mark.parametrize("solver", [1, 2, 40])
def test_just_in_time_gives_the_same_bytes(solver, tmp_path, command):
    assert compiled_loops_exist(), "loops are not compiled for these sources: python -m svmtool.compiled.build says why"
    (tmp_path / "d").write_text(TRAIN + "\n")
    results = {}
    for mode in ("auto", "jit"):
        env = {"SVMTOOL_LOOPS": mode}
        scaled = command("scale", "-l", 0, "d", env=env)
        (tmp_path / "scaled").write_bytes(scaled.stdout)
        trained = command("train", "-s", solver, "-c", "2", "-B", "1", "scaled", "m", env=env)
        predicted = command("predict", "scaled", "m", "out", env=env)
        for done in (scaled, trained, predicted):
            assert done.returncode == 0, done.stderr.decode()
        files = [(tmp_path / name).read_bytes() for name in ("m", "out")]
        results[mode] = [scaled.stdout, trained.stdout, predicted.stdout, *files]
    assert results["auto"] == results["jit"]
    assert b"Accuracy = " in results["auto"][2]
