"""ALM, Datasets 1 and 2: seconds to an objective within 1% of the least, C = 1, hinge and squared hinge."""

from __future__ import annotations

from functools import partial

from experiments.declare import Cell, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, costs_of_steps, shown
from experiments.races import Race, error, leasts, linear_set, seconds_within

SHARE = 0.01
SETS = ("covtype.binary.scale01.part", "ijcnn1", "w8a", "connect-4", "shuttle.scale", "poker", "imdb.tfidf")
QUICK = ("breast_cancer", "digits")
OWN = ("ALM", "ALM exact")
GAPS = (1e-1, 1e-2, 1e-3, 1e-4)
COARSE = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
EPOCHS = (1, 2, 5, 10, 20, 50, 100)
THREADED = tuple((tol, threads) for tol in (0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7) for threads in (1, 2))
PASSES = tuple(f"{rate} --passes {n}" for n in (1, 3, 10, 30) for rate in ("--sgd", "-l 0.1"))
# name: tool, method, steps, settings
HINGE = {
    "ALM": ("ours", "-s 30", GAPS, {"loss_power": 1.0}),
    "ALM exact": ("ours", "-s 31", GAPS, {"loss_power": 1.0}),
    "svmtool -s 3": ("ours", "-s 3", GAPS, {}),
    "NESVM": ("ours", "-s 50", GAPS, {}),
    "DCD": ("liblinear", "-s 3", COARSE, {}),
    "Pegasos": ("sklearn", "Pegasos", EPOCHS, {}),
    "Snap ML": ("snapml", "SVM hinge", THREADED, {}),
    "skglm": ("skglm", "LinearSVC, all rows", (30, 100, 300, 1000, 3000), {}),
    "Vowpal Wabbit": ("vw", "hinge", PASSES, {}),
    "cutting planes": ("dlib", "cutting planes", COARSE, {}),
}
SQUARED = {
    "ALM": ("ours", "-s 30", GAPS, {}),
    "ALM exact": ("ours", "-s 31", GAPS, {}),
    "MFN": ("ours", "-s 40", GAPS, {}),
    "svmtool -s 2": ("ours", "-s 2", GAPS, {}),
    "TRON": ("liblinear", "-s 2", COARSE, {}),
    "DCD": ("liblinear", "-s 1", COARSE, {}),
    "Snap ML": ("snapml", "SVM squared", THREADED, {}),
}


def cells(tools: dict, objective: str, quick: bool) -> list[Cell]:
    found = []
    for name in QUICK if quick else SETS:
        data = linear_set(name)
        for tool, method, steps, settings in tools.values():
            found.append(Cell(tool, method, data, objective, settings, steps, seconds=5.0 if quick else 20.0))
    return found


def conclude(tools: dict, notes: str, outcomes: list[Outcome]) -> Finding:
    least, race, inexact, lines, plots, costs = leasts(outcomes), Race(), Race(), [], [], []
    for row in by_name(outcomes, list(tools)):
        times = {name: seconds_within(o, least, SHARE) for name, o in row.items()}
        where = row["ALM"].cell.data.name
        lines.append([where, *(shown(o, times[name]) for name, o in row.items())])
        own = {name: t for name, t in times.items() if name in OWN}
        peers = {n: t for n, t in times.items() if row[n].cell.tool != "ours" and row[n].ended != "absent"}
        if not race.add(where, own, peers):
            quickest = row[min(own, key=own.__getitem__)]
            near = [s for s in quickest.steps if error(quickest.cell, s, least) <= SHARE]
            costs += [f"on {where} {costs_of_steps(near[0])}"] if near else []
        inexact.add(where, {"ALM": times["ALM"]}, peers)
        curves = {
            name: [(s["seconds"], max(error(o.cell, s, least), 1e-12)) for s in o.steps] for name, o in row.items()
        }
        plots.append(Plot(f"{where}: relative error", "seconds", "relative error", curves))
    words = race.words("ALM, exact or not,")
    words += f" The inexact form alone, the paper's, is the fastest on {sum(inexact.won)}." if race.won else ""
    table = Dataset(f"Seconds to 1% of the least objective. {notes}", ["set", *tools], lines)
    return Finding(words, race.holds, [table], plots, "; ".join(filter(None, (race.why, *costs))))


CLAIM = "one of the fastest to 1% of the optimum, on all sets, whatever their size"
NOTES1 = "No package has SVMperf or BMRM; dlib's cutting planes replace them"
NOTES2 = "No package has PCD or BMRM"
EXPERIMENTS = (
    Experiment(
        "alm-table1", "Nie et al. 2014, Table 1", CLAIM,
        "hinge: covtype 4.1 s against 52 to over 500, ijcnn1 3.2 against 7.8, w8a 4.6 against 3.6 (DCD)",
        partial(cells, HINGE, "hinge"), partial(conclude, HINGE, NOTES1),
    ),
    Experiment(
        "alm-table2", "Nie et al. 2014, Table 2", CLAIM,
        "squared hinge: covtype 3.9 s against 10 (PCD), ijcnn1 3.2 against 3.4, w8a 4.4 against 0.9 (PCD)",
        partial(cells, SQUARED, "squared"), partial(conclude, SQUARED, NOTES2),
    ),
)  # fmt: skip
