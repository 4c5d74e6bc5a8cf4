"""Hostile replies by place: a good reply or call, spoilt in one place of its schema, in every environment.

Nulls and wrong types stand in every place, brackets are within each other from once to 5,000 times, and marks of
reasoning and typographic twins are anywhere. Nothing raises, and each record replays to the same one.
`python -m tests.contract.test_hostile_places 1000000` tries so many in all.
"""

import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import waybench
from tests.contract.test_hostile_replies import good_replies
from tests.hostile_json import places
from waybench.core import INTERFACE, TOOLS, Episode, EpisodeRecord, Json, Outcome, Stream, calls_in_reply, replay
from waybench.envs import registry
from waybench.testing._walks import option_combinations

IDS = [entry.id for entry in registry.built_in]
FAST, SLOW = 40, 1_000  # replies in each way of playing
MOST_DEEP = 5_000

AnyEpisode = Episode[Any, Any, Any]

_VALUES: tuple[Json, ...] = (
    *(None, None, None, True, False, 0, -1, 2**31, 10**30, 0.5, -0.0, 1e308, 1e999, float("nan")),
    *("", " ", "\0", "\ud800", "null", "None", "...", "<list>", "[]", '{"k": null}', "<think>", "x" * 2_000),
    *([], {}, [None], [[None]], {"": None}, [[]], [{}], {"direction": None}, [None, "up"], ["up", None], ["..."]),
)
_OPENED = ("[", '{"k":', "{'k':", "(", '{"movements":[', '[{"location_before":', '{"calls":[', '"{\\"k\\":', "{")
_CLOSED = ("]", "}", "}", ")", "]}", "}]", "]}", '}"', "}")
_MARKS = (
    *("<think>", "</think>", "<THINK>", "[THINK]", "[/THINK]", "<seed:think>", "</seed:think>", "◁think▷", "◁/think▷"),
    *("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>", "<|start|>assistant", "<|return|>"),
    *(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|START_RESPONSE|>",
        "<answer>",
        "</answer>",
        "<response>",
        "analysis",
    ),
    *("<|channel>thought\n", "<channel|>", "Here is my thought process:", "Here is my response:", "assistantfinal"),
)
_TWINS = (
    "\u2018\u2019\u201c\u201d\u2032\u02bc\u00b4\u2010\u2011\u2013\u2014\u2212\u2026\u00ad\u200b\u2060\ufeff\uff0d"
    "\u00a0\u3000"
)


def _spoilt(data: Json, rng: Stream) -> Json:
    """Return data with another value, or another name, in one of its places."""
    at = rng.choice(list(places(data)))
    value = rng.choice(_VALUES)
    if not at:
        return value
    data = copy.deepcopy(data)
    parent = data
    for name in at[:-1]:
        parent = parent[name]
    change = rng.below(5)
    if change == 0:
        del parent[at[-1]]
    elif change == 1 and isinstance(parent, dict):
        parent[rng.choice(("", "k", "\ud800", "direction"))] = parent.pop(at[-1])
    elif change == 2 and isinstance(parent, list):
        parent.insert(rng.below(len(parent) + 1), value)
    else:
        parent[at[-1]] = value
    return data


def _deep(text: str, rng: Stream) -> str:
    """Return a text with brackets within each other, around it, in it or beside it, closed or not."""
    kind, depth = rng.below(len(_OPENED)), 1 + rng.below(MOST_DEEP)
    opened, closed = _OPENED[kind] * depth, _CLOSED[kind] * (depth if rng.below(2) else rng.below(2))
    at = rng.below(len(text) + 1)
    return rng.choice((opened + text + closed, text[:at] + opened + closed + text[at:], text + opened + closed))


def _inserted(text: str, rng: Stream, pieces: Any) -> str:
    for _ in range(1 + rng.below(4)):
        at = rng.choice((0, len(text), rng.below(len(text) + 1)))
        text = text[:at] + rng.choice(pieces) + text[at:]
    return text


def _written(data: Json, rng: Stream) -> str:
    """Return data in one of the forms of JSON."""
    text = json.dumps(data)
    form = rng.below(8)
    wrapped = (repr(data), json.dumps(text), json.dumps({"answer": data}), f"{text[:-1]},{text[-1:]}", f"[{text}]")
    return wrapped[form] if form < len(wrapped) else text


