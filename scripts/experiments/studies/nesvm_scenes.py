"""NESVM, Figures 6, 8, 10 and 11: time against C with the RBF kernel exp(-|x - x'|^2 / features).

The paper's sets are features of scene images, which are not to be had: sets of about as many rows and features stand
for them, with two classes.  Times are to 1% of the least objective.
"""

from __future__ import annotations

import math
from functools import partial

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, longest_over_shortest, verdict
from experiments.races import leasts, reached, seconds_near

COSTS = (0.01, 1.0, 100.0)
OWN, ENGINE = "NESVM", "svmtool, fast"
# name: tool, method, steps, settings
TOOLS = {
    OWN: ("ours", "kernel -s 50", (None,), {}),
    ENGINE: ("ours", "kernel -s 50", (1e-3,), {"method": "fast"}),
    "LIBSVM": ("libsvm", "-s 0", (0.1, 1e-3), {}),
    "SVMlight": ("svmlight", "rbf", (0.1, 1e-3), {}),
    "SVC (scikit-learn)": ("sklearn", "SVC", (0.1, 1e-3), {}),
    "oneDAL": ("onedal", "SVC", (0.1, 1e-3), {}),
}
PEERS = ("LIBSVM", "SVMlight")  # the paper's, but SVM-Perf, which has no package


def cells(data: Data, limit: float, quick: bool) -> list[Cell]:
    data, costs = (Data("breast_cancer", unit=True), COSTS[::2]) if quick else (data, COSTS)
    return [
        Cell(
            tool, method, data, "hinge", {"C": C, "cache_mb": 1000, **settings}, steps,
            seconds=2.0 if quick else limit,
        )
        for C in costs for tool, method, steps, settings in TOOLS.values()
    ]  # fmt: skip


def conclude(outcomes: list[Outcome]) -> Finding:
    least, rows = leasts(outcomes), by_name(outcomes, list(TOOLS))
    times = [{name: seconds_near(o, least) for name, o in row.items()} for row in rows]
    costs = [row[OWN].cell.settings["C"] for row in rows]
    name = str(rows[0][OWN].cell.data)
    lines = [[C, *(reached(o, least) for o in row.values())] for C, row in zip(costs, rows, strict=True)]
    curves = {n: [(C, t[n]) for C, t in zip(costs, times, strict=True) if math.isfinite(t[n])] for n in TOOLS}
    tables = [Dataset(f"{name}: seconds to 1%", ["C", *TOOLS], lines)]
    plots = [Plot(name, "C", "seconds to 1%", curves)]
    pairs = [(t[OWN], min(t[peer] for peer in PEERS)) for t in times]
    pairs = [(own, peer) for own, peer in pairs if math.isfinite(peer)]
    if not pairs or not any(row[OWN].weights for row in rows):
        return Finding("NESVM or every peer of the paper was not measured.", "not measured", tables, plots)
    ranges = {name: longest_over_shortest([t[name] for t in times]) for name in (OWN, *PEERS)}
    flat = ranges[OWN] <= min(ranges[peer] for peer in PEERS) and math.isfinite(ranges[OWN])
    got = ", ".join(f"{name} {r:.3g}" for name, r in ranges.items() if math.isfinite(r))
    words = (
        f"NESVM reaches 1% at {sum(math.isfinite(t[OWN]) for t in times)} of {len(times)} values of C and is the "
        f"first of the paper's tools at {sum(own <= peer for own, peer in pairs)} of {len(pairs)}; longest over "
        f"shortest time where all are reached: {got or 'none'}."
    )
    return Finding(words, verdict([*(own <= peer for own, peer in pairs), flat]), tables, plots)


def figure(number: int, scenes: str, data: Data, limit: float, budget: float) -> Experiment:
    """One of the figures; scenes: what the paper's set is."""
    return Experiment(
        f"nesvm-figure{number}", f"Zhou et al. 2010, Figure {number}",
        "the shortest training time at every C, and the least sensitive to C", f"a picture for {scenes}; here {data}",
        partial(cells, data, limit), conclude, budget,
    )  # fmt: skip


EXPERIMENTS = (
    figure(
        6, "indoor scenes, 3,500 rows of 544 features, 5 classes", Data("mnist.scale", rows=3_500, unit=True), 6.0, 45.0
    ),
    figure(
        8, "outdoor scenes, some 2,600 rows of 352 features, 13 classes",
        Data("gas-drift.part", rows=2_600, unit=True), 5.0, 35.0,
    ),
    figure(
        10, "sports events, some 1,100 rows of 300 features, 8 classes",
        Data("isolet1", rows=1_100, unit=True), 4.0, 30.0,
    ),
    figure(11, "scenes, 10,000 rows of 500 features, 2 classes", Data("w8a", rows=10_000, unit=True), 12.0, 80.0),
)  # fmt: skip
