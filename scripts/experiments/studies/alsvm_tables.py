"""ALSVM, Table II and Figure 1: seconds and accuracy of the linear LS-SVMs beside their peers, C = 1."""

from __future__ import annotations

import math

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import (
    LINEAR,
    by_name,
    fact,
    geometric_mean,
    joined,
    points,
    ratios,
    seconds,
    shown,
    slope,
    verdict,
)

SETS = (
    "a9a", "cod-rna.std", "covtype.binary.scale01.part", "mushrooms", "w8a", "svmguide3", "german.numer_scale",
    "poker", "shuttle.scale", "ijcnn1",
)  # fmt: skip
QUICK = ("diabetes",)
POINT = 0.01  # accuracies that differ by at most this much are comparable
TENS = 10.0  # "tens of times faster" means at least this
TOOLS = {
    "ALSVM": ("ours", "-s 71", None, {}),
    "FALSVM": ("ours", "-s 72", None, {}),
    "LLS-SVM": ("ours", "-s 70", None, {}),
    "svmtool, fast (-s 71)": ("ours", "-s 71", None, {"method": "fast"}),
    "LIBLINEAR -s 3": ("liblinear", "-s 3", None, {}),
    "Pegasos": ("pegasos", "Pegasos", 5, {}),
    "LIBLINEAR -s 1": ("liblinear", "-s 1", None, {}),
    "RidgeClassifier": ("sklearn", "RidgeClassifier", None, {}),
}
PAPERS = ("LIBLINEAR -s 3", "Pegasos")  # that the paper compares with; -s 3 is LIBLINEAR's solver for the hinge
SIZES = {
    "covtype.binary.scale01.part": (7_500, 15_000, 30_000, 74_000),
    "cod-rna.std": (5_000, 10_000, 20_000, 47_000),
}
QUICK_SIZES = {"digits": (400, 1_200)}
GROWING = ("ALSVM", "FALSVM")


def table_cells(quick: bool) -> list[Cell]:
    data = [Data(name, bias=True, unit=True) for name in (QUICK if quick else SETS)]
    return [
        Cell(tool, method, d, "", more, (step,), seconds=3.0 if quick else 20.0)
        for d in data for tool, method, step, more in TOOLS.values()
    ]  # fmt: skip


def growth_cells(quick: bool) -> list[Cell]:
    sizes = QUICK_SIZES if quick else SIZES
    return [
        Cell(*TOOLS[name][:2], Data(s, bias=True, unit=True), "", {}, some, "rows", seconds=3.0 if quick else 20.0)
        for s, some in sizes.items() for name in GROWING
    ]  # fmt: skip


def table(outcomes: list[Outcome]) -> Finding:
    groups = by_name(outcomes, tuple(TOOLS))
    times, right, faster, fastest, near = [], [], [], [], []
    for group in groups:
        name = str(group["ALSVM"].cell.data)
        times.append([name, *(shown(o, seconds(o)) for o in group.values())])
        right.append([name, *(100 * fact(o, "accuracy") for o in group.values())])
        peers = [group[p] for p in PAPERS if group[p].last]
        if not peers:
            continue
        if group["ALSVM"].ended not in ("done", "over time"):
            continue
        least = min(map(seconds, peers))
        faster.append(seconds(group["ALSVM"]) < least)
        fastest.append(seconds(group["FALSVM"]) < min(least, seconds(group["ALSVM"])))
        best = max(fact(o, "accuracy") for o in peers)
        near += [fact(group[own], "accuracy") >= best - POINT for own in GROWING]
    words = "No peer of the paper was measured."
    if faster:
        alone = {p: geometric_mean(ratios([g[p] for g in groups], [g["ALSVM"] for g in groups])) for p in TOOLS}
        times_of = ", ".join(f"{p} {mean:.2g}" for p, mean in alone.items() if p != "ALSVM" and math.isfinite(mean))
        words = (
            f"ALSVM is faster than the paper's peers on {sum(faster)} of {len(faster)} sets; time relative to it, "
            f"geometric mean: {times_of}. FALSVM is the fastest of the paper's four on {sum(fastest)} sets; "
            f"{sum(near)} of their {len(near)} accuracies are within a point of the best peer's."
        )
    heads = ["set", *TOOLS]
    tables = [Dataset("Seconds of training alone, C = 1", heads, times), Dataset("Accuracy in percent", heads, right)]
    return Finding(words, verdict(faster + fastest + near), tables, why=added(groups))


def added(groups: list[dict[str, Outcome]]) -> str:
    """The shares of the rows that FALSVM adds."""
    steps = [group["FALSVM"].last for group in groups if group["FALSVM"].last]
    shares = [100.0 * own["added"] / own["rows"] for own in steps if own.get("added")]
    return f"FALSVM adds {min(shares):.2g} to {max(shares):.2g}% of the rows" if shares else ""


def growth(outcomes: list[Outcome]) -> Finding:
    words, checks, plots = [], [], []
    for group in by_name(outcomes, GROWING):
        name = str(group["ALSVM"].cell.data)
        curves = {own: points(o, "rows", "seconds") for own, o in group.items()}
        if min(map(len, curves.values())) < 2:
            words.append(f"{name}: too few sizes finish")
            continue
        slopes = [slope(some) for some in curves.values()]
        between = [a / b for (_, a), (_, b) in zip(*curves.values(), strict=False)]
        checks += [s <= LINEAR for s in slopes] + [ratio >= TENS for ratio in between]
        words.append(
            f"{name}: log-log slopes {slopes[0]:.2f} and {slopes[1]:.2f}, ALSVM takes "
            f"{geometric_mean(between):.2g} times FALSVM's seconds"
        )
        plots.append(Plot(f"{name}: training time over rows", "rows", "seconds", curves))
    return Finding(joined(words), verdict(checks), plots=plots)


EXPERIMENTS = (
    Experiment(
        "alsvm-table2", "Le et al. 2015 (ALSVM), Table II",
        "FALSVM is fastest on all sets, ALSVM faster than LibLinear and Pegasos on all but w8a, accuracies comparable",
        "seconds of ALSVM, FALSVM, LibLinear, Pegasos: covtype 271, 5.7, 1592, 1826; cod-rna 9, 0.7, 1683, 8332; w8a "
        "403, 3.9, 316, 505",
        table_cells, table, 130.0,
    ),
    Experiment(
        "alsvm-figure1", "Le et al. 2015 (ALSVM), Figure 1",
        "times of ALSVM and FALSVM are linear in the number of rows, FALSVM tens of times faster",
        "covtype and cod-rna, 50% to 100% of the rows; at 100% 271 s against 5.7 s, and 9 against 0.7",
        growth_cells, growth, 70.0,
    ),
)  # fmt: skip
