"""ALFPGM, Figures 2 to 4: training time over the number p of pairs in a working set."""

from __future__ import annotations

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, points, verdict

SETS = ("htru2_scale", "magic04_scale", "w8a")
ROWS = 2000  # of each set, so that the paper's form converges at every p
PAIRS = (10, 25, 50, 100, 200)
BEST = (50, 100)  # the paper's optimum
NOISE = 1.1  # times that differ by at most this factor count as equal
FORMS = {"the paper's form": True, "svmtool's form": False}
PAPER = "the paper's form"


def cells(quick: bool) -> list[Cell]:
    settings = {"C": 100.0, "cache_mb": 1000, "tolerance": 1e-2}
    data = [Data("breast_cancer", unit=True)] if quick else [Data(name, rows=ROWS, unit=True) for name in SETS]
    return [
        Cell("ours", "kernel -s 60", d, "", {**settings, "paper_form": form}, PAIRS, "pairs", seconds=40.0)
        for d in data for form in FORMS.values()
    ]  # fmt: skip


def conclude(outcomes: list[Outcome]) -> Finding:
    words, checks, tables, plots = [], [], [], []
    for group in by_name(outcomes, tuple(FORMS)):
        name = str(group[PAPER].cell.data)
        curves = {form: points(o, "step", "seconds") for form, o in group.items()}
        plots.append(Plot(f"{name}: time over pairs", "pairs p", "seconds", curves))
        rounds = {form: dict(points(o, "step", "iterations")) for form, o in group.items()}
        heads = ["p", *(f"{form}: {what}" for form in FORMS for what in ("seconds", "rounds"))]
        both = [(dict(curves[form]), rounds[form]) for form in FORMS]
        rows = [[p, *(found.get(p, "-") for pair in both for found in pair)] for p in PAIRS]
        tables.append(Dataset(f"{name}: seconds and rounds", heads, rows))
        if len(curves[PAPER]) < len(PAIRS):
            words.append(f"{name}: not all p end")
            continue
        times = dict(curves[PAPER])
        p = min(times, key=times.__getitem__)
        inside = min(t for p, t in times.items() if BEST[0] <= p <= BEST[1])
        checks.append(inside <= NOISE * times[p])
        words.append(f"{name}: p = {p} is the fastest, {times[p]:.3g} s, 50 to 100 take {inside:.3g} s at best")
    return Finding("; ".join(words) + ".", verdict(checks), tables, plots)


EXPERIMENTS = (
    Experiment(
        "alfpgm-figures2-4", "Aregbesola and Griva 2022, Figures 2 to 4",
        "working sets of 50 to 100 pairs are the fastest, whatever the size of the set",
        "curves over p on three sets, one of 19,020 rows (MAGIC); 50 <= p <= 100",
        cells, conclude,
    ),
)  # fmt: skip
