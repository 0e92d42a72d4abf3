"""The command `svmtool`: its subcommands, help, completion and error messages."""

from __future__ import annotations

import difflib
import importlib
import io
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from svmtool import __version__, interrupts
from svmtool.cli.console import stderr_line
from svmtool.errors import SvmtoolError

# Each of these is the object `command` of its own module, imported when it is run.
MODULES = {name: f"svmtool.cli.umbrella.{name}" for name in ("inspect", "audit", "convert", "export", "report")}
PASSED_ON = {  # in the help and the completion; they run without click (svmtool/__main__.py)
    "train": "Train a model (svm-train).",
    "predict": "Predict with a model (svm-predict).",
    "scale": "Scale features (svm-scale).",
}
ORDER = (*PASSED_ON, *MODULES, "completion")


class Subcommands(click.Group):
    """A group that imports a subcommand when it is used, and suggests the closest name for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(ORDER)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in PASSED_ON:
            settings = {"ignore_unknown_options": True, "allow_extra_args": True}
            return PassedOn(cmd_name, help=PASSED_ON[cmd_name], add_help_option=False, context_settings=settings)
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
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  svmtool completion bash > ~/.local/share/bash-completion/completions/svmtool
    zsh:   svmtool completion zsh > _svmtool     in a folder of $fpath
    fish:  svmtool completion fish > ~/.config/fish/completions/svmtool.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "svmtool", "_SVMTOOL_COMPLETE").source(), nl=False)


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


class PassedOn(click.Command):
    """A command with its own argument parser."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Long options of the command, or files."""
        if not incomplete.startswith("-"):
            return [CompletionItem(incomplete, type="file")]
        options = _options(ctx.info_name or "")
        return [CompletionItem(name, help=text) for name, text in options if name.startswith(incomplete)]


def _options(command: str) -> list[tuple[str, str]]:
    """Long options of a command and their help."""
    if command == "train":
        from svmtool.cli.arguments.long_options import LONG_OPTIONS

        return [(name, option.help) for name, option in LONG_OPTIONS.items()]
    if command == "predict":
        from svmtool.cli.predict.options import VALUED

        return [(name, "") for name in (*VALUED, "--metrics", "--no-labels", "--help", "--version")]
    return [(name, "") for name in ("--threads", "--help", "--version")]
