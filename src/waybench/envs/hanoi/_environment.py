"""The environment of the Tower of Hanoi, with its scenes, pictures and board."""

from collections.abc import Iterable, Iterator, Sequence
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

MOST_FRAMES = 72  # moves that are drawn, besides the start; of a longer episode the last ones are left out
_COLUMNS = 6  # frames side by side
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")  # after Okabe and Ito
_GAP = 1.5  # between two columns of frames, in units of a drawing: a disk is about 1 high


class RodsFrame(NamedTuple):
    """The rods at one time.

    Attributes:
        title: What stands above the rods: "start", "goal", "now" or the number of the move.
        rods: The disks on each rod, the lowest first.
        disk: The disk that was moved; -1 if none was.
        refused: The rods of a move that was not allowed, source and target; empty if it was.
    """

    title: str
    rods: Stacks
    disk: int = -1
    refused: tuple[int, ...] = ()


def scene(towers: Towers, turns: Sequence[TurnRecord]) -> Scene:
    """Return the scene of an episode: the start, the rods after each move (at most the first 72), and the goal."""
    all_frames = list(move_frames(towers, turns))
    label = _frames_label(towers, all_frames)
    if len(all_frames) > MOST_FRAMES + 1:
        label += f"; the first {MOST_FRAMES} are drawn"
    return _frames_scene(towers, all_frames[: MOST_FRAMES + 1], label)


