"""Blocks of work on several threads: each runs once, exceptions are raised, and second stages follow first ones."""

from __future__ import annotations

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
