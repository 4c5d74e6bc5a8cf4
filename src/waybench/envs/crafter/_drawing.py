"""An episode of Crafter as a scene, and as a board for people."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from waybench._svg import ROUND, box, circle, cross, group, line, path, point, text, true_cells, with_tooltip
from waybench.core import Board, Scene, Tile, TurnRecord, plural
from waybench.envs.crafter import _ids as ids
from waybench.envs.crafter._world import (
    CrafterWorld,
    Wilds,
    advance_world,
    begin_world,
    being_numbers,
    daylight,
    player_numbers,
)
from waybench.envs.smartplay import AgentState, step_turns

_TILES = {
    ids.WATER: Tile("~", "#56b4e9"),
    ids.GRASS: Tile("", "#b7d89a"),
    ids.STONE: Tile("", "#9a9a9a"),
    ids.PATH: Tile("", "#ded3bd"),
    ids.SAND: Tile("", "#f3e3a1"),
    ids.TREE: Tile("♣", "#2f7d4f"),
    ids.LAVA: Tile("!", "#d55e00"),
    ids.COAL: Tile("c", "#333333"),
    ids.IRON: Tile("i", "#e69f00"),
    ids.DIAMOND: Tile("d", "#ffffff"),
    ids.TABLE: Tile("T", "#8a5a2b"),
    ids.FURNACE: Tile("F", "#5b4a6f"),
}
_BEINGS = {
    ids.COW: Tile("C", "#7a4b2a"),
    ids.ZOMBIE: Tile("Z", "#a33c00"),
    ids.SKELETON: Tile("S", "#a33c00"),
    ids.ARROW: Tile("-", "#a33c00"),
    ids.PLANT: Tile("P", "#009e73"),
}
_LOOKS = {**_TILES, **_BEINGS}
_OUTSIDE = Tile("", "#000000")
_ARROWS = {(-1, 0): "◀", (1, 0): "▶", (0, -1): "▲", (0, 1): "▼"}
_PANEL = 38  # cells to the right of the map
_LEGEND = 10  # cells below the map
_IN_A_ROW = 6  # entries of the legend
_OVERLAP = 1.02  # height of a row of ground, in cells, so that no gaps show between rows
_TEXT = 1.8  # cells: still readable where the drawing is half a page wide
_STRETCH = 100  # cells of the way in one path; frames of a replay have all paths but the last in common

Cell = tuple[int, int]
Unlocked = tuple[str, int, Cell]  # an achievement, the step and the player's cell


def scenes(wilds: Wilds, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield the map with the way through it and the player's status after each number of turns."""
    start = world = begin_world(wilds.seed)
    ground, way, unlocked = [*_ground_shapes(start.land)], [_player_cell(start)], list[Unlocked]()
    n_finished = 0
    for n_turns in counts:
        for turn in step_turns(turns[n_finished:n_turns]):
            world = advance_world(world, int(turn.carried_out[0]))
            way.append(_player_cell(world))
            names: list[str] = list(turn.events.get("unlocked", ()))
            unlocked += ((name, len(way) - 1, way[-1]) for name in names if name in ids.ACHIEVEMENTS)
        n_finished = n_turns
        achieved = f"{len(unlocked)} of {len(ids.ACHIEVEMENTS)} achievements"
        yield Scene(
            "tiles maze-large crafter-map",
            f"Crafter, world {wilds.seed}, {plural(len(way) - 1, 'step')}, {achieved}",
            (ids.SIZE + _PANEL, ids.SIZE + _LEGEND),
            board=ground,
            parts=[
                *_changed_cell_shapes(start.land, world.land),
                *(
                    with_tooltip(ids.NAMES[row[ids.KIND]], _being_svg(row[ids.KIND], row[ids.X], row[ids.Y], 0.5))
                    for row in being_numbers(world)[1:]
                ),
                *_way_shapes(world, way),
                *_unlock_marks(unlocked),
                # Groups, so that the style sheet of a narrow page can put them below a map that is as wide as the page.
                group("crafter-panel", _status_panel(world, len(way) - 1, unlocked)),
                group("crafter-legend", _legend_shapes()),
            ],
        )


def _player_cell(world: CrafterWorld) -> Cell:
    player = being_numbers(world)[0]
    return player[ids.X], player[ids.Y]


def _ground_shapes(land: bytes) -> Iterator[str]:
    """Yield a path for each kind of ground, and the letters of rare kinds; `land` has a kind for each cell."""
    for kind, tile in _TILES.items():
        rows = ((cell_kind == kind for cell_kind in land[y :: ids.SIZE]) for y in range(ids.SIZE))
        yield true_cells("crafter-ground", tile.colour, rows, _OVERLAP)
    for cell, kind in enumerate(land):
        x, y = divmod(cell, ids.SIZE)
        yield _letter_svg(kind, x, y)  # "" for common kinds


