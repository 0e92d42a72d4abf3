"""--memory: rows on disk give the models of rows in memory, within the limit of resident memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from engine import engine
from sampling import pairs_in_turn

from svmtool import registry
from svmtool.data import mapped_arrays
from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache import folder as row_folder
from svmtool.formats.svmlight import table
from svmtool.registry.row import ON_DISK

NUMBERS = [row.number for row in registry.SOLVERS if ON_DISK <= row.supported][::2]
MEMORY = ("--memory", "1G")


@pytest.fixture
def on_disk(monkeypatch):
    """Puts the rows of any file on disk, releases pages at every check, and makes pieces small."""
    monkeypatch.setattr(row_folder, "ROW_BYTES_PER_TEXT_BYTE", np.inf)
    monkeypatch.setattr(mapped_arrays, "MAX_RESERVE_BYTES", np.inf)
    monkeypatch.setattr(mapped_arrays, "RESERVE_SHARE", 1.0)
    monkeypatch.setattr(mapped_arrays, "MAX_ORDINARY_BYTES", 0)
    monkeypatch.setattr("svmtool.data.row_storage.PIECE_NONZEROS", 2000)


@pytest.fixture
def parses(monkeypatch) -> list[str]:
    """Records the names of sources that are parsed into folders."""
    found = []

    def noted(source, *args, **more):
        found.append(source.name)
        return table.raw_tables(source, *args, **more)

    monkeypatch.setattr(arrays, "raw_tables", noted)
    return found


def certified(model: str) -> tuple[float, float]:
    """Gap and primal value in a model file."""
    gap, primal = re.search(r"gap = (\S+) \(primal (\S+),", model).groups()
    return float(gap), float(primal)


def signed(header, **changes) -> None:
    """Change a header and its digest."""
    changed = {**json.loads(header.read_text()), **changes}
    del changed[arrays.CHECK]
    header.write_text(json.dumps({**changed, arrays.CHECK: arrays._digest(changed)}))


@pytest.mark.parametrize(("number", "name"), pairs_in_turn(NUMBERS, ["breast_cancer", "digits"]))
def test_disk_and_memory_give_the_same_certified_value(number, name, data, svm_train, on_disk, tmp_path):
    target = 1e-3 if number == 30 else 1e-7  # which takes thousands of short epochs
    asked = ("-q", *engine(number), "--gap", target, "-B", "1")  # what is printed holds the rows in memory
    rows = (data / name).read_bytes().splitlines(keepends=True)
    (tmp_path / "d").write_bytes(b"".join(row for row in rows if row[:1] in b"-012"))  # three of the ten digits
    assert svm_train(*asked, "d", "memory.model")[0] == 0
    assert svm_train(*asked, *MEMORY, "d", "disk.model")[0] == 0
    assert (tmp_path / "d.rows" / "header.json").exists()
    here, there = ((tmp_path / f"{k}.model").read_text() for k in ("memory", "disk"))
    (gap, primal), (other_gap, other) = certified(here), certified(there)
    assert abs(primal - other) <= (gap + other_gap + 1e-9) * abs(primal)
    assert other_gap <= target


@pytest.mark.parametrize("spoil", ["nothing", "grown", "touched", "edited", "version"])
def test_rows_are_parsed_again_where_the_file_has_changed(spoil, data, svm_train, on_disk, parses, tmp_path):
    path, text = tmp_path / "d", (data / "breast_cancer.t").read_bytes()
    path.write_bytes(text)
    assert svm_train("-q", "-s", 2, *MEMORY, "d", "m0")[0] == 0
    facts = path.stat()
    if spoil == "grown":
        path.write_bytes(text + text)
    elif spoil == "touched":
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    elif spoil == "edited":  # same size, same time
        path.write_bytes(text[:1] + (b"4" if text[1:2] != b"4" else b"2") + text[2:])
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    elif spoil == "version":
        signed(tmp_path / "d.rows" / "header.json", format="svmtool rows 0")
    assert svm_train("-q", "-s", 2, *MEMORY, "d", "m1")[0] == 0
    assert parses == ["d", "d"][: 2 - (spoil == "nothing")]
    assert svm_train("-q", "-s", 2, "d", "m2")[0] == 0
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()


def test_folds_and_search_use_the_folder(data, svm_train, on_disk, parses, tmp_path):
    (tmp_path / "d").write_bytes((data / "breast_cancer.t").read_bytes())
    for asked in (("-v", 3), ("-C", "-v", 2, "-c", 16)):
        here, there = (svm_train("-s", 2, *asked, *more, "d") for more in ((), MEMORY))
        assert here[:2] == there[:2] and here[0] == 0 and not here[2]
        assert there[2].startswith("d.rows: rows kept" if asked[0] == "-v" else "") and there[2].count("\n") <= 1
    assert parses == ["d"]


def test_scratch_tells_files_of_one_name_apart(data, svm_train, on_disk, tmp_path):
    for folder, name in (("a", "breast_cancer"), ("b", "breast_cancer.t")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d").write_bytes((data / name).read_bytes())
    (tmp_path / "scratch").mkdir()
    for folder in "ab":
        assert svm_train("-q", "-s", 2, *MEMORY, "--scratch", "scratch", f"{folder}/d", f"m{folder}")[0] == 0
        assert os.listdir(tmp_path / folder) == ["d"]
        assert svm_train("-q", "-s", 2, f"{folder}/d", "m")[0] == 0
        assert (tmp_path / f"m{folder}").read_bytes() == (tmp_path / "m").read_bytes()
    assert len(os.listdir(tmp_path / "scratch")) == 2


def test_invalid_memory_options_are_refused(svm_train, on_disk, tmp_path):
    for asked, words in (
        ("--memory 2X", "must be a size such as 500M or 2G"), ("--memory 100M", "at least"),
        ("--memory 1G --scratch nowhere", "--scratch DIR names another folder"),
    ):  # fmt: skip
        status, _, said = svm_train("-q", *asked.split(), "d", "m", data="1 1:1\n-1 1:2\n")
        assert status == 1 and words in said and os.listdir(tmp_path) == ["d"]


WAYS = """
import os, sys
from svmtool.cli.train import main
from svmtool.formats.rowcache import folder
folder.MIN_MEMORY_BYTES = 0
for limit in ("300M", "1M"):
    for more, model in ([], ["m"]), (["-v", "2"], []), (["-C", "-v", "2", "-c", "64"], []):
        os.lseek(0, 0, os.SEEK_SET)
        assert main(["-q", "-s", "2", *more, "--memory", limit, "-", *model]) == 0
        print("that was all", file=sys.stderr)
