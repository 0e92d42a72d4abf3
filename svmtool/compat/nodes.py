"""Rows as arrays of nodes (index, value), as the low-level functions of LIBLINEAR and LIBSVM take them."""

from __future__ import annotations

from typing import Any

from svmtool.compat.inputs import entries


class Node:
    """One entry of a row.

    Parameters
    ----------
    index : int
        Feature, from 1 on; -1 ends a row.
    value : float
        The feature's value.
    """

    __slots__ = ("index", "value")

    def __init__(self, index: int = 0, value: float = 0.0):
        self.index, self.value = index, value

    def __str__(self) -> str:
        return f"{self.index}:{self.value:g}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.index}, {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self.index, self.value) == (other.index, other.value)

    def __hash__(self) -> int:
        return hash((self.index, self.value))


class feature_node(Node):
    """A node of LIBLINEAR's."""

    __slots__ = ()


class svm_node(Node):
    """A node of LIBSVM's."""

    __slots__ = ()

    def __init__(self, index: int = -1, value: float = 0.0):
        super().__init__(index, value)


def gen_feature_nodearray(xi: Any, feature_max: int | None = None) -> tuple[list[feature_node], int]:
    """Return a row as nodes, and its largest index.

    Parameters
    ----------
    xi : dict, list, tuple or 1-D array, or a tuple of two arrays: indices and values
        The row.
    feature_max : int, optional
        Larger indices are left out.

    Returns
    -------
    nodes : list of feature_node
        Ascending, without zeros; the last two have the index -1, one of which leaves space for a bias.
    max_index : int
        Largest index, 0 for a row without entries.

    Raises
    ------
    TypeError
        For other types of row.
    """
    found = _nodes(feature_node, xi, feature_max, False)
    largest = found[-1].index if found else 0
    return [*found, feature_node(-1, 0.0), feature_node(-1, 0.0)], largest


def gen_svm_nodearray(xi: Any, feature_max: int | None = None, isKernel: bool = False) -> tuple[list[svm_node], int]:
    """Return a row as nodes, and its largest index.

    Parameters
    ----------
    xi, feature_max
        See `gen_feature_nodearray`.
    isKernel : bool
        Whether it is a row of a precomputed kernel: its first element has the index 0 and zeros are kept.

    Returns
    -------
    nodes : list of svm_node
        Ascending; the last one has the index -1.
    max_index : int
        Largest index, 0 for a row without entries.
    """
    found = _nodes(svm_node, xi, feature_max, isKernel)
    largest = found[-1].index if found else 0
    return [*found, svm_node(-1, 0.0)], largest


def _nodes(kind: type, xi: Any, max_index: int | None, serial: bool) -> list[Any]:
    indices, values = entries(xi, serial)
    pairs = zip(indices.tolist(), values.tolist(), strict=True)
    return [kind(index, value) for index, value in pairs if max_index is None or index <= max_index]


def row_of(nodes: Any) -> dict[int, float]:
    """Return a row as a dict; nodes end at the first index -1, other rows are returned as they are."""
    if not (isinstance(nodes, list) and nodes and isinstance(nodes[0], Node)):
        return nodes
    row: dict[int, float] = {}
    for node in nodes:
        if node.index == -1:
            break
        row[node.index] = node.value
    return row
