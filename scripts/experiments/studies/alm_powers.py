"""ALM, Table 3: the power p of the hinge by cross-validation, among 1, 1.1 .. 2."""

from __future__ import annotations

from experiments.declare import Cell, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import by_name, verdict
from experiments.races import linear_set

SETS = ("covtype.binary.scale01.part", "ijcnn1", "w8a", "connect-4", "shuttle.scale", "poker")
ROWS = 5_000  # of each set
POWERS = tuple(round(1.0 + 0.1 * k, 1) for k in range(11))
FOLDS = 5
FORMS = {"ALM, Algorithm 2": ("-s 30", {}), "svmtool, fast": ("-s 30", {"method": "fast", "tolerance": 1e-3})}
OWN = "ALM, Algorithm 2"


def cells(quick: bool) -> list[Cell]:
    data = [linear_set("breast_cancer")] if quick else [linear_set(name, rows=ROWS) for name in SETS]
    return [
        Cell(
            "ours", method, d, "power", settings, POWERS[::5] if quick else POWERS, "loss_power", FOLDS,
            5.0 if quick else 15.0,
        )
        for d in data for method, settings in FORMS.values()
    ]  # fmt: skip


def conclude(outcomes: list[Outcome]) -> Finding:
    table, checks, curves, gains = [], [], {}, []
    for row in by_name(outcomes, tuple(FORMS)):
        o, name = row[OWN], str(row[OWN].cell.data)
        steps = {s["step"]: s for s in o.steps}
        if o.ended != "done":
            table.append([name, o.ended])
            continue
        best = chosen(o)
        shares = [100.0 * steps[p][name] for name in ("validated", "accuracy") for p in (1.0, 2.0, best["step"])]
        engine = chosen(row["svmtool, fast"]) if row["svmtool, fast"].ended == "done" else {}
        table.append(
            [name, *shares, best["step"], engine.get("step", "-"), 100.0 * engine.get("accuracy", float("nan"))]
        )
        gains.append(shares[5] - max(shares[3], shares[4]))
        checks.append(gains[-1] > 0.0)
        curves[name] = [(p, 100.0 * (s["validated"] - best["validated"])) for p, s in steps.items()]
    heads = ["set", "CV % p=1", "CV % p=2", "CV % chosen", "test % p=1", "test % p=2", "test % chosen", "p"]
    heads += ["p (svmtool, fast)", "test % (svmtool, fast)"]
    title = f"Accuracy in percent: of {FOLDS} folds, which choose p, and of test rows"
    if not checks:
        return Finding("No set ended.", "not measured", [Dataset(title, heads[: len(table[0])], table)])
    words = (
        f"On held-out rows the chosen p is better than p = 1 and p = 2 on {sum(checks)} of {len(checks)} sets, by "
        f"{min(gains):+.2f} to {max(gains):+.2f} points."
    )
    why = "the p chosen by cross-validation is not better on rows that were not used to choose it"
    plot = Plot("CV accuracy below its best", "p", "points", curves, log_x=False, log_y=False)
    table = [[*row, *[""] * (len(heads) - len(row))] for row in table]
    return Finding(words, verdict(checks), [Dataset(title, heads, table)], [plot], why if min(gains) <= 0 else "")


def chosen(outcome: Outcome) -> dict:
    """The step of the best cross-validation accuracy, and of these of the least p."""
    return max(outcome.steps, key=lambda s: (s["validated"], -s["step"]))


EXPERIMENTS = (
    Experiment(
        "alm-table3", "Nie et al. 2014, Table 3",
        "a chosen power p of the hinge is more accurate than 1 or 2",
        "best p 1.1 to 1.9, accuracy up by 0.2 (shuttle) to 4.4 points (SensIT seismic)", cells, conclude, 110.0,
    ),
)  # fmt: skip
