"""Child process: draws rounds over the number of rows.  stdin: {set: [runs of child_fosvm]}; argument: SVG file.

A process of its own, for matplotlib would make the measuring one large.
"""

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
    matplotlib.rcParams["svg.hashsalt"] = "fosvm"  # equal runs give equal files
    figure = Figure(figsize=(9, 4), layout="constrained")
    for side, what in zip(figure.subplots(1, 2), ("rounds", "seconds"), strict=True):
        for k, (name, runs) in enumerate(curves.items()):
            for solver, style in ((80, "-o"), (81, ":")):
                mine = [r for r in runs if r["solver"] == solver]
                side.plot([r["rows"] for r in mine], [r[what] for r in mine], style, color=f"C{k}", ms=3,
                          label=name if solver == 80 else None)  # fmt: skip
        side.set_xscale("log")
        side.set_yscale("linear" if what == "rounds" else "log")
        side.set_xlabel("training rows (dotted: -s 81)")
        side.set_ylabel(what)
        side.grid(alpha=0.3)
        side.legend(fontsize="small")
    with output.replacing(sys.argv[1]) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
