"""An episode that a person plays: what is typed in place of a reply, boards as text and SVG, playing line by line."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby
from time import monotonic
from typing import Any

import click

from waybench.core import (
    Board,
    Episode,
    Json,
    Metric,
    Reply,
    Tile,
    TypedAction,
    Usage,
    UsageError,
    plural,
)

LONGEST = 100_000  # characters of a reply
LONGEST_NAME = 60  # characters of a player's name
_DEFAULT_HELP = "Type the reply."
_ROW_NUMBER_WIDTH = 5  # characters
_CELL = 20  # units of a cell's height in a drawing
_PLAIN, _DIM, _BOLD = "\x1b[0m", "\x1b[2m", "\x1b[1m"
_FULL_BLOCK = "█"
_STEP, _LAST_STEP = "·", "×"  # of a plan that is drawn before it is sent


def typed_actions(episode: Episode[Any, Any, Any]) -> Sequence[TypedAction]:
    """Return the actions that a person can choose from in the present state; empty if none are listed."""
    list_actions = episode.environment.typing.actions
    return () if list_actions is None or episode.done else list_actions(episode.state)


def parse_typed_line(typed: str, episode: Episode[Any, Any, Any]) -> str | None:
    """Return the reply that a typed line means; None if it is not understood, and the person may try again.

    A listed action comes first: its number means the action, whatever the protocol would read in the number. A line
    that the wording understands is itself the reply. So is a line with a brace, even if it is malformed, which costs a
    person what it costs a model. Any other line is read by the environment's `parse_typed`, if it has one.
    """
    wording, parse_typed, state = episode.play.wording, episode.environment.typing.parse, episode.state
    if len(typed) > LONGEST:
        return None
    action = None if parse_typed is None else parse_typed(typed, state)
    is_listed = action is not None and typed.strip() in {listed.typed for listed in typed_actions(episode)}
    if not is_listed and ("{" in typed or wording.understands(typed, state)):
        return typed
    return None if action is None else wording.render(action, state)


class PlayedEpisode:
    """An episode with a person in a model's place.

    Requests for a thought are answered with an empty reply, before the person sees them.

    Args:
        task: The name of the task, for the record.
        settings: The settings by which the item was generated, for the record.

    Attributes:
        message: The last message to the player; at the start, the whole prompt.
    """

    def __init__(self, episode: Episode[Any, Any, Any], task: str, settings: Mapping[str, Json]) -> None:
        self.episode = episode
        self._task, self._settings = task, settings
        self._n_thoughts = 0  # before each action
        self.message = self._answer_thoughts(self.prompt)

    @property
    def title(self) -> str:
        """The environment, the level and the item."""
        item = self.episode.item
        return f"{self.episode.environment.id}, level {item.level}, item {item.id} of key {item.key_label}"

    @property
    def prompt(self) -> str:
        """Everything that a model would receive now, as text."""
        return "\n\n".join(message.text for message in self.episode.messages)

    @property
    def help(self) -> str:
        """What a person can type."""
        return self.episode.environment.typing.help or _DEFAULT_HELP

    @property
    def actions(self) -> Sequence[TypedAction]:
        """The actions that a person can choose from now."""
        return typed_actions(self.episode)

    @property
    def board(self) -> Board | None:
        """The board of the present state; None if the environment has no board."""
        board = self.episode.environment.presentation.board
        return None if board is None else board(self.episode.state, self.episode.turns)

    def board_with_plan(self, typed: str) -> Board | None:
        """Return the board with a typed plan drawn on it, if the environment declares how (`Typing.route`)."""
        board, typing, state = self.board, self.episode.environment.typing, self.episode.state
        if board is None or typing.route is None or typing.parse is None or self.episode.done:
            return board
        action = typing.parse(typed, state) if len(typed) <= LONGEST else None
        route: Sequence[tuple[int, int]] = () if action is None else typing.route(state, action)
        rows = [list(row) for row in board.rows]
        for number, (row, column) in enumerate(route, start=1):
            mark = _LAST_STEP if number == len(route) else _STEP
            rows[row][column] = rows[row][column]._replace(text=mark, narrow=mark)
        return replace(board, rows=rows)

    @property
    def has_partial_actions(self) -> bool:
        """Whether keys enter parts of a reply, which is then sent as a whole."""
        return any(action.key and not action.is_reply for action in self.actions)

    @property
    def status_text(self) -> str:
        """The number of requests left, and the steps so far."""
        requests = -(-self.episode.turns_left // (1 + self._n_thoughts))  # rounded up
        steps = [f"steps so far: {value:g}" for metric, value in self._metrics() if metric.name == "steps"]
        return ", ".join([f"{plural(requests, 'request')} left", *steps])

    def play_typed(self, typed: str, seconds: float | None = None) -> bool:
        """Play the reply that a typed text means; return False, at no cost, if it is not understood."""
        reply = self.parse_typed(typed)
        if reply is None:
            return False
        self.play_reply(reply, seconds)
        return True

    def parse_typed(self, typed: str) -> str | None:
        """Return the reply that a typed text means; None if it is not understood, or the episode is over."""
        return None if self.episode.done else parse_typed_line(typed, self.episode)

    def play_reply(self, reply: str, seconds: float | None = None) -> None:
        """Play a reply as a model would have given it."""
        turn = self.episode.step(Reply(reply, usage=None if seconds is None else Usage(seconds=seconds)))
        self.message = self._answer_thoughts(turn.message)

    def _answer_thoughts(self, message: str) -> str:
        """Answer requests for a thought, which end `message`, with empty replies; return the request for an action."""
        episode, self._n_thoughts = self.episode, 0
        while question := episode.play.wording.thought_question(episode.state):
            message = message.removesuffix(question).rstrip()
            if episode.done:
                break
            self._n_thoughts += 1
            message = f"{message}\n\n{episode.step(Reply('')).message}"
        return message

    def hint_text(self) -> str:
        """Return the oracle's next action as a person would type it."""
        environment, state = self.episode.environment, self.episode.state
        action = environment.players.policies["oracle"](state, self.episode.stream("player oracle"))
        if environment.typing.format is not None:
            return f"Hint: {environment.typing.format(action)[0]}"
        return f"Hint: {self.episode.play.wording.render(action, state)}"

    def _metrics(self) -> list[tuple[Metric, float]]:
        """Return the metrics that have a value now."""
        record = self.episode.record()
        environment = self.episode.environment
        values = environment.measure(record)
        pairs = ((metric, values[metric.name]) for metric in environment.scoring.metrics)
        return [(metric, value) for metric, value in pairs if value is not None]

    def result_lines(self) -> list[str]:
        """Return how the episode ended and the values of its metrics, as lines."""
        end = self.episode.end_reason
        is_abandoned = end is None or self.episode.error is not None
        ending = "Stopped before the end." if is_abandoned else f"{str(end).replace('_', ' ').capitalize()}."
        values = self.metric_values()
        width = max((len(title) for title, _ in values), default=0)
        return [ending, *(f"  {title:<{width}}  {value}" for title, value in values)]

    def metric_values(self) -> list[tuple[str, str]]:
        """Return (title, value) of each metric as text, the headline metric first."""
        return [
            (metric.title, f"{metric.labels[int(value)] if metric.labels else f'{value:g}'} {metric.unit}".rstrip())
            for metric, value in self._metrics()
        ]

    def solution_text(self) -> str:
        """Return a shortest solution in a sentence; "" if none is known."""
        solution, format_typed = self.episode.item.proof.get("solution"), self.episode.environment.typing.format
        if not solution or format_typed is None:
            return ""
        return f"A shortest solution: {', '.join(format_typed(self.episode.play.game.decode(solution)))}"

    def record(self) -> dict[str, Json]:
        """Return the record so far in the form that `waybench report` reads."""
        return {**self.episode.record().to_json(), "task": self._task, "settings": dict(self._settings)}


