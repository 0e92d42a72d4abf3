"""Records behave as typing.NamedTuple's classes do."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import pytest

from svmtool.params import Problem
from svmtool.records import Record


class Ours(Record):
    a: int
    b: str = "two"
    c: float | None = None


class Standard(NamedTuple):
    a: int
    b: str = "two"
    c: float | None = None


@pytest.mark.parametrize("kind", [Ours, Standard])
def test_record(kind):
    x = kind(1, c=3.0)
    assert (x.a, x.b, x.c) == tuple(x) == (1, "two", 3.0)
    assert x == kind(1, "two", 3.0) and hash(x) == hash(kind(1, "two", 3.0)) and x != kind(2, "two", 3.0)
    assert repr(x) == f"{kind.__name__}(a=1, b='two', c=3.0)"
    assert x._replace(a=5, c=None) == kind(5) and kind._fields == ("a", "b", "c")
    assert x._asdict() == {"a": 1, "b": "two", "c": 3.0}
    for copied in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(copied) is kind and copied == x
    with pytest.raises(AttributeError):
        x.a = 2


@pytest.mark.parametrize("kind", [Ours, Standard])
@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, "b", 2.0, 3), {}), ((1,), {"a": 1}), ((1,), {"d": 1})])
def test_wrong_arguments_are_type_errors(kind, values, named):
    with pytest.raises(TypeError):
        kind(*values, **named)


def test_unknown_fields_are_not_replaced():
    with pytest.raises(TypeError):
        Problem()._replace(unknown=1)
