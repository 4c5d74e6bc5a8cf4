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

_POOL = 40  # items, each of which can be played once with each number of steps
_NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


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
    # A prefix is refused where there is only one turn, with a message that says so.
    lengths = {
        item.id: count_oracle_steps(Episode(environment, item, {**options, PREFIX: "oracle:0"})) for item in items
    }
    groups: list[OptionItems] = []
    for number in _NUMBERS:
        first = args[FIRST_STEPS.name]
        prefix = f"oracle:-{number}" if axis == "steps_left" else f"oracle:{first}+random:{number}"
        needed = number if axis == "steps_left" else first
        group = [item for item in items if lengths[item.id] > needed]
        if axis == "random_steps":  # the oracle still succeeds after the prefix, so that a failure is the player's
            played = {**options, PREFIX: prefix}
            group = [
                item
                for item in group
                if environment.difficulty.is_success(play_to_end(environment, item, policy("oracle"), played).record())
            ]
        if group:
            groups.append(OptionItems(float(number), {PREFIX: prefix}, prefix.replace(":", ""), group))
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
    return source.head(_POOL if source.space is None else min(source.space, _POOL))


# Thousands of tokens, four to a doubling.
_LENGTHS = tuple(sorted({round(2 ** (step / 4)) for step in range(45)}))


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
    chosen = {name: args[name] for name in (CONTEXT_TEXT, CONTEXT_TOKENIZER) if args[name] is not None}
    lengths = [length for length in _LENGTHS if length <= longest]

    def context_options(length: int) -> dict[str, Json]:
        """Return the options of play for a context of so many thousand tokens."""
        return {CONTEXT_TOKENS: length * 1000, **chosen}

    def has_room(length: int) -> bool:
        """Return whether every item fits into a context of so many thousand tokens."""
        try:
            for item in items:
                Episode(environment, item, {**options, **context_options(length)})
        except NoRoomError:
            return False
        return True

    while lengths and not has_room(lengths[0]):
        lengths = lengths[1:]
    if len(lengths) < 2:
        raise UsageError(
            f"{LONGEST.name}={longest}: too few tokens for items of level {args[LEVEL.name]} among others; raise it"
        )
    alone = estimate_episode_tokens(environment, options, items[:1])
    groups = [
        OptionItems(
            float(length), context_options(length), f"context{length}k", items, Tokens(length * 1000.0, alone.output)
        )
        for length in lengths
    ]
    return option_strata(environment, options, groups)


_SORTED_POOL = 60  # items of each level that are sorted by a difficulty index
_FEWEST = 20  # of these in a stratum


def horizon_config(entry: TaskEntry, args: Mapping[str, Any]) -> HorizonConfig:
    """Return the configuration of a task's horizon search for all of its parameters."""
    return _cached_horizon_config(entry.envs[0], tuple(sorted(args.items())))


