"""Settings: parts, flat keywords, and what they refuse."""

from __future__ import annotations

import pytest

from svmtool import registry
from svmtool.params import PART_OF, Options, Problem, Run, Settings, Stopping


def test_flat_keywords_set_their_parts():
    s = Settings.of(solver=3, C=0.5, gap=1e-6, seed=7, mu="merit")
    assert s == Settings(Problem(3, 0.5), Stopping(gap=1e-6), Run(seed=7, options=Options("merit")))
    assert s.replace(C=2.0).problem == s.problem._replace(C=2.0)
    assert s.problem.C == 0.5, "replace returns a copy"


def test_no_field_is_in_two_parts():
    kernel = Settings.of_kernel().problem.kernel
    names = [*Problem._fields, *Stopping._fields, *Run._fields, *Options._fields, *kernel._fields]
    assert len(names) == len(set(names)) and set(PART_OF) == set(names) - {"kernel", "options"}


@pytest.mark.parametrize(("make", "name"), [(Settings.of, "Gap"), (Settings.of, "gamma"), (Settings.of_kernel, "cost")])
def test_an_unknown_keyword_is_named(make, name):
    with pytest.raises(TypeError, match=f"'{name}' is not a parameter"):
        make(**{name: 1.0})


@pytest.mark.parametrize(
    ("given", "target"), [({}, 1e-4), ({"eps": 0.1}, None), ({"gap": 1e-9}, 1e-9), ({"gap": 1e-9, "eps": 0.1}, 1e-9)]
)
def test_the_gap_to_stop_at(given, target):
    row = next(row for row in registry.SOLVERS if row.gap_default is not None)
    assert Settings.of(solver=row.number, **given).target == (row.gap_default if not given else target)
