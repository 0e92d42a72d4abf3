"""Import directions of the wings, and the modules that each command loads at start."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY

from svmtool import registry
from svmtool.compiled import ahead_of_time

PACKAGE = REPOSITORY / "svmtool"
FILES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted(REPOSITORY.glob("tests/**/*.py"))

# The wings from the lowest to the highest: each may import those above it in this list, never those below.
ORDER = (
    "errors integers interrupts systems tolerances", "limits", "progress", "compiled registry",
    "numbers params metrics", "options",
    "models", "data", "linalg", "engine", "objectives", "coordinate", "kernels", "certify", "solvers", "papers",
    "formats", "conversion drawing inspection scaling", "exports report",
    "training", "api distributed", "auditing", "sklearn spark cli", "compat",
    "liblinearutil svmutil", "start", "__main__",
)  # fmt: skip
LEVEL = {part: level for level, parts in enumerate(ORDER) for part in parts.split()}
# These read and write no files
NUMERICS = {"linalg", "engine", "objectives", "coordinate", "kernels", "certify", "solvers", "papers"}


def part_of(module: str) -> str:
    """`formats` for svmtool.formats.svmlight.table; empty for the package itself."""
    return (module.split(".") + [""])[1]


def module_of(path) -> str:
    words = ["svmtool", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


@functools.cache
def imports(path) -> frozenset[str]:
    """Modules of the package that a file imports anywhere in it, by their full names; the linter refuses `; import`."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^ *from \.", text, re.MULTILINE), f"{path.name} imports by a relative name"
    found = set(re.findall(r"^ *import (svmtool[\w.]*)", text, re.MULTILINE))
    for base, names in re.findall(r"^ *from (svmtool[\w.]*) import (\([^)]*\)|.*)", text, re.MULTILINE):
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)):
            below = PACKAGE.parent / f"{base}.{name}".replace(".", "/")
            is_module = below.with_suffix(".py").exists() or below.is_dir()
            found.add(f"{base}.{name}" if is_module else base)
    return frozenset(found)


def test_direction():
    for path in FILES:
        here = module_of(path)
        part = part_of(here)
        used = {part_of(m) for m in imports(path)} - {part, ""}
        if part:
            upwards = {other for other in used if LEVEL[other] >= LEVEL[part]}
            assert not upwards, f"{here} must not import {sorted(upwards)}"
        apart = used & NUMERICS if part == "formats" else used & {"formats"} if part in NUMERICS else set()
        assert not apart, f"{here} must not import {sorted(apart)}"


def test_no_import_circles():
    """Imports inside functions and those for type checkers count."""
    edges = {module_of(p): imports(p) - {module_of(p)} for p in FILES}
    while edges:
        free = {m for m, used in edges.items() if not used & set(edges)}
        assert free, f"these import each other: {sorted(edges)}"
        edges = {m: used for m, used in edges.items() if m not in free}


def solver_files():
    """Files in solvers/ that the registry names; the others are parts of these."""
    named = {row.module for row in (*registry.SOLVERS, *registry.KERNEL_SOLVERS)}
    return [p for p in (PACKAGE / "solvers").glob("*.py") if module_of(p) in named]


@pytest.mark.parametrize("row", registry.PRINTED + registry.KERNEL_PRINTED, ids=lambda row: f"{row.number}-{row.space}")
def test_a_papers_file_uses_no_other_method(row):
    """Neither another paper's files nor the engine's solvers: only statuses, the monitor and the check of progress."""
    name = row.module.rpartition(".")[2]
    modules = imports(PACKAGE / "papers" / f"{name}.py")
    papers = {m for m in modules if part_of(m) == "papers"}
    assert {m.split(".")[2].partition("_")[0] for m in papers} <= {name.partition("_")[0], "running"}
    shared = {"svmtool.solvers.shared.base", "svmtool.solvers.shared.stalling"}
    assert {m for m in modules if part_of(m) == "solvers"} <= shared


PARTS = ("body", "orelse", "handlers", "finalbody", "cases")  # of a statement, with the statements inside it
MOST_LINES = 60  # of code in a function, without blank lines, comments, its docstring and signature


