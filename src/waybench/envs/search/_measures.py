"""Failures, first errors, beliefs, explanatory variables, competent success and potentials of a search."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from math import log2
from typing import Any

from waybench.core import (
    ILLEGAL,
    IMAGE,
    WORDING,
    Axis,
    Belief,
    End,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    FirstErrors,
    Outcome,
    Potential,
    Step,
    Stream,
    TurnRecord,
    general_failure_kind,
    most_frequent_kind,
    proof_axis,
    read_numbers,
    unread_reply_kind,
)
from waybench.envs.search import _number, _walk
from waybench.envs.search._metrics import BREADTH, DEPTH, NUMBERS, VALID, Scores, recorded_protocol
from waybench.envs.search._number import Guessing, bisect
from waybench.envs.search._texts import SearchTexts
from waybench.envs.search._walk import VisitedNodes, breadth_first, depth_first

NUMBER_FAILURES = (
    FailureKind("illegal", "guesses out of the range", "Most replies without effect were such guesses."),
    FailureKind(
        "unproductive",
        "guesses excluded by earlier answers",
        "The guesses ran out, and earlier answers had excluded at least half of them.",
    ),
    FailureKind("turn_limit", "running out of guesses", "The guesses ran out before the number was found."),
)


def number_failure(record: EpisodeRecord) -> FailureKind:
    """Return how a search for a number failed; refusals by a coach and a teacher's steps do not count."""
    return general_failure_kind(record, _judged_turns(record))


NO_NODE = FailureKind("no_node", "nodes that do not exist", "Most invalid nodes do not exist.")
NOT_BESIDE = FailureKind(
    "not_beside",
    "nodes that cannot be reached",
    "Most invalid nodes are not neighbours of the current node (in breadth-first search: of any visited node).",
)
REVISITS = FailureKind("unproductive", "revisits", "The steps ran out, and at least half of them visited nodes again.")
UNVISITED = FailureKind("turn_limit", "running out of steps", "The steps ran out before all nodes were visited.")
WALK_FAILURES = (REVISITS, UNVISITED, NO_NODE, NOT_BESIDE)


def walk_failure(record: EpisodeRecord) -> FailureKind:
    """Return how a walk failed; failures by invalid nodes are divided by what is wrong with most of them."""
    general_kind = general_failure_kind(record, _judged_turns(record))
    if general_kind != ILLEGAL:
        return general_kind
    return most_frequent_kind(_invalid_reply_failures(record), WALK_FAILURES) or general_kind


def _judged_turns(record: EpisodeRecord) -> list[TurnRecord]:
    """Return the player's own turns, without those that a coach refused."""
    return [turn for turn in record.own_turns if turn.executed is None and "coached" not in turn.events]


def _invalid_reply_failures(record: EpisodeRecord) -> Iterator[FailureKind]:
    """Yield the kind of each invalid node."""
    size = len(record.instance["nodes"])
    for turn in _judged_turns(record):
        if turn.outcome is Outcome.ILLEGAL:
            yield NOT_BESIDE if 0 <= turn.action < size else NO_NODE


INVALID = FailureKind("invalid", "invalid answers", "The answer is not allowed, and ends the episode.")


def _first_errors(scores: Scores[Any], *kinds: FailureKind) -> FirstErrors:
    """Return the first errors of these kinds; neither refused answers nor retried invalid ones are steps."""

    def steps(record: EpisodeRecord) -> Iterator[Step]:
        """Yield the player's answers up to the first error."""
        case, _ = scores.read_case_and_answers(record)
        algorithm = scores.algorithm(case, recorded_protocol(record))
        for number, turn in enumerate(record.turns):
            if "coached" in turn.events:
                continue
            is_teacher_step = turn.executed is not None
            if not is_teacher_step and turn.outcome not in VALID:
                if number == len(record.turns) - 1 and record.end is End.INVALID_LIMIT:
                    yield Step(number, unread_reply_kind(turn) if turn.action is None else INVALID)
                continue
            answer = turn.carried_out
            if not is_teacher_step:
                if not algorithm.is_next_answer(answer):
                    yield Step(number, algorithm.classify_error(answer))
                    return
                yield Step(number)
            algorithm.add_answer(answer)

    return FirstErrors((*kinds, INVALID), steps)


