"""ALSVM, Figures 2 and 3: training times over the d most frequent features of text; the cost of adding a row; C = 1."""

from __future__ import annotations

import math

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, named, seconds, shown, slope, verdict

SIZES = {"imdb.tfidf": (50, 100, 200, 500, 1000), "farm-ads": (50, 100, 200, 500, 1000)}
ROWS = 5_000  # of imdb
QUICK = {"digits": (10, 60)}
STANDS = {"imdb.tfidf": "real-sim", "farm-ads": "news20"}
TOOLS = {
    "ALSVM": ("ours", "-s 71", {}),
    "FALSVM": ("ours", "-s 72", {}),
    "LLS-SVM": ("ours", "-s 70", {}),
    "svmtool, fast (-s 71)": ("ours", "-s 71", {"method": "fast"}),
    "LIBLINEAR -s 3": ("liblinear", "-s 3", {}),
    "LIBLINEAR -s 1": ("liblinear", "-s 1", {}),
}
OWN, PEER = ("FALSVM", "ALSVM", "LLS-SVM"), "LIBLINEAR -s 3"
ADDED = (250, 500, 1000, 2000)  # features, for the cost of one row
ADDED_ROWS = 300
SQUARE = 2.25  # log-log slope up to which a time counts as d^2


def cells(quick: bool) -> list[Cell]:
    sizes = QUICK if quick else SIZES
    data = [
        Data(name, rows=ROWS if name.startswith("imdb") else None, features=d, bias=True)
        for name, some in sizes.items() for d in some
    ]  # fmt: skip
    limit = 3.0 if quick else 10.0
    return [Cell(tool, method, d, "", more, seconds=limit) for d in data for tool, method, more in TOOLS.values()]


def conclude(outcomes: list[Outcome]) -> Finding:
    groups = by_name(outcomes, tuple(TOOLS))
    data = [group["ALSVM"].cell.data for group in groups]
    words, checks, plots = [], [], []
    for name in dict.fromkeys(d.name for d in data):
        some = [(d.features, group) for d, group in zip(data, groups, strict=True) if d.name == name]
        plots.append(
            Plot(
                f"{name}: the most frequent features", "features", "seconds",
                {tool: [(d, seconds(g[tool])) for d, g in some if g[tool].ended == "done"] for tool in TOOLS},
            )
        )  # fmt: skip
        some = [(d, group) for d, group in some if group[PEER].last and group["FALSVM"].ended in ("done", "over time")]
        if not some:
            continue
        slower = {own: [d for d, g in some if seconds(g[own]) >= seconds(g[PEER])] for own in OWN}
        checks += [d not in slower["FALSVM"] for d, _ in some]
        steep = {own: slope([(d, seconds(g[own])) for d, g in some if g[own].last]) for own in ("FALSVM", "ALSVM")}
        checks += [steep["FALSVM"] < steep["ALSVM"]] if all(map(math.isfinite, steep.values())) else []
        where = (f"{own} {'from ' + str(min(at)) if at else 'nowhere'}" for own, at in slower.items())
        words.append(
            f"{name}: log-log slopes {', '.join(f'{own} {s:.2f}' for own, s in steep.items() if math.isfinite(s))}; "
            f"slower than LIBLINEAR's -s 3 are {', '.join(where)} features"
        )
    table = Dataset(
        "Seconds of training alone, C = 1", ["set", *TOOLS],
        [[named(d, STANDS), *(shown(o, seconds(o)) for o in g.values())] for d, g in zip(data, groups, strict=True)],
    )  # fmt: skip
    return Finding("; ".join(words) + "." if words else "No LIBLINEAR.", verdict(checks), [table], plots)


def added_cells(quick: bool) -> list[Cell]:
    name, sizes = ("digits", (16, 32, 64)) if quick else ("imdb.tfidf", ADDED)
    return [
        Cell("ours", "-s 71", Data(name, rows=ADDED_ROWS, features=d), "", more, seconds=15.0)
        for d in sizes for more in ({}, {"method": "fast"})
    ]  # fmt: skip


def addition(outcomes: list[Outcome]) -> Finding:
    table, points = [], []
    for own, engine in zip(outcomes[::2], outcomes[1::2], strict=True):
        d = own.cell.data.features
        each = [1e6 * seconds(o) / o.last["rows"] if o.last else o.ended for o in (own, engine)]
        table.append([d, *each, each[0] / d**2 if own.last else "-"])
        if own.last:
            points.append((d, each[0]))
    heads = ["features d", "ALSVM: microseconds a row", "svmtool, fast: microseconds a row", "ALSVM's over d^2"]
    tables = [Dataset(f"All {ADDED_ROWS} rows added, C = 1: time over rows", heads, table)]
    if len(points) < 2:
        return Finding("Nothing ended.", "not measured", tables)
    steep = slope(points)
    words = f"One row takes {points[0][1]:.3g} microseconds at d = {points[0][0]:,} and {points[-1][1]:.3g} at "
    words += f"d = {points[-1][0]:,}; log-log slope {steep:.2f}."
    plots = [Plot("Adding one row", "features", "microseconds", {"ALSVM": points})]
    return Finding(words, verdict([steep <= SQUARE]), tables, plots)


EXPERIMENTS = (
    Experiment(
        "alsvm-figures2-3", "Le et al. 2015 (ALSVM), Figures 2 and 3",
        "FALSVM scales better with the dimension than ALSVM, and is faster than LibLinear up to some 1000 features",
        "curves on real-sim and news20, d in steps of 50 or 100; here imdb.tfidf and farm-ads",
        cells, conclude, 110.0,
    ),
    Experiment(
        "alsvm-addition", "Le et al. 2015 (ALSVM), Equations 4 to 6", "adding a row costs O(d^2)", "no numbers",
        added_cells, addition, 25.0,
    ),
)  # fmt: skip
