"""svm-train: parses the command line, handles --help and similar options, and starts the training pipeline."""

from __future__ import annotations

import gc
from typing import Any

from svmtool import interrupts, registry
from svmtool.cli.arguments import linear as options
from svmtool.cli.console import Console
from svmtool.errors import SvmtoolError, named

BRIEF = "Usage: train [options] training_set_file [model_file]\nsvm-train --help lists the options\n"
BRIEF_LIBSVM = "Usage: svm-train [options] training_set_file [model_file]\nlibsvm-train --help lists the options\n"
UNSUPERVISED = ("one-class", "hard one-class")  # kinds of solvers that use no labels


def main(argv: list[str], libsvm: bool = False) -> int:
    """Run svm-train with these arguments (without the program's name); returns the exit status.

    libsvm: always read LIBSVM's command line.
    """
    console = Console()

    def work() -> int:
        command = options.parse(argv, libsvm)
        console.quiet = command.request.quiet
        console.warn(*command.notes)
        return run(command, console, libsvm)

    def usage() -> str:
        from svmtool.cli import help_texts

        return help_texts.usage(libsvm)

    return console.run(work, usage, BRIEF_LIBSVM if libsvm else BRIEF)


def run(command: options.Command, console: Console, libsvm: bool = False) -> int:
    """Run a parsed command line; returns the exit status.  libsvm: as of `main`."""
    if command.action == "train":
        return train(command, console)
    if command.action == "adapt":
        return adapt(command, console)
    if command.action == "version":
        from svmtool import __version__

        console.out(f"svmtool {__version__}\n")
        return 0
    from svmtool.cli import help_texts

    if command.action == "explain":
        settings, found = _methods(command, console) if command.data else (command.settings, [])
        console.out(help_texts.explain(settings) + help_texts.facts(found))
    else:
        text = help_texts.help_text if command.action == "help" else help_texts.whole_help
        console.out(text(libsvm))
    return 0


def _methods(command: options.Command, console: Console) -> Any:
    """The settings and the facts that `methods` of the command's pipeline finds in its data file."""
    data = _reading(command, console)
    gc.enable()
    with named(data.path):
        return _module(command).methods(command.settings, command.request, data)


def _module(command: options.Command) -> Any:
    """The module that trains; only what is needed is imported, because that takes time."""
    if command.settings.problem.kernel is None:
        from svmtool.training import linear

        return linear
    from svmtool.training.kernel import train as with_kernel

    return with_kernel


def _reading(command: options.Command, console: Console) -> Any:
    """The background reader of the command's data file, not started."""
    from svmtool.compiled.loops.text.text_loops import LABELLED, SETS, SOME_LABELLED
    from svmtool.formats.svmlight.inputs import Reading
    from svmtool.limits import StopFlag

    s, kernel = command.request, command.settings.problem.kernel
    needed = command.settings.row.kind not in UNSUPERVISED or s.folds is not None
    form = SETS if command.settings.run.multilabel else LABELLED if needed else SOME_LABELLED
    stop, dtype = StopFlag(command.settings.stopping.max_seconds, console.began), "f4" if s.single else "f8"
    grouped = command.settings.run.grouped
    if kernel is not None:
        from svmtool.params import PRECOMPUTED

        first = 0 if kernel.kernel_type == PRECOMPUTED else 1
        return Reading(command.data, first, form, stop, grouped=grouped)
    if s.memory is not None:
        from svmtool.formats.rowcache.folder import DiskReading

        tell = None if s.quiet else console.warn
        return DiskReading(command.data, s.memory, s.scratch, not s.no_cache, console.warn, stop, tell)
    return Reading(command.data, form=form, stop=stop, dtype=dtype, grouped=grouped)


def refuse_overwriting(command: options.Command) -> None:
    """Raise SvmtoolError if the command would write a file that it reads; -i and the model may be the same."""
    from svmtool.cli import checks

    s, adapts = command.request, command.action == "adapt"
    inputs: list[checks.Named] = [("the added rows" if adapts else "the data", command.data)]
    outputs = [("--solver-log", s.solver_log), ("--plot", s.plot), ("--keep-dual", s.keep_dual_in)]
    checks.refuse_overwriting([("the initial model", s.initial_model)], outputs)
    inputs += [("the removed rows", s.remove), ("--weights", s.weights), ("--certify-labels", s.certify_labels)]
    if s.folds is None and not s.find_C and s.grid is None:
        outputs.append(("the model", command.model))
        problem = command.settings.problem
        rows = registry.SOLVERS if problem.kernel is None else ()
        if any(row.number == problem.solver and "--add" in row.supported for row in rows):
            from svmtool.formats import adaptable

            outputs += [("the model's state", command.model + suffix) for suffix in adaptable.ALL_FILES]
    checks.refuse_overwriting(inputs, outputs)


def refuse_unwritable(command: options.Command) -> None:
    """Raise SvmtoolError if an output cannot be written, before time is spent on training.

    A missing data file is reported when it is read (Spark's may be a pattern or on another system).
    """
    import os

    from svmtool.formats.output import unwritable

    s = command.request
    if s.spark is None and command.data not in ("", "-") and not os.path.exists(command.data):
        return
    outputs = [("can't open output file", path) for path in (s.solver_log, s.plot, s.keep_dual_in) if path]
    if s.folds is None and not s.find_C and s.grid is None:
        outputs.append(("can't save model to file", command.model))
    for refusal, path in outputs:
        if reason := unwritable(path):
            raise SvmtoolError(f"{refusal} {path}{reason}")


def _begin(command: options.Command) -> None:
    """Refuse outputs that would overwrite an input or cannot be written; set the number of threads."""
    from svmtool.compiled import threads

    refuse_overwriting(command)
    refuse_unwritable(command)
    threads.set_count(command.settings.run.threads)


def train(command: options.Command, console: Console) -> int:
    """Train; the data are read while the pipeline and numpy are imported.  Returns the exit status."""
    settings, request = command.settings, command.request
    _begin(command)
    if request.folds is None and not request.find_C and request.grid is None:
        interrupts.loss = "no model is written"
    if request.spark is not None or request.memory is not None:  # to remove folders and end the Java process
        interrupts.raise_from_now_on()
    if request.spark is not None:
        from svmtool.distributed.train import run as run_spark

        gc.enable()
        return run_spark(settings, request, command.data, command.model, console)
    data = _reading(command, console)
    if request.initial_model is None:  # else it is read first: both may be the same pipe
        data.start()
    from svmtool.training.pipeline import run

    gc.freeze()  # excludes all imported objects from garbage collection
    gc.enable()  # see entry.start
    with named(data.path):
        return run(_module(command).Job(settings, request, data, console), request, data.stop, command.model, console)


def adapt(command: options.Command, console: Console) -> int:
    """Add rows to a model or remove rows from it; added rows of a file are read while numpy is imported."""
    from svmtool.formats.svmlight.inputs import Reading

    _begin(command)
    added = Reading(command.data) if command.data not in ("", "-") else None
    if added is not None:
        added.start()
    from svmtool.params import check_after_reading
    from svmtool.training.adapting.adapt import run

    check_after_reading(command.settings)
    gc.freeze()
    gc.enable()
    return run(command.settings, command.request, added, command.model, console)
