"""Blocks in this process in place of those in executors, and comparisons for tests of --spark."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from reference import random_rows, text_of

from svmtool import registry
from svmtool.distributed.block import Block
from svmtool.distributed.collective import Collective, LostError
from svmtool.distributed.reading import table_of
from svmtool.distributed.train import reduction_of, send_weights
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.inputs import weighted
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.registry.row import SPARK
from svmtool.tolerances import DENSE_BELOW
from svmtool.training.linear import fitted
from svmtool.training.linear import train as train_in_memory
from svmtool.training.outcome import Training

NUMBERS = [row.number for row in registry.SOLVERS if SPARK <= row.supported]
every_number = pytest.mark.parametrize("number", NUMBERS)
TIGHT = {30: 1e-6, 21: 1e-6}  # requested gap where 1e-9 takes very long


def parse(texts):
    """The Dataset of texts of whole lines."""
    return table_of(((0, k), text) for k, text in enumerate(texts))


class Here(Collective):
    """Blocks in this process; requests and answers are pickled.

    lost: numbers of requests before which all blocks are created again.
    """

    def __init__(self, parts: list[list[bytes]], lost: Iterable[int] = ()):
        super().__init__()
        self.parts, self.size, self.lost, self.asked = parts, len(parts), set(lost), 0
        self._read()

    def _read(self) -> None:
        self.blocks = [Block(parse([b"\n".join([*part, b""])]), DENSE_BELOW, k) for k, part in enumerate(self.parts)]

    def _exchange(self, calls: list, add: bool) -> list[Any]:
        self.asked += 1
        if self.asked in self.lost:
            raise LostError
        sent = pickle.dumps(calls)
        return pickle.loads(pickle.dumps([block.run(pickle.loads(sent)) for block in self.blocks]))

    def restart(self) -> None:
        super().restart()
        self.costs.restarts += 1
        self._read()


def cut(text: str, parts: int) -> list[list[bytes]]:
    lines = text.encode().splitlines()
    step = -(-len(lines) // parts) or 1
    return [lines[k * step : (k + 1) * step] for k in range(parts)]


def settings_of(number: int, **more: Any) -> Settings:
    gap = TIGHT.get(number, 1e-9)
    return Settings.of(solver=number).with_default_bias().replace(**{"gap": gap, "max_iter": 5000, **more})


def far(ranks: Collective, settings: Settings, start=None, weights: str | None = None) -> Training:
    send_weights(ranks, weights)
    return fitted(reduction_of(settings)(ranks, settings), start, None, StopFlag())


def in_memory(text: str, settings: Settings, tmp_path, weights: str | None = None) -> Training:
    path = tmp_path / "rows"
    path.write_text(text)
    return train_in_memory(weighted(svmlight.read(str(path)), weights), settings)


@functools.cache
def numbers_text(classes: int, n: int = 150, d: int = 12, density: float = 0.4, seed: int = 3) -> str:
    """Rows with labels 1 .. classes, separated by planes except for noise."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d, density)
    z = X @ rng.standard_normal((d, classes)) + 0.5 * rng.standard_normal((n, classes))
    return text_of(X, np.argmax(z, axis=1) + 1.0)


def same(a: Training, b: Training, settings: Settings) -> None:
    """Assert that both are certified and their values agree within the gaps."""
    gap = settings.stopping.gap
    assert gap is not None
    for done in (a, b):
        assert done.status is None or done.status.converged
        assert done.certificate.gap <= 1.01 * gap
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1.01 * gap)
    assert a.certificate.dual <= b.certificate.primal + 1e-12 * abs(b.certificate.primal)
    assert a.model.labels == b.model.labels
