"""Workers start while numpy is being imported, as reading does, and go on working afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, types
from svmtool.compiled import threads

failed = []
threading.excepthook = lambda e: failed.append(e.exc_type.__name__)
sys.modules["numpy"] = types.ModuleType("numpy")  # as another thread sees it half-way through its import
threads.set_count(2)
together = threading.Barrier(2, timeout=30)
threads.run_blocks(lambda block: together.wait(), 2)  # ends only if two threads work
del sys.modules["numpy"]
import svmtool.api
threads.run_blocks(lambda block: together.wait(), 2)
print(failed)
"""


@pytest.mark.process
def test_workers_survive_a_half_imported_numpy():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
