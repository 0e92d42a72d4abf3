"""Numbers from 30 on run the engine on Spark's data frames: their papers' algorithms need all rows in memory."""

from __future__ import annotations

import pytest

from svmtool import registry

pytest.importorskip("pyspark", reason="needs pyspark and Java")
pytestmark = pytest.mark.spark


def test_the_engine_is_the_only_method():
    from svmtool import spark

    for row in registry.supporting("--spark"):
        settings = spark._settings(row.number, {}, False, False)
        assert not settings.row.printed and settings.row.number == row.number
    with pytest.raises(ValueError, match="has method='fast' only"):
        spark._settings(30, {"method": "paper"}, False, False)
