"""Training with a kernel: one problem for each pair of classes, or one over all rows for other kinds of labels."""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from svmtool import params, registry
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.kernels.problems import AnyProblem, EpsilonSvr, HardOneClass, KernelProblem, NuSvr, OneClass
from svmtool.limits import StopFlag
from svmtool.models.kernel import FEATURES_NOTE, KernelModel
from svmtool.params import PRECOMPUTED, Request, Settings, kernel_of, tolerance
from svmtool.solvers.shared.base import Plan, Status
from svmtool.training import intent, pipeline
from svmtool.training.kernel.dataset import ClassPairs, KernelSet, kernel_set, refuse_unusable
from svmtool.training.kernel.fit import Fitting, rule_of, shares_of
from svmtool.training.kernel.solutions import Solutions
from svmtool.training.lines import Sink, SolverLines
from svmtool.training.notices import first_of
from svmtool.training.outcome import Training, notes
from svmtool.training.validation.folds import TOO_MANY, AnyFolds, GlibcRand, Keep


class Job(pipeline.Job):
    """The training of a command with a kernel."""

    def __init__(self, settings: Settings, request: Request, data: Reading, console: Any):
        rows = checked(settings, request, data, console.warn)
        super().__init__(settings, request, rows, rows.table)

    def folds(self, wanted: int, console: Any) -> Any:
        """See pipeline.Job."""
        return KernelFolds(self._rows[0], self.settings, wanted, say=console.solver)

    def train(self, report: Sink, stop: StopFlag, lines: SolverLines) -> Training:
        """See pipeline.Job."""
        return trained(self._rows.pop(), Fitting(self.settings, report, stop, lines=lines))

    def write(self, path: str, done: Training) -> None:
        """See pipeline.Job."""
        kernel.write(path, done.model)


class KernelFolds(AnyFolds):
    """The folds of a training set with a kernel, as LIBSVM draws them.

    rand: continues a sequence of random numbers; None: a new one.  say: receives LIBSVM's text of each training.
    """

    too_many = f"WARNING: # folds ({{}}) > # data ({{}}). {TOO_MANY}"

    def __init__(
        self, data: KernelSet, settings: Settings, wanted: int, rand: GlibcRand | None = None,
        say: Callable[[str], object] = lambda text: None,
    ):  # fmt: skip
        self.data, self._say, self._rand = data, say, rand or GlibcRand(settings.run.seed)
        self._classifies = settings.row.kind == "classification"
        super().__init__(data.table, settings.replace(stratified=self._classifies), wanted, self._rand)

    def evaluate(
        self, settings: Settings, stop: StopFlag, warm: Any = None, keep: Keep | None = None, *_: Any, **__: Any
    ) -> tuple[np.ndarray, bool]:
        """See AnyFolds; models have probabilities with -b 1, and nothing is a warm start."""
        fit, rand, known = trainer(settings), self._rand if self._classifies else None, set(self.warnings)

        def train(k: int, inside: np.ndarray, outside: np.ndarray, share: StopFlag) -> tuple[Any, Any, list[str]]:
            done = fit(self.data.take(inside), Fitting(settings, None, share), rand)
            if stop.set:
                raise KeyboardInterrupt
            if done.lacking:
                raise SvmtoolError(f"ERROR: -v with -b 1: {done.lacking}")
            self._say(done.text)
            new = [text for text in dict.fromkeys(done.warnings) if text not in known]
            known.update(new)
            return done.model, done.status, new

        return self._each(train, stop, keep, 1), False

    def answers(self, model: Any, decisions: np.ndarray) -> np.ndarray:
        """See AnyFolds; with -b 1 the most probable class."""
        if model.labels is None or len(model.labels) < 2 or model.probA is None:
            return model.labels_from(decisions)
        return np.array(model.labels, dtype=np.float64)[np.argmax(model.probabilities(decisions), axis=1)]


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
        warn(*warnings, *intent.unused_queries(settings, table, data.path))
    return rows


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
    from svmtool.training.kernel import fused_pairs

    s, count = fitting.settings, len(pairs.pairs)
    batch, found, together = fused_pairs.batch_of(pairs, fitting), [], set()
    if batch is not None:
        together = {k for i, some in enumerate(batch.partners) for k in pairs.place(i, some).tolist()}
        found.append(f"{fused_pairs.METHOD}: {len(together)} of {count}, {batch.why}")
    rows = pairs.counts.sum(axis=1).tolist()
    alone = sorted(set(range(count)) - together, key=lambda k: -rows[k])
    sizes = [rows[k] for k in alone]
    _, shares = shares_of(s.run.cache_mb, sizes, pairs.row_mb)
    plans: dict[str, list[Plan]] = {}
    for k, share in zip(alone, shares, strict=True):
        plan = _plan(pairs.problem(pairs.points.take(pairs.rows(k)), k), s, share)
        plans.setdefault(plan.method, []).append(plan)
    for name, some in plans.items():
        of_several, why = "" if count == 1 else f"{len(some)} of {count} pairs of classes", some[0].why
        facts = filter(None, (of_several, f"the largest: {why}" if of_several and why else why))
        found.append(": ".join(filter(None, (registry.methods(s.row)[name], "; ".join(facts)))))
    return found


