"""Parsers of answers (the published one without its `eval`, a sound one, one of what people type) and their scores."""

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from waybench.core import AnswerState, Invalid, Texts, is_array, is_object, json_excerpt, normalize_name
from waybench.core._json_reply import last_json_list
from waybench.envs.textmap._instances import LONGEST_NAME, name_similarity
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._texts import ENGLISH

LONGEST_LITERAL = 20_000  # characters of a Python literal; the published limit was 512 tokens
MOST_HOPS = 1_000

_PARSE_ERRORS = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
HELP = "Type the actions of a route with commas between them, or the place of a destination, or the reply itself."
_UNKNOWN = "?"  # the places before the destination of a typed answer


class Hop(NamedTuple):
    """One move of an answer: place before, action, place after."""

    before: str
    action: str
    after: str


Trajectory = tuple[Hop, ...]


RELEASED = Hop("location_before", "action", "location_after")
"""The keys of the objects in an answer to the released program, whose evaluator accepts no others."""

PRINTED = Hop("prev_node", "action", "node")
"""The keys in the paper's Examples 7 and 8."""


def parse_published_answer(
    reply: str, keys: Hop = RELEASED, lead: str = "", texts: Texts = ENGLISH
) -> Trajectory | Invalid:
    """Parse the text from the first "[" to the first "]" of a reply as a Python literal.

    `lead`, the end of the prompt with the start of the answer, is prepended to the reply. `keys` are the names of the
    fields of a move.

    So a "]" in a name, a nested list or JSON's `null` make an answer ill-structured, and the first of two lists counts
    (spec, section 5.1). An expression that is not a literal is ill-structured too, since nothing is evaluated, and so
    is a list of anything but dictionaries, on which the published evaluator crashed.
    """
    text = lead + reply.strip() if lead else reply
    start, end = text.find("["), text.find("]")
    if start < 0 or end < start:
        return Invalid(texts["reason.no_brackets"])
    if end - start >= LONGEST_LITERAL:
        return Invalid(texts.fill("reason.long", most=LONGEST_LITERAL))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a reply is not worth a warning
            value: Any = ast.literal_eval(text[start : end + 1])
    except _PARSE_ERRORS:
        return Invalid(texts["reason.no_python"])
    return read_trajectory(value, keys, texts)


def parse_sound_answer(
    reply: str, keys: Hop = RELEASED, lead: str = "", texts: Texts = ENGLISH
) -> Trajectory | Invalid:
    """Parse the last JSON array or Python list of objects in a reply, whose reasoning has been removed.

    `lead`, the end of the prompt, is prepended to a reply that has no list of its own.
    """
    moves = last_json_list(reply, keys, texts)
    if moves is None and lead:
        moves = last_json_list(lead + reply.strip(), keys, texts)
    if moves is None:
        return Invalid(texts.fill("reason.no_objects", key=json_excerpt(keys.before)))
    return moves if isinstance(moves, Invalid) else read_trajectory(moves, keys, texts)


def read_trajectory(value: Any, keys: Hop = RELEASED, texts: Texts = ENGLISH) -> Trajectory | Invalid:
    """Return a parsed value as moves: a non-empty list of objects, each with a string under each of the three keys."""
    if not is_array(value):
        return Invalid(texts["reason.no_list"])
    if not value:
        return Invalid(texts["reason.empty"])
    if len(value) > MOST_HOPS:
        return Invalid(texts.fill("reason.moves", count=len(value), most=MOST_HOPS))
    hops: list[Hop] = []
    for number, move in enumerate(value):
        if not is_object(move):
            return Invalid(texts.fill("reason.object", number=number))
        names: list[str] = []
        for key in keys:
            if key not in move:
                return Invalid(texts.fill("reason.key", number=number, key=json_excerpt(key)))
            text = move[key]
            if not isinstance(text, str):
                return Invalid(texts.fill("reason.text", number=number, key=json_excerpt(key)))
            if len(text) > LONGEST_NAME:
                return Invalid(texts.fill("reason.long_text", number=number, key=json_excerpt(key), most=LONGEST_NAME))
            names.append(text.encode("utf-8", "backslashreplace").decode())  # lone surrogates cannot be stored
        hops.append(Hop(*names))
    return tuple(hops)


