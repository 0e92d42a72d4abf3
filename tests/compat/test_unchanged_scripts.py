"""`python -m svmtool.compat SCRIPT.py`: scripts for the originals run unchanged."""

from __future__ import annotations

import subprocess
import sys

import dropins
import pytest
from shell_commands import svmtool

LINEAR = """
import sys
from liblinear.liblinearutil import *

y, x = svm_read_problem(sys.argv[1])
m = train(y[:200], x[:200], '-s 2 -c 0.001 -e 1e-6 -q')
labels, measures, values = predict(y[200:], x[200:], m)
train(y, x, '-v 5 -s 2 -c 0.001 -e 1e-6 -q')
sys.exit(len(set(labels)))
"""
KERNEL = """
import sys
from libsvm.svmutil import *

y, x = svm_read_problem(sys.argv[1], return_scipy=True)
x = csr_scale(x, csr_find_scale_param(x, lower=0))
prob, param = svm_problem(y, x), svm_parameter('-c 4 -g 0.3 -e 1e-5 -q')
m = svm_train(prob, param)
svm_predict(y, x, m)
print(m.get_nr_sv(), m.get_sv_indices()[:5])
svm_train(prob, '-c 4 -v 4 -e 1e-5 -q')
"""
NAMES = """
import sys
import commonutil, liblinearutil, svm, svmutil
from liblinear import commonutil as a, liblinear as b, liblinearutil as c
from libsvm import commonutil as d, svm as e, svmutil as f
import liblinear.liblinearutil, libsvm.svmutil, libsvm.svm, libsvm.commonutil, liblinear.commonutil

found = {m.__name__ for m in (commonutil, liblinearutil, svm, svmutil, a, b, c, d, e, f)}
print(*sorted(found))
print(*sys.argv[1:], __name__, __file__ == sys.argv[0], 'beside' in sys.modules)
import beside
print(liblinear.liblinear.problem is liblinearutil.problem, svm.svm_node is svmutil.svm_node)
raise SystemExit('the end')
"""


START = "import sys; sys.argv[:3] = ['']; sys.path.insert(0, ''); from svmtool.compat.__main__ import main; main()"


def run(folder, script: str, *argv: str, through: bool = True) -> subprocess.CompletedProcess:
    """Run by `python -m svmtool.compat`, forked from a process that has numpy, or by Python alone."""
    (folder / "script.py").write_text(script)
    start = [*svmtool(), "-c", START] if through else [sys.executable]
    return subprocess.run([*start, "script.py", *argv], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("script, status", [(LINEAR, 2), (KERNEL, 0)], ids=["liblinear", "libsvm"])
def test_a_script(script, status, tmp_path, data):
    done = run(tmp_path, script, str(data / "breast_cancer"))
    assert done.returncode == status and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Accuracy = ") and lines[-1].startswith("Cross Validation Accuracy = ")


@pytest.mark.reference
@pytest.mark.parametrize("script, package", [(LINEAR, "liblinear"), (KERNEL, "libsvm")], ids=["liblinear", "libsvm"])
def test_it_prints_what_the_original_prints(script, package, tmp_path, data):
    dropins.original(package, "commonutil")
    ours, theirs = (run(tmp_path, script, str(data / "breast_cancer"), through=some) for some in (True, False))
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)


def test_all_names_are_ours(tmp_path):
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "liblinearutil.py").write_text("raise AssertionError('the original')\n")
    done = run(tmp_path, NAMES, "-s", "two words")
    lines = done.stdout.splitlines()
    assert lines[0].split() == [
        "svmtool.compat.commonutil", "svmtool.compat.liblinear", "svmtool.compat.libsvm", "svmtool.liblinearutil",
        "svmtool.svmutil",
    ]  # fmt: skip
    assert lines[1:] == ["-s two words __main__ True False", "True True"]
    assert (done.returncode, done.stderr) == (1, "the end\n")


def test_errors_of_a_script_are_its_own(tmp_path):
    done = run(tmp_path, "x = 1\nprint(1 / 0)\n")
    assert done.returncode == 1 and 'File "script.py", line 2' in done.stderr and "ZeroDivisionError" in done.stderr


def test_usage(tmp_path):
    for argv, status, text in (([], 2, "Usage: "), (["none.py"], 2, "can't open file 'none.py'")):
        start = [sys.executable, "-m", "svmtool.compat", *argv]
        done = subprocess.run(start, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == status and text in done.stderr
