"""Tasks that look for how far a model reaches: along levels, hand-overs and the length of the context."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from waybench.core import (
    CONTEXT_TOKENS,
    DIFFICULTY_INDEX,
    OPTION_AXES,
    PREFIX,
    Environment,
    Episode,
    HorizonSpec,
    Item,
    Json,
    Source,
    UsageError,
    load_prices,
    parse_budget,
    play_to_end,
    plural,
    policy,
)
from waybench.core._context import CONTEXT_TEXT, CONTEXT_TOKENIZER, NoRoomError
from waybench.core._prefix import count_oracle_steps
from waybench.envs import registry
from waybench.evaluation._adaptive import (
    HorizonConfig,
    OptionItems,
    Stratum,
    Tokens,
    estimate_episode_tokens,
    option_strata,
    strata_of_levels,
)
from waybench.evaluation.tasks._entry import (
    AXIS,
    CONTEXT_AXIS,
    FIRST_STEPS,
    LEVEL,
    LONGEST,
    TaskEntry,
    horizon_play_options,
    read_difficulty_index,
)
from waybench.results.stats import StoppingRule
from waybench.results.stats._adaptive import Candidate, forecast_searches

_ITEM_POOL = 40  # items, each of which can be played once with each number of steps
_STEP_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


def handover_strata(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    args: Mapping[str, Any],
    open_level: Callable[[int], Source[Any]],
) -> list[Stratum]:
    """Return the strata of a horizon search over the number of steps left to the model or played at random."""
    axis = args[AXIS.name]
    if options.get(PREFIX) is not None:
        raise UsageError(f"prefix={options[PREFIX]}: axis={axis} chooses the prefix; leave one of them out")
    items = level_items(args, open_level)
    # The empty prefix makes `Episode` refuse items of only one turn, with a message that says so.
    oracle_steps = {
        item.id: count_oracle_steps(Episode(environment, item, {**options, PREFIX: "oracle:0"})) for item in items
    }
    groups: list[OptionItems] = []
    for n_steps in _STEP_COUNTS:
        first_steps = args[FIRST_STEPS.name]
        prefix = f"oracle:-{n_steps}" if axis == "steps_left" else f"oracle:{first_steps}+random:{n_steps}"
        n_prefix_steps = n_steps if axis == "steps_left" else first_steps
        playable_items = [item for item in items if oracle_steps[item.id] > n_prefix_steps]
        if axis == "random_steps":  # the oracle still succeeds after the prefix, so that a failure is the player's
            options_with_prefix = {**options, PREFIX: prefix}
            playable_items = [
                item
                for item in playable_items
                if environment.difficulty.is_success(
                    play_to_end(environment, item, policy("oracle"), options_with_prefix).record()
                )
            ]
        if playable_items:
            groups.append(OptionItems(float(n_steps), {PREFIX: prefix}, prefix.replace(":", ""), playable_items))
    if len(groups) < 2:
        raise UsageError(
            f"axis={axis}: the items of level {args[LEVEL.name]} are too short to hand them over; raise the level"
        )
    return option_strata(environment, options, groups)


def level_items(args: Mapping[str, Any], open_level: Callable[[int], Source[Any]]) -> list[Item[Any]]:
    """Return the items of one level for a horizon search over another axis than difficulty."""
    level = args[LEVEL.name]
    if level is None:
        raise UsageError(f"axis={args[AXIS.name]}: give the level of the items, level=N")
    source = open_level(level)
    return source.head(_ITEM_POOL if source.space is None else min(source.space, _ITEM_POOL))


# Thousands of tokens from 1 to 2,048, four to a doubling.
_CONTEXT_LENGTHS = tuple(sorted({round(2 ** (step / 4)) for step in range(4 * 11 + 1)}))


def context_strata(
    environment: Environment[Any, Any, Any],
    options: Mapping[str, Json],
    args: Mapping[str, Any],
    open_level: Callable[[int], Source[Any]],
) -> list[Stratum]:
    """Return the strata of a horizon search over the context's length in tokens, shortest first."""
    axis, longest = args[AXIS.name], args[LONGEST.name]
    if CONTEXT_TOKENS in options:
        raise UsageError(f"{CONTEXT_TOKENS}={options[CONTEXT_TOKENS]}: axis={axis} chooses it; leave one of them out")
    items = level_items(args, open_level)
    context_settings = {name: args[name] for name in (CONTEXT_TEXT, CONTEXT_TOKENIZER) if args[name] is not None}
    lengths = [length for length in _CONTEXT_LENGTHS if length <= longest]

    def context_options(length: int) -> dict[str, Json]:
        """Return the options of play for a context of so many thousand tokens."""
        return {CONTEXT_TOKENS: length * 1000, **context_settings}

    def has_room(length: int) -> bool:
        """Return whether every item fits into a context of so many thousand tokens."""
        try:
            for item in items:
                Episode(environment, item, {**options, **context_options(length)})
        except NoRoomError:
            return False
        return True

    while lengths and not has_room(lengths[0]):  # longer contexts have more room
        lengths = lengths[1:]
    if len(lengths) < 2:
        raise UsageError(
            f"{LONGEST.name}={longest}: too few tokens for items of level {args[LEVEL.name]} among others; raise it"
        )
    reply_tokens = estimate_episode_tokens(environment, options, items[:1]).output  # as without a context
    groups: list[OptionItems] = []
    for length in lengths:
        tokens = Tokens(length * 1000.0, reply_tokens)
        groups.append(OptionItems(float(length), context_options(length), f"context{length}k", items, tokens))
    return option_strata(environment, options, groups)


_SORTED_POOL = 60  # items of each level that are sorted by a difficulty index
_FEWEST_IN_STRATUM = 20  # of these in a stratum


