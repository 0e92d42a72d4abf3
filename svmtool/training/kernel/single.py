"""Regression and one-class problems with kernels: one problem over all rows."""

from __future__ import annotations

import numpy as np

from svmtool.kernels.problems import EpsilonSvr, HardOneClass, KernelProblem, NuSvr, OneClass
from svmtool.models.kernel import KernelModel
from svmtool.training.kernel.dataset import KernelSet
from svmtool.training.kernel.fit import Fitting, KernelTraining
from svmtool.training.validation.folds import GlibcRand


def train(data: KernelSet, fitting: Fitting, rand: GlibcRand | None = None) -> KernelTraining:
    """Train on the rows of `data`; rand draws the folds of -b 1."""
    s = fitting.settings
    fit = fitting.solve(problem(data, fitting))
    support = np.flatnonzero(fit.answer.coef)
    model = KernelModel(
        s.row.word, data.kernel, None, 2, np.array([fit.answer.rho]), fit.answer.coef[None, support], None,
        *data.support(support),
    )  # fmt: skip
    text, lacking = fit.text(), ""
    if s.run.probability and rand is not None:
        from svmtool.training.kernel import calibration

        try:
            if s.row.word == "one_class":
                model.density_marks = calibration.density_marks(model.decision_values(data.table)[:, 0])
            else:
                sigma, more = calibration.laplace_scale(data, fitting, train, rand)
                model.probA = np.array([sigma])
                text += more
        except calibration.NotCalibratedError as e:
            lacking = str(e)
    warnings = [f"WARNING: {doubt}"] if (doubt := fit.answer.doubt) else []
    return KernelTraining(model, [fit], text, warnings, lacking, support)


def problem(data: KernelSet, fitting: Fitting) -> KernelProblem:
    """The problem of the training set."""
    row, s, points = fitting.settings.row, fitting.settings.problem, data.points()
    if row.task == "hard one-class":
        return HardOneClass(points)
    if row.word == "one_class":
        return OneClass(points, s.nu, data.weights)
    cost = s.C if data.weights is None else s.C * data.weights
    if row.word == "nu_svr":
        return NuSvr(points, data.labels, cost, s.nu)
    return EpsilonSvr(points, data.labels, cost, s.p)
