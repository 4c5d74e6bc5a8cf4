"""Scores of answers: pure functions of the map, the question and the trajectory that was answered.

`PAPER` follows the formulas of the paper (sections 2.3, A.6 and C.1) and not the slips of the published evaluator;
`SOUND` takes names for names. Where ours differ from the published evaluator on purpose is listed as `Difference`.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from waybench.envs.textmap.map import PlaceMap, similarity
from waybench.envs.textmap.questions._answer import Hop

_LONGEST_WORD = 100


class Question(Protocol):
    """What a question asks; the questions of `textmap` are of this kind."""

    @property
    def source(self) -> str:
        """The place where the way begins."""
        ...

    @property
    def target(self) -> str:
        """The place where it ends."""
        ...

    @property
    def actions(self) -> Sequence[str]:
        """The moves of a question for a destination; empty if a route is asked for."""
        ...


class Difference(Enum):
    """Where our scores differ from those of the published evaluator (spec, sections 5 and 6), on purpose."""

    DESTINATION_READ = "the destination that was answered is read; the evaluator compared the true one with itself"
    VALIDATED_MOVES = "routes take only moves that were tried in the game; the evaluator added opposites unseen"
    ALL_OR_NOTHING = "a route reaches the destination or fails; the evaluator gave credit for a similar name"
    FIXED_TIES = "of equally close moves the one that leads on is taken; the evaluator's choice was one of chance"
    GIVEN_MOVES = "the reasoning of a destination has to make the moves given; the evaluator took any way there"
    CLOSEST_MOVES = "in such reasoning the closest valid move counts, as in a route; the evaluator wanted the same text"
    NO_CRASH = "a list of other things than objects is ill-structured; the evaluator stopped there"
    NO_EVAL = "an expression that is no literal is ill-structured; the evaluator evaluated it"
    BOUNDED = "an answer of more characters or moves than the parser's limits is ill-structured; there were no limits"
    NEVER_IS_NEVER = "a pair of places without a way cannot be asked about; the evaluator took never for step 9999"
    KEPT_APART = "answers to unanswerable questions are kept apart; the evaluator gave them zeros"
    OWN_QUESTIONS = "a question is what was asked; the evaluator gave zeros if its id was unknown"


@dataclass(frozen=True, slots=True)
class Rules:
    """How names in an answer are taken.

    Attributes:
        name: Their name.
        similar: Whether a move stands for the closest valid one, and a destination has the similarity to the true one
            for its score; otherwise names must be the same but for case, width and blanks.
    """

    name: str
    similar: bool


PAPER = Rules("paper", similar=True)
SOUND = Rules("sound", similar=False)


def normal(name: str) -> str:
    """Return a name without regard to case, width of letters and number of blanks.

    Long words keep their width, for many marks on one letter take long.
    """
    words = (word if len(word) > _LONGEST_WORD else unicodedata.normalize("NFKC", word) for word in name.split())
    return " ".join(" ".join(words).casefold().split())


class MoveIndex:
    """The moves of a map, all of them tried in the game, by place and action."""

    def __init__(self, place_map: PlaceMap) -> None:
        self._ways: dict[str, dict[str, list[str]]] = {}
        for edge in place_map.edges:
            targets = self._ways.setdefault(edge.source, {}).setdefault(edge.action.lower(), [])
            if edge.target not in targets:
                targets.append(edge.target)
        # In a fixed order, whatever the order of the file.
        self.actions = tuple(sorted({action for ways in self._ways.values() for action in ways}))
        self._normal_actions = {normal(action): action for action in self.actions}
        self._normal_places = {normal(place): place for place in place_map.places}

    def find_place(self, name: str) -> str | None:
        """Return the place of the map whose name is the same; None if there is none."""
        return self._normal_places.get(normal(name))

    def has(self, before: str, action: str, after: str) -> bool:
        """Return whether a move of these names, as `normal` sees them, is one of the map."""
        source, known_action, target = (
            self.find_place(before),
            self._normal_actions.get(normal(action)),
            self.find_place(after),
        )
        return (
            source is not None
            and known_action is not None
            and target in self._ways.get(source, {}).get(known_action, ())
        )

    def targets(self, places: Iterable[str], action: str) -> frozenset[str]:
        """Return where one can be after an action in one of some places; places without it lead nowhere."""
        return frozenset(end for place in places for end in self._ways.get(place, {}).get(action, ()))

    def resolve_action(self, action: str, places: Iterable[str], rules: Rules) -> str | None:
        """Return the valid action that is meant by what was said in one of some places; None if there is none.

        Of equally close ones, an action that leads on from there comes first, then the first in the alphabet. An
        action that is said as it is, is the closest one. What has nothing in common with any stands for none, or
        saying nothing would be a move.
        """
        if not rules.similar:
            return self._normal_actions.get(normal(action))
        action = action.lower()
        scores = {candidate: similarity(action, candidate) for candidate in self.actions}
        best = max(scores.values(), default=0.0)
        if best == 0:
            return None
        closest = [candidate for candidate in self.actions if scores[candidate] == best]
        index = tuple(places)
        return next((candidate for candidate in closest if self.targets(index, candidate)), closest[0])

    def follow(self, source: str, actions: Iterable[str], rules: Rules) -> frozenset[str]:
        """Return where one can be after all that was said, beginning in a place; empty if it leads nowhere."""
        places = frozenset({source})
        for name in actions:
            action = self.resolve_action(name, places, rules)
            places = frozenset[str]() if action is None else self.targets(places, action)
            if not places:
                break
        return places


@lru_cache(maxsize=64)
def move_index(place_map: PlaceMap) -> MoveIndex:
    """Return the moves of a map; kept, for a map has thousands of questions."""
    return MoveIndex(place_map)


def destinations(place_map: PlaceMap, question: Question) -> frozenset[str]:
    """Return the places that the moves given in a question can lead to; several where an action is ambiguous."""
    places = frozenset({question.source})
    for action in question.actions:
        places = move_index(place_map).targets(places, action.lower())
    return places


def success(
    place_map: PlaceMap, question: Question, hops: Sequence[Hop], rules: Rules, *, any_reached: bool = True
) -> float:
    """Return the success of a well-structured answer, from 0 to 1 (paper, section 2.3).

    A route is executed from its first place; it succeeds if it can end at the destination. Of a destination, the last
    place of the answer counts: `paper` gives the similarity of its name, `sound` 1 for the right name.

    Args:
        place_map: The map.
        question: What was asked.
        hops: The answer.
        rules: How names are taken.
        any_reached: Whether every place that the given moves can lead to is right; otherwise only the question's own.
    """
    if not question.actions:
        actions = [hop.action for hop in hops]
        return float(question.target in move_index(place_map).follow(question.source, actions, rules))
    right = {question.target} | (destinations(place_map, question) if any_reached else frozenset[str]())
    answered = hops[-1].after
    if not rules.similar:
        return float(normal(answered) in map(normal, right))
    return max(similarity(answered, place) for place in right)


def length_weight(place_map: PlaceMap, question: Question, hops: Sequence[Hop]) -> float:
    """Return l / max(l, p), p the moves answered, by which success is weighted (paper, section C.1).

    l is the number of the given moves, or the length of a shortest route. A question without any route has 0.
    """
    from waybench.envs.textmap.map import routes  # numpy is loaded where there is something to count

    shortest = len(question.actions) or routes(place_map).shortest(question.source, question.target) or 0
    return shortest / max(shortest, len(hops)) if shortest else 0.0


def reasoning(place_map: PlaceMap, question: Question, hops: Sequence[Hop], rules: Rules) -> bool:
    """Whether a trajectory is right from place to place (paper, section A.6).

    It begins at the source, each move begins where the last one ended, and each is a move of the map. A route ends at
    the destination. For a destination, the moves are the given ones: `paper` takes the closest valid move for the
    move, `sound` the same name only.

    Args:
        place_map: The map.
        question: What was asked.
        hops: The answer.
        rules: How names are taken.
    """
    index = move_index(place_map)
    if not rules.similar:
        # Names of the map in place of those that are the same; others stay as they are and lead nowhere.
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
            given = question.actions[number].lower()
            if rules.similar:
                action = index.resolve_action(hop.action, (before,), rules)
            if action != given:
                return False
        if action is None or after not in index.targets((before,), action):
            return False
    return True