NUMBER_ERRORS = _first_errors(NUMBERS, _number.FORGOT, _number.UNEVEN)
DEPTH_ERRORS = _first_errors(DEPTH, _walk.TURNED_BACK, _walk.WAY_BACK)
BREADTH_ERRORS = _first_errors(BREADTH, _walk.LEVEL, _walk.REVISIT)


def range_belief(story: SearchTexts) -> Belief[Guessing]:
    """Return the question for the range that is still possible, which is the same in both stories."""
    return Belief(
        name="range",
        title="range",
        doc="The least and the greatest number that the answers so far have left.",
        question="Which numbers are still possible, after all answers so far?",
        form="[<least number>, <greatest number>]",
        expected=lambda state: [state.low, state.high],
        read=partial(read_numbers, count=2),
    )


def _search_stack(state: VisitedNodes) -> list[int]:
    """Return the nodes from node 0 to the present one, each after the node from which it was first entered."""
    parents = dict(zip(state.order, state.parents, strict=True))
    path_back = [state.at]
    while (parent := parents[path_back[-1]]) >= 0:
        path_back.append(parent)
    return path_back[::-1]


def stack_belief(story: SearchTexts) -> Belief[VisitedNodes]:
    """Return the question for the stack of a depth-first search."""
    thing = story.thing
    return Belief(
        name="stack",
        title="stack",
        doc=f"The way from {thing} 0 to the present {thing}, each {thing} after the one from which it was entered for "
        "the first time.",
        question=f"Which way leads back? List the {story.places} from {thing} 0 to the {thing} where you are now, each "
        f"after the {thing} from which you entered it for the first time.",
        form=f"[0, ..., <present {thing}>]",
        expected=_search_stack,
        read=read_numbers,
    )


def queue_belief(story: SearchTexts) -> Belief[VisitedNodes]:
    """Return the question for the queue of a breadth-first search.

    A picture shows which nodes are adjacent and not in which order, so that without text the order is not known.
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
        expected=lambda state: list(state.fringe),
        read=read_numbers,
        is_shown=lambda options, state: options[WORDING] != IMAGE,
    )


MINIMUM = proof_axis("minimum", "Steps of the optimal policy", "Answers of the optimal policy, the teacher.")


def _target_distance_from_middle(record: EpisodeRecord) -> float:
    """Return how far the number is from the middle of its range: 0 in the middle, 1 at an end."""
    case = record.instance
    return abs(2 * case["target"] - case["min"] - case["max"]) / (case["max"] - case["min"])


def _degree_counts(record: EpisodeRecord) -> Counter[int]:
    """Return the number of neighbours of each node."""
    return Counter(node for edge in record.instance["edges"] for node in edge)


def _largest_depth(record: EpisodeRecord) -> float:
    """Return the distance of the farthest node from node 0, where every walk starts."""
    neighbours: dict[int, set[int]] = {}
    for first, second in record.instance["edges"]:
        neighbours.setdefault(first, set()).add(second)
        neighbours.setdefault(second, set()).add(first)
    visited, layer, depth = {0}, {0}, 0
    while layer := set[int]().union(*(neighbours.get(node, ()) for node in layer)) - visited:
        visited |= layer
        depth += 1
    return float(depth)


NUMBER_VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="off_middle",
            title="Distance from the middle",
            of=_target_distance_from_middle,
            doc="How far the number is from the middle of its range: 0 in the middle, 1 at an end.",
        ),
    )
)
WALK_VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(
            name="leaves",
            title="Leaves",
            of=lambda record: float(sum(degree == 1 for degree in _degree_counts(record).values())),
            doc="Nodes with one neighbour.",
        ),
        Axis(
            name="depth",
            title="Depth",
            of=_largest_depth,
            doc="Distance of the farthest node from the start, in edges.",
        ),
        Axis(
            name="most_neighbours",
            title="Most neighbours",
            of=lambda record: float(max(_degree_counts(record).values(), default=0)),
            doc="Neighbours of the node that has the most.",
        ),
    )
)


def is_competent_number_guessing(record: EpisodeRecord) -> bool:
    """Return whether the guesses are at most 1.5 times the bits of the range, or one more than the bits if more.

    Any bisection is within this bound.
    """
    case, answers = NUMBERS.read_case_and_answers(record)
    return answers.valid <= max(1.5 * case.level, case.level + 1)


def is_competent_depth_first(record: EpisodeRecord) -> bool:
    """Return whether there were at most 2 (n - 1) steps: each edge of a depth-first search's tree there and back."""
    case, answers = DEPTH.read_case_and_answers(record)
    return answers.valid <= 2 * (case.graph.size - 1)


