"""ALSVM (Le et al. 2015), C = 1.

Table II and Figure 1: seconds and accuracy of the linear LS-SVMs beside their peers.  Figures 2 and 3: training times
over the d most frequent features of text; the cost of adding a row.
"""

from __future__ import annotations

import math

from experiments.declare import Case, Data, Dataset, Finding, Outcome, Tool, linear_set, plan
from experiments.measures import LINEAR, by_rows, by_sets, faster, finding, groups, mean_ratio, slope, slopes

SETS = (
    "a9a", "cod-rna.std", "covtype.binary.scale01.part", "mushrooms", "w8a", "svmguide3", "german.numer_scale",
    "poker", "shuttle.scale", "ijcnn1",
)  # fmt: skip
POINT = 0.01  # accuracies that differ by at most this much are comparable
TENS = 10.0  # "tens of times faster" means at least this
GROWING = {"ALSVM": Tool("ours", "-s 71"), "FALSVM": Tool("ours", "-s 72")}
ENGINE, HINGE = "svmtool, fast (-s 71)", "LIBLINEAR -s 3"  # the hinge, whose solver in LIBLINEAR is -s 3
SGD = "SGD (scikit-learn)"  # stands for Pegasos
OURS = {
    **GROWING, "LLS-SVM": Tool("ours", "-s 70"), ENGINE: Tool("ours", "-s 71", {"method": "fast"}),
    HINGE: Tool("liblinear", "-s 3"), "LIBLINEAR -s 1": Tool("liblinear", "-s 1"),
}  # fmt: skip
TOOLS = {
    **OURS, SGD: Tool("sklearn", "SGD", {}, (5,)), "RidgeClassifier": Tool("sklearn", "RidgeClassifier"),
}  # fmt: skip
PAPERS = (HINGE, SGD)  # that the paper compares with
ROWS = {"covtype.binary.scale01.part": (7_500, 15_000, 30_000, 74_000), "cod-rna.std": (5_000, 10_000, 20_000, 47_000)}
TEXTS, FEATURES = {"imdb.tfidf": 5_000, "farm-ads": None}, (50, 100, 200, 500, 1000)  # rows, None: all
ADDED = (250, 500, 1000, 2000)  # features, for the cost of one row
ADDED_ROWS = 300
SQUARE = 2.25  # log-log slope up to which a time counts as d^2


def table(outcomes: list[Outcome]) -> Finding:
    rows = [row for row in groups(outcomes) if any(row[p].last for p in PAPERS)]
    near = {name: [row[name].fact("accuracy") >= max(row[p].fact("accuracy", 0.0) for p in PAPERS) - POINT
                   for row in rows] for name in GROWING}  # fmt: skip
    checks = {f"{own} is faster than {p}": faster(rows, own, p) for own in GROWING for p in PAPERS}
    checks["FALSVM is faster than ALSVM"] = faster(rows, "FALSVM", "ALSVM")
    checks |= {f"accuracy of {name} within a point of the best of these": some for name, some in near.items()}
    steps = [row["FALSVM"].last for row in rows if row["FALSVM"].last]
    shares = [100.0 * own["added"] / own["rows"] for own in steps if own.get("added")]
    why = f"FALSVM adds {min(shares):.2g} to {max(shares):.2g}% of the rows" if shares else ""
    tables = [by_sets(outcomes, "Seconds of training alone, C = 1"),
              by_sets(outcomes, "Accuracy in percent", "accuracy", 100.0)]  # fmt: skip
    figures = [words for p in TOOLS if p != "ALSVM" for words in mean_ratio(rows, p, "ALSVM")]
    return finding(checks if rows else {}, figures, tables, why)


def growth(outcomes: list[Outcome]) -> Finding:
    checks, figures = slopes(outcomes, dict.fromkeys(GROWING, LINEAR))
    pairs = [zip(*(o.points("seconds") for o in row.values()), strict=False) for row in groups(outcomes)]
    checks["FALSVM is tens of times faster"] = [a / b >= TENS for row in pairs for (_, a), (_, b) in row]
    return finding(checks, figures, [by_rows(outcomes, "Seconds by rows")])


def over_features(outcomes: list[Outcome]) -> Finding:
    rows, scales, figures = [row for row in groups(outcomes) if row[HINGE].last], [], []
    for name in dict.fromkeys(row[HINGE].cell.data.name for row in rows):
        some = [row for row in rows if row[HINGE].cell.data.name == name]
        steep = {own: slope([(row[own].cell.data.features, row[own].seconds) for row in some if row[own].last])
                 for own in GROWING}  # fmt: skip
        scales += [steep["FALSVM"] < steep["ALSVM"]] if all(map(math.isfinite, steep.values())) else []
        figures += [f"{name}: log-log slope of {own} {s:.2f}" for own, s in steep.items() if math.isfinite(s)]
    checks = {f"{own} is faster than {HINGE}": faster(rows, own, HINGE) for own in ("FALSVM",)}
    checks["FALSVM scales better than ALSVM"] = scales
    return finding(checks, figures, [by_sets(outcomes, "Seconds of training alone, C = 1")])


def addition(outcomes: list[Outcome]) -> Finding:
    lines, points = [], []
    for row in groups(outcomes):
        own, d = row["ALSVM"], row["ALSVM"].cell.data.features
        each = [1e6 * o.seconds / o.last["rows"] if o.last else o.ended for o in row.values()]
        lines.append([d, *each, each[0] / d**2 if own.last else "-"])
        points += [(d, each[0])] if own.last else []
    heads = ["features d", "ALSVM: microseconds a row", "svmtool, fast: microseconds a row", "ALSVM's over d^2"]
    tables = [Dataset(f"All {ADDED_ROWS} rows added, C = 1: time over rows", heads, lines)]
    checks = {f"slope up to {SQUARE:g}": [slope(points) <= SQUARE] if len(points) > 1 else []}
    ends = [f"one row takes {t:.3g} microseconds at d = {d:,}" for d, t in (*points[:1], *points[-1:])]
    return finding(checks, [*ends, f"log-log slope {slope(points):.2f}"], tables)


DIMENSIONS = [Data(name, rows=m, features=d, bias=True) for name, m in TEXTS.items() for d in FEATURES]
EXPERIMENTS = {
    "alsvm-table2": (plan(TOOLS, [*map(linear_set, SETS)], [linear_set("diabetes")], seconds=(20.0, 3.0)), table),
    "alsvm-figure1": (plan(GROWING, [Case(linear_set(name), {}, some) for name, some in ROWS.items()],
                           [Case(linear_set("digits"), {}, (400, 1_200))], seconds=(20.0, 3.0), vary="rows"), growth),
    "alsvm-figures2-3": (plan(OURS, DIMENSIONS, [Data("digits", features=d, bias=True) for d in (10, 60)],
                              seconds=(10.0, 3.0)), over_features),
    "alsvm-addition": (plan({name: OURS[name] for name in ("ALSVM", ENGINE)},
                            [Data("imdb.tfidf", rows=ADDED_ROWS, features=d) for d in ADDED],
                            [Data("digits", rows=ADDED_ROWS, features=d) for d in (16, 32, 64)],
                            seconds=(15.0, 15.0)), addition),
}  # fmt: skip
