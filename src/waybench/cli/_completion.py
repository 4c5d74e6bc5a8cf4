"""`waybench completion`: code for the user's shell."""

import click

from waybench.cli._complete import SHELLS, script

_HOW = """\b
bash   add to ~/.bashrc:  eval "$(waybench completion bash)"
zsh    add to ~/.zshrc:   eval "$(waybench completion zsh)"
fish   waybench completion fish > ~/.config/fish/completions/waybench.fish"""


@click.command(epilog=_HOW)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the code with which SHELL completes waybench's commands, options, tasks and their parameters."""
    click.echo(script(shell, "waybench"), nl=False)
