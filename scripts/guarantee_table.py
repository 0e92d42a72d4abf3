"""Times `svm-train -C --guarantee` beside LIBLINEAR's -C and a grid of 50 values, and checks its bound by 2,000 values.

    python scripts/guarantee_table.py LIBLINEAR_TRAIN DATA..

prints the table of docs/probabilities-and-metrics.md: a line for each set (LIBSVM's text, with -s 2 and 5 folds).
"""

import re
import subprocess
import sys
import time
from pathlib import Path

VALUES, MOST_SECONDS = 2000, 120
TRAIN = [sys.executable, "-c", "from svmtool import start; start.train()"]


def timed(*command: object) -> tuple[float, str]:
    began = time.perf_counter()
    out = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return time.perf_counter() - began, out


def validated(*options: object) -> tuple[str, str]:
    """The best accuracy in percent that a command found, with its seconds; and all that it printed."""
    seconds, out = timed(*options)
    best = out.split()[-1].rstrip("%")
    return f"{best}, {seconds:.2f}", out


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
        theirs, _ = validated(liblinear, "-C", "-s", 2, "-v", 5, path)
        grid, _ = validated(*TRAIN, "-q", "-s", 2, "-v", 5, "--grid", f"C={low}:1024:50", path)
        fine = ("--gap", 1e-8, "--max-seconds", MOST_SECONDS, "--grid", f"C={low}:1024:{VALUES}")
        found, out = validated(*TRAIN, "-q", "-s", 2, "-v", 5, *fine, path)
        truth, count = float(found.partition(",")[0]), len(out.splitlines()) - 3  # less a title, heads and the best
        held = "" if truth <= bound + 1e-9 else ", VIOLATION"
        many = "" if count == VALUES else f" (of {count:,})"
        rows = sum(1 for _ in open(path))
        print(f"| {Path(path).name} | {rows:,} | {cells[0]} | {cells[1]} | {best:g}, {bound:g} | {theirs} | {grid} "
              f"| {truth:g}{many}{held} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
