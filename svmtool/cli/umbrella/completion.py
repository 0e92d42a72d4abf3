"""`svmtool completion SHELL`: the script that a shell reads to complete svmtool's arguments."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  svmtool completion bash > ~/.local/share/bash-completion/completions/svmtool
    zsh:   svmtool completion zsh > _svmtool     in a folder of $fpath
    fish:  svmtool completion fish > ~/.config/fish/completions/svmtool.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "svmtool", "_SVMTOOL_COMPLETE").source(), nl=False)
