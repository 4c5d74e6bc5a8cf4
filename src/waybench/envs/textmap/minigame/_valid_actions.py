"""Lists of actions to choose the next one from: what leads away, what can be done, and what only seems so."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.textmap.map import PlaceMap, Step, normalize_action, track
from waybench.envs.textmap.questions import normal
from waybench.envs.textmap.worlds import DIRECTIONS, IDLE, Play, World

_WAYS = (*DIRECTIONS, "in", "out")
_WORD = re.compile(r"[a-z]{3,}")
_COMMON = frozenset(_WORD.findall("all and for from into not off onto out over that the this through under with you"))
_ENDS = " .,;:!?\"'`*()[]{}<>“”‘’"  # noqa: RUF001


class CandidateActions(NamedTuple):
    """What a list is drawn from.

    Attributes:
        moves: What leads away from here, whether somebody knows it or not; all of it is in the list.
        local: What else there is to do here, the likeliest first; each group is drawn from before the next one.
        ways: Directions which do not lead away, as far as is known, in such groups.
    """

    moves: Sequence[str]
    local: Sequence[Sequence[str]]
    ways: Sequence[Sequence[str]]


def plain(action: str) -> str:
    """Return an action without regard to case, blanks, and quotes or punctuation around it."""
    return normal(action).strip(_ENDS)


def draw_actions(answer: str, candidates: CandidateActions, count: int, stream: Stream) -> tuple[str, ...]:
    """Draw a list of about so many actions, in random order; half of them lead away, or are directions at least."""
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
    """Return what can be offered before a step of a walkthrough by who has nothing but the map.

    Of what can be done there, only what the walkthrough has done there is known; the rest is what it does at other
    times, first what mentions something that was told at this place.
    """
    places = track(place_map, step)[:step]  # where the step leads says where it begins
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
    other = sorted({action for action in simple_actions if action not in leading})
    mentioned = [action for action in other if _words(action.partition(" ")[2]) & observed_words]  # what it is done to
    local = ([action for action in done_here if action not in leading], mentioned, other, IDLE)
    return CandidateActions(moves, local, ([way for way in _WAYS if way in place_map.actions], DIRECTIONS))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


def _is_simple(step: Step) -> bool:
    """Whether an action is one command, which can stand in a list."""
    return not set(step.action) & set(",.;:[]\"'") and step.action.isprintable()


def candidates_from_world(world: World, steps: Sequence[Step]) -> CandidateActions:
    """Return what a world of our own offers after some steps: all that its game would carry out, and directions."""
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
