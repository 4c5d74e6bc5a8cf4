"""The words of tile maps: prompts, and reading a plan out of a reply."""

import ast
import json
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    Json,
    Memory,
    ToolCall,
    Transition,
    View,
    Wording,
    is_array,
    json_excerpt,
    last_json_object,
    plural,
)
from waybench.core._replies import fold_typography
from waybench.envs.tilemap._board import MovePlan, Style, TileBoard, TileState
from waybench.envs.tilemap._game import CRASH, MOST_NAMES
from waybench.envs.tilemap._instance import Objective, TileMap
from waybench.envs.tilemap._protocols import GIVEN_UP

LONGEST_LITERAL = 20_000  # characters between two braces that are read as Python
MOST_LITERALS = 200  # pairs of braces in a reply that are tried
LONGEST_NAME = 100  # characters

# The requested form: names of letters, properly separated. It is read without Python's parser, which is much faster.
_NAME = r"""(?:'[A-Za-z_]{0,100}'|"[A-Za-z_]{0,100}")"""
_GAP = r"[ \n]*"
_NAME_LIST = rf"({_NAME}(?:{_GAP},{_GAP}{_NAME})*)(?:{_GAP},)?"
_REQUESTED_FORM = re.compile(rf"\{{{_GAP}(?:'action'|\"action\"){_GAP}:{_GAP}\[{_GAP}{_NAME_LIST}{_GAP}\]{_GAP}\}}")
_NAMES = re.compile(r"[A-Za-z_]+")
_INNERMOST_BRACES = re.compile(r"\{[^{}]*\}")
_LITERAL_ERRORS = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_ROLE = "You plan the way of an agent over a map of tiles. Answer with its actions and nothing else."
_ROLE_SINGLE = (
    "You guide an agent over a map of tiles, one move at a time. Answer with its next action and nothing else."
)
_DEATHS = {"enemy": "met an enemy", "hazard": "stepped on a hazard"}


