"""SGD-LSSVM (Nguyen et al. 2015).

Table II and Figures 2 to 5: kernel least squares (RBF) beside C-SVC, and the number t of variables.
"""

from __future__ import annotations

import math

from experiments import measures
from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Tool, grid
from experiments.measures import accuracies, geometric_mean, groups, joined, named, ratios, slope, times, verdict

SETS = {  # C and gamma
    "a9a": (1.0, 0.05), "cod-rna.std": (1.0, 0.1), "mushrooms": (1.0, 0.05), "svmguide1": (10.0, 5.0),
    "shuttle.scale": (10.0, 1.0), "ijcnn1": (10.0, 2.0), "splice_scale": (1.0, 0.02),
}  # fmt: skip
ROWS = 4_000  # of larger sets, so that t = 1 ends
ALGORITHM, ENGINE, LIBSVM = "SGD-LSSVM, t = 1", "svmtool, fast", "LIBSVM"
TOOLS = {
    ALGORITHM: Tool("ours", "kernel -s 73", {"sgd_rows": 1}),
    "t = 2": Tool("ours", "kernel -s 73", {"sgd_rows": 2}),
    ENGINE: Tool("ours", "kernel -s 73", {"method": "fast"}),
    LIBSVM: Tool("libsvm", "-s 0"),
    "oneDAL": Tool("onedal", "SVC"),
}
GROWING = {tool: TOOLS[tool] for tool in (ALGORITHM, ENGINE, LIBSVM)}
POINT = 0.01  # accuracies that differ by at most this much are comparable
STANDS = {"farm-ads": "rcv1"}
VARIED = {"ijcnn1": (1.0, 2.0), "farm-ads": (1.0, 0.01)}
VARIED_ROWS = 1_500  # so that all t end
T = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SIZES = {"ijcnn1": (1_000, 2_000, 4_000, 6_000, 8_000, 10_000), "farm-ads": (400, 800, 1_600, 2_400, 3_300)}
SAME = 1.1  # times that differ by at most this factor count as equal


def asked(C: float, gamma: float) -> dict:
    return {"C": C, "gamma": gamma, "cache_mb": 1000}


def table_cells(quick: bool) -> list[Cell]:
    limit, sets = (4.0, {"diabetes": (1.0, 1.0)}) if quick else (15.0, SETS)
    return [
        cell for name, values in sets.items()
        for cell in grid(TOOLS, [Data(name, rows=ROWS, unit=True)], asked(*values), seconds=limit)
    ]  # fmt: skip


def varied_cells(quick: bool) -> list[Cell]:
    sets = [(Data(name, rows=VARIED_ROWS), asked(*values)) for name, values in VARIED.items()]
    sets = [(Data("diabetes", unit=True), asked(1.0, 1.0))] if quick else sets
    one, steps = {"t": Tool("ours", "kernel -s 73")}, T[::4] if quick else T
    limit = 20.0 if quick else 30.0
    return [cell for d, values in sets for cell in grid(one, [d], values, steps, vary="sgd_rows", seconds=limit)]


def growth_cells(quick: bool) -> list[Cell]:
    return [
        cell for name, some in ({"digits": (400, 800)} if quick else SIZES).items()
        for cell in grid(GROWING, [Data(name)], asked(*VARIED.get(name, (1.0, 0.001))), some, vary="rows")
    ]  # fmt: skip


def table(outcomes: list[Outcome]) -> Finding:
    rows = groups(outcomes)
    faster, near = [], []
    for row in rows:
        own, peer = row[ALGORITHM], row[LIBSVM]
        if peer.ended == "done" and own.ended in ("done", "over time"):
            faster.append(own.seconds < peer.seconds)
            near.append(own.fact("accuracy") >= peer.fact("accuracy") - POINT)
    over = ratios([row[LIBSVM] for row in rows], [row[ALGORITHM] for row in rows])
    words = "LIBSVM was not measured."
    if faster:
        words = (
            f"With t = 1 it is faster than LIBSVM on {sum(faster)} of {len(faster)} sets ("
            f"{geometric_mean(over):.2g} times in geometric mean where both ended); accuracy within a point of "
            f"LIBSVM's on {sum(near)}."
        )
    tables = [times(outcomes, "Seconds of training alone"), accuracies(outcomes)]
    each = [row[ALGORITHM].fact("iterations") / row[ALGORITHM].fact("rows") for row in rows]
    most = max((x for x in each if math.isfinite(x)), default=math.nan)
    why = f"least squares gives every row a coefficient, and t = 1 takes up to {most:.2g} iterations a row for them"
    return Finding(words, verdict(faster + near), tables, "" if all(faster) or math.isnan(most) else why)


