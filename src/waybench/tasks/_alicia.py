"""The AliciaBench task."""

from functools import cache
from itertools import count, takewhile
from typing import Any

from inspect_ai import Task, task

from waybench.core import Item, UsageError, resolve
from waybench.envs import registry
from waybench.llm import Ladder, episode, one_line_errors, play
from waybench.tasks._index import ALICIA_OPTIONS


@task
def alicia(
    protocol: str = "paper",
    wording: str = "matrix",
    exit_hint: bool | None = None,
    requests: int = 3,
    key: str | None = None,
    limit: int = 10,
    attempts: int = 3,
    min_dimension: int = 5,
    max_dimension: int = 101,
    loops: float = 0.05,
    algorithm: str = "backtracker",
    sides: str = "top-bottom",
) -> Task:
    """AliciaBench: mazes of growing dimension; the next one is run if any maze of this one was reached.

    Args:
        protocol: "paper" or "sound".
        wording: How a maze is written: matrix, ascii, coordinates or prose.
        exit_hint: Whether the prompt says where the exit is; the protocol decides if not given.
        requests: Most requests of one attempt.
        key: The set's key; the public set if not given.
        limit: Mazes of each dimension.
        attempts: Most attempts at a maze; a perfect one ends them.
        min_dimension: The first dimension.
        max_dimension: The last one, a cap on cost.
        loops: Share of extra openings.
        algorithm: How the spanning tree is drawn.
        sides: Sides of entrance and exit.
    """
    given = dict(locals())
    with one_line_errors():
        return _alicia(**resolve(ALICIA_OPTIONS, given, "parameter of alicia"))


def _alicia(**given: Any) -> Task:
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
    return Task(
        dataset=Ladder(
            environment,
            options,
            levels=lambda: takewhile(lambda n: n <= given["max_dimension"], count(given["min_dimension"], 2)),
            items=items,
            attempts=given["attempts"],
            perfect=lambda record: score.of(record) == score.high,
            passed=lambda record: record.end == "solved",
        ),
        solver=play(),
        scorer=episode(),
        version=environment.version,
        # A sample that fails is no reason to lose the others; the run ends as unfinished, and is taken up again.
        fail_on_error=True,
        continue_on_fail=True,
    )
