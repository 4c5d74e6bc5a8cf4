"""How the oracle chooses its move."""

from waybench.envs.maze.explore._plans import best_step
from waybench.envs.maze.explore._sight import Sight, frontier, known_ways


def reasoning(state: Sight) -> str:
    """Return the open ways, what can be explored, and the move. Cells are [x, y] as in the prompts."""
    lattice, far = state.maze.lattice, known_ways(state, state.at)
    ways = ", ".join(direction for direction, _ in lattice.exits(state.at))
    lines = [f"I am at {list(lattice.position(state.at))}. Open ways: {ways}."]
    if state.maze.exit in far:
        exit_ = list(lattice.position(state.maze.exit))
        lines.append(
            f"I have seen the exit at {exit_}, and the way that I know to it has {far[state.maze.exit]} moves."
        )
    else:
        places = [f"{list(lattice.position(cell))} ({far[cell]} moves)" for cell in frontier(state, far)]
        lines.append(f"I know no way to the exit. Unseen cells are next to: {', '.join(places)}.")
    lines.append(f"I move {best_step(state)}.")
    return "\n".join(lines)
