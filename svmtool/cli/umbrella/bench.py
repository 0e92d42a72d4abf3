"""`svmtool bench [options of svm-train] DATA`: svm-train beside LIBLINEAR's or LIBSVM's program on one file."""

from __future__ import annotations

import click

from svmtool import progress
from svmtool.cli.umbrella import FILE, stdout_line
from svmtool.errors import SvmtoolError
from svmtool.params import Problem

LIBLINEARS = (0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13)
LIBSVMS = (0, 3)  # C-SVC and epsilon-SVR


@click.command(
    "bench", short_help="Time svm-train beside LIBLINEAR or LIBSVM.",
    context_settings={"ignore_unknown_options": True},
)  # fmt: skip
@click.option("--runs", metavar="N", type=click.IntRange(1), default=3, show_default=True, help="Runs of each program.")
@click.option("--program", metavar="PATH", type=FILE, multiple=True, help="Another program to compare; repeatable.")
@click.argument("words", metavar="[OPTIONS OF SVM-TRAIN] DATA", nargs=-1, type=click.UNPROCESSED)
def command(runs: int, program: tuple[str, ...], words: tuple[str, ...]) -> None:
    """Time svm-train beside LIBLINEAR's liblinear-train, or with -t beside LIBSVM's svm-train, on DATA.

    Every LIBLINEAR (with -t: LIBSVM) train program on PATH runs with the same options, alternating with svm-train, as a
    whole command from file to model.  The table has the median of the seconds, the objective value, and how far this is
    above the lower bound of svm-train's certificate, in percent of the bound: a dash if there is none.
    """
    import os
    import re
    import statistics
    import tempfile

    from svmtool.auditing.value import objective
    from svmtool.cli.arguments import linear
    from svmtool.comparison import programs
    from svmtool.formats.models import read
    from svmtool.formats.svmlight import table
    from svmtool.inspection.facts import certificate_of

    if not words:
        raise SvmtoolError("svmtool bench: name a data file")
    parsed = linear.parse(list(words))
    data, problem = parsed.data, parsed.settings.problem
    if not data or words[-1] != data:
        raise SvmtoolError("svmtool bench: the last argument must be the data file; a model file is not accepted")
    refuse_others(problem)
    options = list(words[:-1])
    all_programs = [programs.ours(), *programs.others(problem.kernel is not None, program)]
    seconds: dict[str, list[float]] = {p.name: [] for p in all_programs}
    values: dict[str, float] = {}
    failed: dict[str, str] = {}
    bound = None
    with progress.shown(), tempfile.TemporaryDirectory(prefix="svmtool-bench-") as folder:
        rows = table.read(data)
        for _ in progress.counted("run", range(runs)):
            for p in progress.counted("program", all_programs):
                if p.name in failed:
                    continue
                path = os.path.join(folder, "model")
                done = programs.run(p, options, data, path)
                if done.status:
                    failed[p.name] = done.message
                    continue
                seconds[p.name].append(done.seconds)
                if p.name not in values:
                    model = read(path)
                    values[p.name] = objective(parsed.settings, model, rows)
                    certainty, text = certificate_of(model)
                    dual = re.search(r"dual (\S+?),", text)
                    if p is all_programs[0] and dual and certainty == "Certified":  # a lower bound for every program
                        bound = float(dual[1])
                os.remove(path)
    if all_programs[0].name in failed:
        raise SvmtoolError(f"svm-train failed: {failed[all_programs[0].name]}")
    width = max(len(p.name) for p in all_programs)
    click.echo(f"{'program':<{width}}  {'median s':>9}  {'objective':>14}  {'above bound':>12}")
    for p in all_programs:
        if p.name in failed:
            stdout_line(f"{p.name:<{width}}  failed: {failed[p.name]}")
            continue
        value = values[p.name]
        above = f"{100 * max(0.0, value - bound) / bound:.3g} %" if bound else "–"
        stdout_line(f"{p.name:<{width}}  {statistics.median(seconds[p.name]):>9.3f}  {value:>14.9g}  {above:>12}")
    if len(all_programs) == 1:
        package = "libsvm-tools" if problem.kernel is not None else "liblinear-tools"
        click.echo(
            f"No other program is on PATH: install {package} (Debian, Ubuntu), or name one by --program.", err=True
        )


def refuse_others(problem: Problem) -> None:
    """SvmtoolError for problems that the other programs do not solve, or whose bound the model's file does not have."""
    known = LIBLINEARS if problem.kernel is None else LIBSVMS
    if problem.solver not in known:
        kind = "linear" if problem.kernel is None else "kernel"
        raise SvmtoolError(
            f"svmtool bench compares {kind} models of -s {', '.join(map(str, known))}, not {problem.solver}"
        )
