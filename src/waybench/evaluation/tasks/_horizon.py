"""Tasks that look for how far a model reaches: along levels, hand-overs and the length of the context."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import (
    CONTEXT_TOKENIZER,
    CONTEXT_TOKENS,
    DIFFICULTY_INDEX,
    OPTION_AXES,
    PREFIX,
    Axis,
    Environment,
    Episode,
    Item,
    ItemIndex,
    Json,
    NoRoomError,
    Price,
    Source,
    UsageError,
    oracle_steps,
    play_out,
    plural,
    policy,
    read_budget,
    read_prices,
)
from waybench.envs import registry
from waybench.evaluation import HorizonSearch, OptionItems, Stratum, Tokens, episode_tokens, option_strata, strata
from waybench.evaluation.tasks._entry import TaskEntry
from waybench.evaluation.tasks._parameters import (
    AXIS,
    CONTEXT_AXIS,
    FIRST_STEPS,
    LEVEL,
    LONGEST,
    horizon_options,
    read_index,
)
from waybench.results.stats import Candidate, StoppingRule, forecast

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


_SORTED_POOL = 60  # items of each level that are sorted by a difficulty index
_FEWEST = 20  # of these in a stratum


class HorizonConfig(NamedTuple):
    """What a search needs.

    Attributes:
        environment: What is played.
        options: Options of play.
        axis: What is difficult.
        strata: Items by difficulty.
        rule: When the search stops.
        prices: Model -> its prices; None if costs are counted in tokens.
        item_index: How hard single items of a level are; None if they count as equally hard.
    """

    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    axis: Axis
    strata: list[Stratum]
    rule: StoppingRule
    prices: Mapping[str, Price] | None
    item_index: ItemIndex | None = None

    def price(self, model: str) -> Price | None:
        """Return a model's price; None where costs are counted in tokens, and for players that cost nothing.

        Raises:
            UsageError: If the budget is in dollars and the price is not known.
        """
        if self._is_free(model):
            return None
        found = (self.prices or {}).get(model)
        if found is None and self.prices is not None and self.rule.budget is not None:
            raise UsageError(f"no price for {model[:120]}: a budget in dollars needs one; add it to the price table")
        return found

    def budget(self, model: str) -> float | None:
        """Return a model's budget; None for no limit, as for players that cost nothing where it is in dollars."""
        return None if self.prices is not None and self._is_free(model) else self.rule.budget

    def _is_free(self, model: str) -> bool:
        price = (self.prices or {}).get(model)
        return model.startswith("waybench/") or (price is not None and not price.input and not price.output)


def horizon_plan(entry: TaskEntry, given: Mapping[str, Any]) -> HorizonConfig:
    """Return what the search of a task needs.

    Args:
        entry: The task.
        given: Every parameter of the task.

    Raises:
        UsageError: If a parameter is unfit.
    """
    return _plan(entry.envs[0], tuple(sorted(given.items())))


