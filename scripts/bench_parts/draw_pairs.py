"""Child process: draws seconds and rounds over p.  stdin: {set: {form: [runs of child_pairs]}}; argument: SVG file."""

from __future__ import annotations

from canvas import Figure, picture

NAMES = {"ours": "ours", "paper": "the paper's form"}


def draw(figure: Figure, curves: dict) -> None:
    """One row of plots for each set: seconds and rounds."""
    figure.set_size_inches(9, 3.2 * len(curves))
    for axes, (name, forms) in zip(figure.subplots(len(curves), 2, squeeze=False), curves.items(), strict=True):
        for panel, what in zip(axes, ("seconds", "rounds"), strict=True):
            for k, (form, runs) in enumerate(forms.items()):
                draw_form(panel, f"C{k}", NAMES[form], what, runs)
            panel.set_xlabel("p, pairs of a working set")
            panel.set_ylabel(what)
            panel.set_title(name, fontsize="medium")
            panel.grid(alpha=0.3)
            panel.legend(fontsize="small")
    figure.supxlabel("hollow marks: ended by the limit of time, before the tolerance", fontsize="small")


def draw_form(axes, colour: str, name: str, what: str, runs: list[dict]) -> None:
    """Plot one form over p, with hollow marks for runs ended by the time limit and a line at the default p."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    chosen = [r for r in runs if r["pairs"] is not None]
    p = [r["pairs"] for r in chosen]
    axes.plot(p, [r[what] for r in chosen], color=colour, label=name)
    for r in chosen:
        axes.plot(r["pairs"], r[what], "o", color=colour, fillstyle="full" if r["converged"] else "none")
    axes.set_xticks(p, [str(x) for x in p])
    axes.minorticks_off()
    for r in runs:
        if r["pairs"] is None:
            axes.axhline(r[what], color=colour, linestyle=":", label=f"{name}, default p")


if __name__ == "__main__":
    picture("kernel_pairs", draw)
