"""The registry is complete, and all texts about solvers come from it."""

from __future__ import annotations

import math
import re

import pytest

from svmtool import params, registry
from svmtool.cli import help_texts as texts
from svmtool.cli.arguments import linear
from svmtool.errors import SvmtoolError, UsageError
from svmtool.solvers.shared import base
from svmtool.training.outcome import advice


@pytest.mark.parametrize("row", registry.SOLVERS + registry.KERNEL_SOLVERS, ids=lambda row: f"{row.number}-{row.name}")
@pytest.mark.parametrize("status", [base.TIME, base.ITERATIONS], ids=str)
def test_advice_at_a_limit_names_options_that_the_solver_has(status, row):
    if status is base.TIME or "--max-iter" in row.supported:
        options_named = re.findall(r"(?<!\S)-\S+", advice(status, row))
        assert options_named and set(options_named) <= registry.supported_options(row)
        assert (len(options_named) > 1) == row.optimal, "what goes to an optimum has a rule to loosen"


def test_help_and_usage_list_what_works():
    for text in (texts.whole_help(), texts.usage()):
        for row in registry.SOLVERS + registry.KERNEL_SOLVERS:
            assert f"-s {row.number}, {row.name}" in text


def test_help_fits_on_two_screens():
    lines = texts.help_text().splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 100
    assert "--help-all" in lines[-1]


@pytest.mark.parametrize("row", registry.SOLVERS + registry.KERNEL_SOLVERS, ids=lambda row: f"{row.number}-{row.name}")
def test_explain_tells_problem_rule_and_paper(row):
    kernel = row in registry.KERNEL_SOLVERS
    settings = (params.Settings.of_kernel if kernel else params.Settings.of)(solver=row.number)
    text = texts.explain(settings)
    for part in (row.objective, row.stopping, row.paper, row.word, "exp(-GAMMA |x-z|^2)" if kernel else row.bias):
        assert part in text
    assert "<= 0.125 (--gap)" in texts.explain(settings.replace(gap=0.125))


def test_option_that_a_row_lacks_is_an_error_naming_those_that_have_it(monkeypatch):
    poor = registry.find(1)._replace(supported=frozenset())
    monkeypatch.setattr(registry, "SOLVERS", tuple(poor if row.number == 1 else row for row in registry.SOLVERS))
    monkeypatch.setitem(registry._BY_KEY, 1, poor)
    able = registry.in_words(row for row in registry.SOLVERS if row.number != 1)
    with pytest.raises(SvmtoolError, match=rf"solver 1 \(l2svc-dual\) does not support --max-seconds: use -s {able}"):
        linear.parse(["--max-seconds", "3", "d"])
    assert linear.parse(["--max-seconds", "3", "-s", "2", "d"]).settings.stopping.max_seconds == 3
    assert "(not -s 1)" in dict((left, right) for left, right in texts.long_option_rows())["--max-seconds T"]
    able = registry.in_words(registry.supporting("--loss-power"))
    assert f"(-s {able} only)" in dict((left, right) for left, right in texts.long_option_rows())["--loss-power P"]


CHECKS = [  # in LIBLINEAR's order: each fault comes before all that follow it
    ({"eps": 0.0}, "ERROR: eps <= 0"),
    ({"C": 0.0}, "ERROR: C <= 0"),
    ({"p": -1.0, "solver": 11}, "ERROR: p < 0"),
    ({"bias": 0.0, "solver": 21}, "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM"),
    ({"regularize_bias": False}, "ERROR: To not regularize bias, must specify -B 1 along with -R"),
    ({"regularize_bias": False, "bias": 1.0, "solver": 1}, "ERROR: -R option supported only for solver L2R_LR, "),
    ({"solver": 8}, "ERROR: unknown solver type"),
]


@pytest.mark.parametrize("changes, sentence", CHECKS, ids=[sentence[7:20] for _, sentence in CHECKS])
def test_checks_keep_the_sentences(changes, sentence):
    with pytest.raises(SvmtoolError) as e:
        params.check_after_reading(params.Settings.of(**changes))
    assert str(e.value).startswith(sentence)
    assert not isinstance(e.value, UsageError)


@pytest.mark.parametrize(
    "changes",
    [{"C": math.nan}, {"C": math.inf}, {"eps": math.nan}, {"bias": math.inf}, {"class_weights": ((1, 2.0), (2, -1.0))}],
)
def test_numbers_that_make_no_problem_are_refused(changes):
    with pytest.raises(SvmtoolError, match="ERROR: "):
        params.check_after_reading(params.Settings.of(**changes))
