"""The environment of Rock Paper Scissors, with its metrics, scene and board."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from waybench._package_data import read_text
from waybench._svg import group, path, text
from waybench.core import Board, Items, Players, Presentation, Scene, Tile, TurnRecord, ineffective_turns_text, plural
from waybench.envs.rps._game import (
    LARGEST_SCORE,
    NAMES,
    OPTIONS,
    PLAYERS,
    PUBLISHED,
    RESULTS,
    SOUND_NAMES,
    STRATEGIES,
    Match,
    Rounds,
    RpsRules,
    RpsSource,
    decode,
    play_round,
    prove,
)
from waybench.envs.smartplay import (
    AgentState,
    agent_environment,
    learning_scoring,
    step_turns,
    symmetric_reward_range,
    thinking_players,
)

ROOM = 50  # rounds for which there is room, as in the published settings; for longer episodes it is twice that
# Units of a drawing: its width, margins, the height of a band and of a row in it, the top of the table of choices and
# the height of its lines, the x where the bars of the player and of the opponent begin, the length of a full bar.
_WIDTH, _LEFT, _RIGHT, _BAND, _ROW, _TOP, _LINE = 400, 62, 8, 86, 17, 30, 18
_PLAYER_BARS, _OPPONENT_BARS, _FULL = 132, 284, 100
_BANDS = 2  # the rounds are drawn in two lines
_MINE, _THEIRS = "#0072b2", "#cc79a7"
_PALE = 'stroke-opacity="0.25"'
_RESULTS = {
    "won": ("#009e73", "l5.5 9h-11z"),
    "lost": ("#d55e00", "m0 9l5.5-9h-11z"),
    "tied": ("#888", "m-5 3h10v3h-10z"),
}


class PlayedRound(NamedTuple):
    """The choices of a round, and the player's best choice against the opponent's probabilities."""

    player: int
    opponent: int
    best: int

    @property
    def result(self) -> str:
        return RESULTS[(self.player - self.opponent) % 3]


def scene(match: Match, turns: Sequence[TurnRecord]) -> Scene:
    """Return the scene of a match: counts of choices, and its rounds, of more than 100 the last ones."""
    rounds, world = played_rounds(match, turns)
    lines = list(_summary_lines(rounds, world, turns))
    top = _TOP + 3 * _LINE + 22
    height = top + _BANDS * _BAND + 34
    return Scene(
        "tiles maze-large rounds",
        f"Rock Paper Scissors: {', '.join(filter(None, lines))}",
        (_WIDTH, height),
        parts=[
            *_choice_table(match, world),
            *_round_columns(rounds, top),
            *(text("rounds-name", 8, height - 24 + 16 * number, line, 11) for number, line in enumerate(lines)),
        ],
    )


def played_rounds(match: Match, turns: Iterable[TurnRecord]) -> tuple[list[PlayedRound], Rounds]:
    """Return the rounds that were played, and the state after them."""
    world = RpsRules(published=False).begin(match)
    rounds: list[PlayedRound] = []
    for turn in step_turns(turns):
        player: int = turn.carried_out[0]
        opponent: int = turn.events["theirs"]
        rounds.append(PlayedRound(player, opponent, world.best))
        world = play_round(world, player, opponent)
    return rounds, world


def _summary_lines(rounds: Sequence[PlayedRound], world: Rounds, turns: Sequence[TurnRecord]) -> Iterator[str]:
    """Yield the lines on results, score and best choices."""
    results = [round_.result for round_ in rounds]
    tally = ", ".join(f"{results.count(name)} {name}" for name in ("won", "tied", "lost"))
    reward = sum(turn.reward for turn in turns)
    yield f"{plural(len(rounds), 'round')}: {tally}, score {reward:+g}"
    best = f"the best choice {plural(world.score, 'time')}" if rounds else ""
    yield ", ".join(filter(None, (best, ineffective_turns_text(turns))))


def _choice_table(match: Match, world: Rounds) -> Iterator[str]:
    """Yield how often each choice was made, and the opponent's probability of it as a dashed mark."""
    for x, name in ((8, "choice"), (62, "a win"), (_PLAYER_BARS, "player"), (_OPPONENT_BARS, "opponent")):
        yield text("rounds-text", x, _TOP - 14, name, 9)
    for choice, name in enumerate(SOUND_NAMES):
        y = _TOP + _LINE * choice
        yield text("rounds-name", 8, y + 6, name, 10)
        yield text("rounds-text", 62, y + 6, f"+{match.wins[choice]:g}", 10)
        for x, counts, kind, colour in (
            (_PLAYER_BARS, world.player_counts, "mine", _MINE),
            (_OPPONENT_BARS, world.opponent_counts, "theirs", _THEIRS),
        ):
            share = counts[choice] / (sum(counts) or 1)  # before the first round all counts are 0
            yield path("rounds-rule", "#bbb", 0.7, [f"M{x} {y - 5}v14"])
            yield path(f"rounds-{kind}", colour, 10, [f"M{x} {y + 2}h{_FULL * share:.1f}"])
            yield text("rounds-name", x - 5, y + 6, str(counts[choice]), 10, "end")
        x = _OPPONENT_BARS + _FULL * world.chances[choice]
        yield path("rounds-chance reference", "#e69f00", 3, [f"M{x:.1f} {y - 6}v16"], 'stroke-dasharray="4 2"')


