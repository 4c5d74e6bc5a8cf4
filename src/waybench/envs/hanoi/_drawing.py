"""An episode of the puzzle as a drawing (SVG) and as a board for people."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from waybench._svg import drawing, texts
from waybench.core import Board, Picture, Tile, TurnRecord, plural
from waybench.envs.hanoi._game import MOVES, RODS, Puzzle, Stacks, Towers, moved, stacks
from waybench.envs.smartplay import AgentState, step_turns

MOST_FRAMES = 72  # of a longer episode the last ones are left out
_COLUMNS = 6
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")  # after Okabe and Ito
_GAP = 1.5


class Frame(NamedTuple):
    """The rods at one time.

    Attributes:
        title: What is written above.
        rods: The disks on each rod, the lowest first.
        disk: The disk that was moved; -1 if none was.
        refused: The rods of a move that was not allowed, source and target; empty if it was.
        goal: Whether it shows how the rods should be.
    """

    title: str
    rods: Stacks
    disk: int = -1
    refused: tuple[int, ...] = ()
    goal: bool = False


def draw(towers: Towers, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw an episode frame by frame, and the goal.

    Nothing of a reply reaches the drawing but moves that were made or refused.

    Args:
        towers: The puzzle.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: Not used: no two episodes have a board in common that is worth it.
        reuse: Not used.

    Returns:
        An `<svg>` element. Classes: hanoi, hanoi-rod, hanoi-disk, hanoi-title, hanoi-refused, reference (the goal).
    """
    all_frames = list(frames(towers, turns))
    label = _label(towers, all_frames)
    if len(all_frames) > MOST_FRAMES + 1:
        label += f"; the first {MOST_FRAMES} are drawn"
    return _side_by_side(towers, all_frames[: MOST_FRAMES + 1], label)


