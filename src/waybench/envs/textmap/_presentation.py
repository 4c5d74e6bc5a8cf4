"""The presentation that the environments of text maps share: words, legends, boards, and what people type."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Images, Presentation, TurnRecord, TypedAction
from waybench.envs.textmap.drawing import draw_map, draw_picture, scenes
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
    return [f"{location}: {', '.join(lines)}" for location, lines in moves.items()]


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
        return [TypedAction(location) for location in names.places[:_MOST]]
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
    return [TypedAction(location) for location in seen_names(state.task.map, state.task.cutoff).places[:_MOST]]


def parse_extract(text: str, state: ExtractionState) -> Trajectory | None:
    """Return the triplet of the next step that ends at the place that a person has typed."""
    if state.mode != "steps" or state.end is not None:
        return None
    typed = text.strip().casefold()
    location = next((location for location in all_names(state.task.map).places if location.casefold() == typed), None)
    return None if location is None else (Hop(state.place, _next_action(state.task, state.step), location),)


def _next_action(task: Extraction, number: int) -> str:
    return next(step.action for step in task.map.steps if step.number == number)


IMAGES = Images(
    draw=draw_picture,
    legend="(In place of the walkthrough, the picture below has its map. Each dot is a place, with its name. Each "
    "arrow is a move that the walkthrough makes, with its action near the place where the move begins.)",
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
    scenes=scenes,
    draw_cluster=draw_map,
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
