"""ALM, Figure 1: training time over the number of rows; Figure 2: accuracy of the inexact and the exact form."""

from __future__ import annotations

from experiments.declare import Cell, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import LINEAR, by_name, slope, verdict
from experiments.races import linear_set

SETS = {"covtype.binary.scale01.part": 74370, "ijcnn1": 39992, "w8a": 39800, "connect-4": 54046, "shuttle.scale": 43500}
SIZES = (1000, 3000, 10_000, 30_000)
FORMS = {
    "inexact, p = 1": ("-s 30", "hinge", 1.0),
    "exact, p = 1": ("-s 31", "hinge", 1.0),
    "inexact, p = 2": ("-s 30", "squared", 2.0),
    "exact, p = 2": ("-s 31", "squared", 2.0),
}
NEAR = 0.01  # relative gap of the paper's tables
COSTS = tuple(10.0**k for k in range(7))
POINTS = 2.0  # of accuracy, the range of the paper's figure


def size_cells(quick: bool) -> list[Cell]:
    sets = {"breast_cancer": 400} if quick else SETS
    return [
        Cell(
            "ours", method, linear_set(name), objective, {"tolerance": NEAR, "loss_power": p},
            (100, 200, 400) if quick else (*SIZES, rows), "rows", seconds=10.0,
        )
        for name, rows in sets.items()
        for method, objective, p in FORMS.values()
    ]  # fmt: skip


def over_sizes(outcomes: list[Outcome]) -> Finding:
    table, plots, slopes = [], [], {}
    curves: dict[str, dict] = {name: {} for name in FORMS}
    for row in by_name(outcomes, list(FORMS)):
        for name, o in row.items():
            where = o.cell.data.name
            curve = curves[name][where] = [(s["step"], s["seconds"]) for s in o.steps]
            slopes[f"{where}, {name}"] = slope(curve)
            times = dict(curve)
            table.append([where, name, *(times.get(m, o.ended) for m in o.cell.steps), slope(curve)])
    plots = [Plot(f"ALM, {name}", "rows", "seconds", found) for name, found in curves.items()]
    found = {name: s for name, s in slopes.items() if s == s}
    if not found:
        return Finding("Nothing ended.", "not measured")
    steep = [f"{name} {s:.2f}" for name, s in found.items() if s > LINEAR]
    words = f"Log-log slopes from {min(found.values()):.2f} to {max(found.values()):.2f}; "
    words += f"{len(steep)} of {len(found)} above {LINEAR}."
    sizes = [f"{m:,} rows" for m in outcomes[0].cell.steps[:-1]] + ["all rows"]
    tables = [Dataset(f"Seconds to a certified gap of {NEAR:g}, C = 1", ["set", "form", *sizes, "slope"], table)]
    why = f"steeper: {', '.join(steep)}" if steep else ""
    return Finding(words, verdict([s <= LINEAR for s in found.values()]), tables, plots, why)


def cost_cells(quick: bool) -> list[Cell]:
    return [
        Cell(
            "ours", method, linear_set(name, rows=None if quick else 10_000), objective,
            {"tolerance": NEAR, "loss_power": p, "max_seconds": 1.0}, COSTS[::3] if quick else COSTS, "C", seconds=40.0,
        )
        for name in (["breast_cancer"] if quick else SETS)
        for method, objective, p in FORMS.values()
    ]  # fmt: skip


def over_costs(outcomes: list[Outcome]) -> Finding:
    table, plots, worst, unended = [], [], [], 0
    pairs = list(FORMS)
    for k in (0, 2):
        curves = {}
        for row in by_name(outcomes, pairs):
            inexact, exact = ({s["step"]: s for s in row[name].steps} for name in pairs[k : k + 2])
            where, form = row[pairs[k]].cell.data.name, pairs[k].partition(", ")[2]
            shared = [C for C in inexact if C in exact]
            points = [(C, 100.0 * (inexact[C]["accuracy"] - exact[C]["accuracy"])) for C in shared]
            curves[where] = points
            unended += sum(not inexact[C]["converged"] for C in shared)
            worst += [abs(x) for _, x in points]
            table.append([where, form, *(x for _, x in points)])
        plots.append(Plot(f"Accuracy, inexact minus exact, {form}", "C", "points", curves, log_y=False))
    if not worst:
        return Finding("Nothing ended.", "not measured")
    costs = [f"C = {C:g}" for C in outcomes[0].cell.steps]
    words = (
        f"They differ by {max(worst):.2f} points of accuracy at most, by {sorted(worst)[len(worst) // 2]:.2f} in the "
        f"median; {sum(x <= POINTS for x in worst)} of {len(worst)} within {POINTS:g}."
    )
    why = f"{unended} of {len(worst)} inexact runs hit the time limit before their gap" if unended else ""
    tables = [Dataset("Points of accuracy, inexact minus exact, both at a gap of 1%", ["set", "loss", *costs], table)]
    return Finding(words, verdict([x <= POINTS for x in worst]), tables, plots, why)


EXPERIMENTS = (
    Experiment(
        "alm-figure1", "Nie et al. 2014, Figure 1", "training time grows linearly with the number of rows",
        "slopes close to 1", size_cells, over_sizes,
    ),
    Experiment(
        "alm-figure2", "Nie et al. 2014, Figure 2",
        "the inexact form is as accurate as the exact one, for C = 1 to 1e6",
        "differences within 2 points", cost_cells, over_costs,
    ),
)  # fmt: skip
