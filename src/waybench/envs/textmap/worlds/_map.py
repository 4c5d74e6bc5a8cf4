"""Maps of text worlds, derived by replaying walkthroughs."""

from collections.abc import Sequence

from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import NEVER, Move, PlaceMap, Step, Traversal, edges_of_traversals
from waybench.envs.textmap.worlds._data import World, opposite
from waybench.envs.textmap.worlds._play import Play


def learn_map(world: World, steps: Sequence[Step]) -> PlaceMap:
    """Return the map that can be learned from a walkthrough of a world.

    The walkthrough is replayed. After each move that has an opposite, such as "north" or "enter hut", the opposite is
    tried, and only if it leads back, the map has it as a move that can be inferred. Names are in lower case, as in the
    published maps. Places and actions are in random order, so that the order gives no information.

    Args:
        world: The world.
        steps: A walkthrough of it, from the first step.

    Raises:
        UsageError: If the walkthrough is not one of this world.
    """
    traversals, named_at, places, inferred = _replay(world, steps)
    edges = edges_of_traversals(traversals, named_at, inferred)
    rng = Stream("textmap/order", world.seed)
    place_names = sorted(places)
    actions = sorted({edge.action for edge in edges})
    rng.shuffle(place_names)
    rng.shuffle(actions)
    return PlaceMap(world.name, tuple(place_names), tuple(actions), edges, tuple(steps))


def _replay(world: World, steps: Sequence[Step]) -> tuple[list[Traversal], list[int], set[str], dict[Move, int]]:
    """Replay a walkthrough.

    Returns:
        The moves; the step at which the name of the place is shown for each stay; the places; and the inferred moves,
        each with the number of the move that it is inferred from.
    """
    play = Play(world)
    turn = play.begin()
    _compare(world, steps[0] if steps else None, Step(0, "Init", turn.text))
    names = [place.name.lower() for place in world.places]
    now, named_at, places = turn.after, [0 if turn.shows_name else NEVER], {names[turn.after.place]}
    traversals: list[Traversal] = []
    inferred: dict[Move, int] = {}
    tried_moves: set[Move] = set()
    for number, step in enumerate(steps[1:], 1):
        before, turn = now, play.act(now, step.action)
        now = turn.after
        _compare(world, step, Step(number, step.action, turn.text))
        if now.place != before.place:
            source, target = names[before.place], names[now.place]
            move = (source, step.action, target)
            traversals.append(Traversal(number, move, (len(named_at) - 1, len(named_at))))
            named_at.append(NEVER)
            places.add(target)
            back = None if move in tried_moves else opposite(step.action)
            tried_moves.add(move)
            if back is not None and play.act(now, back).after.place == before.place:
                inferred[target, back, source] = len(traversals) - 1
        if turn.shows_name:
            named_at[-1] = min(named_at[-1], number)
    return traversals, named_at, places, inferred


def _compare(world: World, step: Step | None, expected: Step) -> None:
    if step != expected:
        raise UsageError(
            f"world {world.name}: step {expected.number} does not match the world; is it from another world?"
        )
