"""The environment of the Tower of Hanoi, with its scenes, pictures and board."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from waybench._package_data import read_text
from waybench._svg import box, cross, group, path, text, texts
from waybench.core import (
    Board,
    Difficulty,
    End,
    HorizonSpec,
    Images,
    Items,
    Picture,
    Players,
    Presentation,
    Scene,
    Scoring,
    Tile,
    TurnRecord,
    level_axis,
    plural,
)
from waybench.envs.hanoi._game import (
    ILLEGAL_REWARD,
    MOVES,
    OPTIONS,
    PLAYERS,
    ROD_NAMES,
    SOLVED_REWARD,
    HanoiRules,
    HanoiSource,
    Puzzle,
    Stacks,
    Towers,
    decode,
    isomorph,
    move_disk,
    prove,
    stacks_of_position,
)
from waybench.envs.hanoi._measures import (
    FAILURES,
    FIRST_ERRORS,
    METRICS,
    MINIMUM,
    POTENTIALS,
    RODS_BELIEF,
    SERIES,
    STEPS,
    VARIABLES,
    is_competent,
    most_steps,
    own_failure,
    published_setting,
    reasoning,
    sample_name,
)
from waybench.envs.smartplay import AgentState, agent_environment, step_turns, thinking_players

MOST_FRAMES = 72  # of a longer episode the last ones are left out
_COLUMNS = 6
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")  # after Okabe and Ito
_GAP = 1.5


class RodsFrame(NamedTuple):
    """The rods at one time.

    Attributes:
        rods: The disks on each rod, the lowest first.
        disk: The disk that was moved; -1 if none was.
        refused: The rods of a move that was not allowed, source and target; empty if it was.
    """

    title: str
    rods: Stacks
    disk: int = -1
    refused: tuple[int, ...] = ()


def scene(towers: Towers, turns: Sequence[TurnRecord]) -> Scene:
    """Return the scene of an episode move by move, of more than 72 moves the first ones, and of the goal."""
    all_frames = list(move_frames(towers, turns))
    label = _frames_label(towers, all_frames)
    if len(all_frames) > MOST_FRAMES + 1:
        label += f"; the first {MOST_FRAMES} are drawn"
    return _frames_scene(towers, all_frames[: MOST_FRAMES + 1], label)


def scenes(towers: Towers, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield the rods after each number of turns, and the goal."""
    all_frames = list(move_frames(towers, turns))
    for count in counts:
        number = sum(1 for _ in step_turns(turns[:count]))
        yield _frames_scene(towers, all_frames[number : number + 1], _frames_label(towers, all_frames[: number + 1]))


def _frames_label(towers: Towers, moves: Sequence[RodsFrame]) -> str:
    """Return the label of a drawing for screen readers: how many disks, moves, and moves that are not allowed."""
    refused = sum(bool(frame.refused) for frame in moves)
    tally = f"{plural(len(moves) - 1, 'move')}, {refused} of them not allowed"
    return f"Tower of Hanoi with {plural(towers.level, 'disk')}: {tally}"


