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
_LEFT, _COLUMN, _NARROWEST = 52, 18, 400
_TOP, _HIGH = 34, 110  # of the chart of shares
_ROW = 17


class Pull(NamedTuple):
    """One pull.

    Attributes:
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
    width = max(_NARROWEST, _LEFT + _COLUMN * len(bandit.arms) + 8)
    lines = list(_summary_lines(pulls, turns))
    table = list(_table_rows(bandit, pulls))
    strip = _TOP + _HIGH + 10 + 14 * len(table)
    height = strip + _ROW * len(bandit.arms) + 60
    return Scene(
        "tiles maze-large arms",
        f"{len(bandit.arms)} slot machines: {', '.join(filter(None, lines))}",
        (width, height),
        parts=[
            *_chart_shapes(bandit, pulls, width),
            *_table_texts(bandit, table, width),
            *_pull_strip(bandit, pulls, strip, width),
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
    paid, best = sum(pull.paid for pull in pulls), sum(pull.best for pull in pulls)
    reward = sum(pull.reward for pull in pulls)
    yield f"{plural(len(pulls), 'pull')}, {paid} paid, reward {reward:+g}"
    yield ", ".join(
        filter(None, (f"the best machine {plural(best, 'time')}" if pulls else "", ineffective_turns_text(turns)))
    )


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
    """Return the width of a machine's column, and the middles of all columns."""
    wide = (width - _LEFT - 8) / len(bandit.arms)
    return wide, [_LEFT + wide * (arm + 0.5) for arm in range(len(bandit.arms))]


def _chart_shapes(bandit: Bandit, pulls: Sequence[Pull], width: int) -> Iterator[str]:
    """Yield a bar for the share of each machine's pulls that paid, and its chance as a dashed mark."""
    wide, middles = _column_middles(bandit, width)
    shares = [(share, _TOP + _HIGH * (100 - share) // 100) for share in (0, 50, 100)]
    yield path("arms-rule", "#bbb", 0.7, (f"M{_LEFT} {y}H{width - 8}" for _, y in shares))
    yield texts("arms-text", ((_LEFT - 6, y + 3, f"{share} %") for share, y in shares), 9, "end")
    yield text("arms-text", 8, _TOP - 16, "share of the pulls that paid", 9)
    bars, marks = list[str](), list[str]()
    for arm, (x, (chance, _)) in enumerate(zip(middles, bandit.arms, strict=True)):
        paid = [pull.paid for pull in pulls if pull.arm == arm]
        if paid:
            bars.append(f"M{x:.1f} {_TOP + _HIGH}v-{max(_HIGH * sum(paid) / len(paid), 1.5):.1f}")
        marks.append(f"M{x - wide * 0.45:.1f} {_TOP + _HIGH * (1 - chance):.1f}h{wide * 0.9:.1f}")
    yield path("arms-share", "#0072b2", min(44, 0.7 * wide), bars, 'stroke-opacity="0.75"')
    yield path("arms-chance reference", "#e69f00", 3, marks, 'stroke-dasharray="5 2"')


def _table_texts(bandit: Bandit, table: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    """Yield the texts of the table below the chart; the best machine's number is on a coloured ground."""
    wide, middles = _column_middles(bandit, width)
    size = min(10, wide / 2.4)
    best, _ = best_machine_and_gaps(bandit, [chance for chance, _ in bandit.arms])
    top = _TOP + _HIGH + 14
    side = round(min(wide - 2, 20), 1)
    yield box("arms-best reference", "#e69f00", 0, (middles[best] - side / 2, top - 9), (side, 12), 'rx="3"')
    yield texts("arms-text", ((8, top + 14 * row, name) for row, (name, _) in enumerate(table)), 9, "start")
    labels = [
        (round(x, 1), top + 14 * row, cell)
        for row, (_, cells) in enumerate(table)
        for x, cell in zip(middles, cells, strict=True)
    ]
    yield texts("arms-name", (cell for number, cell in enumerate(labels) if number != best), size)
    yield texts("arms-ground", labels[best : best + 1], size)


def _pull_strip(bandit: Bandit, pulls: Sequence[Pull], top: int, width: int) -> Iterator[str]:
    """Yield a row for each machine with a cell for each pull: high and filled if it paid, low if not."""
    room = ROOM
    while room < min(len(pulls), MOST_ROOM):
        room *= 2
    first = max(0, len(pulls) - 1) // room * room
    wide = (width - _LEFT - 8) / room
    rows = range(top, top + _ROW * len(bandit.arms), _ROW)
    yield path("arms-rule", "#bbb", 0.7, (f"M{_LEFT} {y + 12}H{width - 8}" for y in rows))
    yield texts("arms-text", ((_LEFT - 6, y + 11, arm) for arm, y in enumerate(rows, start=1)), 9, "end")
    for start in range(first, len(pulls), ROOM):  # what is full stays the same
        cells = [(_LEFT + wide * (number - first + 0.5), pulls[number]) for number in range(start, len(pulls))[:ROOM]]
        for name, colour, high in (("paid", "#0072b2", 12), ("lost", "#777", 4)):
            cell_paths = (f"M{x:.1f} {top + _ROW * p.arm + 12}v-{high}" for x, p in cells if p.paid == (name == "paid"))
            yield path(f"arms-{name}", colour, max(0.8, 0.84 * wide), cell_paths)
        best = (f"M{x:.1f} {top + _ROW * p.arm + 13}v2" for x, p in cells if p.best)
        yield path("arms-known reference", "#e69f00", max(0.8, 0.84 * wide), best)
    bottom = top + _ROW * len(bandit.arms)
    if pulls:
        x = _LEFT + wide * (len(pulls) - first - 0.5)
        yield path("arms-last", "#111", 0, [f"M{x:.1f} {bottom + 1}l3.5 6h-7z"])
    yield text("arms-text", _LEFT, bottom + 17, str(first + 1), 9)
    yield text("arms-text", width - 8, bottom + 17, str(first + room), 9, "end")


_SHOWN = 12  # pulls of a machine, the latest
_NAME, _WIN, _LOSS, _NONE = "#e69f00", "#009e73", "#d55e00", "#e8e8e8"


def board(state: AgentState[Any, Machines], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: for each machine a win or a loss for each of its latest pulls."""
    pulls = [(turn.action[0], turn.reward > 0) for turn in turns if "optimal" in turn.events]
    rows: list[list[Tile]] = []
    for machine in range(len(state.instance.arms)):
        paid = [Tile("+", _WIN) if won else Tile("-", _LOSS) for arm, won in pulls if arm == machine][-_SHOWN:]
        rows.append([Tile(str(machine + 1), _NAME), *paid, *[Tile("", _NONE)] * (_SHOWN - len(paid))])
    last = [] if state.world.arm < 0 else [f"Machine {state.world.arm + 1} paid {state.world.reward:g}."]
    notes = [*last, f"Each machine's latest pulls: + for a win, - for a loss; {len(pulls)} in all."]
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
