"""ALM, Figure 1: training time over the number of rows; Figure 2: accuracy of the inexact and the exact form; Section
4.1: training time over C and p.

Times are those to the algorithm's own end, with its own rules.
"""

from __future__ import annotations

import math

from experiments.declare import Cell, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import LINEAR, by_name, longest_over_shortest, slope, verdict
from experiments.races import linear_set

SETS = {"covtype.binary.scale01.part": 74370, "ijcnn1": 39992, "w8a": 39800, "connect-4": 54046, "shuttle.scale": 43500}
SIZES = (1000, 3000, 10_000)
FORMS = {
    "Algorithm 2, p = 1": ("-s 30", "hinge", 1.0),
    "Algorithm 1, p = 1": ("-s 31", "hinge", 1.0),
    "Algorithm 2, p = 2": ("-s 30", "squared", 2.0),
    "Algorithm 1, p = 2": ("-s 31", "squared", 2.0),
}
FAST = {"svmtool, fast, p = 1": ("-s 30", "hinge", 1.0), "svmtool, fast, p = 2": ("-s 30", "squared", 2.0)}
COSTS = (1.0, 1e2, 1e4, 1e6)
ROWS = 5_000  # over C and p
POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
POINTS = 2.0  # of accuracy, the range of the paper's figure
SAME = 2.0  # longest over shortest time up to which a time counts as not dependent on C or p


def size_cells(quick: bool) -> list[Cell]:
    sets = {"breast_cancer": 400} if quick else SETS
    asked = {name: form + ({},) for name, form in FORMS.items()}
    asked |= {name: form + ({"method": "fast", "tolerance": 0.01},) for name, form in FAST.items()}
    return [
        Cell(
            "ours", method, linear_set(name), objective, {"loss_power": p, **more},
            (100, 400) if quick else (*SIZES, rows), "rows", seconds=3.0 if quick else 12.0,
        )
        for name, rows in sets.items()
        for method, objective, p, more in asked.values()
    ]  # fmt: skip


def over_sizes(outcomes: list[Outcome]) -> Finding:
    table, plots, slopes = [], [], {}
    curves: dict[str, dict] = {name: {} for name in (*FORMS, *FAST)}
    for row in by_name(outcomes, list(curves)):
        for name, o in row.items():
            where = str(o.cell.data)
            curve = curves[name][where] = [(s["step"], s["seconds"]) for s in o.steps]
            if name in FORMS:
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
    tables = [Dataset("Seconds, C = 1", ["set", "form", *sizes, "slope"], table)]
    why = f"steeper: {', '.join(steep)}" if steep else ""
    return Finding(words, verdict([s <= LINEAR for s in found.values()]), tables, plots, why)


def cost_cells(quick: bool) -> list[Cell]:
    data = [linear_set("breast_cancer")] if quick else [linear_set(name, rows=ROWS) for name in SETS]
    return [
        Cell(
            "ours", method, d, objective, {"loss_power": p}, COSTS[::3] if quick else COSTS, "C",
            seconds=3.0 if quick else 12.0,
        )
        for d in data for method, objective, p in FORMS.values()
    ]  # fmt: skip


def over_costs(outcomes: list[Outcome]) -> Finding:
    table, plots, worst = [], [], []
    pairs = list(FORMS)
    for k in (0, 2):
        curves, form = {}, pairs[k].partition(", ")[2]
        for row in by_name(outcomes, pairs):
            inexact, exact = ({s["step"]: s for s in row[name].steps} for name in pairs[k : k + 2])
            where = str(row[pairs[k]].cell.data)
            shared = [C for C in inexact if C in exact]
            points = [(C, 100.0 * (inexact[C]["accuracy"] - exact[C]["accuracy"])) for C in shared]
            curves[where] = points
            worst += [abs(x) for _, x in points]
            found = dict(points)
            table.append([where, form, *(found.get(C, "-") for C in row[pairs[k]].cell.steps)])
        plots.append(Plot(f"Accuracy, inexact minus exact, {form}", "C", "points", curves, log_y=False))
    if not worst:
        return Finding("Nothing ended.", "not measured")
    words = (
        f"They differ by {max(worst):.2f} points of accuracy at most, by {sorted(worst)[len(worst) // 2]:.2f} in the "
        f"median; {sum(x <= POINTS for x in worst)} of {len(worst)} within {POINTS:g}."
    )
    costs = [f"C = {C:g}" for C in outcomes[0].cell.steps]
    tables = [Dataset("Points of accuracy, Algorithm 2 minus Algorithm 1", ["set", "loss", *costs], table)]
    return Finding(words, verdict([x <= POINTS for x in worst]), tables, plots)


