"""Draw the charts of README and docs, in docs/images, with matplotlib.

python scripts/docs_charts.py                       speed.svg and kernels.svg from the files in docs/data,
                                                    and gap.svg from docs/images/gap.json
python scripts/docs_charts.py --measure DATA TRAIN  first writes gap.json anew, on a quiet machine: DATA is a training
                                                    set of two classes, TRAIN LIBLINEAR's program
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import machine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
IMAGES = ROOT / "docs" / "images"
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
OURS, THEIRS, OTHERS, INK = "#3949ab", "#ef6c00", "#8d8d8d", "#444444"
REPEATS, COST = 21, 1.0
GAPS = ("1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8")
TOLERANCES = ("1", "0.3", "0.1", "0.03", "0.01", "0.001", "0.0001", "0.00001")


def rows_of(name: str) -> list[dict[str, str]]:
    """The lines of a file of measurements."""
    with open(ROOT / "docs" / "data" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@contextlib.contextmanager
def chart(name: str, height: float, words: str, ticks: Sequence[float] = ()) -> Iterator[Axes]:
    """Axes without a frame, with words below, written as an SVG file; ticks: of a logarithmic x.

    Equal figures give equal files.
    """
    figure = Figure(figsize=(7.6, height), layout="constrained")
    axes = figure.subplots()
    if ticks:
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.minorticks_off()
    yield axes
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xlabel(words, fontsize=8, color=INK)
    matplotlib.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "none"})
    figure.savefig(IMAGES / name, format="svg", metadata={"Date": None}, facecolor="white")


def speed() -> None:
    """LIBLINEAR's time over ours, by size of the data: geometric mean and worst pair."""
    rows = {row["LIBLINEAR's time / ours"]: row for row in rows_of("liblinear.csv")}
    groups = {
        "whole command": "whole process, default -e",
        "training alone, to LIBLINEAR's objective": "training alone, to the objective of LIBLINEAR's default",
    }
    labels, at, first = {}, 0.0, next(iter(rows.values()))
    words = (
        f"LIBLINEAR's time / svmtool's (above 1: svmtool is faster). Dot: geometric mean, bar: the worst pair.\n"
        f"pairs of set and command at random, {first['measured on']}, {first['machine']}"
    )
    with chart("speed.svg", 3.1, words, (0.03, 0.1, 0.3, 1, 3, 10, 30)) as axes:
        for title, start in groups.items():
            axes.text(0.021, at - 0.75, title, color=INK, fontsize=9, fontweight="bold", va="center")
            for size in ("files from 3 MB", "1 to 3 MB", "under 1 MB"):
                row = rows[f"{start}, {size}"]
                mean, worst = float(row["geometric mean"]), float(row["worst"])
                axes.plot([worst, mean], [at, at], color=OURS, alpha=0.35, linewidth=4, solid_capstyle="round")
                axes.plot([worst], [at], "|", color=OURS, markersize=10, markeredgewidth=2)
                axes.plot([mean], [at], "o", color=OURS, markersize=8)
                axes.text(mean * 1.13, at, f"{mean:.2f}x", color=OURS, fontsize=9, va="center", bbox=WHITE)
                pairs = f"{row['pairs']} pairs, {row['below 1']} slower"
                axes.text(90, at, pairs, color=INK, fontsize=8, va="center", ha="right")
                labels[at] = size
                at += 1.0
            at += 1.0
        axes.axvline(1.0, color=INK, linewidth=1)
        axes.set(xlim=(0.02, 95), ylim=(at - 1.4, -1.3))
        axes.set_yticks(list(labels), list(labels.values()))


