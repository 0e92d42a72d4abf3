"""`svmtool audit`: models in files, what options state, and bad input."""

from __future__ import annotations

import json
import re

import pytest

from svmtool.cli import entry
from svmtool.cli.umbrella import group
from svmtool.formats.models import read
from svmtool.inspection.facts import certificate_of


def primal_of(path) -> float:
    return float(re.search(r"primal (\S+?),", certificate_of(read(str(path)))[1])[1])


@pytest.fixture
def audit(tmp_path, monkeypatch, capsys):
    """Run `svmtool audit` in this process in the temporary folder; status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*argv) -> tuple[int, str, str]:
        return entry.guarded(lambda: group.main(["audit", *map(str, argv)])), *capsys.readouterr()

    return run


@pytest.fixture
def train(svm_train, data):
    """Train on 200 rows, the file d; returns the model's path."""
    rows = "".join((data / "breast_cancer").read_text().splitlines(keepends=True)[:200])

    def run(name: str, *options) -> str:
        assert svm_train("-q", *options, "d", name, data=rows)[0] == 0
        return name

    return run


def numbers(audit, *words):
    status, out, err = audit("--json", *words)
    assert (status, err) == (0, "")
    return json.loads(out)


LINES = [
    "-s 2 -B 1 -R -c .2", "-s 4", "-s 11 -p .3 -c .1", "-s 30 --loss-power 1.5 --gap 1e-3", "-s 6 -B 1", "-s 13",
    "-s 21", "-s 52 --method fast", "-s 2 -t 0", "-t 0 -w1 2", "-s 4 -t 2 -g .001", "-s 73 -t 2 -g .001 --method fast",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_our_models_state_their_problem(audit, train, line):
    train("m", *line.split())
    (found,) = numbers(audit, "m", "d")
    assert found["primal"] == pytest.approx(primal_of("m"), rel=1e-6)
    assert found["bound"] <= found["optimum"] + 1e-9 and found["gap"] <= 1e-6
    assert found["optimum"] <= found["primal"] + 1e-6 * abs(found["primal"])


def test_options_state_what_a_file_does_not(audit, train):
    train("noted", "-s", 2, "-c", 0.3, "-B", 1, "-w1", 2)
    train("plain", "--plain-model", "-s", 2, "-c", 0.3, "-B", 1, "-w1", 2)
    status, out, err = audit("plain", "d")
    assert (status, out) == (1, "") and "state C, as a command's -c" in err
    (found,) = numbers(audit, "plain", "d", "-c", 0.3, "-w1", 2)
    assert found["primal"] == pytest.approx(primal_of("noted"), rel=1e-6) and found["excess"] < 1e-3
    assert found["problem"].endswith("-c 0.29999999999999999 -B 1 -w1 2")
    (other,) = numbers(audit, "-s", 3, "-c", 0.3, "plain", "d")
    assert other["primal"] > other["bound"] * 1.001


def test_sentence_table_and_test_rows(audit, train):
    train("m", "-s", 2, "-e", 0.5)
    assert re.fullmatch(
        r"this model's objective is .* \(certified.*\); at the optimum .* % of the training labels and \d+ of "
        r"[\d,]+ test labels differ\n", audit("m", "d", "--test", "d")[1],
    )  # fmt: skip
    table = audit("m", train("k", "-t", 0), "d")[1].splitlines()
    assert len(table) == 3 and table[0].startswith("model") and table[1].split()[0] == "m"


def test_row_weights(audit, train, tmp_path):
    (tmp_path / "w").write_text("\n".join(str(1 + i % 3) for i in range(200)))
    train("m", "-s", 2, "--weights", "w")
    (found,) = numbers(audit, "--weights", "w", "m", "d")
    assert found["primal"] == pytest.approx(primal_of("m"), rel=1e-6)


BAD = [
    ([], "name one or more model files"), (["absent", "d"], "can't open absent"),
    (["d", "d"], "can't read d as a model"), (["-v", 5, "m", "d"], "no use for -v"),
    (["-t", 0, "m", "d"], "the model has no kernel"), (["-s", 999, "m", "d"], "unknown solver"),
    (["m", "wide"], "the model has weights of 2 features, the data have 3"), (["m", "other"], "they must agree"),
    (["m", "d", "-B", -1], "has an intercept"), (["-s", 13, "-p", 1, "m", "d"], "the model is of classification"),
    (["--test", "absent", "m", "d"], "absent"), (["--gap", "x", "m", "d"], "--gap"),
]  # fmt: skip


def test_bad_input(audit, svm_train, tmp_path):
    (tmp_path / "wide").write_text("1 3:1\n-1 1:-1\n")
    (tmp_path / "other").write_text("1 1:1 2:1\n5 2:1\n")
    svm_train("-q", "-s", 2, "-B", 1, "d", "m", data="1 1:1 2:3\n-1 1:-1\n1 2:2\n-1 2:-2\n")
    for argv, sentence in BAD:
        status, out, err = audit(*argv)
        assert (status, out, err.count("\n")) == (1, "", 1) and sentence in err, (argv, err)
