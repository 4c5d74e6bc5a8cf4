"""Episodes of hostile replies, in 19 families with fixed keys, in every environment, wording and protocol.

Nothing raises, each turn has a known outcome, each episode keeps to its limits, each number is finite and within its
declared range, and each record replays to the same one. COUNTS says how many replies there are.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

import waybench
from tests.hostile_replies import FAMILIES, LONG, Seen
from waybench.core import (
    End,
    Environment,
    Episode,
    EpisodeRecord,
    Item,
    Json,
    Reply,
    Stream,
    evenly_spaced_values,
    replay,
)
from waybench.envs import registry
from waybench.testing._walks import option_combinations

OUTCOMES = {"ok", "unparsed", "illegal", "unproductive", "truncated", "overflow", "refused"}
ENDS = {"solved", "failed", "turn_limit", "invalid_limit"}
STOPS = ("stop",) * 12 + ("truncated", "overflow", "refused")  # most replies are what the model wanted to say
IDS = [entry.id for entry in registry.built_in]

WAYS = 108  # combinations of environment, wording and protocol
FAST, SLOW = 3, 24  # hostile replies of each family in each of them
COUNTS = {FAST: 6_156, SLOW: 49_248}  # over all of them

AnyEpisode = Episode[Any, Any, Any]


def good_replies(episode: AnyEpisode, rng: Stream) -> tuple[str, str]:
    """Return two replies that name legal actions, the first one often the oracle's."""
    play, state = episode.play, episode.state
    legal = evenly_spaced_values(play.game.legal(state), 12)
    best = episode.environment.players.policies["oracle"](state, rng) if rng.below(2) else rng.choice(legal)
    return play.wording.render(best, state), play.wording.render(rng.choice(legal), state)


def played(
    env: Environment[Any, Any, Any], item: Item[Any], options: dict[str, Json], replies: int
) -> Iterator[tuple[AnyEpisode, int]]:
    """Yield episodes with so many hostile replies of each family in all, and how many each of them has.

    Families come in an order of their own in each way of playing, and one reply in four is a good one, so that not all
    hostile replies are to the first states.
    """
    families, key = [name for name in FAMILIES for _ in range(replies)], (env.id, json.dumps(options), item.id)
    Stream("order of families", *key).shuffle(families)
    attempt = 0
    while families:
        attempt += 1
        episode: AnyEpisode = Episode(env, item, options, attempt=attempt, player="hostile")
        said, before = list[str](), len(families)
        while families and not episode.done:
            rng = Stream("hostile replies", *key, attempt, len(said))
            good, other = good_replies(episode, rng)
            name, stop = ("good", "stop") if rng.below(4) == 0 else (families.pop(), rng.choice(STOPS))
            seen = Seen(good, other, episode.messages[-1].text, said)
            said.append(good if name == "good" else FAMILIES[name](rng, seen))
            try:
                episode.step(Reply(said[-1], stop))
            except Exception as error:
                error.add_note(f"{options}, {name}: {said[-1][:500]!r}")
                raise
        yield episode, before - len(families)


def check(env: Environment[Any, Any, Any], episode: AnyEpisode) -> None:
    counted = episode.limits.turns - episode.turns_left
    assert 0 <= counted <= min(len(episode.turns), episode.limits.turns)
    assert episode.done or episode.turns_left > 0
    for turn in episode.turns:
        assert str(turn.outcome) in OUTCOMES
        assert turn.message.strip()
        turn.message.encode()  # it is sent
        assert turn.reason is None or len(turn.reason) <= 500
        assert math.isfinite(turn.reward)
    for message in episode.messages:
        assert message.role == "assistant" or message.text.encode()
    if not episode.done:
        episode.end(End.TURN_LIMIT, "enough")
    line = episode.record().dumps()
    assert line.isascii() and "\n" not in line
    record = EpisodeRecord.from_json(json.loads(line))
    assert record.end in ENDS
    assert record.dumps() == line
    again = replay(env, record)
    assert again.record().dumps() == line
    assert again.messages == episode.messages
    check_numbers(env, record)


def check_numbers(env: Environment[Any, Any, Any], record: EpisodeRecord) -> None:
    for one in (*env.scoring.metrics, *env.scoring.series):
        found = one.of(record)
        low, high = one.range_of(record)
        for value in found if isinstance(found, list | tuple) else (found,):
            if value is not None:
                assert math.isfinite(value), one.name
                assert low is None or value >= low - 1e-9, one.name
                assert high is None or value <= high + 1e-9, one.name
    kind = env.scoring.failure_of(record)
    assert kind is None or kind.name in {each.name for each in env.scoring.failure_kinds}


def tried(env_id: str, level: int, replies: int) -> int:
    """Play an environment in all ways, and return how many hostile replies were tried."""
    env, count, outcomes = waybench.load(env_id), 0, set[str]()
    item = env.source(level=level).item(0)
    for options in option_combinations(env):
        for episode, hostile in played(env, item, options, replies):
            try:
                check(env, episode)
            except Exception as error:
                error.add_note(f"{options}, attempt {episode.attempt}")
                raise
            count += hostile
            outcomes |= {str(turn.outcome) for turn in episode.turns}
    assert outcomes >= {"ok", "unparsed", "refused"}
    assert outcomes & {"truncated", "overflow"}
    return count


@pytest.mark.parametrize("env_id", IDS)
def test_hostile_replies_at_the_smallest_level(env_id: str) -> None:
    env = waybench.load(env_id)
    assert tried(env_id, env.items.smallest_level, FAST) == len(option_combinations(env)) * len(FAMILIES) * FAST


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_hostile_replies_at_the_hardest_sample_level(env_id: str) -> None:
    env = waybench.load(env_id)
    assert tried(env_id, env.items.sample_levels[-1], SLOW) == len(option_combinations(env)) * len(FAMILIES) * SLOW


def test_the_number_of_hostile_replies_does_not_shrink() -> None:
    total = sum(len(option_combinations(waybench.load(env_id))) for env_id in IDS)
    assert total >= WAYS
    assert all(WAYS * len(FAMILIES) * replies >= least for replies, least in COUNTS.items())


def test_a_family_makes_many_replies_and_always_the_same() -> None:
    seen = Seen('{"movements": [{"direction": "up", "cells": 12}]}', "left 3", "Where do you go?\nA map.", ["x", "12"])
    for name, family in FAMILIES.items():
        made = [family(Stream("variety", name, number), seen) for number in range(100)]
        assert made == [family(Stream("variety", name, number), seen) for number in range(100)]
        assert len(set(made)) >= 6, name
        assert made.count(seen.good) <= 10, name
        assert max(map(len, made)) <= 3 * LONG, name
