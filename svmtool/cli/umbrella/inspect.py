"""`svmtool inspect FILE`: what a model is, its certificate and largest weights; of a data file what its rows have."""

from __future__ import annotations

import click

from svmtool.cli import checks
from svmtool.cli.umbrella import FILE, names_option, stdout_line
from svmtool.errors import SvmtoolError

MAX_TABLES = 10  # up to this many classes there is a table for each
MAX_BARS = 50  # of a table in the picture


@click.command("inspect", short_help="Show what a model or a data file is.")
@click.argument("model", type=FILE)
@names_option
@click.option("--top", metavar="N", type=click.IntRange(0), default=20, show_default=True, help="Show N weights.")
@click.option("--class", "chosen", metavar="LABEL", help="Show the weights of this class only, by label or name.")
@click.option("--plot", metavar="FILE", type=FILE, help="Draw up to 50 of them as bars (.png, .svg, .pdf).")
def command(model: str, names: str | None, top: int, chosen: str | None, plot: str | None) -> None:
    """Show what MODEL is: problem, solver, classes, certificate, largest weights, support vectors.

    Of a data file in its place: the number of rows, features, labels and queries.

    MODEL is a file of svm-train, LIBLINEAR or LIBSVM.  Models of several classes show the largest weights of each
    class; those of more than 10 classes the largest of all, unless --class names one.
    """
    from svmtool.drawing import Plot
    from svmtool.formats import names as names_file
    from svmtool.formats.models import read
    from svmtool.inspection.facts import facts
    from svmtool.inspection.rows import facts_of_rows, holds_rows
    from svmtool.inspection.weights import columns

    if holds_rows(model):
        if chosen is not None or plot is not None or names is not None:
            raise SvmtoolError(f"{model} holds rows: --class, --plot and --names need a model")
        print_facts(model, facts_of_rows(model))
        return
    picture = Plot(plot)
    beside = names_file.path_beside(model)
    checks.refuse_overwriting([("the model", model), ("--names", names), ("the names", beside)], [("--plot", plot)])
    found = read(model)
    called = names_file.completed(names_file.find(names, model), found)
    every = columns(found, called)
    if chosen is not None:
        kept = [c for c in every if c.label is not None and chosen in (str(c.label), called.of_class(c.label))]
        if not kept:
            raise SvmtoolError(f"{model} has no weights of a class {chosen}: svmtool inspect {model} lists the classes")
        every = kept
    tables = largest_of(every, called, top)
    if plot is not None:
        draw(tables, picture)
    print_facts(model, facts(found, called, model))
    for heading, rows in tables:
        if not rows:
            continue
        click.echo()
        stdout_line(heading)
        for name, weight in rows:
            stdout_line(f"  {weight:>12.6g}  {name}")
    if tables and not called.features:
        click.echo("\nNo names of features: --names FILE takes those that svmtool convert wrote for the training data.")


def print_facts(path: str, lines: list[tuple[str, str]]) -> None:
    """Print a file's name and the facts about it."""
    stdout_line(path)
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        stdout_line(f"  {name:<{width}}  {text}")


def largest_of(every, called, top: int) -> list[tuple[str, list[tuple[str, float]]]]:
    """Tables (heading, [(feature, weight)]): one for each class, or one of all where there are many."""
    from svmtool.inspection.weights import largest

    if len(every) <= MAX_TABLES:
        return [
            (
                f"largest weights, positive for {c.meaning}",
                [(named(c, j, called), float(c.w[j])) for j in largest(c.w, top).tolist()],
            )
            for c in every
        ]
    best = sorted(
        ((abs(float(c.w[j])), k, j) for k, c in enumerate(every) for j in largest(c.w, top).tolist()),
        key=lambda entry: (-entry[0], entry[1], entry[2]),
    )
    rows = [(f"{named(every[k], j, called)}, for {every[k].meaning}", float(every[k].w[j])) for _, k, j in best[:top]]
    return [(f"largest weights of all {len(every)} decision values", rows)]


def named(column, j: int, called) -> str:
    """The name of feature j, with a remark where the optimum's weight can have another sign."""
    return called.feature(j) + (" (sign not certain)" if abs(float(column.w[j])) <= column.radius else "")


def draw(tables, picture) -> None:
    """Draw the largest weights of each table; SvmtoolError if there are none."""
    from svmtool.drawing import bars, height_of_bars

    groups = [(heading, rows[:MAX_BARS]) for heading, rows in tables if rows]
    if not groups:
        raise SvmtoolError("--plot: the model has no weights to draw (its kernel is not linear, or all are zero)")
    picture.draw(lambda figure: bars(figure, groups), height_of_bars([len(rows) for _, rows in groups]))
