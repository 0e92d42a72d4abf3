"""Training on Spark compared with MLlib's LinearSVC and LogisticRegression, with cached rows, and its cost in parts."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.measure import Sample, child_json, environment, run_once, solver
from bench_parts.measure import ours as our_command
from svmtool.distributed.rank import topology

# loss -> our settings, and MLlib's estimator
PROBLEMS = {
    "hinge": ({"solver": 31, "loss_power": 1.0, "bias": 1.0, "regularize_bias": False}, "LinearSVC"),
    "logistic": ({"solver": 0}, "LogisticRegression"),
}
C = 1.0

# The cluster that costs are extrapolated to: nodes like this machine, on one switch.
LATENCY = 0.5e-3  # seconds for a message from node to node
BANDWIDTH = 1.25e9  # bytes a second into a node: 10 Gbit/s
NODES = (10, 100)


def spark(ctx: Context) -> None:
    """Time to a relative gap on each set and for each loss, and its parts, here and extrapolated to more nodes."""
    report = ctx.report
    report.section(
        "spark",
        f"Spark, {bars.SPARK_MASTER}: s to a gap of {bars.SPARK_GAP:g}, rows cached before (ratio: MLlib / ours)",
    )
    if ctx.spark_python is None:
        report.show("   not measured: --spark-python names no Python that has pyspark")
        return
    costs = []
    for name, path in spark_sets(ctx):
        best = {loss: optimum(ctx, loss, path) for loss in PROBLEMS}
        mine = ours(ctx, path)
        theirs = mllib(ctx, path, best)
        for loss, (_, peer) in PROBLEMS.items():
            runs = {"ours": mine[loss], "ours, whole command": whole(ctx, loss, path), f"MLlib {peer}": theirs[loss]}
            values = certified(path, loss, [run["model"] for run in runs.values()], best[loss]["model"])
            for run, value in zip(runs.values(), values[:-1], strict=True):
                run["reached"] = value / min(values) - 1.0
            show(ctx, f"{name}, {loss}", runs, peer)
            costs.append((f"{name}, {loss}", mine[loss]))
    cost_table(ctx, costs)


def spark_sets(ctx: Context) -> list[tuple[str, str]]:
    """The standard sets and a synthetic one."""
    names, (rows, d) = bars.QUICK["spark"] if ctx.quick else (bars.SPARK_SETS, bars.SPARK_ROWS)
    found = ctx.sets(names)
    if not ctx.files:
        path = ctx.made("dense", "rows", rows, d)
        found.append((Path(path).name, path))
    return found


def optimum(ctx: Context, loss: str, path: str) -> dict:
    """Train in memory to a hundredth of the requested gap; returns the model, its objective and number of features."""
    model = ctx.path(f"best.{loss}.model")
    run_once([*our_command("train"), "-q", *words(loss, bars.SPARK_GAP / 100), path, model], Sample(), environment())
    text = Path(model).read_text()
    return {
        "model": model,
        "value": float(re.search(r"primal ([^,]+),", text)[1]),
        "features": int(re.search(r"nr_feature (\d+)", text)[1]),
    }


def words(loss: str, gap: float) -> list[str]:
    """Our options for a loss; the bias of the hinge is free by default."""
    settings = PROBLEMS[loss][0]
    power = ["--loss-power", f"{settings['loss_power']:g}"] if "loss_power" in settings else []
    return [*solver(settings["solver"]), *power, "-c", f"{C:g}", "--gap", f"{gap:g}"]


def mllib(ctx: Context, path: str, best: dict) -> dict[str, dict]:
    """MLlib's fits of both losses on one cached set."""
    order = {
        "master": bars.SPARK_MASTER, "memory": bars.SPARK_MEMORY, "path": path, "C": C, "target": bars.SPARK_GAP,
        "budget": ctx.budget, "repeats": ctx.repeats,
        "features": max(found["features"] for found in best.values()),
        "problems": [
            {"loss": loss, "optimum": found["value"], "weights": ctx.path(f"mllib.{loss}.npy")}
            for loss, found in best.items()
        ],
    }  # fmt: skip
    found = child_json([ctx.spark_python, HERE / "child_mllib.py", json.dumps(order)])
    ctx.report.show(f"   MLlib has read {found['rows']} rows in {found['reading']:.1f} s")
    return {run["loss"]: {**run, "model": ctx.path(f"mllib.{run['loss']}.npy")} for run in found["runs"]}


def certified(path: str, loss: str, models: list[str], best: str) -> list[float]:
    """Objectives of models and weights by the benchmark's evaluator, the best known model's last."""
    candidates = [{"loss": loss, "weights" if m.endswith(".npy") else "model": m} for m in [*models, best]]
    order = {"path": path, "C": C, "candidates": candidates}
    return child_json([sys.executable, HERE / "child_spark_certify.py", json.dumps(order)])


