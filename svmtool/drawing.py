"""Pictures by matplotlib: files of --plot, and SVG inside an HTML page.

svm-train imports this module at its start, so functions import what only they need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from svmtool.errors import SvmtoolError, visible

GREY, FAINT = "#7b8794", "#b8c2cc"
BLUE, ORANGE, GREEN, RED = "#2f7fc1", "#d0661b", "#2a8a57", "#cf4a52"  # legible on white and on black
SUFFIXES = ("png", "svg", "pdf")
NAME_LENGTH, HEADING_LENGTH = 28, 11  # characters of a bar's name, and of a heading for each inch of the picture
NUMBER_WIDTH = 40  # points
LARGEST = 1e300  # numbers beyond it are drawn there
BAR_HEIGHT = 0.22  # inches, with the space to the next one
# Text stays text, a name with $ is no formula, and equal pictures are equal files.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "svmtool", "text.parse_math": False, "figure.autolayout": False}
NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def require(what: str, extra: str, *packages: str) -> None:
    """SvmtoolError where one of the packages that `what` needs is missing; extra: of svmtool, which has them."""
    import importlib.util

    if any(importlib.util.find_spec(package) is None for package in packages):
        raise SvmtoolError(f"ERROR: {what} needs {' and '.join(packages)}: pip install 'svmtool[{extra}]'")


class Plot:
    """A picture file; None: no picture is wanted, and nothing is drawn.

    Raises SvmtoolError for a name that ends in no kind of picture, and where matplotlib is missing.
    """

    def __init__(self, path: str | None):
        self.path = path
        if path is None:
            return
        self.kind = path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else "png"
        if self.kind not in SUFFIXES:
            raise SvmtoolError(f"ERROR: --plot {path}: the name must end in .{', .'.join(SUFFIXES)}")
        require("--plot", "plot", "matplotlib")

    def draw(self, fill: Callable[[Any], None], height: float = 6.0) -> None:
        """Draw by `fill`, which receives a figure of matplotlib; the file appears whole or not at all."""
        if self.path is None:
            return
        from svmtool.formats import output

        content = _drawn(fill, self.kind, (7.5, height), NO_DATE.get(self.kind, {}))
        with output.replacing(self.path) as file:
            file.write(content)


def inline(title: str, fill: Callable[[Any], None], width: float = 4.5, height: float = 3.4) -> str:
    """A picture as an SVG element of a page: black is the page's colour of text, the ground is the page's."""
    import re
    import zlib

    facts = {"Title": visible(title), "Date": None, "Creator": None, "Format": None, "Type": None}
    text = _drawn(fill, "svg", (width, height), facts, of_page=True).decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], count=1, flags=re.DOTALL)
    mark = f"{zlib.crc32(text.encode()):08x}-"  # each picture of a page has its own names
    return re.sub(r"<[^>]+>", lambda tag: _of_page(tag[0], mark), text)


def _of_page(tag: str, mark: str) -> str:
    """A tag as a page needs it."""
    import re

    if tag.startswith("<svg"):
        tag = re.sub(r' (xmlns(:xlink)?|version)="[^"]*"', "", tag).replace("<svg", '<svg role="img"')
    if tag.startswith("<text") and "fill:" not in tag:
        tag = tag.replace('style="', 'style="fill: currentColor; ')
    tag = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{mark}", tag)
    return re.sub(r"\b(fill|stroke): #000000", r"\1: currentColor", tag)


def _drawn(
    fill: Callable[[Any], None], kind: str, size: tuple[float, float], facts: dict, of_page: bool = False
) -> bytes:
    """The content of a picture; of_page: without a ground, and whatever style the user's matplotlib has."""
    import io
    import warnings

    import matplotlib
    from matplotlib.backend_bases import get_registered_canvas_class
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        if of_page:
            matplotlib.rcdefaults()
            matplotlib.rcParams["font.sans-serif"] = ["DejaVu Sans"]
        matplotlib.rcParams.update(SETTINGS)
        warnings.filterwarnings("ignore", "Glyph")  # of a name, which the font lacks
        figure = Figure(figsize=size, layout="constrained")
        get_registered_canvas_class(kind)(figure)  # by the kind of file: no display is needed
        fill(figure)
        figure.get_layout_engine().execute(figure)
        figure.set_layout_engine(None)  # with a layout left to do, savefig draws everything twice
        figure.savefig(out, format=kind, dpi=130, metadata=facts, transparent=of_page)
    return out.getvalue()


def bars(figure: Any, groups: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> None:
    """Draw (heading, [(name, value)]) one below the other on one scale; blue is positive, orange negative."""
    counts = [len(rows) for _, rows in groups]
    every = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=[n + 0.6 for n in counts])[:, 0]
    for axes, (heading, rows) in zip(every, groups, strict=True):
        values = [value for _, value in rows]
        lengths = [min(max(v, -LARGEST), LARGEST) for v in values]
        drawn = axes.barh(range(len(rows)), lengths, 0.65, color=[BLUE if v >= 0 else ORANGE for v in values])
        axes.bar_label(drawn, [f"{v:.3g}" for v in values], padding=3, fontsize="small")
        axes.set_yticks(range(len(rows)), [shortened(visible(name), NAME_LENGTH) for name, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_title(" ", fontsize="medium")  # room for the heading, which begins at the names
        place = {"xytext": (4, 6), "textcoords": "offset points", "in_layout": False}
        text = shortened(visible(heading), int(HEADING_LENGTH * figure.get_figwidth()))
        axes.annotate(text, (0.0, 1.0), xycoords=("figure fraction", "axes fraction"), **place)
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        axes.tick_params(length=0, labelbottom=False)
        axes.tick_params("y", pad=NUMBER_WIDTH if min(values) < 0.0 else 4)  # numbers stand between names and bars
        axes.spines[:].set_visible(False)
        axes.margins(x=0.02)


def height_of_bars(counts: Sequence[int]) -> float:
    """Inches for groups of so many bars."""
    return 0.3 + sum(0.4 + BAR_HEIGHT * n for n in counts)


def shortened(text: str, longest: int) -> str:
    """Text of at most `longest` characters, cut in the middle."""
    if len(text) <= longest:
        return text
    front = (longest - 1) * 2 // 3
    return text[:front] + "…" + text[len(text) - (longest - 1 - front) :]