def kernels() -> None:
    """Seconds of training with the RBF kernel on each set, by tool."""
    rows, labels = rows_of("kernels.csv"), []
    tools = (("svmtool", "ours", OURS, "o"), ("oneDAL", "oneDAL", OTHERS, "D"), ("LIBSVM", "LIBSVM", THEIRS, "s"))
    words = (
        "seconds of training with the RBF kernel, same C and gamma; hollow: not finished in 25 s\n"
        f"{rows[0]['measured on']}, {rows[0]['machine']}"
    )
    with chart("kernels.svg", 3.4, words, (0.3, 1, 3, 10, 25)) as axes:
        for at, row in enumerate(rows):
            name, cost = re.match(r"([\w-]+?)(?:_scale|\.| ).*C (\d+)", row["training with a kernel, s"]).groups()
            labels.append(f"{name}, C = {cost}")
            found = [float(row[k].removeprefix("over ")) for _, k, _, _ in tools]
            axes.plot([min(found), max(found)], [at, at], color="#e0e0e0", linewidth=3, zorder=1)
            for place, (name, k, color, mark) in enumerate(tools):
                value, face = found[place], "white" if row[k].startswith("over") else color
                y = at + 0.4 * (found[:place].count(value) - (found.count(value) - 1) / 2)  # one above the other
                axes.plot([value], [y], mark, color=color, markerfacecolor=face, label="" if at else name, markersize=6)
        axes.set(xlim=(0.25, 40), ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), labels, fontsize=9)
        marks = [axes.plot([], [], mark, color=color, label=name)[0] for name, _, color, mark in tools]
        axes.legend(handles=marks, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Processor seconds of a command with all its threads: the minimum over some runs."""
    found = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def measure(data: str, train: str) -> None:
    """Write gap.json: processor seconds of whole commands with -s 3, and the certified gap of what they return."""
    import svmtool
    from bench.problem import Problem, value
    from svmtool.formats.svmlight import table

    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    rows, problem = table.read(data), Problem(3, COST)
    dual = svmtool.fit(*svmtool.read_svmlight(data)[:2], **problem.keywords, gap=1e-10).certificate.dual
    tools = (
        ("svmtool", [sys.executable, "-m", "svmtool", "train"], "--gap", GAPS),
        ("LIBLINEAR", [train], "-e", TOLERANCES),
    )
    curves: dict[str, list[list[float]]] = {name: [] for name, *_ in tools}
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        for name, command, option, asked in tools:
            for number in asked:
                spent = seconds([*command, "-q", *problem.options, option, number, data, model], environment)
                curves[name].append([spent, 1.0 - dual / value(problem, model, rows)])
    facts: dict = {"set": os.path.basename(data), "rows": len(rows), "cost": COST, "repeats": REPEATS}
    facts.update(date=datetime.date.today().isoformat(), processor=machine.processor(), curves=curves)
    (IMAGES / "gap.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def gaps() -> None:
    """Gap against time on one set."""
    facts = json.loads((IMAGES / "gap.json").read_text(encoding="utf-8"))
    words = (
        "processor seconds of the whole command, one thread\n"
        f"{facts['set']}, {facts['rows']:,} rows, -s 3 -c {facts['cost']:g}; "
        f"least of {facts['repeats']} runs, {facts['date']}, {facts['processor']}\n"
        f"svmtool: --gap {GAPS[0]} to {GAPS[-1]}; LIBLINEAR: -e {TOLERANCES[0]} to {TOLERANCES[-1]}"
    )
    with chart("gap.svg", 3.1, words) as axes:
        for (name, points), color, mark in zip(facts["curves"].items(), (OURS, THEIRS), "os", strict=True):
            axes.plot(*zip(*points, strict=True), color=color, marker=mark, markersize=5, linewidth=1.6, label=name)
        axes.set(yscale="log", xlim=(0.0, 1.1 * max(x for points in facts["curves"].values() for x, _ in points)))
        axes.legend(frameon=False, fontsize=9, loc="upper left")
        axes.grid(axis="y", color="#dddddd", linewidth=0.7)
        axes.set_ylabel("gap of the model", color=INK, fontsize=9)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    speed()
    kernels()
    gaps()