def _letter_svg(kind: int, x: float, y: float) -> str:
    """Return the SVG text with the letter of a being or of rare ground, for prints in grey; "" for other ground."""
    letter = _LOOKS.get(kind, _OUTSIDE).text
    if kind not in _BEINGS and not letter.isalpha():  # common ground has a sign such as "~", or none
        return ""
    colour = "#000" if kind == ids.DIAMOND else "#fff"
    return text("crafter-letter", x + 0.5, y + 0.78, letter, 0.8, "middle", colour=colour)


def _being_svg(kind: int, x: float, y: float, radius: float) -> str:
    """Return the circle and the letter of a being in the cell at (x, y)."""
    dot = circle("crafter-being", _BEINGS[kind].colour, 0, (x + 0.5, y + 0.5), radius)
    return dot + _letter_svg(kind, x, y)


def _changed_cell_shapes(land_before: bytes, land: bytes) -> Iterator[str]:
    """Yield the cells whose kind has changed since the start, with an edge."""
    edge = 'stroke="#000" stroke-width="0.1"'
    for cell, kind in enumerate(land):
        if kind != land_before[cell]:
            x, y = divmod(cell, ids.SIZE)
            square = box("crafter-changed", _TILES[kind].colour, 0, (x + 0.05, y + 0.05), (0.9, 0.9), edge)
            yield with_tooltip(ids.NAMES[kind], square, _letter_svg(kind, x, y))


def _way_shapes(world: CrafterWorld, way: Sequence[Cell]) -> Iterator[str]:
    """Yield the way, the view at its end, and the player with its direction."""
    x, y = way[-1]
    west, north = max(x - ids.ACROSS, 0), max(y - ids.DOWN, 0)
    east, south = min(x + ids.ACROSS + 1, ids.SIZE), min(y + ids.DOWN + 1, ids.SIZE)
    middles = [(column + 0.5, row + 0.5) for (column, row), _ in groupby(way)]
    body, player_position = player_numbers(world), middles[-1]
    yield circle("tiles-start", "#009e73", 0.3, middles[0], 0.7)
    for first_index in range(0, len(middles) - 1, _STRETCH):
        yield path("tiles-trail", "#0072b2", 0.25, [line(middles[first_index : first_index + _STRETCH + 1])], ROUND)
    dashes = 'stroke-dasharray="0.5 0.3"'
    yield box("crafter-view", "#000", 0.15, (west, north), (east - west, south - north), dashes)
    ahead = f"M{point(player_position)}l{body[ids.EAST_OF] * 0.9:g} {body[ids.SOUTH_OF] * 0.9:g}"
    yield path("crafter-ahead", "#000", 0.3, [ahead], ROUND)
    yield circle("tiles-stop", "#0072b2", 0, player_position, 0.5, 'stroke="#fff" stroke-width="0.12"')
    if body[ids.HEALTH] <= 0:
        yield path("crafter-dead", "#d55e00", 0.3, [f"M{point(player_position)}{cross(0.9)}"])


def _unlock_marks(unlocked: Sequence[Unlocked]) -> Iterator[str]:
    """Yield the numbers of achievements in the cells where they were unlocked."""
    look = 'font-weight="bold" stroke="#fff" stroke-width="0.3" paint-order="stroke"'
    for (x, y), unlocks in groupby(enumerate(unlocked, 1), key=lambda unlock: unlock[1][2]):
        numbers = ",".join(str(number) for number, _ in unlocks)
        yield text("crafter-unlocked", x + 0.9, max(y + 0.3, 1.2), numbers, 1.3, colour="#000", more=look)