def is_competent_breadth_first(record: EpisodeRecord) -> bool:
    """Return whether there were at most 1.5 (n - 1) steps; a breadth-first search of n nodes needs n - 1."""
    case, answers = BREADTH.read_case_and_answers(record)
    return answers.valid <= 1.5 * (case.graph.size - 1)


def _share_of_bits_known(state: Guessing) -> float:
    """Return the share of the bits of the number that the answers have given."""
    case = state.case
    return 1 - log2(state.high - state.low + 1) / log2(case.high - case.low + 1)


def _share_of_nodes_visited(state: VisitedNodes) -> float:
    """Return the share of the nodes other than the first that are visited."""
    return (len(state.order) - 1) / (state.graph.size - 1)


NUMBER = (
    Potential("information", "Share of the bits of the number that the answers have given.", _share_of_bits_known),
)
WALK = (Potential("visited", "Share of the other nodes that are visited.", _share_of_nodes_visited),)


_UNUSED_RANDOMNESS = Stream("reasoning")  # the algorithms do not draw from it


def bisection_reasoning(state: Guessing) -> str:
    """Return the reasoning for the next guess of a bisection, as English text."""
    return (
        f"The number is from {state.low} to {state.high}: {state.high - state.low + 1} are left. "
        f"The middle is {bisect(state, _UNUSED_RANDOMNESS)}."
    )


def stack_reasoning(state: VisitedNodes) -> str:
    """Return the reasoning for the next step of a depth-first search, as English text."""
    unvisited = [node for node in state.graph.neighbours[state.at] if not state.visited_mask >> node & 1]
    return (
        f"I am at {state.at}. Way back to the start: {_join_nodes(_search_stack(state)[-2::-1])}. "
        f"Neighbours not visited: {_join_nodes(unvisited)}. "
        f"{'I visit' if unvisited else 'I go back to'} {depth_first(state, _UNUSED_RANDOMNESS)}."
    )


def queue_reasoning(state: VisitedNodes) -> str:
    """Return the reasoning for the next step of a breadth-first search, as English text."""
    unvisited_mask = ~state.visited_mask
    node = next(node for node in state.order if state.graph.masks[node] & unvisited_mask)
    unvisited = [neighbour for neighbour in state.graph.neighbours[node] if unvisited_mask >> neighbour & 1]
    return (
        f"Visited in this order: {_join_nodes(state.order)}. The earliest with neighbours that are not "
        f"visited is {node}: {_join_nodes(unvisited)}. I visit {breadth_first(state, _UNUSED_RANDOMNESS)}."
    )


def _join_nodes(nodes: list[int] | tuple[int, ...]) -> str:
    """Return nodes with commas between them, or "none"."""
    return ", ".join(map(str, nodes)) or "none"
