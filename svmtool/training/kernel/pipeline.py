"""The flow of svm-train with a kernel: read -> rows -> problems -> solve -> certify -> model -> write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import __version__, interrupts, params, registry
from svmtool.data.labels import balanced_weights
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.kernels.problems import AnyProblem
from svmtool.models.kernel import FEATURES_NOTE
from svmtool.params import KERNEL_NAMES, PRECOMPUTED, Request, Settings, kernel_of, tolerance
from svmtool.progress import doing
from svmtool.solvers.shared.base import Plan
from svmtool.training import intent
from svmtool.training.interruption import interruptible
from svmtool.training.kernel.dataset import ClassPairs, KernelSet, kernel_set, refuse_unusable
from svmtool.training.kernel.fit import Fitting, KernelTraining, rule_of, shares_of
from svmtool.training.kernel.train import problem_of, trainer
from svmtool.training.lines import SolverLines, beats
from svmtool.training.notices import advice
from svmtool.training.outcome import exit_status, recording
from svmtool.training.validation.folds import GlibcRand


def run(s: Settings, request: Request, data: Reading, model_path: str, console: Any) -> int:
    """svm-train after its command line; returns the exit status."""
    rows = checked(s, request, data, console.warn)
    if request.balanced:
        balanced = balanced_weights(rows.labels, rows.weights)
        s = s.replace(class_weights=s.problem.class_weights + balanced)
    stop = data.stop  # the time of the whole command
    rand = GlibcRand(s.run.seed)
    if request.folds is not None:
        from svmtool.training.kernel.validation import run_validation
        from svmtool.training.validation.report import nothing_kept

        with nothing_kept(request, console, stop):
            return run_validation(rows, Fitting(s, None, stop), rand, request, console)[1]
    n_features = rows.table.n_features
    sets = [rows]  # the only reference, so that training can free its memory
    del rows
    lines = SolverLines(s.row, console)
    with recording(request, s.target) as history, interruptible(stop, console, beats=beats(lines, history)):
        with doing("training"):
            done = trainer(s)(sets.pop(), Fitting(s, history and history.record, stop, lines=lines), rand)
        console.solver(done.text + done.certificate.line() + "\n")
        done.model.notes = () if request.plain_model else notes(s, done, n_features)
        kernel.write(model_path, done.model)
        interrupts.loss = ""
    return exit_status(s.row, request, done, model_path, stop.set, console)


def checked(
    settings: Settings, request: Request, data: Reading, warn: Callable[[str], None] | None = None
) -> KernelSet:
    """The training set, after the checks in LIBSVM's order; SvmtoolError for the first fault.

    warn: of odd labels and of weights that leave rows out.
    """
    table = data.table()
    if not len(table):
        raise SvmtoolError(f"{data.path} has no rows: there is nothing to train on")
    rows = kernel_set(table, settings, data.path)
    params.check_kernel_after_reading(settings)
    rows = KernelSet(weighted(table, request.weights, warn), rows.kernel)
    refuse_unusable(rows, settings)
    warnings = intent.warnings(settings, request.given, table.labels, data.path)
    if warn is not None:
        warn(*warnings)
    return rows


def notes(s: Settings, done: KernelTraining, n_features: int) -> tuple[str, ...]:
    """Lines for the model file behind the support vectors: version, options, certificate, status, features."""
    number = kernel_of(s).kernel_type
    asked = f"-s {s.row.number} ({s.row.name}) -t {number} ({KERNEL_NAMES[number]})"
    asked += f" --method {s.problem.method}" if "--method" in s.row.supported else ""
    asked += f" -c {s.problem.C:.17g}" if "-c" in registry.supported_options(s.row) else ""
    if "-n" in s.row.supported:
        asked += f" -n {s.problem.nu:.17g}"
    if "-p" in s.row.supported:
        asked += f" -p {s.problem.p:.17g}"
    asked += f" -e {tolerance(s):g}" if s.target is None or s.row.printed else ""
    asked += "" if s.target is None else f" {s.row.gap_option(s.target)}"
    asked += "" if s.run.options.boundary == "theta" else f" --boundary {s.run.options.boundary}"
    asked += " -b 1" if s.run.probability else ""
    return (
        f"# svmtool {__version__}: {asked}",
        f"# {done.certificate.line()}",
        "# Stopped: " + "; ".join(dict.fromkeys(advice(f.result.status, s.row) for f in done.solved)),
        *([] if number == PRECOMPUTED else [f"{FEATURES_NOTE}{n_features}"]),
    )


def methods(settings: Settings, request: Request, data: Reading) -> tuple[Settings, list[tuple[str, str]]]:
    """--explain: the settings, and a fact for each method with which problems begin; SvmtoolError as in training."""
    with np.errstate(all="ignore"):
        rows, fitting = checked(settings, request, data).in_use()[0], Fitting(settings)
        if settings.row.kind == "classification":
            found = _of_pairs(ClassPairs(rows, settings), fitting)
        else:
            plan = _plan(problem_of(rows, settings), settings, settings.run.cache_mb)
            found = registry.planned(settings.row, [plan])
    return settings, [("method", text) for text in found]


def _plan(problem: AnyProblem, settings: Settings, cache_mb: float) -> Plan:
    """The plan of the settings' solver for one problem, which has cache_mb for kernel rows."""
    problem.cache_mb, problem.options = cache_mb, settings.run.options
    return registry.planner(settings.row)(problem, rule_of(tolerance(settings)))


def _of_pairs(pairs: ClassPairs, fitting: Fitting) -> list[str]:
    """A line for each method; of several pairs of classes with their number, and the reason of the largest."""
    from svmtool.training.kernel import fused_pairs, pair_values

    s, count = fitting.settings, len(pairs.pairs)
    batch, found, together = fused_pairs.batch_of(pairs, fitting), [], set()
    if batch is not None:
        together = {batch.place[i, j] for i, some in enumerate(batch.partners) for j in some}
        found.append(f"{pair_values.METHOD}: {len(together)} of {count}, {batch.why}")
    alone = sorted(set(range(count)) - together, key=lambda k: -sum(pairs.counts[k]))
    sizes = [sum(pairs.counts[k]) for k in alone]
    shares = [s.run.cache_mb] if len(alone) == 1 else shares_of(s.run.cache_mb, sizes, pairs.row_mb)[1]
    plans: dict[str, list[Plan]] = {}
    for k, share in zip(alone, shares, strict=True):
        plan = _plan(pairs.problem(pairs.points.take(pairs.rows(k)), k), s, share)
        plans.setdefault(plan.method, []).append(plan)
    for name, some in plans.items():
        of_several, why = "" if count == 1 else f"{len(some)} of {count} pairs of classes", some[0].why
        facts = filter(None, (of_several, f"the largest: {why}" if of_several and why else why))
        found.append(": ".join(filter(None, (registry.methods(s.row)[name], "; ".join(facts)))))
    return found