def ours(ctx: Context, path: str) -> dict[str, dict]:
    """Our fits of both losses on one cached set, and their costs."""
    order = {
        "master": bars.SPARK_MASTER, "memory": bars.SPARK_MEMORY, "path": path, "repeats": ctx.repeats,
        "runs": [
            {"loss": loss, "model": ctx.path(f"spark.{loss}.model"),
             "settings": {**settings, "C": C, "gap": bars.SPARK_GAP}}
            for loss, (settings, _) in PROBLEMS.items()
        ],
    }  # fmt: skip
    found = child_json([ctx.spark_python, HERE / "child_spark.py", json.dumps(order)])
    ctx.report.show(f"   svmtool has read {found['rows']} rows in {found['reading']:.1f} s")
    return {run["loss"]: run for run in found["runs"]}


def whole(ctx: Context, loss: str, path: str) -> dict:
    """Time the command svm-train --spark: start of Spark, reading, training, certificate."""
    sample, model = Sample(), ctx.path(f"whole.{loss}.model")
    argv = [ctx.spark_python, "-m", "svmtool", "train", "-q", "--spark", bars.SPARK_MASTER]
    submit = f"--driver-memory {bars.SPARK_MEMORY} pyspark-shell"
    run_once([*argv, *words(loss, bars.SPARK_GAP), path, model], sample, environment(PYSPARK_SUBMIT_ARGS=submit))
    return {"seconds": sample.median, "model": model}


def show(ctx: Context, job: str, runs: dict[str, dict], peer: str) -> None:
    """Print one row for each tool, and check the bars."""
    mine = runs["ours"]
    for tool, run in runs.items():
        ratio, run["over"] = run["seconds"] / mine["seconds"], run["reached"] > bars.SPARK_GAP
        steps = f" in {run['steps']} iterations" if "steps" in run else ""
        ctx.report.show(
            f"{job:32} {tool:26} {run['seconds']:8.2f} s   gap {run['reached']:.1e}{steps}   / ours {ratio:6.2f}"
            + "   NOT REACHED" * run["over"]
        )
    ctx.report.sections[-1]["rows"].append({"job": job, "tools": runs})
    ratio = runs[f"MLlib {peer}"]["seconds"] / mine["seconds"]
    ctx.report.bar(f"Spark, {job}, MLlib / ours, rows cached", ratio, ">=", bars.SPARK_FASTER)
    ctx.report.bar(f"Spark, {job}, gap of ours", mine["reached"], "<=", bars.SPARK_GAP)


def cost_table(ctx: Context, costs: list[tuple[str, dict]]) -> None:
    """Print the parts of our run's time, measured here and extrapolated to more nodes."""
    ctx.report.section("spark-costs", "Spark, seconds of ours: measured here, and computed for more nodes")
    for job, run in costs:
        for nodes in (1, *NODES):
            parts = shares(run["costs"], nodes)
            what = f"{nodes} nodes, computed" if nodes > 1 else "here, measured"
            cells = "   ".join(f"{part} {seconds:8.3f}" for part, seconds in parts.items())
            passes = run["costs"]["passes"]
            ctx.report.row(
                f"{job:32} {what:20} {sum(parts.values()):8.3f} s:   {cells}   ({passes} passes)",
                job=job, nodes=nodes, passes=passes, seconds=parts,
            )  # fmt: skip


def shares(costs: dict, nodes: int) -> dict[str, float]:
    """The parts of a run's time on this many nodes like this one; for one node they are measured.

    costs: of child_spark.py.  Assumed: the same rows, distributed evenly, one partition a core as here, and the same
    number of passes.  The time in partitions is then divided by the number of nodes.  The driver sends each pass to
    its children in the tree of tasks one after another and adds up their answers; so does each inner task.  The
    processor time of this, for a pass and for a number in a vector, and the traffic on the links grow with the number
    of connections on the longest path of the tree.  The driver's own time does not change.
    """
    passes, numbers = costs["passes"], costs["numbers"]
    _, served_here = longest_path(costs["partitions"])
    levels, served = longest_path(costs["partitions"] * nodes)
    growing = min(costs["sending"], passes * costs["a pass"] + numbers * costs["a number"])
    network = 2 * passes * levels * LATENCY + served * numbers * 8 / BANDWIDTH if nodes > 1 else 0.0
    return {
        "in partitions": costs["tasks"] / nodes,
        "sending, adding up": costs["sending"] + growing * (served / served_here - 1),
        "network": network,
        "driver": costs["driver"],
    }


def longest_path(partitions: int) -> tuple[int, int]:
    """Levels of the tree of this many tasks, and the number of connections on its longest path."""
    first, places = topology(partitions)

    def path(below: tuple[int, ...]) -> tuple[int, int]:
        levels, served = map(max, zip((0, 0), *(path(places[child][1]) for child in below), strict=True))
        return levels + bool(below), served + len(below)

    return path(first)
