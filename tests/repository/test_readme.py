"""The README is correct: its commands run, its tables come from the registry, its links exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY, without_spark
from shell_commands import put_script

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGE = (REPOSITORY / "docs" / "outgrow.md").read_text(encoding="utf-8")
PROMISES = (REPOSITORY / "docs" / "promises.md").read_text(encoding="utf-8")


def commands(text: str, mark: str = "commands") -> list[str]:
    """The blocks of shell commands after such marks."""
    return re.findall(rf"<!-- {mark} -->\n```sh\n(.*?)```", text, re.DOTALL)


BLOCKS = commands(README)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A folder with data/ in it, and an environment in which the commands are found by name."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("data", "scripts"):
        (folder / name).symlink_to(REPOSITORY / name)
    names = folder / "bin"
    names.mkdir()
    for name in ("train", "predict", "scale"):
        put_script(names / f"svm-{name}", f'exec "{sys.executable}" -m svmtool {name} "$@"')
    put_script(names / "python", f'exec "{sys.executable}" "$@"')

    def run(text: str) -> subprocess.CompletedProcess:
        path = str(names) + os.pathsep + os.environ["PATH"]
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text],
            cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    run.folder = folder
    return run


def test_commands_run(shell):
    """Run all blocks in the order of the README, each command separately so that a failure names it."""
    assert len(BLOCKS) == 6
    output = {}
    for line in "".join(BLOCKS).splitlines():
        done = shell(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        output[line.split("#")[0].strip()] = done.stdout
    trained = output["svm-train -s 2 -c 0.5 train.scale cancer.model"]
    assert trained.splitlines()[-1].startswith("Certified relative gap = ")
    predicted = output["svm-predict test.scale cancer.model predictions"]
    accuracy = re.fullmatch(r"Accuracy = (\S+)% \((\d+)/169\)\n", predicted)
    assert accuracy and float(accuracy[1]) > 90
    exact = output["svm-train -s 40 --gap 1e-8 train.scale exact.model"]
    assert float(re.search(r"Certified relative gap = (\S+)", exact)[1]) <= 1e-8
    digits = output["svm-predict data/digits.t digits.model digits.out"]
    assert float(re.search(r"Accuracy = (\S+)%", digits)[1]) > 85


def test_commands_of_the_page_on_large_data_run(shell):
    blocks = commands(PAGE)
    assert len(blocks) == 2
    for line in "".join(blocks).splitlines():
        done = shell(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_commands_of_the_page_on_large_data_run_on_spark(shell):
    if without_spark():
        pytest.skip(without_spark())
    first, *blocks = [commands(PAGE)[0], *commands(PAGE, "spark commands")]
    for line in "".join([first, *blocks]).splitlines():
        done = shell(line)
        assert (done.returncode, done.stderr) == (0, ""), f"{line}\n{done.stdout}{done.stderr}"
    assert shell("svm-predict -q test.scale spark.model here; cmp here predictions").returncode == 0


def test_tables_are_current():
    check = [sys.executable, str(REPOSITORY / "scripts" / "readme_tables.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_targets_that_the_readme_names_exist():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", README, re.MULTILINE))
    assert {a or b for a, b in named} <= targets
    assert len(targets) <= 12


def test_files_that_the_readme_names_exist():
    for name in re.findall(r"`((?:svmtool|scripts|data|tests)/[\w./]*)`", README + PROMISES):
        assert (REPOSITORY / name).exists(), name
    for name in re.findall(r"\(([\w/]+\.md)\)", README):
        assert (REPOSITORY / name).exists(), name
    for name in re.findall(r"\(([\w./]+\.md)#", PAGE + PROMISES):
        assert (REPOSITORY / "docs" / name).exists(), name


def test_the_page_of_promises_names_every_kind_of_fault_that_is_tried():
    sys.path.insert(0, str(REPOSITORY / "scripts"))
    from stress import fuzz

    tried = " ".join(row.split("|")[-2] for row in PROMISES.splitlines() if row.startswith("| "))
    assert {kind for kind in fuzz.KINDS if f"`{kind}`" not in tried} == set()


def test_every_change_of_a_version_is_reported():
    from svmtool import __version__

    assert f"## {__version__}" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_data_are_what_the_script_writes(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn carries the sets; without it they cannot be made again")
    subprocess.run([sys.executable, str(REPOSITORY / "scripts" / "make_data.py"), str(tmp_path)], check=True)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (REPOSITORY / "data" / path.name).read_bytes()
