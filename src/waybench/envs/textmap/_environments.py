"""The four environments of text maps with their common presentation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from waybench._late import LazyModule
from waybench.core import Board, Environment, Images, Presentation, TurnRecord, TypedAction
from waybench.envs.textmap._answers import Hop, Trajectory, find_name
from waybench.envs.textmap._extraction_environment import EXTRACT as _EXTRACT
from waybench.envs.textmap._extraction_game import ExtractionState
from waybench.envs.textmap._map_environment import DESTINATION as _DESTINATION
from waybench.envs.textmap._map_environment import ROUTE as _ROUTE
from waybench.envs.textmap._minigame_environment import MINIGAME as _MINIGAME
from waybench.envs.textmap._minigame_game import Minigame
from waybench.envs.textmap._prefix import is_reached, seen_names
from waybench.envs.textmap._texts import ENGLISH

# They are imported when something is drawn.
_drawing: Any = LazyModule("waybench.envs.textmap.drawing._draw")
_atlas: Any = LazyModule("waybench.envs.textmap.drawing._atlas")

_KEYS = {"north": "up", "south": "down", "west": "left", "east": "right"}
_MOST_TYPED = 60  # places or actions that are offered for typing
_MOST_TRIPLETS = 8  # last triplets that are shown


def board(state: Any, turns: Sequence[TurnRecord]) -> Board:
    """Return the question and a line for each place with its known moves; for an extraction, the last triplets."""
    if isinstance(state, ExtractionState):
        return Board(notes=_triplet_lines(state))
    question = state.instance
    if isinstance(question, Minigame):
        request = f"You are at {question.move.source}. What is done next?"
    elif question.path:
        moves = ", ".join(edge.action for edge in question.path)
        request = f"You start at {question.source} and do: {moves}. Where are you?"
    else:
        request = f"How do you get from {question.source} to {question.target}?"
    return Board(notes=[request, "", *_known_move_lines(question)])


def _known_move_lines(question: Any) -> list[str]:
    """Return a line for each place with the moves from there that the shown steps make."""
    moves: dict[str, list[str]] = {}
    for edge in question.map.edges:
        if is_reached(edge.forward_named, question.cutoff):
            moves.setdefault(edge.source, []).append(f"{edge.action} to {edge.target}")
    return [f"{place}: {', '.join(actions)}" for place, actions in moves.items()]


def _triplet_lines(state: ExtractionState) -> list[str]:
    """Return the last triplets, and the place before the next step, a line each."""
    last_triplets = [hop for hop in state.triplets if hop is not None][-_MOST_TRIPLETS:]
    lines = [f"{hop.before}, {hop.action}, {hop.after}" for hop in last_triplets] or ["No triplets so far."]
    if state.end is None and state.mode == "steps":
        lines.append(f"Place before the next step: {state.place}")
    return lines


def route_actions(state: Any) -> Sequence[TypedAction]:
    """Return the known actions for a route question, or the known places for a destination question."""
    question = state.instance
    names = seen_names(question.map, question.cutoff)
    if question.path:
        return [TypedAction(place) for place in names.places[:_MOST_TYPED]]
    return [TypedAction(action, key=_KEYS.get(action, ""), is_reply=False) for action in names.actions[:_MOST_TYPED]]


def minigame_actions(state: Any) -> Sequence[TypedAction]:
    """Return the numbered actions to choose from."""
    actions: Sequence[str] = state.instance.actions
    return [TypedAction(str(number), action, _KEYS.get(action, "")) for number, action in enumerate(actions, start=1)]


def parse_minigame(text: str, state: Any) -> str | None:
    """Return the action that a person has typed by its name or number; None for any other text."""
    names = {action.typed: action.label for action in minigame_actions(state)}
    return names.get(text.strip()) or find_name(text, names.values())


def extraction_actions(state: ExtractionState) -> Sequence[TypedAction]:
    """Return the places that the shown steps name; nothing in mode "whole", whose answer cannot be typed so."""
    if state.mode != "steps" or state.end is not None:
        return ()
    return [TypedAction(place) for place in seen_names(state.task.map, state.task.cutoff).places[:_MOST_TYPED]]


def parse_extraction(text: str, state: ExtractionState) -> Trajectory | None:
    """Return the triplet of the next step with the typed place at its end; None in mode "whole" or without a place."""
    if state.mode != "steps" or state.end is not None:
        return None
    place = find_name(text, state.task.map.places)
    return None if place is None else (Hop(state.place, state.task.map.steps[state.step].action, place),)


IMAGES = Images(
    draw=lambda picture: _drawing.draw_picture(picture),
    legend=ENGLISH["picture.legend"],
    replaces=("walkthrough",),
    legend_field="walkthrough",
    bases=("chat", "plain", "examples"),
    size=1024,
)


PRESENTATION = Presentation(
    title="Text maps (MANGO)",
    lead=(
        "Questions about the map in a game's walkthrough: where do given moves lead, and which moves lead from one "
        "place to another? Easy questions are about moves that the walkthrough makes; in hard questions, some move "
        "must be inferred from its opposite. Success says whether the answer ends at the right place, reasoning "
        "whether each step of it is right."
    ),
    level="size class",
    levels="size classes",
    item="question",
    cluster="map",
    metrics=(
        *("success", "success_easy", "success_hard", "mango_success", "mango_left_out", "spl", "reasoning"),
        *("success_known", "success_new", "chance", "ceiling", "triplets", "precision", "recall", "parsed"),
    ),
    parts={
        "Routes and destinations": ("textmap/route", "textmap/destination"),
        "Minigames": ("textmap/minigame",),
        "Extraction and search": ("textmap/extract",),
    },
    pairs={
        "Success": ("mango_success_easy", "mango_success_hard"),
        "Reasoning": ("mango_reasoning_easy", "mango_reasoning_hard"),
        "Success in minigames": ("success_known", "success_new"),
    },
    panels={
        "Success": ("success_easy", "success_hard"),
        "Success weighted by route length": ("spl_easy", "spl_hard"),
        "Reasoning accuracy": ("reasoning_easy", "reasoning_hard"),
        "Success in minigames": ("success_known", "success_new"),
    },
    board=board,
    scenes=lambda instance, turns, counts: _drawing.scenes(instance, turns, counts),
    draw_cluster=lambda instance: _atlas.draw_map(instance),
    cluster_legend=(
        "All places and moves of the map, whatever a prompt shows of it. Each panel is a level or a separate part; "
        "moves up and down lead from one to another, and a line below the name of a place says where to. Otherwise a "
        "move goes in the direction of its line, with north at the top, unless the line says what is typed. The half "
        "next to a place is the move from there: solid if the walkthrough makes it, dashed if it is inferred from its "
        "opposite. An arrow leads one way only. Hover over a place for its moves with their steps."
    ),
    legend=(
        "Lines are moves, with north at the top where possible, and up, down, in and out drawn diagonally. For moves "
        "in both directions, the half next to a place is the move from there: solid if it was walked, dashed if it "
        "follows from its opposite, dotted if it is not known yet. The ring is the start of the question, the green "
        "square the destination of a route. Arrows are the answer's moves, as they were scored; a dot marks where "
        "they end, a cross where they go wrong, and orange dots moves that are not on the map. A pale line leads to a "
        "minigame's place. Right triplets are blue, the others orange."
    ),
    reference="a shortest route, or the right answer (wide band)",
    by_cluster=("success", "success_easy", "success_hard", "success_known", "success_new", "reasoning"),
    shared="shared",
    undefined=(
        "A dash: there is no question of this kind, or no readable answer to one. An unreadable answer counts as 0; "
        "only the numbers marked (MANGO) leave it out, as the paper does."
    ),
)


def _with_presentation_and_typing(environment: Environment[Any, Any, Any], **typing: Any) -> Environment[Any, Any, Any]:
    """Return an environment with the presentation of text maps and further fields of its typing."""
    return replace(environment, presentation=PRESENTATION, typing=replace(environment.typing, **typing))


ROUTE, DESTINATION = (
    replace(
        _with_presentation_and_typing(environment, actions=route_actions),
        playing=replace(environment.playing, images=IMAGES),
    )
    for environment in (_ROUTE, _DESTINATION)
)
MINIGAME = _with_presentation_and_typing(
    _MINIGAME, parse=parse_minigame, actions=minigame_actions, help="Type an action of the list or its number."
)
EXTRACT = _with_presentation_and_typing(
    _EXTRACT,
    parse=parse_extraction,
    actions=extraction_actions,
    help="Type the place after the step, by its name, or the reply itself.",
)
