"""The description of a location in words (shared/specs/smartplay.md, section 8; SmartPlay, appendices B and C.6).

All sentences here are published ones. The published program's defects are followed where `published` says so:

* the compass of everything seen on the screen is turned around, while that of what is around the feet is right;
* the screen's rays, which look up and down by 48 degrees, are described as if they did by 90, and lowering the head
  raises them;
* of all blocks in sight those with the first name in the alphabet make one group, wherever they are. Mostly that
  is air.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from waybench.envs.smartplay import direction_name

ACTIONS = ("Move North", "Move East", "Move South", "Move West")
TOOK = "You took action {name}."
MANUAL = (
    "You are in Minecraft and your goal is to find a {goal} biome. You are not allowed to craft anything.\n\n"
    "In your observation, you are provided the amount of space an object takes in your field of view. Note that "
    "objects of the same size takes more space when they are closer to you."
)
_WHERE = "Coordinate ({x:.2f},{y:.2f},{z:.2f}). Facing {facing}."
_UP, _DOWN = " Looking up.", " Looking down."
_AIMS, _AIMS_NOT = "You're aiming at {block}.", "You're not aiming at any block."
_AROUND, _SEE = "Around you:", "You see:"
_FELT = " - {name}, {away:.2f} blocks away, {way}"
_SEEN = " - {name}, {away:.2f} blocks away, {way}, taking {share:.0f}% of screen"
_ABOVE, _BELOW, _LEVEL, _FRONT = "above you", "below you", "at your level", "front"
NOTHING, NOBODY = "air", "null"  # not mentioned in descriptions

_FACINGS = ("south", "south-west", "west", "north-west", "north", "north-east", "east", "south-east")
TURN = 15  # degrees of the camera's steps
SPREAD = 6  # degrees from ray to ray
WIDEST = 48  # degrees of the outermost rays, to each side
CURSOR, LONGEST = 3.0, 65.0  # blocks that a ray goes: the first one, and the others
_SCREEN = 17  # rays along each side of the screen
_NEAR = 4  # blocks that are felt in each direction
_CLEAR = 0.2  # least component of a direction of length 1 for "above", "north" and so on to be mentioned


class Raw(NamedTuple):
    """The measurements at a location.

    Attributes:
        at: x (to the east), y (upwards) and z (to the south) of the feet, in blocks.
        yaw: Direction of view: 0 is south, 90 west, in degrees.
        pitch: Degrees of the direction of view below the horizon.
        blocks: Names of blocks in alphabetical order; `voxels` and `rays` have their indices.
        voxels: The blocks around the feet; (9, 9, 9) whole numbers: x, y, z.
        rays: The block that each ray hits, or air: the cursor, and then 17 by 17 rays from the lowest row to the
            highest, in each from left to right.
        distances: The distance of each hit, in blocks.
        beings: Names of beings in alphabetical order.
        being_hits: The being that each ray hits; None without beings.
        being_distances: The distance of each being that is hit.
    """

    at: tuple[float, float, float]
    yaw: float
    pitch: float
    blocks: Sequence[str]
    voxels: Any
    rays: Any
    distances: Any
    beings: Sequence[str] = (NOBODY,)
    being_hits: Any = None
    being_distances: Any = None


class VisibleComponent(NamedTuple):
    """A connected component: neighbouring cells with the same block or being.

    Attributes:
        name: The block or being.
        cells: Number of cells.
        middle: The mean of their three coordinates.
        away: The distance of the nearest cell, at `row` and `column`.
    """

    name: str
    cells: int
    middle: tuple[float, float, float]
    row: int
    column: int
    away: float


def fan_angles() -> list[tuple[int, int]]:
    """Return tilt and turn of each ray of the screen in degrees, up and to the right, from the lowest row."""
    turns = range(-WIDEST, WIDEST + 1, SPREAD)
    return [(tilt, turn) for tilt in turns for turn in turns]


def turn_bin(action: int, yaw: float) -> int:
    """Return the number of the camera's step for an action: the turn is (number - 12) * 15 degrees.

    The turn is towards the direction of the action, and up to 15 degrees short of it.
    """
    return int((action * 90 - 180 - yaw + 180) % 360 // TURN)


def location_text(at: tuple[float, float, float], yaw: float, pitch: float) -> str:
    """Return the sentences on coordinates and facing."""
    facing = _FACINGS[int((yaw // 22.5 + 1) // 2) % len(_FACINGS)]
    looking = _UP if pitch < 0 else _DOWN if pitch > 0 else ""
    return _WHERE.format(x=at[0], y=at[1], z=at[2], facing=facing) + looking


@cache
def direction_text(yaw: float, pitch: float, *, published: bool) -> str:
    """Return the phrase on a direction: above, below or level, and by the compass.

    `yaw` (0 is south, 90 west) and `pitch` (upwards) are in degrees. As published, the compass is turned around.
    """
    yaw %= 360
    up, flat = math.sin(math.radians(pitch)), math.cos(math.radians(pitch))
    north, east = math.cos(math.radians(yaw)) * flat, math.sin(math.radians(yaw)) * flat
    if not published:
        north, east = -north, -east
    level_phrase = _ABOVE if up > _CLEAR else _BELOW if up < -_CLEAR else _LEVEL
    return f"{level_phrase} to {direction_name(east, -north, _CLEAR) or _FRONT}"


def description_text(raw: Raw, *, published: bool) -> str:
    """Return the description of a location from the measurements there."""
    aimed_block = raw.blocks[int(raw.rays[0])]
    cursor = _AIMS_NOT if aimed_block == NOTHING else _AIMS.format(block=aimed_block)
    voxels = raw.voxels[:, _NEAR - 1 :, :]  # from the layer below the feet on
    surroundings = _surroundings_text(_visible_components(voxels, raw.blocks, published=published))
    # What is seen of beings has no heading of its own, but ends its last line.
    being_lines = "".join(
        f"{line}\n" for line in _screen_lines(raw, raw.beings, raw.being_hits, raw.being_distances, published)
    )
    components = list(_screen_lines(raw, raw.blocks, raw.rays, raw.distances, published))
    view = "\n".join((_SEE, *components)) if components else ""
    return f"{location_text(raw.at, raw.yaw, raw.pitch)}\n\n{cursor}\n{surroundings}\n{being_lines}\n{view}"


def seen_part(text: str) -> str:
    """Return the end of a description, which lists the things around and in view; "" if there are none."""
    lines = text.split("\n")
    while lines and not (lines[0] in (_AROUND, _SEE) or lines[0].startswith(" - ")):
        del lines[0]
    return "\n".join(lines)


def _visible_components(
    codes: Any, names: Sequence[str], *, published: bool, near: Any = None
) -> Iterator[VisibleComponent]:
    """Yield the connected components of blocks; on the screen, corners connect too."""
    from waybench.envs.voxel._look import connected_components  # needs numpy and numba

    for code, cells, x, y, z, row, column, away in connected_components(codes, near, grouped=published):
        yield VisibleComponent(names[code], cells, (x / cells, y / cells, z / cells), row, column, away)


def _surroundings_text(components: Iterable[VisibleComponent]) -> str:
    """Return the lines on the blocks around the feet: of each kind, the component with the nearest middle."""
    nearest: dict[str, tuple[float, str]] = {}
    for component in components:
        if component.name == NOTHING:
            continue
        east, up, south = component.middle[0] - _NEAR, component.middle[1] - 1, component.middle[2] - _NEAR
        distance = math.sqrt(east * east + up * up + south * south)
        if component.name not in nearest or distance < nearest[component.name][0]:
            level_phrase = f"{_ABOVE if up > 0 else _BELOW} " if up else ""
            nearest[component.name] = distance, f"{level_phrase}to {direction_name(east, south) or _FRONT}"
    lines = [_FELT.format(name=name, away=distance, way=direction) for name, (distance, direction) in nearest.items()]
    return "\n".join((_AROUND, *lines)) if lines else ""


def _screen_lines(raw: Raw, names: Sequence[str], hits: Any, distances: Any, published: bool) -> Iterator[str]:
    """Yield a line for each component on the screen: its nearest point and its share of the screen."""
    if hits is None:
        return
    shape = (1, _SCREEN, _SCREEN)
    for component in _visible_components(
        hits[1:].reshape(shape), names, published=published, near=distances[1:].reshape(shape)
    ):
        if component.name in (NOTHING, NOBODY):
            continue
        # The published defects: the sign of the pitch, and rays from -90 to 90 degrees.
        pitch_sign, lowest, spread = (-1, -90, 180 / (_SCREEN - 1)) if published else (1, -WIDEST, SPREAD)
        up = lowest + component.row * spread - pitch_sign * raw.pitch
        direction = direction_text(raw.yaw - WIDEST + component.column * SPREAD, up, published=published)
        share = 100 * component.cells / _SCREEN**2
        yield _SEEN.format(name=component.name, away=component.away, way=direction, share=share)
