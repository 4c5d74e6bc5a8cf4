"""The environment of slot machines, with its metrics, scene and board."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from waybench._package_data import read_text
from waybench._svg import box, path, text, texts
from waybench.core import Board, Items, Players, Presentation, Scene, Tile, TurnRecord, ineffective_turns_text, plural
from waybench.envs.bandit._game import (
    LARGEST_PAYOFF,
    OPTIONS,
    PLAYERS,
    PUBLISHED,
    Bandit,
    BanditRules,
    BanditSource,
    Machines,
    best_machine_and_gaps,
    decode,
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

ROOM = 50  # pulls for which there is room, as in the published settings; for longer episodes it doubles
MOST_ROOM = 800
# Units of a drawing: the margins, the least width of a machine's column and of the drawing, the top and the height of
# the chart of shares, and the height of a machine's row of pulls and of a row of the table.
_LEFT, _RIGHT, _COLUMN, _NARROWEST, _TOP, _HIGH, _ROW, _TABLE_ROW = 52, 8, 18, 400, 34, 110, 17, 14


class Pull(NamedTuple):
    """One pull.

    Attributes:
        arm: The machine, from 0.
        best: Whether the machine was the best one at that time.
        reward: The amount paid; negative if the machine took it.
    """

    arm: int
    paid: bool
    best: bool
    reward: float


def scene(bandit: Bandit, turns: Sequence[TurnRecord]) -> Scene:
    """Return the scene of machines and pulls; its strip shows only the last ones of more than 800 pulls."""
    pulls = list(pulls_made(turns))
    width = max(_NARROWEST, _LEFT + _COLUMN * len(bandit.arms) + _RIGHT)
    lines = list(_summary_lines(pulls, turns))
    table = list(_table_rows(bandit, pulls))
    strip_top = _TOP + _HIGH + 10 + _TABLE_ROW * len(table)
    height = strip_top + _ROW * len(bandit.arms) + 60  # below the strip there are its numbers and two lines of text
    return Scene(
        "tiles maze-large arms",
        f"{len(bandit.arms)} slot machines: {', '.join(filter(None, lines))}",
        (width, height),
        parts=[
            *_chart_shapes(bandit, pulls, width),
            *_table_texts(bandit, table, width),
            *_pull_strip(bandit, pulls, strip_top, width),
            *(text("arms-name", 8, height - 26 + 16 * number, line, 11) for number, line in enumerate(lines)),
        ],
    )


def pulls_made(turns: Iterable[TurnRecord]) -> Iterator[Pull]:
    """Yield the pulls of an episode."""
    for turn in step_turns(turns):
        arm: int = turn.carried_out[0]
        yield Pull(arm, turn.reward > 0, bool(turn.events["optimal"]), turn.reward)


def _summary_lines(pulls: Sequence[Pull], turns: Sequence[TurnRecord]) -> Iterator[str]:
    """Yield the lines on pulls, rewards and pulls of the best machine."""
    paid_count, best_count = sum(pull.paid for pull in pulls), sum(pull.best for pull in pulls)
    reward = sum(pull.reward for pull in pulls)
    yield f"{plural(len(pulls), 'pull')}, {paid_count} paid, reward {reward:+g}"
    best_text = f"the best machine {plural(best_count, 'time')}" if pulls else ""
    yield ", ".join(filter(None, (best_text, ineffective_turns_text(turns))))


def _table_rows(bandit: Bandit, pulls: Sequence[Pull]) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of the table below the chart: name, and a cell for each machine."""
    arms = range(len(bandit.arms))
    yield "machine", [str(arm + 1) for arm in arms]
    yield "pulls", [str(sum(pull.arm == arm for pull in pulls)) for arm in arms]
    if any(payoff != 1 for _, payoff in bandit.arms):
        yield "payoff", [f"{payoff:g}" for _, payoff in bandit.arms]
    rewards = [[pull.reward for pull in pulls if pull.arm == arm] for arm in arms]
    yield "mean", [f"{sum(amounts) / len(amounts):+.1f}" if amounts else "–" for amounts in rewards]


