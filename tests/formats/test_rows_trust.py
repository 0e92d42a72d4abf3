"""FILE.rows is verified before use: whatever it contains, the model is that of the data file."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from test_on_disk import MEMORY, on_disk, parses, signed  # noqa: F401  fixtures

from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache import folder as row_folder

TEXT = "1 1:0.5 3:2 7:-1\n-1 2:1 3:1\n1 1:2 7:0.25\n-1 3:-4\n-1 1:-1 2:0.5 3:0.125\n"
MADE_ANEW = "are not used and are written again"
TRAIN = ("-q", "-s", 2, *MEMORY, "d")


@pytest.fixture
def made(svm_train, on_disk, tmp_path) -> Path:  # noqa: F811
    """A folder of rows written by a run; its model is `m`."""
    assert svm_train(*TRAIN, "m", data=TEXT) == (0, "", "")
    return tmp_path / "d.rows"


def check_made_anew(svm_train, folder: Path, words: str) -> None:
    """A run warns, gives the same model, and leaves a folder that the next run uses without a warning."""
    status, _, said = svm_train(*TRAIN, "m2")
    assert status == 0 and MADE_ANEW in said and words in said and said.count("\n") == 1
    assert (folder.parent / "m").read_bytes() == (folder.parent / "m2").read_bytes()
    assert svm_train(*TRAIN, "m3") == (0, "", "")
    assert sorted(os.listdir(folder.parent)) == ["d", "d.rows", "m", "m2", "m3"]


def change(folder: Path, name: str, place: int, value: float, true_sum: bool = False) -> None:
    """Change an entry of an array, and optionally its checksum in the header."""
    array = np.fromfile(folder / name, arrays.ARRAYS[name])
    array[place] = value
    array.tofile(folder / name)
    if true_sum:
        sums = json.loads((folder / "header.json").read_text())["sums"]
        signed(folder / "header.json", sums={**sums, name: arrays._checksum(array, 0)})


@pytest.mark.parametrize("name", arrays.ARRAYS)
def test_a_changed_entry_is_seen(name, made, svm_train):
    change(made, name, 2, 4)
    check_made_anew(svm_train, made, f"{name} is damaged")


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("indices", 0, -1), ("indices", 2, 7), ("indices", 1, 0), ("indptr", 0, 1), ("indptr", 1, 2**40),
        ("indptr", 5, 10), ("values", 3, np.nan), ("labels", 1, np.nan),
    ],
)  # fmt: skip
def test_loops_never_see_invalid_input(name, place, value, made, svm_train):
    """Even with valid checksums."""
    change(made, name, place, value, true_sum=True)
    check_made_anew(svm_train, made, "is damaged")


@pytest.mark.parametrize("text", ["", "[]", "[" * 15000, '{"rows": ' + "9" * 5000 + "}", "\xff"], ids=lambda t: t[:8])
def test_invalid_header_is_refused(text, made, svm_train):
    (made / "header.json").write_text(text, encoding="latin-1")
    check_made_anew(svm_train, made, "header.json is damaged")


def test_a_header_without_its_digest_is_refused(made, svm_train):
    """Fewer features than there are: loops would write beyond their arrays."""
    header = made / "header.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "features": 2}))
    check_made_anew(svm_train, made, "header.json is damaged")


@pytest.mark.parametrize("options", [[], ["-q"], ["--no-cache"]], ids=str)
def test_new_rows_are_named_with_their_size(options, svm_train, on_disk):  # noqa: F811
    """Neither with -q or --no-cache, nor by the run that uses them."""
    _, _, err = svm_train("-s", 2, *MEMORY, *options, "d", "m", data=TEXT)
    told = re.findall(r"^d.rows: rows kept for the next run, [\d.e-]+ MB \(--no-cache: not kept\)$", err, re.MULTILINE)
    assert len(told) == (not options)
    assert "rows kept" not in svm_train("-s", 2, *MEMORY, *options, "d", "m")[2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("values", "link"), ("header.json", "link"), ("indices", "fifo"), ("labels", "writable"), ("indptr", "longer"),
     ("values", "short")],
)  # fmt: skip
def test_files_of_other_kinds_are_not_opened(name, kind, made, svm_train, tmp_path):
    file = made / name
    if kind == "link":
        text = file.read_bytes()
        file.unlink()
        (tmp_path.parent / "elsewhere").write_bytes(text)
        file.symlink_to("../../elsewhere")
    elif kind == "fifo":
        file.unlink()
        os.mkfifo(file, 0o600)
    elif kind == "writable":
        file.chmod(0o666)
    else:
        os.truncate(file, file.stat().st_size + (8 if kind == "longer" else -8))
    words = {"link": "cannot be opened", "fifo": "not a regular file", "writable": "others may write to"}
    check_made_anew(svm_train, made, words.get(kind, name))


def test_a_folder_that_others_may_write_to_is_made_anew(made, svm_train):
    made.chmod(0o777)
    check_made_anew(svm_train, made, "others may write to the folder")


@pytest.mark.parametrize("link", [False, True])
def test_the_folder_of_another_user_is_neither_used_nor_touched(link, made, svm_train, monkeypatch, tmp_path):
    if link:
        made.rename(tmp_path / "theirs")
        made.symlink_to("theirs")
    before = sorted(path.read_bytes() for path in made.iterdir())
    theirs = os.lstat(made).st_ino
    for module in (arrays, row_folder):
        monkeypatch.setattr(module, "is_mine", lambda facts: facts.st_ino != theirs)
    for more in ((), ("--no-cache",)):
        status, _, said = svm_train(*TRAIN[:-1], *more, "d", "m2")
        assert status == 0 and "belongs to another user" in said
        assert (tmp_path / "m").read_bytes() == (tmp_path / "m2").read_bytes()
        assert sorted(path.read_bytes() for path in made.iterdir()) == before
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_rows_are_for_their_owner_alone(svm_train, on_disk, tmp_path):  # noqa: F811
    (tmp_path / "d").write_text(TEXT)
    (tmp_path / "d").chmod(0o600)
    before = os.umask(0)
    try:
        assert svm_train(*TRAIN, "m") == (0, "", "")
    finally:
        os.umask(before)
    folder = tmp_path / "d.rows"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