def _status_panel(world: CrafterWorld, steps: int, unlocked: Sequence[Unlocked]) -> Iterator[str]:
    """Yield the texts and bars beside the map: clock, daylight, status, inventory and achievements."""
    body, x, bold = player_numbers(world), ids.SIZE + 1.5, 'font-weight="bold"'
    brightness, is_dead = daylight(world), body[ids.HEALTH] <= 0
    mood = (
        f", killed by {ids.HARMS[body[ids.HARM]] or 'something'}" if is_dead else ", asleep" if body[ids.ASLEEP] else ""
    )
    yield _status_text(x, 2, f"Step {steps} (clock {body[ids.CLOCK]}){mood}", bold)
    bars = [("daylight", 3.4, brightness, f"{100 * brightness:.0f} %", "#e69f00")]
    for number, name in enumerate(ids.ITEMS[:4]):
        bars.append((name, 5.7 + 2.2 * number, body[number] / ids.MOST, f"{body[number]}", "#009e73"))
    for name, y, share, label, colour in bars:
        yield _status_text(x, y + 1.3, name)
        yield box("crafter-bar", "#ddd", 0, (x + 8.5, y), (20, 1.5))
        yield box("crafter-bar", colour, 0, (x + 8.5, y), (20 * max(0.0, min(1.0, share)), 1.5))
        yield _status_text(x + 29.3, y + 1.3, label)
    owned = _inventory_entries(body)
    rows = [", ".join(owned[start : start + 3]) for start in range(0, len(owned), 3)] or ["nothing in the inventory"]
    for number, row in enumerate(rows):
        yield _status_text(x, 17 + 2.1 * number, row)
    top = 18 + 2.1 * len(rows)
    yield _status_text(x, top, f"{len(unlocked)} of {len(ids.ACHIEVEMENTS)} achievements", bold)
    line_height = min((ids.SIZE + _LEGEND - 1 - top) / len(ids.ACHIEVEMENTS), 2.2)  # so that all achievements have room
    for number, (name, step, _) in enumerate(unlocked, 1):
        yield _status_text(x, top + line_height * number, f"{number}. {name.replace('_', ' ')} (step {step})")


def _status_text(x: float, y: float, label: str, attributes: str = "") -> str:
    return text("crafter-status", x, y, label, _TEXT, more=attributes)


def _inventory_entries(body: Sequence[int]) -> list[str]:
    """Return the items that the player has, with their numbers."""
    counts = zip(ids.ITEMS[4:], body[4 : ids.MADE], strict=True)
    return [f"{name.replace('_', ' ')} {count}" for name, count in counts if count]


def _legend_shapes() -> Iterator[str]:
    """Yield the colours and letters with the names of the kinds, below the map."""
    edge = 'stroke="#8a8a8a" stroke-width="0.1"'
    for number, kind in enumerate([*_TILES, *(kind for kind in _BEINGS if kind != ids.ARROW)]):
        row, column = divmod(number, _IN_A_ROW)
        x, y = 0.5 + column * ids.SIZE / _IN_A_ROW, ids.SIZE + 1 + row * 3
        if kind in _BEINGS:
            yield _being_svg(kind, x + 0.3, y + 0.3, 0.8)
        else:
            yield box("crafter-colour", _TILES[kind].colour, 0, (x, y), (1.6, 1.6), edge)
            yield _letter_svg(kind, x + 0.3, y + 0.3)
        yield text("crafter-status", x + 2.1, y + 1.4, ids.NAMES[kind], 1.6)


KEYS = {
    **{"Do": "space", "Sleep": "z", "Noop": "n", "Place Stone": "p", "Place Table": "t", "Place Furnace": "f"},
    **{"Place Plant": "v", "Make Wood Pickaxe": "u", "Make Stone Pickaxe": "i", "Make Iron Pickaxe": "o"},
    **{"Make Wood Sword": "j", "Make Stone Sword": "k", "Make Iron Sword": "l"},
}


def board(state: AgentState[Any, CrafterWorld], turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the cells in view, with the player in the middle."""
    world = state.world
    body, (x, y) = player_numbers(world), _player_cell(world)
    tokens = {
        (row[ids.X], row[ids.Y]): _BEINGS[row[ids.KIND]] for row in being_numbers(world)[1:] if row[ids.KIND] in _BEINGS
    }
    tokens[x, y] = Tile(_ARROWS.get((body[ids.EAST_OF], body[ids.SOUTH_OF]), "@"), "#0072b2")

    def tile(column: int, row: int) -> Tile:
        inside = 0 <= column < ids.SIZE and 0 <= row < ids.SIZE
        ground = _TILES.get(world.land[column * ids.SIZE + row], _OUTSIDE) if inside else _OUTSIDE
        return tokens.get((column, row)) or ground

    columns = range(x - ids.ACROSS, x + ids.ACROSS + 1)
    rows = [[tile(column, row) for column in columns] for row in range(y - ids.DOWN, y + ids.DOWN + 1)]
    achieved = sum(1 for count in body[ids.MADE : ids.MADE + len(ids.ACHIEVEMENTS)] if count)
    status = ", ".join(f"{name} {count}" for name, count in zip(ids.ITEMS[:4], body, strict=False))
    notes = [
        status + (", asleep" if body[ids.ASLEEP] else ""),
        f"Inventory: {', '.join(_inventory_entries(body)) or 'nothing'}. "
        f"Achievements: {achieved} of {len(ids.ACHIEVEMENTS)}.",
        ", ".join(f"{tile.text} {ids.NAMES[kind]}" for kind, tile in _LOOKS.items() if tile.text),
    ]
    return Board(rows=rows, at=(ids.DOWN, ids.ACROSS), width=3, notes=notes)
