"""What belief probes ask a player of the partly seen mazes: where it is, and the map of what it has seen."""

from collections.abc import Mapping

from waybench.core import Belief, Json, read_rows, share_of_cells
from waybench.envs.maze._beliefs import POSITION
from waybench.envs.maze.explore._sight import Sight
from waybench.envs.maze.explore._wording import map_rows


def _is_shown(options: Mapping[str, Json], state: Sight) -> bool:
    # With another memory, the messages with what was seen first are not shown any more.
    return options["memory"] == "chat"


MAP: Belief[Sight] = Belief(
    name="map",
    title="map",
    doc="The whole maze as far as it was seen; the share is that of its cells that are right.",
    question="What have I seen of the maze so far? Draw the whole maze, one row in each text, from top to bottom: "
    '"." is a path, "#" is a wall, "?" was not seen yet, "X" is where I am now, and "E" is the exit.',
    form='["<first row>", "<second row>", ...]',
    expected=map_rows,
    read=read_rows,
    is_shown=_is_shown,
    share=share_of_cells,
)
BELIEFS: tuple[Belief[Sight], ...] = (POSITION, MAP)
