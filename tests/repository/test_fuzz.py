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
from svmtool.formats.models import kernel
from svmtool.formats.svmlight import slow_line

sys.path.insert(0, str(REPOSITORY / "scripts"))
from stress import fuzz, fuzz_commands, fuzz_files, fuzz_models, fuzz_python, pool  # noqa: E402
from stress.report import Report  # noqa: E402

SOME = {"inputs": 300, "python": 60, "rows": 2, "convert": 30, "models-out": 2, "lines": 4}
SOME |= {"kills": 1, "interrupts": 1}
MORE = {"inputs": 3000, "python": 4000, "rows": 12, "convert": 3000, "models-out": 2000, "lines": 40}
MORE |= {"kills": 4, "interrupts": 4, "disks": 4}


def fuzzed(folder, monkeypatch, kind: str, number: int, seed: int = 19, first: int = 0) -> Report:
    """The report of some tries in this process: test_stress.py tries the pool."""

    def run(work, jobs, workers, until):
        for job in jobs:
            yield pool.Done(job, work(lambda *_, **__: None, str(folder), *job))

    monkeypatch.setattr(pool, "run", run)
    report = Report(folder / "breaches")
    fuzz.run([kind], number, seed, first, 1, report)
    return report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all kinds, because commands share data and models."""
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize(
    ("kind", "number"),
    [*SOME.items(), *(pytest.param(*more, marks=pytest.mark.exhaustive) for more in MORE.items())],
)
def test_fuzzing_finds_no_breach(kind, number, folder, monkeypatch):
    if number == SOME.get(kind):
        monkeypatch.setattr(fuzz_models, "KNOWN", 2)
    report = fuzzed(folder, monkeypatch, kind, number)
    assert not report.breaches, report.text()
    assert f"\n{number} tried, 0 breaches" in report.text()
    if kind == "inputs":
        tried = {name.rpartition(", ")[0] for _, name in report.counts}
        assert tried == set(fuzz_files.KINDS)


def no_numbers_longer_than_pythons(patch):
    patch.setattr(slow_line, "parse_integer", int)


def values_are_rounded_and_characters_reach_a_terminal(patch):
    patch.setattr(delimited, "text_of", lambda x: f"{x:.15g}")
    for module in (console, delimited):
        patch.setattr(module, "visible", str)


def models_have_six_digits(patch):
    patch.setattr(kernel, "WHOLE", 6)
    patch.setattr(fuzz_models, "TRAINED_SHARE", 1.0)
    patch.setattr(fuzz_models, "SECONDS", "10")  # so that the model does not depend on the time


@pytest.mark.parametrize(
    ("kind", "first", "number", "fault", "laws"),
    [
        ("inputs", 1230, 10, no_numbers_longer_than_pythons, {"SvmtoolError or success"}),
        ("convert", 0, 20, values_are_rounded_and_characters_reach_a_terminal,
         {"the same rows after the way back", "no control characters"}),
        ("models-out", 22, 1, models_have_six_digits, {"the certificate is about the file"}),
    ],
)  # fmt: skip
def test_a_fault_is_found_and_its_files_kept(kind, first, number, fault, laws, tmp_path, monkeypatch):
    """Tries that are known to meet the fault."""
    fault(monkeypatch)
    report = fuzzed(tmp_path, monkeypatch, kind, number, 4, first)
    assert laws <= {group.partition(":")[0] for group in report.groups}, report.text()
    assert len(list((tmp_path / "breaches" / "1").iterdir())) > 1  # command, and what was tried


def test_a_lost_try_leaves_its_files_and_can_be_repeated(tmp_path):
    files = {"input.gz": b"\x1f\x8b"}
    lost = pool.Done(("inputs", 1, 500, 500), None, "Segmentation fault", "", {"number": 573}, files)
    [breach] = fuzz.of_loss(lost).breaches
    assert breach.files == files and "Segmentation" in breach.words and breach.law == "no crash"
    assert "--only inputs --trials 1 --seed 1 --first 573" in breach.command
    argv = [*shlex.split(breach.command), "--results", str(tmp_path)]
    again = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0 and "1 tried, 0 breaches" in again.stdout, again.stderr


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
        report = fuzzed(tmp_path, monkeypatch, "python", 1)
        assert list(report.groups) == [f"{law}: face on python"]
    wrong = Certificate(1.0, 2.0, 0.0)
    wrong.gap = 0.0
    with pytest.raises(fuzz_python.Unsound, match="above the primal"):
        fuzz_python.check_values(wrong, True)


def test_a_broken_file_is_found(folder):
    at = fuzz_commands.stage(fuzz.random.Random(1), folder)
    name = next(iter(at.whole))
    (at.folder / name).write_bytes(b"half of i")
    (at.folder / "d").write_text("1 1:1\n")
    (at.folder / ".out.1-00000000.tmp").touch()
    found = at.files(finished=False) + fuzz_commands.left(at.folder)
    assert [law for law, _ in found] == ["the old file or the new one", "inputs stay", "nothing is left"]
