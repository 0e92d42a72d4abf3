"""-s auto: a pure function of the data's shape, its labels and the options, and the same run as with the number."""

from __future__ import annotations

import numpy as np
import pytest
from engine import engine
from naming import case_of
from reference import random_problem, table_of, text_of

from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.training import auto_select
from svmtool.training.auto_select import CANDIDATES, Facts

SHAPES = {"tall": (100_000, 50, 5_000_000), "wide": (2_000, 100_000, 300_000)}


@pytest.mark.parametrize("labels", CANDIDATES)
def test_an_option_is_supported_or_refused(labels):
    options = sorted(registry.COMMON_OPTIONS.union(*(row.supported for row in registry.SOLVERS)))
    for shape, numbers in SHAPES.items():
        facts, first = Facts(*numbers, labels, 3), CANDIDATES[labels][shape == "wide"][0]
        row, reason = auto_select.choose(facts)
        assert row.number == first and all(str(number) in reason for number in numbers)
        for option in options:
            able = [n for n in CANDIDATES[labels][0] if option in registry.supported_options(registry.find(n))]
            with case_of(shape, option):
                if not able:
                    with pytest.raises(SvmtoolError, match=f"supports {option}: choose -s"):
                        auto_select.choose(facts, (option,))
                    continue
                row, reason = auto_select.choose(facts, (option,))
                assert option in registry.supported_options(row)
                assert (f"supports {option}" in reason) == (row.number != first)


@pytest.mark.parametrize(
    "labels, kind",
    [
        ([], "two"), ([3.0, 3.0], "one"), ([1.0, -1.0, 1.0], "two"), ([5.0, 2.0, 9.0], "many"),
        ([1.0, 0.5, 1.0], "real"),
        (range(auto_select.MAX_CLASS_VALUES), "many"), (range(auto_select.MAX_CLASS_VALUES + 1), "real"),
    ],
)  # fmt: skip
def test_kinds_of_labels(labels, kind):
    y = np.array(list(labels), np.float64)
    found = auto_select.facts_of(table_of(np.ones((len(y), 3)), y))
    assert found.labels == kind
    assert found.rows == len(y) and found.nonzeros == 3 * len(y)


@pytest.fixture
def data(tmp_path):
    p = random_problem(3, 40, 5)
    (tmp_path / "rows").write_text(text_of(p.X, p.y))
    return str(tmp_path / "rows")


@pytest.mark.parametrize("options", ["", "-R -B 1 --loss-power 1", "--loss-power 1.5", "-v 3", "-C -v 3 -c 256"])
def test_the_run_is_that_of_the_number(options, data, tmp_path, svm_train):
    status, out, _ = svm_train("-s", "auto", *options.split(), data, "m")
    line, _, rest = out.partition("\n")
    assert status == 0 and line.startswith("-s auto: -s ")
    models = [path.read_bytes() for path in tmp_path.glob("m")]
    assert svm_train(*engine(int(line.split()[3])), *options.split(), data, "m") == (0, rest, "")
    assert [path.read_bytes() for path in tmp_path.glob("m")] == models and len(models) == ("-v" not in options)


def test_explain_says_what_would_be_chosen(data, svm_train):
    for options in ([], ["-c", "3"], ["--loss-power", "1.5"], ["-B", "1"]):
        status, explained, sentence = svm_train("--explain", "-s", "auto", *options, data)
        assert (status, sentence) == (0, "")
        line = svm_train("-s", "auto", *options, data)[1].partition("\n")[0]
        number, name = line.split()[3], line.split()[4].strip("():")
        assert explained.startswith(f"solver       -s {number}, {name}: ")
        facts = dict((line[:13].rstrip(), line[13:]) for line in explained.splitlines())
        assert facts["chosen"] == line.removeprefix("-s auto: ") and facts["method"]
        assert svm_train("--explain", *engine(int(number)), *options, data)[1] == explained.replace(
            f"chosen       {facts['chosen']}\n", ""
        )


def test_explain_needs_the_data_file(svm_train):
    status, _, sentence = svm_train("--explain", "-s", "auto")
    assert status == 1 and "needs the data file" in sentence
