"""Minigames: a prefix of a walkthrough and a list of actions with its next move (MANGO, section 3.5)."""

from dataclasses import dataclass
from typing import Literal

from waybench.core import DataError, Json, Stream, UsageError, check_fields, is_object
from waybench.envs.textmap.map import (
    LONGEST_NAME,
    PUBLISHED_STEPS,
    Edge,
    Locate,
    MapInstance,
    PlaceMap,
    cut,
    normalize_action,
    reached,
    read_map,
    read_number,
    read_texts,
    resolve_game,
    track,
)
from waybench.envs.textmap.minigame._valid_actions import (
    candidates_from_map,
    candidates_from_world,
    draw_actions,
    plain,
)
from waybench.envs.textmap.worlds import World

VERSION = 1  # of the lists of actions
CHOICES, MOST_CHOICES = 10, 100

Moves = Literal["all", "known"]
MOVES: tuple[Moves, ...] = ("all", "known")


@dataclass(frozen=True, slots=True)
class Minigame(MapInstance):
    """A move of a walkthrough to predict.

    Attributes:
        move: The move of the map that the step after the cutoff makes.
        actions: The actions to choose from, in list order.
    """

    move: Edge
    actions: tuple[str, ...]

    @property
    def step(self) -> int:
        """Number of the step to predict."""
        return self.cutoff + 1

    @property
    def places(self) -> tuple[str, ...]:
        """Where the player is after each step from 0 to the cutoff."""
        return track(self.map, self.step)[: self.step]  # the next step is needed to know the last place

    @property
    def known(self) -> bool:
        """Whether the move is known: it was made before, or is the opposite of a move that was."""
        return reached(self.move.known_named, self.cutoff)

    @property
    def walked(self) -> bool:
        """Whether the move was made before."""
        return reached(self.move.forward, self.cutoff)

    @property
    def nearby(self) -> list[Edge]:
        """The known moves that lead away from the current place."""
        return [edge for edge in outgoing_moves(self) if reached(edge.known_named, self.cutoff)]

    def question_json(self) -> dict[str, Json]:
        """Return the minigame as JSON, without the map."""
        return {"step": self.step, "actions": list(self.actions)}


def outgoing_moves(game: Minigame) -> list[Edge]:
    """Return all moves that lead away from the current place, known or not."""
    here = game.move.source
    return [edge for edge in game.map.edges if edge.source == here and edge.target != here]


def minigames(
    place_map: PlaceMap,
    cutoff: int,
    count: int,
    stream: Stream,
    *,
    moves: Moves = "all",
    choices: int = CHOICES,
    world: World | None = None,
) -> list[Minigame]:
    """Sample moves of a walkthrough to predict, uniformly without replacement.

    The list of actions of a step depends on the map and the number of choices only, not on the stream.

    Args:
        place_map: The map, with its whole walkthrough.
        cutoff: The last step to predict; at most 70 for a published map, which has no positions after that.
        count: Most minigames; a sample of fewer is a prefix of a sample of more.
        stream: Random stream.
        moves: "all": every step that leads to another place; "known": only steps whose move is known before.
        choices: Approximate number of actions in the list.
        world: The generated world of the walkthrough, if any; its engine knows the valid actions.
    """
    last = min(cutoff, place_map.last_step)
    places = _places(place_map, last)
    steps = [step for step in range(1, last + 1) if places and places[step] != places[step - 1]]
    stream.shuffle(steps)
    games: list[Minigame] = []
    for step in steps:
        if len(games) == count:
            break
        move = move_at(place_map, step)
        if move is None or (moves == "known" and not reached(move.known_named, step - 1)):
            continue
        actions = valid_actions(place_map, step, move, choices, world)
        games.append(Minigame(cut(place_map, step - 1), step - 1, move, actions))
    return games


