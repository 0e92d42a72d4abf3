"""Unused features: the model lists their zeros, and no array is as long as the largest index."""

from __future__ import annotations

import pytest

NEAR = "1 1:1 4:0.5\n-1 2:2 3:1\n1 3:-1 4:2\n-1 1:-2 2:1\n1 2:-1 4:1\n-1 1:-1 4:-2\n"
FAR = NEAR.replace("2:", "17:").replace("3:", "999:").replace("4:", "1100000:")
SKIPPED = 15, 981, 1_099_000, 0  # features before the 17th, the 999th and the last, and before the bias
NUMBERS = [3, 5, 21, 43]


def weights(path) -> tuple[str, str]:
    """The text of the weights of a model file, and the text around them."""
    head, _, rest = path.read_text().partition("\nw\n")
    numbers, mark, notes = rest.partition("#")
    return numbers, head + mark + notes


@pytest.mark.parametrize("number", NUMBERS)
def test_the_weights_are_those_of_the_same_rows_with_near_indices(number, svm_train, tmp_path):
    (tmp_path / "near").write_text(NEAR)
    (tmp_path / "far").write_text(FAR)
    for name in ("near", "far"):
        assert svm_train("-q", "-s", number, name, f"{name}.model")[0] == 0
    (W, around), (wide, text) = weights(tmp_path / "near.model"), weights(tmp_path / "far.model")
    first, *lines = W.splitlines(keepends=True)
    zero = "0 " * len(first.split()) + "\n"
    assert wide == first + "".join(zero * skipped + line for skipped, line in zip(SKIPPED, lines, strict=False))
    assert text == around.replace("nr_feature 4", "nr_feature 1100000")


def test_a_kernel_sees_no_features_that_no_row_has(svm_train, tmp_path):
    for name, text in (("near", NEAR), ("far", FAR.replace("1100000:", "2147483647:"))):
        (tmp_path / name).write_text(text)
        assert svm_train("-q", "-t", 2, "-g", 0.5, name, f"{name}.model")[0] == 0
    near, far = ((tmp_path / f"{name}.model").read_text() for name in ("near", "far"))
    assert far == near.replace(" 4:", " 2147483647:").replace(" 3:", " 999:").replace(" 2:", " 17:").replace(
        "# Features: 4", "# Features: 2147483647"
    )
