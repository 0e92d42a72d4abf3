"""Packages: version, licence, citation, source archive, names of wheels, Dockerfile."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY
from shell_commands import put_commands, run_in

import svmtool
from svmtool.compiled import loop_sources
from svmtool.compiled.build import PLATFORMS

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")


def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_version_and_licence_are_the_same_everywhere():
    version = svmtool.__version__
    assert re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE) == [version]
    assert re.findall(r'^  version: "(.*)"$', text("recipe/recipe.yaml"), re.MULTILINE) == [version]
    licence = "BSD-3-Clause"
    assert f'\nlicense = "{licence}"\n' in text("pyproject.toml") and f"\nlicense: {licence}\n" in text("CITATION.cff")
    heads = re.findall(r"^## (.*)$", text("CHANGELOG.md"), re.MULTILINE)
    assert heads[0] == "Unreleased" and heads[1].split()[0] == version


def test_every_released_version_has_its_date_and_what_users_must_do():
    unreleased, *released = text("CHANGELOG.md").split("\n## ")[1:]
    assert released
    for part in released:
        assert re.match(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n\nWhat you must do: ", part), part[:80]
    assert "\nWhat you must do: " in unreleased


def test_workflows_call_targets_of_the_makefile_and_pin_their_actions():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    workflows = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for path in workflows:
        workflow = path.read_text(encoding="utf-8")
        called = re.findall(r"- run: make ([a-z-]+)", workflow)
        assert called and set(called) <= targets, path.name
        assert len(re.findall(r"\brun: (?!make |sudo apt-get install )", workflow)) == 0, path.name
        for action in re.findall(r"uses: (.*)", workflow):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+( # zizmor: ignore\[artipacked\])?", action), action
        assert "\npermissions: {}\n" in workflow
    tried = (REPOSITORY / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert all(name in tried for name in PLATFORMS)


def test_the_conda_recipe_needs_what_pyproject_says():
    recipe = text("recipe/recipe.yaml")
    run = recipe.partition("  run:\n")[2].partition("  run_constraints:")[0]
    declared = re.search(r"^dependencies = \[(.*)\]$", text("pyproject.toml"), re.MULTILINE)[1]
    wanted = [name.split(";")[0] for name in re.findall(r'"([^"]*)"', declared) if "win32" not in name]
    assert re.findall(r"- (\S+) >=(\S+)", run)[1:] == [tuple(name.split(">=")) for name in wanted]


WHEELS = """
import os, sys, setuptools
from distutils.core import run_setup
for name in sys.argv[1:]:
    os.environ["SVMTOOL_WHEEL_PLATFORM"] = name
    it = run_setup("setup.py", ["-q"], stop_after="config")
    wheel = it.get_command_obj("bdist_wheel")
    wheel.ensure_finalized()
    print(*wheel.get_tag(), len(it.scripts or []), *sorted(e.split(" ")[0] for e in it.entry_points["console_scripts"]))
"""


def test_wheels_fit_each_python_and_pip_makes_their_commands_where_there_is_no_shell():
    """In one process, which prints a wheel's three tags, its number of scripts and its entry points."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WHEELS, *PLATFORMS], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = dict(zip(PLATFORMS, map(str.split, done.stdout.splitlines()), strict=True))
    assert [words[:3] for words in found.values()] == [["py3", "none", name] for name in PLATFORMS]
    assert found["macosx_11_0_arm64"][3:] == ["8", "svmtool"]
    n, *names = found["win_amd64"][3:]
    assert n == "0" and {"svm-train", "svm-predict", "svm-scale", "svmtool"} < set(names)


def test_the_source_archive_has_every_file_of_the_repository_and_nothing_built(tmp_path):
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a git clone")
    command = ["egg_info", "--egg-base", tmp_path, "sdist", "--formats", "tar", "--dist-dir", tmp_path]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", *command], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / f"svmtool-{svmtool.__version__}.tar") as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    left_out = {name for name in set(listed.stdout.split()) - packed if (REPOSITORY / name).exists()}
    assert left_out <= {".gitignore", ".ci/run"}
    assert not [name for name in packed if name.endswith((".so", ".o", ".pyc"))]


def test_the_dockerfile_copies_what_exists_and_runs_the_demo_without_rights():
    steps = re.findall(r"^([A-Z]+) (.*)$", DOCKERFILE, re.MULTILINE)
    assert [re.sub(" AS build$", "", what) for step, what in steps if step == "FROM"] == ["python:3.13-slim"] * 2
    for step, what in steps:
        if step == "COPY" and "--from" not in what:
            assert all((REPOSITORY / name).exists() for name in what.split()[:-1]), what
    assert [what for step, what in steps if step == "USER"] == ["1000"]
    assert steps[-1] == ("CMD", '["svmtool-demo", "/usr/local/share/svmtool", "demo"]')


def test_the_demo_runs_from_any_folder(tmp_path):
    """As the image runs it: the commands by name, the data elsewhere."""
    put_commands(tmp_path / "bin", {f"svm-{name}": name for name in ("train", "predict", "scale")})
    done = run_in(tmp_path, [REPOSITORY / "scripts" / "demo.sh", REPOSITORY / "data", "demo"], tmp_path / "bin")
    assert done.returncode == 0, done.stderr
    assert "Certified relative gap = " in done.stdout and "Accuracy = " in done.stdout
    assert (tmp_path / "demo" / "predictions").stat().st_size


def test_a_change_of_any_source_of_the_loops_compiles_them_again():
    """SOURCES of the Makefile name every file that their checksum covers."""
    named = re.search(r"^SOURCES = (.*)$", text("Makefile"), re.MULTILINE)[1].replace("$(wildcard", "").replace(")", "")
    found = {path for pattern in named.split() for path in REPOSITORY.glob(pattern)}
    assert {Path(path) for path in loop_sources()} <= found
