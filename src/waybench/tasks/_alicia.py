"""The AliciaBench task."""

from functools import cache
from itertools import count, takewhile
from typing import Any

from inspect_ai import Task

from waybench.core import Item, UsageError
from waybench.envs import registry
from waybench.eval import Ladder
from waybench.tasks._declare import declared, played


def _alicia(**given: Any) -> Task:
    """Climb: the next dimension is run if any maze of this one was reached."""
    if given["min_dimension"] > given["max_dimension"]:
        raise UsageError(f"min_dimension={given['min_dimension']} is above max_dimension={given['max_dimension']}")
    environment = registry.load("maze/alicia")
    options = {option.name: given[option.name] for option in environment.options}
    style = {option.name: given[option.name] for option in environment.source_options}

    @cache
    def items(level: int) -> list[Item[Any]]:
        return environment.source(given["key"], level, **style).head(given["limit"])

    items(given["min_dimension"])  # an even dimension is refused here, before anything is run
    score = environment.metrics[0]
    return played(
        Ladder(
            environment,
            options,
            levels=lambda: takewhile(lambda n: n <= given["max_dimension"], count(given["min_dimension"], 2)),
            items=items,
            attempts=given["attempts"],
            perfect=lambda record: score.of(record) == score.high,
            passed=lambda record: record.end == "solved",
        ),
        environment.version,
    )


alicia = declared("alicia", _alicia)
