"""What a person who plays sees and types of questions about a map."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, TurnRecord, TypedAction
from waybench.envs.textmap.extract import Extraction, ExtractionState
from waybench.envs.textmap.map import all_names, reached, seen_names
from waybench.envs.textmap.minigame import Minigame
from waybench.envs.textmap.questions import Hop, Trajectory

EXTRACT_HELP = "Type the place after the step, by its name, or the reply itself."
MINIGAME_HELP = "Type an action of the list or its number."

_KEYS = {"north": "up", "south": "down", "west": "left", "east": "right"}
_MOST = 60  # places and actions in a list


def board(state: Any, turns: Sequence[TurnRecord]) -> Board:
    """Return the question, and the moves that the walkthrough shows as lines of text: what leads where."""
    if isinstance(state, ExtractionState):
        return Board(notes=_triplets(state))
    question = state.instance
    if isinstance(question, Minigame):
        asked = f"You are at {question.move.source}. What is done next?"
    elif question.path:
        moves = ", ".join(edge.action for edge in question.path)
        asked = f"You start at {question.source} and do: {moves}. Where are you?"
    else:
        asked = f"How do you get from {question.source} to {question.target}?"
    return Board(notes=[asked, "", *_known_moves(question)])


def _known_moves(question: Any) -> list[str]:
    """Return a line for each place with the moves from there that a reader of the walkthrough has seen made."""
    moves: dict[str, list[str]] = {}
    for edge in question.map.edges:
        if reached(edge.forward_named, question.cutoff):
            moves.setdefault(edge.source, []).append(f"{edge.action} to {edge.target}")
    return [f"{place}: {', '.join(each)}" for place, each in moves.items()]


def _triplets(state: ExtractionState) -> list[str]:
    last = [hop for hop in state.triplets if hop is not None][-8:]
    lines = [f"{hop.before}, {hop.action}, {hop.after}" for hop in last] or ["No triplets so far."]
    if state.end is None and state.mode == "steps":
        lines.append(f"Place before the next step: {state.place}")
    return lines


def route_actions(state: Any) -> Sequence[TypedAction]:
    """Return the actions of a route, or the places of a destination question, as far as a reader knows them."""
    question = state.instance
    names = seen_names(question.map, question.cutoff)
    if question.path:
        return [TypedAction(place) for place in names.places[:_MOST]]
    return [TypedAction(action, key=_KEYS.get(action, ""), whole=False) for action in names.actions[:_MOST]]


def minigame_actions(state: Any) -> Sequence[TypedAction]:
    """Return the actions to choose from."""
    actions: Sequence[str] = state.instance.actions
    return [TypedAction(str(number), action, _KEYS.get(action, "")) for number, action in enumerate(actions, start=1)]


def parse_minigame(text: str, state: Any) -> str | None:
    """Return the action of a name or a number of the list."""
    names = {action.typed: action.label for action in minigame_actions(state)}
    text = text.strip()
    return names.get(text) or next((name for name in names.values() if name.casefold() == text.casefold()), None)


def extract_actions(state: ExtractionState) -> Sequence[TypedAction]:
    """Return the places that a reader of the walkthrough knows, where one step is asked for."""
    if state.mode != "steps" or state.end is not None:
        return ()
    return [TypedAction(place) for place in seen_names(state.task.map, state.task.cutoff).places[:_MOST]]


def parse_extract(text: str, state: ExtractionState) -> Trajectory | None:
    """Return the triplet of the next step that ends at the place that a person has typed."""
    if state.mode != "steps" or state.end is not None:
        return None
    typed = text.strip().casefold()
    place = next((place for place in all_names(state.task.map).places if place.casefold() == typed), None)
    return None if place is None else (Hop(state.place, _next_action(state.task, state.step), place),)


def _next_action(task: Extraction, number: int) -> str:
    return next(step.action for step in task.map.steps if step.number == number)