@lru_cache(maxsize=4)  # a run asks for it twice, to tell the price and to begin, and sorting maps takes seconds
def _plan(env_id: str, sorted_parameters: tuple[tuple[str, Any], ...]) -> HorizonConfig:
    environment, given = registry.load(env_id), dict(sorted_parameters)
    spec = environment.difficulty.horizon
    assert spec is not None, "tasks search only where an environment declares its levels"
    played = horizon_options(environment, spec)
    own = {option.name: given[option.name] for option in played}
    if given[AXIS.name] == CONTEXT_AXIS:
        if not environment.playing.takes_context:
            raise UsageError(f"axis={CONTEXT_AXIS}: items of {env_id} cannot stand among others; choose another axis")
        own[CONTEXT_TOKENIZER] = None  # it goes with the lengths
    options = environment.resolve_options(own)
    style = {option.name: given.get(option.name, option.default) for option in environment.items.options}
    style |= spec.source_options
    along_option = OPTION_AXES.get(given[AXIS.name])
    if along_option is None and given[LEVEL.name] is not None:
        raise UsageError(f"level={given[LEVEL.name]}: this search chooses levels; give easiest and hardest, or an axis")
    levels = [level for level in spec.levels if given["easiest"] <= level <= given["hardest"]]
    if len(levels) < 2:
        raise UsageError(
            f"easiest={given['easiest']}, hardest={given['hardest']}: give at least two of the levels "
            f"{', '.join(map(str, spec.levels))}"
        )
    budget, in_dollars = read_budget(given["budget"])
    prices = read_prices(Path(given["prices"])) if given["prices"] is not None else None
    if in_dollars and prices is None:
        raise UsageError(f"budget={given['budget']}: a budget in dollars needs token prices: add prices=FILE")
    rule = StoppingRule(
        share=given["share"],
        precision=given["precision"],
        most=given["most"],
        budget=budget,
        batch=given["batch"],
    )

    def open_level(level: int) -> Source[Any]:
        return environment.source(given["key"], level, **style)

    named = given.get(DIFFICULTY_INDEX)
    index = None if named is None else read_index(named, environment)
    if along_option is not None and index is not None:
        raise UsageError(f"{DIFFICULTY_INDEX}: axis={along_option.name} plays one level; leave one of them out")
    if along_option is not None:
        find = context_strata if along_option.name == CONTEXT_AXIS else handover_strata
        axis, found = along_option, find(environment, options, given, open_level)
    else:
        sources = {level: open_level(level) for level in levels}
        axis = environment.difficulty.axes[0] if index is None else index.axis(environment)
        pool = spec.pool if index is None else spec.pool or _SORTED_POOL
        found = strata(environment, options, axis, sources, pool)
        if index is not None:
            # A few unusual items would extend the range to where a search soon has no more of them.
            found = [stratum for stratum in found if stratum.left is None or stratum.left >= _FEWEST]
        if len(found) < 2:
            raise UsageError(f"{DIFFICULTY_INDEX}={named}: by it, all items are about equally hard; give more levels")
    prices = prices if in_dollars or budget is None else None
    return HorizonConfig(environment, options, axis, found, rule, prices, index)


def horizon_quote(entry: TaskEntry, given: Mapping[str, Any], model: str) -> str:
    """Return what a search may cost, in a line.

    Args:
        entry: The task.
        given: Parameters of the task, checked.
        model: The model.

    Raises:
        UsageError: If the budget is in dollars and there is no price of the model, or would be spent at once.
    """
    plan = horizon_plan(entry, given)
    price, budget = plan.price(model), plan.budget(model)
    candidates = [Candidate(each.at, each.takes.cost(price), each.left) for each in plan.strata]
    searched = forecast(plan.rule, candidates)
    least, usual, most = searched[0], searched[len(searched) // 2], searched[-1]
    first = sum(sorted(candidate.cost for candidate in candidates)[: plan.rule.batch])
    if budget is not None and first > budget:
        raise UsageError(f"budget={given['budget']}: {plan.rule.batch} of the shortest episodes cost more; raise it")

    def cost(number: float) -> str:
        return f"{number:,.2f}" if price else f"{number:,.0f}"

    trials = [each.trials for each in searched]
    episodes = f"{plural(usual.trials, 'episode')} ({min(trials)} to {max(trials)})"
    costs = f"{cost(usual.cost)} {'USD' if price else 'tokens'} ({cost(least.cost)} to {cost(most.cost)})"
    limit = "" if budget is None else f"; the budget is {given['budget']}"
    return f"{entry.name}, {model}: about {episodes} and {costs} for replies without reasoning{limit}"


def horizon_search(entry: TaskEntry, given: Mapping[str, Any]) -> HorizonSearch:
    """Return the samples of a task that searches for a horizon.

    Args:
        entry: The task.
        given: Its parameters, checked.

    Raises:
        UsageError: If a parameter is unfit.
    """
    plan = horizon_plan(entry, given)
    searched = (plan.environment, plan.options, plan.axis, plan.strata, plan.rule)
    return HorizonSearch(*searched, plan.price, plan.budget, plan.item_index)
