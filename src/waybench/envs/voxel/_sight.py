"""The view from the place where a search begins."""

from math import ceil, floor

from waybench.envs.voxel._instance import Search, nearest, world_of
from waybench.envs.voxel._wording import LONGEST, NOTHING, SPREAD, WIDEST

_CELL = 4  # blocks along each side of a cell, the distance to whose middle is known
_INTO = 1e-6  # blocks from where a ray meets a block's side to a place in the block


def goal_in_sight(search: Search) -> bool:
    """Return whether some block that can be seen from the start is in a goal.

    One sees as far as the rays of an observation reach, and no farther than the first block that each of them meets. A
    player can turn, so that rays at every whole degree around count, whatever the heading is.

    Args:
        search: The search; the map of its engine is known.
    """
    near = nearest(search, search.x, search.z)
    if near is None or near.away > LONGEST + _CELL:
        return False
    world = world_of(search)
    goals, cache = search.goals, dict[tuple[int, int], bool]()
    for x, z in _visible_cells(search):
        if (x, z) not in cache:
            cache[x, z] = world.biome(x, z) in goals
        if cache[x, z]:
            return True
    return False


def _visible_cells(search: Search) -> set[tuple[int, int]]:
    """Return the columns of all blocks that the rays meet."""
    from waybench.envs.voxel.engines import eye_of, rays  # numpy and numba, which nothing else here needs

    world = world_of(search)
    start = world.stand(search.x, search.z)
    screen = 2 * WIDEST + SPREAD  # degrees from one screen to the one beside it
    columns: set[tuple[int, int]] = set()
    for turn in range(SPREAD):
        for beside in range(ceil(360 / screen)):
            yaw = (turn + beside * screen + 180) % 360 - 180
            raw = world.view(start._replace(yaw=yaw))
            points = eye_of(start) + (raw.distances + _INTO)[:, None] * rays(yaw)
            columns |= {
                (floor(x), floor(z))
                for (x, _, z), block in zip(points.tolist(), raw.rays.tolist(), strict=True)
                if raw.blocks[block] != NOTHING
            }
    return columns
