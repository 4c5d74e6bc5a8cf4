"""The words of the maze: prompts in several forms, and movements as a person types them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    ToolCall,
    Transition,
    View,
    Wording,
    is_array,
    is_object,
    json_excerpt,
    last_object,
    normal_name,
    object_schema,
)
from waybench.envs.maze._game import Maze, MazeState, Movement, MovePlan
from waybench.envs.spaces._lattice import DIRECTIONS

# Protocol text: the prompt as AliciaBench's description prints it (shared/papers/aliciabench.txt, "What do I ask the
# LLM in each request?"). {map} and {x},{y} stand where the description has maze 501's; {legend} stands for the two
# lines on the matrix, which the other representations replace, and {hint} for the exit's position, an option of ours.
_PROMPT = """\
I need to navigate through a maze, give me directions to help me find the exit.
<Maze map>
{map}
</Maze map>
{legend}
The maze has only one entrance and one exit. The entrance is located at position [{x},{y}] using a coordinate system \
[x,y], where the cell located in the upper left corner is [0,0].{hint}
Help me move towards the exit, considering that:
- I can only move in one direction: horizontal or vertical, but not diagonally
- I can move multiple cells in a single movement
Return a JSON containing information about the movements I should make to reach the exit. The JSON must have the \
following format: {{"movements": [{{"direction": <direction>, "cells": <cells>}}, {{"direction": <direction>, "cells": \
<cells>}}]}}, where
- direction: up, down, right, or left
- cells: number of cells I should move in each movement
Return only the JSON."""

_MATRIX_LEGEND = """\
The maze is a matrix, where cells represented by "1" are paths and cells represented by "0" are walls. I am the "X" \
symbol.
Each element of the matrix is a row of the maze, ordered from top to bottom."""
# End of the protocol text; all other words are ours.


S = TypeVar("S")


@dataclass(frozen=True)
class Representation(Generic[S]):
    """One way to write down a maze, or what is seen of one.

    Attributes:
        name: Its name as a wording.
        legend: How to read it.
        write: State -> the text.
    """

    name: str
    legend: str
    write: Callable[[S], str]


_ASCII = str.maketrans("01", "#.")


def place(maze: Maze, cell: int) -> str:
    """Return a cell as prompts write it, [x,y]."""
    x, y = maze.lattice.position(cell)
    return f"[{x},{y}]"


def _coordinates(state: MazeState) -> str:
    maze, at = state
    paths = " ".join(place(maze, cell) for cell, open_ in enumerate(maze.lattice.cells) if open_)
    return f"Size: {maze.size} x {maze.size}\nPaths: {paths}\nX: {place(maze, at)}"


def _prose(state: MazeState) -> str:
    maze, at = state
    lines = [f"The maze is {maze.size} cells wide and {maze.size} cells high. I stand at {place(maze, at)}."]
    for cell, open_ in enumerate(maze.lattice.cells):
        if open_:
            ways = [f"{direction} to {place(maze, neighbour)}" for direction, neighbour in maze.lattice.exits(cell)]
            directions = " and ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways) or "nowhere"
            lines.append(f"From {place(maze, cell)} a path leads {directions}.")
    return "\n".join(lines)


REPRESENTATIONS = {
    form.name: form
    for form in (
        Representation[MazeState](
            "matrix",
            _MATRIX_LEGEND,
            lambda state: f"[[{'],['.join(state.maze.lines(state.at, commas=True))}]]",
        ),
        Representation[MazeState](
            "ascii",
            'The maze is a drawing, where "." marks a path and "#" marks a wall. I am the "X" symbol.\n'
            "Each line is a row of the maze, ordered from top to bottom.",
            lambda state: "\n".join(state.maze.lines(state.at)).translate(_ASCII),
        ),
        Representation(
            "coordinates",
            "The maze is a list of the positions of all cells that are paths, row by row from top to bottom; every "
            "other cell is a wall. I am at the position after X.",
            _coordinates,
        ),
        Representation(
            "prose",
            "The text tells of each cell that is a path, to which neighbouring cells one can go from it; every cell it "
            "does not tell of is a wall.",
            _prose,
        ),
    )
}


_MOVE = ActionTool(
    "move",
    "Make movements through the maze, in their order.",
    {
        "movements": {
            "type": "array",
            "description": "The movements.",
            "items": object_schema(
                {
                    "direction": {
                        "type": "string",
                        "enum": list(DIRECTIONS),
                        "description": "Direction of the movement.",
                    },
                    "cells": {"type": "integer", "minimum": 1, "description": "Number of cells to move."},
                }
            ),
        }
    },
)


class MazeWording(Wording[Maze, MazeState, MovePlan]):
    """The published request for JSON, around one representation of the maze; `exit_hint` adds where the exit is."""

    def __init__(self, representation: Representation[MazeState], exit_hint: bool) -> None:
        self.name = representation.name
        self._form = representation
        self._exit_hint = exit_hint
        self.rule_fields = (
            Field[Maze](
                "maze",
                "The maze, as the base wording writes it.",
                lambda maze: representation.write(MazeState(maze, maze.entrance)),
            ),
            Field[Maze]("legend", "How to read it.", lambda maze: representation.legend),
            Field[Maze]("hint", "A sentence that says where the exit is, if exit_hint is on.", self._hint),
            Field[Maze]("entrance", "The entrance, as [x,y].", lambda maze: place(maze, maze.entrance)),
            Field[Maze]("exit", "The exit, as [x,y].", lambda maze: place(maze, maze.exit)),
            Field[Maze]("dimension", "Number of rows and of columns.", lambda maze: str(maze.size)),
        )
        self.fields = (
            Field[View[MazeState]](
                "maze", "The maze, with the player where it is now.", lambda view: representation.write(view.state)
            ),
            Field[View[MazeState]](
                "position", "Where the player is, as [x,y].", lambda view: place(view.state.maze, view.state.at)
            ),
            Field[View[MazeState]](
                "feedback", "What the last reply led to.", lambda view: _feedback(view.state, view.last)
            ),
            *(self._view_field(field) for field in self.rule_fields if field.name != "maze"),
        )

    @staticmethod
    def _view_field(field: Field[Maze]) -> Field[View[MazeState]]:
        return Field(field.name, field.doc, lambda view: field.of(view.state.maze))

    def _hint(self, maze: Maze) -> str:
        return f" The exit is located at position {place(maze, maze.exit)}." if self._exit_hint else ""

    def rules(self, instance: Maze) -> str:
        x, y = instance.lattice.position(instance.entrance)
        text, legend = self._form.write(MazeState(instance, instance.entrance)), self._form.legend
        return _PROMPT.format(map=text, legend=legend, x=x, y=y, hint=self._hint(instance))

    def observe(self, state: MazeState, last: Transition[MazeState] | Invalid | None, turn: int) -> str:
        """Return the answer to a reply: what went wrong or is still missing, the map now, and the request for JSON."""
        if last is None:
            return ""
        feedback = _feedback(state, last)
        if not isinstance(last, Invalid) and state.at == state.maze.exit:
            return feedback
        return (
            f"{feedback}\n<Maze map>\n{self._form.write(state)}\n</Maze map>\n"
            "Give me directions from where I am now to the exit. Return only the JSON, in the same format as before."
        )

    def parse(self, reply: str, state: MazeState) -> MovePlan | Invalid:
        """Read the last JSON object with "movements" in a reply; see `waybench.core.last_object` for what counts."""
        reply_object = last_object(reply, "movements", unique=True)
        if isinstance(reply_object, Invalid):
            return reply_object
        entries = reply_object["movements"]
        if not is_array(entries):
            return Invalid(f'"movements" must be a list of objects, not {json_excerpt(entries)}.')
        plan: list[Movement] = []
        for number, entry in enumerate(entries, start=1):
            movement = _movement(entry)
            if isinstance(movement, str):
                return Invalid(f"Movement {number}: {movement}.")
            plan.append(movement)
        return tuple(plan)

    def render(self, action: MovePlan, state: MazeState) -> str:
        movements = ", ".join(f'{{"direction": "{direction}", "cells": {cells}}}' for direction, cells in action)
        return f'{{"movements": [{movements}]}}'

    def tools(self, state: MazeState) -> tuple[ActionTool, ...]:
        return (_MOVE,)

    def parse_call(self, call: ToolCall, state: MazeState) -> MovePlan:
        return tuple(Movement(entry["direction"], entry["cells"]) for entry in call.arguments["movements"])

    def render_call(self, action: MovePlan, state: MazeState) -> ToolCall:
        return ToolCall(_MOVE.name, {"movements": [movement._asdict() for movement in action]})


def _feedback(state: MazeState, last: Transition[MazeState] | Invalid | None) -> str:
    """Return what the last reply led to; "" before the first one."""
    if last is None:
        return ""
    here = place(state.maze, state.at)
    if isinstance(last, Invalid):
        return f"I could not follow your directions, so I have not moved. {last.reason}"
    if state.at == state.maze.exit:
        return f"I have reached the exit at {here}."
    if blocked := last.events.get("illegal"):
        obstacle = "it goes through a wall" if blocked["obstacle"] == "wall" else "it leaves the maze"
        before = "I have not moved" if blocked["movement"] == 1 else "I have made only the movements before it"
        return (
            f"Movement {blocked['movement']} (direction: {blocked['direction']}, cells: {blocked['cells']}) is not "
            f"viable: {obstacle}. {before}, and I am now at position {here}."
        )
    return f"I have made all the movements, but I have not reached the exit yet. I am now at position {here}."


def _movement(entry: Any) -> Movement | str:
    """Read one entry of the list, or say in a phrase what is wrong with it."""
    if not is_object(entry) or "direction" not in entry or "cells" not in entry:
        return 'it must be an object with "direction" and "cells"'
    if (duplicate := getattr(entry, "duplicate", None)) is not None:
        return f"it has the key {json_excerpt(duplicate)} twice"
    direction, cells = entry["direction"], entry["cells"]
    if not isinstance(direction, str) or normal_name(direction) not in DIRECTIONS:
        return f"the direction must be up, down, right or left, not {json_excerpt(direction)}"
    if type(cells) is float and cells.is_integer() and cells < 1e18:
        cells = int(cells)  # 2.0 and 2 are the same number in JSON
    if type(cells) is not int or cells < 1:
        return f"cells must be a whole number of at least 1, not {json_excerpt(cells)}"
    return Movement(normal_name(direction), cells)


TYPED_HELP = "Type movements as d3 l2 d1 or down 3, left 2, down 1 (d, u, l, r), or the reply itself."

TYPED_DIRECTIONS: Mapping[str, str] = {name[0]: name for name in DIRECTIONS} | {name: name for name in DIRECTIONS}
_NAMES = "|".join(sorted(TYPED_DIRECTIONS, key=len, reverse=True))
_MOVEMENT = re.compile(rf"({_NAMES})[ :]*([1-9][0-9]{{0,5}})?[\s,;.]*", re.IGNORECASE)
_MOST_CHARACTERS = 100_000


def parse_typed(text: str, state: MazeState) -> MovePlan | None:
    """Return the plan that ``d3 l2``, ``down 3, left 2`` or ``ddd`` stands for; None for any other text."""
    plan: list[Movement] = []
    at, text = 0, text.strip()[:_MOST_CHARACTERS]
    while at < len(text):
        match = _MOVEMENT.match(text, at)
        if match is None:
            return None
        plan.append(Movement(TYPED_DIRECTIONS[match[1].lower()], int(match[2] or 1)))
        at = match.end()
    return tuple(plan) or None


def format_typed(plan: MovePlan) -> Sequence[str]:
    """Return the movements of a plan, such as "down 3" and "left 2"."""
    return [f"{direction} {cells}" for direction, cells in plan]
