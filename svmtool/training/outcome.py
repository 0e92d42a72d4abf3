"""How a run ends: Ctrl-C, records of its iterations, the solver's log, statuses and exit statuses."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from svmtool.limits import StopFlag
from svmtool.params import Request
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import INTERRUPTED, RULE, Result, Status

WARNING_GAP = 1e-2  # certified gap above which a run ended by the rule of -e prints a warning
NOT_CONVERGED, CTRL_C = 2, 130  # exit statuses


@contextlib.contextmanager
def interruptible(flag: StopFlag | None = None) -> Iterator[StopFlag]:
    """Within this block the first Ctrl-C sets a flag that solvers check, and the second ends the command."""
    flag = StopFlag() if flag is None else flag
    before = signal.getsignal(signal.SIGINT)

    def handle(*received: Any) -> None:
        if flag.set and callable(before):
            before(*received)
        flag.set = True

    try:
        if before is not signal.SIG_IGN:  # else a background job of a shell: keep ignoring
            signal.signal(signal.SIGINT, handle)
    except ValueError:
        before = None  # not the main thread: Python delivers signals elsewhere
    try:
        yield flag
    finally:
        if before is not None and before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def recording(request: Request, target: float | None) -> Iterator[Callable[..., None] | None]:
    """The function that takes solver records for --solver-log and --plot, or None; target: the gap to reach, if any."""
    if not (request.solver_log or request.plot):
        yield None
        return
    from svmtool.training.history import History

    with History(request.solver_log, request.plot, target) as history:
        yield history.record


def worst_status(results: list) -> Status | None:
    """The worst status of all problems: interrupted, else not converged; None if all converged."""
    order = sorted((r.status for r in results), key=lambda s: (s is not INTERRUPTED, s.converged))
    return order[0] if order else None


def advice(status: Status, row: Solver) -> str:
    """Why a run ended, and which options of the solver help."""
    text = status.advice if row.costs and row.kind != "hard one-class" else status.advice.replace(" or lower -c", "")
    rules = [option for option in ("-e", "--gap", "--theta") if option in row.supported]
    return f"{text} or loosen {' or '.join(rules)}" if status.early and rules else text


def vague_gap(results: list) -> float:
    """The largest certified gap of results ended by the rule of -e, if above WARNING_GAP; else 0."""
    return max((r.certified_gap for r in results if r.status is RULE and r.certified_gap > WARNING_GAP), default=0.0)


def exit_status(row: Solver, request: Request, done: Any, model_path: str, interrupted: bool, console: Any) -> int:
    """Print warnings about a run that did not end normally; returns the exit status."""
    status = done.status
    if done.lacking:
        whole = done.lacking.startswith("WARNING")  # LIBSVM's own sentence
        console.warn(done.lacking if whole else f"WARNING: {model_path} holds no probabilities (-b 1): {done.lacking}")
    if status is None:
        return 0
    if status is INTERRUPTED:
        console.warn(f"interrupted: {model_path} holds the best model so far, {done.certificate.line().lower()}")
        return CTRL_C
    if not status.converged:
        text = advice(status, row)
        console.warn(f"WARNING: not converged: {text} ({done.certificate.short()})")
    elif (vague := vague_gap(done.results)) and not request.quiet:
        console.warn(
            f"WARNING: the stopping rule of -e holds, but the optimum may lie up to {100.0 * vague:.2g} % lower "
            f"(certified relative gap {vague:.2g}): use --gap 1e-3 to continue"
        )
    if done.lacking and interrupted:
        return CTRL_C
    if request.strict and (done.lacking or not status.converged or vague_gap(done.results)):
        return NOT_CONVERGED
    return 0


def report_folds(open_ends: Sequence[Status], count: int, row: Solver, strict: bool, console: Any) -> int:
    """Print how many of `count` folds did not converge, and why; returns the exit status."""
    for status in dict.fromkeys(open_ends):
        many = f"{open_ends.count(status)} of {count} folds did not converge"
        console.warn(f"WARNING: {many}: {advice(status, row)}")
    return NOT_CONVERGED if strict and open_ends else 0


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
