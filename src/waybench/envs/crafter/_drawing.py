"""An episode of Crafter as a drawing (SVG) and as a board for people."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from waybench.core import Board, Tile, TurnRecord, plural
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    ACROSS,
    ARROW,
    ASLEEP,
    CLOCK,
    COAL,
    COW,
    DIAMOND,
    DOWN,
    EAST_OF,
    FURNACE,
    GRASS,
    HARM,
    HARMS,
    HEALTH,
    IRON,
    ITEMS,
    KIND,
    LAVA,
    MADE,
    MOST,
    NAMES,
    PATH,
    PLANT,
    SAND,
    SIZE,
    SKELETON,
    SOUTH_OF,
    STONE,
    TABLE,
    TREE,
    WATER,
    ZOMBIE,
    X,
    Y,
)
from waybench.envs.crafter._world import Wilds, World, advance, begin, beings_of, body_of, daylight
from waybench.envs.smartplay import AgentState, step_turns

_COLOURS = {
    WATER: "#56b4e9",
    GRASS: "#b7d89a",
    STONE: "#9a9a9a",
    PATH: "#ded3bd",
    SAND: "#f3e3a1",
    TREE: "#2f7d4f",
    LAVA: "#d55e00",
    COAL: "#333333",
    IRON: "#e69f00",
    DIAMOND: "#ffffff",
    TABLE: "#8a5a2b",
    FURNACE: "#5b4a6f",
}
# A letter for those who print in grey, and for what is rare.
_LETTERS = {COAL: "c", IRON: "i", DIAMOND: "d", TABLE: "T", FURNACE: "F"}
_BEINGS = {COW: "C", ZOMBIE: "Z", SKELETON: "S", ARROW: "-", PLANT: "P"}
_ANGRY = (ZOMBIE, SKELETON, ARROW)
_PANEL = 38  # cells to the right of the map
_LEGEND = 10  # cells below it
_IN_A_ROW = 6  # of the legend
_TEXT = 1.8  # cells: still readable where the drawing is half a page wide
_STRETCH = 100  # places of the way in one path; frames of a replay have all but the last in common


class _Walk(NamedTuple):
    """An episode, made again.

    Attributes:
        start: The world at the start.
        end: The world after the last step.
        way: Where the player was, at the start and after each step.
        unlocked: For each achievement, in the order in which they were unlocked: name, step and place.
    """

    start: World
    end: World
    way: list[tuple[int, int]]
    unlocked: list[tuple[str, int, tuple[int, int]]]


def draw(wilds: Wilds, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a world, the way through it, and the player's status at the end.

    Nothing of a reply reaches the drawing but the actions that were carried out.

    Args:
        wilds: The world.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the map.
        reuse: Whether the page holds a drawing with this id already, whose map is shown again.

    Returns:
        An `<svg>` element. Classes: tiles, tiles-start, tiles-trail, tiles-stop, crafter-map, crafter-ground,
        crafter-panel, crafter-legend, crafter-view, crafter-changed, crafter-being, crafter-unlocked, crafter-status.
    """
    (walk,) = _walks(wilds, turns, [len(turns)])
    if reuse:
        return _drawing(wilds, walk, f'<use href="#{board_id}"/>')
    identity = f' id="{board_id}"' if board_id else ""
    return _drawing(wilds, walk, f"<g{identity}>{''.join(_ground(walk.start.land))}</g>")


