"""A quiet Spark session for one command, created from a master URL; errors of Spark become one-line messages.

Executors import this package from the driver's folder if they have it, else from an archive that is sent to them.
This module is imported only with --spark.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import svmtool
from svmtool.distributed import adapter
from svmtool.errors import SvmtoolError
from svmtool.integers import parse_integer

PACKAGE = Path(svmtool.__file__).resolve().parent
ARCHIVE_FOLDER = "svmtool-package"  # the unpacked archive in an executor's working directory
CONNECT_SECONDS = 5.0  # time limit for a standalone master to answer
EXECUTOR_SECONDS = 60.0  # time limit for the first executor to register
QUIET_SECONDS = 1.0  # training starts when no executor has registered for this time
JAVA_SECONDS = 10.0  # time limit for Java to remove its folders
STAGE_ATTEMPTS = 8  # of a barrier stage: the first, and restarts after a loss
SLOTS_SECONDS = 60  # time limit for the cluster to have free cores for a barrier stage
LOCAL_MASTER = re.compile(r"local(\[(\*|\d+)(,\s*(\*|\d+))?\])?\Z")
LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]\Z")
LOOPBACK = ("localhost", "127.0.0.1")

QUIET_LOG = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""

# pattern in the text of a Java exception, and our message
REASONS = (
    (r"Relative path in absolute URI: (.+)", "can't open input file {0}: Spark cannot read names with a colon"),
    (r"error parsing regexp: (.+)", "can't open input file: invalid pattern: {0}"),
    (r'No FileSystem for scheme "?([\w-]+)', "can't open input file: this Spark has no reader for {0}: paths"),
    (r"Class (\S*s3a\S*) not found", "can't open input file: this Spark has no reader for s3a: paths ({0} is missing)"),
    (r"java\.net\.UnknownHostException: (\S+)", "can't open input file: host {0} is unknown"),
    (r"java\.net\.ConnectException: (.*)", "can't open input file: {0}"),
    (r"AccessDeniedException: (.*)|Permission denied(.*)", "can't open input file: permission denied {0}"),
    (r"No module named '(svmtool|numpy)'", "the executors' Python has no {0}: install it there (PYSPARK_PYTHON)"),
    (
        r"(No module named '(?:svmtool|numpy)\.[\w.]+'|cannot import name '\w+' from '(?:svmtool|numpy)[\w.]*'"
        r"|Can't get attribute '\w+' on <module '(?:svmtool|numpy)[\w.]*')",
        "the executors' svmtool or numpy is not the driver's version, or has changed since it started: {0}",
    ),
    (r'Cannot run program "([^"]+)"', "the executors can't run {0}: PYSPARK_PYTHON names their Python"),
    (r"Python in worker has different version[:\s]*(.*)", "the executors' Python differs from the driver's: {0}"),
    (r"(No space left on device)", "Spark's scratch disk is full ({0}): spark.local.dir names its folder"),
    (
        r"(SPARK-24819|requires more slots than)",
        "a barrier stage needs a free core for each task, and the cluster has too few: free cores or add executors",
    ),
    (
        r"(SPARK-24942|dynamic resource allocation)",
        "a barrier stage cannot use dynamic allocation: spark.dynamicAllocation.enabled must be false",
    ),
    (r"(SPARK-248\d\d|[Bb]arrier execution mode[^\n]*)", "this cluster cannot run barrier stages: {0}"),
    (r"(OutOfMemoryError|MemoryError)", "an executor does not have enough memory for its partition ({0})"),
)


class Session:
    """A SparkContext, `context`, that is stopped at the end of a `with`.

    master: local[N], local-cluster[N,C,M], spark://HOST:PORT, yarn, k8s://..  name: name of the application.
    settings: settings of Spark in addition to its configuration files.
    slots: number of tasks that run at the same time.  host: the address at which they reach the driver, which listens
    on the interface `listens_on`.  Raises SvmtoolError if Spark cannot be started.
    """

    _own = True  # whether `close` stops the SparkContext

    def __init__(self, master: str, name: str = "svmtool", settings: dict[str, str] | None = None):
        self.master = master
        _check_master(master)
        _check_java()
        try:
            import pyspark
        except ImportError:
            raise SvmtoolError("ERROR: --spark needs pyspark: pip install 'svmtool[spark]'") from None
        self._folder = tempfile.mkdtemp(prefix="svmtool-spark-")
        self._gateway: Any = None
        self.context: Any = None
        before = signal.getsignal(signal.SIGINT)
        try:
            conf = pyspark.SparkConf()
            for key, value in {**self._settings(name), **(settings or {})}.items():
                conf.set(key, value)
            self._start(pyspark, conf)
            _await_executors(self.context, master)
        except BaseException:
            self.close()
            raise
        finally:  # Spark's own handler would end a training without a model
            with contextlib.suppress(ValueError):  # not the main thread, the only one where Spark sets one
                signal.signal(signal.SIGINT, before)
        self._read_settings()

    @classmethod
    def over(cls, context: Any) -> Session:
        """The session of an existing SparkContext, which `close` does not stop."""
        self = cls.__new__(cls)
        self.master, self.context, self._gateway, self._own = context.master, context, None, False
        self._folder = tempfile.mkdtemp(prefix="svmtool-spark-")
        if not LOCAL_MASTER.match(self.master):
            context.addArchive(f"{_archive(self._folder, whole=False)}#{PACKAGE.name}")  # on the executors' path
        self._read_settings()
        return self

    def _read_settings(self) -> None:
        """Read slots, host and listens_on from the context."""
        self.slots = int(self.context.defaultParallelism)
        self._local = bool(LOCAL_MASTER.match(self.master))
        found = self.context.getConf()
        self.host = "127.0.0.1" if self._local else found.get("spark.driver.host")
        self.listens_on = "127.0.0.1" if self._local else found.get("spark.driver.bindAddress", self.host)

    def threads_each(self, tasks: int) -> int:
        """Threads for each of this many tasks; a task in an executor has one core."""
        return max(1, self.slots // tasks) if self._local else 1

    def _settings(self, name: str) -> dict[str, str]:
        log = Path(self._folder, "log4j2.properties")
        log.write_text(QUIET_LOG)
        found = {
            "spark.master": self.master,
            "spark.app.name": name,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log.as_uri()}",
            "spark.dynamicAllocation.enabled": "false",  # a barrier stage requires this
            "spark.stage.maxConsecutiveAttempts": str(STAGE_ATTEMPTS),
            "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
            "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": str(SLOTS_SECONDS),
            "spark.python.worker.reuse": "true",
            "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), ARCHIVE_FOLDER]),
            "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        }
        if "PYSPARK_PYTHON" not in os.environ:
            found["spark.pyspark.python"] = sys.executable
        if not LOCAL_MASTER.match(self.master):
            found["spark.archives"] = f"{_archive(self._folder)}#{ARCHIVE_FOLDER}"
        if LOCAL_MASTER.match(self.master) or LOCAL_CLUSTER.match(self.master) or _on_loopback(self.master):
            found["spark.driver.host"] = found["spark.driver.bindAddress"] = "127.0.0.1"
        return found

    def _start(self, pyspark: Any, conf: Any) -> None:
        """Start Java, with its output in a file whose last line explains a failure."""
        logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it would log a traceback at Ctrl-C,
        # and does so through the root logger too
        logging.getLogger().addFilter(lambda record: Path(record.pathname).parent.name != "py4j")
        output = Path(self._folder, "output")
        try:
            with open(output, "wb") as file:
                self._gateway = adapter.launch(conf, file)
            self.context = pyspark.SparkContext(conf=conf, gateway=self._gateway)
        except (SvmtoolError, KeyboardInterrupt):
            raise
        except Exception as e:
            last = output.read_text(errors="replace").strip().splitlines()[-1:] if output.exists() else []
            raise SvmtoolError(f"ERROR: --spark {self.master}: {reason(e, ' '.join(last))}") from e

    def close(self) -> None:
        """Stop Spark, if it was started here, and remove the temporary folder."""
        if self.context is not None and self._own:
            with contextlib.suppress(Exception):  # stopping fails after Ctrl-C or the loss of the master
                self.context.stop()
        self.context = None
        if self._gateway is not None:
            with contextlib.suppress(Exception):
                adapter.shut_down(self._gateway, JAVA_SECONDS)
            self._gateway = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


@contextlib.contextmanager
def spark_errors(what: str = "ERROR: --spark") -> Iterator[None]:
    """Turn Spark's exceptions in this block into SvmtoolError."""
    try:
        yield
    except (SvmtoolError, KeyboardInterrupt):
        raise
    except Exception as e:
        if type(e).__module__.split(".")[0] not in ("py4j", "pyspark") and not isinstance(e, ConnectionError):
            raise
        raise SvmtoolError(error_text(e, what)) from e