class ScoredQuestion(Protocol):
    """What `answer_success` and the other scores need of a question."""

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


@dataclass(frozen=True, slots=True)
class MatchingRules:
    """Scoring rules: how names in an answer are matched.

    With `similar`, an action is replaced by the closest valid one, and the score of a destination is its similarity to
    the right one; otherwise names must be equal up to case, width, spaces and typography.
    """

    name: str
    similar: bool


PAPER = MatchingRules("paper", similar=True)
SOUND = MatchingRules("sound", similar=False)
RULES = {rules.name: rules for rules in (PAPER, SOUND)}


class MoveIndex:
    """Index of the moves of a map by place and action in lower case."""

    def __init__(self, place_map: PlaceMap) -> None:
        self._targets: dict[str, dict[str, list[str]]] = {}  # place -> action -> places after it
        for edge in place_map.edges:
            targets = self._targets.setdefault(edge.source, {}).setdefault(edge.action.lower(), [])
            if edge.target not in targets:
                targets.append(edge.target)
        # Sorted, so that the order of the file does not matter.
        self.actions = tuple(sorted({edge.action.lower() for edge in place_map.edges}))
        self._normal_actions = {normalize_name(action): action for action in self.actions}
        self._normal_places = {normalize_name(place): place for place in place_map.places}

    def find_place(self, name: str) -> str | None:
        """Return the place of the map with the same normalized name; None if there is none."""
        return self._normal_places.get(normalize_name(name))

    def has_move(self, before: str, action: str, after: str) -> bool:
        """Return whether the map has a move with the same normalized names."""
        targets_by_action = self._targets.get(self.find_place(before) or "", {})
        return self.find_place(after) in targets_by_action.get(self._normal_actions.get(normalize_name(action), ""), ())

    def places_after(self, places: Iterable[str], action: str) -> frozenset[str]:
        """Return the places that an action can lead to from any of the given places."""
        return frozenset(target for place in places for target in self._targets.get(place, {}).get(action, ()))

    def resolve_action(self, action: str, places: Iterable[str], rules: MatchingRules) -> str | None:
        """Return the valid action that an answered action stands for at any of the given places; None if there is none.

        With similar names, this is the closest action. Among equally close actions, one that leads on from the places
        comes first, then the first in alphabetical order. An action without similarity to any valid one stands for
        none; otherwise an empty action would be a move.
        """
        if not rules.similar:
            return self._normal_actions.get(normalize_name(action))
        similarities = {candidate: name_similarity(action.lower(), candidate) for candidate in self.actions}
        greatest = max(similarities.values(), default=0.0)
        if greatest == 0:
            return None
        closest = [candidate for candidate in self.actions if similarities[candidate] == greatest]
        places = tuple(places)
        return next((candidate for candidate in closest if self.places_after(places, candidate)), closest[0])

    def places_after_actions(self, source: str, actions: Iterable[str], rules: MatchingRules) -> frozenset[str]:
        """Return the places that the actions can lead to from a place; empty if they lead nowhere."""
        places = frozenset({source})
        for name in actions:
            action = self.resolve_action(name, places, rules)
            places = frozenset[str]() if action is None else self.places_after(places, action)
            if not places:
                break
        return places


move_index = lru_cache(maxsize=64)(MoveIndex)
"""Return the index of a map (cached, since a map has thousands of questions)."""


def possible_destinations(place_map: PlaceMap, question: ScoredQuestion) -> frozenset[str]:
    """Return the places that the given actions of a question can lead to; several if an action is ambiguous."""
    places = frozenset({question.source})
    for action in question.actions:
        places = move_index(place_map).places_after(places, action.lower())
    return places


