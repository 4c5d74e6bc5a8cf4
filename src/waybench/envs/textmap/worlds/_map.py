"""Maps of text worlds, learned from walkthroughs."""

from collections.abc import Sequence

from waybench.core import Stream
from waybench.envs.textmap.map import NEVER, Move, PlaceMap, Step, Traversal, edges_of_traversals
from waybench.envs.textmap.worlds._data import opposite
from waybench.envs.textmap.worlds._play import Play, Turn


def learn_map(play: Play, turns: Sequence[tuple[str, Turn]]) -> PlaceMap:
    """Return the map that can be learned from a walkthrough of a world.

    After each move that has an opposite, such as "north" or "enter hut", the opposite is tried, and only if it leads
    back, the map has it as a move that can be inferred. Names are in lower case, as in the published maps. Places and
    actions are in random order, so that the order gives no information.

    Args:
        play: The world's engine.
        turns: The walkthrough: each command with its result, the opening as that of "Init".
    """
    traversals, named_at, places, inferred = _moves(play, turns)
    edges = edges_of_traversals(traversals, named_at, inferred)
    rng = Stream("textmap/order", play.world.seed)
    place_names = sorted(places)
    actions = sorted({edge.action for edge in edges})
    rng.shuffle(place_names)
    rng.shuffle(actions)
    steps = [Step(number, action, turn.text) for number, (action, turn) in enumerate(turns)]
    return PlaceMap(play.world.name, tuple(place_names), tuple(actions), edges, tuple(steps))


def _moves(
    play: Play, turns: Sequence[tuple[str, Turn]]
) -> tuple[list[Traversal], list[int], set[str], dict[Move, int]]:
    """Return what a walkthrough shows of the map.

    Returns:
        The moves; the step at which the name of the place is shown for each stay; the places; and the inferred moves,
        each with the number of the move that it is inferred from.
    """
    turn, names = turns[0][1], [place.name.lower() for place in play.world.places]
    now, named_at, places = turn.after, [0 if turn.shows_name else NEVER], {names[turn.after.place]}
    traversals: list[Traversal] = []
    inferred: dict[Move, int] = {}
    tried_moves: set[Move] = set()
    for number, (action, turn) in enumerate(turns[1:], 1):
        before, now = now, turn.after
        if now.place != before.place:
            source, target = names[before.place], names[now.place]
            move = (source, action, target)
            traversals.append(Traversal(number, move, (len(named_at) - 1, len(named_at))))
            named_at.append(NEVER)
            places.add(target)
            back = None if move in tried_moves else opposite(action)
            tried_moves.add(move)
            if back is not None and play.leads_to(now, back) == before.place:
                inferred[target, back, source] = len(traversals) - 1
        if turn.shows_name:
            named_at[-1] = min(named_at[-1], number)
    return traversals, named_at, places, inferred
