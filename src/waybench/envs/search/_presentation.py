"""The six environments for people: drawings of guesses, boards, titles and legends."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from math import log10
from typing import Any, NamedTuple

from waybench._svg import path, text, texts
from waybench.core import (
    Board,
    Presentation,
    Scene,
    Stream,
    Tile,
    TurnRecord,
    TypedAction,
    ineffective_turns_text,
    plural,
)
from waybench.envs.search._drawing_walk import breadth_scene, depth_scene
from waybench.envs.search._number import GuessGame, Guessing, Number, bisect, default_max_steps
from waybench.envs.search._walk import VisitedNodes

_WIDTH = 400
_LEFT, _RIGHT = 34, 318  # of the lines of numbers; beside them are the guesses' numbers and values
_MIDDLE = (_LEFT + _RIGHT) // 2
_LINE_Y = 34  # of the line of the range
_TOP, _ROW_HEIGHT = 106, 14  # y of the first guess's row, and the height of each row
_DIGIT_WIDTH = 5
# Neither the game nor the teacher draws from the stream.
_GAME, _UNUSED_RANDOMNESS = GuessGame(), Stream("search", "drawing")
_COLOURS = {"mark": "#0072b2", "off": "#d55e00", "found": "#009e73"}
_PALE = 'stroke-opacity="0.25"'
_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")  # units of powers of 1,000


class Guess(NamedTuple):
    """The effect of one turn.

    Attributes:
        before: The state before the turn.
        guess: The number that was guessed; None if none was.
        rejected: A number in the reply that did not count as a guess; None if there is none.
    """

    before: Guessing
    guess: int | None
    rejected: int | None

    @property
    def kind(self) -> str:
        """The kind of the guess: "found" for the target, "off" for an excluded number, "mark" for any other."""
        if self.guess is not None and not self.before.low <= self.guess <= self.before.high:
            return "off"
        return "found" if self.guess == self.before.case.target else "mark"

    @property
    def state_after(self) -> Guessing:
        """The state after the turn."""
        return self.before if self.guess is None else _GAME.apply(self.before, self.guess, _UNUSED_RANDOMNESS).state


def number_scene(case: Number, turns: Sequence[TurnRecord]) -> Scene:
    """Return the range of a number and the guesses of an episode, those around the last one if there are many.

    The scene has nothing of a reply but guesses within the range, and on which side of it other numbers were.
    """
    attempts = list(guesses_of_turns(case, turns))
    guesses = [attempt for attempt in attempts if attempt.guess is not None]
    now = attempts[-1].state_after if attempts else _GAME.start(case)
    progress = f"{case.target} found" if now.found else f"{plural(now.high - now.low + 1, 'number')} possible"
    n_excluded = sum(attempt.kind == "off" for attempt in guesses)
    excluded_text = f"{n_excluded} excluded by earlier answers" if n_excluded else ""
    lines = [
        f"{plural(len(guesses), 'guess', 'guesses')}, {progress}",
        ", ".join(filter(None, (excluded_text, ineffective_turns_text(turns)))),
    ]
    height = _TOP + _ROW_HEIGHT * default_max_steps(case) + 44
    return Scene(
        "tiles maze-large guess",
        f"A number from {case.low} to {case.high}, {case.target}: {', '.join(filter(None, lines))}",
        (_WIDTH, height),
        parts=[
            *_range_shapes(case, guesses, now),
            *_distance_scale_shapes(case),
            *_guess_row_shapes(case, attempts, now),
            *(text("guess-told", _LEFT, height - 24 + 16 * number, line, 11) for number, line in enumerate(lines)),
        ],
    )


def guesses_of_turns(case: Number, turns: Iterable[TurnRecord]) -> Iterator[Guess]:
    """Yield the effect of each turn that guessed or named a number."""
    state = _GAME.start(case)
    for turn in turns:
        number: int | None = turn.events.get("guess")
        guess = number if number is not None and case.low <= number <= case.high else None
        rejected: int | None = None if turn.action == guess else turn.action
        if guess is not None or rejected is not None:
            yield (attempt := Guess(state, guess, rejected))
            state = attempt.state_after


def _horizontal_line(x: int, to_x: int, y: int) -> str:
    """Return the SVG path data of a line between two x, at least 2 units long so that it can be seen."""
    return f"M{min(x, (x + to_x) // 2 - 1)} {y}h{max(to_x - x, 2)}"


def _range_shapes(case: Number, guesses: Sequence[Guess], now: Guessing) -> Iterator[str]:
    """Yield the line of all numbers, the part that is possible now, and the guesses as far as there is room."""

    def x_of(number: int) -> int:
        """Return the x of a number on the line."""
        return _LEFT + round((_RIGHT - _LEFT) * ((number - case.low) / (case.high - case.low)))

    x = x_of(case.target)
    yield path(
        "guess-rule", "#999", 1, [f"M{_LEFT} {_LINE_Y}H{_RIGHT}M{_LEFT} {_LINE_Y - 4}v8M{_RIGHT} {_LINE_Y - 4}v8"]
    )
    yield path("guess-possible", "#0072b2", 12, [_horizontal_line(x_of(now.low), x_of(now.high), _LINE_Y)], _PALE)
    yield path("guess-target", "#009e73", 2, [f"M{x} {_LINE_Y - 7}v14"])
    # Numbers near the ends of the line, and long ones at the ends, must not reach out of the drawing.
    anchor = "start" if x < _MIDDLE / 2 else "end" if x > 1.5 * _MIDDLE else "middle"
    yield text("guess-value", x, _LINE_Y + 26, str(case.target), 9, anchor)
    yield text("guess-value", _LEFT, _LINE_Y + 15, str(case.low), 9, "middle" if case.low < 10**8 else "start")
    yield text("guess-value", _RIGHT, _LINE_Y + 15, str(case.high), 9, "middle" if case.high < 10**8 else "end")
    labels, label_spans = list[tuple[int, int, int]](), list[tuple[int, float]]()
    for number, attempt in enumerate(guesses, start=1):
        x, half_width = x_of(attempt.guess or 0), _DIGIT_WIDTH * len(str(number)) / 2 + 1
        if all(abs(x - other_x) >= half_width + other_half for other_x, other_half in label_spans):
            label_spans.append((x, half_width))
            labels.append((x, _LINE_Y - 15, number))
    for kind, colour in _COLOURS.items():
        ticks = (f"M{x_of(attempt.guess or 0)} {_LINE_Y - 12}v12" for attempt in guesses if attempt.kind == kind)
        yield path(f"guess-tick-{kind}", colour, 1.4, ticks)
    yield texts("guess-number", labels, 9)


def _row_x(case: Number, number: int) -> int:
    """Return the x of a number in the rows: by its distance from the target, or beside the rows if out of range."""
    if not case.low <= number <= case.high:
        return _LEFT - 8 if number < case.low else _RIGHT + 8
    distance, most = abs(number - case.target), max(case.target - case.low, case.high - case.target)
    share = log10(1 + distance) / log10(1 + most)
    return _MIDDLE + round((_RIGHT - _LEFT) / 2 * (share if number > case.target else -share))


def _distance_scale_shapes(case: Number) -> Iterator[str]:
    """Yield the scale of distances above the rows, with its lines through them."""
    bottom = _TOP + _ROW_HEIGHT * default_max_steps(case)
    labels: list[tuple[int, int, int | str]] = [(_MIDDLE, _TOP - 22, "distance")]
    lines = list[str]()
    for power in range(3, 19, 3) if case.high - case.low > 10**7 else range(1, 8):
        for number in (case.target - 10**power, case.target + 10**power):
            if case.low <= number <= case.high:
                x = _row_x(case, number)
                lines.append(f"M{x} {_TOP - 4}V{bottom}")
                labels.append((x, _TOP - 8, f"{10 ** (power % 3)}{_THOUSANDS[power // 3]}"))
    yield texts("guess-value", labels, 9)
    yield text("guess-value", _LEFT, _TOP - 22, "too small", 9)
    yield text("guess-value", _RIGHT, _TOP - 22, "too large", 9, "end")
    yield path("guess-rule", "#999", 0.5, lines)
    yield path("guess-target", "#009e73", 2, [f"M{_MIDDLE} {_TOP - 4}V{bottom}"])


def _guess_row_shapes(case: Number, attempts: Sequence[Guess], now: Guessing) -> Iterator[str]:
    """Yield a row for each guess and one for what is possible now, as many as there is room for."""
    n_rows = default_max_steps(case)
    # The number of guesses before each attempt, and at last of all guesses.
    guess_counts = list(accumulate((attempt.guess is not None for attempt in attempts), initial=0))
    n_guesses = guess_counts[-1]
    first = max(0, n_guesses - 1) // n_rows * n_rows  # rows are shown like pages: the last page with a guess
    visible = [
        (_TOP + _ROW_HEIGHT * (number - first), attempt)
        for number, attempt in zip(guess_counts, attempts, strict=False)
        if first <= number < first + n_rows
    ]
    guesses = [(y, attempt) for y, attempt in visible if attempt.guess is not None]
    states = [(y, attempt.before) for y, attempt in guesses]
    if not now.found and n_guesses < first + n_rows:
        states.append((_TOP + _ROW_HEIGHT * (n_guesses - first), now))
    spans = (_horizontal_line(_row_x(case, state.low), _row_x(case, state.high), y + 7) for y, state in states)
    yield path("guess-possible", "#0072b2", _ROW_HEIGHT - 2, spans, _PALE)
    middles = ((_row_x(case, bisect(state, _UNUSED_RANDOMNESS)), y + 1) for y, state in states)
    yield path("guess-middle reference", "#e69f00", 2, (f"M{x} {y}v12" for x, y in middles), 'stroke-dasharray="3 2"')
    rejected_marks = ((_row_x(case, attempt.rejected), y + 4) for y, attempt in visible if attempt.rejected is not None)
    yield path("guess-tried", "#d55e00", 1.4, (f"M{x - 3} {y}l6 6m0-6l-6 6" for x, y in rejected_marks))
    for kind, width, shape in (("mark", 8, "h0"), ("found", 11, "h0"), ("off", 2.4, "m-4-4l8 8m0-8l-8 8")):
        places = ((_row_x(case, attempt.guess or 0), y + 7) for y, attempt in guesses if attempt.kind == kind)
        lines = (f"M{x} {y}{shape}" for x, y in places)
        yield path(f"guess-{kind}", _COLOURS[kind], width, lines, 'stroke-linecap="round"')
    numbered = ((_LEFT - 16, y + 10, number) for number, (y, _) in enumerate(guesses, start=first + 1))
    yield texts("guess-number", numbered, 9, "end")
    values = ((_RIGHT + 16, y + 10, attempt.guess) for y, attempt in guesses)
    yield texts("guess-value", values, min(9, 110 / len(str(case.high))), "start")


NUMBER_HELP = "Type a number of the range."
WALK_HELP = "Type the number of a place."

_MOST_CELLS = 40  # of the line of numbers
_LINE_COLOUR, _SMALL_COLOUR, _LARGE_COLOUR, _FOUND_COLOUR = "#dfe3ea", "#56b4e9", "#e69f00", "#009e73"
_VISITED_COLOUR, _CURRENT_COLOUR, _UNVISITED_COLOUR = "#0072b2", "#e69f00", "#ffffff"
_MOST_NODES = 60  # that have a row, or are offered as actions
_MOST_DIGITS = 19


def parse_number(text: str, state: Any) -> int | None:
    """Return the number that a person has typed; None if it is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


