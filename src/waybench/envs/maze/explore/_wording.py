"""The words of the partly seen maze: what is seen now, as a drawing or a matrix, or everything seen so far."""

from collections.abc import Callable
from dataclasses import dataclass

from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    Memory,
    ToolCall,
    Transition,
    View,
    Wording,
    last_object,
    normal_name,
    shown,
)
from waybench.envs.maze._game import Maze
from waybench.envs.maze._wording import place
from waybench.envs.maze.explore._game import Sight, exit_side
from waybench.envs.spaces import DIRECTIONS

_RULES = """\
I am in a maze of which I see only a part. Help me to reach the exit.
The maze is {size} cells wide and {size} cells high. Positions are [x,y], and the cell in the upper left corner is \
[0,0]. I start at the entrance, at [{x},{y}]. There is one exit. It is on the {side} side, but I do not know where.
I always see the {window} x {window} cells with me in the middle. Walls do not block my view.
{legend}
In each turn I can move by one cell: up, down, left or right, but not diagonally.
Answer each message with a JSON of the format {{"move": <direction>}}, where <direction> is up, down, left or right. \
Return only the JSON."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write down what is seen.

    Attributes:
        name: Its name as a wording.
        legend: How to read it.
        write: What is known -> the view.
    """

    name: str
    legend: str
    write: Callable[[Sight], str]


def _sign(sight: Sight, x: int, y: int) -> str:
    """Return the sign of a cell, which can lie outside the maze."""
    maze = sight.maze
    if not (0 <= x < maze.size and 0 <= y < maze.size):
        return "#"
    cell = y * maze.size + x
    if cell == sight.at:
        return "X"
    if not sight.knows(cell):
        return "?"
    return "E" if cell == maze.exit else "." if maze.lattice.cells[cell] else "#"


def window_rows(sight: Sight) -> list[str]:
    """Return the rows of what is seen now: "." a path, "#" none, "X" the player, "E" the exit."""
    (x, y), half = sight.maze.lattice.position(sight.at), sight.window // 2
    return [
        "".join(_sign(sight, column, row) for column in range(x - half, x + half + 1))
        for row in range(y - half, y + half + 1)
    ]


def map_rows(sight: Sight) -> list[str]:
    """Return the rows of the whole maze, with "?" for what was not seen."""
    size = range(sight.maze.size)
    return ["".join(_sign(sight, x, y) for x in size) for y in size]


_IN_MATRIX = {".": "1", "#": "0", "X": '"X"', "E": '"E"'}


def _matrix(sight: Sight) -> str:
    return "[" + ",".join("[" + ",".join(_IN_MATRIX[sign] for sign in row) + "]" for row in window_rows(sight)) + "]"


FORMS = {
    form.name: form
    for form in (
        Form(
            "ascii",
            'The view is a drawing of these cells, one row in each line, from top to bottom: "." is a path, "#" is a '
            'wall or lies outside the maze, "X" is where I am, and "E" is the exit.',
            lambda sight: "\n".join(window_rows(sight)),
        ),
        Form(
            "matrix",
            "The view is a matrix of these cells, whose elements are the rows, from top to bottom: 1 is a path, 0 is a "
            'wall or lies outside the maze, "X" is where I am, and "E" is the exit.',
            _matrix,
        ),
        Form(
            "map",
            "The view is a drawing of the whole maze with everything that I have seen so far, one row in each line, "
            'from top to bottom: "." is a path, "#" is a wall, "?" was not seen yet, "X" is where I am, and "E" is the '
            "exit.",
            lambda sight: "\n".join(map_rows(sight)),
        ),
    )
}

_MOVE = ActionTool(
    "move",
    "Move by one cell.",
    {"direction": {"type": "string", "enum": list(DIRECTIONS), "description": "Direction of the move."}},
)


class ExploreWording(Wording[Maze, Sight, str]):
    """A request for one move after another, as JSON.

    Args:
        form: How the view is written.
        window: Cells along each side of what is seen.
        memory: How much of the episode each prompt repeats.
    """

    def __init__(self, form: Form, window: int, memory: Memory) -> None:
        self.name, self.memory = form.name, memory
        self._form, self._window = form, window
        self.rule_fields = (
            Field[Maze]("legend", "How to read the view.", lambda maze: form.legend),
            Field[Maze]("dimension", "Number of rows and of columns.", lambda maze: str(maze.size)),
            Field[Maze]("entrance", "The entrance, as [x,y].", lambda maze: place(maze, maze.entrance)),
            Field[Maze]("side", "The side that the exit is on.", exit_side),
            Field[Maze]("window", "Cells along each side of what is seen.", lambda maze: str(window)),
        )
        self.fields = (
            Field[View[Sight]]("view", "What is seen.", lambda view: form.write(view.state)),
            Field[View[Sight]](
                "position", "Where the player is, as [x,y].", lambda view: place(view.state.maze, view.state.at)
            ),
            Field[View[Sight]](
                "feedback", "What the last reply led to.", lambda view: _feedback(view.state, view.last)
            ),
        )

    def rules(self, instance: Maze) -> str:
        """Return what is known before the first look, and the format of replies."""
        x, y = instance.lattice.position(instance.entrance)
        return _RULES.format(
            size=instance.size, x=x, y=y, side=exit_side(instance), window=self._window, legend=self._form.legend
        )

    def observe(self, state: Sight, last: Transition[Sight] | Invalid | None, turn: int) -> str:
        """Return what the last reply led to, the position and the view."""
        feedback = _feedback(state, last)
        if state.at == state.maze.exit:
            return feedback
        here = f"I am at {place(state.maze, state.at)}. The view:\n{self._form.write(state)}"
        return f"{feedback} {here}" if feedback else here

    def parse(self, reply: str, state: Sight) -> str | Invalid:
        """Read the last JSON object with "move" in a reply; see `waybench.core.last_object` for what counts."""
        reply_object = last_object(reply, "move", unique=True)
        if isinstance(reply_object, Invalid):
            return reply_object
        move = reply_object["move"]
        if not isinstance(move, str) or normal_name(move) not in DIRECTIONS:
            return Invalid(f'"move" must be up, down, left or right, not {shown(move)}.')
        return normal_name(move)

    def render(self, action: str, state: Sight) -> str:
        """Return the move as JSON."""
        return f'{{"move": "{action}"}}'

    def action_name(self, action: str, state: Sight) -> str:
        """Return the direction."""
        return action

    def tools(self, state: Sight) -> tuple[ActionTool, ...]:
        """Return the tool that takes a move."""
        return (_MOVE,)

    def parse_call(self, call: ToolCall, state: Sight) -> str:
        """Read a move."""
        return call.arguments["direction"]

    def render_call(self, action: str, state: Sight) -> ToolCall:
        """Return a call with the move."""
        return ToolCall(_MOVE.name, {"direction": action})


def _feedback(state: Sight, last: Transition[Sight] | Invalid | None) -> str:
    """Return what the last reply led to; "" before the first one."""
    if last is None:
        return ""
    if isinstance(last, Invalid):
        return f"I could not follow your answer, so I have not moved. {last.reason}"
    if state.at == state.maze.exit:
        return f"I have reached the exit at {place(state.maze, state.at)}."
    obstacle = last.events.get("obstacle")
    if obstacle is not None:
        what = "there is a wall" if obstacle == "wall" else "the maze ends there"
        return f"I cannot move in this direction, since {what}. I have not moved."
    return "I have moved."
