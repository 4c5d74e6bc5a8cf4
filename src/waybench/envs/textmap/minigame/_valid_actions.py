"""Lists of actions for minigames: moves, other valid actions, and distractors."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from waybench.core import Stream, normal_name
from waybench.envs.textmap.map import PlaceMap, Step, normalize_action, track
from waybench.envs.textmap.worlds import DIRECTIONS, IDLE, Play, World

_WAYS = (*DIRECTIONS, "in", "out")
_WORD = re.compile(r"[a-z]{3,}")
_COMMON = frozenset(_WORD.findall("all and for from into not off onto out over that the this through under with you"))
_ENDS = " .,;:!?\"'`*()[]{}<>"


class CandidateActions(NamedTuple):
    """The candidates for a list of actions.

    Attributes:
        moves: Actions that lead away from the place, known or not; all of them are in the list.
        local: Groups of other actions, the most plausible first; a group is used up before the next one.
        ways: Groups of directions that lead nowhere, as far as is known.
    """

    moves: Sequence[str]
    local: Sequence[Sequence[str]]
    ways: Sequence[Sequence[str]]


def plain(action: str, *, dashes: bool = True) -> str:
    """Normalize an action (`normal_name`), and strip quotes and punctuation."""
    return normal_name(action, dashes=dashes).strip(_ENDS)


def draw_actions(answer: str, candidates: CandidateActions, count: int, stream: Stream) -> tuple[str, ...]:
    """Sample a list of about `count` actions in random order; half of them are moves or directions."""
    actions = _distinct((answer, *candidates.moves))
    for groups, size in ((candidates.ways, count // 2), (candidates.local, count), (candidates.ways, count)):
        for group in groups:
            new_actions = [action for action in _distinct((*actions, *group)) if action not in actions]
            stream.shuffle(new_actions)
            actions += new_actions[: max(0, size - len(actions))]
    stream.shuffle(actions)
    return tuple(actions)


def _distinct(actions: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for action in actions:
        first.setdefault(plain(action), action)
    first.pop("", None)
    return list(first.values())


def candidates_from_map(place_map: PlaceMap, step: int) -> CandidateActions:
    """Return the candidates before a step of a walkthrough whose world is not available.

    Only the actions of the walkthrough at this place are known to be valid. The others are its actions at other places,
    first those that mention a word of the observations at this place.
    """
    places = track(place_map, step)[:step]  # the next step is needed to know the last place
    here = [number for number in range(step) if places[number] == places[-1]]
    observed_words = {word for number in here for word in _words(place_map.steps[number].observation)}
    moves = [edge.action for edge in place_map.edges if edge.source == places[-1] and edge.target != places[-1]]
    leading = {*place_map.actions, *_WAYS}
    done_here = [
        normalize_action(place_map.steps[number].action)
        for number in range(1, step)
        if places[number - 1] == places[-1]
    ]
    simple_actions = [
        action for step in place_map.steps[1:] if _is_simple(step) and (action := normalize_action(step.action))
    ]
    elsewhere = sorted({action for action in simple_actions if action not in leading})
    mentioned = [action for action in elsewhere if _words(action.partition(" ")[2]) & observed_words]
    local = ([action for action in done_here if action not in leading], mentioned, elsewhere, IDLE)
    return CandidateActions(moves, local, ([way for way in _WAYS if way in place_map.actions], DIRECTIONS))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


def _is_simple(step: Step) -> bool:
    """Return whether an action is a single command that can be listed."""
    return not set(step.action) & set(",.;:[]\"'") and step.action.isprintable()


def candidates_from_world(world: World, steps: Sequence[Step]) -> CandidateActions:
    """Return the candidates in a generated world after some steps: all valid actions, and directions."""
    play = Play(world)
    now = play.begin().after
    for step in steps[1:]:
        now = play.act(now, step.action).after
    ways = [way for way in world.exits if way.source == now.place]
    dark, here = play.dark(now), play.here(now)
    carried = [thing for number, thing in enumerate(world.things) if now.taken >> number & 1]
    things = [] if dark else [thing for thing in world.things if thing.place == now.place and thing.name in here]
    doing = [f"{verb} {thing.name}" for verb in ("examine", "search") for thing in things]
    doing += [f"take {thing.name}" for thing in things if thing.portable]
    doing += [
        f"open {world.doors[way.door]}" for way in ways if way.door is not None and not now.opened >> way.door & 1
    ]
    doing += [] if dark else [f"examine {thing.name}" for thing in carried]
    if world.lamp >= 0 and now.taken >> world.lamp & 1:
        doing.append(f"{'extinguish' if now.lit else 'light'} {world.things[world.lamp].name}")
    return CandidateActions([way.action for way in ways], (doing, IDLE), (DIRECTIONS,))
