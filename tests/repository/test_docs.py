"""README and docs are correct: commands print what is shown, tables are current, links lead to pages."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, without_spark
from shell_commands import put_commands, put_script, run_in

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
PYTHON = REPOSITORY / "docs" / "python.md"
ROOT_PAGES = [REPOSITORY / name for name in (
    "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "EXPERIMENTS.md", "RELEASING.md",
    "SECURITY.md",
)]  # fmt: skip
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(text: str, mark: str) -> list[str]:
    """The code after such marks."""
    return re.findall(rf"<!-- {mark} -->\n```\w+\n(.*?)```", text, re.DOTALL)


def examples(page: Path) -> list[str]:
    """The marked examples in Python; in python.md all, but those that need what is not installed."""
    if page != PYTHON:
        return blocks(text_of(page), "python example")
    found = re.findall(r"(?:<!-- needs (\w+) -->\n)?```python\n(.*?)```", text_of(page), re.DOTALL)
    return [code for needed, code in found if not needed or importlib.util.find_spec(needed)]


def having(*marks: str) -> list:
    """The pages with such blocks."""
    return [pytest.param(p, id=p.name) for p in PAGES if any(f"<!-- {mark} -->" in text_of(p) for mark in marks)]


@pytest.fixture
def shell(tmp_path):
    """A folder with data/ in it, and an environment in which the commands are found by name."""
    for name in ("data", "scripts"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    names = tmp_path / "bin"
    put_commands(names, {"svmtool": "", **{f"svm-{name}": name for name in ("train", "predict", "scale")}})
    put_script(names / "python", f'exec "{sys.executable}" "$@"')

    def run(text: str) -> subprocess.CompletedProcess:
        return run_in(tmp_path, ["bash", "-e", "-o", "pipefail", "-c", f"exec 2>&1\n{text}"], names)

    return run


def same(shown: str, printed: str) -> bool:
    """Whether lines are equal; in lines of solvers, certificates and weights numbers may differ between processors."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    return shown == printed or re.match(r"optimization|Objective|nSV|Certified| +-?\d", shown) is not None


@pytest.mark.process
@pytest.mark.parametrize("page", having("commands", "console"))
def test_commands_run_and_print_what_is_shown(shell, page):
    """Run blocks in their order, each command separately so that a failure names it; `...` stands for any lines."""
    for kind, block in re.findall(r"<!-- (commands|console) -->\n```\w+\n(.*?)```", text_of(page), re.DOTALL):
        if kind == "commands":
            for line in block.splitlines():
                done = shell(line)
                assert done.returncode == 0, f"{line}\n{done.stdout}"
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            printed = [line for line in shell(command).stdout.splitlines() if line.strip()]
            for line in (line for line in shown if line.strip() and line != "..."):
                assert any(same(line, one) for one in printed), f"{command}\n{line}\nis not in\n" + "\n".join(printed)


@pytest.mark.parametrize("page", [*having("python example"), pytest.param(PYTHON, id="python.md")])
def test_python_examples_print_what_is_shown(page, tmp_path, monkeypatch):
    """In this process alone: workers of joblib are threads, because new ones load everything again."""
    joblib = pytest.importorskip("joblib", reason="comes with scikit-learn: pip install 'svmtool[sklearn]'")
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    for block in examples(page):
        example = doctest.DocTestParser().get_doctest(block, names, page.name, page.name, 0)
        assert example.examples
        with joblib.parallel_config("threading"):
            runner.run(example, clear_globs=False)
        names = example.globs
    assert runner.summarize().failed == 0


def test_examples_of_the_dropins(tmp_path, monkeypatch, capsys):
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", text_of(PYTHON.with_name("python-dropins.md")), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})
        out = capsys.readouterr().out
        assert float(re.search(r"^Accuracy = (\S+)% \(\d+/597\) \(classification\)$", out, re.MULTILINE)[1]) > 85
    assert (tmp_path / "digits.model").exists()


def test_every_estimator_and_function_is_on_the_page_of_python():
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
    import svmtool.sklearn

    page = text_of(PYTHON)
    code = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    for name in svmtool.sklearn.__all__:
        assert re.search(rf"\b{name}\(", code) and f"`{name}`" in page, name
    for name in svmtool.__all__:
        assert name == "Fit" or f"svmtool.{name}(" in code, name


def test_commands_on_spark_run(shell):
    if without_spark():
        pytest.skip(without_spark())
    page = text_of(REPOSITORY / "docs" / "outgrow.md")
    for line in "".join([blocks(page, "commands")[0], *blocks(page, "spark commands")]).splitlines():
        done = shell(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}"
    assert shell("svm-predict -q test.scale spark.model here; cmp here predictions").returncode == 0


