"""Movements as a person types them, in place of a JSON list."""

import re
from collections.abc import Mapping, Sequence

from waybench.envs.maze._game import MazeState, Movement, MovePlan
from waybench.spaces import DIRECTIONS

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
