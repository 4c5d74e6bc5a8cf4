"""Searches along a hand-over: the items stay the same, and other players play more or less of them before."""

from collections.abc import Callable, Mapping
from typing import Any

from waybench.core import (
    PREFIX,
    Environment,
    Episode,
    Item,
    Json,
    Source,
    UsageError,
    oracle_steps,
    play_out,
    policy,
)
from waybench.eval import OptionItems, Stratum, option_strata
from waybench.tasks._parameters import AXIS, FIRST_STEPS, LEVEL

_POOL = 40  # items, each of which can be played once with each number of steps
_NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


def handover_strata(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    given: Mapping[str, Any],
    open_level: Callable[[int], Source[Any]],
) -> list[Stratum]:
    """Return the strata of a search along a hand-over, easiest first.

    Args:
        environment: What is played.
        options: Options of play.
        given: Every parameter of the task.
        open_level: Level -> its items.

    Raises:
        UsageError: If a parameter is unfit, or the items are too short.
    """
    axis = given[AXIS.name]
    if options.get(PREFIX) is not None:
        raise UsageError(f"prefix={options[PREFIX]}: axis={axis} chooses the prefix; leave one of them out")
    items = level_items(given, open_level)
    lengths = {item.id: _length(environment, options, item) for item in items}
    found: list[OptionItems] = []
    for number in _NUMBERS:
        first = given[FIRST_STEPS.name]
        prefix = f"oracle:-{number}" if axis == "steps_left" else f"oracle:{first}+random:{number}"
        needed = number if axis == "steps_left" else first
        own = [item for item in items if lengths[item.id] > needed]
        if axis == "random_steps":
            own = [item for item in own if _is_solvable(environment, {**options, PREFIX: prefix}, item)]
        if own:
            found.append(OptionItems(float(number), {PREFIX: prefix}, prefix.replace(":", ""), own))
    if len(found) < 2:
        raise UsageError(
            f"axis={axis}: the items of level {given[LEVEL.name]} are too short to hand them over; raise the level"
        )
    return option_strata(environment, options, found)


def level_items(given: Mapping[str, Any], open_level: Callable[[int], Source[Any]]) -> list[Item[Any]]:
    """Return the items of a search that plays items of one level.

    Args:
        given: Every parameter of the task.
        open_level: Level -> its items.

    Raises:
        UsageError: If the level is not given.
    """
    level = given[LEVEL.name]
    if level is None:
        raise UsageError(f"axis={given[AXIS.name]}: give the level of the items, level=N")
    source = open_level(level)
    return source.head(_POOL if source.space is None else min(source.space, _POOL))


def _length(environment: Environment[Any, Any, Any], options: Mapping[str, Json], item: Item[Any]) -> int:
    # A prefix is refused where there is only one turn, with a message that says so.
    return oracle_steps(Episode(environment, item, {**options, PREFIX: "oracle:0"}))


def _is_solvable(environment: Environment[Any, Any, Any], options: Mapping[str, Json], item: Item[Any]) -> bool:
    """Return whether the oracle still succeeds after the prefix, so that a failure is the player's."""
    return environment.difficulty.succeeded(play_out(environment, item, policy("oracle"), dict(options)).record())
