"""How the oracle comes to its plan, cell by cell."""

from waybench.envs.maze._game import MazeState


def reasoning(state: MazeState) -> str:
    """Return the shortest path from here, with the open ways of each cell and the moves that are left.

    Cells are [x, y] from the top left one, as in the prompts.
    """
    lattice, at = state.maze.lattice, state.at
    far = lattice.distances(state.maze.exit)
    lines = [f"I am at {list(lattice.position(at))}, and the exit is at {list(lattice.position(state.maze.exit))}."]
    for direction in lattice.shortest_path(at, state.maze.exit) or ():
        ways = dict(lattice.exits(at))
        following = ways[direction]
        lines.append(
            f"{list(lattice.position(at))}: open ways: {', '.join(ways)}. {direction.capitalize()} leads to "
            f"{list(lattice.position(following))}, moves left from there: {far[following]}."
        )
        at = following
    return "\n".join(lines)
