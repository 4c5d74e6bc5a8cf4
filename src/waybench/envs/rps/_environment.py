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
_WIDTH, _LEFT = 400, 62
_BANDS = 2  # lines of rounds
_BAND, _ROW = 86, 17
_TOP, _LINE = 30, 18  # of the table of choices
_BARS = (132, 284)  # where the bars of both players begin
_FULL = 100  # how long a bar is
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
    for x, name in ((8, "choice"), (62, "a win"), (_BARS[0], "player"), (_BARS[1], "opponent")):
        yield text("rounds-text", x, _TOP - 14, name, 9)
    for choice, name in enumerate(SOUND_NAMES):
        y = _TOP + _LINE * choice
        yield text("rounds-name", 8, y + 6, name, 10)
        yield text("rounds-text", 62, y + 6, f"+{match.wins[choice]:g}", 10)
        for x, counts, kind, colour in (
            (_BARS[0], world.player_counts, "mine", _MINE),
            (_BARS[1], world.opponent_counts, "theirs", _THEIRS),
        ):
            share = counts[choice] / (sum(counts) or 1)
            yield path("rounds-rule", "#bbb", 0.7, [f"M{x} {y - 5}v14"])
            yield path(f"rounds-{kind}", colour, 10, [f"M{x} {y + 2}h{_FULL * share:.1f}"])
            yield text("rounds-name", x - 5, y + 6, str(counts[choice]), 10, "end")
        x = _BARS[1] + _FULL * world.chances[choice]
        yield path("rounds-chance reference", "#e69f00", 3, [f"M{x:.1f} {y - 6}v16"], 'stroke-dasharray="4 2"')


def _round_columns(rounds: Sequence[PlayedRound], top: int) -> Iterator[str]:
    """Yield a column for each round: both choices by their letters, the result, and the best choice."""
    room = ROOM if len(rounds) <= ROOM else 2 * ROOM
    first = max(0, len(rounds) - 1) // room * room
    across = room // _BANDS
    wide = (_WIDTH - _LEFT - 8) / across
    for band in range(_BANDS):
        y, start = top + band * _BAND, first + across * band
        for row, name in enumerate(("player", "opponent", "result")):
            yield text("rounds-text", 8, y + _ROW * row + 12, name, 9)
        yield text("rounds-text reference", 8, y + 3 * _ROW + 12, "best", 9)
        yield text("rounds-text", _LEFT, y - 2, str(start + 1), 7)
        yield from _round_line(rounds[start : start + across], y, wide)


def _round_line(rounds: Sequence[PlayedRound], top: int, wide: float) -> Iterator[str]:
    """Yield the shapes of a line of rounds: a path and a text for each of its rows."""
    if not rounds:
        return
    places = [round(_LEFT + wide * (number + 0.5), 1) for number in range(len(rounds))]

    def cell_paths(row: int, positions: Iterable[float]) -> Iterator[str]:
        """Yield the SVG path data of a row's cells at these positions."""
        return (f"M{x - wide / 2 + 0.4:.1f} {top + _ROW * row + 8}h{wide - 0.8:.1f}" for x in positions)

    players, opponents = [round_.player for round_ in rounds], [round_.opponent for round_ in rounds]
    yield path("rounds-mine", _MINE, _ROW - 1, cell_paths(0, places), _PALE)
    yield path("rounds-theirs", _THEIRS, _ROW - 1, cell_paths(1, places), _PALE)
    yield _letter_row("name", top + 12, wide, list(zip(places, players, strict=True)))
    yield _letter_row("name", top + _ROW + 12, wide, list(zip(places, opponents, strict=True)))
    for result, (colour, shape) in _RESULTS.items():
        shapes = [
            f"M{x} {top + 2 * _ROW + 4}{shape}"
            for x, round_ in zip(places, rounds, strict=True)
            if round_.result == result
        ]
        yield path(f"rounds-{result}", colour, 0, shapes)
    best = [(x, round_.best, round_.best == round_.player) for x, round_ in zip(places, rounds, strict=True)]
    parts = [path("rounds-best", "#e69f00", _ROW - 1, cell_paths(3, (x for x, _, same in best if same)))]
    for name, same in (("ground", True), ("name", False)):
        letters = [(x, choice) for x, choice, is_best in best if is_best is same]
        parts.append(_letter_row(name, top + 3 * _ROW + 12, wide, letters))
    yield group("reference", parts)


def _letter_row(name: str, y: int, wide: float, choices: Sequence[tuple[float, int]]) -> str:
    """Return the text with the letters of choices, each at its position."""
    places, letters = " ".join(f"{x:g}" for x, _ in choices), "".join(SOUND_NAMES[choice][0] for _, choice in choices)
    look = f'class="rounds-{name}" fill="#333" font-size="{min(10.0, 1.1 * wide):.1f}" text-anchor="middle"'
    return f'<text {look} x="{places}" y="{y}">{letters}</text>' if letters else ""


KEYS = {"Rock": "r", "Paper": "p", "Scissor": "s", "Scissors": "s"}

_SHOWN = 8  # rounds
_LEGEND = (
    "Your choices, and below them the opponent's: R rock, P paper, S scissors.",
    "Green: you won; orange: you lost.",
)
_LETTERS = "RPS"
_COLOURS = ("#cccccc", "#009e73", "#d55e00")  # of a tie, a win and a defeat


def board(state: AgentState[Any, Rounds], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the player's choices and the opponent's, in the colour of the result."""
    rounds = [(turn.action[0], turn.events["theirs"]) for turn in turns if "theirs" in turn.events]
    latest = rounds[-_SHOWN:]
    empty = [Tile("", "#f0f0f0")] * (_SHOWN - len(latest))
    rows = [
        [Tile(name), *(Tile(_LETTERS[pair[who]], _COLOURS[(pair[0] - pair[1]) % 3]) for pair in latest), *empty]
        for who, name in enumerate(("you", "it"))
    ]
    results = [(player - opponent) % 3 for player, opponent in rounds]
    score = f"Won {results.count(1)}, lost {results.count(2)}, tied {results.count(0)}."
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
