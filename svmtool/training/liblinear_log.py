"""LIBLINEAR-style solver log, made from a solver's history."""

from __future__ import annotations

import numpy as np

from svmtool.registry import Solver
from svmtool.solvers.shared.base import Result


def liblinear_log(row: Solver, result: Result) -> str:
    """The text that LIBLINEAR's solver of this number prints, from the history of the result."""
    last = result.history[-1]
    if row.space == "dual":
        value = 0.0 - last["bound"]
        lines = f"\noptimization finished, #iter = {result.iterations}\nObjective value = {value:.6f}\n"
        if row.loss == "logistic":  # every row is a support vector
            return lines
        support = last["active"] if result.alpha is None else np.count_nonzero(result.alpha)
        lines += f"nSV = {support}\n"
        if row.word == "ONECLASS_SVM":
            rho = result.w[-1]
            lines += f"rho = {'-' if np.isnan(rho) else ''}{rho:.6f}\n"  # without rows it is C's -nan
        return lines
    if not row.optimal:
        return "".join(
            f"pass {r['iteration']:2d} f {r['objective']:5.3e} rows added {r['active']}\n" for r in result.history[1:]
        )
    if row.regulariser == "|w|_1":
        return _l1_text(row, result)
    found: list[str] = []
    for record in result.history:
        f, g, k = record["objective"], record["gradient"], record["iteration"]
        if k == 0:
            found.append(f"init f {f:5.3e} |g| {g:5.3e}\n")
        else:
            found.append(f"iter {k:2d} f {f:5.3e} |g| {g:5.3e} CG {record['cg']:3d} step_size {record['step']:4.2e} \n")
    return "".join(found)


def _l1_text(row: Solver, result: Result) -> str:
    """The text of -s 5 and 6; -s 6 prints each Newton step."""
    count = result.iterations - 1
    printed = result.history[1 : count + 1]
    steps = "".join(f"iter {r['iteration']:3d}  #CD cycles {r['cg']}\n" for r in printed)
    head = steps + "=========================" if row.loss == "logistic" else ""
    return (
        f"{head}\noptimization finished, #iter = {count}\nObjective value = {result.history[-1]['objective']:f}\n"
        f"#nonzeros/#features = {np.count_nonzero(result.w)}/{len(result.w)}\n"
    )