def varied(outcomes: list[Outcome]) -> Finding:
    words, checks, tables, again = [], [], [], []
    for o in outcomes:
        name = named(o.cell.data, STANDS)
        rows = [[s["step"], s["seconds"], s["iterations"], 100 * s["accuracy"]] for s in o.steps]
        tables.append(Dataset(name, ["t", "seconds", "iterations", "accuracy in percent"], rows))
        if len(o.steps) < 2:
            continue
        spent, counts, shares = (dict(o.points(fact)) for fact in ("seconds", "iterations", "accuracy"))
        best, fewest, most = min(spent, key=spent.__getitem__), min(counts, key=counts.__getitem__), max(spent)
        apart = max(shares.values()) - min(shares.values())
        if fewest < max(counts):
            again.append(f"on {name} iterations rise again beyond t = {fewest}")
        near = min(spent[t] for t in (1, 2) if t in spent) <= SAME * spent[best]
        checks += [fewest == max(counts), apart <= POINT, near]
        words.append(
            f"{name}: of t = 1 .. {most}, t = {best} is the fastest, {spent[best]:.3g} s (1: {spent[1]:.3g} s, "
            f"{most}: {spent[most]:.3g} s); iterations fall from {max(counts.values()):,} to "
            f"{min(counts.values()):,}, accuracies lie within {100 * apart:.2g} points"
        )
    return Finding(joined(words), verdict(checks), tables, "; ".join(again))


def growth(outcomes: list[Outcome]) -> Finding:
    words, checks = [], []
    for row in groups(outcomes):
        slopes = {tool: slope(some) for tool, o in row.items() if (some := o.points("seconds", "rows"))[1:]}
        if ALGORITHM not in slopes:
            continue
        checks.append(slopes[ALGORITHM] <= measures.LINEAR)
        words.append(
            f"{named(row[ALGORITHM].cell.data, STANDS)}: log-log slopes "
            f"{', '.join(f'{tool} {value:.2f}' for tool, value in slopes.items())}, of the iterations at t = 1 "
            f"{slope(row[ALGORITHM].points('iterations', 'rows')):.2f}"
        )
    why = "an iteration costs n kernel values, and the number of iterations is not constant (slopes above)"
    tables = [measures.by_rows(outcomes, "Training time by rows")]
    return Finding(joined(words), verdict(checks), tables, "" if all(checks) else why)


SOURCE = "Nguyen et al. 2015 (SGD-LSSVM), "
EXPERIMENTS = (
    Experiment(
        "sgd-lssvm-table2", SOURCE + "Table II and Figure 1",
        "faster than LIBSVM and others on most sets, at comparable accuracy",
        "seconds (accuracy) of SGD-LSSVM and LIBSVM: a9a 88 (83) and 149 (85), cod-rna 169 (91) and 303 (94), mushroom "
        "1 and 1.5 (100), shuttle 25 and 6 (100), splice 0.13 (89) and 0.15 (87)",
        table_cells, table, 70.0,
    ),
    Experiment(
        "sgd-lssvm-figures2-4", SOURCE + "Figures 2 to 4",
        "with t from 1 to 512 iterations fall, times tend to rise, accuracy is stable: t = 1 or 2 is best",
        "curves on rcv1 and ijcnn1; here farm-ads and ijcnn1",
        varied_cells, varied, 40.0,
    ),
    Experiment(
        "sgd-lssvm-figure5", SOURCE + "Figure 5",
        "the time is approximately linear in the number of rows, t = 1",
        "curves on rcv1 and ijcnn1 over 10% to 100% of the rows",
        growth_cells, growth, 55.0,
    ),
)  # fmt: skip