def _column_middles(bandit: Bandit, width: int) -> tuple[float, list[float]]:
    """Return the width of a machine's column, and the x of the middle of each column, in a drawing so wide."""
    column_width = (width - _LEFT - _RIGHT) / len(bandit.arms)
    return column_width, [_LEFT + column_width * (arm + 0.5) for arm in range(len(bandit.arms))]


def _chart_shapes(bandit: Bandit, pulls: Sequence[Pull], width: int) -> Iterator[str]:
    """Yield a bar for the share of each machine's pulls that paid, and its chance as a dashed mark."""
    column_width, middles = _column_middles(bandit, width)
    grid = [(percent, _TOP + _HIGH * (100 - percent) // 100) for percent in (0, 50, 100)]
    yield path("arms-rule", "#bbb", 0.7, (f"M{_LEFT} {y}H{width - _RIGHT}" for _, y in grid))
    yield texts("arms-text", ((_LEFT - 6, y + 3, f"{percent} %") for percent, y in grid), 9, "end")
    yield text("arms-text", 8, _TOP - 16, "share of the pulls that paid", 9)
    bars, marks = list[str](), list[str]()
    for arm, (x, (chance, _)) in enumerate(zip(middles, bandit.arms, strict=True)):
        wins = [pull.paid for pull in pulls if pull.arm == arm]
        if wins:
            bar_height = max(_HIGH * sum(wins) / len(wins), 1.5)  # a share of 0 is visible, too
            bars.append(f"M{x:.1f} {_TOP + _HIGH}v-{bar_height:.1f}")
        marks.append(f"M{x - column_width * 0.45:.1f} {_TOP + _HIGH * (1 - chance):.1f}h{column_width * 0.9:.1f}")
    yield path("arms-share", "#0072b2", min(44, 0.7 * column_width), bars, 'stroke-opacity="0.75"')
    yield path("arms-chance reference", "#e69f00", 3, marks, 'stroke-dasharray="5 2"')


def _table_texts(bandit: Bandit, table: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    """Yield the texts of the table below the chart; the best machine's number is on a coloured ground."""
    column_width, middles = _column_middles(bandit, width)
    size = min(10, column_width / 2.4)  # of the letters
    best, _ = best_machine_and_gaps(bandit, [chance for chance, _ in bandit.arms])
    top = _TOP + _HIGH + 14
    ground_width = round(min(column_width - 2, 20), 1)
    ground_corner = middles[best] - ground_width / 2, top - 9
    yield box("arms-best reference", "#e69f00", 0, ground_corner, (ground_width, 12), 'rx="3"')
    yield texts("arms-text", ((8, top + _TABLE_ROW * row, name) for row, (name, _) in enumerate(table)), 9, "start")
    labels = [
        (round(x, 1), top + _TABLE_ROW * row, cell)
        for row, (_, cells) in enumerate(table)
        for x, cell in zip(middles, cells, strict=True)
    ]
    # The first row has the machines' numbers, so that the label at `best` is that of the best machine.
    yield texts("arms-name", (label for number, label in enumerate(labels) if number != best), size)
    yield texts("arms-ground", labels[best : best + 1], size)


def _pull_strip(bandit: Bandit, pulls: Sequence[Pull], top: int, width: int) -> Iterator[str]:
    """Yield a row for each machine with a cell for each pull: high if it paid, low if not."""
    room = ROOM
    while room < min(len(pulls), MOST_ROOM):
        room *= 2
    first = max(0, len(pulls) - 1) // room * room  # pull of the strip, which begins anew when it is full
    cell_width = (width - _LEFT - _RIGHT) / room
    stroke_width = max(0.8, 0.84 * cell_width)  # so there are gaps between cells, and narrow cells are visible
    rows = range(top, top + _ROW * len(bandit.arms), _ROW)
    yield path("arms-rule", "#bbb", 0.7, (f"M{_LEFT} {y + 12}H{width - _RIGHT}" for y in rows))
    yield texts("arms-text", ((_LEFT - 6, y + 11, arm) for arm, y in enumerate(rows, start=1)), 9, "end")
    for start in range(first, len(pulls), ROOM):  # paths of full blocks of pulls stay the same from turn to turn
        cells = [
            (_LEFT + cell_width * (start - first + number + 0.5), top + _ROW * pull.arm, pull)
            for number, pull in enumerate(pulls[start : start + ROOM])
        ]
        for name, colour, high in (("paid", "#0072b2", 12), ("lost", "#777", 4)):
            cell_paths = (f"M{x:.1f} {y + 12}v-{high}" for x, y, pull in cells if pull.paid == (name == "paid"))
            yield path(f"arms-{name}", colour, stroke_width, cell_paths)
        best_marks = (f"M{x:.1f} {y + 13}v2" for x, y, pull in cells if pull.best)
        yield path("arms-known reference", "#e69f00", stroke_width, best_marks)
    bottom = top + _ROW * len(bandit.arms)
    if pulls:
        x = _LEFT + cell_width * (len(pulls) - first - 0.5)
        yield path("arms-last", "#111", 0, [f"M{x:.1f} {bottom + 1}l3.5 6h-7z"])
    yield text("arms-text", _LEFT, bottom + 17, str(first + 1), 9)
    yield text("arms-text", width - _RIGHT, bottom + 17, str(first + room), 9, "end")


_LATEST = 12  # pulls of a machine that the board has
_NAME, _WIN, _LOSS, _NONE = "#e69f00", "#009e73", "#d55e00", "#e8e8e8"


def board(state: AgentState[Any, Machines], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: for each machine a win or a loss for each of its latest pulls."""
    pulls = [(turn.action[0], turn.reward > 0) for turn in turns if "optimal" in turn.events]
    rows: list[list[Tile]] = []
    for machine in range(len(state.instance.arms)):
        tiles = [Tile("+", _WIN) if paid else Tile("-", _LOSS) for arm, paid in pulls if arm == machine][-_LATEST:]
        rows.append([Tile(str(machine + 1), _NAME), *tiles, *[Tile("", _NONE)] * (_LATEST - len(tiles))])
    last_pull = [] if state.world.arm < 0 else [f"Machine {state.world.arm + 1} paid {state.world.reward:g}."]
    notes = [*last_pull, f"Each machine's latest pulls: + for a win, - for a loss; {len(pulls)} in all."]
    return Board(rows=rows, notes=notes)


SCORING = learning_scoring(
    "the one with the highest expected reward",
    decode,
    PUBLISHED,
    lambda record: len(record.instance["arms"]),
    "With k machines, the random player finds the best one in 1/k of the steps, the optimal player in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
    has_chance_scores=True,
)
STEPS = 50  # and as many observations in the history (Table 1)


PRESENTATION = Presentation(
    title="Slot machines (SmartPlay)",
    lead=(
        "The player pulls one of several slot machines in each step and has to learn which is the best. The score is "
        "the number of pulls of the best one; regret is the expected reward lost on the others."
    ),
    level="number of machines",
    levels="numbers of machines",
    metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
    scene=scene,
    board=board,
    legend=(
        "A bar is the share of a machine's pulls that paid; its mean reward is below. Each pull is a cell in its "
        "machine's row: high for a win, low for a loss. The triangle marks the last pull."
    ),
    reference=(
        "the win rates (dashed; at the start where they drift), the best machine (amber), and a line under pulls of "
        "the best machine at that time"
    ),
)


ARMS = agent_environment(
    id="bandit/arms",
    version=1,
    title="Slot machines (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=BanditRules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward_range(LARGEST_PAYOFF, STEPS),
    items=Items(
        options=OPTIONS,
        sample_levels=(2, 5, 10),
        public_key="bandit-v1",
        make_source=BanditSource,
        decode=decode,
        prove=prove,
    ),
    scoring=SCORING,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
)
