"""Isomorphic tile maps: mirrored, with other letters for their tiles."""

from string import ascii_lowercase, ascii_uppercase, digits

from waybench.core import Stream, draw_appearance
from waybench.envs.tilemap._instance import TileMap
from waybench.spaces import REFLECTIONS, transform, transform_place


def isomorph(case: TileMap, key: str, number: int) -> TileMap:
    """Return the map mirrored in rows, columns or both, with exchanged letters and digits for its tiles.

    Lower-case letters, upper-case letters and digits are exchanged among themselves; other characters stay, such as
    "@" and "#". So do all letters of a map whose lists of tiles have comments, since the published program reads the
    letters of comments, too.

    Args:
        case: The map.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    symmetry = draw_appearance(REFLECTIONS, number, "tilemap", key, case.hash)
    letters = {} if _has_comment(case.walkable + case.interactive) else _letters(case, key, number)
    rows = transform(symmetry, [row.translate(letters) for row in case.rows])
    return TileMap(
        rows=tuple("".join(row) for row in rows),
        tiles=tuple((name, sign.translate(letters)) for name, sign in case.tiles),
        walkable=case.walkable.translate(letters),
        interactive=case.interactive.translate(letters),
        objectives=tuple(
            each._replace(tile=each.tile.translate(letters), row=row, column=column)
            for each in case.objectives
            for row, column in [transform_place(symmetry, each.row, each.column, case.height, case.width)]
        ),
        path_length=case.path_length,
        id=case.id,
        story=case.story,
    )


def _has_comment(lists: str) -> bool:
    """Return whether lists of tiles have a comment or an escape, so that letters in them are no tiles."""
    return "\\" in lists or "#" in lists.replace("'#'", "").replace('"#"', "")


def _letters(case: TileMap, key: str, number: int) -> dict[int, int]:
    rng = Stream("isomorph", "tiles", key, case.hash, number)
    found: dict[int, int] = {}
    for signs in (ascii_lowercase, ascii_uppercase, digits):
        order = list(signs)
        rng.shuffle(order)
        found |= str.maketrans(signs, "".join(order))
    return found
