"""Scores of answers: pure functions of the map, the question and the trajectory of the answer.

`PAPER` follows the formulas of the paper (sections 2.3, A.6 and C.1) without the bugs of the published evaluator;
`SOUND` requires exact names. `Difference` lists the intended differences from the published evaluator.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from waybench.core import normal_name
from waybench.envs.textmap.map import PlaceMap, similarity
from waybench.envs.textmap.questions._answer import Hop


class Question(Protocol):
    """The interface of a question that scores need."""

    @property
    def source(self) -> str:
        """The place where the path starts."""
        ...

    @property
    def target(self) -> str:
        """The place where it ends."""
        ...

    @property
    def actions(self) -> Sequence[str]:
        """The given actions of a destination question; empty for a route question."""
        ...


class Difference(Enum):
    """Intended differences from the scores of the published evaluator (spec, sections 5 and 6)."""

    DESTINATION_READ = "the destination that was answered is read; the evaluator compared the true one with itself"
    VALIDATED_MOVES = "routes take only moves that were tried in the game; the evaluator added opposites unseen"
    ALL_OR_NOTHING = "a route reaches the destination or fails; the evaluator gave credit for a similar name"
    FIXED_TIES = "of equally close moves the one that leads on is taken; the evaluator's choice was one of chance"
    GIVEN_MOVES = "the reasoning of a destination has to make the moves given; the evaluator took any way there"
    CLOSEST_MOVES = "in such reasoning the closest valid move counts, as in a route; the evaluator wanted the same text"
    NO_CRASH = "a list of other things than objects is ill-structured; the evaluator stopped there"
    NO_EVAL = "an expression that is no literal is ill-structured; the evaluator evaluated it"
    BOUNDED = "an answer of more characters or moves than the parser's limits is ill-structured; there were no limits"
    NEVER_IS_NEVER = "a pair of places without a path is not answerable; the evaluator took never for step 9999"
    KEPT_APART = "answers to unanswerable questions are kept apart; the evaluator gave them zeros"
    OWN_QUESTIONS = "a question is scored from its own text; the evaluator gave zeros if its id was unknown"


@dataclass(frozen=True, slots=True)
class Rules:
    """Scoring rules: how names in an answer are matched.

    Attributes:
        name: Name of the rules.
        similar: Whether an action is replaced by the closest valid one, and the score of a destination is its
            similarity to the right one; otherwise names must be equal up to case, width, spaces and typography.
    """

    name: str
    similar: bool


PAPER = Rules("paper", similar=True)
SOUND = Rules("sound", similar=False)
RULES = {rules.name: rules for rules in (PAPER, SOUND)}


class MoveIndex:
    """Index of the moves of a map by place and action; all of them were validated in the game."""

    def __init__(self, place_map: PlaceMap) -> None:
        self._ways: dict[str, dict[str, list[str]]] = {}
        for edge in place_map.edges:
            targets = self._ways.setdefault(edge.source, {}).setdefault(edge.action.lower(), [])
            if edge.target not in targets:
                targets.append(edge.target)
        # Sorted, so that the order of the file does not matter.
        self.actions = tuple(sorted({action for ways in self._ways.values() for action in ways}))
        self._normal_actions = {normal_name(action): action for action in self.actions}
        self._normal_places = {normal_name(place): place for place in place_map.places}

    def find_place(self, name: str) -> str | None:
        """Return the place of the map with the same normalized name; None if there is none."""
        return self._normal_places.get(normal_name(name))

    def has(self, before: str, action: str, after: str) -> bool:
        """Return whether the map has a move with the same normalized names."""
        source, known_action, target = (
            self.find_place(before),
            self._normal_actions.get(normal_name(action)),
            self.find_place(after),
        )
        return (
            source is not None
            and known_action is not None
            and target in self._ways.get(source, {}).get(known_action, ())
        )

    def targets(self, places: Iterable[str], action: str) -> frozenset[str]:
        """Return the places that an action can lead to from any of the given places."""
        return frozenset(end for place in places for end in self._ways.get(place, {}).get(action, ()))

    def resolve_action(self, action: str, places: Iterable[str], rules: Rules) -> str | None:
        """Return the valid action that an answered action stands for at any of the given places; None if there is none.

        With similar names, this is the closest action. Among equally close ones, an action that leads on from the
        places comes first, then the first in alphabetical order. An action without similarity to any valid one stands
        for none; otherwise an empty action would be a move.
        """
        if not rules.similar:
            return self._normal_actions.get(normal_name(action))
        action = action.lower()
        scores = {candidate: similarity(action, candidate) for candidate in self.actions}
        best = max(scores.values(), default=0.0)
        if best == 0:
            return None
        closest = [candidate for candidate in self.actions if scores[candidate] == best]
        index = tuple(places)
        return next((candidate for candidate in closest if self.targets(index, candidate)), closest[0])

    def follow(self, source: str, actions: Iterable[str], rules: Rules) -> frozenset[str]:
        """Return the places that the actions can lead to from a place; empty if they lead nowhere."""
        places = frozenset({source})
        for name in actions:
            action = self.resolve_action(name, places, rules)
            places = frozenset[str]() if action is None else self.targets(places, action)
            if not places:
                break
        return places


@lru_cache(maxsize=64)
def move_index(place_map: PlaceMap) -> MoveIndex:
    """Return the index of a map (cached, since a map has thousands of questions)."""
    return MoveIndex(place_map)


def destinations(place_map: PlaceMap, question: Question) -> frozenset[str]:
    """Return the places that the given actions of a question can lead to; several if an action is ambiguous."""
    places = frozenset({question.source})
    for action in question.actions:
        places = move_index(place_map).targets(places, action.lower())
    return places


def success(
    place_map: PlaceMap, question: Question, hops: Sequence[Hop], rules: Rules, *, any_reached: bool = True
) -> float:
    """Return the success of a well-structured answer, from 0 to 1 (paper, section 2.3).

    A route is executed from its source and succeeds if it can end at the destination. For a destination question, the
    last place of the answer counts: `paper` gives the similarity of its name, `sound` 1 for the right name.

    Args:
        place_map: The map.
        question: The question.
        hops: The answer.
        rules: The scoring rules.
        any_reached: Whether any place that the given moves can lead to is right; otherwise only the target.
    """
    if not question.actions:
        actions = [hop.action for hop in hops]
        return float(question.target in move_index(place_map).follow(question.source, actions, rules))
    right = {question.target} | (destinations(place_map, question) if any_reached else frozenset[str]())
    answered = hops[-1].after
    if not rules.similar:
        return float(normal_name(answered) in map(normal_name, right))
    return max(similarity(answered, place) for place in right)


def length_weight(place_map: PlaceMap, question: Question, hops: Sequence[Hop]) -> float:
    """Return the weight of success by path length, l / max(l, p) (paper, section C.1).

    p is the number of moves in the answer, and l the number of given moves or of moves of a shortest path. The weight
    is 0 if there is no path.
    """
    from waybench.envs.textmap.map import routes  # imports numpy, so only when it is needed

    shortest = len(question.actions) or routes(place_map).shortest(question.source, question.target) or 0
    return shortest / max(shortest, len(hops)) if shortest else 0.0


def reasoning(place_map: PlaceMap, question: Question, hops: Sequence[Hop], rules: Rules) -> bool:
    """Return whether a trajectory is right from place to place (paper, section A.6).

    It starts at the source, each move starts where the last one ended, and each is a move of the map. A route ends at
    the destination. In a destination question, the moves are the given ones: `paper` compares the closest valid
    actions, `sound` requires the same names.

    Args:
        place_map: The map.
        question: The question.
        hops: The answer.
        rules: The scoring rules.
    """
    index = move_index(place_map)
    if not rules.similar:
        # Replace names by the equal names of the map; unknown names stay and lead nowhere.
        hops = [
            Hop(
                index.find_place(hop.before) or hop.before,
                index.resolve_action(hop.action, (), rules) or hop.action,
                index.find_place(hop.after) or hop.after,
            )
            for hop in hops
        ]
    if hops[0].before != question.source or (not question.actions and hops[-1].after != question.target):
        return False
    if any(last.after != following.before for last, following in pairwise(hops)):
        return False
    if question.actions and len(hops) != len(question.actions):
        return False
    for number, hop in enumerate(hops):
        before, action, after = (text.strip() for text in hop)
        if question.actions:
            given_action = question.actions[number].lower()
            if rules.similar:
                action = index.resolve_action(hop.action, (before,), rules)
            if action != given_action:
                return False
        if action is None or after not in index.targets((before,), action):
            return False
    return True
