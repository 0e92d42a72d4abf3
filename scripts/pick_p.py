"""Choose the power p of the Lp hinge by cross-validation, as Dataset 3 of the ALM paper does.

    python scripts/pick_p.py [--cost C] [--folds N] [--solver alm-exact] data_file

Prints the accuracy for each p in {1, 1.1, ..., 2} and the best (the smallest of equally good ones).  The folds are
LIBLINEAR's and the same for all p; each fold starts from its solution for the previous p.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from svmtool import registry
from svmtool.cli.entry import guarded
from svmtool.formats.svmlight import table
from svmtool.params import Settings
from svmtool.training.interruption import interruptible
from svmtool.training.validation.cross_validation import Folds

POWERS = [round(1.0 + 0.1 * k, 1) for k in range(11)]


@click.command(help=__doc__.split("\n")[0])
@click.argument("data")
@click.option("--cost", default=1.0, show_default=True, help="C")
@click.option("--folds", default=5, show_default=True, help="number of folds")
@click.option("--solver", default="alm-exact", show_default=True, help="name of a solver with --loss-power")
@click.option("--gap", default=1e-4, show_default=True, help="certified gap of each fold's model")
def main(data: str, cost: float, folds: int, solver: str, gap: float) -> None:
    sys.exit(guarded(lambda: pick(data, cost, folds, solver, gap)))


def pick(data: str, cost: float, folds: int, solver: str, gap: float) -> int:
    """Print the table; returns the exit status."""
    row = registry.find(solver)
    if "--loss-power" not in row.supported:
        able = registry.in_words(registry.supporting("--loss-power"))
        print(f"solver {row.name} has no --loss-power: use the name of -s {able}", file=sys.stderr)
        return 1
    settings = Settings.of(
        solver=row.number, C=cost, gap=gap, bias=1.0 if row.free_bias else -1.0, regularize_bias=not row.free_bias
    )
    validation = Folds(table.read(data), settings, folds)
    warm: list = [None] * validation.count
    found = []
    for p in POWERS:
        with interruptible() as stop:
            predictions, _ = validation.evaluate(settings.replace(loss_power=p), stop, warm)
        found.append((float(np.mean(predictions == validation.table.labels)), -p))
        print(f"p = {p:.1f}   accuracy {100 * found[-1][0]:.4f}%", flush=True)
    rate, negative = max(found)
    print(f"Best p = {-negative:g}  CV accuracy = {100 * rate:g}%")
    return 0


if __name__ == "__main__":
    main()
