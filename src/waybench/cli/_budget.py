"""What a run may spend."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from waybench.core import Price, UsageError, read_budget
from waybench.evaluation.tasks import TaskEntry

if TYPE_CHECKING:
    from waybench.evaluation.tasks import TaskQuote

NO_BUDGET = "none"
# Of a ladder, for each model: at least this much, for replies with reasoning on a short ladder; and as much as an
# optimal player without reasoning needs to the last level, so that no perfect player is stopped. A player that needs
# all attempts takes many times as much: without a limit, `alicia`, `aqa` and `gtb` with four items each took 3.8
# million.
_LADDER = 1_000_000
_UNPAID = ("waybench/", "python:")
_STEP = 100_000  # budgets are multiples of it


class RunBudget(NamedTuple):
    """What a run may spend.

    Attributes:
        amount: Tokens or dollars; None for no limit.
        in_dollars: Whether it is in dollars.
        note: A line for the user on a limit that was not asked for; "" for none.
        tasks: The tasks whose requests count; all where it is empty.
    """

    amount: float | None
    in_dollars: bool = False
    note: str = ""
    tasks: tuple[str, ...] = ()


NO_LIMIT = RunBudget(None)


def quote_lines(task: str, quote: "TaskQuote", models: Sequence[str], prices: Mapping[str, Price]) -> list[str]:
    """Return what a task asks of each model, with one line for all models of which the same is said.

    Args:
        task: The task's name.
        quote: What it takes.
        models: The models.
        prices: Model -> its prices.
    """
    alike: dict[str, list[str]] = {}
    for model in dict.fromkeys(models):
        said = quote.text(model, prices.get(model)).removeprefix(f"{task}, {model}: ")
        alike.setdefault(said, []).append(model)
    several = len(alike) == 1
    return [
        f"{task}, {f'each of {len(some)} models' if several and len(some) > 1 else ', '.join(some)}: {said}"
        for said, some in alike.items()
    ]


def run_budget(
    text: str | None,
    entries: Sequence[TaskEntry],
    models: Sequence[str],
    prices: Mapping[str, Price],
    to_last_level: Mapping[str, float],
) -> RunBudget:
    """Return what a run may spend.

    A run of searches alone has no limit of its own: each search plans with the budget. Tasks that climb have a limit by
    default, since results decide how long they go on; what other tasks spend does not count in it. Embedded
    players cost nothing.

    Args:
        text: The user's budget; None for the default.
        entries: The tasks.
        models: The models.
        prices: Model -> its prices.
        to_last_level: Ladder -> tokens of an optimal player up to its last level, where they are known.

    Raises:
        UsageError: If the text is no budget, or is in dollars and a model has no price.
    """
    paid = [model for model in dict.fromkeys(models) if not model.startswith(_UNPAID)]
    if text == NO_BUDGET or not paid or all(entry.searches for entry in entries):
        return NO_LIMIT
    if text is not None:
        amount, in_dollars = read_budget(text)
        unknown = [model for model in paid if model not in prices] if in_dollars else []
        if unknown:
            raise UsageError(
                f"--budget {text[:40]}: no price for {', '.join(unknown)[:200]}; add it to the price table (--prices)"
            )
        return RunBudget(amount, in_dollars)
    climbing = [entry.name for entry in entries if entry.climb is not None]
    if not climbing:
        return NO_LIMIT
    each = sum(max(_LADDER, _STEP * ceil(to_last_level.get(name, 0.0) / _STEP)) for name in climbing)
    is_mixed = len(climbing) < len(entries)
    names = ", ".join(climbing)
    return RunBudget(
        float(each * len(paid)),
        note=f"{names}: climbs as long as the model solves an item of a level. The run stops after "
        f"{each * len(paid):,} tokens{f' of {names}' if is_mixed else ''}, enough for an optimal player without "
        "reasoning up to the last level; --budget 5M or --budget none changes that.",
        tasks=tuple(climbing) if is_mixed else (),
    )