def number_board(state: Guessing, turns: Sequence[TurnRecord]) -> Board:
    """Return the range as a line with the guesses on it, and the answer to each guess."""
    case = state.case
    size = case.high - case.low + 1
    n_cells = min(_MOST_CELLS, size)
    line = [Tile("", _LINE_COLOUR)] * n_cells
    answers: list[str] = []
    for turn in turns:
        guess: int | None = turn.events.get("guess")
        if guess is None or not case.low <= guess <= case.high:
            continue
        if guess == case.target:
            tile, answer = Tile("=", _FOUND_COLOUR), "right"
        elif guess < case.target:
            tile, answer = Tile(">", _SMALL_COLOUR), "it is larger"
        else:
            tile, answer = Tile("<", _LARGE_COLOUR), "it is smaller"
        line[(guess - case.low) * n_cells // size] = tile
        answers.append(f"{guess}: {answer}")
    note = f"The range is {case.low} to {case.high}; > means that the number is larger, < that it is smaller."
    return Board(rows=[line], width=1 if n_cells > 20 else 2, notes=[note, *answers])


def walk_board(state: VisitedNodes, turns: Sequence[TurnRecord]) -> Board:
    """Return a row for each visited node: its number, and the numbers of its neighbours."""

    def node_tile(node: int) -> Tile:
        """Return the tile of a node, in the colour of its state."""
        if node == state.at:
            return Tile(str(node), _CURRENT_COLOUR)
        return Tile(str(node), _VISITED_COLOUR if state.visited_mask >> node & 1 else _UNVISITED_COLOUR)

    rows = [
        [node_tile(node), Tile("→"), *map(node_tile, state.graph.neighbours[node])]
        for node in state.order[-_MOST_NODES:]
    ]
    notes = [f"{len(state.order)} visited. First column: visited places in their order, each with its neighbours."]
    notes.append("Amber: you are here; blue: visited; white: not visited yet.")
    return Board(rows=rows, width=4, notes=notes)


def adjacent_nodes(state: VisitedNodes) -> Sequence[TypedAction]:
    """Return the neighbours of the node visited last, as actions."""
    return [TypedAction(str(node)) for node in state.graph.neighbours[state.at][:_MOST_NODES]]


def known_nodes(state: VisitedNodes) -> Sequence[TypedAction]:
    """Return the nodes that were shown and not visited, in that order, as actions."""
    return [TypedAction(str(node)) for node in state.fringe[:_MOST_NODES]]


_BASE = "search/guessnum", "search/dfs", "search/bfs"
_EMBODIED = "search/coin", "search/cavedfs", "search/cavebfs"


_FAMILY = Presentation(
    title="Algorithmic search (AQA-Bench)",
    lead=(
        "Binary, depth-first and breadth-first search, each in a plain wording and as a story. The goal metric "
        "measures how close to the goal a player came, the sum of its gaps how fast, and ACC how long it followed the "
        "algorithm. Players that give up early have small sums, so the goal metric comes first."
    ),
    item="case",
    metrics=("err_min", "err_sum", "g_min", "g_sum", "acc"),
    parts={"Base environments": _BASE, "Embodied environments": _EMBODIED},
    modes={
        mode: dict(zip((*_BASE, *_EMBODIED), levels * 2, strict=True))
        for mode, levels in (("EASY mode", (15, 8, 15)), ("HARD mode", (25, 13, 25)))
    },
)
NUMBER_PRESENTATION = replace(
    _FAMILY,
    scene=number_scene,
    board=number_board,
    legend=(
        "The upper line is the whole range, with the possible numbers shaded, the guesses above it and the number "
        "itself below. Each row is a guess: the numbers possible before it are shaded, by distance from the number on "
        "a logarithmic scale. A bold cross is a guess that earlier answers exclude, a thin cross an invalid guess."
    ),
    reference="where the teacher bisects the possible numbers (dashed)",
)
_WALKS = replace(
    _FAMILY,
    board=walk_board,
    legend=(
        "Visited nodes are filled, with the order of their first visits beside them; the last one has a green ring. "
        "Nodes with an edge were shown to the player, pale nodes were not. The path starts at node 0. Orange edges, "
        "rings and numbers mark steps that deviate from the algorithm. A dashed line leads to a node that was named "
        "but not visited, with a cross if the step was not allowed."
    ),
    reference="the algorithm's order of first visits (amber)",
)
DEPTH_PRESENTATION = replace(_WALKS, scene=depth_scene)
BREADTH_PRESENTATION = replace(_WALKS, scene=breadth_scene)
