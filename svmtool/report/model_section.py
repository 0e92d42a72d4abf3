"""Sections of the report about the model itself: facts, certificate, weights or support vectors."""

from __future__ import annotations

from svmtool.charts.bars import Group, horizontal_bars
from svmtool.formats.names import Names
from svmtool.inspection.facts import certificate_of, facts
from svmtool.inspection.weights import columns, largest
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.report import page

SHOWN_WEIGHTS, SHOWN_WEIGHTS_EACH = 20, 8  # weights
EACH_CLASS = 10  # classes up to which each has a chart


def facts_section(model: LinearModel | KernelModel, names: Names, path: str) -> str:
    """What the model is, and what its certificate says."""
    pairs = facts(model, names, path)
    meaning = ""
    certainty, text = certificate_of(model)
    if text:
        meaning = (
            f"Certificate: the objective value of training lies at most {text.split()[0]} (relatively) above the "
            "smallest possible one. "
        )
        meaning += (
            "A lower bound from the dual problem, computed independently of the solver, proves it."
            if certainty == "Certified"
            else "This is an estimate: decision values were computed again for a sample of the rows only."
        )
    return page.section("The model", page.facts_table(pairs), page.paragraph(meaning) if meaning else "")


def weights_section(model: LinearModel | KernelModel, names: Names, ranked: tuple[int, int] | None) -> str:
    """Bars of the largest weights, or of the support vectors of each class.

    ranked: the classes to show where there are many, the worst and the median.
    """
    every = columns(model, names)
    if not every:
        return _support_vectors(model, names)
    note = ""
    if len(every) > EACH_CLASS:
        chosen = dict.fromkeys(ranked) if ranked is not None and isinstance(model, LinearModel) else range(2)
        note = f"There are {len(every)} decision values; svmtool inspect --class LABEL shows the weights of any class."
        every = [every[k] for k in chosen]
    top = SHOWN_WEIGHTS if len(every) == 1 else SHOWN_WEIGHTS_EACH
    drawings = []
    for column in every:
        bars = [(names.feature(j), float(column.w[j])) for j in largest(column.w, top).tolist()]
        if bars:
            drawings.append((horizontal_bars([Group("", bars)], f"Positive for {column.meaning}", 480), ""))
    return page.section("Largest weights", page.figures(drawings), page.paragraph(note) if note else "")


def _support_vectors(model: LinearModel | KernelModel, names: Names) -> str:
    if not isinstance(model, KernelModel) or model.nr_sv is None or model.labels is None:
        return ""
    pairs = sorted(zip(model.labels, model.nr_sv, strict=True), key=lambda pair: -pair[1])
    bars = [(names.of_class(label), float(n)) for label, n in pairs[:SHOWN_WEIGHTS]]
    more = f"The {SHOWN_WEIGHTS} classes with most of them." if len(pairs) > SHOWN_WEIGHTS else ""
    drawing = horizontal_bars([Group("", bars)], "Support vectors of each class", 480)
    return page.section("Support vectors", page.figures([(drawing, more)]))
