"""No interval goes beyond the bounds that a metric declares for its protocol, its options and its instances."""

from collections.abc import Iterator
from typing import Any

import pytest

import waybench
from waybench.core import Bounded, Environment, EpisodeRecord, play_to_end, policy
from waybench.envs import registry
from waybench.results import Estimate, LoggedEpisode, by_level, overall
from waybench.results.results import exclude
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._measured_row import measured_row
from waybench.results.stats import IntervalEstimate

COUNTS = (6,)  # the fewest that have an interval: it is widest
MOST_ITEMS = 200  # in which so many clusters are looked for
PLAYERS = ("random", "heuristic", "noisy-0.3")
ENTRIES = tuple(entry.id for entry in registry.built_in)


def ways(env: Environment[Any, Any, Any]) -> Iterator[dict[str, Any]]:
    for protocol in next(option for option in env.playing.options if option.name == "protocol").choices:
        yield {**env.playing.check_options, "protocol": protocol}


def records(env: Environment[Any, Any, Any], count: int, level: int, options: Any, player: str) -> list[EpisodeRecord]:
    """Return one episode of each of so many clusters; of a level with one item alone, as many attempts."""
    source = env.source(level=level)
    if source.space is not None and source.space < count:
        item = source.item(0)
        return [
            play_to_end(env, item, policy(player), options, attempt=attempt + 1).record() for attempt in range(count)
        ]
    found: dict[str, EpisodeRecord] = {}
    for index in range(MOST_ITEMS):
        record = play_to_end(env, source.item(index), policy(player), options).record()
        found.setdefault(env.items.cluster(record) if env.items.cluster else record.instance_hash, record)
        if len(found) == count:
            break
    return list(found.values())


def estimates(made: list[EpisodeRecord]) -> list[Estimate]:
    known = ReferenceLookup()
    logged = [LoggedEpisode(model="m", task="t", record=record, log="") for record in made]
    rows = exclude(measured_row(each, anchors=known.scores(each.record, measured_row(each).group)) for each in logged)
    return [*by_level(rows), *overall(rows)]


def numbers(env: Environment[Any, Any, Any], found: Estimate) -> Iterator[tuple[Bounded, IntervalEstimate | None]]:
    for metric in env.scoring.metrics:
        yield metric, found.metrics.get(metric.name)
        yield metric, found.macro.get(metric.name)
    yield env.scoring.metrics[0], found.best
    yield env.scoring.metrics[0], found.mean
    for series in env.scoring.series:
        curve = found.curves.get(series.name)
        for mean in (*curve.steps, curve.average) if curve else ():
            yield series, mean


def within(one: Bounded, found: Estimate, mean: IntervalEstimate) -> bool:
    low, high = found.ranges[one.name]
    assert one.unbounded or (low is not None and high is not None), f"{one.name} has no bounds and does not say why"
    values = [value for value in (mean.low, mean.value, mean.high) if value is not None]
    slack = 1e-9 * max(map(abs, values))
    return all((low is None or low - slack <= value) and (high is None or value <= high + slack) for value in values)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENTRIES)
def test_no_interval_leaves_the_declared_bounds(env_id: str) -> None:
    env, seen = waybench.load(env_id), 0
    for options in ways(env):
        for level in env.items.sample_levels[:2]:
            for count, player in ((count, player) for count in COUNTS for player in PLAYERS):
                for found in estimates(records(env, count, level, options, player)):
                    for one, mean in numbers(env, found):
                        if mean is not None:
                            assert within(one, found, mean), (options, level, player, one.name, mean)
                            seen += mean.low is not None
    assert seen


@pytest.mark.parametrize("env_id", ENTRIES)
def test_ranges_do_not_depend_on_what_was_replied(env_id: str) -> None:
    """An episode that an infrastructure error ended has the bounds of what it could have been."""
    env = waybench.load(env_id)
    for options in ways(env):
        (record,) = records(env, 1, env.items.smallest_level, options, "random")
        (silent,) = records(env, 1, env.items.smallest_level, options, "null")
        assert record.turns != silent.turns
        for one in (*env.scoring.metrics, *env.scoring.series):
            assert one.range_of(record) == one.range_of(silent), one.name
