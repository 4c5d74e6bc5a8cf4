"""Frames of moves with distances: compass ("north 12 meters") and body ("turn left, 12 meters ahead").

MANGO's section D asks for both. A frame is a matter of words alone: instances, answers as the game knows them, players
and scores are the same in all frames. Published and generated maps have no distances, so these are drawn by map and
pair of places; ways may bend, and distances around a loop need not add up.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from waybench.core import Invalid, Stream, Texts, normalize_name
from waybench.envs.textmap._answers import Hop, MoveIndex, ScoredQuestion, Trajectory, move_index
from waybench.envs.textmap._place_map import PlaceMap, WalkthroughStep, normalize_action
from waybench.envs.textmap._prefix import places_after_steps
from waybench.envs.textmap.worlds._data import DIRECTIONS

GAME, COMPASS, BODY = FRAMES = ("game", "compass", "body")
_ROSE = DIRECTIONS[:8]  # clockwise; up and down are the same whichever way one faces
_TURNS = (
    *("", "turn half right", "turn right", "turn sharp right"),
    *("turn around", "turn sharp left", "turn left", "turn half left"),
)
_SHORTEST, _LONGEST = 2, 30  # meters
_METERS = r"(?P<meters>[0-9]{1,6}) ?(?:m|meters?|metres?)"
_GO = r"(?:(?:go|walk|move|head) )?"
_COMPASS = re.compile(
    rf"{_GO}(?:{_METERS} )?(?:to the )?(?P<way>{'|'.join(_ROSE)})(?: {_METERS.replace('meters>', 'after>')})?"
)
_BODY = re.compile(
    rf"(?P<turn>(?:{'|'.join(filter(None, _TURNS))})?)"
    rf"(?P<walk>(?:,? ?(?:and |then |and then )?){_GO}(?:{_METERS})? ?(?:(?:straight )?(?:ahead|forward|on))?)"
)
_AGAIN = ("again", "g")  # commands that repeat the last one


@lru_cache(maxsize=4096)
def _draw_distance(map_name: str, first: int, second: int) -> int:
    """Draw the distance of two places, by their numbers, in meters (cached)."""
    rng = Stream("textmap/distance", map_name, first, second)
    return _SHORTEST + rng.below(_LONGEST + 1 - _SHORTEST)


def distance_in_meters(place_map: PlaceMap, source: str, target: str) -> int:
    """Return the distance of two places in meters, the same in both directions and under all names of the places."""
    first, second = sorted((place_map.places.index(source), place_map.places.index(target)))
    return _draw_distance(place_map.name, first, second)


@dataclass(frozen=True, slots=True)
class FramedQuestion:
    """A question whose actions are worded in a frame."""

    source: str
    target: str
    actions: tuple[str, ...]


class _Walk:
    """The places that a walk on a map can have reached, for the distances of moves whose places are not named."""

    def __init__(self, place_map: PlaceMap, source: str) -> None:
        self._map, self._index = place_map, move_index(place_map)
        self._places = frozenset({source})

    def distances_of_moves(self, direction: str) -> list[int]:
        """Return the distances of the moves that lead from these places in a direction."""
        return sorted(
            {
                distance_in_meters(self._map, place, target)
                for place in self._places
                for target in self._index.places_after((place,), direction)
            }
        )

    def follow_action(self, action: str) -> None:
        """Go on to the places that an action leads to."""
        self._places = self._index.places_after(self._places, action)


@dataclass(frozen=True, slots=True)
class Frame:
    """The words of moves in the frame `COMPASS` or `BODY`."""

    name: str

    def walkthrough_in_frame(self, place_map: PlaceMap, last_step: int) -> tuple[WalkthroughStep, ...]:
        """Return the walkthrough up to a step, with its moves in this frame and the name of the place at each step.

        What the game says is left out, since it names directions of the compass.
        """
        places = places_after_steps(place_map, last_step)
        facing, command = 0, ""
        steps: list[WalkthroughStep] = []
        for step, before, place in zip(place_map.steps, (places[0], *places), places, strict=False):
            action = normalize_action(step.action)
            if action not in _AGAIN or not command:
                command = action.removeprefix("go ")
            meters = None if before == place else distance_in_meters(place_map, before, place)
            phrase, facing = self._phrase(command, meters, facing)
            steps.append(WalkthroughStep(step.number, phrase if command in _ROSE else step.action, f"{place}\n"))
        return tuple(steps)

    def actions_in_frame(self, actions: Sequence[str]) -> tuple[str, ...]:
        """Return actions in the words of this frame; N stands for a number of meters."""
        others = tuple(action for action in actions if action not in _ROSE)
        directions = [direction for direction in _ROSE if direction in actions]
        if not directions:
            return others
        if self.name == COMPASS:
            return (*others, *(f"{direction} N meters" for direction in directions))
        has_diagonals = any(_ROSE.index(direction) % 2 for direction in directions)
        turns = _TURNS if has_diagonals else _TURNS[::2]  # half turns are for diagonals only
        return (*others, *(_join_turn_and_walk(turn, "N meters ahead") for turn in turns))

    def question_in_frame(self, place_map: PlaceMap, question: ScoredQuestion) -> FramedQuestion:
        """Return a question with the given actions of a destination question in this frame."""
        words = self._phrases(place_map, question.source, question.actions)
        return FramedQuestion(question.source, question.target, tuple(words))

    def to_frame_words(self, place_map: PlaceMap, question: ScoredQuestion, hops: Trajectory) -> Trajectory:
        """Return an answer as this frame words it; `to_map_words` reads it back."""
        words = self._phrases(place_map, question.source, [hop.action for hop in hops])
        return tuple(hop._replace(action=text) for hop, text in zip(hops, words, strict=True))

    def to_map_words(
        self, place_map: PlaceMap, question: ScoredQuestion, hops: Trajectory, texts: Texts
    ) -> Trajectory | Invalid:
        """Return an answer with the map's actions in place of the words of this frame.

        Actions without a direction stand for themselves. A distance may be left out; with a wrong one, the move stays
        as it was said, and leads nowhere. In the body's frame, an element that only turns is no move.
        """
        index, walk, facing = move_index(place_map), _Walk(place_map, question.source), 0
        moves: list[Hop] = []
        for number, hop in enumerate(hops):
            text = normalize_name(hop.action)
            if text in index.actions and text not in _ROSE:
                action = text
            elif (phrase := self._parse_phrase(text, facing)) is not None:
                direction, meters, is_turn = phrase
                facing = _ROSE.index(direction)
                if is_turn and normalize_name(hop.before) == normalize_name(hop.after):
                    continue
                distances = walk.distances_of_moves(direction)
                is_wrong_distance = distances and meters is not None and meters not in distances
                action = hop.action if is_wrong_distance else direction
            elif Frame(BODY if self.name == COMPASS else COMPASS)._parse_phrase(text, facing) is not None:
                return Invalid(texts.fill(f"reason.{self.name}_frame", number=number))
            else:
                action = hop.action
            walk.follow_action(_normalize_known_action(index, action))
            moves.append(hop._replace(action=action))
        return tuple(moves) or Invalid(texts["reason.empty"])

    def _phrases(self, place_map: PlaceMap, source: str, actions: Iterable[str]) -> Iterator[str]:
        """Yield the words of this frame for each action of a walk from a place."""
        index, walk, facing = move_index(place_map), _Walk(place_map, source), 0
        for name in actions:
            action = _normalize_known_action(index, name)
            if action in _ROSE:
                distances = walk.distances_of_moves(action)
                phrase, facing = self._phrase(action, distances[0] if distances else None, facing)
                yield phrase
            else:
                yield name
            walk.follow_action(action)

    def _phrase(self, action: str, meters: int | None, facing: int) -> tuple[str, int]:
        """Return the words for an action, and the number of the direction that the player faces after it."""
        if action not in _ROSE:
            return action, facing
        direction = _ROSE.index(action)
        if self.name == COMPASS:
            return action if meters is None else f"{action} {meters} meters", direction
        turn, walk = _TURNS[(direction - facing) % 8], "ahead" if meters is None else f"{meters} meters ahead"
        return _join_turn_and_walk(turn, walk), direction

    def _parse_phrase(self, text: str, facing: int) -> tuple[str, int | None, bool] | None:
        """Return direction, meters (None if left out) and whether the player only turns; None for other words."""
        match = (_COMPASS if self.name == COMPASS else _BODY).fullmatch(text)
        if match is None or not text.strip(", "):  # the body's pattern matches commas alone
            return None
        if self.name == COMPASS:
            direction, meters, is_turn = match["way"], match["meters"] or match["after"], False
        else:
            direction = _ROSE[(facing + _TURNS.index(match["turn"])) % 8]
            meters, is_turn = match["meters"], not match["walk"]
        return direction, None if meters is None else int(meters), is_turn


def _join_turn_and_walk(turn: str, walk: str) -> str:
    """Return the words of a turn, if there is one, and of a walk."""
    return f"{turn}, {walk}" if turn else walk


def _normalize_known_action(index: MoveIndex, action: str) -> str:
    """Return an action normalized if the map has it, otherwise in lower case."""
    name = normalize_name(action)
    return name if name in index.actions else action.lower()
