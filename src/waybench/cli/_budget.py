"""What a run may spend."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waybench.core import Price, UsageError, read_budget
from waybench.tasks import TaskEntry

NO_BUDGET = "none"
# Without a limit, a run of `alicia`, `aqa` and `gtb` with four items each took 3.8 million tokens.
_LADDER = 1_000_000


class RunBudget(NamedTuple):
    """What a run may spend.

    Attributes:
        amount: Tokens or dollars; None for no limit.
        in_dollars: Whether it is in dollars.
        note: A line for the user on a limit that was not asked for; "" for none.
    """

    amount: float | None
    in_dollars: bool = False
    note: str = ""


def run_budget(
    text: str | None, entries: Sequence[TaskEntry], models: Sequence[str], prices: Mapping[str, Price]
) -> RunBudget:
    """Return what a run may spend.

    A run of searches alone has no limit of its own: each search plans with the budget. Tasks that climb have a limit by
    default, since results decide how long they go on. Embedded players cost nothing.

    Args:
        text: The user's budget; None for the default.
        entries: The tasks.
        models: The models.
        prices: Model -> its prices.

    Raises:
        UsageError: If the text is no budget, or is in dollars and a model has no price.
    """
    paid = [model for model in dict.fromkeys(models) if not model.startswith("waybench/")]
    if text == NO_BUDGET or not paid or all(entry.horizon is not None for entry in entries):
        return RunBudget(None)
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
        return RunBudget(None)
    return RunBudget(
        float(_LADDER * len(paid)),
        note=f"{', '.join(climbing)}: climbs as long as the model solves an item of a level. The run stops after "
        f"{_LADDER * len(paid):,} tokens; --budget 5M or --budget none changes that.",
    )
