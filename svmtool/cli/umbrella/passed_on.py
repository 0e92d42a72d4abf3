"""train, predict and scale in the help and the completion; they run without click (svmtool/__main__.py)."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class PassedOn(click.Command):
    """A command with its own argument parser."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Long options of the command, or files."""
        if not incomplete.startswith("-"):
            return [CompletionItem(incomplete, type="file")]
        return [
            CompletionItem(name, help=text)
            for name, text in _options(ctx.info_name or "")
            if name.startswith(incomplete)
        ]


def passed_on(name: str, about: str) -> click.Command:
    """The command `name` for the group's list."""
    return PassedOn(
        name, help=about, add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )  # fmt: skip


def _options(command: str) -> list[tuple[str, str]]:
    """Long options of a command and their help."""
    if command == "train":
        from svmtool.cli.arguments.long_options import LONG_OPTIONS

        return [(name, option.help) for name, option in LONG_OPTIONS.items()]
    if command == "predict":
        from svmtool.cli.predict.options import VALUED

        return [(name, "") for name in (*VALUED, "--metrics", "--no-labels", "--help", "--version")]
    return [(name, "") for name in ("--threads", "--help", "--version")]
