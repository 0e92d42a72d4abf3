"""A quiet Spark session for one command: created from a master URL, stopped at the end, one message for each fault.

What runs in executors is this package: they find it where the driver has it, or in the archive that is sent to those
that have no such folder.  Nothing here is imported unless --spark is given.
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
SENT = "svmtool-package"  # folder of the package in the working directory of an executor that was sent it
CONNECT_SECONDS = 5.0  # for a standalone master to answer
EXECUTOR_SECONDS = 60.0  # for the first executor to come, ...
SETTLED_SECONDS = 1.0  # ... and for more of them, since the last one came
JAVA_SECONDS = 10.0  # for Java to remove its folders
STAGE_ATTEMPTS = 8  # of a barrier stage, all but the first after a loss, ...
ROOM_SECONDS = 60  # ... for each of which the cluster must have space in that time
LOCAL = re.compile(r"local(\[(\*|\d+)(,\s*(\*|\d+))?\])?\Z")
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

# what the text of a Java exception says, and the message for it
REASONS = (
    (r"Relative path in absolute URI: (.+)", "can't open input file {0}: Spark's readers want no colon in a name"),
    (r"error parsing regexp: (.+)", "can't open input file: a pattern is wrong: {0}"),
    (r'No FileSystem for scheme "?([\w-]+)', "can't open input file: this Spark has no reader for {0}: paths"),
    (r"Class (\S*s3a\S*) not found", "can't open input file: this Spark has no reader for s3a: paths ({0} is missing)"),
    (r"java\.net\.UnknownHostException: (\S+)", "can't open input file: host {0} is unknown"),
    (r"java\.net\.ConnectException: (.*)", "can't open input file: {0}"),
    (r"AccessDeniedException: (.*)|Permission denied(.*)", "can't open input file: permission denied {0}"),
    (r"No module named '(svmtool|numpy)'", "the executors' Python lacks {0}: install svmtool there (PYSPARK_PYTHON)"),
    (
        r"(No module named '(?:svmtool|numpy)\.[\w.]+'|cannot import name '\w+' from '(?:svmtool|numpy)[\w.]*'"
        r"|Can't get attribute '\w+' on <module '(?:svmtool|numpy)[\w.]*')",
        "the executors' svmtool or numpy is not the driver's version, or has changed since it started: {0}",
    ),
    (r'Cannot run program "([^"]+)"', "the executors can't run {0}: PYSPARK_PYTHON names their Python"),
    (r"Python in worker has different version[:\s]*(.*)", "the executors' Python differs from the driver's: {0}"),
    (r"(No space left on device)", "a disk of Spark's is full ({0}): spark.local.dir names its folder"),
    (
        r"(SPARK-24819|requires more slots than)",
        "the cluster has no room for all tasks at a time, as a barrier stage needs it: free cores, or add executors",
    ),
    (
        r"(SPARK-24942|dynamic resource allocation)",
        "a barrier stage does not run with dynamic allocation: spark.dynamicAllocation.enabled must be false",
    ),
    (r"(SPARK-248\d\d|[Bb]arrier execution mode[^\n]*)", "this cluster cannot run barrier stages: {0}"),
    (r"(OutOfMemoryError|MemoryError)", "an executor has not enough memory for its part of the rows ({0})"),
)


class Session:
    """A SparkContext, `context`, for the time of a `with`.

    master: local[N], local-cluster[N,C,M], spark://HOST:PORT, yarn, k8s://..; name: what Spark's pages call the run;
    settings: Spark's own, beside those of its configuration files.
    slots: how many tasks run at a time; host: the address at which they reach the driver, which listens on
    `listens_on`, an interface.  SvmtoolError says in one sentence what keeps it from starting.
    """

    _own = True  # whether the SparkContext ends with it

    def __init__(self, master: str, name: str = "svmtool", settings: dict[str, str] | None = None):
        self.master = master
        _check_master(master)
        _check_java()
        pyspark = _pyspark()
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
        finally:  # Spark sets a handler of its own, which would end a training without its model
            with contextlib.suppress(ValueError):  # not the main thread: it has set none
                signal.signal(signal.SIGINT, before)
        self._know()

    @classmethod
    def over(cls, context: Any) -> Session:
        """The session of a SparkContext that somebody else has made, and that lasts beyond this one."""
        self = cls.__new__(cls)
        self.master, self.context, self._gateway, self._own = context.master, context, None, False
        self._folder = tempfile.mkdtemp(prefix="svmtool-spark-")
        if not LOCAL.match(self.master):
            context.addPyFile(_archive(self._folder))
        self._know()
        return self

    def _know(self) -> None:
        """What others ask of a session."""
        self.slots = int(self.context.defaultParallelism)
        self._local = bool(LOCAL.match(self.master))
        found = self.context.getConf()
        self.host = "127.0.0.1" if self._local else found.get("spark.driver.host")
        self.listens_on = "127.0.0.1" if self._local else found.get("spark.driver.bindAddress", self.host)

    def threads_each(self, tasks: int) -> int:
        """Threads that each of so many tasks may take: an executor's task has one core."""
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
            "spark.dynamicAllocation.enabled": "false",  # a barrier stage does not run with it
            "spark.stage.maxConsecutiveAttempts": str(STAGE_ATTEMPTS),
            "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
            "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": str(ROOM_SECONDS),
            "spark.python.worker.reuse": "true",
            "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), SENT]),
            "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        }
        if "PYSPARK_PYTHON" not in os.environ:
            found["spark.pyspark.python"] = sys.executable
        if not LOCAL.match(self.master):
            found["spark.archives"] = f"{_archive(self._folder)}#{SENT}"
        if LOCAL.match(self.master) or LOCAL_CLUSTER.match(self.master) or _on_loopback(self.master):
            found["spark.driver.host"] = found["spark.driver.bindAddress"] = "127.0.0.1"
        return found

    def _start(self, pyspark: Any, conf: Any) -> None:
        """The Java side with its output in a file, whose last words tell what went wrong."""
        logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it would print where in it Ctrl-C came, ...
        logging.getLogger().addFilter(_not_of_py4j)  # ... and does so in the root's name too
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
        """Give everything back."""
        if self.context is not None and self._own:
            with contextlib.suppress(Exception):  # a session that Ctrl-C or a lost master has ended cannot end again
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
    """Turn what Spark raises within into SvmtoolError of one sentence."""
    try:
        yield
    except (SvmtoolError, KeyboardInterrupt):
        raise
    except Exception as e:
        if type(e).__module__.split(".")[0] not in ("py4j", "pyspark") and not isinstance(e, ConnectionError):
            raise
        raise SvmtoolError(error_text(e, what)) from e


