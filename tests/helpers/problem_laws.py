"""The same problem put differently: for problems that are tuples of X, cost and labels or targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


def restated(p: NamedTuple, labels: str = "", order: np.ndarray | None = None) -> dict[str, NamedTuple]:
    """Problems with the minimiser and the minimum of p, by name.

    labels: the field that holds labels or targets, if there is one.  order: of the rows, by default a random one.
    """
    order = np.random.default_rng(0).permutation(len(p.X)) if order is None else order

    def changed(X: np.ndarray, cost: np.ndarray, rows: np.ndarray) -> NamedTuple:
        return p._replace(X=X, cost=cost, **({labels: getattr(p, labels)[rows]} if labels else {}))

    every = np.arange(len(p.X))
    more = np.append(every, order[-5:])
    return {
        "rows twice at half the cost": changed(np.tile(p.X, (2, 1)), np.tile(p.cost / 2, 2), np.tile(every, 2)),
        "order of rows": changed(p.X[order], p.cost[order], order),
        "rows of cost zero": changed(np.vstack([p.X, -p.X[:5]]), np.append(p.cost, np.zeros(5)), more),
    }
