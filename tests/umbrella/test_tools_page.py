"""docs/tools.md is true: its commands run in their order, and its table names every subcommand."""

from __future__ import annotations

import re

from conftest import REPOSITORY
from shell_commands import put_commands, run_in

from svmtool.cli.umbrella.group import ORDER, PASSED_ON

PAGE = (REPOSITORY / "docs" / "tools.md").read_text(encoding="utf-8")


def test_commands_of_the_page_run(tmp_path):
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    put_commands(tmp_path / "bin", {"svmtool": ""})
    output = {}
    for line in "".join(re.findall(r"<!-- commands -->\n```sh\n(.*?)```", PAGE, re.DOTALL)).splitlines():
        done = run_in(tmp_path, ["bash", "-e", "-c", line], tmp_path / "bin")
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        output[line] = done.stdout
    assert (tmp_path / "answers").read_text() == "setosa\nvirginica\n"
    shown = output["svmtool inspect flowers.model"]
    assert all(name in shown for name in ("length", "colour=blue", "colour=red", "positive for setosa"))
    assert (tmp_path / "three.svg").read_text().startswith("<?xml")
    assert (tmp_path / "digits.html").stat().st_size > 10_000


def test_table_names_every_subcommand():
    assert set(re.findall(r"^\| `svmtool ([a-z]+)", PAGE, re.MULTILINE)) == set(ORDER) - set(PASSED_ON)
