"""Child process: draws seconds over d.  stdin: {tool: [[d, seconds], ...]}; argument: SVG file."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError:
    sys.exit("the picture needs matplotlib: pip install 'svmtool[plot]'")

from svmtool.formats import output


def main() -> None:
    curves = json.load(sys.stdin)
    matplotlib.rcParams["svg.hashsalt"] = "lssvm_dimensions"  # equal runs give equal files
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for tool, points in curves.items():
        axes.plot(*zip(*points, strict=True), "o--" if tool.startswith("LIBLINEAR") else "o-", label=tool)
    axes.set_yscale("log")
    axes.set_xlabel("d, most frequent features")
    axes.set_ylabel("seconds, training alone")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    with output.replacing(sys.argv[1]) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
