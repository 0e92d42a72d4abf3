"""What an audit finds, in numbers and in words."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

VAGUE_SHARE, VAGUE_GAP = 0.1, 1e-3  # of the excess; of the engine, below which its labels count as the optimum's


class Audit(NamedTuple):
    """How far one model is from the optimum of a problem.

    Attributes
    ----------
    name : str
        The model's file, or its class.
    problem : str
        The problem in the options of svm-train.
    primal : float
        The objective value of the model.
    optimum : float
        That of the engine's model.
    bound : float
        A certified lower bound of the minimum.
    size : float
        What distances are relative to: the size of the bound, or more where a one-class problem's minimum is about 0.
    gap : float
        (P - D) / P of the engine's model.
    estimated : bool
        Whether the bound rests on a sample of kernel values.
    rows : int
        Training rows.
    differ : int or None
        How many of their labels are others at the optimum; None for a regression.
    distance : float or None
        Of a regression: the root of the mean square of the differences of the predictions.
    test_rows, test_differ, test_distance : int, int, float or None
        The same of the test rows, if there are any.
    seconds : float
        Of the engine's run.
    """

    name: str
    problem: str
    primal: float
    optimum: float
    bound: float
    size: float
    gap: float
    estimated: bool
    rows: int
    differ: int | None
    distance: float | None
    test_rows: int | None
    test_differ: int | None
    test_distance: float | None
    seconds: float

    @property
    def excess(self) -> float:
        """(P - D) / size: a bound of how far the model is above the minimum; inf at size 0."""
        above = max(self.primal - self.bound, 0.0)
        return above / self.size if self.size > 0.0 else (math.inf if above > 0.0 else 0.0)

    @property
    def ratio(self) -> float | None:
        """P / D, at least the model's multiple of the minimum; None where the minimum may not be above 0."""
        return self.primal / self.bound if self.bound > 0.0 else None

    def __str__(self) -> str:
        return f"this model's objective is {self.distance_in_words()}; {self.labels_in_words()}"

    @property
    def vague(self) -> bool:
        """Whether much of the excess may be that of the bound: a limit has ended the engine's run."""
        return self.optimum - self.bound > VAGUE_SHARE * max(self.primal - self.bound, 0.0) and self.gap > VAGUE_GAP

    def distance_in_words(self) -> str:
        """`18.2 times the minimum (certified within 1e-06)`."""
        kind = "estimated" if self.estimated else "certified"
        if not math.isfinite(self.gap):
            return f"{self.primal:.6g}; no bound of the minimum was found: raise --max-seconds"
        if self.size == 0.0:
            return f"{self.primal:.6g}, and the minimum may be 0"
        if self.excess <= self.gap:
            return f"the minimum within {self.gap:.1g} ({kind})"
        times = self.excess >= 1.0 and self.ratio is not None
        how = "at most " * self.vague + (
            f"{self.ratio:.3g} times the minimum" if times else f"{100 * self.excess:.3g} % above the minimum"
        )
        return f"{how} ({kind} within {self.gap:.1g})"

    def labels_in_words(self) -> str:
        """`at the optimum 3.1 % of the training labels and 12 of 1,000 test labels differ`."""
        if self.differ is None:
            test = "" if self.test_distance is None else f" and {self.test_distance:.3g} on test rows"
            place = "where the engine ended" if self.vague else "the optimum"
            where = f"{self.distance:.3g} from those of {place} on training rows{test}"
            return f"its predictions are {where}, root mean square"
        test = "" if self.test_differ is None else f" and {self.test_differ:,} of {self.test_rows:,} test labels"
        where = "where the engine ended" if self.vague else "at the optimum"
        return f"{where} {100 * self.differ / self.rows:.3g} % of the training labels{test} differ"

    def json(self) -> str:
        """All numbers as a JSON object; infinite ones as null."""
        return json.dumps(self.numbers())

    def numbers(self) -> dict[str, Any]:
        """All fields, excess and ratio by name, those that are not finite as None."""
        every = {**self._asdict(), "excess": self.excess, "ratio": self.ratio}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in every.items()}


class Audits(tuple):
    """Audits of several models; its text is a table."""

    __slots__ = ()

    def __str__(self) -> str:
        cells = [("model", "objective", "lower bound", "above it", "labels that differ", "test labels")]
        for a in self:
            here = f"{100 * a.differ / a.rows:.3g} %" if a.differ is not None else f"by {a.distance:.3g}"
            test = "–" if a.test_distance is None else f"by {a.test_distance:.3g}"
            test = test if a.test_differ is None else f"{a.test_differ:,} of {a.test_rows:,}"
            above = f"{100 * a.excess:.3g} %" if math.isfinite(a.excess) else "no bound"
            cells.append((a.name, f"{a.primal:.9g}", f"{a.bound:.9g}", above, here, test))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(n) for c, n in zip(row[1:], widths[1:], strict=True))])
            for row in cells
        )

    def json(self) -> str:
        """A JSON list."""
        return json.dumps([a.numbers() for a in self])
