"""Searches along the length of the context: the items stay the same, and more or fewer others stand around them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from waybench.core import (
    CONTEXT_TOKENIZER,
    CONTEXT_TOKENS,
    Environment,
    Episode,
    Item,
    Json,
    NoRoomError,
    Source,
    UsageError,
)
from waybench.eval import OptionItems, Stratum, Tokens, episode_tokens, option_strata
from waybench.tasks._handover import level_items
from waybench.tasks._parameters import AXIS, LEVEL, LONGEST

# Thousands of tokens, four to a doubling.
_LENGTHS = tuple(sorted({round(2 ** (step / 4)) for step in range(45)}))


def context_strata(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    given: Mapping[str, Any],
    open_level: Callable[[int], Source[Any]],
) -> list[Stratum]:
    """Return the strata of a search along the length of the context, the shortest first.

    Args:
        environment: What is played.
        options: Options of play.
        given: Every parameter of the task.
        open_level: Level -> its items.

    Raises:
        UsageError: If a parameter is unfit, or nothing else has room beside the items.
    """
    axis, longest = given[AXIS.name], given[LONGEST.name]
    if CONTEXT_TOKENS in options:
        raise UsageError(f"{CONTEXT_TOKENS}={options[CONTEXT_TOKENS]}: axis={axis} chooses it; leave one of them out")
    items = level_items(given, open_level)
    chosen = {name: given[name] for name in (CONTEXT_TOKENIZER,) if given[name] is not None}
    lengths = [length for length in _LENGTHS if length <= longest]
    while lengths and not _has_room(environment, {**options, **_tokens(lengths[0]), **chosen}, items):
        lengths = lengths[1:]
    if len(lengths) < 2:
        raise UsageError(
            f"{LONGEST.name}={longest}: too few tokens for items of level {given[LEVEL.name]} among others; raise it"
        )
    alone = episode_tokens(environment, options, items[:1])
    return option_strata(
        environment,
        options,
        [
            OptionItems(
                float(length),
                {**_tokens(length), **chosen},
                f"context{length}k",
                items,
                Tokens(length * 1000.0, alone.output),
            )
            for length in lengths
        ],
    )


def _tokens(length: int) -> dict[str, Json]:
    return {CONTEXT_TOKENS: length * 1000}


def _has_room(environment: Environment[Any, Any, Any], options: Mapping[str, Json], items: Sequence[Item[Any]]) -> bool:
    """Return whether each item has room in prompts of a length."""
    try:
        for item in items:
            Episode(environment, item, options)
    except NoRoomError:
        return False
    return True
