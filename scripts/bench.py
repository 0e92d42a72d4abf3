#!/usr/bin/env python3
"""Benchmark: times svmtool's commands against LIBLINEAR, LIBSVM, scikit-learn and oneDAL, alternately.

    python scripts/bench.py --liblinear DIR --libsvm DIR --peer-python PYTHON [--only train,predict] [FILE ...]

LIBLINEAR and LIBSVM are folders with their built programs (LIBLINEAR's with
liblinear.so.6 and its python/ folder for `alone`); the defaults are LIBLINEAR_DIR
and LIBSVM_DIR.  Commands run in turn, A B A B; medians and their ratios are shown.
FILEs replace the usual sets.  Tables go to stdout, all results to a JSON file.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import machine  # noqa: E402
from bench_parts import (  # noqa: E402
    all_sets,
    alone,
    commands,
    each_number,
    fosvm,
    hinge,
    kernel,
    kernel_ls,
    kernel_pairs,
    kernel_predict,
    lssvm,
    nesvm,
    on_disk,
    python,
    spark,
)
from bench_parts.context import Context  # noqa: E402
from bench_parts.measure import REPOSITORY, CommandFailed, NoSetsError, Report  # noqa: E402
from svmtool.compiled import ahead_of_time  # noqa: E402

PARTS = {
    "all-sets": all_sets.all_sets,
    "startup": commands.startup,
    "read": alone.read,
    "train": commands.train,
    "alone": alone.alone,
    "whole": commands.whole,
    "multiclass": commands.multiclass,
    "predict": commands.predict,
    "scale": commands.scale,
    "memory": commands.memory,
    "slope": alone.slope,
    "determinism": commands.determinism,
    "hinge": hinge.hinge,
    "powerslope": hinge.powerslope,
    "regression": hinge.regression,
    "numbers": each_number.each_number,
    "auto": each_number.auto,
    "nesvm": nesvm.nesvm,
    "lssvm": lssvm.lssvm,
    "adapt": lssvm.adapt,
    "lssvm-dims": lssvm.dimensions,
    "fosvm": fosvm.fosvm,
    "kernel": kernel.kernel,
    "kernel-pairs": kernel_pairs.kernel_pairs,
    "kernel-predict": kernel_predict.kernel_predict,
    "kernel-ls": kernel_ls.kernel_ls,
    "on-disk": on_disk.on_disk,
    "large": on_disk.large,
    "spark": spark.spark,
    "python": python.python,
    "call": python.call,
}
ON_REQUEST = ("on-disk", "large")  # need gigabytes of disk


def options(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line, or argv."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0] if __doc__ else None,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    shared = REPOSITORY.parent / "shared" / "data"
    parser.add_argument("files", nargs="*", help="data files to use instead of the usual sets")
    parser.add_argument(
        "--only",
        default=",".join(name for name in PARTS if name not in ON_REQUEST),
        help="parts to run, comma-separated",
    )
    parser.add_argument("--quick", action="store_true", help="few small sets")
    parser.add_argument(
        "--budget", type=float, default=30.0, help="seconds for one ladder of tolerances at one C, or one kernel run"
    )
    parser.add_argument("--skip", default="", help="sets that `alone`, `hinge` and `kernel` leave out, comma-separated")
    parser.add_argument(
        "--numbers", default="", help="values of -s for `numbers` and `nesvm`, comma-separated (default: all)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="measured runs of each command")
    parser.add_argument("--liblinear", default=os.environ.get("LIBLINEAR_DIR"), help="folder of LIBLINEAR")
    parser.add_argument("--libsvm", default=os.environ.get("LIBSVM_DIR"), help="folder of LIBSVM")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="a Python that imports scikit-learn (and sklearnex)"
    )
    parser.add_argument("--spark-python", default=sys.executable, help="a Python that imports pyspark")
    parser.add_argument(
        "--data",
        action="append",
        help="folder of data sets, plain or .xz (may be repeated; default: shared/data, data)",
    )
    parser.add_argument("--cache", default=str(REPOSITORY / "results" / "bench"), help="folder for unpacked data")
    parser.add_argument("--minutes", type=float, default=20.0, help="time in which `all-sets` and `python` start pairs")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a run of `all-sets`, a fit of `python`")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of pairs in `all-sets` and `python`")
    parser.add_argument("--memory", default="1G", help="svm-train's --memory in `on-disk` and `large`")
    parser.add_argument("--made-mb", type=int, default=4000, help="most MB of text that `on-disk` and `large` generate")
    parser.add_argument(
        "--made-folder", default=None, help="folder for it (default: the cache); needs 4 times its size"
    )
    parser.add_argument("--plots", default=None, help="folder for pictures (default: the cache)")
    parser.add_argument("--json", default=None, help="file for the results (default: bench.json in the cache)")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 when a bar fails")
    chosen = parser.parse_args(argv)
    chosen.data = chosen.data or [str(shared), str(REPOSITORY / "data")]
    unknown = [name for name in chosen.only.split(",") if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return chosen


def conditions() -> dict:
    """Describe the machine and the versions."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": machine.processor(),
        "cores": machine.cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "loops": "compiled ahead of time" if ahead_of_time() else "compiled just in time: run make setup first",
    }


def main() -> int:
    chosen = options()
    report = Report()
    ctx = Context(chosen, report)
    facts = conditions()
    report.show(", ".join(f"{key} {value}" for key, value in facts.items()))
    interrupted = False
    for name in chosen.only.split(","):
        try:
            PARTS[name](ctx)
        except KeyboardInterrupt:
            report.show(f"\ninterrupted in part {name}: the results so far follow")
            interrupted = True
            break
        except NoSetsError:
            report.show(f"part {name} is left out: none of its data sets is there")
            report.bar(f"part {name}", float("nan"), "<=", 0.0)
        except CommandFailed as e:
            report.show(str(e))
            report.bar(f"part {name} runs to its end", 1.0, "<=", 0.0)
    good = report.summary()
    target = Path(chosen.json or Path(chosen.cache) / "bench.json")
    target.write_text(json.dumps({"machine": facts, "sections": report.sections}, indent=1) + "\n")
    report.show(f"\nwritten: {target}")
    if interrupted:
        return 128 + signal.SIGINT
    return 1 if chosen.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
