"""`waybench completion`: code for the user's shell."""

import click

from waybench.cli._complete import SHELLS, script
from waybench.cli._options import argument, with_parameters

_HOW = """\b
bash   add to ~/.bashrc:  eval "$(waybench completion bash)"
zsh    add to ~/.zshrc:   eval "$(waybench completion zsh)"
fish   waybench completion fish > ~/.config/fish/completions/waybench.fish"""


@click.command(epilog=_HOW)
@with_parameters
def completion(
    shell: str = argument(type=click.Choice(SHELLS)),
) -> None:
    """Print the code with which SHELL completes waybench's commands, options, tasks and their parameters."""
    click.echo(script(shell, "waybench"), nl=False)
