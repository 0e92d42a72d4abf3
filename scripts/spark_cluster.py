#!/usr/bin/env python3
"""Starts a standalone Spark cluster on the loopback interface from pip's pyspark: a master and its workers.

    python scripts/spark_cluster.py                     prints the master's URL, ends with Ctrl-C
    python scripts/spark_cluster.py COMMAND [ARG ...]   runs a command with the URL in SPARK_MASTER, ends with it

Logs and the workers' folders are in a temporary folder, deleted when the cluster ends.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
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
def cluster() -> Iterator[str]:
    """Start a master with two workers of a core and a gigabyte each; yields its URL and ends all at exit.

    Raises RuntimeError with the last line of the log of what did not start.
    """
    running: list[subprocess.Popen] = []
    env = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "SPARK_CONF_DIR")}
    env |= {"SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK_START}
    env["SPARK_LAUNCHER_OPTS"] = QUICK_START
    with tempfile.TemporaryDirectory(prefix="spark-cluster-", ignore_cleanup_errors=True) as folder:

        def start(name: str, kind: str, *words: str) -> Path:
            """Start a Spark daemon; returns its log."""
            argv = [spark_class(), f"org.apache.spark.deploy.{kind}", "--host", HOST, "--webui-port", "0", *words]
            log = Path(folder, f"{name}.log")
            with open(log, "wb") as sink:
                running.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=env))
            return log

        try:
            url = await_sign(start("master", "master.Master", "--port", "0"), MASTER_IS_THERE, running)
            size = ("--cores", "1", "--memory", "1g", "--work-dir", folder)
            for log in [start(f"worker{k}", "worker.Worker", *size, url) for k in range(2)]:
                await_sign(log, WORKER_IS_THERE, running)
            yield url
        finally:  # the workers, which end their executors, and then the master
            for process in reversed(running):
                process.terminate()
            for process in running:
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def spark_class() -> str:
    """The spark-class program of pip's pyspark."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise RuntimeError("pyspark is absent: pip install 'svmtool[spark]'")
    return str(Path(found.origin).parent / "bin" / "spark-class")


def await_sign(log: Path, sign: str, running: list[subprocess.Popen]) -> str:
    """Wait until `sign` matches in the log; returns its first group.  RuntimeError if a process has ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and all(process.poll() is None for process in running):
        if found := re.search(sign, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    raise RuntimeError(f"{log.stem} did not start: {' '.join(last)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="run it with the master's URL in SPARK_MASTER")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends all processes
    try:
        with cluster() as url:
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