def _frames_scene(towers: Towers, moves: Sequence[RodsFrame], label: str) -> Scene:
    """Return the scene of frames side by side, the goal last and paler."""
    disks, panels = (
        towers.level,
        [*((move, 1) for move in moves), (RodsFrame("goal", stacks_of_position(towers.positions[1])), 0.7)],
    )
    width, height = 6 * disks + 3 + _GAP, disks + 4.0
    return Scene(
        "hanoi maze-large",
        label,
        (min(_COLUMNS, len(panels)) * width - _GAP, -(-len(panels) // _COLUMNS) * height),
        parts=[
            group(
                "hanoi-frame" if number < len(moves) else "reference",
                _frame_shapes(frame, disks),
                f'{_translate_attribute(number % _COLUMNS * width, number // _COLUMNS * height)} opacity="{opacity}"',
            )
            for number, (frame, opacity) in enumerate(panels)
        ],
    )


def _translate_attribute(x: float, y: float) -> str:
    return f'transform="translate({x:g} {y:g})"'


def move_frames(towers: Towers, turns: Sequence[TurnRecord]) -> Iterator[RodsFrame]:
    """Yield the frame at the start and after each attempted move."""
    rods, number = stacks_of_position(towers.positions[0]), 0
    yield RodsFrame("start", rods)
    for turn in step_turns(turns):
        number += 1
        action: int = turn.carried_out[0]
        after = move_disk(rods, action)
        if after is None:
            yield RodsFrame(str(number), rods, refused=MOVES[action])
            continue
        disk = rods[MOVES[action][0]][-1]
        rods = after
        yield RodsFrame(str(number), rods, disk)


def _frame_shapes(frame: RodsFrame, disks: int) -> Iterator[str]:
    wide, floor = 2 * disks + 1, disks + 2.2
    middles = [rod * wide + wide / 2 for rod in range(len(ROD_NAMES))]
    posts = (f"M{middle:g} 1.6V{floor:g}" for middle in middles)
    yield path("hanoi-rod", "#888", 0.25, [f"M0 {floor:g}h{3 * wide}", *posts])
    yield text("hanoi-title", 0, 1.1, frame.title, 1.3, colour="#888")
    for middle, stack in zip(middles, frame.rods, strict=True):
        for height, disk in enumerate(stack):
            width, edge = 2 * disk + 1.6, ' stroke="#111" stroke-width="0.22"' if disk == frame.disk else ""
            corner, look = (middle - width / 2, floor - 0.92 - height), f'rx="0.3"{edge}'
            yield box("hanoi-disk", _COLOURS[disk % len(_COLOURS)], 0, corner, (width, 0.84), look)
    if frame.refused:
        source, target = (middles[rod] for rod in frame.refused)
        yield path("hanoi-refused", "#d55e00", 0.3, [f"M{source:g} 1.9H{target:g}{cross(0.7)}"])


def draw_picture(picture: Picture) -> str:
    """Draw the rods now and, below, the goal, with numbers of disks and names of rods."""
    state: AgentState[Towers, Puzzle] = picture.state
    disks = state.instance.level
    wide, high, floor = 2 * disks + 1, disks + 4.5, disks + 2.2
    middles = [rod * wide + wide / 2 for rod in range(len(ROD_NAMES))]
    edge = 'font-weight="bold" stroke="#fff" stroke-width="0.15" paint-order="stroke"'
    names = [(middle, floor + 1.4, name) for middle, name in zip(middles, ROD_NAMES, strict=True)]
    parts: list[str] = []
    for top, title, rods in (
        (0.5, "now", state.world.rods),
        (high + 0.5, "goal", stacks_of_position(state.instance.positions[1])),
    ):
        numbers = (
            (middle, floor - 0.2 - height, disk)
            for middle, stack in zip(middles, rods, strict=True)
            for height, disk in enumerate(stack)
        )
        labels = texts("hanoi-number", numbers, 0.8, more=edge), texts("hanoi-name", names, 1.2)
        parts.append(
            group(
                "hanoi-frame", (*_frame_shapes(RodsFrame(title, rods), disks), *labels), _translate_attribute(0.5, top)
            )
        )
    label = f"Rods with {plural(disks, 'disk')}"
    return Scene("hanoi", label, (3 * wide + 1, 2 * high + 0.5), parts).svg()


_POST, _GROUND = "#8a8a8a", "#5a6372"


def board(state: AgentState[Any, Puzzle], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the rods side by side, a disk of size n being 2 n + 1 cells wide."""
    towers = state.instance
    goal = ", ".join(
        f"{rod} holds {' '.join(map(str, stack))}"
        for rod, stack in zip(ROD_NAMES, stacks_of_position(towers.positions[1]), strict=True)
        if stack
    )
    rows = list(_board_rows(state.world.rods, towers.level))
    return Board(rows=rows, width=2 if towers.level < 5 else 1, notes=[f"Goal, from bottom to top: {goal}."])


def _board_rows(rods: Sequence[Sequence[int]], disks: int) -> Iterator[list[Tile]]:
    """Yield the rows of tiles of the rods, from top to bottom."""

    def cell(rod: int, height: int, column: int) -> Tile:
        disk = rods[rod][height] if height < len(rods[rod]) else None
        if disk is not None and abs(column) <= disk + (disks < 3):
            return Tile(str(disk) if column == 0 else "", _COLOURS[disk % len(_COLOURS)])
        return Tile("", _POST) if column == 0 else Tile()

    columns = range(-disks, disks + 1)  # on both sides of a post
    for height in range(disks, -1, -1):
        row = [
            tile
            for rod in range(len(ROD_NAMES))
            for tile in (*(cell(rod, height, column) for column in columns), Tile())
        ]
        yield row[:-1]
    row = [
        tile for name in ROD_NAMES for tile in (*(Tile("" if column else name, _GROUND) for column in columns), Tile())
    ]
    yield row[:-1]


PRESENTATION = Presentation(
    title="Tower of Hanoi (SmartPlay)",
    lead=(
        "The player moves disks between three rods, one at a time and never onto a smaller one. The score is the "
        "number of disks on their goal rod when the episode ends."
    ),
    level="number of disks",
    levels="numbers of disks",
    item="puzzle",
    metrics=("score", "human", "completed", "optimal_rate", "first_mistake", "illegal", "unnamed", "unparsed"),
    scene=scene,
    board=board,
    scenes=scenes,
    legend=(
        "The rods at the start and after each move, with an edge around the disk that was moved. A cross on a line "
        "from rod to rod is a move that is not allowed."
    ),
    reference="the goal",
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has the rods as they are now, and below them the goal. Each disk has its number.",
    replaces=("start", "goal", "rods"),
    bases=("chat",),
)


RODS = agent_environment(
    id="hanoi/rods",
    version=1,
    title="Tower of Hanoi (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=HanoiRules,
    history=STEPS,
    steps=None,
    most_steps=most_steps,
    reward=lambda steps: (float("-inf") if steps is None else ILLEGAL_REWARD * steps, SOLVED_REWARD),
    items=Items(
        options=OPTIONS,
        sample_levels=(3, 4, 5),
        public_key="hanoi-v1",
        make_source=HanoiSource,
        decode=decode,
        prove=prove,
        isomorph=isomorph,
        cluster=sample_name,
    ),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            levels=(3, 4, 5, 6, 7, 8, 9),
            source_options={"positions": "free"},
            revision=1,
        ),
        axes=(level_axis("disks", "Disks on the rods."), MINIMUM),
        explanatory_variables=VARIABLES,
        success="all disks are on their goal rods after at most 30 steps, or twice the minimum if that is more",
        competent=is_competent,
    ),
    scoring=Scoring(
        metrics=METRICS,
        failures=FAILURES,
        first_errors=FIRST_ERRORS,
        series=SERIES,
        published_setting=published_setting,
    ),
    own_failure=own_failure,
    probes=(RODS_BELIEF,),
    players=Players(
        policies=thinking_players(PLAYERS),
        # With fewer steps than the oracle needs, disks can be placed off its way.
        oracle_is_ceiling=lambda record: record.end is End.SOLVED,
        reasoning=reasoning,
        potentials=POTENTIALS,
    ),
    presentation=PRESENTATION,
    playing={
        "images": IMAGES,
        "illegal": "The first rod has no disk, or its top disk is not smaller than that of the other rod.",
    },
)