def test_tables_are_current():
    pages = runpy.run_path(str(REPOSITORY / "scripts" / "docs_tables.py"))["pages"]()
    assert {path.name for path, text in pages.items() if text != text_of(path)} == set(), "run scripts/docs_tables.py"


def test_targets_of_make_that_are_named_exist():
    makefile = text_of(REPOSITORY / "Makefile")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in [*PAGES, *ROOT_PAGES]:
        named = re.findall(r"`make ([a-z-]+)[` ]|^make ([a-z-]+)", text_of(page), re.MULTILINE)
        assert {a or b for a, b in named} <= targets, page.name


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    heads = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in heads}


def test_links_and_names_of_files_lead_somewhere():
    for page in [*PAGES, *ROOT_PAGES]:
        for name, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text_of(page)):
            target = page.parent / name if name else page
            assert target.exists(), (page.name, name)
            assert not anchor or anchor in anchors(target), (page.name, name, anchor)
        for name in re.findall(r"`((?:svmtool|scripts|data|tests)/[\w./]*)`", text_of(page)):
            assert (REPOSITORY / name).exists(), (page.name, name)


def test_every_page_is_in_the_navigation():
    config = text_of(REPOSITORY / "mkdocs.yml")
    docs = REPOSITORY / "docs"
    assert {page for page in docs.rglob("*.md") if f": {page.relative_to(docs)}\n" not in config} == set()


def test_the_reference_has_every_public_module():
    reference = "".join(text_of(page) for page in (REPOSITORY / "docs" / "api").glob("*.md"))
    importable = {path.stem for path in (REPOSITORY / "svmtool").glob("[!_]*.py") if "\n__all__ = " in text_of(path)}
    assert {name for name in {"api", "sklearn", *importable} if f"::: svmtool.{name}\n" not in reference} == set()


def explained() -> list[str]:
    """The messages of docs/troubleshooting.md, with … for what differs from case to case."""
    page = text_of(REPOSITORY / "docs" / "troubleshooting.md")
    return re.findall(r"`(.*?)`", " ".join(re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)))


def test_messages_of_troubleshooting_are_messages():
    """Each message that the page explains is in the sources, up to what differs from case to case."""
    sources = "".join(text_of(path) for path in (REPOSITORY / "svmtool").rglob("*.py"))
    sources = re.sub(r'"\n\s*f?"', "", sources)  # strings over several lines
    assert len(explained()) > 10
    for message in explained():
        for part in message.split("…"):
            assert part.strip(" ,:") in sources, message


# Functions whose texts are help, or parts of `: must be …`.
HELP = ("Option", "own", "_keyword", "Kind", "number", "checks.refuse_overwriting")


def sentences(path: Path) -> set[str]:
    """Strings of a module that are messages on stderr, with … for fields.

    That is every string of four words but docstrings, texts that end a line (stdout) or with a full stop (help), help
    of options, names of files and titles of lists.
    """
    tree, left_out = ast.parse(text_of(path)), set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr):
            left_out.add(node.body[0].value)
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in HELP:
            left_out.update(ast.walk(node))
    found = set()
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        else:
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if len(re.findall(r"\b[A-Za-z']+(?= )", text)) > 2 and not re.search(r"[\n.]$|^largest weights", text):
            found.add(text)
    return found


def test_every_message_is_explained():
    """Each message of the commands and of the readers of files has a line in docs/troubleshooting.md."""
    known = [re.compile(".*".join(map(re.escape, message.split("…"))), re.DOTALL) for message in explained()]
    svmtool = REPOSITORY / "svmtool"
    files = [path for part in ("cli", "formats", "options") for path in svmtool.glob(f"{part}/**/*.py")]
    for path in [*files, svmtool / "training" / "intent.py"]:
        if path.name != "help_texts.py":
            new = {text for text in sentences(path) if not any(message.search(text) for message in known)}
            assert not new, f"{path.name}: explain in docs/troubleshooting.md"


def test_the_page_of_promises_names_every_kind_of_fault_that_is_tried():
    sys.path.insert(0, str(REPOSITORY / "scripts"))
    from stress import fuzz

    promises = text_of(REPOSITORY / "docs" / "promises.md")
    tried = " ".join(row.split("|")[-2] for row in promises.splitlines() if row.startswith("| "))
    assert {kind for kind in fuzz.KINDS if f"`{kind}`" not in tried} == set()


def test_every_change_of_a_version_is_reported():
    from svmtool import __version__

    assert f"## {__version__}" in text_of(REPOSITORY / "CHANGELOG.md")


def test_data_match_the_script(tmp_path, monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn carries the sets; without it they cannot be made again")
    monkeypatch.setattr(sys, "argv", ["make_data.py", str(tmp_path)])
    runpy.run_path(str(REPOSITORY / "scripts" / "make_data.py"), run_name="__main__")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (REPOSITORY / "data" / path.name).read_bytes()
