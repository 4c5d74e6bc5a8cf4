"""Decoration of a world: patches of ground, furniture, objects and people, until every tile is in use."""

import numpy as np

from waybench.envs.tilemap.worlds._board import Board, Location
from waybench.envs.tilemap.worlds._cells import noise, packed
from waybench.envs.tilemap.worlds._tiles import SOLID_ROLES

_FIXED_ROLES = frozenset(("door", "bridge", "thing", "person", "hero", "foe"))  # never replaced by another tile
_NEVER_FORCED = frozenset(("road", "bridge", "wall", "floor", "door", "cliff", "shore", "water", "river", "furniture"))
_AREAS = frozenset(("ground", "patch", "floor", "solid", "cliff", "water", "river", "wall"))
_FLOORS = frozenset(("ground", "patch", "floor", "road", "shore"))
_ROCKS = _AREAS & SOLID_ROLES
_CROWDED = 60  # walkable cells, per cent, below which a solid tile takes the place of another one
_FEW = 2  # of a kind of which there are no more than this, none is replaced


def lay_patches(board: Board, plan: str) -> None:
    """Vary the ground: by regions in open country, by spots everywhere."""
    rng, ground, size = board.rng, board.palette.one("ground"), len(board.cells)
    patches = board.palette.roles.get("patch", [])
    if plan == "wild" and patches:
        values = noise(rng, board.width, board.height, max(3, min(8, board.height // 3)))
        ranked = np.sort(values)
        for number, patch in enumerate(patches):
            # A band of values makes an area with a hole in it, or a strip; it has a twentieth of the cells or so.
            low = size * (10 + 80 * number // len(patches)) // 100
            band = (values >= ranked[low]) & (values < ranked[low + size // 20])
            board.paint(packed(band) & board.bits([ground]), patch)
    for patch in patches:
        for _ in range(1 + size // 900):
            _spot(board, patch, (rng.below(board.height), rng.below(board.width)))


def _spot(board: Board, patch: int, middle: tuple[int, int]) -> None:
    rng, ground = board.rng, board.palette.one("ground")
    high, wide = 1 + rng.below(2), 1 + rng.below(3)
    for row in range(max(0, middle[0] - high), min(board.height, middle[0] + high + 1)):
        for column in range(max(0, middle[1] - wide), min(board.width, middle[1] + wide + 1)):
            cell = row * board.width + column
            corner = abs(row - middle[0]) == high and abs(column - middle[1]) == wide
            if board.cells[cell] == ground and not corner and rng.below(5):
                board.cells[cell] = patch


def furnish(board: Board, places: list[Location]) -> None:
    """Put furniture along the walls of rooms, and solid things out of doors."""
    rng, palette, size = board.rng, board.palette, len(board.cells)
    furniture, deco = palette.roles.get("furniture"), palette.roles.get("deco")
    if furniture:
        walls = frozenset(palette.roles["wall"])
        for cells in (place.cells for place in places if place.indoor and place.cells):
            for _ in range(rng.below(2 + len(cells) // 7)):
                cell = rng.choice(cells)
                if any(board.cells[neighbour] in walls for neighbour in board.beside(cell)):
                    _set(board, cell, rng.choice(furniture))
    if deco:
        grounds = frozenset((palette.one("ground"), *palette.roles.get("patch", [])))
        for _ in range(size // 130):
            cell = rng.below(size)
            if board.cells[cell] in grounds:
                _set(board, cell, rng.choice(deco))


def _set(board: Board, cell: int, kind: int) -> None:
    """Put a solid tile somewhere, unless it would be in the way."""
    now = board.palette.kinds[board.cells[cell]]
    if now.role not in _FIXED_ROLES and now.walkable and board.simple(cell):
        board.cells[cell] = kind


def hide(board: Board, places: list[Location]) -> None:
    """Put objects and people into places, where there is room for them."""
    rng, palette, kinds = board.rng, board.palette, board.palette.kinds
    more, open_places = 1 + len(board.cells) // 1500, [place for place in places if place.cells]
    for role in ("thing", "fixture", "person") if open_places else ():
        for kind in palette.roles.get(role, []):
            for _ in range(1 + rng.below(more)):
                cell = rng.choice(rng.choice(open_places).cells)
                now = kinds[board.cells[cell]]
                if role == "fixture":
                    _set(board, cell, kind)
                elif now.walkable and now.role not in _FIXED_ROLES:
                    board.cells[cell] = kind


def complete(board: Board) -> None:
    """See to it that every kind of tile is somewhere.

    Roads, waters, or furniture that the map turned out to have no place for are not forced upon it, as long as other
    kinds can take their places in the alphabet.
    """
    palette = board.palette
    for number in range(2, len(palette.kinds)):
        if number in board.cells:
            continue
        role = palette.kinds[number].role
        if role not in _NEVER_FORCED and _insert(board, number):
            continue
        while palette.spare:
            kind = palette.spare.pop(0)
            if kind.role not in _NEVER_FORCED and _insert(board, palette.add(kind)):
                break
        else:
            _insert(board, number)


def _insert(board: Board, number: int) -> bool:
    """Put one tile of a kind where it fits best; say whether there is a place for it."""
    kinds, cells, walkable = board.palette.kinds, board.cells, board.palette.walkable
    role, solid = kinds[number].role, not walkable[number]
    choices = [_AREAS & {role}, _FLOORS]
    if solid:
        choices.insert(1 if board.share() < _CROWDED else 2, _ROCKS)
    for roles in choices:
        choice = {other for other, kind in enumerate(kinds) if kind.role in roles and cells.count(other) > _FEW}
        for cell in board.random_cells() if choice else ():
            if cells[cell] not in choice:
                continue
            # On open ground it blocks no path, and among tiles like it it can be seen.
            fits = board.simple(cell) if walkable[cells[cell]] else _is_seen(board, cell)
            if fits or not solid:
                cells[cell] = number
                return True
    return False


def _is_seen(board: Board, cell: int) -> bool:
    return any(board.palette.walkable[board.cells[neighbour]] for neighbour in board.beside(cell))
