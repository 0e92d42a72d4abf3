"""ALSVM (Le et al. 2015), C = 1.

Table II and Figure 1: seconds and accuracy of the linear LS-SVMs beside their peers.  Figures 2 and 3: training times
over the d most frequent features of text; the cost of adding a row.
"""

from __future__ import annotations

import math

from experiments import measures
from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Tool, grid
from experiments.measures import accuracies, by_rows, geometric_mean, groups, joined, ratios, slope, times, verdict

SETS = (
    "a9a", "cod-rna.std", "covtype.binary.scale01.part", "mushrooms", "w8a", "svmguide3", "german.numer_scale",
    "poker", "shuttle.scale", "ijcnn1",
)  # fmt: skip
POINT = 0.01  # accuracies that differ by at most this much are comparable
TENS = 10.0  # "tens of times faster" means at least this
GROWING = {"ALSVM": Tool("ours", "-s 71"), "FALSVM": Tool("ours", "-s 72")}
OURS = {
    **GROWING, "LLS-SVM": Tool("ours", "-s 70"), "svmtool, fast (-s 71)": Tool("ours", "-s 71", {"method": "fast"}),
    "LIBLINEAR -s 3": Tool("liblinear", "-s 3"),
}  # fmt: skip
TOOLS = {
    **OURS, "Pegasos": Tool("pegasos", "Pegasos", {}, (5,)), "LIBLINEAR -s 1": Tool("liblinear", "-s 1"),
    "RidgeClassifier": Tool("sklearn", "RidgeClassifier"),
}  # fmt: skip
PAPERS = ("LIBLINEAR -s 3", "Pegasos")  # that the paper compares with; -s 3 is LIBLINEAR's solver for the hinge
ROWS = {"covtype.binary.scale01.part": (7_500, 15_000, 30_000, 74_000), "cod-rna.std": (5_000, 10_000, 20_000, 47_000)}
FEATURES = {name: (50, 100, 200, 500, 1000) for name in ("imdb.tfidf", "farm-ads")}
STANDS = {"imdb.tfidf": "real-sim", "farm-ads": "news20"}
FEW = 5_000  # rows of imdb
OVER_FEATURES = {**OURS, "LIBLINEAR -s 1": TOOLS["LIBLINEAR -s 1"]}
ADDED = (250, 500, 1000, 2000)  # features, for the cost of one row
ADDED_ROWS = 300
SQUARE = 2.25  # log-log slope up to which a time counts as d^2


def table_cells(quick: bool) -> list[Cell]:
    data = [Data(name, bias=True, unit=True) for name in (("diabetes",) if quick else SETS)]
    return grid(TOOLS, data, seconds=3.0 if quick else 20.0)


def table(outcomes: list[Outcome]) -> Finding:
    rows = groups(outcomes)
    faster, fastest, near = [], [], []
    for row in rows:
        own = row["ALSVM"].seconds
        peers = [row[p] for p in PAPERS if row[p].last]
        if not peers or row["ALSVM"].ended not in ("done", "over time"):
            continue
        least, best = min(o.seconds for o in peers), max(o.fact("accuracy") for o in peers)
        faster.append(own < least)
        fastest.append(row["FALSVM"].seconds < min(least, own))
        near += [row[name].fact("accuracy") >= best - POINT for name in GROWING]
    words = "No peer of the paper was measured."
    if faster:
        alone = {p: geometric_mean(ratios([row[p] for row in rows], [row["ALSVM"] for row in rows])) for p in TOOLS}
        times_of = ", ".join(f"{p} {mean:.2g}" for p, mean in alone.items() if p != "ALSVM" and math.isfinite(mean))
        words = (
            f"ALSVM is faster than the paper's peers on {sum(faster)} of {len(faster)} sets; time relative to it, "
            f"geometric mean: {times_of}. FALSVM is the fastest of the paper's four on {sum(fastest)} sets; "
            f"{sum(near)} of their {len(near)} accuracies are within a point of the best peer's."
        )
    tables = [times(outcomes, "Seconds of training alone, C = 1"), accuracies(outcomes)]
    steps = [row["FALSVM"].last for row in rows if row["FALSVM"].last]
    shares = [100.0 * own["added"] / own["rows"] for own in steps if own.get("added")]
    why = f"FALSVM adds {min(shares):.2g} to {max(shares):.2g}% of the rows" if shares else ""
    return Finding(words, verdict(faster + fastest + near), tables, why)


def growth_cells(quick: bool) -> list[Cell]:
    return [
        cell for name, some in ({"digits": (400, 1_200)} if quick else ROWS).items()
        for cell in grid(GROWING, [Data(name, bias=True, unit=True)], {}, some, vary="rows",
                         seconds=3.0 if quick else 20.0)
    ]  # fmt: skip


def growth(outcomes: list[Outcome]) -> Finding:
    words, checks = [], []
    for row in groups(outcomes):
        name, curves = str(row["ALSVM"].cell.data), [o.points("seconds", "rows") for o in row.values()]
        if min(map(len, curves)) < 2:
            words.append(f"{name}: too few sizes finish")
            continue
        slopes = [slope(some) for some in curves]
        between = [a / b for (_, a), (_, b) in zip(*curves, strict=False)]
        checks += [s <= measures.LINEAR for s in slopes] + [ratio >= TENS for ratio in between]
        words.append(
            f"{name}: log-log slopes {slopes[0]:.2f} and {slopes[1]:.2f}, ALSVM takes "
            f"{geometric_mean(between):.2g} times FALSVM's seconds"
        )
    return Finding(joined(words), verdict(checks), [by_rows(outcomes, "Training time by rows")])


