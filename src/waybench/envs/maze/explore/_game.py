"""The partly seen maze: what was seen of it, the rules of walking through it, and the words."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import (
    ActionTool,
    DataError,
    End,
    Field,
    Game,
    GameProperties,
    Invalid,
    Json,
    Memory,
    Outcome,
    Stream,
    ToolCall,
    Transition,
    View,
    Wording,
    json_excerpt,
    last_json_object,
    normalize_name,
)
from waybench.envs.maze._game import CLOCKWISE, Maze, inward_direction
from waybench.envs.maze._wording import Representation, cell_text
from waybench.envs.spaces._lattice import DIRECTIONS, Lattice


class Sight(NamedTuple):
    """What a player knows of a maze.

    Attributes:
        at: The player's cell number.
        seen: The cells seen so far, as bits of a number.
        window: Cells along each side of the visible window, an odd number.
        before: The cell where the player stood before its last move; -1 at the start.
    """

    maze: Maze
    at: int
    seen: int
    window: int
    before: int = -1

    def knows(self, cell: int) -> bool:
        """Return whether a cell was seen."""
        return bool(self.seen >> cell & 1)

    def after_move(self, cell: int) -> "Sight":
        """Return what the player knows after a move to a cell."""
        seen = self.seen | window_mask(self.maze.size, cell, self.window)
        return Sight(self.maze, cell, seen, self.window, self.at)


def first_sight(maze: Maze, window: int) -> Sight:
    """Return the player's knowledge at the entrance."""
    return Sight(maze, maze.entrance, window_mask(maze.size, maze.entrance, window), window)


@lru_cache(maxsize=1 << 14)
def window_cells(size: int, cell: int, width: int) -> tuple[int, ...]:
    """Return the numbers of the cells in a square window of odd `width` around a cell, clipped to the maze."""
    x, y, half = cell % size, cell // size, width // 2
    return tuple(
        row * size + column
        for row in range(max(0, y - half), min(size, y + half + 1))
        for column in range(max(0, x - half), min(size, x + half + 1))
    )


@lru_cache(maxsize=1 << 14)
def window_mask(size: int, at: int, window: int) -> int:
    """Return the cells of `window_cells` as bits of a number."""
    return sum(1 << cell for cell in window_cells(size, at, window))


@lru_cache(maxsize=256)
def directions_inwards_first(maze: Maze) -> tuple[str, ...]:
    """Return the four directions clockwise from the one into the maze, the same way in rotated mazes."""
    first = CLOCKWISE.index(inward_direction(maze, maze.entrance))
    return CLOCKWISE[first:] + CLOCKWISE[:first]


def exit_side(maze: Maze) -> str:
    """Return the side that the exit is on: "top", "bottom", "left" or "right"."""
    x, y = maze.lattice.position(maze.exit)
    return "top" if y == 0 else "bottom" if y == maze.size - 1 else "left" if x == 0 else "right"


def known_distances(sight: Sight, start: int) -> dict[int, int]:
    """Return the distances from a cell, over open cells that were seen, to all cells within reach, nearest first."""
    seen, neighbours = sight.seen, open_neighbours(sight.maze)
    distances, queue = {start: 0}, [start]
    for cell in queue:  # the list grows meanwhile
        for neighbour in neighbours[cell]:
            if neighbour not in distances and seen >> neighbour & 1:
                distances[neighbour] = distances[cell] + 1
                queue.append(neighbour)
    return distances


@lru_cache(maxsize=64)
def open_neighbours(maze: Maze) -> tuple[tuple[int, ...], ...]:
    """Return the open neighbours of each cell, in the order of `directions_inwards_first`."""
    directions = directions_inwards_first(maze)
    exits_by_cell = [dict(maze.lattice.exits(cell)) for cell in range(len(maze.lattice.cells))]
    return tuple(tuple(exits[name] for name in directions if name in exits) for exits in exits_by_cell)


@lru_cache(maxsize=64)
def _neighbour_masks(size: int) -> tuple[int, ...]:
    """Return for each cell its neighbours as bits of a number, walls or not."""
    lattice = Lattice(size, size, bytes(size * size))
    masks: list[int] = []
    for cell in range(size * size):
        neighbours = (lattice.neighbour_cell(cell, direction) for direction in DIRECTIONS)
        masks.append(sum(1 << neighbour for neighbour in neighbours if neighbour is not None))
    return tuple(masks)


def frontier_cells(sight: Sight, cells: Iterable[int]) -> list[int]:
    """Return those of some cells, in their order, that have an unseen neighbour."""
    neighbour_masks, unseen = _neighbour_masks(sight.maze.size), ~sight.seen
    return [cell for cell in cells if neighbour_masks[cell] & unseen]


EXPLORING, EXPLOITING = "exploring", "exploiting"


