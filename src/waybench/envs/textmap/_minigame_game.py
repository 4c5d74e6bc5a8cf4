"""Minigames: instances with their lists of actions, rules and reference players."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from waybench.core import (
    AnswerState,
    DataError,
    Json,
    Judgement,
    OneAnswerGame,
    Outcome,
    Player,
    Stream,
    UsageError,
    check_known_fields,
    is_object,
    normalize_name,
)
from waybench.envs.textmap._instances import (
    LONGEST_NAME,
    Locate,
    MapInstance,
    insert_published_map,
    read_map,
    read_number,
    read_texts,
    truncate_map,
)
from waybench.envs.textmap._place_map import Edge, PlaceMap, WalkthroughStep, normalize_action
from waybench.envs.textmap._prefix import PUBLISHED_STEPS, is_reached, places_after_steps
from waybench.envs.textmap.worlds._data import DIRECTIONS, MOVING_VERBS, TextWorld, opposite_action
from waybench.envs.textmap.worlds._items import IDLE
from waybench.envs.textmap.worlds._play import WorldEngine

_DIRECTIONS = (*DIRECTIONS, "in", "out")
_WORD = re.compile(r"[a-z]{3,}")
_COMMON_WORDS = frozenset(
    _WORD.findall("all and for from into not off onto out over that the this through under with you")
)
_PUNCTUATION = " .,;:!?\"'`*()[]{}<>"
VERSION = 1  # of the lists of actions
CHOICES, MOST_CHOICES = 10, 100


class CandidateActions(NamedTuple):
    """The candidates for a list of actions.

    `moves` lead away from the place, known or not; all of them are in the list. `local` has groups of other actions,
    the most plausible first; a group is used up before the next one. `directions` has groups of directions, which may
    lead nowhere.
    """

    moves: Sequence[str]
    local: Sequence[Sequence[str]]
    directions: Sequence[Sequence[str]]


def plain_action(action: str, *, dashes: bool = True) -> str:
    """Return a normalized action (`normalize_name`) without quotes and punctuation at its ends."""
    return normalize_name(action, dashes=dashes).strip(_PUNCTUATION)


def draw_actions(answer: str, candidates: CandidateActions, count: int, stream: Stream) -> tuple[str, ...]:
    """Sample about `count` actions with the answer among them, in random order; half are moves or directions."""
    actions = _distinct_actions((answer, *candidates.moves))
    for groups, size in (
        (candidates.directions, count // 2),
        (candidates.local, count),
        (candidates.directions, count),  # if there are too few local actions
    ):
        for group in groups:
            new_actions = [action for action in _distinct_actions((*actions, *group)) if action not in actions]
            stream.shuffle(new_actions)
            actions += new_actions[: max(0, size - len(actions))]
    stream.shuffle(actions)
    return tuple(actions)


def _distinct_actions(actions: Iterable[str]) -> list[str]:
    """Return the first of each group of actions that differ in case, quotes or punctuation only."""
    first_actions: dict[str, str] = {}
    for action in actions:
        first_actions.setdefault(plain_action(action), action)
    first_actions.pop("", None)
    return list(first_actions.values())


def candidates_from_map(place_map: PlaceMap, step: int) -> CandidateActions:
    """Return the candidates before a step of a walkthrough whose world is not available.

    Only the actions of the walkthrough at this place are known to be valid. The others are its actions at other places,
    first those that mention a word of the observations at this place.
    """
    places = places_after_steps(place_map, step)[:step]  # the next step is needed to know the last place
    steps_here = [number for number in range(step) if places[number] == places[-1]]
    observed_words = {word for number in steps_here for word in _significant_words(place_map.steps[number].observation)}
    moves = [edge.action for edge in place_map.edges if edge.source == places[-1] and edge.target != places[-1]]
    moving_actions = {*place_map.actions, *_DIRECTIONS}
    actions_here = [
        normalize_action(place_map.steps[number].action)
        for number in range(1, step)
        if places[number - 1] == places[-1]
    ]
    single_commands = {normalize_action(step.action) for step in place_map.steps[1:] if _is_single_command(step)}
    all_actions = sorted(single_commands - moving_actions - {""})
    mentioned = [action for action in all_actions if _significant_words(action.partition(" ")[2]) & observed_words]
    local = ([action for action in actions_here if action not in moving_actions], mentioned, all_actions, IDLE)
    used_directions = [direction for direction in _DIRECTIONS if direction in place_map.actions]
    return CandidateActions(moves, local, (used_directions, DIRECTIONS))


def _significant_words(text: str) -> set[str]:
    """Return the words of a text in lower case, without the most common ones."""
    return set(_WORD.findall(text.lower())) - _COMMON_WORDS


def _is_single_command(step: WalkthroughStep) -> bool:
    """Return whether the action of a step is a single command, without punctuation."""
    return not set(step.action) & set(",.;:[]\"'") and step.action.isprintable()


def candidates_from_world(world: TextWorld, steps: Sequence[WalkthroughStep]) -> CandidateActions:
    """Return the candidates in a generated world after some steps: all valid actions, and directions."""
    engine = WorldEngine(world)
    now = engine.begin().after
    for step in steps[1:]:
        now = engine.act(now, step.action).after
    exits = [exit_ for exit_ in world.exits if exit_.source == now.place]
    closed_doors = [exit_.door for exit_ in exits if exit_.door is not None and not now.opened >> exit_.door & 1]
    is_dark, names_here = engine.dark(now), engine.names_of_things_here(now)
    carried = [thing for number, thing in enumerate(world.things) if now.taken >> number & 1]
    seen_things = [thing for thing in world.things if thing.place == now.place and thing.name in names_here]
    if is_dark:
        carried, seen_things = [], []
    actions = [f"{verb} {thing.name}" for verb in ("examine", "search") for thing in seen_things]
    actions += [f"take {thing.name}" for thing in seen_things if thing.portable]
    actions += [f"open {world.doors[door]}" for door in closed_doors]
    actions += [f"examine {thing.name}" for thing in carried]
    if world.lamp >= 0 and now.taken >> world.lamp & 1:
        actions.append(f"{'extinguish' if now.lit else 'light'} {world.things[world.lamp].name}")
    return CandidateActions([exit_.action for exit_ in exits], (actions, IDLE), (DIRECTIONS,))


Moves = Literal["all", "known"]
MOVES: tuple[Moves, ...] = ("all", "known")


@dataclass(frozen=True, slots=True)
class Minigame(MapInstance):
    """A move of a walkthrough to predict, which the step after the cutoff makes, and the actions to choose from."""

    move: Edge
    actions: tuple[str, ...]

    @property
    def step(self) -> int:
        """Number of the step to predict."""
        return self.cutoff + 1

    @property
    def places(self) -> tuple[str, ...]:
        """The places of the player after each step from 0 to the cutoff."""
        return places_after_steps(self.map, self.step)[: self.step]  # the next step is needed to know the last place

    @property
    def is_known(self) -> bool:
        """Whether the move is known: it was made before, or is the opposite of a move that was."""
        return is_reached(self.move.named_step, self.cutoff)

    @property
    def was_walked(self) -> bool:
        """Whether the move was made before."""
        return is_reached(self.move.forward, self.cutoff)

    @property
    def nearby_moves(self) -> list[Edge]:
        """The known moves that lead away from the current place."""
        return [edge for edge in outgoing_moves(self) if is_reached(edge.named_step, self.cutoff)]

    def question_json(self) -> dict[str, Json]:
        return {"step": self.step, "actions": list(self.actions)}


def outgoing_moves(game: Minigame) -> list[Edge]:
    """Return all moves that lead away from the current place, known or not."""
    current_place = game.move.source
    return [edge for edge in game.map.edges if edge.source == current_place and edge.target != current_place]


def sample_minigames(
    place_map: PlaceMap,
    cutoff: int,
    count: int,
    stream: Stream,
    *,
    moves: Moves = "all",
    choices: int = CHOICES,
    world: TextWorld | None = None,
) -> list[Minigame]:
    """Sample at most `count` moves of a walkthrough to predict, uniformly without replacement.

    With `moves` "known", only steps whose move is known before are used. About `choices` actions are listed, valid ones
    by the engine of the generated `world`, if any; the list depends on map and step, not on the stream. A sample of
    fewer minigames is a prefix of a larger one. `cutoff`, the last step to predict, is at most 70 for a published map,
    which has no positions after that.
    """
    last_step = min(cutoff, place_map.last_step)
    places = _places_if_known(place_map, last_step)
    steps = [step for step in range(1, last_step + 1) if places and places[step] != places[step - 1]]
    stream.shuffle(steps)
    games: list[Minigame] = []
    for step in steps:
        if len(games) == count:
            break
        move = move_at(place_map, step)
        if move is None or (moves == "known" and not is_reached(move.named_step, step - 1)):
            continue
        actions = draw_valid_actions(place_map, step, move, choices, world)
        games.append(Minigame(truncate_map(place_map, step - 1), step - 1, move, actions))
    return games


def _places_if_known(place_map: PlaceMap, last_step: int) -> tuple[str, ...]:
    """Return the place of the player after each step up to the last one; empty if it is unknown."""
    try:
        return places_after_steps(place_map, last_step)
    except UsageError:
        return ()


def move_at(place_map: PlaceMap, step: int) -> Edge | None:
    """Return the move of the map that a step of the walkthrough makes; None if it makes none."""
    places = _places_if_known(place_map, step)
    if not places or places[step] == places[step - 1]:
        return None
    move = (places[step - 1], places[step], normalize_action(place_map.steps[step].action))
    # An action of punctuation alone cannot be chosen from a list.
    return next((edge for edge in place_map.edges if edge[:3] == move and plain_action(edge.action)), None)


def draw_valid_actions(
    place_map: PlaceMap, step: int, move: Edge, choices: int = CHOICES, world: TextWorld | None = None
) -> tuple[str, ...]:
    """Return about `choices` actions to choose from at a step, sampled with a stream of the map and the step."""
    candidates = (
        candidates_from_map(place_map, step) if world is None else candidates_from_world(world, place_map.steps[:step])
    )
    # Worlds of different keys have the same names, but different first observations.
    stream = Stream("textmap/actions", VERSION, place_map.name, place_map.steps[0].observation, step, choices)
    return draw_actions(move.action, candidates, choices, stream)


def decode_minigame(data: Json) -> Minigame:
    """Read a minigame. "actions" is optional; by default, the list is sampled."""
    if not is_object(data):
        raise DataError('instance: give a minigame, {"map": {...}, "step": 12, "actions": ["north", ...]}')
    check_known_fields(data, ("map", "game", "step", "actions"))
    place_map = read_map(data)
    step = read_number(data, "step", 1, max(1, place_map.last_step), "the step to be predicted")
    move = move_at(place_map, step) if place_map.last_step else None
    if move is None:
        raise DataError(f"step: step {step} of the walkthrough makes no move of the map; give a step that does")
    actions = read_texts(data, "actions") if "actions" in data else draw_valid_actions(place_map, step, move)
    _check_actions(actions, move)
    return Minigame(truncate_map(place_map, step - 1), step - 1, move, tuple(actions))


def _check_actions(actions: Sequence[str], move: Edge) -> None:
    """Raise a DataError unless there are enough valid, distinct actions, with the right one among them."""
    if not 2 <= len(actions) <= MOST_CHOICES:
        raise DataError(f"actions: {len(actions)} of them; give from 2 to {MOST_CHOICES}")
    for action in actions:
        if not action.isprintable() or not 1 <= len(action) <= LONGEST_NAME:
            raise DataError(
                f"actions: {action[:40]!a} is not an action on one line with 1 to {LONGEST_NAME} characters"
            )
    plain_actions = {plain_action(action) for action in actions}
    if len(plain_actions) < len(actions) or "" in plain_actions:
        raise DataError("actions: two of them are the same but for case, blanks and punctuation, or one is empty")
    if move.action not in actions:
        raise DataError(f"actions: the walkthrough's own, {move.action[:40]!a}, is missing")


def resolve_minigame(data: Json, locate: Locate) -> Json:
    """Replace the name of a published game in a minigame ("game", such as "zork1") by its map, and add the actions.

    A minigame that has a map is returned unchanged.
    """
    if not is_object(data) or "game" not in data or "map" in data:
        return data
    read_number(data, "step", 1, PUBLISHED_STEPS, "a step whose place is known")
    # The actions are sampled from the whole walkthrough.
    fields = {key: value for key, value in data.items() if key != "cutoff"}
    return decode_minigame(insert_published_map(fields, locate)).to_json()


class MinigameRules(OneAnswerGame[Minigame, str]):
    """The player chooses an action; it is right if it is the next action of the walkthrough."""

    def answers(self, instance: Minigame) -> Sequence[str]:
        return instance.actions

    def judge(self, instance: Minigame, answer: str) -> Judgement:
        """Compare an action with the walkthrough's; the events say where it leads on the map.

        The outcome counts only if the answer is wrong.
        """
        targets = {edge.target for edge in outgoing_moves(instance) if edge.action == answer}
        events: dict[str, Json] = {
            "moving": bool(targets),
            "arrives": instance.move.target in targets,
            "visited": bool(targets & set(instance.places)) if targets else None,
        }
        outcome_if_wrong = Outcome.UNPRODUCTIVE if answer in instance.actions else Outcome.ILLEGAL
        return Judgement(float(answer == instance.move.action), events, outcome_if_wrong)

    def encode(self, action: str) -> Json:
        return action

    def decode(self, action: Json) -> str:
        if not isinstance(action, str) or not 1 <= len(action) <= LONGEST_NAME or not action.isprintable():
            raise DataError("an action is a text in one line")
        return action


def oracle(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose the action of the walkthrough."""
    return state.instance.move.action