def _round_columns(rounds: Sequence[PlayedRound], top: int) -> Iterator[str]:
    """Yield a column for each round: both choices by their letters, the result, and the best choice."""
    room = ROOM if len(rounds) <= ROOM else 2 * ROOM
    first = max(0, len(rounds) - 1) // room * room  # round of the drawing, which begins anew when it is full
    rounds_per_band = room // _BANDS
    cell_width = (_WIDTH - _LEFT - _RIGHT) / rounds_per_band
    for band in range(_BANDS):
        y, start = top + band * _BAND, first + rounds_per_band * band
        for row, name in enumerate(("player", "opponent", "result")):
            yield text("rounds-text", 8, y + _ROW * row + 12, name, 9)
        yield text("rounds-text reference", 8, y + 3 * _ROW + 12, "best", 9)
        yield text("rounds-text", _LEFT, y - 2, str(start + 1), 7)
        yield from _round_line(rounds[start : start + rounds_per_band], y, cell_width)


def _round_line(rounds: Sequence[PlayedRound], top: int, cell_width: float) -> Iterator[str]:
    """Yield the shapes of a line of rounds: choices, results and best choices, each in a row below the other."""
    if not rounds:
        return
    middles = [round(_LEFT + cell_width * (number + 0.5), 1) for number in range(len(rounds))]

    def cell_paths(row: int, positions: Iterable[float]) -> Iterator[str]:
        """Yield the SVG path data of a row's cells at these positions."""
        return (f"M{x - cell_width / 2 + 0.4:.1f} {top + _ROW * row + 8}h{cell_width - 0.8:.1f}" for x in positions)

    players, opponents = [round_.player for round_ in rounds], [round_.opponent for round_ in rounds]
    yield path("rounds-mine", _MINE, _ROW - 1, cell_paths(0, middles), _PALE)
    yield path("rounds-theirs", _THEIRS, _ROW - 1, cell_paths(1, middles), _PALE)
    yield _letter_row("name", top + 12, cell_width, list(zip(middles, players, strict=True)))
    yield _letter_row("name", top + _ROW + 12, cell_width, list(zip(middles, opponents, strict=True)))
    for result, (colour, shape) in _RESULTS.items():
        marked = [x for x, round_ in zip(middles, rounds, strict=True) if round_.result == result]
        yield path(f"rounds-{result}", colour, 0, [f"M{x} {top + 2 * _ROW + 4}{shape}" for x in marked])
    choices_made, choices_missed = list[tuple[float, int]](), list[tuple[float, int]]()  # of the best choices
    for x, round_ in zip(middles, rounds, strict=True):
        (choices_made if round_.best == round_.player else choices_missed).append((x, round_.best))
    best_y = top + 3 * _ROW + 12
    best_row = (
        path("rounds-best", "#e69f00", _ROW - 1, cell_paths(3, (x for x, _ in choices_made))),
        _letter_row("ground", best_y, cell_width, choices_made),
        _letter_row("name", best_y, cell_width, choices_missed),
    )
    yield group("reference", best_row)


