"""The lines that `waybench generate` writes of an item."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from waybench.cli._chats import prompt_lines, solution_lines
from waybench.cli._items import ItemChoice
from waybench.cli._output import dumps
from waybench.core import NOTHING, Environment, Item, Json


def line_writer(kind: str, player: str, reasoning: str) -> Callable[[ItemChoice], Iterator[str]]:
    """Return the function that writes an item's lines.

    Args:
        kind: "instances", "prompts" or "solutions".
        player: Who plays the chats of solutions.
        reasoning: Where the reasoning is in them.
    """
    if kind == "prompts":
        return prompt_lines
    return partial(solution_lines, player=player, reasoning=reasoning) if kind == "solutions" else _instance_lines


def _instance_lines(choice: ItemChoice) -> Iterator[str]:
    yield instance_line(choice.environment, choice.item)


def instance_line(environment: Environment[Any, Any, Any], item: Item[Any], more: Mapping[str, Json] = NOTHING) -> str:
    """Return the line of an instance with its proof."""
    return dumps(
        {
            "env": environment.id,
            "version": environment.version,
            "id": item.id,
            "level": item.level,
            "key": item.key_label,
            "index": item.index,
            "instance": item.instance.to_json(),
            "hash": item.instance.hash,
            "proof": dict(item.proof),
            **more,
        }
    )