def draw_frames(towers: Towers, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Yield a drawing of the rods after each number of turns in `counts`, which rise, and the goal; see `draw`."""
    all_frames = list(frames(towers, turns))
    for count in counts:
        number = sum(1 for _ in step_turns(turns[:count]))
        yield _side_by_side(towers, all_frames[number : number + 1], _label(towers, all_frames[: number + 1]))


def _label(towers: Towers, shown_frames: Sequence[Frame]) -> str:
    refused = sum(bool(frame.refused) for frame in shown_frames)
    moves = plural(len(shown_frames) - 1, "move")
    return f"Tower of Hanoi with {plural(towers.level, 'disk')}: {moves}, {refused} of them not allowed"


def _side_by_side(towers: Towers, shown_frames: Sequence[Frame], label: str) -> str:
    goal = Frame("goal", stacks(towers.positions[1]), goal=True)
    disks = towers.level
    width, height = 6 * disks + 3 + _GAP, disks + 4.0
    parts = [
        f'<g transform="translate({number % _COLUMNS * width:g} {number // _COLUMNS * height:g})">'
        f"{_frame(frame, disks)}</g>"
        for number, frame in enumerate([*shown_frames, goal])
    ]
    rows = -(-(len(shown_frames) + 1) // _COLUMNS)
    columns = min(_COLUMNS, len(shown_frames) + 1)
    box = f"0 0 {columns * width - _GAP:g} {rows * height:g}"
    return f'<svg class="hanoi maze-large" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def frames(towers: Towers, turns: Sequence[TurnRecord]) -> Iterator[Frame]:
    """Yield the rods at the start, and after each move that was tried."""
    rods, number = stacks(towers.positions[0]), 0
    yield Frame("start", rods)
    for turn in step_turns(turns):
        number += 1
        action: int = turn.carried_out[0]
        after = moved(rods, action)
        if after is None:
            yield Frame(str(number), rods, refused=MOVES[action])
            continue
        disk = rods[MOVES[action][0]][-1]
        rods = after
        yield Frame(str(number), rods, disk)


def _frame(frame: Frame, disks: int) -> str:
    wide = 2 * disks + 1
    floor = disks + 2.2
    ground = f"M0 {floor:g}h{3 * wide}"
    posts = "".join(f"M{rod * wide + wide / 2:g} 1.6V{floor:g}" for rod in range(len(RODS)))
    parts = [
        f'<path class="hanoi-rod" fill="none" stroke="#888" stroke-width="0.25" d="{ground}{posts}"/>',
        f'<text class="hanoi-title" fill="#888" font-family="sans-serif" font-size="1.3" x="0" y="1.1">'
        f"{frame.title}</text>",
    ]
    for rod, stack in enumerate(frame.rods):
        for place, disk in enumerate(stack):
            parts.append(_disk(disk, rod * wide + wide / 2, floor - 1 - place, disk == frame.disk))
    if frame.refused:
        source, target = (rod * wide + wide / 2 for rod in frame.refused)
        cross = f"M{target - 0.7:g} 1.2l1.4 1.4m0 -1.4l-1.4 1.4"
        parts.append(
            f'<path class="hanoi-refused" fill="none" stroke="#d55e00" stroke-width="0.3" d="M{source:g} 1.9'
            f'H{target:g}{cross}"/>'
        )
    body = "".join(parts)
    return f'<g class="reference" opacity="0.7">{body}</g>' if frame.goal else body


def _disk(disk: int, middle: float, top: float, new: bool) -> str:
    width = 2 * disk + 1.6
    edge = ' stroke="#111" stroke-width="0.22"' if new else ""
    return (
        f'<rect class="hanoi-disk" fill="{_COLOURS[disk % len(_COLOURS)]}"{edge} x="{middle - width / 2:g}" '
        f'y="{top + 0.08:g}" width="{width:g}" height="0.84" rx="0.3"/>'
    )


def draw_picture(picture: Picture) -> str:
    """Draw the rods as they are and, below, the goal, with the number of each disk and the name of each rod."""
    state: AgentState[Towers, Puzzle] = picture.state
    disks = state.instance.level
    shown = (Frame("now", state.world.rods), Frame("goal", stacks(state.instance.positions[1])))
    wide, high, floor = 2 * disks + 1, disks + 4.5, disks + 2.2
    middles = [rod * wide + wide / 2 for rod in range(len(RODS))]
    edge = 'font-weight="bold" stroke="#fff" stroke-width="0.15" paint-order="stroke"'
    parts: list[str] = []
    for place, frame in enumerate(shown):
        numbers = (
            (middles[rod], floor - 0.2 - height, disk)
            for rod, stack in enumerate(frame.rods)
            for height, disk in enumerate(stack)
        )
        names = ((middle, floor + 1.4, name) for middle, name in zip(middles, RODS, strict=True))
        body = _frame(frame, disks) + texts("hanoi-number", numbers, 0.8, more=edge) + texts("hanoi-name", names, 1.2)
        parts.append(f'<g transform="translate(0.5 {place * high + 0.5:g})">{body}</g>')
    return drawing("hanoi", 3 * wide + 1, 2 * high + 0.5, f"Rods with {plural(disks, 'disk')}", parts)


_BOARD_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00")  # after Okabe and Ito
_POST, _GROUND = "#8a8a8a", "#5a6372"


def board(state: AgentState[Any, Puzzle], turns: Sequence[TurnRecord]) -> Board:
    """Return the rods side by side; a disk is as many cells wide as its size, twice over, and one more."""
    towers = state.instance
    rows = _rows(state.world.rods, towers.level)
    goal = ", ".join(
        f"{rod} holds {' '.join(map(str, stack))}"
        for rod, stack in zip(RODS, stacks(towers.positions[1]), strict=True)
        if stack
    )
    notes = [f"Goal, from bottom to top: {goal}."]
    return Board(rows=rows, width=2 if towers.level < 5 else 1, notes=notes)


def _rows(rods: Sequence[Sequence[int]], disks: int) -> list[list[Tile]]:
    half = disks  # cells on each side of a post
    rows: list[list[Tile]] = []
    for height in range(disks, -1, -1):
        row: list[Tile] = []
        for rod in rods:
            disk = rod[height] if height < len(rod) else None
            for place in range(-half, half + 1):
                if disk is not None and abs(place) <= disk + (disks < 3):
                    row.append(Tile(str(disk) if place == 0 else "", _BOARD_COLOURS[disk % len(_BOARD_COLOURS)]))
                else:
                    row.append(Tile("", _POST) if place == 0 else Tile())
            row.append(Tile())
        rows.append(row[:-1])
    wide = 2 * half + 1
    rows.append(
        [Tile() if place % (wide + 1) == wide else Tile(_name(place, wide), _GROUND) for place in range(3 * wide + 2)]
    )
    return rows


def _name(place: int, wide: int) -> str:
    """Return the name of a rod below its post."""
    rod, column = divmod(place, wide + 1)
    return RODS[rod] if column == wide // 2 else ""