def power_cells(quick: bool) -> list[Cell]:
    return [
        Cell(
            "ours", method, cell.data, "power", {}, POWERS[::2] if quick else POWERS, "loss_power",
            seconds=cell.seconds,
        )
        for cell in cost_cells(quick)[:: len(FORMS)] for method in ("-s 30", "-s 31")
    ]  # fmt: skip


def flat_cells(quick: bool) -> list[Cell]:
    """Those of Figure 2, then those over p."""
    return cost_cells(quick) + power_cells(quick)


def flatness(outcomes: list[Outcome]) -> Finding:
    table, ratios, plots = [], {"C": [], "p": []}, {"C": {}, "p": {}}
    for o in outcomes:
        letter = "C" if o.cell.vary == "C" else "p"
        algorithm = f"Algorithm {2 if o.cell.method == '-s 30' else 1}"
        form = f"{algorithm}, p = {o.cell.settings['loss_power']:g}" if letter == "C" else algorithm
        times, count = [s["seconds"] for s in o.steps], [s["iterations"] for s in o.steps]
        ratio = longest_over_shortest(times) if len(times) == len(o.cell.steps) else math.inf if times else math.nan
        if times:
            ratios[letter].append(ratio)
            plots[letter][f"{o.cell.data}, {form}"] = [(s["step"], s["seconds"]) for s in o.steps]
        span = [f"{min(count)} to {max(count)}", f"{min(times):.3g} to {max(times):.3g}"] if times else [o.ended, ""]
        table.append([str(o.cell.data), form, letter, *span, ratio if math.isfinite(ratio) else "-"])
    if not any(ratios.values()):
        return Finding("Nothing ended.", "not measured")
    words = "; ".join(
        f"over {letter} the longest time is at most {SAME:g} times the shortest in {sum(r <= SAME for r in found)} of "
        f"{len(found)} cases{worst(found)}"
        for letter, found in ratios.items() if found
    )  # fmt: skip
    heads = ["set", "form", "over", "iterations", "seconds", "longest over shortest"]
    drawn = [Plot(f"ALM over {letter}", letter, "seconds", found, letter == "C") for letter, found in plots.items()]
    checks = [r <= SAME for found in ratios.values() for r in found]
    title = f"Iterations and seconds over C ({', '.join(f'{C:g}' for C in outcomes[0].cell.steps)}) and over p"
    return Finding(f"{words[0].upper()}{words[1:]}.", verdict(checks), [Dataset(title, heads, table)], drawn)


def worst(ratios: list[float]) -> str:
    """The largest of the ratios that are known, in words."""
    known = [r for r in ratios if math.isfinite(r)]
    cut = len(ratios) - len(known)
    return (f", {max(known):.3g} times at worst" if known else "") + (f", {cut} cut short" if cut else "")


EXPERIMENTS = (
    Experiment(
        "alm-figure1", "Nie et al. 2014, Figure 1", "training time grows linearly with the number of rows",
        "slopes close to 1", size_cells, over_sizes, 110.0,
    ),
    Experiment(
        "alm-figure2", "Nie et al. 2014, Figure 2",
        "the inexact form is as accurate as the exact one, for C = 1 to 1e6",
        "differences within 2 points", cost_cells, over_costs, 130.0,
    ),
    Experiment(
        "alm-costs", "Nie et al. 2014, Section 4.1", "training time does not depend on C and p",
        "no numbers", flat_cells, flatness, 50.0,
    ),
)  # fmt: skip