def recorded_player_name(name: str, *, hints: bool = False) -> str:
    """Return the name of a person as a player in records: "human" or "human/NAME", and " with hints" after it if so.

    Raises:
        UsageError: If the name is too long for a table, or not printable.
    """
    name = name.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(f"--player {name[:40]!a}: give a name of at most {LONGEST_NAME} printable characters")
    return f"human{f'/{name}' if name else ''}{' with hints' if hints else ''}"


def board_text(board: Board, columns: int, max_rows: int = 60, max_cell_lines: int = 1) -> str:
    """Return a board as lines of text with ANSI escape codes, at most `columns` characters wide.

    A board has at most `max_rows` rows, and a cell as many lines as there is room for, at most `max_cell_lines`. Of a
    board that is too wide or too high, the part around the player is shown.
    """
    rows, margin = board.rows, _ROW_NUMBER_WIDTH if board.numbered else 0
    n_rows, n_columns = len(rows), max(map(len, rows), default=0)
    width = max(columns - margin, 10)
    cell_width = board.width if board.width * n_columns <= width else 1
    max_zoom_of_width, max_zoom_of_height = width // (cell_width * max(n_columns, 1)), (max_rows - 1) // max(n_rows, 1)
    zoom = max(1, min(max_cell_lines, max_zoom_of_width, max_zoom_of_height))
    cell_width *= zoom
    n_shown_columns, n_shown_rows = min(n_columns, width // cell_width), min(n_rows, max_rows)
    player_row, player_column = board.at or (0, 0)
    first_column = min(max(player_column - n_shown_columns // 2, 0), n_columns - n_shown_columns)
    first_row = min(max(player_row - n_shown_rows // 2, 0), n_rows - n_shown_rows)
    end_column, end_row = first_column + n_shown_columns, first_row + n_shown_rows
    lines: list[str] = []
    if board.numbered and rows:
        numbers = "".join(  # the last digit of each column's number
            f"{column % 10:<{cell_width}}" if zoom == 1 else str(column % 10).center(cell_width)
            for column in range(first_column, end_column)
        )
        lines.append(f"{' ' * margin}{_DIM}{numbers}{_PLAIN}")
    for row in range(first_row, end_row):
        number = f"{_DIM}{row:>{margin - 1}} {_PLAIN}" if board.numbered else ""
        for line in range(zoom):
            is_middle = line == zoom // 2  # the other lines have the colour alone
            cells = (_terminal_cell(tile, cell_width, is_middle) for tile in rows[row][first_column:end_column])
            lines.append((number if is_middle else " " * margin) + "".join(cells))
    if n_shown_columns < n_columns or n_shown_rows < n_rows:
        columns_text = f"Columns {first_column} to {end_column - 1}"
        lines.append(f"{columns_text} and rows {first_row} to {end_row - 1} of {n_columns} x {n_rows}.")
    if lines and max_cell_lines > 1:  # a full screen has room for a blank line
        lines.append("")
    return "\n".join([*lines, *board.notes])


def _terminal_cell(tile: Tile, width: int, has_text: bool) -> str:
    """Return a tile as `width` characters with escape codes for its colours; without `has_text`, colours alone."""
    text = (tile.narrow or tile.text[:1]) if width == 1 else tile.text[:width]
    if text[:1] == _FULL_BLOCK:
        text = _FULL_BLOCK * width
    elif has_text:
        text = text.center(width)
    else:
        text = " " * width
    if not tile.colour:
        return text
    red, green, blue = _rgb_of_hex_colour(tile.colour)
    ink = tile.colour if text == _FULL_BLOCK * width else _contrasting_ink(tile.colour)
    colours = f"\x1b[48;2;{red};{green};{blue}m\x1b[38;2;{';'.join(map(str, _rgb_of_hex_colour(ink)))}m"
    return f"{colours}{_BOLD if text.strip() else ''}{text}{_PLAIN}"


def _rgb_of_hex_colour(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a colour "#rrggbb"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _contrasting_ink(background: str) -> str:
    """Return black or white, whichever is easier to read on a background, by its relative luminance (WCAG)."""
    red, green, blue = ((value / 255) ** 2.2 for value in _rgb_of_hex_colour(background))
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def board_svg(board: Board, label: str) -> str:
    """Return a board's cells as an SVG; "" if it has none.

    `label` describes it for screen readers. The board's notes are left to the page.
    """
    rows = board.rows
    n_rows, n_columns = len(rows), max(map(len, rows), default=0)
    if not n_rows or not n_columns:
        return ""
    cell_width = _CELL * (1.6 if board.width > 2 else 1)  # wider for texts of three characters and more
    margin = _CELL if board.numbered else 0
    baseline = margin + 14.5  # of the first row
    elements: list[str] = []
    for y, row in enumerate(rows):
        # A rectangle for each run of cells of one colour, which overlaps its neighbours a little to leave no gap.
        for colour, run in groupby(enumerate(row), key=lambda numbered: numbered[1].colour):
            xs = [x for x, _ in run]
            if colour:
                corner = f'x="{margin + xs[0] * cell_width:g}" y="{margin + y * _CELL}"'
                size = f'width="{len(xs) * cell_width + 0.2:g}" height="{_CELL}.2"'
                elements.append(f'<rect {corner} {size} fill="{colour}"/>')
        for x, tile in enumerate(row):
            if tile.text.strip() and tile.text != _FULL_BLOCK:
                ink = _contrasting_ink(tile.colour) if tile.colour else ""
                middle = margin + (x + 0.5) * cell_width
                elements.append(_svg_text(middle, baseline + y * _CELL, tile.text, ink, cell_width))
    if board.numbered:
        elements += (_svg_text(margin + (x + 0.5) * cell_width, 14, str(x), "", cell_width) for x in range(n_columns))
        elements += (_svg_text(margin / 2, baseline + y * _CELL, str(y), "", _CELL) for y in range(n_rows))
    size = f"{margin + n_columns * cell_width:g} {margin + n_rows * _CELL}"
    return f'<svg class="board" viewBox="0 0 {size}" role="img" aria-label="{escape(label)}">{"".join(elements)}</svg>'


def _svg_text(x: float, y: float, text: str, ink: str, width: float) -> str:
    """Return an SVG text element that is centred at x and fits a cell's width; `ink` is "" for the page's colour."""
    size = min(13.0, round(1.5 * width / max(len(text), 1), 1))  # two characters fit at 13; more are smaller
    fill = f'fill="{ink or "currentColor"}"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size:g}" {fill}>{escape(text)}</text>'


def play_lines(game: PlayedEpisode, *, hints: bool) -> None:
    """Play an episode with lines that a person types, until it ends, the input ends or the person types `quit`."""
    click.secho(game.title, bold=True)
    _print_message_and_board(game)
    help_text = f"{game.help} Type quit to stop."
    click.secho(help_text, dim=True)
    while not game.episode.done:
        started = monotonic()
        typed = _read_typed_text(game)
        if typed is None or typed.lower() in ("quit", "q"):
            return
        if typed.lower() == "hint":
            click.echo(game.hint_text() if hints else "Hints are off: start with --hints to turn them on.")
        elif typed:
            if game.play_typed(typed, monotonic() - started):
                _print_message_and_board(game)
            else:
                click.echo(f"Not understood (it does not count as a reply). {help_text}")


def show_result(game: PlayedEpisode, attempts_left: int = 0) -> None:
    """Print how an episode ended, and a shortest solution unless its task has further attempts at the item."""
    end, *values = game.result_lines()
    click.secho(end, bold=True)
    solution = game.solution_text()
    if solution and attempts_left > 0:
        attempts = plural(attempts_left, "further attempt")
        solution = f"A shortest solution is shown after {attempts} at this item (--record FILE counts them)."
    for line in filter(None, [*values, solution]):
        click.echo(line)


def _print_message_and_board(game: PlayedEpisode) -> None:
    """Print the last message and, in a terminal, the board."""
    click.echo(f"\n{game.message}\n")
    # The board comes last, to be in sight while the next reply is typed: messages are long.
    if sys.stdout.isatty() and (board := game.board) is not None:
        size = shutil.get_terminal_size()
        click.echo(board_text(board, size.columns, max(size.lines - 5, 10)) + "\n")


def _read_typed_text(game: PlayedEpisode) -> str | None:
    """Return what the person types, several lines while a brace is open; None at the end of the input."""
    click.secho(game.status_text, dim=True)
    text, prompt = "", "> "
    while True:
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        if not sys.stdin.isatty():
            click.echo(line)  # a terminal shows what is typed, and a transcript should, too
        text = f"{text}\n{line}" if text else line
        if not line.strip() or text.count("{") <= text.count("}"):
            return text.strip()
        prompt = ". "