def hostile(good: str, other: str, rng: Stream) -> str:
    """Return a good reply, spoilt."""
    calls = calls_in_reply(good).calls
    if calls:
        arguments = dict(calls[0].arguments)
        kind = rng.below(4)
        if kind == 0:
            spoilt = json.dumps(_spoilt({"calls": [{"name": calls[0].name, "arguments": arguments}], "text": "x"}, rng))
        else:
            spoilt = json.dumps(_spoilt(arguments, rng) if kind < 3 else arguments)
            spoilt = f'{{"calls": [{{"name": {json.dumps(calls[0].name)}, "arguments": {spoilt}}}]}}'
        return _deep(spoilt, rng) if kind == 3 else spoilt
    try:
        data = json.loads(good)
    except ValueError:
        data = rng.choice(({"action": good}, [good], good))
    kind = rng.below(6)
    if kind < 3:
        text = _written(_spoilt(data, rng), rng)
        return text if rng.below(3) else rng.choice((f"{text} {other}", f"{good} {text}", f"{good}, that is {text}"))
    if kind == 3:
        return _deep(good, rng)
    return _inserted(good, rng, _MARKS if kind == 4 else _TWINS)


def episodes(env_id: str, replies: int) -> Iterator[tuple[AnyEpisode, int]]:
    """Yield episodes in all ways of playing an environment, with the number of hostile replies in each."""
    env = waybench.load(env_id)
    item = env.source(level=env.items.smallest_level).item(0)
    for options in [{**way, **interface} for way in option_combinations(env) for interface in ({}, {INTERFACE: TOOLS})]:
        left, attempt = replies, 0
        while left > 0:
            attempt += 1
            episode: AnyEpisode = Episode(env, item, options, attempt=attempt, player="hostile")
            key, count = (env_id, json.dumps(options), attempt), 0
            while count < left and not episode.done:
                rng = Stream("hostile places", *key, len(episode.turns))
                good, other = good_replies(episode, rng)
                said = good if rng.below(8) == 0 else hostile(good, other, rng)
                try:
                    turn = episode.step(said)
                except Exception as error:
                    error.add_note(f"{env_id}, {options}: {said[:500]!r}")
                    raise
                assert turn.reason is None or len(turn.reason) <= 500
                count += said != good
            yield episode, count
            left -= max(count, 1)


def check(episode: AnyEpisode) -> Counter[Outcome]:
    """Check that an episode's record replays to the same one, and count its outcomes."""
    record = episode.record()
    line = record.dumps()
    if record.end is not None or episode.turns:
        again = replay(episode.environment, EpisodeRecord.from_json(json.loads(line)))
        assert again.record().dumps() == line
    return Counter(turn.outcome for turn in episode.turns)


def tried(env_id: str, replies: int) -> tuple[int, Counter[Outcome]]:
    """Try hostile replies in all ways of playing an environment; return how many there were, and all outcomes."""
    count, outcomes = 0, Counter[Outcome]()
    for episode, hostile_replies in episodes(env_id, replies):
        outcomes += check(episode)
        count += hostile_replies
    return count, outcomes


@pytest.mark.parametrize("env_id", IDS)
def test_hostile_places(env_id: str) -> None:
    count, outcomes = tried(env_id, FAST)
    assert count >= FAST * len(option_combinations(waybench.load(env_id)))
    assert outcomes[Outcome.UNPARSED] and outcomes.total() > outcomes[Outcome.UNPARSED]


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_many_hostile_places(env_id: str) -> None:
    count, _ = tried(env_id, SLOW)
    assert count >= SLOW * len(option_combinations(waybench.load(env_id)))


def main(total: int, shares: int, share: int) -> None:
    """Try so many replies over all ways of playing of every second, third, ... environment, and print the counts."""
    in_all = sum(2 * len(option_combinations(waybench.load(env_id))) for env_id in IDS)
    for env_id in IDS[share::shares]:
        began = time.monotonic()
        count, outcomes = tried(env_id, -(-total // in_all))
        listed = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
        print(f"{env_id}: {count} replies, {time.monotonic() - began:.0f} s: {listed}", flush=True)


if __name__ == "__main__":
    main(*map(int, (*sys.argv[1:], "1", "0")[:3]))
