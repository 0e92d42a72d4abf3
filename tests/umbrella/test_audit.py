"""`svmtool audit`: models in files, what options state, and bad input."""

from __future__ import annotations

import json
import re

import pytest

from svmtool.formats.models import read
from svmtool.inspection.facts import certificate_of


def primal_of(path) -> float:
    return float(re.search(r"primal (\S+?),", certificate_of(read(str(path)))[1])[1])


@pytest.fixture
def train(command, data, tmp_path):
    """Train on a set of `data`; returns the model's path."""

    def run(name: str, *options, file: str = "breast_cancer"):
        assert command("train", "-q", *options, data / file, tmp_path / name).returncode == 0
        return tmp_path / name

    return run


def numbers(command, *words):
    done = command("audit", "--json", *words)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


LINES = [
    "-s 2 -B 1 -R -c .2", "-s 4", "-s 11 -p .3 -c .1", "-s 30 --loss-power 1.5 --gap 1e-3", "-s 3 -w1 3 -B 1",
    "-s 5", "-s 6 -B 1", "-s 13", "-s 21", "-s 52 --method fast", "-t 2 -g .001 -c 3", "-s 2 -t 0", "-t 0 -w1 2",
    "-s 3 -t 2 -g .001", "-s 4 -t 2 -g .001", "-s 73 -t 2 -g .001 --method fast -e 1e-6",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_our_models_state_their_problem(command, train, data, tmp_path, line):
    rows = tmp_path / "d"
    rows.write_text("".join((data / "breast_cancer").read_text().splitlines(keepends=True)[:200]))
    model = train("m", *line.split(), file=rows)
    (found,) = numbers(command, model, rows)
    assert found["primal"] == pytest.approx(primal_of(model), rel=1e-6)
    assert found["bound"] <= found["optimum"] + 1e-9 and found["gap"] <= 1e-6
    assert found["optimum"] <= found["primal"] + 1e-6 * abs(found["primal"])


def test_options_state_what_a_file_does_not(command, train, data):
    noted = train("noted", "-s", 2, "-c", 0.3, "-B", 1, "-w1", 2)
    plain = train("plain", "--plain-model", "-s", 2, "-c", 0.3, "-B", 1, "-w1", 2)
    done = command("audit", plain, data / "breast_cancer")
    assert done.returncode == 1 and done.stdout == b"" and b"state C, as a command's -c" in done.stderr
    (found,) = numbers(command, plain, data / "breast_cancer", "-c", 0.3, "-w1", 2)
    assert found["primal"] == pytest.approx(primal_of(noted), rel=1e-6) and found["excess"] < 1e-3
    assert found["problem"].endswith("-c 0.29999999999999999 -B 1 -w1 2")
    (other,) = numbers(command, "-s", 3, "-c", 0.3, plain, data / "breast_cancer")
    assert other["primal"] > other["bound"] * 1.001


def test_sentence_table_and_test_rows(command, train, data):
    model, file = train("m", "-s", 2, "-e", 0.5), data / "breast_cancer"
    done = command("audit", model, file, "--test", file)
    assert re.fullmatch(
        rb"this model's objective is .* \(certified.*\); at the optimum .* % of the training labels and \d+ of "
        rb"[\d,]+ test labels differ\n", done.stdout,
    )  # fmt: skip
    table = command("audit", model, train("k", "-t", 0), file).stdout.decode().splitlines()
    assert len(table) == 3 and table[0].startswith("model") and table[1].split()[0] == str(model)


def test_row_weights(command, train, data, tmp_path):
    count = len((data / "breast_cancer").read_text().splitlines())
    weights = tmp_path / "w"
    weights.write_text("\n".join(str(1 + i % 3) for i in range(count)))
    model = train("m", "-s", 2, "--weights", weights)
    (found,) = numbers(command, "--weights", weights, model, data / "breast_cancer")
    assert found["primal"] == pytest.approx(primal_of(model), rel=1e-6)


BAD = [
    ([], "name one or more model files"), (["absent", "d"], "can't open absent"),
    (["d", "d"], "can't read d as a model"), (["-v", 5, "m", "d"], "no use for -v"),
    (["-t", 0, "m", "d"], "the model has no kernel"), (["-s", 999, "m", "d"], "unknown solver"),
    (["m", "wide"], "the model has weights of 2 features, the data have 3"), (["m", "other"], "they must agree"),
    (["m", "d", "-B", -1], "has an intercept"), (["-s", 13, "-p", 1, "m", "d"], "the model is of classification"),
    (["--test", "absent", "m", "d"], "absent"), (["--gap", "x", "m", "d"], "--gap"),
]  # fmt: skip


def test_bad_input(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("d", "1 1:1 2:3\n-1 1:-1\n1 2:2\n-1 2:-2\n"), ("wide", "1 3:1\n-1 1:-1\n"), ("other", "1 1:1 2:1\n5 2:1\n"),
        ("bad", "1 1:x\n"),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    assert command("train", "-q", "-s", 2, "-B", 1, "d", "m").returncode == 0
    for argv, sentence in BAD:
        done = command("audit", *argv)
        error = done.stderr.decode()
        assert done.returncode == 1 and sentence in error and done.stdout == b"", (argv, error)
        assert "Traceback" not in error and len(error.splitlines()) <= 1 + error.count("Usage"), (argv, error)
