"""A full disk leaves the old model."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from reference import random_rows, text_of


def test_file_size_limit_leaves_the_old_model(tmp_path):
    """The system refuses to write beyond 64 KiB, which needs no mount."""
    rng = np.random.default_rng(4)
    (tmp_path / "d").write_text(text_of(random_rows(rng, 8, 20000, 0.2), rng.choice([1.0, -1.0], 8)))
    (tmp_path / "m").write_text("the old model")
    script = f"ulimit -f 64; trap '' XFSZ; exec {sys.executable} -m svmtool train -q d m"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b"can't write m: File too large\n"
    assert (tmp_path / "m").read_text() == "the old model"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "m"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_device_as_model(command, tmp_path):
    (tmp_path / "d").write_text("1 1:1\n-1 1:2\n")
    done = command("train", "-q", "d", "/dev/full")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"can't write /dev/full: No space left on device\n"
    assert os.path.exists("/dev/full")