def _places(place_map: PlaceMap, last: int) -> tuple[str, ...]:
    """Return the place of the player after each step; empty if it is unknown."""
    try:
        return track(place_map, last)
    except UsageError:
        return ()


def move_at(place_map: PlaceMap, step: int) -> Edge | None:
    """Return the move of the map that a step of the walkthrough makes; None if it makes none."""
    places = _places(place_map, step)
    if not places or places[step] == places[step - 1]:
        return None
    ends = (places[step - 1], places[step], normalize_action(place_map.steps[step].action))
    return next((edge for edge in place_map.edges if edge[:3] == ends and plain(edge.action)), None)


def valid_actions(
    place_map: PlaceMap, step: int, move: Edge, choices: int = CHOICES, world: World | None = None
) -> tuple[str, ...]:
    """Return the actions to choose from at a step, sampled with a stream of the map and the step.

    Args:
        place_map: The map, with the whole walkthrough if available.
        step: The step to predict.
        move: The move that it makes.
        choices: Approximate number of actions.
        world: The generated world of the walkthrough, if any.
    """
    candidates = (
        candidates_from_map(place_map, step) if world is None else candidates_from_world(world, place_map.steps[:step])
    )
    # Worlds of different keys have the same names, but different first observations.
    stream = Stream("textmap/actions", VERSION, place_map.name, place_map.steps[0].observation, step, choices)
    return draw_actions(move.action, candidates, choices, stream)


def decode_minigame(data: Json) -> Minigame:
    """Read a minigame. "actions" is optional; by default, the list is sampled.

    Raises:
        DataError: If it is invalid; the message names the field.
    """
    if not is_object(data):
        raise DataError('instance: give a minigame, {"map": {...}, "step": 12, "actions": ["north", ...]}')
    check_fields(data, ("map", "game", "step", "actions"))
    place_map = read_map(data)
    step = read_number(data, "step", 1, max(1, place_map.last_step), "the step to be predicted")
    move = move_at(place_map, step) if place_map.last_step else None
    if move is None:
        raise DataError(f"step: step {step} of the walkthrough makes no move of the map; give a step that does")
    actions = read_texts(data, "actions") if "actions" in data else valid_actions(place_map, step, move)
    _check_actions(actions, move)
    return Minigame(cut(place_map, step - 1), step - 1, move, tuple(actions))


def _check_actions(actions: list[str] | tuple[str, ...], move: Edge) -> None:
    if not 2 <= len(actions) <= MOST_CHOICES:
        raise DataError(f"actions: {len(actions)} of them; give from 2 to {MOST_CHOICES}")
    invalid = next(
        (action for action in actions if not action.isprintable() or not 1 <= len(action) <= LONGEST_NAME), None
    )
    if invalid is not None:
        raise DataError(f"actions: {invalid[:40]!a} is not an action on one line with 1 to {LONGEST_NAME} characters")
    plain_actions = {plain(action) for action in actions}
    if len(plain_actions) < len(actions) or "" in plain_actions:
        raise DataError("actions: two of them are the same but for case, blanks and punctuation, or one is empty")
    if move.action not in actions:
        raise DataError(f"actions: the walkthrough's own, {move.action[:40]!a}, is missing")


def resolve_minigame(data: Json, locate: Locate) -> Json:
    """Replace the name of a published game in a minigame by its map, and add the actions.

    Args:
        data: A minigame with "game", such as "zork1"; one that has a map is returned unchanged.
        locate: (data set, file) -> path.

    Raises:
        DataError: If the name of the game is invalid, or the place at the step is unknown.
        UsageError: If its files are missing.
    """
    if not is_object(data) or "game" not in data or "map" in data:
        return data
    read_number(data, "step", 1, PUBLISHED_STEPS, "a step whose place is known")
    whole = {
        key: value for key, value in data.items() if key != "cutoff"
    }  # the actions are sampled from the whole walkthrough
    return decode_minigame(resolve_game(whole, locate)).to_json()