def code_lines(function: ast.FunctionDef, text: list[str]) -> int:
    """Lines of code in the function's body, those of functions inside it included."""
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    lines = range(body[0].lineno, body[-1].end_lineno + 1) if body else ()
    return sum(text[k - 1].strip()[:1] not in ("", "#") for k in lines)


def test_functions_are_short():
    long = {}
    for path in [*FILES, *TESTS]:
        text = path.read_text(encoding="utf-8")
        largest = max(part.count("\n") for part in re.split(r"\n(?=[^\s)#])", text))  # of what begins a line
        lines, nodes = text.splitlines(), [ast.parse(text)] if largest > MOST_LINES else []
        while nodes:  # statements alone: most nodes are in expressions
            node = nodes.pop()
            if isinstance(node, ast.FunctionDef) and (count := code_lines(node, lines)) > MOST_LINES:
                long[node.name] = count
            nodes += [part for name in PARTS for part in getattr(node, name, ())]
    assert not long


def test_only_the_registry_names_solvers():
    solvers = {f"svmtool.solvers.{p.stem}" for p in solver_files()}
    for path in FILES:
        assert not imports(path) & solvers, f"{path.name} imports a solver by name"
        text = path.read_text()
        if part_of(module_of(path)) != "registry" and any(name in text for name in solvers):
            strings = {n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant)}
            assert not strings & solvers, f"{path.name} names a solver"


# Of the numerics a certifier knows losses and what a kernel problem is; besides it has rows and svm-predict's code
STATEMENTS = {"svmtool.objectives.losses", "svmtool.kernels.problems", "svmtool.kernels.lp"}
BESIDES = {"data", "models", "tolerances", "limits", "certify"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "certify").glob("*.py")), ids=lambda p: p.stem)
def test_certifiers_share_no_code_with_solvers(path):
    unknown = {m for m in imports(path) if part_of(m) not in BESIDES} - STATEMENTS - {"svmtool"}
    assert not unknown, f"a certifier must not import {sorted(unknown)}"


def test_solvers_know_no_layout():
    """They ask rows what they offer; data, objectives and coordinate descent reach into the arrays."""
    layouts = {"svmtool.data.csr", "svmtool.data.dense", "svmtool.data.mapped_arrays"}
    for path in (PACKAGE / "solvers").rglob("*.py"):
        assert not imports(path) & layouts, path.name


def loaded(argv: list[str], folder) -> set[str]:
    """Top-level modules that a command has loaded when it ends."""
    code = (
        "import sys; from svmtool.cli import entry; status = entry.start(sys.argv[1], sys.argv[2:]); "
        "sys.stderr.write('LOADED ' + ' '.join(sorted({m.partition('.')[0] for m in sys.modules}))); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *argv], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(re.search(r"LOADED (.*)", done.stderr)[1].split())


@pytest.fixture
def ready(tmp_path):
    """A folder with a small training set, a test set and a model."""
    (tmp_path / "d").write_text("+1 1:1 2:0.5\n-1 1:-1 2:0.25\n+1 1:0.5 2:1\n-1 1:-0.5 2:-1\n")
    (tmp_path / "m").write_text(
        "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.8 \n0.4 \n"
    )
    return tmp_path


@pytest.mark.parametrize("line", ["train -s 1 d x", "train -s 2 d x", "train -t 2 d x", "predict d m o", "scale d"])
def test_commands_start_lean(line, ready):
    if not ahead_of_time():
        pytest.skip("no loops compiled ahead of time for this machine: numba has to be imported")
    heavy = {"numba", "llvmlite", "scipy", "click", "tqdm", "matplotlib", "sklearn", "pandas"}
    assert not loaded(line.split(), ready) & heavy


@pytest.mark.parametrize("line", ["train --help", "predict --help", "train --version", "train --explain"])
def test_short_answers_load_no_numpy(line, ready):
    click = set() if line.endswith("help") else {"click"}
    assert not loaded(line.split(), ready) & {"numpy", "numba", "scipy", "tqdm", *click}


def test_training_from_python_loads_no_tqdm():
    code = "import svmtool, sys; assert 'numpy' not in sys.modules\n"
    code += "svmtool.fit([[0.0], [1.0]], [0, 1]); sys.exit('tqdm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
