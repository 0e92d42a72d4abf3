"""svm-train --spark on a cluster that loses executors, in a separate process with its own Java."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from conftest import without_spark
from spark_blocks import in_memory, numbers_text, settings_of

from svmtool.distributed.reading import Text
from svmtool.distributed.reductions import DistributedOneVsRest
from svmtool.distributed.stage import BarrierStage
from svmtool.limits import StopFlag
from svmtool.training.linear import fitted

on_spark = pytest.mark.skipif(bool(without_spark()), reason=without_spark() or "runs")


def executors_below(pid: int) -> list[int]:
    """Executor processes among the descendants of a process."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    family, found = {pid}, []
    for _ in range(4):
        family |= {int(p) for p, parent, _ in rows if int(parent) in family}
    for p, _, args in rows:
        if int(p) in family and "CoarseGrainedExecutorBackend" in args:
            found.append(int(p))
    return found


@on_spark
def test_executors_are_lost_at_five_moments(tmp_path):
    """With enough tasks for a tree."""
    executors, cores = 2, 6
    (tmp_path / "d").write_text(numbers_text(3, n=400))
    test = os.path.abspath(__file__)
    argv = [sys.executable, test, tmp_path / "d", f"local-cluster[{executors},{cores},1024]"]
    paths = [os.path.dirname(test), os.path.dirname(os.path.dirname(test)), os.environ["PYTHONPATH"]]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = in_memory((tmp_path / "d").read_text(), settings_of(31), tmp_path)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == MOMENTS
    for moment, partitions, restarts, value in lines:
        assert int(partitions) == executors * cores
        assert int(restarts) >= 1 or moment == "reading"  # a loss before all are there only delays the start
        assert float(value) == pytest.approx(expected.certificate.primal, rel=1e-8)


MOMENTS = ["reading", "facts", "first", "fifth", "certifier"]


def lose_executors(path: str, master: str) -> None:
    """Train on a cluster, killing an executor at each moment; prints partitions, restarts, P."""
    from svmtool.distributed.session import Session

    class Killing(BarrierStage):
        """Kills an executor before the first request of that name, or at a record."""

        def __init__(self, moment: str, *arguments: Any):
            self.moment, self.records = moment, 0
            super().__init__(*arguments)

        def kill(self) -> None:
            self.moment = ""
            os.kill(executors_below(cluster._gateway.proc.pid)[0], signal.SIGKILL)
            time.sleep(1.0)  # its Python processes end a moment later and could still answer requests

        def _start(self) -> None:
            super()._start()
            if self.moment == "reading":
                time.sleep(0.5)
                self.kill()

        def _exchange(self, calls: list, add: bool) -> list[Any]:
            if self.moment in [name for name, _ in calls]:
                self.kill()
            return super()._exchange(calls, add)

        def record(self, **record: Any) -> None:
            self.records += 1
            if (self.moment, self.records) in (("first", 1), ("fifth", 5)):
                self.kill()

    with Session(master) as cluster:
        for moment in MOMENTS:
            text = Text(cluster, path, few=True)
            with contextlib.closing(Killing(moment, cluster, text)) as stage:
                done = fitted(DistributedOneVsRest(stage, settings_of(31)), None, stage.record, StopFlag())
                assert done.certificate.gap <= 1e-9 and not stage.moment
            print(moment, stage.size, stage.costs.restarts, repr(done.certificate.primal))


if __name__ == "__main__":
    lose_executors(*sys.argv[1:])