def error_text(e: BaseException, what: str) -> str:
    """The message for an exception of Spark."""
    text = str(e)
    for pattern, template in REASONS:
        found = re.search(pattern, text)
        if found:
            message = template.format(next((g for g in found.groups() if g), "").strip())
            return message if message.startswith("can't open") else f"{what}: {message}"
    return f"{what}: {reason(e)}"


def reason(e: BaseException, java_output: str = "") -> str:
    """The line of an exception's text that names the cause, or `java_output` if Java did not start."""
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: |: )?[\w.$]+(Exception|Error): ", line)]
    if causes:
        return re.sub(r"^(Caused by: |: )?([\w.$]+\.)?(\w+): ", "", causes[-1])
    if java_output and "JAVA_GATEWAY_EXITED" in str(e):
        return f"Java did not start: {java_output}"
    return lines[0] if lines else type(e).__name__


def _check_master(master: str) -> None:
    if LOCAL_MASTER.match(master) or LOCAL_CLUSTER.match(master) or master == "yarn" or master.startswith("k8s://"):
        return
    if not re.match(r"spark://[^\s/,]+:\d+(,[^\s/,]+:\d+)*\Z", master):
        raise SvmtoolError(
            f"ERROR: --spark {master}: not a master URL: use local[N], spark://HOST:PORT, yarn or k8s://URL"
        )
    faults = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), parse_integer(port)), CONNECT_SECONDS).close()
            return
        except (OSError, OverflowError) as e:
            faults.append(f"{place}: {getattr(e, 'strerror', None) or e}")
    raise SvmtoolError(f"ERROR: --spark {master}: no master answers ({'; '.join(faults)})")


