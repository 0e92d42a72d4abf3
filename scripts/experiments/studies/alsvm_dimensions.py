"""ALSVM, Figures 2 and 3: training times over the d most frequent features of text, C = 1."""

from __future__ import annotations

from experiments.declare import Cell, Data, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, seconds, shown, verdict

SIZES = {"imdb.tfidf": (50, 100, 200, 500, 1000, 2000), "farm-ads": (50, 100, 200, 500, 1000, 2000)}
QUICK = {"digits": (10, 30, 60)}
FEW = 1000  # features below which FALSVM should be faster
TOOLS = {
    "ALSVM": ("ours", "-s 71"),
    "FALSVM": ("ours", "-s 72"),
    "LLS-SVM": ("ours", "-s 70"),
    "LIBLINEAR -s 3": ("liblinear", "-s 3"),
    "LIBLINEAR -s 2": ("liblinear", "-s 2"),
}
OWN, PAPERS = ("FALSVM", "ALSVM", "LLS-SVM"), "LIBLINEAR -s 3"


def cells(quick: bool) -> list[Cell]:
    sizes = QUICK if quick else SIZES
    data = [Data(name, features=d, bias=True) for name, some in sizes.items() for d in some]
    return [Cell(tool, method, d) for d in data for tool, method in TOOLS.values()]


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
        some = [(d, group) for d, group in some if group[PAPERS].last]
        if not some:
            continue
        slower = {own: [d for d, g in some if seconds(g[own]) >= seconds(g[PAPERS])] for own in OWN}
        checks += [d not in slower["FALSVM"] for d, _ in some if d <= FEW]
        where = (f"{own} {'from ' + str(min(at)) if at else 'nowhere'}" for own, at in slower.items())
        words.append(f"{name}: slower than LIBLINEAR's -s 3 are {', '.join(where)} features")
    table = Dataset(
        "Seconds of training alone, C = 1", ["set", *TOOLS],
        [[str(d), *(shown(o, seconds(o)) for o in group.values())] for d, group in zip(data, groups, strict=True)],
    )  # fmt: skip
    return Finding("; ".join(words) + "." if words else "No LIBLINEAR.", verdict(checks), [table], plots)


EXPERIMENTS = (
    Experiment(
        "alsvm-figures2-3", "Le et al. 2015 (ALSVM), Figures 2 and 3",
        "FALSVM scales better with the dimension than ALSVM, and is faster than LibLinear up to some 1000 features",
        "curves on real-sim and news20, d in steps of 50 or 100; here imdb.tfidf and farm-ads",
        cells, conclude,
    ),
)  # fmt: skip