class ExploreGame(Game[Maze, Sight, str]):
    """Each action is a move by one cell; a move into a wall or out of the maze is illegal and changes nothing.

    Events of each turn: `at` ([x, y]), `window`, and `seen`, how many of the cells that can be reached were seen so
    far. A move also has its `phase`: "exploiting" if the exit was seen and could be reached over cells that were seen,
    or else "exploring", and `error` (see `judge_move`). An illegal move has its `obstacle`: "wall" or "outside".

    Args:
        window: Cells along each side of what is seen, an odd number.
    """

    properties = GameProperties(deterministic=True, turns=None, reward=(0.0, 1.0))

    def __init__(self, window: int) -> None:
        self._window = window

    def start(self, instance: Maze) -> Sight:
        return first_sight(instance, self._window)

    def legal(self, state: Sight) -> Sequence[str]:
        return () if self.terminal(state) else [direction for direction, _ in state.maze.lattice.exits(state.at)]

    def apply(self, state: Sight, action: str, rng: Stream) -> Transition[Sight]:
        """Move; the reward is 1 for reaching the exit, and an error is unproductive."""
        lattice = state.maze.lattice
        cell = lattice.neighbour_cell(state.at, action)
        if cell is None or not lattice.cells[cell]:
            events = {**_turn_events(state), "obstacle": "outside" if cell is None else "wall"}
            return Transition(state, 0.0, events, Outcome.ILLEGAL)
        phase, is_error = judge_move(state, cell)
        after = state.after_move(cell)
        events = {**_turn_events(after), "phase": phase, "error": is_error}
        outcome = Outcome.UNPRODUCTIVE if is_error else Outcome.OK
        return Transition(after, float(cell == state.maze.exit), events, outcome)

    def terminal(self, state: Sight) -> End | None:
        return End.SOLVED if state.at == state.maze.exit else None

    def encode(self, action: str) -> Json:
        return action

    def decode(self, action: Json) -> str:
        if not isinstance(action, str) or action not in DIRECTIONS:
            raise DataError('action: give "up", "down", "left" or "right"')
        return action


def _turn_events(state: Sight) -> dict[str, Json]:
    """Return the events of every turn: position, window, and number of reachable cells seen."""
    seen_count = (state.seen & reachable_cells(state.maze)).bit_count()
    return {"at": list(state.maze.lattice.position(state.at)), "window": state.window, "seen": seen_count}


@lru_cache(maxsize=64)
def reachable_cells(maze: Maze) -> int:
    """Return the cells that can be reached from the entrance, as bits of a number."""
    distances = maze.lattice.distances(maze.entrance)  # -1 out of reach
    return sum(1 << cell for cell, distance in enumerate(distances) if distance >= 0)


def judge_move(sight: Sight, to: int) -> tuple[str, bool]:
    """Return the phase of a move to an open cell, `EXPLORING` or `EXPLOITING`, and whether it is an error.

    A move is an error if it brings the player nearer to no sensible target, over the cells that were seen before it.
    While the exit is not known to be reachable, the targets are all frontiers: cells that can be reached and have a
    neighbour that was not seen. Afterwards they are the exit, and the frontiers over which a shorter way to it could
    still lead. So nothing is assumed about which target a player should choose. Exploration and exploitation errors
    without access to a policy are the idea of J. Park et al., "Exploration and Exploitation Errors Are Measurable for
    Language Model Agents" (arXiv:2604.13151, 2026), which measures them in grids with tasks; these definitions for
    mazes are ours.
    """
    maze = sight.maze
    before, after = known_distances(sight, sight.at), known_distances(sight, to)
    targets = frontier_cells(sight, before)
    phase, exit_ = EXPLORING, maze.exit
    if exit_ in before:
        exit_x, exit_y = maze.lattice.position(exit_)

        def lower_bound(cell: int) -> int:
            """Return the least length of a path to the exit over a frontier: beyond it, straight without walls."""
            x, y = maze.lattice.position(cell)
            return before[cell] + abs(x - exit_x) + abs(y - exit_y)

        phase, targets = EXPLOITING, [exit_, *(cell for cell in targets if lower_bound(cell) < before[exit_])]
    return phase, not any(after[cell] < before[cell] for cell in targets)


_RULES = """\
I am in a maze of which I see only a part. Help me to reach the exit.
The maze is {size} cells wide and {size} cells high. Positions are [x,y], and the cell in the upper left corner is \
[0,0]. I start at the entrance, at [{x},{y}]. There is one exit. It is on the {side} side, but I do not know where.
I always see the {window} x {window} cells with me in the middle. Walls do not block my view.
{legend}
In each turn I can move by one cell: up, down, left or right, but not diagonally.
Answer each message with a JSON of the format {{"move": <direction>}}, where <direction> is up, down, left or right. \
Return only the JSON."""


