"""What belief probes ask a player of the searches: the range, the stack or the queue that the algorithm works on."""

from functools import partial

from waybench.core import IMAGE, WORDING, Belief, read_numbers
from waybench.envs.search._game_number import Guessing
from waybench.envs.search._game_walk import Walk
from waybench.envs.search._texts import Story


def bounds(story: Story) -> Belief[Guessing]:
    """Return the question for the range of a bisection, which is the same in both stories."""
    return Belief(
        name="range",
        title="range",
        doc="The least and the greatest number that the answers so far have left.",
        question="Which numbers are still possible, after all answers so far?",
        form="[<least number>, <greatest number>]",
        expected=lambda state: [state.low, state.high],
        read=partial(read_numbers, count=2),
    )


def _stack(state: Walk) -> list[int]:
    """Return the way of first visits from node 0 to the present node."""
    parents = dict(zip(state.order, state.parents, strict=True))
    way = [state.at]
    while (parent := parents[way[-1]]) >= 0:
        way.append(parent)
    return way[::-1]


def _queue(state: Walk) -> list[int]:
    """Return the nodes that were shown and not visited, in the order in which they were shown first."""
    shown = dict.fromkeys(near for node in state.order for near in state.graph.neighbours[node])
    return [node for node in shown if not state.visited_mask >> node & 1]


def stack(story: Story) -> Belief[Walk]:
    """Return the question for the stack of a depth-first search.

    Args:
        story: The words of the environment.
    """
    thing = story.thing
    return Belief(
        name="stack",
        title="stack",
        doc=f"The way from {thing} 0 to the present {thing}, each {thing} after the one from which it was entered for "
        "the first time.",
        question=f"Which way leads back? List the {story.places} from {thing} 0 to the {thing} where you are now, each "
        f"after the {thing} from which you entered it for the first time.",
        form=f"[0, ..., <present {thing}>]",
        expected=_stack,
        read=read_numbers,
    )


def queue(story: Story) -> Belief[Walk]:
    """Return the question for the queue of a breadth-first search.

    A picture shows which nodes are adjacent and not in which order, so that without text the order is not known.

    Args:
        story: The words of the environment.
    """
    thing = story.thing
    return Belief(
        name="queue",
        title="queue",
        doc=f"The {story.places} that were named as adjacent and not visited, in the order in which they were first "
        "named.",
        question=f"Which {story.places} were named as adjacent to a visited {thing} and have not been visited yet? "
        "List them in the order in which they were first named.",
        form=f"[<number of a {thing}>, ...]",
        expected=_queue,
        read=read_numbers,
        is_shown=lambda options, state: options[WORDING] != IMAGE,
    )
