"""A scripted author of worlds on tile maps: right at once, but for what it is told to get wrong first."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.eval.model_server import Answer, ModelServer, Script

ROWS, COLUMNS = 7, 10  # of level 1
MAP = (
    "mmmmWmmmmm",
    "m@mmWmmkmm",
    "mmmmWmmmmm",
    "mmmmDmmmml",
    "mmmmWmmWWW",
    "mmmmWmmW#m",
    "mcmmWmmWmm",
)
WALLED = tuple(row.replace("D", "W") for row in MAP)  # the door has become wall
OBJECTIVES = {"Take the key": ["k", 1, 7], "Light the lamp": ["l", 3, 9], "Open the chest": ["c", 6, 1]}
LENGTH = 10 + 4 + 11  # of the shortest tour
CHARACTERS = {"protagonist": "Ada", "antagonist": "The Crow", "others": ["Old Keeper"]}
SIGNS = {"Meadow": "m", "Wall": "W", "Door": "D", "Key": "k", "Lamp": "l", "Chest": "c", "Old Keeper": "K"}
TILES = {"tiles": SIGNS, "walkable": ["m", "D", "k", "l", "c"], "interactive": ["k", "l", "c", "K"]}

Chat = list[dict[str, Any]]
Wrong = Mapping[str, Sequence[Answer]]  # step -> what is answered first


def answers(world: int) -> dict[str, str]:
    """Return the right answer to each step; worlds of different numbers differ."""
    tiles = {**TILES, "tiles": {**SIGNS, f"Fern {world}": "f"}}
    return {
        "story": f"This is world {world}. Ada looks for the key of the lamp.\n\nThe Crow does not want her to find it.",
        "characters": f"Gladly!\n```json\n{json.dumps(CHARACTERS)}\n```",
        "tiles": json.dumps(tiles),
        "map": json.dumps({"map": MAP}),
        "objectives": "<think>{objectives: maybe?}</think>" + json.dumps({"objectives": OBJECTIVES}),
    }


def step_of(messages: Chat) -> tuple[str, int]:
    """Return which step a conversation asks for, and how many answers to it were refused."""
    asked = [(at, found[1]) for at, message in enumerate(messages) if (found := _STEP.match(message["content"]))]
    at, name = asked[-1]
    return name, (len(messages) - 1 - at) // 2


_STEP = re.compile(r"Step \d, the (\w+)\.")


def author(wrong: Wrong | Callable[[int], Wrong]) -> Script:
    """Write worlds that are numbered from 0 in the order in which they are begun.

    Args:
        wrong: What is answered first, or number of the world -> that.
    """

    def script(messages: Chat, before: int) -> Answer:
        step, refused = step_of(messages)
        begun = re.search(r"This is world (\d+)", json.dumps(messages))
        world = int(begun[1]) if begun else before
        first = (wrong(world) if callable(wrong) else wrong).get(step, ())
        return first[refused] if refused < len(first) else Answer(answers(world)[step])

    return script


def complaints(server: ModelServer) -> str:
    """Return everything that the model was told of its refused answers."""
    return "\n".join(
        message["content"]
        for chat in server.asked
        for message in json.loads(chat)
        if message["content"].startswith("This cannot be used:")
    )
