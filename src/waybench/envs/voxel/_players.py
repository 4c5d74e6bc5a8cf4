"""Players of the search."""

from waybench.core import Stream
from waybench.envs.voxel._game import FindRules, Search, World
from waybench.envs.voxel._wording import ACTIONS

_RULES = FindRules(published=True)
_SLOW = 4.0  # blocks; who comes less far in a step tries another direction
_AHEAD, _STUCK_AHEAD = 2, 3  # steps of lookahead, and of a player that is stuck


def oracle(search: Search, world: World, rng: Stream) -> int:
    """Take the action that leads nearest to a goal in two steps, by the true map and with imagined chances.

    One that hardly got on in the last step imagines three.
    """
    deep = _AHEAD if world.last < 0 or world.moved > _SLOW else _STUCK_AHEAD
    left = [_imagined(search, _RULES.walked(world, action, rng)[0], deep - 1, rng) for action in range(len(ACTIONS))]
    return left.index(min(left))


def _imagined(search: Search, world: World, deep: int, rng: Stream) -> float:
    """Return what is left of the way, in blocks, after the best of the next steps, and a little for each of them."""
    from waybench.envs.voxel._route import route  # numpy and numba, which nothing else here needs

    if world.found:
        return -float(deep)
    if not deep:
        return route(search).left(world.body.x, world.body.z)
    after = (_RULES.walked(world, action, rng)[0] for action in range(len(ACTIONS)))
    return min(_imagined(search, position, deep - 1, rng) for position in after)


def straight(search: Search, world: World, rng: Stream) -> int:
    """Keep a heading as long as one gets on, and then take another one."""
    if world.last < 0:
        return rng.below(len(ACTIONS))
    return world.last if world.moved > _SLOW else (world.last + 1 + 2 * rng.below(2)) % len(ACTIONS)


PLAYERS = {"oracle": oracle, "heuristic": straight}
