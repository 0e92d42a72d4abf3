"""Times `svm-train -C --guarantee` beside LIBLINEAR's -C and a grid of 50 values, and checks its bound by 2,000 values.

    python scripts/guarantee_table.py LIBLINEAR_TRAIN DATA..

prints the table of docs/probabilities-and-metrics.md: a line for each set (LIBSVM's text, with -s 2 and 5 folds).
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import svmtool
from svmtool.api import arrays
from svmtool.limits import StopFlag
from svmtool.params import Settings
from svmtool.training.validation.cross_validation import Folds

VALUES, MOST_SECONDS = 2000, 120
TRAIN = [sys.executable, "-c", "from svmtool import start; start.train()"]


def timed(*command: str) -> tuple[float, str]:
    began = time.perf_counter()
    out = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return time.perf_counter() - began, out


def best_of(path: str, low: float) -> tuple[float, int]:
    """The best accuracy in percent of values of C, each solved to a gap of 1e-8, and how many the time allowed."""
    table, settings = arrays.dataset(*svmtool.read_svmlight(path)[:2], None, None), Settings.of(solver=2)
    folds, stop, best, warm = Folds(table, settings, 5), StopFlag(MOST_SECONDS), 0.0, [None] * 5
    folds.any_start = False
    order = np.geomspace(low, 1024.0, VALUES)
    for count, C in enumerate(order):
        if stop.seconds_left <= 0.0:
            return best, count
        predictions, _ = folds.evaluate(settings.replace(C=float(C), gap=1e-8), stop, warm)
        best = max(best, 100.0 * float(np.mean(predictions == table.labels)))
    return best, VALUES


def main() -> None:
    liblinear, *sets = sys.argv[1:]
    print("| set | rows | E = 1: values, s | E = 0.5: values, s | best, bound (E = 0.5) | LIBLINEAR's -C: best, s "
          "| grid of 50: best, s | best of 2,000 |\n| --- | --- | --- | --- | --- | --- | --- | --- |")  # fmt: skip
    for path in sets:
        cells, low, bound = [], 0.0, 0.0
        for E in (1.0, 0.5):
            seconds, out = timed(*TRAIN, "-q", "-C", "-s", 2, "--guarantee", E, "--max-seconds", MOST_SECONDS, path)
            best, bound = map(float, re.findall(r"([\d.]+)%", out))
            low, count = float(re.findall(r"from (\S+)", out)[0]), int(out.split()[-1])
            cells.append(f"{count}, {seconds:.2f}" + ("" if bound <= best + E + 1e-9 else " (limit)"))
        seconds, out = timed(liblinear, "-C", "-s", 2, "-v", 5, path)
        theirs = f"{out.split()[-1].rstrip('%')}, {seconds:.2f}"
        seconds, out = timed(*TRAIN, "-q", "-s", 2, "-v", 5, "--grid", f"C={low}:1024:50", path)
        grid = f"{out.split()[-1].rstrip('%')}, {seconds:.2f}"
        truth, count = best_of(path, low)
        held = "" if truth <= bound + 1e-9 else ", VIOLATION"
        many = "" if count == VALUES else f" (of {count:,})"
        rows = sum(1 for _ in open(path))
        print(f"| {Path(path).name} | {rows:,} | {cells[0]} | {cells[1]} | {best:g}, {bound:g} | {theirs} | {grid} "
              f"| {truth:g}{many}{held} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