"""


def test_run_over_its_memory_limit_says_so(data, tmp_path):
    with open(data / "breast_cancer.t") as file:
        done = subprocess.run([sys.executable, "-c", WAYS], stdin=file, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0
    *said, end = done.stderr.split("that was all\n")
    assert said[:3] == [""] * 3 and end == ""
    assert len(said) == 6 and all("--memory 1M" in words and "held" in words for words in said[3:])


def strange(kind: str, path) -> None:
    """Create something other than a folder of rows at `path`."""
    if kind == "file":
        path.write_text("mine")
    elif kind == "link":
        (path.parent / "elsewhere").mkdir()
        (path.parent / "elsewhere" / "labels").write_text("mine")
        path.symlink_to("elsewhere")
    else:
        path.mkdir()
        (path / kind).write_text("mine")


@pytest.mark.parametrize("kind", ["file", "link", "thesis.txt", "labels"])
def test_other_folders_are_left_alone(kind, svm_train, on_disk, tmp_path):
    strange(kind, tmp_path / "d.rows")
    before = sorted(tmp_path.rglob("*"))
    status, _, words = svm_train("-q", "-s", 2, *MEMORY, "d", "m", data="1 1:1\n-1 1:2\n")
    assert status == 1 and "it exists and is no folder of rows" in words
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "d"])
    assert svm_train("-q", "-s", 2, *MEMORY, "--no-cache", "d", "m")[0] == 0
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "d", tmp_path / "m"])
