#!/usr/bin/env python3
"""Starts a standalone Spark cluster on the loopback interface from pip's pyspark: a master and its workers.

    python scripts/spark_cluster.py                     prints the master's URL, ends with Ctrl-C
    python scripts/spark_cluster.py COMMAND [ARG ...]   runs a command with the URL in SPARK_MASTER, ends with it

Logs and the workers' folders are in a temporary folder, deleted when the cluster ends.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HOST = "127.0.0.1"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for short-lived Java programs
START_SECONDS = 60.0  # for a master or a worker to start
STOP_SECONDS = 10.0
MASTER_IS_THERE = r"Starting Spark master at (spark://\S+)"
WORKER_IS_THERE = r"(Successfully registered) with master"


@contextlib.contextmanager
def cluster(workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[str]:
    """Start a master with this many workers, cores and memory for executors; yields its URL and ends all at exit.

    Raises RuntimeError with the last line of the log of what did not start.
    """
    folder = Path(tempfile.mkdtemp(prefix="spark-cluster-"))
    running: list[subprocess.Popen] = []

    def start(name: str, words: list[str]) -> Path:
        """Start a Spark daemon; returns its log."""
        log = folder / f"{name}.log"
        with open(log, "wb") as sink:
            argv = [str(spark_class()), *words]
            running.append(
                subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=environment())
            )
        return log

    try:
        word = "org.apache.spark.deploy"
        master = [f"{word}.master.Master", "--host", HOST, "--port", "0", "--webui-port", "0"]
        url = await_sign(start("master", master), MASTER_IS_THERE, running)
        size = ["--cores", str(cores), "--memory", memory, "--work-dir", str(folder)]
        worker = [f"{word}.worker.Worker", "--host", HOST, "--webui-port", "0", *size, url]
        for log in [start(f"worker{k}", worker) for k in range(workers)]:
            await_sign(log, WORKER_IS_THERE, running)
        yield url
    finally:
        stop(running)
        shutil.rmtree(folder, ignore_errors=True)


def spark_class() -> Path:
    """The spark-class program of pip's pyspark."""
    try:
        import pyspark
    except ImportError:
        raise RuntimeError("pyspark is absent: pip install 'svmtool[spark]'") from None
    return Path(pyspark.__file__).parent / "bin" / "spark-class"


def environment() -> dict[str, str]:
    """The environment without settings of another Spark, with options for a quick start of the daemons."""
    env = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "SPARK_CONF_DIR")}
    daemons = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK_START, "SPARK_LAUNCHER_OPTS": QUICK_START}
    return {**env, "SPARK_LOCAL_IP": HOST, **daemons}


def await_sign(log: Path, sign: str, running: list[subprocess.Popen]) -> str:
    """Wait until `sign` matches in the log; returns its first group.  RuntimeError if a process has ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and all(process.poll() is None for process in running):
        if found := re.search(sign, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    raise RuntimeError(f"{log.stem} did not start: {' '.join(last)}")


def stop(running: list[subprocess.Popen]) -> None:
    """End the workers, which end their executors, and then the master."""
    for process in reversed(running):
        process.terminate()
    for process in running:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="of each worker, for executors")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="run it with the master's URL in SPARK_MASTER")
    return parser.parse_args(argv)


def main() -> int:
    chosen = options(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends all processes
    try:
        with cluster(chosen.workers, chosen.cores, chosen.memory) as url:
            if chosen.command:
                return subprocess.run(chosen.command, env={**os.environ, "SPARK_MASTER": url}).returncode
            print(url, flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (RuntimeError, OSError) as e:
        print(e, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
