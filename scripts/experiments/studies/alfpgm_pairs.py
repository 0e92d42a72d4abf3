"""ALFPGM, Figures 2 to 4: training time over the number p of pairs in a working set."""

from __future__ import annotations

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import joined, points, verdict

SETS = ("htru2_scale", "magic04_scale", "w8a")
ROWS = 5_000  # of each set
PAIRS = (10, 25, 50, 100, 200)
BEST = (50, 100)  # the paper's optimum
NOISE = 1.1  # times that differ by at most this factor count as equal


def cells(quick: bool) -> list[Cell]:
    data = [Data("breast_cancer", unit=True)] if quick else [Data(name, rows=ROWS, unit=True) for name in SETS]
    return [
        Cell(
            "ours", "kernel -s 60", d, "", {"C": 100.0, "cache_mb": 1000}, PAIRS[::2] if quick else PAIRS, "pairs",
            seconds=4.0 if quick else 25.0,
        )
        for d in data
    ]  # fmt: skip


def conclude(outcomes: list[Outcome]) -> Finding:
    words, checks, tables, plots = [], [], [], []
    for o in outcomes:
        name, pairs = str(o.cell.data), o.cell.steps
        times, rounds = dict(points(o, "step", "seconds")), dict(points(o, "step", "iterations"))
        plots.append(Plot(f"{name}: time over pairs", "pairs p", "seconds", {"ALFPGM": list(times.items())}))
        rows = [[p, times.get(p, o.ended), rounds.get(p, "-")] for p in pairs]
        tables.append(Dataset(name, ["p", "seconds", "rounds"], rows))
        if len(times) < len(pairs):
            words.append(f"{name}: not all p end")
            continue
        p = min(times, key=times.__getitem__)
        inside = min(t for p, t in times.items() if BEST[0] <= p <= BEST[1])
        checks.append(inside <= NOISE * times[p])
        words.append(f"{name}: p = {p} is the fastest, {times[p]:.3g} s, 50 to 100 take {inside:.3g} s at best")
    return Finding(joined(words), verdict(checks), tables, plots)


EXPERIMENTS = (
    Experiment(
        "alfpgm-figures2-4", "Aregbesola and Griva 2022, Figures 2 to 4",
        "working sets of 50 to 100 pairs are the fastest, whatever the size of the set",
        "curves over p on three sets, one of 19,020 rows (MAGIC); 50 <= p <= 100",
        cells, conclude, 75.0,
    ),
)  # fmt: skip
