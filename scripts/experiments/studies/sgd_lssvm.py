"""SGD-LSSVM (Nguyen et al. 2015).

Table II and Figures 2 to 5: kernel least squares (RBF) beside C-SVC, and the number t of variables.
"""

from __future__ import annotations

import math

from experiments.declare import Case, Data, Finding, Outcome, Tool, plan
from experiments.measures import LINEAR, by_rows, by_sets, faster, finding, groups, mean_ratio, slopes

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
}
POINT = 0.01  # accuracies that differ by at most this much are comparable
VARIED = {"ijcnn1": (1.0, 2.0), "farm-ads": (1.0, 0.01)}
VARIED_ROWS = 1_500  # so that all t end
T = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SIZES = {"ijcnn1": (1_000, 2_000, 4_000, 6_000, 8_000, 10_000), "farm-ads": (400, 800, 1_600, 2_400, 3_300)}
SAME = 1.1  # times that differ by at most this factor count as equal


def asked(C: float, gamma: float) -> dict:
    return {"C": C, "gamma": gamma, "cache_mb": 1000}


def table(outcomes: list[Outcome]) -> Finding:
    rows = groups(outcomes)
    near = [row[ALGORITHM].fact("accuracy") >= row[LIBSVM].fact("accuracy") - POINT for row in rows if row[LIBSVM].last]
    each = [row[ALGORITHM].fact("iterations") / row[ALGORITHM].fact("rows") for row in rows]
    most = max((x for x in each if math.isfinite(x)), default=0.0)
    why = f"least squares gives every row a coefficient, and t = 1 takes up to {most:.2g} iterations a row for them"
    won = faster(rows, ALGORITHM, LIBSVM)
    tables = [by_sets(outcomes, "Seconds of training alone"), by_sets(outcomes, "Accuracy in percent", "accuracy", 100)]
    checks = {"t = 1 is faster than LIBSVM": won, "accuracy within a point of LIBSVM's": near}
    return finding(checks, mean_ratio(rows, LIBSVM, ALGORITHM), tables, "" if all(won) else why)


def varied(outcomes: list[Outcome]) -> Finding:
    checks: dict[str, list[bool]] = {"iterations fall": [], "accuracy is stable": [], "t = 1 or 2 is the fastest": []}
    figures = []
    for o in [o for o in outcomes if len(o.steps) > 1]:
        spent, counts, shares = (dict(o.points(fact)) for fact in ("seconds", "iterations", "accuracy"))
        best, most, apart = min(spent, key=spent.__getitem__), max(spent), max(shares.values()) - min(shares.values())
        falls = counts[most] == min(counts.values())
        near = min(spent[t] for t in (1, 2) if t in spent) <= SAME * spent[best]
        for name, holds in zip(checks, (falls, apart <= POINT, near), strict=True):
            checks[name].append(holds)
        figures.append(
            f"{o.cell.data}: t = {best} is the fastest, {spent[best]:.3g} s (1: {spent[1]:.3g} s, {most}: "
            f"{spent[most]:.3g} s); {max(counts.values()):,} to {min(counts.values()):,} iterations"
        )
    facts = ("seconds", "iterations", "accuracy")
    return finding(checks, figures, [by_rows(outcomes, f"By t: {fact}", fact) for fact in facts])


def growth(outcomes: list[Outcome]) -> Finding:
    checks, figures = slopes(outcomes, {ALGORITHM: LINEAR})
    steps = slopes([o for o in outcomes if o.cell.label == ALGORITHM], {}, "iterations")[1]
    why = "an iteration costs n kernel values, and the number of iterations is not constant"
    tables = [by_rows(outcomes, "Seconds by rows"), by_rows(outcomes, "Iterations by rows", "iterations")]
    return finding(checks, [*figures, "of the iterations:", *steps], tables, "" if all(*checks.values()) else why)


SMALL = Data("diabetes", unit=True)
SIDE_BY_SIDE = plan(
    TOOLS, [Case(Data(name, rows=ROWS, unit=True), asked(*values)) for name, values in SETS.items()],
    [Case(SMALL, asked(1.0, 1.0))], seconds=(15.0, 4.0),
)  # fmt: skip
OVER_T = plan(
    {"t": Tool("ours", "kernel -s 73")},
    [Case(Data(name, rows=VARIED_ROWS), asked(*values), T) for name, values in VARIED.items()],
    [Case(SMALL, asked(1.0, 1.0), T[::4])], seconds=(30.0, 20.0), vary="sgd_rows",
)  # fmt: skip
BY_ROWS = plan(
    {tool: TOOLS[tool] for tool in (ALGORITHM, ENGINE, LIBSVM)},
    [Case(Data(name), asked(*VARIED[name]), some) for name, some in SIZES.items()],
    [Case(Data("digits"), asked(1.0, 0.001), (400, 800))], seconds=(20.0, 20.0), vary="rows",
)  # fmt: skip
EXPERIMENTS = {
    "sgd-lssvm-table2": (SIDE_BY_SIDE, table), "sgd-lssvm-figures2-4": (OVER_T, varied),
    "sgd-lssvm-figure5": (BY_ROWS, growth),
}  # fmt: skip
