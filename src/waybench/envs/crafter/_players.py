"""Scripted players. Oracle and heuristic see the true map."""

from waybench.core import Stream
from waybench.envs.crafter import _oracle
from waybench.envs.crafter._game import ACTIONS
from waybench.envs.crafter._ids import COW, DO, DRINK, FOOD, LAVA, NOOP, SOUTH, TREE, WATER, WEST
from waybench.envs.crafter._oracle import progress
from waybench.envs.crafter._view import STEPS, View
from waybench.envs.crafter._world import Wilds, World

_ORACLE = (
    _oracle.rest,
    _oracle.fight,
    _oracle.survive,
    _oracle.tend,
    _oracle.shelter_at_night,
    progress,
    _oracle.wait_for_plant,
    _oracle.shelter,
)


def oracle(case: Wilds, world: World, rng: Stream) -> int:
    """Do what is most urgent: fight, drink, eat, tend a plant, sleep behind walls, and else the next achievement."""
    view = View(world)
    for plan in _ORACLE:
        action = plan(view)
        if action is not None:
            return _careful(view, action)
    return NOOP


def forage(case: Wilds, world: World, rng: Stream) -> int:
    """Go to what is missed most, of water, cows and trees, and use it; make nothing and never hide."""
    view = View(world)
    body = view.body
    wants = [(body[DRINK], view.cells(WATER)), (body[FOOD], _oracle.places(view, COW)), (7, view.cells(TREE))]
    for _, targets in sorted(wants, key=lambda want: want[0]):
        action = view.use(targets)
        if action is not None:
            return _careful(view, action)
    return rng.choice((DO, *STEPS))


def _careful(view: View, action: int) -> int:
    """Never walk into lava."""
    if WEST <= action <= SOUTH:
        dx, dy = STEPS[action]
        if view.ground((view.at[0] + dx, view.at[1] + dy)) == LAVA:
            return NOOP
    return action


def at_random(case: Wilds, world: World, rng: Stream) -> int:
    """Take any action."""
    return rng.below(len(ACTIONS))


def noop(case: Wilds, world: World, rng: Stream) -> int:
    """Do nothing."""
    return NOOP


PLAYERS = {"oracle": oracle, "heuristic": forage, "random": at_random, "noop": noop}
