"""FALSVM: the linear LS-SVM of the rows that a pass over all of them finds on the wrong side.
Paper: T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: Algorithm 2.
Here is the engine (--method fast); papers/lssvm.py is the algorithm as printed.

Rows come in random order.  One with y x.w < 0 is added to the model's rows, in closed form (Eqs. 4-6); others are
skipped.  The result is the minimiser of f over the rows added.  The certificate is that of the LS-SVM of all rows, and
states how far from its optimum the result is.

Notation   paper: P   Q = P x   a     code: P - Z'Z (solvers' scale: the inverse of 2 C G)   q   a / 2C
Differs from the paper in:
 1. The first row is added on either side (w = 0 has none on the wrong side), and so is every other until w is not 0.
 2. P is changed for a block of rows at once: until then their vectors are kept in Z.
 3. w changes along +P'x (y - w.x), as Eq. 6 has it; the sign in Algorithm 2 is a slip.
 4. --passes: this many passes, each in an order of its own; a row on the wrong side again is added again.
 5. Rows may come to a model, whose normal equations the task then has: they are taken in the order in which they stand,
    as a stream of rows could not be shuffled either.
Stops when: all passes are made.
Memory: d x d for P and for its change, and MAX_BLOCK vectors of d.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.rows.rand_loops import rand_seed, rand_shuffle
from svmtool.errors import SvmtoolError
from svmtool.objectives.added_rows import AddedRows
from svmtool.objectives.least_squares import LeastSquares
from svmtool.objectives.task import Task
from svmtool.registry.row import ADAPTABLE_FEATURES
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status
from svmtool.tolerances import CALL_NONZEROS, ROWS_AT_ONCE

PASSES = Status("passes", True, "all passes over the rows are made (--passes); the model is not optimal for all rows")

METHODS = {
    "shuffled": "passes over the rows in random order, from zero weights",
    "stream": "passes over the rows in their own order, from the minimiser of the model's normal equations",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose the order of the rows."""
    if task.equations is None:
        return Plan("shuffled", "there is no earlier model")
    return Plan("stream", "rows are added to a model")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Make `task.options.passes` passes; `start` is not used, `stream` needs a task with equations.

    history reports f after each pass, and as `active` the rows added so far; the Result's `taken` how often each row
    was added.
    """
    n, d = task.rows.n, task.rows.d
    if d > ADAPTABLE_FEATURES:
        raise SvmtoolError(f"FALSVM keeps a matrix of features x features: {d} are too many (use -s 70)")
    objective = LeastSquares(task.rows, task.y, task.cost)
    added = AddedRows(task, task.equations if method == "stream" else None)
    random = np.zeros(32, np.int64)
    rand_seed(random, seed)
    some = max(1, min(ROWS_AT_ONCE, int(CALL_NONZEROS / max(added.cost, 1.0))))
    status = _record(objective, monitor, added)
    for _ in range(task.options.passes):
        if status is not None:
            break
        if method == "shuffled":
            rand_shuffle(random, added.order, 0, n)
        at = 0 if d else n  # without features no row changes the weights
        while at < n and status is None:
            at = added.visit(at, min(at + some, n))
            status = monitor.limit()
        status = _record(objective, monitor, added) or status
    result = Result(added.w, status or PASSES, monitor.iterations, monitor.history)
    result.taken = added.taken
    return result


def _record(objective: LeastSquares, monitor: Monitor, added: AddedRows) -> Status | None:
    objective.set_point(added.w)
    f, g = objective.gradient()
    return monitor.step(f, max(objective.bound, 0.0), gradient=float(np.sqrt(g @ g)), active=added.count)
