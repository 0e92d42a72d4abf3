"""The command `svmtool`: its subcommands, help, completion and error messages."""

from __future__ import annotations

import difflib
import importlib
import io
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from svmtool import __version__, interrupts, registry
from svmtool.cli.console import stderr_line
from svmtool.errors import SvmtoolError
from svmtool.options import Option
from svmtool.options.commands import TABLES

# Each of these is the object `command` of its own module, imported when it is run.
MODULES = {name: f"svmtool.cli.umbrella.{name}" for name in ("inspect", "audit", "convert", "export", "report")}
PASSED_ON = {  # in the help and the completion; they run without click (svmtool/__main__.py)
    "train": "Train a model (svm-train).",
    "predict": "Predict with a model (svm-predict).",
    "scale": "Scale features (svm-scale).",
}
ORDER = (*PASSED_ON, *MODULES, "completion")
PROGRAMS = (  # whose lines a shell completes
    "svmtool", *TABLES, "liblinear-train", "liblinear-predict", "libsvm-train", "libsvm-predict", "libsvm-scale",
)  # fmt: skip
COMPLETE = "_SVMTOOL_COMPLETE"  # set where a shell asks how a line goes on


class Subcommands(click.Group):
    """A group that imports a subcommand when it is used, and suggests the closest name for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(ORDER)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in PASSED_ON:
            return PassedOn(cmd_name)
        if cmd_name == "completion":
            return completion
        return importlib.import_module(MODULES[cmd_name]).command if cmd_name in MODULES else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if not ctx.resilient_parsing and args and args[0] not in ORDER:
            close = difflib.get_close_matches(args[0], ORDER, 1)
            hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(ORDER)}"
            raise SvmtoolError(f"svmtool: there is no command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Subcommands, no_args_is_help=False, invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip
@click.version_option(__version__, prog_name="svmtool")
@click.pass_context
def umbrella(ctx: click.Context) -> int | None:
    """Support vector machines: train, predict, inspect and audit models, convert data, export models, write reports."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return 1
    return None


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.argument("program", type=click.Choice(PROGRAMS), default="svmtool", metavar="[PROGRAM]")
def completion(shell: str, program: str) -> None:
    """Print the script for a shell's completion of a program.

    \b
    bash:  svmtool completion bash svm-train > ~/.local/share/bash-completion/completions/svm-train
    zsh:   svmtool completion zsh svm-train > _svm-train     in a folder of $fpath
    fish:  svmtool completion fish svm-train > ~/.config/fish/completions/svm-train.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(umbrella, {}, program, COMPLETE).source(), nl=False)


def complete(command: str) -> int:
    """Print how a line of train, predict or scale goes on, as a shell's completion asks by the environment."""
    try:
        return PassedOn(command).main([], f"svm-{command}", COMPLETE, standalone_mode=False) or 0
    except KeyError:  # without the line, which the script of the shell gives
        return 1


def main(argv: list[str]) -> int:
    """Run `svmtool` with these arguments (without the program's name); returns the exit status."""
    interrupts.raise_from_now_on()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names in letters that the terminal lacks
    try:
        return umbrella.main(argv, prog_name="svmtool", standalone_mode=False) or 0
    except click.ClickException as e:
        ctx = getattr(e, "ctx", None)
        path = ctx.command_path if ctx is not None else "svmtool"
        message = " ".join(e.format_message().split()).rstrip(".")
        stderr_line(f"{path}: {message}; {path} --help shows the usage")
        return 1
    except click.Abort:
        raise KeyboardInterrupt from None


def _names(option: Option) -> tuple[str, ...]:
    return (option.flag, f"-{option.letter}") if option.letter else (option.flag,)


def _values(option: Option | None) -> Sequence[str]:
    """The words that are values of an option."""
    if option is None or option.kind is None:
        return ()
    return option.kind.names or (option.metavar.split("|") if "|" in option.metavar else ())


class PassedOn(click.Command):
    """A command with its own argument parser."""

    def __init__(self, name: str):
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, help=PASSED_ON[name], add_help_option=False, context_settings=settings)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Values of the option before, options of the command, or files."""
        known = TABLES[f"svm-{self.name}"]
        before = ctx.args[-1] if ctx.args else ""
        valued = next((o for o in known if o.kind is not None and before in _names(o)), None)
        if valued is None and incomplete.startswith("-"):
            found = {option.name: option.help for option in known}
        elif valued is not None and valued.keyword == "solver":
            found = {row.name: row.help for row in (*registry.SOLVERS, *registry.KERNEL_SOLVERS)}
        else:
            found = dict.fromkeys(_values(valued), "")
        items = [CompletionItem(name, help=text) for name, text in found.items() if name.startswith(incomplete)]
        return items if found else [CompletionItem(incomplete, type="file")]