def scenes(towers: Towers, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield the rods after each number of turns, and the goal."""
    all_frames = list(move_frames(towers, turns))
    for count in counts:
        move_count = sum(1 for _ in step_turns(turns[:count]))
        frames = all_frames[: move_count + 1]  # the start comes first
        yield _frames_scene(towers, frames[-1:], _frames_label(towers, frames))


def _frames_label(towers: Towers, frames: Sequence[RodsFrame]) -> str:
    """Return the label for screen readers: how many disks, moves, and moves that are not allowed."""
    refused_count = sum(bool(frame.refused) for frame in frames)
    tally = f"{plural(len(frames) - 1, 'move')}, {refused_count} of them not allowed"  # the start is no move
    return f"Tower of Hanoi with {plural(towers.level, 'disk')}: {tally}"


def _frames_scene(towers: Towers, frames: Sequence[RodsFrame], label: str) -> Scene:
    """Return the scene of frames side by side, the goal last and paler."""
    disk_count, goal = towers.level, RodsFrame("goal", stacks_of_position(towers.positions[1]))
    width, height = 3 * _rod_width(disk_count) + _GAP, disk_count + 4.0
    panels: list[str] = []
    for number, frame in enumerate((*frames, goal)):
        row, column = divmod(number, _COLUMNS)
        look, opacity = ("reference", 0.7) if frame is goal else ("hanoi-frame", 1)
        attributes = f'{_translate_attribute(column * width, row * height)} opacity="{opacity}"'
        panels.append(group(look, _frame_shapes(frame, disk_count), attributes))
    row_count = -(-len(panels) // _COLUMNS)
    size = min(_COLUMNS, len(panels)) * width - _GAP, row_count * height
    return Scene("hanoi maze-large", label, size, panels)


def _rod_width(disk_count: int) -> int:
    """Return the width that a rod takes, in units: that of its largest disk, and some room."""
    return 2 * disk_count + 1


def _translate_attribute(x: float, y: float) -> str:
    return f'transform="translate({x:g} {y:g})"'


def move_frames(towers: Towers, turns: Sequence[TurnRecord]) -> Iterator[RodsFrame]:
    """Yield the frame at the start and after each attempted move."""
    rods = stacks_of_position(towers.positions[0])
    yield RodsFrame("start", rods)
    for number, turn in enumerate(step_turns(turns), 1):
        action: int = turn.carried_out[0]
        after = move_disk(rods, action)
        if after is None:
            yield RodsFrame(str(number), rods, refused=MOVES[action])
            continue
        disk = rods[MOVES[action][0]][-1]
        rods = after
        yield RodsFrame(str(number), rods, disk)


def _rod_positions(disk_count: int) -> tuple[list[float], float]:
    """Return the x of the middle of each rod, and the y of the floor, in units from a frame's upper left corner."""
    width = _rod_width(disk_count)
    return [rod * width + width / 2 for rod in range(len(ROD_NAMES))], disk_count + 2.2


def _frame_shapes(frame: RodsFrame, disk_count: int) -> Iterator[str]:
    """Yield the shapes of a frame: rods, title, disks and, if there is one, the move that was not allowed.

    The disk that was just moved has a dark edge.
    """
    middles, floor = _rod_positions(disk_count)
    posts = (f"M{middle:g} 1.6V{floor:g}" for middle in middles)
    yield path("hanoi-rod", "#888", 0.25, [f"M0 {floor:g}h{3 * _rod_width(disk_count)}", *posts])
    yield text("hanoi-title", 0, 1.1, frame.title, 1.3, colour="#888")
    for middle, stack in zip(middles, frame.rods, strict=True):
        for height, disk in enumerate(stack):
            width = 2 * disk + 1.6  # so the smallest disk, 0, is wider than a post
            corner = middle - width / 2, floor - 0.92 - height
            edge = ' stroke="#111" stroke-width="0.22"' if disk == frame.disk else ""
            yield box("hanoi-disk", _COLOURS[disk % len(_COLOURS)], 0, corner, (width, 0.84), f'rx="0.3"{edge}')
    if frame.refused:
        source, target = (middles[rod] for rod in frame.refused)
        yield path("hanoi-refused", "#d55e00", 0.3, [f"M{source:g} 1.9H{target:g}{cross(0.7)}"])


def draw_picture(picture: Picture) -> str:
    """Draw the rods now and, below, the goal, with numbers of disks and names of rods; a disk is 1 high."""
    state: AgentState[Towers, Puzzle] = picture.state
    disk_count, margin = state.instance.level, 0.5
    frame_height = disk_count + 4.5  # room for the title above and the names below
    middles, floor = _rod_positions(disk_count)
    white_edge = 'font-weight="bold" stroke="#fff" stroke-width="0.15" paint-order="stroke"'
    names = [(middle, floor + 1.4, name) for middle, name in zip(middles, ROD_NAMES, strict=True)]
    frames: list[str] = []
    for top, title, rods in (
        (margin, "now", state.world.rods),
        (frame_height + margin, "goal", stacks_of_position(state.instance.positions[1])),
    ):
        numbers = (
            (middle, floor - 0.2 - height, disk)
            for middle, stack in zip(middles, rods, strict=True)
            for height, disk in enumerate(stack)
        )
        labels = texts("hanoi-number", numbers, 0.8, more=white_edge), texts("hanoi-name", names, 1.2)
        shapes = _frame_shapes(RodsFrame(title, rods), disk_count)
        frames.append(group("hanoi-frame", (*shapes, *labels), _translate_attribute(margin, top)))
    size = 3 * _rod_width(disk_count) + 2 * margin, 2 * frame_height + margin
    return Scene("hanoi", f"Rods with {plural(disk_count, 'disk')}", size, frames).svg()


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
    tile_width = 2 if towers.level < 5 else 1  # characters; boards of few disks are drawn larger
    return Board(rows=rows, width=tile_width, notes=[f"Goal, from bottom to top: {goal}."])


def _board_rows(rods: Sequence[Sequence[int]], disk_count: int) -> Iterator[list[Tile]]:
    """Yield the rows of tiles of the rods, from top to bottom, and a row with the names of the rods."""

    def tile_at(rod: int, height: int, column: int) -> Tile:
        """Return a tile of a rod's part of the board; column 0 is that of its post."""
        disk = rods[rod][height] if height < len(rods[rod]) else None
        if disk is not None and abs(column) <= disk + (disk_count < 3):  # one or two disks leave room for wider ones
            return Tile(str(disk) if column == 0 else "", _COLOURS[disk % len(_COLOURS)])
        return Tile("", _POST) if column == 0 else Tile()

    def joined_row(rod_tiles: Iterable[Iterable[Tile]]) -> list[Tile]:
        """Return a row of the board, with an empty tile between two rods."""
        return [tile for tiles in rod_tiles for tile in (*tiles, Tile())][:-1]

    columns = range(-disk_count, disk_count + 1)  # on both sides of a post
    for height in range(disk_count, -1, -1):
        yield joined_row([tile_at(rod, height, column) for column in columns] for rod in range(len(ROD_NAMES)))
    yield joined_row([Tile("" if column else name, _GROUND) for column in columns] for name in ROD_NAMES)


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
