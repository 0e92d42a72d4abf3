"""svm-train --spark: training on rows in blocks gives the results of rows in memory, also after losses of blocks.

No Spark is needed here: blocks of this process stand in for those in executors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from naming import case_of
from sampling import pairs_in_turn
from spark_blocks import NUMBERS, Here, cut, every_number, far, in_memory, numbers_text, same, settings_of
from test_odd_data import ODD

from svmtool import registry
from svmtool.distributed.train import DistributedFolds
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight import table
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.training.outcome import Training
from svmtool.training.validation.cross_validation import Folds

pytestmark = pytest.mark.usefixtures("one_thread")


CASES = {
    "plain": {}, "bias": {"bias": 1.0}, "weights": {"class_weights": ((1, 3.0), (2, 0.5))},
    "no-rows-of-a-class": {"class_weights": ((1, 0.0),)}, "small-C": {"C": 1e-3},
}  # fmt: skip


def possible(number: int, case: str) -> bool:
    return case != "bias" or "-B" in registry.supported_options(registry.find(number))


PAIRS = [pair for pair in pairs_in_turn(NUMBERS, [*CASES]) if possible(*pair.values)]


@pytest.mark.parametrize(("number", "case"), PAIRS)
def test_blocks_give_what_memory_gives(number, case, tmp_path):
    settings, text = settings_of(number, **CASES[case]), numbers_text(2 + len(case) % 2)
    same(far(Here(cut(text, 3)), settings), in_memory(text, settings, tmp_path), settings)


def test_sums_of_blocks_of_one_class_each(tmp_path):
    """Of -1 and 1 the second is the first class, wherever it comes."""
    lines = numbers_text(2).splitlines()
    text = "".join(sorted(f"{'-1' if line[0] == '1' else '1'}{line[1:]}\n" for line in lines))
    found, expected = far(Here(cut(text, 3)), settings_of(70)), in_memory(text, settings_of(70), tmp_path)
    same(found, expected, settings_of(70))
    np.testing.assert_allclose(found.model.W, expected.model.W, rtol=1e-6)


@pytest.mark.parametrize("number", NUMBERS[::3])
def test_many_features_take_products_alone(number, tmp_path):
    text, settings = numbers_text(2, n=60, d=1600, density=0.02), settings_of(number, C=0.1)
    same(far(Here(cut(text, 3)), settings), in_memory(text, settings, tmp_path), settings)


@pytest.fixture
def weights(tmp_path) -> str:
    """A file of weights for 150 rows: some are <= 0, and those rows are left out."""
    rng = np.random.default_rng(4)
    path = tmp_path / "weights"
    path.write_text("".join(f"{v:.3f}\n" for v in np.maximum(rng.uniform(-0.2, 3.0, 150), 0.0)))
    return str(path)


@pytest.mark.parametrize(("number", "classes"), pairs_in_turn(NUMBERS, [2, 3]))
def test_rows_with_weights(number, classes, weights, tmp_path):
    """Blocks that are lost get their weights again."""
    settings, text = settings_of(number), numbers_text(classes)
    ranks = Here(cut(text, 3), {6})
    same(far(ranks, settings, weights=weights), in_memory(text, settings, tmp_path, weights), settings)
    assert ranks.costs.restarts == 1


@pytest.mark.parametrize(("nu", "weighted"), [(0.0, False), (0.3, True), (1.0, False)])
def test_a_one_class_svm_of_rows_on_one_side_of_the_origin(nu, weighted, weights, tmp_path):
    """rho equals that of training in memory, too."""
    text = numbers_text(2).replace(":-", ":")
    settings, path = settings_of(21, nu=nu), weights if weighted else None
    found, expected = far(Here(cut(text, 3)), settings, weights=path), in_memory(text, settings, tmp_path, path)
    same(found, expected, settings)
    assert found.model.rho == pytest.approx(expected.model.rho, rel=1e-3)


@pytest.mark.parametrize("number", NUMBERS[::2])
def test_lost_blocks_cost_time_and_no_answer(number):
    """At requests from the first to the last, and again while the layout is set after a loss.

    Each other number loses its blocks once in test_rows_with_weights.
    """
    settings, text = settings_of(number, C=0.1, loss_power=1.0 if number in (30, 31) else 2.0), numbers_text(2)
    whole = Here(cut(text, 3))
    expected = far(whole, settings)
    half, some = whole.asked // 2, np.random.default_rng(number).integers(3, whole.asked, 5)
    lost = {1, 2, half, half + 1, *some, whole.asked}
    ranks = Here(cut(text, 3), lost)
    found = far(ranks, settings)
    assert ranks.costs.restarts == len(lost)
    same(found, expected, settings)


@every_number
def test_odd_data_end_as_in_memory(number, tmp_path):
    """A model of finite numbers, or the message of training in memory; each solver has every fourth set, in turn."""
    settings = Settings.of(solver=number, max_iter=500).with_default_bias()
    for name in [*ODD][NUMBERS.index(number) % 4 :: 4]:
        with case_of(name):
            expected = result_of(lambda text: in_memory(text, settings, tmp_path), ODD[name])
            found = result_of(lambda text: far(Here(cut(text, 2)), settings), ODD[name])
            if isinstance(expected, str) or isinstance(found, str):
                assert found == expected
                continue
            assert np.all(np.isfinite(found.model.W)) and found.model.labels == expected.model.labels
            assert found.certificate.dual <= found.certificate.primal + 1e-9 * abs(found.certificate.primal)
            assert found.warnings == expected.warnings


def result_of(train: Callable[[str], Training], text: str) -> Training | str:
    """What training gives, or its message."""
    try:
        return train(text)
    except SvmtoolError as e:
        return str(e)


@pytest.mark.parametrize(("number", "lost"), pairs_in_turn(NUMBERS[::3], [(), (1, 2, 5, 40)]))
def test_cross_validation_predicts_as_in_memory(number, lost, tmp_path):
    """On the same folds, with models of the same certified gap."""
    settings, text = settings_of(number, C=0.1).replace(stratified=number == 2), numbers_text(3)
    (tmp_path / "d").write_text(text)
    near = Folds(table.read(str(tmp_path / "d")), settings, 3)
    apart = DistributedFolds(Here(cut(text, 4), lost), settings, 3)
    np.testing.assert_array_equal(apart.order, near.order)
    there, _ = apart.evaluate(settings, StopFlag())
    here, _ = near.evaluate(settings, StopFlag())
    if settings.row.kind == "regression":
        np.testing.assert_allclose(there, here, atol=1e-2)
    else:
        assert np.mean(there != here) <= 0.01
