"""What can be proved of a tile map."""

from waybench.core import Json
from waybench.envs.tilemap._instance import TileMap, tile_list, tour


def prove(case: TileMap) -> dict[str, Json]:
    """Return what is known of a map, walkable tiles being those that the list names.

    Returns:
        minimum: steps of the shortest tour of all objectives that can be reached, in their order;
        legs: steps of the shortest path to each objective from the one before, None where there is no path;
        unreachable: numbers of the objectives that cannot be reached, from 0.

    Raises:
        DataError: If the list of walkable tiles cannot be read.
    """
    legs = tour(case, tile_list(case.walkable))
    missing = [number for number, leg in enumerate(legs) if leg is None]
    return {"minimum": sum(leg or 0 for leg in legs), "legs": legs, "unreachable": missing}
