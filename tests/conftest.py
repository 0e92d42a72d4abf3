"""Shared by all tests: folders, the commands, and LIBLINEAR's own programs if they are installed."""

from __future__ import annotations

import functools
import gc
import importlib.util
import itertools
import lzma
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Bytecode is kept: otherwise each process rewrites the assertions or compiles the package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job, and what it starts, may ignore Ctrl-C
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # as the commands set it, before numpy is imported
    os.environ[name] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:  # the workers keep all cores busy
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"  # LIBLINEAR's replayable cases and larger data, where they exist
sys.path[:0] = map(str, [REPOSITORY / "tests", *(p for p in (REPOSITORY / "tests").iterdir() if p.is_dir())])
if str(REPOSITORY) not in sys.path:  # the package may be installed or lie beside the tests
    sys.path.insert(1, str(REPOSITORY))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
)  # for subprocesses

from shell_commands import svmtool  # noqa: E402


def pairs_of(item: pytest.Item) -> frozenset:
    """The pairs of a test's parameter values, of different parameters; none with fewer than three parameters."""
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec is not None else {}
    chosen = [(name, repr(v) if isinstance(v, str | int | float | tuple) else id(v)) for name, v in params.items()]
    return frozenset(itertools.combinations(chosen, 2) if len(chosen) >= 3 else ())


def not_needed(grid: dict[pytest.Item, frozenset]) -> set[pytest.Item]:
    """Tests of one function, with their pairs of values, without which each pair occurs in another one."""
    left, missing = dict(grid), set().union(*grid.values())
    while missing:
        best = max(left, key=lambda item: len(left[item] & missing))
        missing -= left.pop(best)
    return {item for item, pairs in left.items() if pairs}


PROCESSES = {"command", "compat_case"}  # fixtures by which a test starts processes
REFERENCES = {"reference", "libsvm_programs"}  # fixtures that find LIBLINEAR's and LIBSVM's programs


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without a search for garbage, and leave what was collected out of later ones: it is large, and stays."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Set the markers that follow from a test's file, fixtures and parameters."""
    # Without constants of all sources as examples: to parse the sources takes longer than all tests by Hypothesis.
    if providers := sys.modules.get("hypothesis.internal.conjecture.providers"):
        providers._get_local_constants = lambda: providers.GLOBAL_CONSTANTS
    grids: dict[str, dict[pytest.Item, frozenset]] = {}
    for item in items:
        if item.get_closest_marker("exhaustive") is None:
            grids.setdefault(item.nodeid.partition("[")[0], {})[item] = pairs_of(item)
        fixtures = set(item.fixturenames)
        if fixtures & PROCESSES or "subprocess" in vars(item.module):
            item.add_marker("process")
        if fixtures & REFERENCES:
            item.add_marker("reference")
        if item.path.name.startswith("test_spark_") and hasattr(item.module, "pytestmark"):
            item.add_marker("spark")
    for item in itertools.chain.from_iterable(map(not_needed, grids.values())):
        item.add_marker("exhaustive")


@pytest.fixture(scope="session")
def data() -> Path:
    """The sets that ship with the repository."""
    return REPOSITORY / "data"


def shared_file(name: str) -> Path:
    """A file of the folder beside the repository; skips the test where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: {name} comes with the project's shared folder, not with the repository")
    return path


@pytest.fixture(scope="session")
def heart_scale(tmp_path_factory) -> Path:
    """LIBSVM's best known small set, unpacked; skips where the shared folder is absent."""
    target = tmp_path_factory.mktemp("heart") / "heart_scale"
    target.write_bytes(lzma.decompress(shared_file("data/heart_scale.xz").read_bytes()))
    return target


@pytest.fixture
def command(tmp_path):
    """Run `train|predict|scale` as a separate process in a temporary folder; returns CompletedProcess of bytes.

    With an environment of its own it is a newly started process, otherwise a forked one, which takes less time.
    """

    def run(name: str, *argv, env: dict[str, str] | None = None, **options) -> subprocess.CompletedProcess:
        full = [*([sys.executable, "-m", "svmtool"] if env else svmtool()), name, *map(str, argv)]
        options.setdefault("capture_output", True)
        options.setdefault("cwd", tmp_path)
        return subprocess.run(full, env={**os.environ, **(env or {})}, timeout=300, **options)

    return run


@pytest.fixture
def as_the_originals(monkeypatch) -> None:
    """Lines are read as by liblinear-train and libsvm-train: without comments, blank lines and qid."""
    from svmtool.formats.svmlight import additions

    monkeypatch.setattr(additions, "tolerant", False)