def horizon_config(entry: TaskEntry, args: Mapping[str, Any]) -> HorizonConfig:
    """Return the configuration of a task's horizon search for all of its parameters."""
    return _cached_horizon_config(entry.envs[0], tuple(sorted(args.items())))


@lru_cache(maxsize=4)  # a run asks for it twice, to tell the price and to begin, and sorting maps takes seconds
def _cached_horizon_config(env_id: str, sorted_parameters: tuple[tuple[str, Any], ...]) -> HorizonConfig:
    """Return the configuration of a horizon search, from sorted (name, value) pairs of parameters."""
    environment, args = registry.load(env_id), dict(sorted_parameters)
    spec = environment.difficulty.horizon
    assert spec is not None, "tasks search only where an environment declares its levels"
    declared_options = horizon_play_options(environment, spec)
    play_options = {option.name: args[option.name] for option in declared_options}
    if args[AXIS.name] == CONTEXT_AXIS:
        if not environment.playing.takes_context:
            raise UsageError(f"axis={CONTEXT_AXIS}: items of {env_id} cannot stand among others; choose another axis")
        play_options |= {CONTEXT_TEXT: None, CONTEXT_TOKENIZER: None}  # they go with the lengths
    options = environment.resolve_options(play_options)
    source_options = {option.name: args.get(option.name, option.default) for option in environment.items.options}
    source_options |= spec.source_options
    option_axis = OPTION_AXES.get(args[AXIS.name])
    if option_axis is None and args[LEVEL.name] is not None:
        raise UsageError(f"level={args[LEVEL.name]}: this search chooses levels; give easiest and hardest, or an axis")
    levels = _searched_levels(spec, args["easiest"], args["hardest"])
    budget, in_dollars = parse_budget(args["budget"])
    path = None if args["prices"] is None else Path(args["prices"])
    prices = load_prices(path) if in_dollars or path is not None else None
    rule = StoppingRule(budget=budget, **{name: args[name] for name in ("share", "precision", "most", "batch")})

    def open_level(level: int) -> Source[Any]:
        """Return the source of a level's items."""
        return environment.source(args["key"], level, **source_options)

    index_text = args.get(DIFFICULTY_INDEX)
    index = None if index_text is None else read_difficulty_index(index_text, environment)
    if option_axis is not None and index is not None:
        raise UsageError(f"{DIFFICULTY_INDEX}: axis={option_axis.name} plays one level; leave one of them out")
    if option_axis is not None:
        find_strata = context_strata if option_axis.name == CONTEXT_AXIS else handover_strata
        axis, all_strata = option_axis, find_strata(environment, options, args, open_level)
    else:
        sources = {level: open_level(level) for level in levels}
        axis = environment.difficulty.axes[0] if index is None else index.equivalent_level_axis(environment)
        pool = spec.pool if index is None else spec.pool or _SORTED_POOL
        all_strata = strata_of_levels(environment, options, axis, sources, pool)
        if index is not None:
            # A few unusual items would extend the range to where a search soon has no more of them.
            all_strata = [
                stratum for stratum in all_strata if stratum.n_items is None or stratum.n_items >= _FEWEST_IN_STRATUM
            ]
        if len(all_strata) < 2:
            raise UsageError(
                f"{DIFFICULTY_INDEX}={index_text}: by it, all items are about equally hard; give more levels"
            )
    prices = prices if in_dollars or budget is None else None
    return HorizonConfig(environment, options, axis, all_strata, rule, prices, index)


def _searched_levels(spec: HorizonSpec, easiest: int, hardest: int) -> list[int]:
    """Return the levels of a search from the easiest to the hardest, of which there must be two."""
    if hardest > spec.levels[-1]:
        raise UsageError(f"hardest={hardest}: the levels of this search end at {spec.levels[-1]}")
    if easiest < spec.levels[0]:
        raise UsageError(f"easiest={easiest}: the levels of this search begin at {spec.levels[0]}")
    levels = [level for level in spec.levels if easiest <= level <= hardest]
    if len(levels) < 2:
        raise UsageError(
            f"easiest={easiest}, hardest={hardest}: give at least two of the levels {', '.join(map(str, spec.levels))}"
        )
    return levels


def horizon_quote(entry: TaskEntry, args: Mapping[str, Any], model: str) -> str:
    """Return a line on the number of episodes and the cost of a horizon search.

    Raises:
        UsageError: If the budget is in dollars and there is no price of the model, or if one round exceeds the budget.
    """
    config = horizon_config(entry, args)
    price, budget = config.price(model), config.budget(model)
    candidates = [
        Candidate(stratum.difficulty, stratum.tokens.cost(price), stratum.n_items) for stratum in config.strata
    ]
    searches = forecast_searches(config.rule, candidates)
    cheapest, median, dearest = searches[0], searches[len(searches) // 2], searches[-1]
    first_round_cost = sum(sorted(candidate.cost for candidate in candidates)[: config.rule.batch])
    if budget is not None and first_round_cost > budget:
        raise UsageError(f"budget={args['budget']}: {config.rule.batch} of the shortest episodes cost more; raise it")

    def cost_text(number: float) -> str:
        """Return dollars, or tokens without a price, as a number."""
        return f"{number:,.2f}" if price else f"{number:,.0f}"

    trials = [search.trials for search in searches]
    episodes = f"{plural(median.trials, 'episode')} ({min(trials)} to {max(trials)})"
    cost_range = f"{cost_text(cheapest.cost)} to {cost_text(dearest.cost)}"
    costs = f"{cost_text(median.cost)} {'USD' if price else 'tokens'} ({cost_range})"
    limit = "" if budget is None else f"; the budget is {args['budget']}"
    return f"{entry.name}, {model}: about {episodes} and {costs} for replies without reasoning{limit}"
