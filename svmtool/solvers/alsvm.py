"""ALSVM: the linear LS-SVM to which rows can be added and from which rows can be removed.
Paper: T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: Section IV.
Eqs. 3-6 add rows, 7-10 remove them; Algorithm 1 (training) adds all rows to none.
Here is the engine (--method fast); papers/lssvm.py is the algorithm as printed.

Notation   paper: G   A y   nu        code (objectives/normal_equations.py): S + nu I   b   1/(2C)
Differs from the paper in:
 1. S and A y are kept instead of P = G^-1 and w: a block of rows changes them by one product, in either direction, and
    a removal loses no more digits than it must, where Eq. 8 divides by 1 - a.  P w = A y then costs d^3/3, as
    much as d/3 of the paper's updates.
 2. C, the class weights of known labels and the bias feature may be other ones from one training to the next.
 3. Several classes: one G, a right-hand side for each.
training/adapting/adaptable.py adds rows to a model and removes them; this file trains, as exactly as lssvm.py.
Stops when: the certified relative gap reaches the target.
Memory: d x d for G and again for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule
from svmtool.solvers.shared.least_squares import SUMS, by_sums

METHODS = {"sums": SUMS}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Return the plan: there is one method."""
    return Plan("sums", "an adaptable model keeps them")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None); SvmtoolError for a task without equations."""
    if task.equations is None:
        raise SvmtoolError(
            f"an adaptable model keeps a matrix of features x features: {task.rows.d} are too many (use -s 70)"
        )
    return by_sums(task.equations, task, monitor, rule, start)