@pytest.fixture
def out_of_time(monkeypatch) -> Callable[[], None]:
    """A function after whose call the time of each command run in this process is over once the data are read."""
    from svmtool.formats.svmlight.inputs import Reading

    plain = Reading.table

    def table(self):
        found = plain(self)
        self.stop.ends = 0.0
        return found

    return lambda: monkeypatch.setattr(Reading, "table", table)


@pytest.fixture
def svm_train(tmp_path, monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Run svm-train in this process in a temporary folder, where `data` becomes file d; status, stdout, stderr.

    It is faster than a separate process, and an error shows its traceback.  Lines that come by the clock are left out.
    """
    from svmtool.cli.train import main
    from svmtool.training import lines

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lines, "FIRST_SECONDS", math.inf)

    def run(*argv, data: str | None = None) -> tuple[int, str, str]:
        if data is not None:
            (tmp_path / "d").write_text(data)
        return main([str(a) for a in argv]), *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def reference() -> dict[str, str]:
    """LIBLINEAR's `train` and `predict`: from LIBLINEAR_DIR or Debian's liblinear-tools; skips without them."""
    found = {}
    for name in ("train", "predict"):
        if "LIBLINEAR_DIR" in os.environ:
            path = shutil.which(name, path=os.environ["LIBLINEAR_DIR"])
        else:
            folders = os.environ.get("PATH", "").split(os.pathsep)
            paths = (shutil.which(f"liblinear-{name}", path=folder) for folder in folders if folder)
            path = next((path for path in paths if path and not is_ours(path)), None)
        if path is None:
            pytest.skip("LIBLINEAR's programs are absent: install liblinear-tools or set LIBLINEAR_DIR")
        found[name] = path
    return found


def libsvm_program(name: str) -> str:
    """The path of LIBSVM's svm-train, svm-predict or svm-scale, from LIBSVM_DIR or Debian's libsvm-tools; skips the
    test where it is absent."""
    folders = os.environ.get("LIBSVM_DIR", os.environ.get("PATH", "")).split(os.pathsep)
    paths = (shutil.which(name, path=folder) for folder in folders if folder)
    path = next((path for path in paths if path and not is_ours(path)), None)
    if path is None:
        pytest.skip(f"LIBSVM's {name} is absent: install libsvm-tools or set LIBSVM_DIR")
    return path


@pytest.fixture(scope="session")
def libsvm_programs() -> dict[str, str]:
    """LIBSVM's `svm-train` and `svm-predict`: see `libsvm_program`."""
    return {name: libsvm_program(name) for name in ("svm-train", "svm-predict")}


@functools.cache
def gives_densities(program: str) -> bool:
    """Whether a LIBSVM's svm-train gives one-class models probabilities: Debian's 3.24 refuses -b 1 for them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "d").write_text("".join(f"1 1:{k % 7} 2:{k % 11}\n" for k in range(40)))
        command = [program, "-q", "-s", "2", "-b", "1", "d", "m"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        return done.returncode == 0 and "prob_density_marks" in Path(folder, "m").read_text()


def skip_without_densities(program: str) -> None:
    """Skip where LIBSVM's svm-train is too old for -s 2 -b 1."""
    if not gives_densities(program):
        pytest.skip(f"{program} has no probabilities for one-class models: set LIBSVM_DIR to a newer LIBSVM")


def is_ours(path: str) -> bool:
    """Whether a program is a command of this package, which goes by Debian's names too."""
    return b"svmtool" in Path(path).read_bytes()


def skip_unless_known(number: int, reference: dict[str, str]) -> None:
    """Skip where the LIBLINEAR that was found is too old for -s number: Debian's 2.30 has no 21."""
    usage = subprocess.run([reference["train"]], capture_output=True, text=True).stdout
    if not re.search(rf"\b{number} -- ", usage):
        pytest.skip(f"{reference['train']} has no -s {number}: set LIBLINEAR_DIR to a newer LIBLINEAR")


@pytest.fixture
def one_thread():
    """Compiled loops run in the thread that calls them, as in an executor's task."""
    from svmtool.compiled import threads

    before = threads.count()
    threads.set_count(1)
    yield
    threads.set_count(before)


def without_spark() -> str:
    """Why tests that start Spark cannot run here; empty where they can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is absent: pip install 'svmtool[spark]'"
    return "" if os.environ.get("JAVA_HOME") or shutil.which("java") else "java is absent: Spark runs on it"
