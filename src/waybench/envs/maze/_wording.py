"""The words of the maze: prompts in several forms, and movements as a person types them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    Json,
    Texts,
    ToolCall,
    Transition,
    View,
    Wording,
    is_array,
    is_object,
    json_excerpt,
    last_json_object,
    normalize_name,
    object_schema,
    texts_in,
)
from waybench.envs.maze._game import (
    TURNS,
    Maze,
    MazeState,
    Movement,
    MovePlan,
    direction_after_turn,
    start,
    turn_between,
)
from waybench.envs.maze._texts import TEXTS
from waybench.envs.spaces._lattice import DIRECTIONS

S = TypeVar("S")


@dataclass(frozen=True)
class Representation(Generic[S]):
    """One way to write down a maze, or the visible part of a maze.

    Attributes:
        name: Its name as a wording.
        legend: How to read it.
        write: State -> the text.
    """

    name: str
    legend: str
    write: Callable[[S], str]


_ASCII = str.maketrans("01", "#.")


def cell_text(maze: Maze, cell: int) -> str:
    """Return the text of a cell in prompts, [x,y]."""
    x, y = maze.lattice.position(cell)
    return f"[{x},{y}]"


def _coordinates_text(state: MazeState, texts: Texts) -> str:
    maze, at = state.maze, state.at
    paths = " ".join(cell_text(maze, cell) for cell, open_ in enumerate(maze.lattice.cells) if open_)
    size = {"width": maze.lattice.width, "height": maze.lattice.height}
    return texts.fill("coordinates", **size, paths=paths, place=cell_text(maze, at))


def _prose_text(state: MazeState, texts: Texts) -> str:
    maze, at = state.maze, state.at
    size = {"width": maze.lattice.width, "height": maze.lattice.height}
    lines = [texts.fill("prose.opening", **size, place=cell_text(maze, at))]
    for cell, is_open in enumerate(maze.lattice.cells):
        if is_open:
            ways = [
                texts.fill("prose.way", direction=texts[f"direction.{direction}"], place=cell_text(maze, neighbour))
                for direction, neighbour in maze.lattice.exits(cell)
            ]
            joined_ways = ways[-1] if ways else texts["prose.nowhere"]
            if len(ways) > 1:
                joined_ways = texts.fill("prose.last_way", ways=", ".join(ways[:-1]), way=ways[-1])
            lines.append(texts.fill("prose.cell", place=cell_text(maze, cell), ways=joined_ways))
    return "\n".join(lines)


def representations(texts: Texts) -> dict[str, Representation[MazeState]]:
    """Return the representations of mazes by name, in the language of the texts."""
    writers: dict[str, Callable[[MazeState], str]] = {
        "matrix": lambda state: f"[[{'],['.join(state.maze.lines(state.at, commas=True))}]]",
        "ascii": lambda state: "\n".join(state.maze.lines(state.at)).translate(_ASCII),
        "coordinates": lambda state: _coordinates_text(state, texts),
        "prose": lambda state: _prose_text(state, texts),
    }
    return {name: Representation(name, texts[f"legend.{name}"], write) for name, write in writers.items()}


ENGLISH = texts_in("en", TEXTS)
REPRESENTATIONS = representations(ENGLISH)


def _move_tool(key: str, words: Sequence[str], doc: str, texts: Texts) -> ActionTool:
    """Return the tool for a list of movements; `key` names the field of directions, `words` are its values."""
    direction: Json = {"type": "string", "enum": list(words), "description": doc}
    cells: Json = {"type": "integer", "minimum": 1, "description": texts["tool.cells"]}
    movement = object_schema({key: direction, "cells": cells})
    parameters = {"movements": {"type": "array", "description": texts["tool.movements"], "items": movement}}
    return ActionTool("move", texts["tool.doc"], parameters)


class MazeWording(Wording[Maze, MazeState, MovePlan]):
    """The published request for JSON, around one representation of the maze; `exit_hint` adds where the exit is.

    In the body's frame (`body`) a movement in a reply has a turn in place of a direction, and the messages say where
    the player faces. The maze and the actions of the game are the same in both frames.
    """

    def __init__(
        self,
        representation: Representation[MazeState],
        exit_hint: bool,
        texts: Texts = ENGLISH,
        *,
        body: bool = False,
    ) -> None:
        self.name, self.texts, self._body = representation.name, texts, body
        self._compass = {name: texts[f"direction.{name}"] for name in DIRECTIONS}
        self._words = {name: texts[f"turn.{name}"] for name in TURNS} if body else self._compass
        self._names = {normalize_name(word): name for name, word in self._words.items()}
        self._key = "turn" if body else "direction"
        self._tool = _move_tool(self._key, list(self._words.values()), self._frame_text("tool.direction"), texts)
        self._form = representation
        self._exit_hint = exit_hint
        self.rule_fields = (
            Field[Maze](
                "maze",
                "The maze, as the base wording writes it.",
                lambda maze: representation.write(start(maze)),
            ),
            Field[Maze]("legend", "How to read it.", lambda maze: representation.legend),
            Field[Maze]("hint", "A sentence that says where the exit is, if exit_hint is on.", self._hint_text),
            Field[Maze]("entrance", "The entrance, as [x,y].", lambda maze: cell_text(maze, maze.entrance)),
            Field[Maze]("exit", "The exit, as [x,y].", lambda maze: cell_text(maze, maze.exit)),
            Field[Maze](
                "dimension", "Number of rows and of columns, of the more of them.", lambda maze: str(maze.size)
            ),
            Field[Maze]("rows", "Number of rows.", lambda maze: str(maze.lattice.height)),
            Field[Maze]("columns", "Number of columns.", lambda maze: str(maze.lattice.width)),
            Field[Maze](
                "facing",
                "In the body's frame, which way the player faces.",
                lambda maze: self._facing_text(start(maze)),
            ),
        )
        self.fields = (
            Field[View[MazeState]](
                "maze", "The maze, with the player where it is now.", lambda view: representation.write(view.state)
            ),
            Field[View[MazeState]](
                "position", "Where the player is, as [x,y].", lambda view: cell_text(view.state.maze, view.state.at)
            ),
            Field[View[MazeState]](
                "feedback", "What the last reply led to.", lambda view: self._feedback_text(view.state, view.last)
            ),
            Field[View[MazeState]](
                "facing", "In the body's frame, which way the player faces.", lambda view: self._facing_text(view.state)
            ),
            *(self._view_field(field) for field in self.rule_fields if field.name not in ("maze", "facing")),
        )

    @staticmethod
    def _view_field(field: Field[Maze]) -> Field[View[MazeState]]:
        return Field(field.name, field.doc, lambda view: field.of(view.state.maze))

    def _hint_text(self, maze: Maze) -> str:
        """Return the sentence on where the exit is, if `exit_hint` is on; otherwise ""."""
        return self.texts.fill("hint", exit=cell_text(maze, maze.exit)) if self._exit_hint else ""

    def _facing_text(self, state: MazeState) -> str:
        """Return, in the body's frame, the sentence on where the player faces; otherwise ""."""
        return self.texts.fill("facing", direction=self._compass[state.facing]) if self._body else ""

    def _frame_text(self, name: str) -> str:
        """Return a text by its name; in the body's frame, the body's version."""
        return self.texts[f"body.{name}" if self._body else name]

    def in_language(self, texts: Texts) -> "MazeWording":
        return MazeWording(representations(texts)[self.name], self._exit_hint, texts, body=self._body)

    def rules(self, instance: Maze) -> str:
        x, y = instance.lattice.position(instance.entrance)
        fields = {"map": self._form.write(start(instance)), "legend": self._form.legend, "x": x, "y": y}
        fields["hint"] = self._hint_text(instance)
        if self._body:
            return self.texts.fill("body.prompt", **fields, facing=self._facing_text(start(instance)))
        return self.texts.fill("prompt", **fields)

    def observe(self, state: MazeState, last: Transition[MazeState] | Invalid | None, turn: int) -> str:
        """Return the answer to a reply: what went wrong or is still missing, the map now, and the request for JSON."""
        if last is None:
            return ""
        feedback = self._feedback_text(state, last)
        if not isinstance(last, Invalid) and state.at == state.maze.exit:
            return feedback
        return self.texts.fill("later", feedback=feedback, map=self._form.write(state))

    def parse(self, reply: str, state: MazeState) -> MovePlan | Invalid:
        """Read the last JSON object with "movements" in a reply; see `waybench.core.last_json_object`."""
        reply_object = last_json_object(reply, "movements", unique=True, texts=self.texts)
        if isinstance(reply_object, Invalid):
            return reply_object
        entries = reply_object["movements"]
        if not is_array(entries):
            return Invalid(self.texts.fill("reason.list", value=json_excerpt(entries, self.texts)))
        movements: list[Movement] = []
        for number, entry in enumerate(entries, start=1):
            movement = self._read_movement(entry)
            if isinstance(movement, str):
                return Invalid(self.texts.fill("reason.movement", number=number, problem=movement))
            movements.append(movement)
        return self._with_map_directions(movements, state)

    def _with_map_directions(self, movements: Sequence[Movement], state: MazeState) -> MovePlan:
        """Return movements in the frame as a plan with directions of the map."""
        if not self._body:
            return tuple(movements)
        plan: list[Movement] = []
        facing = state.facing
        for turn, cells in movements:
            facing = direction_after_turn(facing, turn)
            plan.append(Movement(facing, cells))
        return tuple(plan)

    def _movement_objects(self, plan: MovePlan, state: MazeState) -> list[dict[str, str | int]]:
        """Return a plan as the list of objects in a reply, in the frame."""
        objects: list[dict[str, str | int]] = []
        facing = state.facing
        for direction, cells in plan:
            name = turn_between(facing, direction) if self._body else direction
            objects.append({self._key: self._words[name], "cells": cells})
            facing = direction
        return objects

    def render(self, action: MovePlan, state: MazeState) -> str:
        return json.dumps({"movements": self._movement_objects(action, state)}, ensure_ascii=False)

    def tools(self, state: MazeState) -> tuple[ActionTool, ...]:
        return (self._tool,)

    def parse_call(self, call: ToolCall, state: MazeState) -> MovePlan:
        entries = call.arguments["movements"]
        movements = [Movement(self._names[normalize_name(entry[self._key])], entry["cells"]) for entry in entries]
        return self._with_map_directions(movements, state)

    def render_call(self, action: MovePlan, state: MazeState) -> ToolCall:
        return ToolCall(self._tool.name, {"movements": self._movement_objects(action, state)})

    def _feedback_text(self, state: MazeState, last: Transition[MazeState] | Invalid | None) -> str:
        """Return the answer to the last reply; "" before the first one."""
        if last is None:
            return ""
        feedback = self._outcome_text(state, last)
        is_over = not isinstance(last, Invalid) and state.at == state.maze.exit
        return f"{feedback} {self._facing_text(state)}" if self._body and not is_over else feedback

    def _outcome_text(self, state: MazeState, last: Transition[MazeState] | Invalid) -> str:
        """Return the sentence on the outcome of the last reply."""
        texts, here = self.texts, cell_text(state.maze, state.at)
        if isinstance(last, Invalid):
            return texts.fill("feedback.invalid", reason=last.reason)
        if state.at == state.maze.exit:
            return texts.fill("feedback.solved", place=here)
        if blocked := last.events.get("illegal"):
            name = turn_between(state.facing, blocked["direction"]) if self._body else blocked["direction"]
            return texts.fill(
                "body.feedback.illegal" if self._body else "feedback.illegal",
                **{self._key: self._words[name]},  # the turn or the direction
                number=blocked["movement"],
                cells=blocked["cells"],
                obstacle=texts["feedback.wall" if blocked["obstacle"] == "wall" else "feedback.outside"],
                before=texts["feedback.first" if blocked["movement"] == 1 else "feedback.later"],
                place=here,
            )
        return texts.fill("feedback.short", place=here)

    def _read_movement(self, entry: Any) -> Movement | str:
        """Return one entry of a reply's list as a movement in the frame, or a phrase on what is wrong with it."""
        texts, key = self.texts, self._key
        if not is_object(entry) or key not in entry or "cells" not in entry:
            return self._frame_text("reason.object")
        if (duplicate := getattr(entry, "duplicate", None)) is not None:
            return texts.fill("reason.twice", key=json_excerpt(duplicate, texts))
        direction, cells = entry[key], entry["cells"]
        if not isinstance(direction, str) or normalize_name(direction) not in self._names:
            reason = "body.reason.direction" if self._body else "reason.direction"
            return texts.fill(reason, value=json_excerpt(direction, texts))
        if type(cells) is float and cells.is_integer() and cells < 1e18:
            cells = int(cells)  # 2.0 and 2 are the same number in JSON
        if type(cells) is not int or cells < 1:
            return texts.fill("reason.cells", value=json_excerpt(cells, texts))
        return Movement(self._names[normalize_name(direction)], cells)


