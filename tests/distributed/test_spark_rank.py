"""Ranks as threads on loopback; some fail in mid-run, and all start again.  Needs no Spark."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from spark_blocks import Here, cut, far, numbers_text, parse, same, settings_of

from svmtool.distributed import rank, stage
from svmtool.distributed.block import Block
from svmtool.distributed.rank import Rank, topology
from svmtool.distributed.stage import Ranks
from svmtool.errors import DataError
from svmtool.tolerances import DENSE_BELOW

PATIENCE = 30.0  # seconds until a test is given up


pytestmark = pytest.mark.usefixtures("one_thread")


class Killed(BaseException):
    """A task ends without a message."""


class Mortal:
    """A block that fails at its n-th request, once for each n in `deaths`."""

    def __init__(self, block: Any, deaths: set[int]):
        self.block, self.deaths, self.asked = block, deaths, 0

    def run(self, calls: list) -> Any:
        self.asked += 1
        if self.asked in self.deaths:
            self.deaths.remove(self.asked)
            raise Killed
        return self.block.run(calls)


class Threads(Ranks):
    """Ranks in threads of this process; if one fails all start again with new blocks, as in Spark.

    deaths: pairs of attempt, from 0, rank and question before whose answer it dies.
    """

    def __init__(self, make: Callable[[int], Any], size: int, deaths: Iterable[tuple[int, int, int]] = ()):
        super().__init__("127.0.0.1", size)
        self.make, self.deaths, self.attempts = make, list(deaths), 0
        self.spark = threading.Thread(target=self._attempts)
        self.spark.start()
        self.await_all()

    def _attempts(self) -> None:
        while not self._over:
            texts, barrier = [""] * self.size, threading.Barrier(self.size)
            ranks = [threading.Thread(target=self._live, args=(rank, texts, barrier)) for rank in range(self.size)]
            for thread in ranks:
                thread.start()
            for thread in ranks:
                thread.join(PATIENCE)
                assert not thread.is_alive()
            self.attempts += 1

    def _live(self, rank: int, texts: list[str], barrier: threading.Barrier) -> None:
        def all_gather(text: str) -> list[str]:
            texts[rank] = text
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(PATIENCE)
            return texts

        block: Any
        try:
            block = self.make(rank)
        except DataError as e:
            block = e
        else:
            block = Mortal(block, {n for a, r, n in self.deaths if (a, r) == (self.attempts, rank)})
        with contextlib.suppress(Killed, EOFError, OSError):
            address = ("127.0.0.1", self.listener.port)
            member = Rank(rank, self.size, self.attempts * self.size + rank, address, self.key, all_gather)
            with contextlib.closing(member):
                member.serve(block)
        barrier.abort()

    def close(self) -> None:
        super().close()
        self.spark.join(PATIENCE)
        assert not self.spark.is_alive()


def blocks_of(text: str, size: int) -> Callable[[int], Block]:
    parts = cut(text, size)
    return lambda index: Block(parse([b"\n".join([*parts[index], b""])]), DENSE_BELOW)


class Number:
    """A block that returns its index, and a vector whose sum depends on the order; pause: seconds before it returns."""

    def __init__(self, index: int, pause: float = 0.0):
        self.index, self.pause = index, pause

    def run(self, calls: list) -> Any:
        time.sleep(self.pause)
        name, arguments = calls[-1]
        return self.index if name == "who" else (np.full(3, 0.1 * 1.7**self.index), self.index)


@pytest.mark.parametrize("size", [1, 9, 80])  # trees of one, two and three levels
def test_answers_are_in_the_order_of_the_rows_and_sums_the_same_whenever_they_come(size):
    found = []
    for seed in range(2):
        pauses = np.random.default_rng(seed).random(size) * 0.02 * (seed > 0)
        with contextlib.closing(Threads(lambda index, p=pauses: Number(index, p[index]), size)) as ranks:
            assert ranks.gather("who") == list(range(size))
            found += [ranks.sum("sum") for _ in range(3)]
            assert ranks.costs.slowest <= ranks.costs.ranks and ranks.costs.restarts == 0
    for vector, number in found:
        assert number == size * (size - 1) // 2
        np.testing.assert_array_equal(vector, found[0][0])
    np.testing.assert_allclose(found[0][0], sum(0.1 * 1.7**k for k in range(size)))


def test_lost_ranks_cost_time_and_no_answer(monkeypatch):
    """A child of the driver, an inner rank and a leaf; two at the same time; one while it connects.

    The tree has three levels, with up to three children each.
    """
    settings, text, size = settings_of(2, C=0.01), numbers_text(2, n=160), 16
    for module in (rank, stage):
        monkeypatch.setattr(module, "FANOUT", 3)
    monkeypatch.setattr(rank, "topology", functools.partial(topology, fanout=3))
    first, places = rank.topology(size)
    middle = next(index for index in range(size) if places[index][0] is not None and places[index][1])
    leaf = next(index for index in range(size) if places[index][0] is not None and not places[index][1])
    whole = Here(cut(text, size))
    expected = far(whole, settings)
    half, late = whole.asked // 2, whole.asked - 2
    deaths = [(0, first[0], 1), (1, first[1], 2), (2, leaf, 4), (3, middle, half), (3, first[2], half), (4, 15, late)]
    with contextlib.closing(Threads(blocks_of(text, size), size, deaths)) as ranks:
        found = far(ranks, settings)
        assert 4 <= ranks.costs.restarts <= 5 and not ranks.costs.star
        assert "after a loss" in ranks.costs.line(size)
    same(found, expected, settings)


def test_tasks_that_cannot_reach_each_other_answer_the_driver(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = closed.getsockname()[1]

    class Shut(rank.Listener):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.port = nowhere

    monkeypatch.setattr(rank, "Listener", Shut)
    with contextlib.closing(Threads(Number, 20)) as ranks:
        assert ranks.gather("who") == list(range(20))
        assert ranks.sum("sum")[1] == 190
        assert ranks.costs.star and "can't reach each other" in ranks.costs.line(20)


def test_of_faults_the_first_in_order_is_reported():
    def make(index: int) -> Number:
        if index in (19, 3, 11):
            raise DataError(index, "d", "1:x", "made up")
        return Number(index)

    with contextlib.closing(Threads(make, 20)) as ranks, pytest.raises(DataError) as error:
        ranks.sum("sum")
    assert error.value.line == 3
