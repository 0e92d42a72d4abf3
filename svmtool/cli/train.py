"""svm-train: reads the command line, answers --help and the like, and hands over to the pipeline."""

from __future__ import annotations

import gc

from svmtool.cli import options
from svmtool.cli.console import Console
from svmtool.errors import SvmtoolError, UsageError
from svmtool.settings import Settings


def main(argv: list[str]) -> int:
    """Run svm-train with these arguments (without the program's name); returns the exit status."""
    console = Console()
    try:
        command = options.parse(argv)
        console.quiet = command.settings.quiet
        for note in command.notes:
            console.warn(note)
        status = run(command, console)
        if console.failure:
            raise SvmtoolError(console.failure)
        return status
    except UsageError as e:
        if str(e):
            console.warn(str(e))
        from svmtool.cli import texts

        console.out(texts.usage())
        return e.exit_code
    except SvmtoolError as e:
        console.warn(str(e))
        return e.exit_code
    finally:
        console.close()


def run(command: options.Command, console: Console) -> int:
    """Do what a parsed command line asks for; returns the exit status."""
    if command.action == "train":
        return train(command, console)
    if command.action == "adapt":
        return adapt(command, console)
    if command.action == "version":
        from svmtool import __version__

        console.out(f"svmtool {__version__}\n")
        return 0
    from svmtool.cli import texts

    console.out(texts.help_text() if command.action == "help" else texts.explain(command.settings))
    return 0


def train(command: options.Command, console: Console) -> int:
    """Train, with the data being read already while the pipeline and numpy are imported; returns the exit status."""
    from svmtool.compiled import threads
    from svmtool.formats.reading import Reading

    settings = command.settings
    threads.set_count(settings.threads)
    if isinstance(settings, Settings):
        if settings.spark is not None:
            from svmtool.spark.train import run as run_spark

            gc.enable()
            return run_spark(settings, command.data, command.model, console)
        data = Reading(command.data)
        if settings.memory is not None:
            from svmtool.formats.row_folder import DiskReading

            keep = not settings.no_cache
            data = DiskReading(command.data, settings.memory, settings.scratch, keep, console.warn)
        if settings.initial_model is None:  # else that is read first: its faults come first, both may be one pipe
            data.start()
        from svmtool.training.pipeline import run
    else:
        from svmtool.kernel_settings import PRECOMPUTED

        data = Reading(command.data, least=0 if settings.kernel_type == PRECOMPUTED else 1)
        data.start()
        from svmtool.training.kernel_pipeline import run

    gc.freeze()  # what was imported is no garbage: the first search need not look there
    gc.enable()  # see entry.start
    return run(settings, data, command.model, console)


def adapt(command: options.Command, console: Console) -> int:
    """Add rows to a model and remove rows from it; those of a file are read while numpy is imported."""
    from svmtool.compiled import threads
    from svmtool.formats.reading import Reading

    settings = command.settings
    threads.set_count(settings.threads)
    added = Reading(command.data) if command.data not in ("", "-") else None
    if added is not None:
        added.start()
    from svmtool.settings import check_after_reading
    from svmtool.training.adapt import run

    check_after_reading(settings)
    gc.freeze()
    gc.enable()
    return run(settings, added, command.model, console)