def _cell_sign(sight: Sight, x: int, y: int) -> str:
    """Return the sign of a cell in the drawings for the player; outside the maze that of a wall."""
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
    """Return the rows of the visible window: "." a path, "#" a wall or outside, "X" the player, "E" the exit."""
    (x, y), half = sight.maze.lattice.position(sight.at), sight.window // 2
    return [
        "".join(_cell_sign(sight, column, row) for column in range(x - half, x + half + 1))
        for row in range(y - half, y + half + 1)
    ]


def map_rows(sight: Sight) -> list[str]:
    """Return the rows of the whole maze as the player knows it, with "?" for unseen cells."""
    size = range(sight.maze.size)
    return ["".join(_cell_sign(sight, x, y) for x in size) for y in size]


def _window_matrix(sight: Sight) -> str:
    """Return the visible window as a JSON matrix."""
    elements = {".": "1", "#": "0", "X": '"X"', "E": '"E"'}
    return "[" + ",".join("[" + ",".join(elements[sign] for sign in row) + "]" for row in window_rows(sight)) + "]"


FORMS = {
    form.name: form
    for form in (
        Representation[Sight](
            "ascii",
            'The view is a drawing of these cells, one row in each line, from top to bottom: "." is a path, "#" is a '
            'wall or lies outside the maze, "X" is where I am, and "E" is the exit.',
            lambda sight: "\n".join(window_rows(sight)),
        ),
        Representation(
            "matrix",
            "The view is a matrix of these cells, whose elements are the rows, from top to bottom: 1 is a path, 0 is a "
            'wall or lies outside the maze, "X" is where I am, and "E" is the exit.',
            _window_matrix,
        ),
        Representation[Sight](
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
    """A request for one move after another, as JSON."""

    def __init__(self, form: Representation[Sight], window: int, memory: Memory) -> None:
        self.name, self.memory = form.name, memory
        self._form, self._window = form, window
        self.rule_fields = (
            Field[Maze]("legend", "How to read the view.", lambda maze: form.legend),
            Field[Maze]("dimension", "Number of rows and of columns.", lambda maze: str(maze.size)),
            Field[Maze]("entrance", "The entrance, as [x,y].", lambda maze: cell_text(maze, maze.entrance)),
            Field[Maze]("side", "The side that the exit is on.", exit_side),
            Field[Maze]("window", "Cells along each side of what is seen.", lambda maze: str(window)),
        )
        self.fields = (
            Field[View[Sight]]("view", "What is seen.", lambda view: form.write(view.state)),
            Field[View[Sight]](
                "position", "Where the player is, as [x,y].", lambda view: cell_text(view.state.maze, view.state.at)
            ),
            Field[View[Sight]](
                "feedback", "What the last reply led to.", lambda view: _feedback_text(view.state, view.last)
            ),
        )

    def rules(self, instance: Maze) -> str:
        x, y = instance.lattice.position(instance.entrance)
        return _RULES.format(
            size=instance.size, x=x, y=y, side=exit_side(instance), window=self._window, legend=self._form.legend
        )

    def observe(self, state: Sight, last: Transition[Sight] | Invalid | None, turn: int) -> str:
        feedback = _feedback_text(state, last)
        if state.at == state.maze.exit:
            return feedback
        here = f"I am at {cell_text(state.maze, state.at)}. The view:\n{self._form.write(state)}"
        return f"{feedback} {here}" if feedback else here

    def parse(self, reply: str, state: Sight) -> str | Invalid:
        """Read the last JSON object with "move" in a reply; see `waybench.core.last_json_object` for what counts."""
        reply_object = last_json_object(reply, "move", unique=True)
        if isinstance(reply_object, Invalid):
            return reply_object
        move = reply_object["move"]
        if not isinstance(move, str) or normalize_name(move) not in DIRECTIONS:
            return Invalid(f'"move" must be up, down, left or right, not {json_excerpt(move)}.')
        return normalize_name(move)

    def render(self, action: str, state: Sight) -> str:
        return f'{{"move": "{action}"}}'

    def action_name(self, action: str, state: Sight) -> str:
        return action

    def tools(self, state: Sight) -> tuple[ActionTool, ...]:
        return (_MOVE,)

    def parse_call(self, call: ToolCall, state: Sight) -> str:
        return call.arguments["direction"]

    def render_call(self, action: str, state: Sight) -> ToolCall:
        return ToolCall(_MOVE.name, {"direction": action})


def _feedback_text(state: Sight, last: Transition[Sight] | Invalid | None) -> str:
    """Return the answer to the last reply; "" before the first one."""
    if last is None:
        return ""
    if isinstance(last, Invalid):
        return f"I could not follow your answer, so I have not moved. {last.reason}"
    if state.at == state.maze.exit:
        return f"I have reached the exit at {cell_text(state.maze, state.at)}."
    obstacle = last.events.get("obstacle")
    if obstacle is not None:
        reason = "there is a wall" if obstacle == "wall" else "the maze ends there"
        return f"I cannot move in this direction, since {reason}. I have not moved."
    return "I have moved."
