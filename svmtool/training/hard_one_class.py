"""From rows alone to the linear one-class SVM that leaves none of them out, and back."""

from __future__ import annotations

import numpy as np

from svmtool.problem.certify import Certificate
from svmtool.problem.hard_one_class import AMID, judge_linear
from svmtool.problem.task import Task
from svmtool.solvers.base import Result, Rule
from svmtool.training.one_class import OneClass


class HardOneClass(OneClass):
    """The one problem without slack; see OneClass.  Without costs: of --weights nothing could be made."""

    sparse_only = False

    def task(self, k: int) -> Task:
        t = super().task(k)
        t.sample = self.settings.sample
        return t

    def rule(self, k: int) -> Rule:
        return Rule()

    def summary(self, results: list[Result]) -> str:
        """What a run by samples can say of all rows, and a word on rows that no plane parts from the origin."""
        [result] = results
        text = f"{result.status.advice}\n" if result.status.name == "sample" else ""
        return text if not self.rows.n or np.any(result.w) else f"{text}w = 0: {AMID}\n"

    def judge(self, k: int, result: Result) -> Certificate:
        return judge_linear(self.rows, result.alpha)
