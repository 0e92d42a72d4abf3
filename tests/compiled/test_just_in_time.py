"""Without compiled loops everything still works, and to the same bytes: numba compiles them when they are used.

numba keeps what it compiled in a cache on disk, so only the first run takes long; in one file, the tests share it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
from kernel_models import KERNELS, random_model

from svmtool.compiled import ahead_of_time
from svmtool.formats.models import kernel as kernel_model

TRAIN = "\n".join(
    f"{label} {' '.join(f'{j}:{((i * 7 + j * 3) % 11 - 5 + label * (j == 2)) / 4:g}' for j in (1, 2, 4, 5))}"
    for i, label in enumerate([1, -1, 1, 1, -1, -1, 1, -1] * 5)
)
SOLVERS, MODELS = (1, 2, 40), (1, 4, 5)  # of the linear models that are trained, and kernels of models

# All commands in one process, which imports numba once.
RUN = """
import json, math, os, sys
from svmtool.cli.entry import start
from svmtool.training import lines
lines.FIRST_SECONDS = math.inf  # no lines by the clock
for command, argv, out in json.loads(sys.argv[1]):
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
    assert start(command, argv) == 0
"""


def results(mode: str, folder) -> dict[str, bytes]:
    """Standard outputs and files of commands, by name."""
    lines = [("scale", ["-l", "0", "../d"], "scaled")]
    for s in map(str, SOLVERS):
        lines.append(("train", ["-s", s, "-c", "2", "-B", "1", "scaled", f"m{s}"], f"trained{s}"))
        lines.append(("predict", ["scaled", f"m{s}", f"o{s}"], f"predicted{s}"))
    for k in MODELS:
        lines.append(("predict", ["--scores", f"s-t{k}", "../t", f"../kernel{k}", f"o-t{k}"], f"predicted-t{k}"))
    (folder / mode).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(lines)], cwd=folder / mode, capture_output=True, text=True,
        env={**os.environ, "SVMTOOL_LOOPS": mode},
    )  # fmt: skip
    assert done.returncode == 0 and all("no row has a label" in line for line in done.stderr.splitlines()), done.stderr
    return {path.name: path.read_bytes() for path in (folder / mode).iterdir()}


def test_scaling_training_and_prediction_give_the_same_bytes(tmp_path):
    assert ahead_of_time(), "loops are not compiled for these sources: python -m svmtool.compiled.build says why"
    rng = np.random.default_rng(9)
    (tmp_path / "d").write_text(TRAIN + "\n")
    (tmp_path / "t").write_text(
        "".join(f"1 {' '.join(f'{j}:{rng.normal():g}' for j in (1, 2, 4))}\n" for _ in range(40))
    )
    for k in MODELS:
        model, _ = random_model(rng, KERNELS[k], "c_svc", 3, 20, 5)
        kernel_model.write(str(tmp_path / f"kernel{k}"), model)
    ahead, just_in_time = results("auto", tmp_path), results("jit", tmp_path)
    assert ahead.keys() == just_in_time.keys() and len(ahead) == 1 + 4 * len(SOLVERS) + 3 * len(MODELS)
    for name in ahead:
        assert ahead[name] == just_in_time[name], name
    assert all(b"Accuracy = " in ahead[f"predicted{s}"] for s in SOLVERS)
