"""Shared by child processes that draw: read curves as JSON from stdin and write the SVG file named by the argument.

Drawing has separate processes, because matplotlib would enlarge the measuring one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError:
    sys.exit("the picture needs matplotlib: pip install 'svmtool[plot]'")

from svmtool.formats import output


def picture(name: str, draw: Callable[[Figure, dict], None]) -> None:
    """Draw the curves with `draw` and write the figure reproducibly."""
    matplotlib.rcParams["svg.hashsalt"] = name
    figure = Figure(layout="constrained")
    draw(figure, json.load(sys.stdin))
    with output.replacing(sys.argv[1]) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
