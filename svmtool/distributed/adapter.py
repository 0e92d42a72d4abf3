"""The private and undocumented parts of pyspark that this package uses, all of them; for pyspark 3.5 and 4."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def java_error() -> type[Exception]:
    """What is raised for an exception in Java."""
    from py4j.protocol import Py4JJavaError

    return Py4JJavaError


def launch(conf: Any, output: Any) -> Any:
    """The connection to a new Java process that writes to the file `output`; its `proc` is that process."""
    from pyspark.java_gateway import launch_gateway

    return launch_gateway(conf=conf, popen_kwargs={"stdout": output, "stderr": output})


def shut_down(gateway: Any, seconds: float) -> None:
    """End the Java process, which has so many seconds, and let pyspark forget the connection to it."""
    from pyspark import SparkContext

    gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()  # it ends with it, ...
        gateway.proc.wait(seconds)  # ... after it has removed its own folders
    SparkContext._gateway = SparkContext._jvm = None  # or the next context would go on with it


def executors(context: Any) -> int:
    """How many executors there are; local masters have none beside the driver."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1


def line_ends(context: Any, end: str) -> None:
    """What ends a line in text files that are opened from now on."""
    context._jsc.hadoopConfiguration().set("textinputformat.record.delimiter", end)


@contextlib.contextmanager
def least_split(context: Any, size: int) -> Iterator[None]:
    """Cut no file that is opened meanwhile in splits of fewer bytes."""
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
    """File, first byte and length of each partition of what `textFile` returned."""
    found = []
    for split in lines._jrdd.rdd().partitions():
        part = split.inputSplit().value()
        found.append((part.getPath().toString(), part.getStart(), part.getLength()))
    return found


def hadoop_path(context: Any, name: str) -> tuple[Any, Any]:
    """A path of Hadoop's and its file system; JavaError for a name that is none, or an unknown file system."""
    path = context._jvm.org.apache.hadoop.fs.Path(name)
    return path, path.getFileSystem(context._jsc.hadoopConfiguration())