def draw_frames(wilds: Wilds, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Yield drawings of how it stands after each number of turns in `counts`, which rise; see `draw`."""
    ground = "".join(_ground(begin(wilds.seed).land))
    return (_drawing(wilds, walk, f"<g>{ground}</g>") for walk in _walks(wilds, turns, counts))


def _drawing(wilds: Wilds, walk: _Walk, board: str) -> str:
    steps = len(walk.way) - 1
    unlocked = f"{len(walk.unlocked)} of {len(ACHIEVEMENTS)} achievements"
    label = f"Crafter, world {wilds.seed}, {plural(steps, 'step')}, {unlocked}"
    parts = [board, *_changed(walk), *_beings(walk.end), *_way(walk), *_marks(walk)]
    # Groups, so that the style sheet of a narrow page can put them below a map that is as wide as the page.
    parts += [
        f'<g class="crafter-panel">{"".join(_panel(walk))}</g>',
        f'<g class="crafter-legend">{"".join(_legend())}</g>',
    ]
    return (
        f'<svg class="tiles maze-large crafter-map" viewBox="0 0 {SIZE + _PANEL} {SIZE + _LEGEND}" role="img" '
        f'aria-label="{label}" font-family="sans-serif">{"".join(parts)}</svg>'
    )


def _walks(wilds: Wilds, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[_Walk]:
    """Simulate an episode once; yield its state after each number of turns, in lists that grow."""
    start = world = begin(wilds.seed)
    way, unlocked = [_place(start)], list[tuple[str, int, tuple[int, int]]]()
    finished = 0
    for count in counts:
        for turn in step_turns(turns[finished:count]):
            world = advance(world, int(turn.carried_out[0]))
            way.append(_place(world))
            new: list[str] = list(turn.events.get("unlocked", ()))
            unlocked += ((name, len(way) - 1, way[-1]) for name in new if name in ACHIEVEMENTS)
        finished = count
        yield _Walk(start, world, way, unlocked)


def _place(world: World) -> tuple[int, int]:
    player = beings_of(world)[0]
    return player[X], player[Y]


def _ground(land: bytes) -> Iterator[str]:
    """Yield a path for each kind of ground, and the letters of what is rare."""
    runs: dict[int, list[str]] = {kind: [] for kind in _COLOURS}
    for y in range(SIZE):
        x = 0
        for kind, cells in groupby(land[y::SIZE]):
            wide = len(list(cells))
            if kind in runs:
                runs[kind].append(f"M{x} {y}.5h{wide}")
            x += wide
    for kind, colour in _COLOURS.items():
        if runs[kind]:
            look = f'class="crafter-ground" fill="none" stroke="{colour}" stroke-width="1.02"'
            yield f'<path {look} d="{"".join(runs[kind])}"/>'
    for place, kind in enumerate(land):
        if kind in _LETTERS:
            yield _letter(place // SIZE, place % SIZE, _LETTERS[kind], "#fff" if kind != DIAMOND else "#000")


def _letter(x: float, y: float, letter: str, colour: str) -> str:
    return (
        f'<text font-size="0.8" text-anchor="middle" fill="{colour}" x="{x + 0.5:g}" y="{y + 0.78:g}">{letter}</text>'
    )


def _changed(walk: _Walk) -> Iterator[str]:
    """Yield the cells that are something else in the end, with an edge."""
    for place, (before, now) in enumerate(zip(walk.start.land, walk.end.land, strict=True)):
        if before != now:
            x, y = divmod(place, SIZE)
            yield (
                f'<rect class="crafter-changed" x="{x}.05" y="{y}.05" width="0.9" height="0.9" '
                f'fill="{_COLOURS[now]}" stroke="#000" stroke-width="0.1"><title>{NAMES[now]}</title></rect>'
            )
            if now in _LETTERS:
                yield _letter(x, y, _LETTERS[now], "#fff")


def _beings(world: World) -> Iterator[str]:
    for row in beings_of(world)[1:]:
        x, y, kind = row[X], row[Y], row[KIND]
        yield (
            f'<g class="crafter-being"><title>{NAMES[kind]}</title>'
            f'<circle fill="{_being_colour(kind)}" cx="{x}.5" cy="{y}.5" r="0.5"/>'
            f"{_letter(x, y, _BEINGS[kind], '#fff')}</g>"
        )


def _way(walk: _Walk) -> Iterator[str]:
    """Yield the way, what is in view at its end, and the player with the direction that it faces."""
    x, y = walk.way[-1]
    west, north = max(x - ACROSS, 0), max(y - DOWN, 0)
    east, south = min(x + ACROSS + 1, SIZE), min(y + DOWN + 1, SIZE)
    points = [f"{column}.5 {row}.5" for (column, row), _ in groupby(walk.way)]
    start_x, start_y = walk.way[0]
    yield (
        f'<circle class="tiles-start" fill="none" stroke="#009e73" stroke-width="0.3" cx="{start_x}.5" '
        f'cy="{start_y}.5" r="0.7"/>'
    )
    for begun in range(0, len(points) - 1, _STRETCH):
        yield (
            '<path class="tiles-trail" fill="none" stroke="#0072b2" stroke-width="0.25" stroke-linejoin="round" '
            f'stroke-linecap="round" d="M{"L".join(points[begun : begun + _STRETCH + 1])}"/>'
        )
    body = body_of(walk.end)
    ahead = f"M{x}.5 {y}.5l{body[EAST_OF] * 0.9:g} {body[SOUTH_OF] * 0.9:g}"
    yield (
        f'<rect class="crafter-view" fill="none" stroke="#000" stroke-width="0.15" stroke-dasharray="0.5 0.3" '
        f'x="{west}" y="{north}" width="{east - west}" height="{south - north}"/>'
        f'<path stroke="#000" stroke-width="0.3" stroke-linecap="round" d="{ahead}"/>'
        f'<circle class="tiles-stop" fill="#0072b2" stroke="#fff" stroke-width="0.12" cx="{x}.5" cy="{y}.5" r="0.5"/>'
    )
    if body[HEALTH] <= 0:
        yield f'<path stroke="#d55e00" stroke-width="0.3" d="M{x - 0.4:g} {y - 0.4:g}l1.8 1.8m0 -1.8l-1.8 1.8"/>'


def _marks(walk: _Walk) -> Iterator[str]:
    """Yield the numbers of what was unlocked, where that was."""
    for place, group in groupby(enumerate(walk.unlocked, 1), key=lambda unlock: unlock[1][2]):
        numbers = [str(number) for number, _ in group]
        x, y = place
        yield (
            f'<text class="crafter-unlocked" font-size="1.3" font-weight="bold" fill="#000" stroke="#fff" '
            f'stroke-width="0.3" paint-order="stroke" x="{x + 0.9:g}" y="{max(y + 0.3, 1.2):g}">'
            f"{','.join(numbers)}</text>"
        )


def _panel(walk: _Walk) -> Iterator[str]:
    """Yield what stands beside the map: clock, daylight, status, inventory and achievements."""
    body, left = body_of(walk.end), SIZE + 1.5
    light, dead = daylight(walk.end), body[HEALTH] <= 0
    mood = f", killed by {HARMS[body[HARM]] or 'something'}" if dead else ", asleep" if body[ASLEEP] else ""
    yield _line(left, 2, f"Step {len(walk.way) - 1} (clock {body[CLOCK]}){mood}", bold=True)
    yield from _bar(left, 3.4, "daylight", light, f"{100 * light:.0f} %", "#e69f00")
    for number, name in enumerate(ITEMS[:4]):
        yield from _bar(left, 5.7 + 2.2 * number, name, body[number] / MOST, f"{body[number]}", "#009e73")
    owned = [f"{name.replace('_', ' ')} {count}" for name, count in zip(ITEMS[4:], body[4:MADE], strict=True) if count]
    rows = [", ".join(owned[start : start + 3]) for start in range(0, len(owned), 3)] or ["nothing in the inventory"]
    for number, row in enumerate(rows):
        yield _line(left, 17 + 2.1 * number, row)
    top = 18 + 2.1 * len(rows)
    yield _line(left, top, f"{len(walk.unlocked)} of {len(ACHIEVEMENTS)} achievements", bold=True)
    apart = (SIZE + _LEGEND - 1 - top) / len(ACHIEVEMENTS)  # all of them have room
    for number, (name, step, _) in enumerate(walk.unlocked, 1):
        yield _line(left, top + min(apart, 2.2) * number, f"{number}. {name.replace('_', ' ')} (step {step})")


def _legend() -> Iterator[str]:
    """Yield what colours and letters mean, below the map."""
    creatures = [kind for kind in _BEINGS if kind != ARROW]
    for number, kind in enumerate([*_COLOURS, *creatures]):
        row, column = divmod(number, _IN_A_ROW)
        x, y = 0.5 + column * SIZE / _IN_A_ROW, SIZE + 1 + row * 3
        if kind in creatures:
            yield (
                f'<circle fill="{_being_colour(kind)}" cx="{x + 0.8:g}" cy="{y + 0.8:g}" r="0.8"/>'
                f"{_letter(x + 0.3, y + 0.3, _BEINGS[kind], '#fff')}"
            )
        else:
            yield (
                f'<rect fill="{_COLOURS[kind]}" stroke="#8a8a8a" stroke-width="0.1" x="{x:g}" y="{y:g}" width="1.6" '
                f'height="1.6"/>'
            )
            if kind in _LETTERS:
                yield _letter(x + 0.3, y + 0.3, _LETTERS[kind], "#fff" if kind != DIAMOND else "#000")
        yield _line(x + 2.1, y + 1.4, NAMES[kind], size=1.6)


def _being_colour(kind: int) -> str:
    return "#d55e00" if kind in _ANGRY else "#009e73" if kind == PLANT else "#7a4b2a"


def _line(x: float, y: float, text: str, *, bold: bool = False, size: float = _TEXT) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text class="crafter-status" font-size="{size}"{weight} x="{x:g}" y="{y:g}">{text}</text>'


def _bar(x: float, y: float, name: str, share: float, label: str, colour: str) -> Iterator[str]:
    yield _line(x, y + 1.3, name)
    yield (
        f'<rect fill="#ddd" x="{x + 8.5:g}" y="{y:g}" width="20" height="1.5"/>'
        f'<rect fill="{colour}" x="{x + 8.5:g}" y="{y:g}" width="{20 * max(0.0, min(1.0, share)):.2f}" height="1.5"/>'
    )
    yield _line(x + 29.3, y + 1.3, label)


KEYS = {
    **{"Do": "space", "Sleep": "z", "Noop": "n", "Place Stone": "p", "Place Table": "t", "Place Furnace": "f"},
    **{"Place Plant": "v", "Make Wood Pickaxe": "u", "Make Stone Pickaxe": "i", "Make Iron Pickaxe": "o"},
    **{"Make Wood Sword": "j", "Make Stone Sword": "k", "Make Iron Sword": "l"},
}

_TILES = {
    WATER: Tile("~", "#56b4e9"),
    GRASS: Tile("", "#b7d89a"),
    STONE: Tile("", "#9a9a9a"),
    PATH: Tile("", "#ded3bd"),
    SAND: Tile("", "#f3e3a1"),
    TREE: Tile("♣", "#2f7d4f"),
    LAVA: Tile("!", "#d55e00"),
    COAL: Tile("c", "#333333"),
    IRON: Tile("i", "#e69f00"),
    DIAMOND: Tile("d", "#ffffff"),
    TABLE: Tile("T", "#8a5a2b"),
    FURNACE: Tile("F", "#5b4a6f"),
}
_BOARD_BEINGS = {
    COW: Tile("C", "#7a4b2a"),
    ZOMBIE: Tile("Z", "#a33c00"),
    SKELETON: Tile("S", "#a33c00"),
    ARROW: Tile("-", "#a33c00"),
    PLANT: Tile("P", "#009e73"),
}
_OUTSIDE = Tile("", "#000000")
_ARROWS = {(-1, 0): "◀", (1, 0): "▶", (0, -1): "▲", (0, 1): "▼"}


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells that the observation is about, with the player in the middle."""
    world = state.world
    body, beings = body_of(world), beings_of(world)
    x, y = beings[0][X], beings[0][Y]
    there = {(row[X], row[Y]): _BOARD_BEINGS[row[KIND]] for row in beings[1:] if row[KIND] in _BOARD_BEINGS}
    there[x, y] = Tile(_ARROWS.get((body[EAST_OF], body[SOUTH_OF]), "@"), "#0072b2")

    def tile(column: int, row: int) -> Tile:
        inside = 0 <= column < SIZE and 0 <= row < SIZE
        return there.get((column, row)) or (
            _TILES.get(world.land[column * SIZE + row], _OUTSIDE) if inside else _OUTSIDE
        )

    rows = [
        [tile(column, row) for column in range(x - ACROSS, x + ACROSS + 1)] for row in range(y - DOWN, y + DOWN + 1)
    ]
    owned = ", ".join(
        f"{name.replace('_', ' ')} {count}" for name, count in zip(ITEMS[4:], body[4:MADE], strict=True) if count
    )
    made = sum(1 for count in body[MADE : MADE + len(ACHIEVEMENTS)] if count)
    notes = [
        ", ".join(f"{name} {count}" for name, count in zip(ITEMS[:4], body, strict=False))
        + (", asleep" if body[ASLEEP] else ""),
        f"Inventory: {owned or 'nothing'}. Achievements: {made} of {len(ACHIEVEMENTS)}.",
        ", ".join(f"{each.text} {NAMES[kind]}" for kind, each in {**_TILES, **_BOARD_BEINGS}.items() if each.text),
    ]
    return Board(rows=rows, at=(DOWN, ACROSS), width=3, notes=notes)