@lru_cache(maxsize=4)  # a run asks for it twice, to tell the price and to begin, and sorting maps takes seconds
def _cached_horizon_config(env_id: str, sorted_parameters: tuple[tuple[str, Any], ...]) -> HorizonConfig:
    """Return the configuration of a horizon search, from sorted (name, value) pairs of parameters."""
    environment, args = registry.load(env_id), dict(sorted_parameters)
    spec = environment.difficulty.horizon
    assert spec is not None, "tasks search only where an environment declares its levels"
    played = horizon_play_options(environment, spec)
    play_options = {option.name: args[option.name] for option in played}
    if args[AXIS.name] == CONTEXT_AXIS:
        if not environment.playing.takes_context:
            raise UsageError(f"axis={CONTEXT_AXIS}: items of {env_id} cannot stand among others; choose another axis")
        play_options |= {CONTEXT_TEXT: None, CONTEXT_TOKENIZER: None}  # they go with the lengths
    options = environment.resolve_options(play_options)
    style = {option.name: args.get(option.name, option.default) for option in environment.items.options}
    style |= spec.source_options
    along_option = OPTION_AXES.get(args[AXIS.name])
    if along_option is None and args[LEVEL.name] is not None:
        raise UsageError(f"level={args[LEVEL.name]}: this search chooses levels; give easiest and hardest, or an axis")
    if args["hardest"] > spec.levels[-1]:
        raise UsageError(f"hardest={args['hardest']}: the levels of this search end at {spec.levels[-1]}")
    if args["easiest"] < spec.levels[0]:
        raise UsageError(f"easiest={args['easiest']}: the levels of this search begin at {spec.levels[0]}")
    levels = [level for level in spec.levels if args["easiest"] <= level <= args["hardest"]]
    if len(levels) < 2:
        raise UsageError(
            f"easiest={args['easiest']}, hardest={args['hardest']}: give at least two of the levels "
            f"{', '.join(map(str, spec.levels))}"
        )
    budget, in_dollars = parse_budget(args["budget"])
    path = None if args["prices"] is None else Path(args["prices"])
    prices = load_prices(path) if in_dollars or path is not None else None
    rule = StoppingRule(
        share=args["share"],
        precision=args["precision"],
        most=args["most"],
        budget=budget,
        batch=args["batch"],
    )

    def open_level(level: int) -> Source[Any]:
        return environment.source(args["key"], level, **style)

    named = args.get(DIFFICULTY_INDEX)
    index = None if named is None else read_difficulty_index(named, environment)
    if along_option is not None and index is not None:
        raise UsageError(f"{DIFFICULTY_INDEX}: axis={along_option.name} plays one level; leave one of them out")
    if along_option is not None:
        find = context_strata if along_option.name == CONTEXT_AXIS else handover_strata
        axis, all_strata = along_option, find(environment, options, args, open_level)
    else:
        sources = {level: open_level(level) for level in levels}
        axis = environment.difficulty.axes[0] if index is None else index.equivalent_level_axis(environment)
        pool = spec.pool if index is None else spec.pool or _SORTED_POOL
        all_strata = strata_of_levels(environment, options, axis, sources, pool)
        if index is not None:
            # A few unusual items would extend the range to where a search soon has no more of them.
            all_strata = [stratum for stratum in all_strata if stratum.n_items is None or stratum.n_items >= _FEWEST]
        if len(all_strata) < 2:
            raise UsageError(f"{DIFFICULTY_INDEX}={named}: by it, all items are about equally hard; give more levels")
    prices = prices if in_dollars or budget is None else None
    return HorizonConfig(environment, options, axis, all_strata, rule, prices, index)


def horizon_quote(entry: TaskEntry, args: Mapping[str, Any], model: str) -> str:
    """Return a line on the number of episodes and the cost of a horizon search.

    Raises:
        UsageError: If the budget is in dollars and there is no price of the model, or if one round exceeds the budget.
    """
    plan = horizon_config(entry, args)
    price, budget = plan.price(model), plan.budget(model)
    candidates = [Candidate(stratum.difficulty, stratum.tokens.cost(price), stratum.n_items) for stratum in plan.strata]
    searched = forecast_searches(plan.rule, candidates)
    least, usual, most = searched[0], searched[len(searched) // 2], searched[-1]
    first = sum(sorted(candidate.cost for candidate in candidates)[: plan.rule.batch])
    if budget is not None and first > budget:
        raise UsageError(f"budget={args['budget']}: {plan.rule.batch} of the shortest episodes cost more; raise it")

    def cost_text(number: float) -> str:
        return f"{number:,.2f}" if price else f"{number:,.0f}"

    trials = [search.trials for search in searched]
    episodes = f"{plural(usual.trials, 'episode')} ({min(trials)} to {max(trials)})"
    costs = (
        f"{cost_text(usual.cost)} {'USD' if price else 'tokens'} ({cost_text(least.cost)} to {cost_text(most.cost)})"
    )
    limit = "" if budget is None else f"; the budget is {args['budget']}"
    return f"{entry.name}, {model}: about {episodes} and {costs} for replies without reasoning{limit}"