def explorer(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose a move not yet made from here; among several, first one that the observations here mention."""
    game = state.instance
    moves = [action for action in game.actions if action in _DIRECTIONS or action.split()[0] in MOVING_VERBS]
    places = game.places
    steps_here = [number for number, place in enumerate(places) if place == places[-1]]
    observations = " ".join(game.map.steps[number].observation.lower() for number in steps_here)
    tried_actions = {normalize_action(game.map.steps[number + 1].action) for number in steps_here[:-1]}
    tried_actions |= {edge.action for edge in game.nearby_moves}
    return min(moves or game.actions, key=lambda action: (action in tried_actions, action not in observations))


def reverse(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose the opposite of the last move; if it is not listed, choose like `explorer`."""
    opposite = opposite_action(_last_move(state.instance))
    return opposite if opposite in state.instance.actions else explorer(state, rng)


def straight(state: AnswerState[Minigame], rng: Stream) -> str:
    """Repeat the last move; if it is not listed, choose like `explorer`."""
    last_move = _last_move(state.instance)
    return last_move if last_move in state.instance.actions else explorer(state, rng)


def nearby(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose a random known move from here; if there is none, choose any action."""
    game = state.instance
    moves = [edge.action for edge in game.nearby_moves if edge.action in game.actions]
    return rng.choice(moves or game.actions)


PLAYERS: Mapping[str, Player[AnswerState[Minigame], str]] = {
    "heuristic": explorer,
    "oracle": oracle,
    "explorer": explorer,
    "reverse": reverse,
    "straight": straight,
    "nearby": nearby,
}


def _last_move(game: Minigame) -> str:
    """Return the action of the last step that led to another place; "" if there is none."""
    places = game.places
    for number in range(game.cutoff, 0, -1):
        if places[number] != places[number - 1]:
            return normalize_action(game.map.steps[number].action)
    return ""
