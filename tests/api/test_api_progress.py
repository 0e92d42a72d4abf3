"""progress=True: bars on a terminal and in notebooks, of one run at a time."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import types

import numpy as np
import pytest
from screen import Screen

import svmtool
from svmtool import progress

HEAD = """
import sys, numpy as np, svmtool
X = np.random.default_rng(0).standard_normal((60, 3))
y = np.arange(60) % 3
def wait(*_):
    if waits:
        waits.pop()
        sys.stdin.readline()
"""
RUNS = {  # what each bar shows when its run waits for standard input, and the run
    "training": "svmtool.fit(X, y, kernel='rbf', solver='nu_svc', nu=.1, callback=wait, progress=True)",
    "C ": "svmtool.search_C(X, y, callback=wait, progress=True)",
    "reading": "svmtool.read_svmlight(sys.stdin.buffer, progress=True)",
}  # fmt: skip


def test_runs_on_a_terminal(tmp_path):
    screen = Screen(["-c", HEAD + "".join(f"waits = [1]\n{code}\n" for code in RUNS.values())], tmp_path)
    for word in RUNS:
        screen.until(lambda lines: lines and word in lines[-1] and "00:" in lines[-1])  # noqa: B023
        if word != "reading":
            screen.send(b"\n")
    assert screen.end() == (0, b"", [])


def test_ctrl_c_leaves_nothing_of_a_bar(tmp_path):
    code = "waits = [1]\ntry: svmtool.fit(X, y, callback=wait, threads=1, progress=True)\n"
    screen = Screen(["-c", HEAD + code + "except KeyboardInterrupt: print('stopped', file=sys.stderr)"], tmp_path)
    screen.until(lambda lines: lines and "class" in lines[0])
    os.write(screen.terminal, b"\x03")
    assert screen.end()[2] == ["stopped"]


def test_every_function_takes_it_and_gives_the_same_result():
    X, y = np.random.default_rng(1).standard_normal((40, 3)), np.arange(40) % 2
    done = svmtool.fit(X, y, progress=True)
    assert (done.model.W == svmtool.fit(X, y).model.W).all()
    for function in (svmtool.predict, svmtool.decision_values):
        assert (function(done, X, progress=True) == function(done, X)).all()
    found = svmtool.cross_validate(X, y, progress=True)
    assert (found.predictions == svmtool.cross_validate(X, y).predictions).all()
    with pytest.raises(TypeError, match="progress"):
        svmtool.fit(X, y, progress="yes")
    assert progress._shown is None


def in_a_notebook(monkeypatch):
    """From here on this is a notebook without widgets; returns the text that is shown, and a callback that waits."""
    event = threading.Event()

    class Stream(io.StringIO):
        def write(self, text):
            event.set()
            return super().write(text)

    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", types.ModuleType("zmqshell"))
    monkeypatch.setattr(sys, "stderr", Stream())
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0.01)
    return sys.stderr, lambda *_: event.wait(60) or pytest.fail("nothing is shown")


@pytest.mark.filterwarnings("ignore::Warning")  # tqdm's: there are no widgets
def test_a_notebook_without_widgets_gets_text(monkeypatch):
    stream, wait = in_a_notebook(monkeypatch)
    X, y = np.eye(4), [0, 1, 0, 1]
    svmtool.fit(X, y, solver=2, callback=wait, progress=True)
    shown = stream.getvalue()
    assert "training" in shown and "\x1b[K" not in shown, shown[-1000:]


@pytest.mark.filterwarnings("ignore::Warning")
def test_verbose_estimators_have_a_bar_and_print_their_certificate(monkeypatch, capsys):
    stream, wait = in_a_notebook(monkeypatch)
    estimator = pytest.importorskip("svmtool.sklearn").LinearSVC(verbose=1)
    estimator._records_told = lambda *_: contextlib.nullcontext(wait)
    estimator.fit(np.eye(4), [0, 1, 0, 1])
    assert "training" in stream.getvalue() and capsys.readouterr().out.count("Certified") == 1