# C = inf: the first cost, which is its growth too, and the largest, in units of the kernel's size.  Beyond, margins are
# round-off.
HARD_GROWTH, MAX_HARD_COST = 1e3, 1e12
INSEPARABLE = Status("inseparable", False, "at C = inf no error is allowed, but the rows need some: choose a finite -c")
ONE_CLASS_WARNING = "WARNING: training data in only one class. See README for details.\n"


class KernelTraining(Training):
    """The Training of problems with a kernel.

    solved: the problems; support: the rows that are support vectors, i8, as in the model.
    """

    def __init__(
        self, model: KernelModel, solved: Solutions, text: Callable[[], str], warnings: list[str], lacking: str,
        support: np.ndarray, used: np.ndarray | None,
    ):  # fmt: skip
        """text: gives the attribute `text`; support: among the rows in use, which are `used`, None for all."""
        super().__init__(model, solved.ends(), solved.certificate(), warnings)
        self.solved, self._text, self.lacking = solved, text, lacking
        self.support = support if used is None else used[support]

    @property
    def text(self) -> str:
        """LIBSVM's text, made when it is asked for: of many small problems that takes longer than the steps."""
        return self._text()


def trained(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """The `trainer`'s training, with the notes of its model; it frees `data` if the caller keeps no reference.

    rand: continues a sequence of random numbers; None: a new one.
    """
    s, n_features, sets = fitting.settings, data.table.n_features, [data]
    del data
    rand = GlibcRand(s.run.seed) if rand is None and s.run.probability else rand
    done = trainer(s)(sets.pop(), fitting, rand)
    own = () if kernel_of(s).kernel_type == PRECOMPUTED else (f"{FEATURES_NOTE}{n_features}",)
    done.model.notes = (*notes(s, done.certificate, done.results), *own)
    return done


def trainer(settings: Settings) -> Callable[..., KernelTraining]:
    """Return train(data, fitting, rand) for the kind of labels; it frees `data` if the caller keeps no reference.

    rand: draws the folds of -b 1, in LIBSVM's order.
    """
    train = one_vs_one if settings.row.kind == "classification" else single
    return functools.partial(without_errors, train) if settings.problem.C == math.inf else train


def without_errors(
    train: Callable[..., KernelTraining], data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None
) -> KernelTraining:
    """Train for C = inf: at larger and larger C, until no coefficient is at its bound.  Then larger C change nothing.

    The certificate is of the problem with that C.  If there is none up to MAX_HARD_COST times the kernel's size, the
    result is that of the last one, with the status INSEPARABLE.
    """
    labels = data.table.labels if fitting.settings.row.kind == "regression" else np.ones(1)
    size, step = HardOneClass(data.points()).size, HARD_GROWTH
    spread = float(np.abs(labels - np.median(labels)).max(initial=0.0)) or 1.0
    while True:
        inner = fitting.changed(True, C=step * spread / size if size > 0.0 else step)
        done = train(data, inner, None if rand is None else copy.deepcopy(rand))
        if fitting.stop.ended() or not any(s.function.bounded for s in done.solved):
            return done
        if step >= MAX_HARD_COST:
            for k, one in enumerate(done.solved):
                if one.function.bounded and one.result.status.converged:
                    one.result.status = INSEPARABLE
                    done.solved[k] = one
            done.results = done.solved.ends()
            return done
        step *= HARD_GROWTH


def one_vs_one(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """Train a classifier; see `trainer`."""
    from svmtool.training.kernel import fused_pairs

    data, used = data.in_use()
    pairs = ClassPairs(data, fitting.settings)
    del data
    solved = fused_pairs.solve(pairs, fitting)
    unsolved = solved.open()
    norms = functools.cache(pairs.points.norms)

    def task(q: int) -> AnyProblem:
        rows, points = pairs.rows(unsolved[q]), pairs.points
        points = points.without_features(rows, norms()) if fitting.stop.ended() else points.take(rows)
        problem = pairs.problem(points, unsolved[q])
        problem.spent = float(solved.columns["spent"][unsolved[q]])
        return problem

    labels = [pairs.label(k) if len(pairs.pairs) > 1 else None for k in unsolved]
    sizes = pairs.counts[unsolved].sum(axis=1).tolist()
    others = fitting.solve_several(task, sizes, labels, pairs.row_mb)
    for k, done in zip(unsolved, others, strict=True):
        solved[k] = done
    lacking, sigmoids = "", None
    own: Iterable[str] = itertools.repeat("", len(solved))
    doubtful: list[str] = []
    if fitting.settings.run.probability and rand is not None:
        from svmtool.training import calibration

        try:
            sigmoids, doubtful, own = calibration.pair_sigmoids(pairs, fitting, one_vs_one, rand)
        except calibration.NotCalibratedError as e:
            lacking = str(e)
    model, support = _model(pairs, solved, sigmoids)

    def text() -> str:
        first = "" if len(pairs.pairs) else ONE_CLASS_WARNING
        texts = itertools.chain.from_iterable(zip(own, solved.texts(), strict=True))
        return first + "".join(texts) + f"Total nSV = {sum(model.nr_sv)}\n"

    warnings = [f"WARNING: class label {label} specified in weight is not found" for label in pairs.missing]
    sentences = [
        f"WARNING: classes {pairs.label(k).replace(' ', ' and ')}: {warning}" for k, warning in solved.warnings()
    ]
    warnings += [*first_of(sentences, f"pairs of classes, of {len(pairs.pairs)} in all,"), *doubtful]
    return KernelTraining(model, solved, text, warnings, lacking, pairs.order[support], used)


def _model(
    pairs: ClassPairs, solved: Solutions, sigmoids: list[tuple[float, float]] | None
) -> tuple[KernelModel, np.ndarray]:
    """Return the model of all pairs and its support vectors as rows of pairs.data, i8: those with a nonzero coefficient
    in some pair.
    """
    data, count = pairs.data, len(pairs.begins)
    number = np.arange(count).repeat(pairs.classes.counts)
    coef = pairs.by_column(solved.coef)
    support = np.flatnonzero(coef.any(axis=0))
    nr_sv = tuple(np.bincount(number[support], minlength=count).tolist())
    probA, probB = (None, None) if sigmoids is None else np.array(sigmoids).reshape(-1, 2).T.copy()
    coef = np.ascontiguousarray(coef[:, support])
    return KernelModel(
        pairs.settings.row.word, data.kernel, tuple(pairs.classes.labels), count, solved.rho(), coef, nr_sv,
        *data.support(support), probA=probA, probB=probB,
    ), support  # fmt: skip


def single(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """Train a regression or a one-class model; see `trainer`."""
    s = fitting.settings
    data, used = data.in_use()
    fit, solved = fitting.solve(problem_of(data, fitting.settings)), Solutions(np.array([0, len(data)]))
    solved[0] = fit
    support = np.flatnonzero(fit.function.coef)
    model = KernelModel(
        s.row.word, data.kernel, None, 2, np.array([fit.function.rho]), fit.function.coef[None, support], None,
        *data.support(support),
    )  # fmt: skip
    text, lacking = fit.text(), ""
    if s.run.probability and rand is not None:
        from svmtool.training import calibration

        try:
            if s.row.word == "one_class":
                values = model.decision_values(data.table)[:, 0]
                model.density_marks = calibration.density_marks(values, data.table.factors)
            else:
                sigma, more = calibration.laplace_scale(data, fitting, functools.partial(KernelFolds, data, rand=rand))
                model.probA = np.array([sigma])
                text += more
        except calibration.NotCalibratedError as e:
            lacking = str(e)
    warnings = [f"WARNING: {warning}"] if (warning := fit.function.warning) else []
    return KernelTraining(model, solved, lambda: text, warnings, lacking, support, used)


def problem_of(data: KernelSet, settings: Settings) -> KernelProblem:
    """The problem of a regression or a one-class model."""
    row, s, points = settings.row, settings.problem, data.points()
    if row.kind == "hard one-class":
        return HardOneClass(points)
    if row.word == "one_class":
        return OneClass(points, s.nu, data.table.weights)
    cost = s.C if data.table.weights is None else s.C * data.table.weights
    if row.word == "nu_svr":
        return NuSvr(points, data.table.labels, cost, s.nu)
    return EpsilonSvr(points, data.table.labels, cost, s.p)
