"""Blocks of work on several threads: each runs once, exceptions are raised, and second stages follow first ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from svmtool.compiled import threads

every_count = pytest.mark.parametrize("count", [1, 2, 4])


@pytest.fixture
def use(monkeypatch):
    """Choose the number of threads until the test ends."""
    return lambda count: monkeypatch.setattr(threads, "_count", count)


@every_count
@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_each_block_once(n, count, use):
    use(count)
    seen: list[int] = []
    threads.run_blocks(seen.append, n)
    assert sorted(seen) == list(range(n))


@every_count
def test_the_first_fault_is_raised_and_work_goes_on_afterwards(count, use):
    use(count)

    def fail(k: int) -> None:
        if k == 3:
            raise ValueError("block 3")

    for _ in range(20):
        with pytest.raises(ValueError, match="block 3"):
            threads.run_blocks(fail, 9)
    test_each_block_once(30, count, use)


# Workers start while numpy is being imported, as reading does, and go on working afterwards.
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
