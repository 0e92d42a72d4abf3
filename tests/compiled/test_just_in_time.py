"""Without compiled loops everything still works, and to the same bytes: numba compiles them when they are used.

numba keeps what it compiled in a cache on disk, so only the first run takes long; in one file, the tests share it.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from kernel_models import KERNELS, random_model

from svmtool.formats.models import kernel as kernel_model

TRAIN = "\n".join(
    f"{label} {' '.join(f'{j}:{((i * 7 + j * 3) % 11 - 5 + label * (j == 2)) / 4:g}' for j in (1, 2, 4, 5))}"
    for i, label in enumerate([1, -1, 1, 1, -1, -1, 1, -1] * 5)
)


def compiled_loops_exist() -> bool:
    from svmtool import compiled

    return any(os.path.exists(compiled.library_path(kind)) for kind in ("so", "o"))


@pytest.mark.parametrize("solver", [1, 2, 40])
def test_scaling_training_and_prediction_give_the_same_bytes(solver, tmp_path, command):
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


def test_predictions_of_kernel_models_have_the_same_bytes(command, tmp_path):
    rng = np.random.default_rng(9)
    (tmp_path / "t").write_text(
        "".join(f"1 {' '.join(f'{j}:{rng.normal():g}' for j in (1, 2, 4))}\n" for _ in range(40))
    )
    for kernel in (KERNELS[1], KERNELS[4], KERNELS[5]):
        model, _ = random_model(rng, kernel, "c_svc", 3, 20, 5)
        kernel_model.write(str(tmp_path / "m"), model)
        found = []
        for mode in ("auto", "jit"):
            done = command("predict", "--scores", "s", "t", "m", "o", env={"SVMTOOL_LOOPS": mode})
            assert done.returncode == 0, done.stderr.decode()
            found.append((done.stdout, (tmp_path / "s").read_bytes(), (tmp_path / "o").read_bytes()))
        assert found[0] == found[1]
