"""Playing line by line: for pipes, for terminals that show no more, and for those who prefer it."""

import shutil
import sys
from time import monotonic

import click

from waybench.people._game import PlayedEpisode
from waybench.people._render import board_text


def play_lines(game: PlayedEpisode, *, hints: bool) -> None:
    """Play an episode with lines that a person types, until it ends, the input ends or the person types `quit`."""
    click.secho(game.title, bold=True)
    _show(game)
    help_ = f"{game.help} Type quit to stop."
    click.secho(help_, dim=True)
    while not game.episode.done:
        started = monotonic()
        typed = _ask(game)
        if typed is None or typed.lower() in ("quit", "q"):
            return
        if typed.lower() == "hint":
            click.echo(game.hint() if hints else "Hints are off: start with --hints to turn them on.")
        elif typed:
            if game.take(typed, monotonic() - started):
                _show(game)
            else:
                click.echo(f"Not understood (it does not count as a reply). {help_}")


def show_result(game: PlayedEpisode) -> None:
    """Print how an episode ended, and a shortest solution where one is known."""
    end, *values = game.result()
    click.secho(end, bold=True)
    for line in [*values, *([solution] if (solution := game.solution()) else [])]:
        click.echo(line)


def _show(game: PlayedEpisode) -> None:
    click.echo(f"\n{game.message}\n")
    # Last, for it should still be in sight while the next reply is typed, and messages are long.
    if sys.stdout.isatty() and (board := game.board) is not None:
        size = shutil.get_terminal_size()
        click.echo(board_text(board, size.columns, max(size.lines - 5, 10)) + "\n")


def _ask(game: PlayedEpisode) -> str | None:
    """Return what the person types, several lines if a brace is left open; None at the end of the input."""
    click.secho(game.status, dim=True)
    text, prompt = "", "> "
    while True:
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        if not sys.stdin.isatty():
            click.echo(line)  # a terminal shows what is typed; a transcript should too
        text = f"{text}\n{line}" if text else line
        if not line.strip() or text.count("{") <= text.count("}"):
            return text.strip()
        prompt = ". "
