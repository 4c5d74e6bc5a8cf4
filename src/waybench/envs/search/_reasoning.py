"""How the published optimal policies come to their next step."""

from waybench.core import Stream
from waybench.envs.search._game_number import Guessing, teacher
from waybench.envs.search._game_walk import Walk, breadth_first, depth_first

_NO_CHANCE = Stream("reasoning")


def bisection(state: Guessing) -> str:
    """Return the numbers that are left, and the middle one."""
    return (
        f"The number is from {state.low} to {state.high}: {state.high - state.low + 1} are left. "
        f"The middle is {teacher(state, _NO_CHANCE)}."
    )


def stack(state: Walk) -> str:
    """Return the way back to the start, and the neighbours that are not visited."""
    parent = dict(zip(state.order, state.parents, strict=True))
    way = [state.at]
    while parent.get(way[-1], -1) >= 0:
        way.append(parent[way[-1]])
    new = [node for node in state.graph.neighbours[state.at] if not state.visited_mask >> node & 1]
    here = f"I am at {state.at}. Way back to the start: {_nodes(way[1:])}. Neighbours not visited: {_nodes(new)}."
    following = depth_first(state, _NO_CHANCE)
    return f"{here} {'I visit' if new else 'I go back to'} {following}."


def queue(state: Walk) -> str:
    """Return the earliest visited node with neighbours that are not visited."""
    unseen = ~state.visited_mask
    node = next(node for node in state.order if state.graph.masks[node] & unseen)
    new = [neighbour for neighbour in state.graph.neighbours[node] if unseen >> neighbour & 1]
    return (
        f"Visited in this order: {_nodes(state.order)}. The earliest with neighbours that are not visited is {node}: "
        f"{_nodes(new)}. I visit {breadth_first(state, _NO_CHANCE)}."
    )


def _nodes(nodes: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, nodes)) or "none"