def error_text(e: BaseException, what: str) -> str:
    """One sentence for what Spark raised."""
    text = str(e)
    for pattern, words in REASONS:
        found = re.search(pattern, text)
        if found:
            answer = words.format(next((g for g in found.groups() if g), "").strip())
            return answer if answer.startswith("can't open") else f"{what}: {answer}"
    return f"{what}: {reason(e)}"


def reason(e: BaseException, java_output: str = "") -> str:
    """The line of an exception's text that names the cause, or `java_output` where it says nothing."""
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: |: )?[\w.$]+(Exception|Error): ", line)]
    if causes:
        return re.sub(r"^(Caused by: |: )?([\w.$]+\.)?(\w+): ", "", causes[-1])
    if java_output and "JAVA_GATEWAY_EXITED" in str(e):
        return f"Java did not start: {java_output}"
    return lines[0] if lines else type(e).__name__


def _pyspark() -> Any:
    try:
        import pyspark
    except ImportError:
        raise SvmtoolError("ERROR: --spark needs pyspark: pip install 'svmtool[spark]'") from None
    return pyspark


def _check_master(master: str) -> None:
    if LOCAL.match(master) or LOCAL_CLUSTER.match(master) or master == "yarn" or master.startswith("k8s://"):
        return
    if not re.match(r"spark://[^\s/,]+:\d+(,[^\s/,]+:\d+)*\Z", master):
        raise SvmtoolError(
            f"ERROR: --spark {master}: wants a master's URL: local[N], spark://HOST:PORT, yarn or k8s://URL"
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


def _archive(folder: str) -> str:
    """The package as a zip file, for executors that do not find it where the driver has it."""
    path = os.path.join(folder, "package.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(PACKAGE.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                file.write(source, Path(PACKAGE.name, source.relative_to(PACKAGE)))
    return path


def _await_executors(context: Any, master: str) -> None:
    """Until all executors of a local cluster are there, or one of another and no more of them come."""
    if LOCAL.match(master):
        return
    found = LOCAL_CLUSTER.match(master)
    wanted = parse_integer(found[1]) if found else None
    seen, since, deadline = 0, time.monotonic(), time.monotonic() + EXECUTOR_SECONDS
    while True:
        now = adapter.executors(context)
        if now > seen:
            seen, since = now, time.monotonic()
        if seen == wanted or (wanted is None and seen and time.monotonic() - since > SETTLED_SECONDS):
            return
        if time.monotonic() > deadline:
            if seen:
                return
            raise SvmtoolError(
                f"ERROR: --spark {master}: no executor came in {EXECUTOR_SECONDS:g} seconds: are there workers with "
                "free cores and memory?"
            )
        time.sleep(0.05)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"
