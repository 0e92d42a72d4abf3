"""Tasks in a tree: threads on loopback with blocks of their own, some of which die in mid-run.  No Spark is needed."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from spark_blocks import cut, far, numbers_text, settings_of

from svmtool.errors import DataError, SvmtoolError
from svmtool.spark import gang, team, tree
from svmtool.spark.block import Block
from svmtool.spark.reading import parse
from svmtool.training.problem_set import DENSE_BELOW

PATIENCE = 30.0  # seconds until a test is given up


pytestmark = pytest.mark.usefixtures("one_thread")


class Killed(BaseException):
    """The end of a task without a word."""


class Mortal:
    """A block that dies when it is asked for the n-th time, for each n of `deaths`; those are used up."""

    def __init__(self, block: Any, deaths: set[int]):
        self.block, self.deaths, self.asked = block, deaths, 0

    def run(self, calls: list) -> Any:
        self.asked += 1
        if self.asked in self.deaths:
            self.deaths.remove(self.asked)
            raise Killed
        return self.block.run(calls)


class Threads(team.Team):
    """Members in threads of this process; one that dies begins anew with a block made anew, as Spark does it."""

    def __init__(self, make: Callable[[int], Any], size: int, lost: Iterable[tuple[int, int]] = ()):
        super().__init__("127.0.0.1", size)
        self.make, self.deaths = make, [{n for i, n in lost if i == index} for index in range(size)]
        self.running = [threading.Thread(target=self._live, args=(index,)) for index in range(size)]
        for thread in self.running:
            thread.start()

    def _live(self, index: int) -> None:
        block: Any = DataError(index, "d", "1:x", "made up")
        while True:
            with contextlib.suppress(DataError):
                block = Mortal(self.make(index), self.deaths[index])
            with contextlib.suppress(Killed), contextlib.closing(self.member(index, block)) as member:
                member.serve()
                return

    def member(self, index: int, block: Any) -> tree.Member:
        return tree.Member((0, index), self.size, block, ("127.0.0.1", self.door.port), self.key)

    def _await(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._links) == self.size, PATIENCE)

    def close(self) -> None:
        super().close()
        for thread in self.running:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def blocks_of(text: str, size: int) -> Callable[[int], Block]:
    parts = cut(text, size)
    return lambda index: Block(parse(parts[index]), DENSE_BELOW)


class Number:
    """Answers its index, and a vector whose sum depends on the order; `pause`: seconds before it answers."""

    def __init__(self, index: int, pause: float = 0.0):
        self.index, self.pause = index, pause

    def run(self, calls: list) -> Any:
        time.sleep(self.pause)
        name, arguments = calls[-1]
        return self.index if name == "who" else (np.full(3, 0.1 * 1.7**self.index), self.index)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 64, 73, 1600])
def test_the_tree_is_flat_while_it_may_be_and_has_each_task_once(size):
    first, places = tree.shape(size)
    seen, level, depth = [], list(first), 0

    def below(index: int) -> list[int]:
        return [index, *(i for child in places[index][1] for i in below(child))]

    for index in range(size):
        assert len(places[index][1]) <= tree.FAN
        assert all(places[child][0] == index for child in places[index][1])
        assert below(index) == list(range(index, index + len(below(index))))  # in the order of the rows
    assert [i for index in first for i in below(index)] == list(range(size)) and len(first) == min(size, tree.FAN)
    while level:
        seen, level, depth = seen + level, [c for i in level for c in places[i][1]], depth + 1
    assert sorted(seen) == list(range(size)) and depth <= 1 + np.ceil(np.log(size) / np.log(tree.FAN))
    assert all(places[index] == (None, ()) for index in range(size)) or size > tree.FAN
    assert tree.shape(size, size) == (tuple(range(size)), [(None, ())] * size)


@pytest.mark.parametrize("size", [1, 9, 40])
def test_answers_are_in_the_order_of_the_rows_and_sums_the_same_whenever_they_come(size):
    found = []
    for seed in range(3):
        pauses = np.random.default_rng(seed).random(size) * 0.02 * (seed > 0)
        with contextlib.closing(Threads(lambda index, p=pauses: Number(index, p[index]), size)) as crew:
            assert crew.ask("who") == list(range(size))
            found += [crew.total("sum") for _ in range(3)]
            assert crew.costs.slowest <= crew.costs.blocks and crew.costs.lost == 0
    for vector, number in found:
        assert number == size * (size - 1) // 2
        np.testing.assert_array_equal(vector, found[0][0])
    np.testing.assert_allclose(found[0][0], sum(0.1 * 1.7**k for k in range(size)))


@pytest.mark.parametrize("number", [2, 31])
def test_lost_tasks_change_not_a_bit(number):
    """A task below the driver, one in the middle and one without others below it; two at a time; one as it comes."""
    settings, text, size = settings_of(number, loss_power=1.0 if number == 31 else 2.0), numbers_text(2, n=320), 80
    first, places = tree.shape(size)
    middle = next(index for index in range(size) if places[index][0] is not None and places[index][1])
    leaf = next(index for index in range(size) if places[index][0] is not None and not places[index][1])
    with contextlib.closing(Threads(blocks_of(text, size), size)) as crew:
        expected = far(crew, settings)
        passes = crew.costs.passes
    half, late = passes // 2, passes - 2
    ends = [(first[0], 1), (first[3], 2), (leaf, 4), (middle, half), (first[5], half), (79, late), (first[6], late)]
    with contextlib.closing(Threads(blocks_of(text, size), size, ends)) as crew:
        found = far(crew, settings)
        assert crew.costs.passes == passes and crew.costs.lost == len(ends) and not any(crew.deaths)
        assert not crew.costs.direct
    np.testing.assert_array_equal(found.model.W, expected.model.W)
    assert found.certificate.line() == expected.certificate.line()


def test_tasks_that_cannot_reach_each_other_answer_the_driver(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nowhere = closed.getsockname()[1]

    class Shut(tree.Door):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.port = nowhere

    monkeypatch.setattr(tree, "Door", Shut)
    with contextlib.closing(Threads(Number, 20)) as crew:
        assert crew.ask("who") == list(range(20))
        assert crew.total("sum")[1] == 190
        assert crew.costs.direct and "can't reach each other" in crew.costs.line(20)


@pytest.mark.parametrize("bad", [(4,), (19, 3, 11), (0, 1)])
def test_of_faults_the_first_in_order_is_reported(bad):
    def make(index: int) -> Number:
        if index in bad:
            raise DataError(index, "d", "1:x", "made up")
        return Number(index)

    with contextlib.closing(Threads(make, 20)) as crew, pytest.raises(DataError) as told:
        crew.total("sum")
    assert told.value.line == min(bad)


def test_what_a_block_cannot_do_is_reported_with_its_reason():
    text = "\n".join(f"{k} 1:1" for k in range(10001)) + "\n"
    with contextlib.closing(Threads(blocks_of(text, 1), 1)) as crew:
        with pytest.raises(SvmtoolError, match="is this a regression"):
            crew.ask("classes")
    with contextlib.closing(Threads(blocks_of(text, 10), 10)) as crew:
        with pytest.raises(RuntimeError, match="(?s)in an executor: .*no_such_thing"):
            crew.ask("no_such_thing")


def test_a_task_reads_no_further_than_a_bad_line(monkeypatch):
    monkeypatch.setattr("svmtool.spark.reading.CHUNK", 1)
    lines, came = iter([b"1 1:1", b"1 1:x", b"1 1:2"]), queue.Queue()
    with contextlib.closing(tree.Door("127.0.0.1", b"key", lambda *caller: came.put(caller))) as door:
        task = threading.Thread(target=gang.serve, args=((0, 0), 1, lines, ("127.0.0.1", door.port), b"key", 1))
        task.start()
        driver, hello = came.get(timeout=PATIENCE)
        with driver:
            assert hello == ((0, 0), None)
            driver.send(tree.Place(0, None, (), []))
            assert driver.recv() == tree.Taken(0)
            driver.send(tree.Question(1, [("facts", ())], True))
            fault = driver.recv().what
            assert (fault.index, fault.error.line) == (0, 2)
            driver.send(None)
        task.join(PATIENCE)
    assert not task.is_alive() and list(lines) == [b"1 1:2"]


def test_errors_of_memory_are_reported_as_such():
    assert "use more executors" in str(tree.told_far(MemoryError()))
