"""Child process: draws seconds over d.  stdin: {tool: [[d, seconds], ...]}; argument: SVG file."""

from __future__ import annotations

from canvas import Figure, picture


def draw(figure: Figure, curves: dict) -> None:
    """A line for each tool, dashed for LIBLINEAR's."""
    figure.set_size_inches(7, 4.5)
    axes = figure.subplots()
    for tool, points in curves.items():
        axes.plot(*zip(*points, strict=True), "o--" if tool.startswith("LIBLINEAR") else "o-", label=tool)
    axes.set_yscale("log")
    axes.set_xlabel("d, most frequent features")
    axes.set_ylabel("seconds, training alone")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


if __name__ == "__main__":
    picture("lssvm_dimensions", draw)