def answer_success(
    place_map: PlaceMap,
    question: ScoredQuestion,
    hops: Sequence[Hop],
    rules: MatchingRules,
    *,
    any_reached: bool = True,
) -> float:
    """Return the success of a well-structured answer, from 0 to 1 (paper, section 2.3).

    A route is executed from its source and succeeds if it can end at the destination. For a destination question, the
    last place of the answer counts: `paper` gives the similarity of its name, `sound` 1 for the right name. Any place
    that the given moves can lead to is right, or without `any_reached` only the target.
    """
    if not question.actions:
        actions = [hop.action for hop in hops]
        return float(question.target in move_index(place_map).places_after_actions(question.source, actions, rules))
    right_places = {question.target}
    if any_reached:
        right_places |= possible_destinations(place_map, question)
    answered_place = hops[-1].after
    if not rules.similar:
        return float(normalize_name(answered_place) in map(normalize_name, right_places))
    return max(name_similarity(answered_place, place) for place in right_places)


def path_length_weight(place_map: PlaceMap, question: ScoredQuestion, hops: Sequence[Hop]) -> float:
    """Return the weight of success by path length, l / max(l, p) (paper, section C.1).

    p is the number of moves in the answer, and l the number of given moves or of moves of a shortest path. The weight
    is 0 if there is no path.
    """
    from waybench.envs.textmap._paths import routes

    shortest = len(question.actions) or routes(place_map).shortest(question.source, question.target) or 0
    return shortest / max(shortest, len(hops)) if shortest else 0.0


def is_reasoning_right(
    place_map: PlaceMap, question: ScoredQuestion, hops: Sequence[Hop], rules: MatchingRules
) -> bool:
    """Return whether a trajectory is right from place to place (paper, section A.6).

    A right trajectory starts at the source, each move starts where the last one ended, and each is a move of the map. A
    route must end at the destination. For a destination question, the moves must be the given ones: `paper` compares
    the closest valid actions, `sound` requires the same names.
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
    if any(hop.after != next_hop.before for hop, next_hop in pairwise(hops)):
        return False
    if question.actions and len(hops) != len(question.actions):
        return False
    for number, hop in enumerate(hops):
        before, action, after = (text.strip() for text in hop)
        if question.actions:
            if rules.similar:  # the actions of a route are compared as they are, as published
                action = index.resolve_action(hop.action, (before,), rules)
            if action != question.actions[number].lower():
                return False
        if action is None or after not in index.places_after((before,), action):
            return False
    return True


def parse_typed(text: str, state: AnswerState[MapQuestion]) -> Trajectory | None:
    """Return the answer of a typed line: comma-separated actions of a route, or the place of a destination.

    Returns:
        The trajectory, or None if the line names an action or a place that is nowhere on the map: the person types
        again, since a slip of the keys must not be the only answer. The places on a route are those that the actions
        lead to. The places before a destination are unknown, so that the answer gets no credit for reasoning.
    """
    question, current_place = state.instance, state.instance.source
    if question.path:
        place = find_name(text, question.map.places)
        if place is None:
            return None
        *first_hops, last_hop = (Hop(_UNKNOWN, action, _UNKNOWN) for action in question.actions)
        return (*first_hops, last_hop._replace(after=place))
    hops: list[Hop] = []
    for part in text.split(","):
        action = find_name(part, question.map.actions)
        if action is None or len(hops) == MOST_HOPS:
            return None
        ends = move_index(question.map).places_after_actions(current_place, [action], SOUND)
        place_after = min(ends, default=current_place)
        hops.append(Hop(current_place, action, place_after))
        current_place = place_after
    return tuple(hops)


def find_name(text: str, names: Iterable[str]) -> str | None:
    """Return the name that equals a text up to case; None if there is none."""
    wanted = text.strip().casefold()
    return next((name for name in names if name.casefold() == wanted), None)