def _on_loopback(master: str) -> bool:
    hosts = [place.rpartition(":")[0] for place in master.removeprefix("spark://").split(",")]
    return master.startswith("spark://") and all(host in LOOPBACK for host in hosts)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(os.path.join(home, "bin", "java"), os.X_OK):
        raise SvmtoolError(f"ERROR: --spark needs Java 17: there is none in JAVA_HOME ({home})")
    if not home and shutil.which("java") is None:
        raise SvmtoolError("ERROR: --spark needs Java 17: there is no java on the PATH, and JAVA_HOME is not set")


def _archive(folder: str, whole: bool = True) -> str:
    """Write the package to a zip file for executors that cannot read the driver's folder; returns its path.

    whole: with the package's own folder; False: only what is in it.
    """
    path = os.path.join(folder, "package.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(PACKAGE.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                file.write(source, source.relative_to(PACKAGE.parent if whole else PACKAGE))
    return path


def _await_executors(context: Any, master: str) -> None:
    """Wait for all executors of a local cluster, or on others for one and until no more register."""
    if LOCAL_MASTER.match(master):
        return
    found = LOCAL_CLUSTER.match(master)
    wanted = parse_integer(found[1]) if found else None
    seen, since, deadline = 0, time.monotonic(), time.monotonic() + EXECUTOR_SECONDS
    while True:
        now = adapter.executors(context)
        if now > seen:
            seen, since = now, time.monotonic()
        if seen == wanted or (wanted is None and seen and time.monotonic() - since > QUIET_SECONDS):
            return
        if time.monotonic() > deadline:
            if seen:
                return
            raise SvmtoolError(
                f"ERROR: --spark {master}: no executor registered in {EXECUTOR_SECONDS:g} seconds: are there workers "
                "with free cores and memory?"
            )
        time.sleep(0.05)
