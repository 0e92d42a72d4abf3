"""LIBSVM's own tools (grid.py, easy.py, subset.py, checkdata.py) run unchanged on our commands.

They are taken from LIBSVM_DIR/tools or, under Debian's names, from libsvm-tools on PATH; without them these tests
are skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from shell_commands import put_commands, put_script, run_in

TOOLS = ("grid", "easy", "subset", "checkdata")
OURS = {"svm-train": "train", "svm-predict": "predict", "svm-scale": "scale"}


def found(tool: str) -> Path | None:
    """The tool's file, from LIBSVM_DIR or else Debian's."""
    if "LIBSVM_DIR" in os.environ:
        path = Path(os.environ["LIBSVM_DIR"]) / "tools" / f"{tool}.py"
        return path if path.exists() else None
    name = shutil.which(f"svm-{tool}")
    return Path(name) if name else None


@pytest.fixture
def libsvm(tmp_path, data):
    """A folder like LIBSVM's: our commands, and tools/ with the sets; run(tool, ...)."""
    put_commands(tmp_path, OURS)
    folder, names = tmp_path / "tools", tmp_path / "names"
    folder.mkdir()
    names.mkdir()
    put_script(names / "python", f'exec "{sys.executable}" "$@"')  # easy.py starts grid.py by its first line
    for tool in TOOLS:
        path = found(tool)
        if path is None:
            pytest.skip(f"LIBSVM's {tool}.py is absent: install libsvm-tools or set LIBSVM_DIR")
        shutil.copy(path, folder / f"{tool}.py")
        (folder / f"{tool}.py").chmod(0o755)
    for name in ("breast_cancer", "breast_cancer.t", "digits"):
        (folder / name).symlink_to(data / name)

    def run(tool: str, *argv):
        return run_in(folder, [sys.executable, f"{tool}.py", *map(str, argv)], names)

    def ours(name: str, *argv):
        return run_in(folder, [str(tmp_path / name), *map(str, argv)])

    run.folder, run.ours = folder, ours
    return run


def rate_of(libsvm, *argv) -> float:
    """The output of our cross-validation."""
    return float(re.search(r"Cross Validation Accuracy = (\S+)%", libsvm.ours("svm-train", *argv).stdout)[1])


def test_grid_searches_c_and_gamma(libsvm):
    """Its rates equal LIBSVM's, because both draw the same folds."""
    done = libsvm(
        "grid", "-log2c", "-1,3,4", "-log2g", "-5,-1,4", "-v", 3, "-gnuplot", "null", "-m", 300, "breast_cancer"
    )
    assert (done.returncode, done.stderr) == (0, "")
    *steps, last = done.stdout.splitlines()
    rates = {}
    for line in steps:
        log2c, log2g, rate = re.match(r"\[local\] (\S+) (\S+) (\S+) \(best c=", line).groups()
        rates[2.0 ** float(log2c), 2.0 ** float(log2g)] = float(rate)
    assert set(rates) == {(c, g) for c in (0.5, 8.0) for g in (2.0**-5, 0.5)}
    for (c, g), rate in rates.items():
        assert rate == rate_of(libsvm, "-c", c, "-g", g, "-v", 3, "-q", "breast_cancer")
    best_c, best_g, best = map(float, last.split())
    assert best == max(rates.values()) == rates[best_c, best_g]


def test_easy(libsvm):
    """The grid.py that it starts tries 4 pairs, not 110."""
    if not Path("/usr/bin/gnuplot").exists():
        pytest.skip("easy.py refuses to run without /usr/bin/gnuplot")
    (libsvm.folder / "grid.py").rename(libsvm.folder / "whole_grid.py")
    put_script(libsvm.folder / "grid.py", 'exec ./whole_grid.py -log2c -1,3,4 -log2g -5,-1,4 "$@"')
    done = libsvm("easy", "breast_cancer", "breast_cancer.t")
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"^Accuracy = (\S+)%", done.stdout, re.MULTILINE)[1]) > 94


def test_subset_makes_sets_that_train(libsvm):
    done = libsvm("subset", "digits", 300, "part", "rest")
    assert (done.returncode, done.stderr) == (0, "")
    assert libsvm.ours("svm-train", "-q", "part", "m").returncode == 0
    assert float(re.match(r"Accuracy = (\S+)%", libsvm.ours("svm-predict", "rest", "m", "o").stdout)[1]) > 80


def test_checkdata_accepts_what_we_write(libsvm):
    for name, argv in {"a": ["-l", "0", "breast_cancer"], "b": ["-y", "0", "1", "digits"], "c": ["digits"]}.items():
        (libsvm.folder / name).write_text(libsvm.ours("svm-scale", *argv).stdout)
        done = libsvm("checkdata", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "No error.\n", "")