def _letter_row(name: str, y: int, cell_width: float, choices: Sequence[tuple[float, int]]) -> str:
    """Return the text with the first letters of (x, choice); "" without choices."""
    positions = " ".join(f"{x:g}" for x, _ in choices)
    letters = "".join(SOUND_NAMES[choice][0] for _, choice in choices)
    look = f'class="rounds-{name}" fill="#333" font-size="{min(10.0, 1.1 * cell_width):.1f}" text-anchor="middle"'
    return f'<text {look} x="{positions}" y="{y}">{letters}</text>' if letters else ""


KEYS = {"Rock": "r", "Paper": "p", "Scissor": "s", "Scissors": "s"}

_LATEST = 8  # rounds that the board has
_LEGEND = (
    "Your choices, and below them the opponent's: R rock, P paper, S scissors.",
    "Green: you won; orange: you lost.",
)
_LETTERS = "RPS"
_COLOURS = ("#cccccc", "#009e73", "#d55e00")  # of a tie, a win and a defeat


def board(state: AgentState[Any, Rounds], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the player's choices and the opponent's, in the colour of the result."""
    rounds = [(turn.action[0], turn.events["theirs"]) for turn in turns if "theirs" in turn.events]
    results = [(player - opponent) % 3 for player, opponent in rounds]
    latest = list(zip(rounds, results, strict=True))[-_LATEST:]
    empty = [Tile("", "#f0f0f0")] * (_LATEST - len(latest))
    rows = [
        [Tile(name), *(Tile(_LETTERS[choices[index]], _COLOURS[result]) for choices, result in latest), *empty]
        for index, name in enumerate(("you", "it"))
    ]
    tie, win, defeat = range(3)
    score = f"Won {results.count(win)}, lost {results.count(defeat)}, tied {results.count(tie)}."
    return Board(rows=rows, width=3, notes=[score, *_LEGEND])


SCORING = learning_scoring(
    "the one with the highest expected score",
    decode,
    PUBLISHED,
    lambda record: len(NAMES),
    "The random player makes the best choice in one round of three, the optimal one in every round.",
    lambda record: max(record.instance["wins"]),
)


STEPS = 50  # and as many observations in the history (Table 1)
_OPPONENTS = "\n".join(f"  * `{name}` {strategy.doc}" for name, strategy in STRATEGIES.items())


PRESENTATION = Presentation(
    title="Rock, Paper, Scissors (SmartPlay)",
    lead=(
        "The player plays rounds against an opponent that prefers some choices or adapts to the player. The score is "
        "the number of rounds with the choice of the highest expected score, whatever the result."
    ),
    level="level of opponents",
    levels="levels of opponents",
    metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
    scene=scene,
    board=board,
    legend=(
        "Top: how often each choice was made, and the score of a win with it. Bottom: the choices of each round (R, P "
        "or S), with a triangle up for a win, down for a defeat, and a line for a tie."
    ),
    reference=(
        "the best choice of each round, filled where the player made it, and the probabilities of the opponent's next "
        "choices (dashed)"
    ),
)


ROUNDS = agent_environment(
    id="rps/rounds",
    version=1,
    title="Rock Paper Scissors (SmartPlay)",
    about=read_text(__file__, "about.md").format(opponents=_OPPONENTS),
    rules=RpsRules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward_range(LARGEST_SCORE, STEPS),
    items=Items(
        options=OPTIONS, sample_levels=(1, 2, 3), public_key="rps-v1", make_source=RpsSource, decode=decode, prove=prove
    ),
    scoring=SCORING,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    keys=KEYS,
)
