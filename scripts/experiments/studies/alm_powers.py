"""ALM, Dataset 3: the power p of the hinge by cross-validation, among 1, 1.1 .. 2."""

from __future__ import annotations

from experiments.declare import Cell, Dataset, Experiment, Finding, Outcome, Plot
from experiments.measures import verdict
from experiments.races import linear_set

SETS = {"covtype.binary.scale01.part": 10_000, "ijcnn1": 10_000, "w8a": 10_000, "connect-4": 10_000,
        "shuttle.scale": 10_000, "poker": 10_000}  # fmt: skip
QUICK = {"breast_cancer": None}
POWERS = tuple(round(1.0 + 0.1 * k, 1) for k in range(11))
FOLDS = 5


def cells(quick: bool) -> list[Cell]:
    return [
        Cell(
            "ours", "-s 31", linear_set(name, rows=rows), "power", {"tolerance": 1e-4},
            POWERS[::5] if quick else POWERS, "loss_power", FOLDS, seconds=40.0,
        )
        for name, rows in (QUICK if quick else SETS).items()
    ]  # fmt: skip


def conclude(outcomes: list[Outcome]) -> Finding:
    table, checks, curves, gains = [], [], {}, []
    for o in outcomes:
        steps = {s["step"]: s for s in o.steps}
        if o.ended != "done":
            table.append([str(o.cell.data), o.ended])
            continue
        best = max(steps, key=lambda p: (steps[p]["validated"], -p))
        shares = [100.0 * steps[p][name] for name in ("validated", "accuracy") for p in (1.0, 2.0, best)]
        table.append([str(o.cell.data), *shares, best])
        gains.append(shares[5] - max(shares[3], shares[4]))
        checks.append(gains[-1] > 0.0)
        curves[o.cell.data.name] = [(p, 100.0 * (s["validated"] - steps[best]["validated"])) for p, s in steps.items()]
    if not checks:
        return Finding("No set ended.", "not measured", [Dataset("Accuracy", ["set"], table)])
    words = (
        f"On held-out rows the chosen p is better than p = 1 and p = 2 on {sum(checks)} of {len(checks)} sets, by "
        f"{min(gains):+.2f} to {max(gains):+.2f} points."
    )
    why = (
        "the p chosen by cross-validation is not better on rows that were not used to choose it"
        if min(gains) <= 0
        else ""
    )
    heads = ["set", "CV % p=1", "CV % p=2", "CV % chosen", "test % p=1", "test % p=2", "test % chosen", "p"]
    title = f"Accuracy in percent: of {FOLDS} folds, which choose p, and of test rows"
    plot = Plot("CV accuracy below its best", "p", "points", curves, log_x=False, log_y=False)
    return Finding(words, verdict(checks), [Dataset(title, heads, table)], [plot], why)


EXPERIMENTS = (
    Experiment(
        "alm-table3", "Nie et al. 2014, Table 3",
        "a chosen power p of the hinge is more accurate than 1 or 2",
        "best p 1.1 to 1.9, accuracy up by 0.2 (shuttle) to 4.4 points (SensIT seismic)", cells, conclude,
    ),
)  # fmt: skip
