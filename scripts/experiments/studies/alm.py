"""ALM (Nie et al. 2014).

Tables 1 and 2: seconds to an objective within 1% of the least, C = 1, hinge and squared hinge.  Table 3: the power p of
the hinge by cross-validation.  Figure 1: training time over the number of rows; Figure 2: accuracy of the inexact and
the exact form; Section 4.1: training time over C and p, to the algorithm's own end.

The paper's peers have no free bias and get a feature for it; so does ALM here (-B -1 with that feature), so that all
solve the same problem.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import geometric_mean, median

from experiments.declare import Case, Dataset, Finding, Outcome, Tool, linear_set, plan
from experiments.measures import LINEAR, Near, by_rows, finding, groups, longest_over_shortest, slopes

SETS = ("covtype.binary.scale01.part", "ijcnn1", "w8a", "connect-4", "shuttle.scale", "poker", "imdb.tfidf")
TRAINED = (74370, 39992, 39800, 54046, 43500)  # rows of the first sets
SMALL = linear_set("breast_cancer")
OWN, EXACT, ENGINE = "ALM, Algorithm 2", "ALM, Algorithm 1", "svmtool, fast"
GAPS = (1e-2, 1e-4)
COARSE = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3)
HINGE = {
    OWN: Tool("ours", "-s 30", {"loss_power": 1.0}, (None,), "hinge"),
    EXACT: Tool("ours", "-s 31", {"loss_power": 1.0}, (None,), "hinge"),
    ENGINE: Tool("ours", "-s 30", {"loss_power": 1.0, "method": "fast"}, GAPS, "hinge"),
    "SGD (scikit-learn)": Tool("sklearn", "SGD", {}, (1, 2, 5, 10, 20, 50), "hinge"),
    "DCD": Tool("liblinear", "-s 3", {}, COARSE, "hinge"),
}
SQUARED = {
    OWN: Tool("ours", "-s 30", {}, (None,), "squared"),
    EXACT: Tool("ours", "-s 31", {}, (None,), "squared"),
    ENGINE: Tool("ours", "-s 30", {"method": "fast"}, GAPS, "squared"),
    "TRON (scikit-learn)": Tool("sklearn", "TRON", {}, COARSE, "squared"),
    "DCD": Tool("liblinear", "-s 1", {}, COARSE, "squared"),
    "LIBLINEAR -s 2 (Newton)": Tool("liblinear", "-s 2", {}, COARSE, "squared"),
}
POWERED = {OWN: Tool("ours", "-s 30", objective="power")}
TENTHS = tuple(round(1.0 + 0.1 * k, 1) for k in range(11))
FOLDS = 5
FORMS = {
    f"Algorithm {a}, p = {p}": Tool("ours", f"-s {s}", {"loss_power": float(p)}, objective=loss)
    for p, loss in ((1, "hinge"), (2, "squared")) for a, s in ((2, 30), (1, 31))
}  # fmt: skip
ANY_POWER = {f"Algorithm {a}": Tool("ours", f"-s {s}", objective="power") for a, s in ((2, 30), (1, 31))}
SIZES = (1000, 3000, 10_000)
COSTS = (1.0, 1e2, 1e4, 1e6)
POWERS = (1.0, 1.25, 1.5, 1.75, 2.0)
ROWS = 5_000  # over C and p, and of each set for the choice of p
FIRST = 2  # place up to which a tool is "one of the fastest"
POINTS = 2.0  # of accuracy, the range of the paper's figure
SAME = 2.0  # longest over shortest time up to which a time counts as not dependent on C or p


def race(notes: str, outcomes: list[Outcome]) -> Finding:
    """Against the tools that were measured."""
    near, places, over, lost = Near(outcomes, f"Seconds to 1% of the least objective. {notes}"), [], [], []
    for where, times, known in zip(near.where, near.times, near.known, strict=True):
        peers = {name: times[name] for name in times if name in known and name not in (OWN, EXACT, ENGINE)}
        own, best = times[OWN], min(peers.values(), default=math.inf)
        if peers and min(own, best) < math.inf:
            places.append(1 + sum(t < own for t in peers.values()) if own < math.inf else math.inf)
            over += [best / own] if max(own, best) < math.inf else []
            lost += [f"{where} ({min(peers, key=peers.__getitem__)} {best:.3g} s)"] if best < own else []
    checks, figures = {"first or second": [place <= FIRST for place in places]}, [*map(near.count, (OWN, EXACT))]
    figures.append(f"first on {places.count(1)}; Algorithm 1 is faster on "
                   f"{sum(t[EXACT] <= t[OWN] < math.inf for t in near.times)}")  # fmt: skip
    if over:
        figures.append(f"the fastest peer takes {geometric_mean(over):.3g} times as long, {min(over):.3g} at least")
    return finding(checks, figures, [near.table], f"a peer is faster on {'; '.join(lost)}" if lost else "")


def chosen(outcome: Outcome) -> dict:
    """The step of the best cross-validation accuracy, and of these of the least p; empty if it did not end."""
    return max(outcome.steps, key=lambda s: (s["validated"], -s["step"])) if outcome.ended == "done" else {}


def powers(outcomes: list[Outcome]) -> Finding:
    lines, gains = [], []
    heads = [f"{what} % {p}" for what in ("CV", "test") for p in ("p=1", "p=2", "chosen")]
    for row in groups(outcomes):
        steps, best = {s["step"]: s for s in row[OWN].steps}, chosen(row[OWN])
        asked = [steps.get(p, {}) for p in (1.0, 2.0)]
        shares = [100.0 * s.get(what, math.nan) for what in ("validated", "accuracy") for s in (*asked, best)]
        lines.append([str(row[OWN].cell.data), *shares, best.get("step", row[OWN].ended)])
        gains += [shares[5] - max(shares[3], shares[4])] if best else []
    title = f"Accuracy in percent: of {FOLDS} folds, which choose p, and of test rows"
    tables = [Dataset(title, ["set", *heads, "p"], lines)]
    figures = [f"by {min(gains):+.2f} to {max(gains):+.2f} points"] if gains else []
    why = "the p chosen by cross-validation is not better on rows that were not used to choose it"
    return finding({"the chosen p is better than 1 and 2 on test rows": [gain > 0.0 for gain in gains]}, figures,
                   tables, why if min(gains, default=1.0) <= 0.0 else "")  # fmt: skip


def over_sizes(outcomes: list[Outcome]) -> Finding:
    return finding(*slopes(outcomes, dict.fromkeys(FORMS, LINEAR)), [by_rows(outcomes, "Seconds by rows, C = 1")])


def over_costs(outcomes: list[Outcome]) -> Finding:
    lines, apart, forms = [], [], list(FORMS)
    for k in (0, 2):
        for row in groups(outcomes):
            inexact, exact = (dict(row[name].points("accuracy")) for name in forms[k : k + 2])
            found = {C: 100.0 * (inexact[C] - exact[C]) for C in inexact if C in exact}
            apart += map(abs, found.values())
            cell = row[forms[k]].cell
            lines.append([str(cell.data), forms[k].partition(", ")[2], *(found.get(C, "-") for C in cell.steps)])
    costs = [f"C = {C:g}" for C in outcomes[0].cell.steps]
    figures = [f"{max(apart):.2f} at most, {median(apart):.2f} in the median"] if apart else []
    tables = [Dataset("Points of accuracy, Algorithm 2 minus Algorithm 1", ["set", "loss", *costs], lines)]
    return finding({f"apart by at most {POINTS:g} points": [x <= POINTS for x in apart]}, figures, tables)


def flatness(outcomes: list[Outcome]) -> Finding:
    ratios: dict[str, list[float]] = {"C": [], "p": []}
    for o in outcomes:
        times = [s["seconds"] for s in o.steps]
        ratio = longest_over_shortest(times) if len(times) == len(o.cell.steps) else math.inf
        ratios["C" if o.cell.vary == "C" else "p"] += [ratio] if times else []
    checks = {f"longest time over C or p at most {SAME:g} times the shortest, over {letter}": [r <= SAME for r in found]
              for letter, found in ratios.items()}  # fmt: skip
    worst = {letter: max([r for r in found if r < math.inf], default=1.0) for letter, found in ratios.items()}
    figures = [f"over {letter} {r:.3g} times at worst, {ratios[letter].count(math.inf)} cut short"
               for letter, r in worst.items()]  # fmt: skip
    return finding(checks, figures, [by_rows(outcomes, f"{fact} over C, and over p", fact.lower())
                                     for fact in ("Iterations", "Seconds")])  # fmt: skip


part = partial(linear_set, rows=ROWS)
NOTES = "imdb stands for the many features of epsilon; SensIT is not here"
BY_COST = plan(FORMS, [*map(part, SETS[:5])], [Case(SMALL, {}, COSTS[::3])], {}, COSTS, vary="C")
BY_POWER = plan(ANY_POWER, [*map(part, SETS[:5])], [Case(SMALL, {}, POWERS[::2])], {}, POWERS, vary="loss_power")
CHOICES = plan(
    POWERED, [*map(part, SETS[:6])], [Case(SMALL, {}, TENTHS[::5])], {}, TENTHS, (15.0, 5.0), vary="loss_power",
    folds=FOLDS,
)  # fmt: skip
BY_ROWS = plan(
    FORMS, [Case(linear_set(name), {}, (*SIZES, m)) for name, m in zip(SETS, TRAINED, strict=False)],
    [Case(SMALL, {}, (100, 400))], vary="rows",
)  # fmt: skip
EXPERIMENTS = {
    "alm-table1": (plan(HINGE, [*map(linear_set, SETS)], [SMALL]), partial(
        race, f"SGD stands for Pegasos; SVMperf and BMRM have no package. {NOTES}")),
    "alm-table2": (plan(SQUARED, [*map(linear_set, SETS)], [SMALL]), partial(
        race, f"PCD and BMRM are not measured. {NOTES}")),
    "alm-table3": (CHOICES, powers),
    "alm-figure1": (BY_ROWS, over_sizes),
    "alm-figure2": (BY_COST, over_costs),
    "alm-costs": ((BY_COST[0] + BY_POWER[0], BY_COST[1] + BY_POWER[1]), flatness),
}  # fmt: skip
