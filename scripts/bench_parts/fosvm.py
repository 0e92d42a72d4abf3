"""-s 80 and -s 81 compared with LIBSVM's -s 2 by the paper's protocol: one class is normal, the others are thinned.

At each gamma LIBSVM's nu is the share of training rows that -s 80 rejects with --boundary rho; each of the three then
uses its best gamma on the validation rows.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from bench_parts import bars
from bench_parts.alone import HERE
from bench_parts.context import Context
from bench_parts.kernel import side_by_side, within
from bench_parts.measure import child_json

MIN_NU = 1e-3
READING = ["-n", "1e-6", "-e", "1e9"]  # LIBSVM only reads and sets up its cache
NAMES = {80: "-s 80", 81: "-s 81", 2: "LIBSVM"}


def fosvm(ctx: Context) -> None:
    """Training time and area under the ROC curve of each at its best gamma; rounds over the number of rows."""
    report = ctx.report
    report.section(
        "fosvm",
        "one class normal, the others thinned to a tenth: seconds of training alone, share of training rows rejected, "
        "area under the ROC curve, each at its best gamma",
    )
    curves = {}
    for name, normal in bars.QUICK["fosvm"] if ctx.quick else bars.FOSVM_CASES:
        path = None if name in ctx.skipped else ctx.find(name)
        if path is None:
            continue
        train = ctx.path(f"{name}.normal")
        order = {"path": path, "normal": normal}
        found = _child({**order, "train": train, "gammas": bars.FOSVM_GAMMAS, "limit": ctx.budget})
        runs = found["runs"]
        if ctx.libsvm:
            runs += _libsvm(ctx, order, train, [r for r in runs if r["solver"] == 80])
        best = {s: max((r for r in runs if r["solver"] == s), key=lambda r: r["valid"], default=None) for s in NAMES}
        cells = "   ".join(f"{NAMES[s]} {_cell(run)}" for s, run in best.items() if run)
        report.row(f"{name:16} {found['rows']:6d} rows   {cells}", job=name, rows=found["rows"], runs=runs, best=best)
        curves[name] = _child({**order, "sizes": bars.FOSVM_SIZES, "gamma": bars.FOSVM_CURVE / found["features"]})
        report.row(
            "   rounds over rows: "
            + "  ".join(f"{r['rows']}: {r['rounds']}" for r in curves[name] if r["solver"] == 80),
            job=f"{name} rounds", curve=curves[name],
        )  # fmt: skip
        for solver in (80, 81) if best[2] else ():
            loss = best[2]["test"] - best[solver]["test"]
            report.bar(f"{name} {NAMES[solver]}, AUC below LIBSVM's", loss, "<=", bars.FOSVM_AUC)
            if found["rows"] >= bars.FOSVM_LARGE:
                ratio = best[2]["seconds"] / best[solver]["seconds"]
                report.bar(f"{name}, LIBSVM / {NAMES[solver]}, alone", ratio, ">=", bars.FOSVM_FASTER)
    if curves:
        ctx.draw("draw_fosvm.py", "fosvm_rounds.svg", curves)


def _child(order: dict):
    return child_json([sys.executable, HERE / "child_fosvm.py", json.dumps(order)])


def _libsvm(ctx: Context, order: dict, train: str, ours: list[dict]) -> list[dict]:
    """Run LIBSVM at the gammas and rejected shares of our runs; the time of reading is subtracted."""
    found = []
    for run in ours:
        model = ctx.path("fosvm.libsvm")
        nu = min(max(run["rejected"], MIN_NU), 1.0)
        argv = [ctx.reference("svm-train"), "-s", "2", "-g", f"{run['gamma']:.17g}", "-m", "100", "-q"]
        jobs = {
            "reading": within(ctx.budget, [*argv, *READING, train, os.devnull]),
            "LIBSVM": within(ctx.budget, [*argv, "-n", f"{nu:.17g}", train, model]),
        }
        Path(model).unlink(missing_ok=True)
        timed = side_by_side(jobs, ctx.budget, ctx.repeats, ctx.path("fosvm.out"))
        if timed["LIBSVM"].failed or timed["LIBSVM"].over:
            ctx.report.show(f"   LIBSVM, gamma {run['gamma']:g}: {timed['LIBSVM'].failed or timed['LIBSVM']}")
            continue
        seconds = max(timed["LIBSVM"].median - timed["reading"].median, 1e-3)
        certified = _child({**order, "model": model})
        found.append({"solver": 2, "gamma": run["gamma"], "nu": nu, "seconds": seconds, "converged": True, **certified})
    return found


def _cell(run: dict) -> str:
    words = f"{run['seconds']:7.3f} s rejects {run['rejected']:.3f} AUC {run['test']:.4f} (gamma {run['gamma']:.3g})"
    return words if run["converged"] else words + " NOT CONVERGED"
