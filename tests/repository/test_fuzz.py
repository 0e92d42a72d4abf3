"""A fixed sample of `make fuzz`: it finds nothing, and a breach would be reported."""

from __future__ import annotations

import shlex
import subprocess
import sys

import numpy as np
import pytest
from conftest import REPOSITORY

from svmtool.certify.linear import Certificate
from svmtool.cli import console
from svmtool.conversion import delimited
from svmtool.errors import ModelError
from svmtool.formats.models import kernel, text
from svmtool.formats.svmlight import slow_line

sys.path.insert(0, str(REPOSITORY / "scripts"))
from stress import fuzz, fuzz_commands, fuzz_convert, fuzz_files, fuzz_models, fuzz_python, pool  # noqa: E402
from stress.report import Report  # noqa: E402

MORE = [("inputs", 3000), ("python", 4000), ("convert", 3000), ("models-out", 2000), ("rows", 12), ("kills", 4)]
MORE += [("interrupts", 4), ("disks", 4)]


@pytest.mark.parametrize(
    ("kind", "number"),
    [("inputs", 500), ("python", 150), ("rows", 4), ("convert", 100), ("models-out", 100), ("lines", 40)]
    + [("kills", 1), ("interrupts", 1), ("disks", 1)]
    + [pytest.param(*more, marks=pytest.mark.exhaustive) for more in MORE],
)
def test_fuzzing_finds_no_breach(kind, number, tmp_path, monkeypatch):
    """In this process: test_stress_laws.py tries the pool."""

    def run(work, jobs, workers, until):
        for job in jobs:
            yield pool.Done(job, work(lambda *_, **__: None, str(tmp_path), *job), None, "", {}, {}, 0.0)

    monkeypatch.setattr(pool, "run", run)
    report = Report(tmp_path / "breaches")
    fuzz.run({kind: number}, 19, 0, 1, report)
    assert not report.breaches, report.text()
    assert f"\n{number} trials, 0 breaches" in report.text()
    assert {name.partition(":")[0] for name, _ in report.total.endings} == {kind}


def test_every_kind_of_file_is_read_and_refused(tmp_path):
    counts, found = fuzz_files.attempt(8, 0, str(tmp_path), inputs=600)
    assert not found and counts.total() == 600
    assert all(counts[name, "refused"] for name in fuzz_files.KINDS)
    assert all(counts[name, "read"] for name in fuzz_files.KINDS if name != "state")


def test_faulty_reader_is_found_and_its_file_kept(tmp_path, monkeypatch, capsys):
    """The law can fail: with Python's own int() it does."""
    monkeypatch.setattr(slow_line, "parse_integer", int)
    kind = "data to scale"  # alone: states differ from run to run, and with them all inputs that are drawn after one
    monkeypatch.setattr(fuzz_files, "KINDS", {kind: fuzz_files.KINDS[kind]})
    (tmp_path / "work").mkdir()
    report = Report(tmp_path / "breaches")
    tally = fuzz.attempt(lambda *_, **__: None, str(tmp_path / "work"), "inputs", 27, 0, 400)
    [text, *_] = report.add(tally)
    assert "SvmtoolError or success" in text and "4300" in text
    command = shlex.split((tmp_path / "breaches" / "1" / "command").read_text())
    kind, name = command[command.index("--again") + 1 :]
    assert fuzz.again(kind, str(tmp_path / "breaches" / "1" / name)) == 1
    assert "4300" in capsys.readouterr().out
    again = subprocess.run(command, cwd=tmp_path / "breaches" / "1", capture_output=True, text=True, timeout=300)
    assert (again.returncode, again.stdout) == (0, "refused\n")  # there int() is in its place


def test_a_faulty_conversion_is_found(tmp_path, monkeypatch):
    """Values that are rounded, and characters that reach a terminal."""
    monkeypatch.setattr(delimited, "text_of", lambda x: f"{x:.15g}")
    for module in (console, delimited):
        monkeypatch.setattr(module, "visible", str)
    _, found = fuzz_convert.attempt(4, 0, str(tmp_path), tries=80)
    assert {"the same rows after the way back", "no control characters"} <= {breach.law for breach in found}


def test_a_model_with_too_few_digits_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "WHOLE", 6)
    monkeypatch.setattr(fuzz_models, "TRAINED_SHARE", 1.0)
    found = fuzz_models.attempt(3, 0, str(tmp_path), 80)[1]
    assert {breach.law for breach in found} == {"the certificate is about the file"}


def test_a_batch_whose_process_is_lost_leaves_its_file():
    name = fuzz_files.INPUT + "data.gz.gz"
    files = {name: b"\x1f\x8b", "model": b"", "data": b""}
    [breach] = fuzz.of_loss(pool.Done(("inputs", 1, 7, 500), None, "Segmentation fault", "", {}, files, 1.0)).breaches
    assert breach.files == {name: b"\x1f\x8b"}
    assert "Segmentation" in breach.words and "--again data.gz" in breach.command
    [breach] = fuzz.of_loss(pool.Done(("lines", 1, 7, 1), None, "hang", "", {}, files, 1.0)).breaches
    assert breach.law == "no hang" and "--lines 1 --seed 1 --first 7" in breach.command
    lost = pool.Done(("python", 1, 50, 50), None, "Segmentation fault", "", {"number": 73}, {}, 1.0)
    [breach] = fuzz.of_loss(lost).breaches
    assert breach.law == "no crash" and "--python 1 --seed 1 --first 73" in breach.command


def test_unchecked_python_arguments_are_found(tmp_path, monkeypatch):
    """The laws can fail: errors and warnings of numpy, other errors, and results that are no predictions."""
    faults = {
        "no raw error": lambda *_: np.isnan("a"),
        "no other error": lambda *_: int(np.inf),
        "no raw warning": lambda *_: np.float64(1e300) * 1e300,
        "no false result": lambda *_: fuzz_python.check_answers(np.zeros((2, 2, 2)), 2),
    }
    for law, face in faults.items():
        monkeypatch.setattr(fuzz_python, "FACES", {"face": face})
        name, ending, found, _ = fuzz_python.attempt(1, 0, str(tmp_path))
        assert (name, ending, found) == ("face", "breach", law)
    wrong = Certificate(1.0, 2.0, 0.0)
    wrong.gap = 0.0
    with pytest.raises(fuzz_python.Unsound, match="above the primal"):
        fuzz_python.check_values(wrong, True)


def test_a_broken_file_is_found(tmp_path):
    stage = fuzz_commands.Stage(str(tmp_path))
    folder = stage.prepare(k := 0)
    (folder / "out").write_bytes(stage.whole[k]["out"][:-1])
    (folder / "d").write_text("1 1:1\n")
    (folder / ".out.1-00000000.tmp").touch()
    found = stage.check_files(k, folder, "", finished=False) + fuzz_commands.left(folder, "", "")
    assert [one.law for one in found] == ["the old file or the new one", "inputs stay", "nothing is left"]


def test_a_model_without_an_end():
    """/dev/zero, or a small .gz that decompresses to gigabytes."""
    with pytest.raises(ModelError, match="/dev/zero: not a text file: it contains NUL bytes"):
        text.load("/dev/zero")
