"""All private and undocumented parts of pyspark that this package uses; for pyspark 3.5 and 4."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def java_error() -> type[Exception]:
    """The Python exception class for an exception in Java."""
    from py4j.protocol import Py4JJavaError

    return Py4JJavaError


def launch(conf: Any, output: Any) -> Any:
    """Start a Java process that writes to the file `output`; returns the connection, whose `proc` is the process."""
    from pyspark.java_gateway import launch_gateway

    return launch_gateway(conf=conf, popen_kwargs={"stdout": output, "stderr": output})


def shut_down(gateway: Any, seconds: float) -> None:
    """End the Java process within `seconds` and reset pyspark's connection to it."""
    from pyspark import SparkContext

    gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()  # ends the process
        gateway.proc.wait(seconds)  # it removes its folders first
    SparkContext._gateway = SparkContext._jvm = None  # else the next context would use it


def executors(context: Any) -> int:
    """The number of executors; 0 for local masters, which have only the driver."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1


def line_ends(context: Any, end: str) -> None:
    """Set the line separator of text files that are opened later."""
    context._jsc.hadoopConfiguration().set("textinputformat.record.delimiter", end)


@contextlib.contextmanager
def least_split(context: Any, size: int) -> Iterator[None]:
    """Files opened within this block are cut in splits of at least `size` bytes."""
    conf, key = context._jsc.hadoopConfiguration(), "mapreduce.input.fileinputformat.split.minsize"
    before = conf.get(key)
    conf.set(key, str(size))
    try:
        yield
    finally:
        if before is None:
            conf.unset(key)
        else:
            conf.set(key, before)


def splits(lines: Any) -> list[tuple[str, int, int]]:
    """File, first byte and length of each partition of an RDD made by `textFile`."""
    parts = [split.inputSplit().value() for split in lines._jrdd.rdd().partitions()]
    return [(part.getPath().toString(), part.getStart(), part.getLength()) for part in parts]


def hadoop_path(context: Any, name: str) -> tuple[Any, Any]:
    """The Hadoop path and file system of a name; raises java_error() if either is invalid."""
    path = context._jvm.org.apache.hadoop.fs.Path(name)
    return path, path.getFileSystem(context._jsc.hadoopConfiguration())