def read_published_plan(reply: str) -> MovePlan | Invalid:
    """Read the first innermost {...} of a reply that is a Python literal, as the published program does.

    Only literals are read, nothing is evaluated. If this first literal has no "action", the reply is invalid, even if a
    literal after it has one. An "action" that is no sequence gives the plan of a single `CRASH`; in a sequence, an
    unhashable value becomes `CRASH`, and every other value that is no text an unknown name.
    """
    for number, match in enumerate(_INNERMOST_BRACES.finditer(reply)):
        if number >= MOST_LITERALS:
            return Invalid(f"The reply has more than {MOST_LITERALS} pairs of braces.")
        literal = match[0]
        if len(literal) > LONGEST_LITERAL:
            return Invalid(f"The reply has more than {LONGEST_LITERAL} characters between two braces.")
        requested = _REQUESTED_FORM.fullmatch(literal)
        if requested is not None and "''" not in literal and '""' not in literal:  # `_NAMES` finds no empty names
            return MovePlan(tuple(_NAMES.findall(requested[1])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a backslash in a reply needs no warning
                value: Any = ast.literal_eval(literal)
        except _LITERAL_ERRORS:
            continue
        if not isinstance(value, dict) or "action" not in value:
            return Invalid('The first dictionary in the reply has no "action".')
        return _plan_of_value(value["action"])  # pyright: ignore[reportUnknownArgumentType]
    return Invalid("The reply has no Python dictionary.")


def _plan_of_value(action: Any) -> MovePlan:
    """Return the plan of an "action" of any type in a Python literal."""
    if not isinstance(action, (str, bytes, list, tuple, set)):
        return MovePlan((CRASH,))
    values: tuple[Any, ...] = tuple(action)  # pyright: ignore[reportUnknownArgumentType]
    return MovePlan(
        tuple(_writable_name(value) if isinstance(value, str) else _name_of_value(value) for value in values)
    )


def _name_of_value(value: Any) -> str:
    """Return the name of a value that is no string: `CRASH` if it is unhashable, else its `repr`."""
    try:
        hash(value)
    except TypeError:
        return CRASH
    try:
        return _writable_name(repr(value))
    except ValueError:  # a number of more digits than Python writes
        return "(a number)"


def _writable_name(name: str) -> str:
    """Return a name cut, without lone surrogates, and different from `CRASH`."""
    # A long name is as unknown if it is cut; a lone surrogate cannot be sent or stored; and no name in a reply may be
    # taken for `CRASH`.
    shortened = name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
    return f"{shortened} " if shortened == CRASH else shortened


def read_sound_plan(reply: str, *, single: bool, predicts: bool) -> MovePlan | Invalid:
    """Read the last JSON object with "action" in a reply.

    "action" must be a list of names; with `single` it must be one name, alone or in a list, or an empty list. With
    `predicts`, the object must also have "map", a text or a list of texts.
    """
    reply_object = last_json_object(reply, "action", unique=True)
    if isinstance(reply_object, Invalid):
        return reply_object
    names: Any = reply_object["action"]
    if single and isinstance(names, str):
        names = [names]
    if not is_array(names):
        return Invalid(f'"action" must be a list of names, not {json_excerpt(names)}.')
    others = [name for name in names if not isinstance(name, str)]
    if others:
        return Invalid(f'"action" must hold names only, not {json_excerpt(others[0])}.')
    if len(names) > MOST_NAMES:
        return Invalid(f'"action" has {len(names)} names; at most {MOST_NAMES} are read.')
    if single and len(names) > 1:
        return Invalid(f'"action" must be one name, not {len(names)}.')
    drawing: str | None = None
    if predicts:
        map_text: Any = reply_object.get("map")
        if is_array(map_text) and all(isinstance(row, str) for row in map_text):
            map_text = "\n".join(map_text)
        if not isinstance(map_text, str):
            return Invalid('"map" must be the map after the actions, a text or a list of rows.')
        drawing = map_text.encode("utf-8", "backslashreplace").decode()  # without lone surrogates
    return MovePlan(tuple(_writable_name(fold_typography(name)) for name in names), drawing)


_TERMS = """\
The map has one line for each row and one character for each tile. A position is written (row, column); rows are \
counted from 0 downwards, columns from 0 to the right. move_up leads to the row above, move_down to the row below, \
move_left and move_right to the column before and after. A move onto a tile that cannot be walked on, or off the map, \
leaves the agent where it is and costs as much as any other. A name that is not one of the {count} ends the sequence."""

_REWARDS = {
    False: '{"8 tiles away from the target": -100, "5 to 8 tiles away": -50, "3 to 5 tiles away": 25, '
    '"1 to 3 tiles away": 50, "next to it or on it": 100, "target reached": 200}',
    True: "You get 200 for ending on the target, 100 for ending next to it, 50 for up to 3 tiles away, 25 for up to 5, "
    "-50 for up to 8 and -100 beyond; diagonal steps count as one. Every action costs {cost:g}.",
}


CHAT = "chat"  # the wording that is a conversation


class TileWording(Wording[TileMap, TileState, MovePlan]):
    """The map now and the next goal, in separate prompts or in a conversation (`CHAT`)."""

    rules_role = "system"

    def __init__(self, name: str, style: Style) -> None:
        self.name = name
        self.memory = Memory("chat" if name == CHAT else "fresh")
        self._style = style
        self._literal = style.protocol.literal and not style.single and not style.predicts
        self._request_text = self._request_sentence()
        self._tool = _action_tool(style)
        self.fields = (
            *_FIELDS,
            Field[View[TileState]](
                "request", "The request for a plan, with its form.", lambda view: self._request_text
            ),
        )

    def rules(self, instance: TileMap) -> str:
        """Return the sentence on the player's role."""
        return _ROLE_SINGLE if self._style.single else _ROLE

    def observe(self, state: TileState, last: Transition[TileState] | Invalid | None, turn: int) -> str:
        """Return the prompt for the next goal, the same again after an unreadable reply."""
        objective = _next_objective(state)
        if objective is None:
            return f"The map is over. {_feedback_text(state)}".strip()
        explains = self._style.protocol.explains
        is_new = last is None or self.memory.kind == "fresh"
        target = (
            f"the tile {objective.tile!r} at ({objective.row}, {objective.column})" if explains else _target_text(state)
        )
        parts = [
            f"The map:\n{_map_text(state)}",
            _constant_text(state.board) if is_new else "",
            *_being_rules(state),
            _TERMS.format(count="six" if self._style.doors else "four") if explains and is_new else "",
            f"The agent is at {_position_text(state)}.",
            f"Rewards: {_rewards_text(state)}" if is_new else "",
            _feedback_or_first_text(state),
            f"The target is {target}.",
            self._request_text,
        ]
        return "\n\n".join(filter(None, parts))

    def _request_sentence(self) -> str:
        """Return the request for a plan in the form of this way of playing."""
        style = self._style
        names = ", ".join(style.actions)
        request = "the next action" if style.single else "the whole sequence of actions that leads to the target"
        example = '["move_up"]' if style.single else '["move_up", "move_up", "move_left"]'
        if self._literal:
            return (
                f"The actions are {names}. Return {request}, strictly as a Python dictionary with the one entry "
                f"'action', such as {{'action': {example.replace(chr(34), chr(39))}}}."
            )
        if style.predicts:
            return (
                f"The actions are {names}. Return {request}, and the map as it will be afterwards, as JSON: "
                f'{{"action": {example}, "map": ["first row", "second row", ...]}}. The tile on which the agent '
                f"stands shows @; a tile that it leaves shows again what was there before it."
            )
        return f'The actions are {names}. Return {request} as JSON: {{"action": {example}}}.'

    def parse(self, reply: str, state: TileState) -> MovePlan | Invalid:
        """Read a plan; the game decides whether its names are actions."""
        style = self._style
        if self._literal:
            return read_published_plan(reply)
        return read_sound_plan(reply, single=style.single, predicts=style.predicts)

    def render(self, action: MovePlan, state: TileState) -> str:
        answer: dict[str, object] = {"action": list(action.names)}
        if action.drawing is not None:
            answer["map"] = action.drawing
        return json.dumps(answer)

    def tools(self, state: TileState) -> tuple[ActionTool, ...]:
        return (self._tool,)

    def parse_call(self, call: ToolCall, state: TileState) -> MovePlan:
        rows = call.arguments.get("map")
        return MovePlan(tuple(call.arguments["action"]), None if rows is None else "\n".join(rows))

    def render_call(self, action: MovePlan, state: TileState) -> ToolCall:
        rows = {} if action.drawing is None else {"map": action.drawing.split("\n")}
        return ToolCall(self._tool.name, {"action": list(action.names), **rows})


def _action_tool(style: Style) -> ActionTool:
    """Return the tool that takes the actions of a plan."""
    actions: Json = {
        "type": "array",
        "items": {"type": "string", "enum": list(style.actions)},
        "maxItems": 1 if style.single else MOST_NAMES,
        "description": "The next action, or none." if style.single else "The actions, in their order.",
    }
    parameters: dict[str, Json] = {"action": actions}
    if style.predicts:
        rows = {"type": "array", "items": {"type": "string"}, "description": "The rows of the map afterwards."}
        parameters["map"] = rows
    return ActionTool("act", "Carry out actions of the agent.", parameters)


def _being_rules(state: TileState) -> list[str]:
    """Return the paragraphs on the walkers, enemies, hazards and doors of a board; none if it has none of them."""
    crew, signs = state.board.style.crew, state.board.signs
    lines: list[str] = []
    if crew.walkers:
        lines.append(
            f"The tiles {signs[0]} are walkers. They make a random step with each action, and stand in the way."
        )
    if crew.enemies:
        lines.append(
            f"The tiles {signs[1]} are enemies. With each action they approach: each makes a step, half of the time "
            "towards the agent, otherwise a random one. An agent that meets an enemy is lost."
        )
    if crew.hazards:
        lines.append(f"The tiles {signs[2]} are hazards. An agent that steps on one is lost.")
    if crew.enemies or crew.hazards:
        lines.append(
            f"A lost agent ends the map, and costs {GIVEN_UP} for its objective and for each objective after it."
        )
    if state.board.locks:
        pairs = ", ".join(f"{lock.key_sign} is the key to the door {lock.door_sign}" for lock in state.board.locks)
        lines.append(
            f"Some objectives are locked in: {pairs}. Doors and the bars {state.board.bars} cannot be walked on, keys "
            "can. pick_up takes the key on whose tile the agent stands; open_door opens each door next to it whose key "
            "it carries. The agent keeps its keys, and an open door is ground. Both actions cost as much as a move."
        )
        lines.append(f"The agent carries {', '.join(['the key ' + sign for sign in state.keys]) or 'no key'}.")
    elif state.board.style.doors:
        lines.append("This map has no key and no door.")
    return lines


@lru_cache(maxsize=1024)
def _constant_text(map_board: TileBoard) -> str:
    """Return the part of the prompt that stays the same for a whole map."""
    return "\n\n".join(
        (
            f"What the characters stand for:\n{_tiles_json(map_board)}",
            f"Objectives, to be reached in this order:\n{_objectives_json(map_board)}",
            f"Tiles that can be walked on:\n{_walkable_text(map_board)}",
            f"Tiles of interactive objects:\n{map_board.case.interactive}",
            "The agent is the tile @.",
        )
    )


def _tiles_json(map_board: TileBoard) -> str:
    """Return what the characters stand for, as JSON."""
    return json.dumps(dict(map_board.case.tiles), ensure_ascii=False)


def _objectives_json(map_board: TileBoard) -> str:
    objectives = (map_board.case.objectives[number] for number in map_board.numbers)
    return json.dumps({objective.name: list(objective[1:]) for objective in objectives}, ensure_ascii=False)


def _walkable_text(map_board: TileBoard) -> str:
    return map_board.case.walkable if map_board.style.protocol.substring else json.dumps(list(map_board.walkable))


def _map_text(state: TileState) -> str:
    return "\n".join(state.rows())


def _position_text(state: TileState) -> str:
    return f"({state.row}, {state.column})"


def _next_objective(state: TileState) -> Objective | None:
    """Return the next objective; None where the map is over."""
    if state.goal >= len(state.board.goals) or state.over:
        return None
    return state.board.case.objectives[state.board.numbers[state.goal]]


def _target_text(state: TileState) -> str:
    """Return the next objective as ['tile', row, column]; "" where the map is over."""
    objective = _next_objective(state)
    return "" if objective is None else str([objective.tile, objective.row, objective.column])


def _rewards_text(state: TileState) -> str:
    if state.board.style.protocol.explains:
        return _REWARDS[True].format(cost=1 / state.board.per_point)
    return _REWARDS[False]


def _feedback_or_first_text(state: TileState) -> str:
    return _feedback_text(state) or "This is the first objective."


def _feedback_text(state: TileState) -> str:
    """Return the sentence on how the last plan ended; "" at the start."""
    last = state.last
    if last is None:
        return "" if state.goal == 0 else "No answer for the objective before this one could be read."
    if state.death:
        return (
            f"During your {last.actions} actions for this objective the agent {_DEATHS[state.death]}: it is lost. This "
            f"objective and each one after it cost {GIVEN_UP}."
        )
    objective = "this objective" if last.goal == state.goal else "the objective before this one"
    if last.rows == last.columns == 0:
        return f"Your {plural(last.actions, 'action')} for {objective} reached it."
    distance = f"{plural(last.rows, 'row')} and {plural(last.columns, 'column')} away from it"
    return f"Your {plural(last.actions, 'action')} for {objective} ended {distance}."


def _state_field(name: str, doc: str, of: Callable[[TileState], str]) -> Field[View[TileState]]:
    """Return a field of a prompt that depends on the state alone."""
    return Field[View[TileState]](name, doc, lambda view: of(view.state))


def _objective_text(part: Callable[[Objective], object]) -> Callable[[TileState], str]:
    """Return the function from a state to a text about its next objective, "" without one."""
    return lambda state: "" if (objective := _next_objective(state)) is None else str(part(objective))


_FIELDS = (
    _state_field("map", "The map as it is now, with the agent.", _map_text),
    _state_field("tiles", "What the characters stand for, as JSON.", lambda state: _tiles_json(state.board)),
    _state_field("objectives", "All objectives in their order, as JSON.", lambda state: _objectives_json(state.board)),
    _state_field("walkable", "The tiles that can be walked on.", lambda state: _walkable_text(state.board)),
    _state_field("interactive", "The tiles of interactive objects.", lambda state: state.board.case.interactive),
    _state_field(
        "beings", "The rules for creatures, hazards, keys and doors.", lambda state: "\n\n".join(_being_rules(state))
    ),
    _state_field("position", "Where the agent is, as (row, column).", _position_text),
    _state_field("rewards", "The rewards for plans that end near the target.", _rewards_text),
    _state_field("feedback", "How the last plan ended, or that this is the first objective.", _feedback_or_first_text),
    _state_field("target", "The next objective, as ['tile', row, column].", _target_text),
    _state_field("target_name", "The name of the next objective.", _objective_text(lambda objective: objective.name)),
    _state_field("target_tile", "The tile of the next objective.", _objective_text(lambda objective: objective.tile)),
    _state_field("target_row", "Its row, from 0 at the top.", _objective_text(lambda objective: objective.row)),
    _state_field(
        "target_column", "Its column, from 0 on the left.", _objective_text(lambda objective: objective.column)
    ),
    _state_field("height", "Number of rows.", lambda state: str(state.board.case.height)),
    _state_field("width", "Number of columns.", lambda state: str(state.board.case.width)),
)
