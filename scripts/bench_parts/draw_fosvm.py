"""Child process: draws rounds over the number of rows.  stdin: {set: [runs of child_fosvm]}; argument: SVG file."""

from __future__ import annotations

from canvas import Figure, picture


def draw(figure: Figure, curves: dict) -> None:
    """Plot rounds and seconds, with a colour for each set."""
    figure.set_size_inches(9, 4)
    for panel, what in zip(figure.subplots(1, 2), ("rounds", "seconds"), strict=True):
        for k, (name, runs) in enumerate(curves.items()):
            for solver, style in ((80, "-o"), (81, ":")):
                mine = [r for r in runs if r["solver"] == solver]
                panel.plot([r["rows"] for r in mine], [r[what] for r in mine], style, color=f"C{k}", ms=3,
                          label=name if solver == 80 else None)  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("linear" if what == "rounds" else "log")
        panel.set_xlabel("training rows (dotted: -s 81)")
        panel.set_ylabel(what)
        panel.grid(alpha=0.3)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside right upper", fontsize="small")


if __name__ == "__main__":
    picture("fosvm", draw)