TYPED_HELP = "Type movements as d3 l2 d1 or down 3, left 2, down 1 (d, u, l, r), or the reply itself."

TYPED_DIRECTIONS: Mapping[str, str] = {name[0]: name for name in DIRECTIONS} | {name: name for name in DIRECTIONS}
_NAMES = "|".join(sorted(TYPED_DIRECTIONS, key=len, reverse=True))
_MOVEMENT = re.compile(rf"({_NAMES})[ :]*([1-9][0-9]{{0,5}})?[\s,;.]*", re.IGNORECASE)
_MOST_CHARACTERS = 100_000


def parse_typed(text: str, state: MazeState) -> MovePlan | None:
    """Return the plan of a text such as ``d3 l2``, ``down 3, left 2`` or ``ddd``; None for any other text."""
    plan: list[Movement] = []
    position, text = 0, text.strip()[:_MOST_CHARACTERS]
    while position < len(text):
        match = _MOVEMENT.match(text, position)
        if match is None:
            return None
        plan.append(Movement(TYPED_DIRECTIONS[match[1].lower()], int(match[2] or 1)))
        position = match.end()
    return tuple(plan) or None


def plan_route(state: MazeState, plan: MovePlan) -> Sequence[tuple[int, int]]:
    """Return the cells (row, column) that a plan leads over; walls do not stop it, but the border does."""
    lattice = state.maze.lattice
    x, y = lattice.position(state.at)
    cells: list[tuple[int, int]] = []
    for direction, count in plan:
        dx, dy = DIRECTIONS[direction]
        for _ in range(count):
            if not (0 <= x + dx < lattice.width and 0 <= y + dy < lattice.height):
                break
            x, y = x + dx, y + dy
            cells.append((y, x))
    return cells


def format_typed(plan: MovePlan) -> Sequence[str]:
    """Return the movements of a plan, such as "down 3" and "left 2"."""
    return [f"{direction} {cells}" for direction, cells in plan]
