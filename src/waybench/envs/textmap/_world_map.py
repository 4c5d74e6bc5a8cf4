"""Maps of text worlds, found by playing them."""

from collections.abc import Sequence
from typing import NamedTuple

from waybench.core import Stream, UsageError
from waybench.envs.textmap._map import NEVER, Edge, PlaceMap, Step
from waybench.envs.textmap._world_data import World, opposite
from waybench.envs.textmap._world_play import Play

_Move = tuple[int, str, int]


class _Made(NamedTuple):
    """A move of the walkthrough.

    Attributes:
        step: When it is made.
        move: The move.
        stays: The numbers of the stays between which it lies.
    """

    step: int
    move: _Move
    stays: tuple[int, int]


def map_of(world: World, steps: Sequence[Step]) -> PlaceMap:
    """Return what is to be learnt of a world from a walkthrough of it.

    The world is played again. After each move that has an opposite, such as north or "enter hut", that is tried in the
    situation which the move has led to; only if it leads back is it a move of the map that can be inferred. Names are
    in lower case, as in the published maps. The order of places and of actions is drawn by key, so that it says
    nothing.

    Args:
        world: The world.
        steps: A walkthrough of it, from the first step.

    Raises:
        UsageError: If the world does not answer as the walkthrough has it.
    """
    made, told, places, inferred = _played(world, steps)
    names = [place.name.lower() for place in world.places]
    forward, named = _when(made, told)
    edges: list[Edge] = []
    for move in forward.keys() | inferred.keys():
        source, action, target = move
        other = inferred.get(move)
        back, back_named = (forward[other], named[other]) if other else (NEVER, NEVER)
        whole = (forward.get(move, NEVER), back, named.get(move, NEVER), back_named)
        edges.append(Edge(names[source], names[target], action, *whole))
    edges.sort(key=lambda edge: (edge.known, edge.forward, edge[:3]))
    rng = Stream("textmap/order", world.seed)
    listed = sorted(names[place] for place in places)
    actions = sorted({edge.action for edge in edges})
    rng.shuffle(listed)
    rng.shuffle(actions)
    return PlaceMap(world.name, tuple(listed), tuple(actions), tuple(edges), tuple(steps))


def _played(world: World, steps: Sequence[Step]) -> tuple[list[_Made], list[int], set[int], dict[_Move, _Move]]:
    """Play a walkthrough again.

    Returns:
        The moves; for each stay at a place the step at which its name is told; the places; and for each move that can
        be inferred, the one from which.
    """
    play = Play(world)
    turn = play.begin()
    _compare(world, steps[0] if steps else None, Step(0, "Init", turn.text))
    now, told, places = turn.after, [0 if turn.named else NEVER], {turn.after.place}
    made: list[_Made] = []
    inferred: dict[_Move, _Move] = {}
    tried: set[_Move] = set()
    for number, step in enumerate(steps[1:], 1):
        before, turn = now, play.act(now, step.action)
        now = turn.after
        _compare(world, step, Step(number, step.action, turn.text))
        if now.place != before.place:
            move = (before.place, step.action, now.place)
            made.append(_Made(number, move, (len(told) - 1, len(told))))
            told.append(NEVER)
            places.add(now.place)
            back = None if move in tried else opposite(step.action)
            tried.add(move)
            if back is not None and play.act(now, back).after.place == before.place:
                inferred[now.place, back, before.place] = move
        if turn.named:
            told[-1] = min(told[-1], number)
    return made, told, places, inferred


def _compare(world: World, step: Step | None, played: Step) -> None:
    if step != played:
        raise UsageError(f"world {world.name}: step {played.number} is not what the world answers; is it another's?")


def _when(made: Sequence[_Made], told: list[int]) -> tuple[dict[_Move, int], dict[_Move, int]]:
    """Return for each move the step at which it is first made, and at which its two places are known by name.

    A name that is not told during a stay is known all the same if the place was reached by a move whose places were
    known before.
    """
    forward: dict[_Move, int] = {}
    named: dict[_Move, int] = {}
    for step, move, (left, entered) in made:
        forward.setdefault(move, step)
        known = max(step, named.get(move, NEVER))
        told[entered] = min(told[entered], known)
        named[move] = min(named.get(move, NEVER), max(step, told[left], told[entered]))
    return forward, named