def feature_cells(quick: bool) -> list[Cell]:
    data = [
        Data(name, rows=FEW if name.startswith("imdb") else None, features=d, bias=True)
        for name, some in ({"digits": (10, 60)} if quick else FEATURES).items() for d in some
    ]  # fmt: skip
    return grid(OVER_FEATURES, data, seconds=3.0 if quick else 10.0)


def over_features(outcomes: list[Outcome]) -> Finding:
    rows, words, checks = groups(outcomes), [], []
    pairs = [(row["ALSVM"].cell.data, row) for row in rows]
    for name in dict.fromkeys(data.name for data, _ in pairs):
        some = [(data.features, {tool: o.seconds for tool, o in row.items()}, row) for data, row in pairs
                if data.name == name and row[PAPERS[0]].last and row["FALSVM"].ended in ("done", "over time")]
        if not some:
            continue
        slower = {own: [d for d, t, _ in some if t[own] >= t[PAPERS[0]]] for own in ("FALSVM", "ALSVM", "LLS-SVM")}
        checks += [d not in slower["FALSVM"] for d, *_ in some]
        steep = {own: slope([(d, t[own]) for d, t, row in some if row[own].last]) for own in ("FALSVM", "ALSVM")}
        checks += [steep["FALSVM"] < steep["ALSVM"]] if all(map(math.isfinite, steep.values())) else []
        where = (f"{own} {f'from {min(at)}' if at else 'nowhere'}" for own, at in slower.items())
        words.append(
            f"{name}: log-log slopes {', '.join(f'{own} {s:.2f}' for own, s in steep.items() if math.isfinite(s))}; "
            f"slower than LIBLINEAR's -s 3 are {', '.join(where)} features"
        )
    tables = [times(outcomes, "Seconds of training alone, C = 1", STANDS)]
    return Finding(joined(words, "No LIBLINEAR."), verdict(checks), tables)


def added_cells(quick: bool) -> list[Cell]:
    name, sizes = ("digits", (16, 32, 64)) if quick else ("imdb.tfidf", ADDED)
    tools = {name: OURS[name] for name in ("ALSVM", "svmtool, fast (-s 71)")}
    return grid(tools, [Data(name, rows=ADDED_ROWS, features=d) for d in sizes], seconds=15.0)


def addition(outcomes: list[Outcome]) -> Finding:
    table, points = [], []
    for row in groups(outcomes):
        own, d = row["ALSVM"], row["ALSVM"].cell.data.features
        each = [1e6 * o.seconds / o.last["rows"] if o.last else o.ended for o in row.values()]
        table.append([d, *each, each[0] / d**2 if own.last else "-"])
        points += [(d, each[0])] if own.last else []
    heads = ["features d", "ALSVM: microseconds a row", "svmtool, fast: microseconds a row", "ALSVM's over d^2"]
    tables = [Dataset(f"All {ADDED_ROWS} rows added, C = 1: time over rows", heads, table)]
    if len(points) < 2:
        return Finding("Nothing ended.", "not measured", tables)
    words = (
        f"One row takes {points[0][1]:.3g} microseconds at d = {points[0][0]:,} and {points[-1][1]:.3g} at "
        f"d = {points[-1][0]:,}; log-log slope {slope(points):.2f}."
    )
    return Finding(words, verdict([slope(points) <= SQUARE]), tables)


SOURCE = "Le et al. 2015 (ALSVM), "
EXPERIMENTS = (
    Experiment(
        "alsvm-table2", SOURCE + "Table II",
        "FALSVM is fastest on all sets, ALSVM faster than LibLinear and Pegasos on all but w8a, accuracies comparable",
        "seconds of ALSVM, FALSVM, LibLinear, Pegasos: covtype 271, 5.7, 1592, 1826; cod-rna 9, 0.7, 1683, 8332; w8a "
        "403, 3.9, 316, 505", table_cells, table, 130.0,
    ),
    Experiment(
        "alsvm-figure1", SOURCE + "Figure 1",
        "times of ALSVM and FALSVM are linear in the number of rows, FALSVM tens of times faster",
        "covtype and cod-rna, 50% to 100% of the rows; at 100% 271 s against 5.7 s, and 9 against 0.7",
        growth_cells, growth, 70.0,
    ),
    Experiment(
        "alsvm-figures2-3", SOURCE + "Figures 2 and 3",
        "FALSVM scales better with the dimension than ALSVM, and is faster than LibLinear up to some 1000 features",
        "curves on real-sim and news20, d in steps of 50 or 100; here imdb.tfidf and farm-ads",
        feature_cells, over_features, 110.0,
    ),
    Experiment(
        "alsvm-addition", SOURCE + "Equations 4 to 6", "adding a row costs O(d^2)", "no numbers",
        added_cells, addition, 25.0,
    ),
)  # fmt: skip
