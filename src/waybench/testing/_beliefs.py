"""Checks of belief probes: right answers can be given, wrong ones cannot break anything, and records replay."""

import json
from typing import Any

from waybench.core import Episode, EpisodeRecord, ReplayError, policy, replay
from waybench.testing._require import AnyEnvironment, ContractError, Message, require
from waybench.testing._walks import AnyEpisode, items, ways

_PLAYERS = ("oracle", "noisy-0.5", "null")
_HOSTILE = (
    "",
    "{",
    "[]",
    '{{"{name}": null}}',
    '{{"{name}": NaN}}',
    '{{"{name}": [[[[]]]], "{name}": 1}}',
    '{{"{name}": [true, {{}}, "x", 1e400]}}',
    '{{"{name}": {{"{name}": [1, 2]}}}}',
)


def check_beliefs(environment: AnyEnvironment, level: int) -> None:
    """What a belief probe asks for has one right answer, which reads back, and the record of it replays."""
    beliefs = environment.probes
    require(len({belief.name for belief in beliefs}) == len(beliefs), "names of beliefs come twice")
    if not beliefs:
        return
    asked: set[str] = set()
    for options in ways(environment):
        for item in items(environment, level, 2):
            for player in _PLAYERS:
                who = policy(player)
                episode: AnyEpisode = Episode(environment, item, options, player=player)
                what = Message("{}, item {}, {}", options, item.id, player)
                while not episode.done:
                    _ask(episode, asked, who, what)
                    episode.step(who.reply(episode))
                record = episode.record()
                back = EpisodeRecord.from_json(json.loads(record.dumps()))
                try:
                    again = replay(environment, back)
                except ReplayError as error:
                    raise ContractError(f"{what}: the record with probes does not replay: {error}") from error
                require(again.record().dumps() == record.dumps(), "{}: the replay's record is another one", what)
    missing = [belief.name for belief in beliefs if belief.name not in asked]
    require(not missing, f"beliefs that are never asked for: {missing}")


def _ask(episode: AnyEpisode, asked: set[str], who: Any, what: Message) -> None:
    for belief in episode.beliefs:
        asked.add(belief.name)
        value = belief.expected(episode.state)
        right = belief.parse(belief.render(value))
        require(right == value, "{}: the right answer for {} is read as {!r}", what, belief.name, right)
        if belief.share is not None:
            require(belief.share(value, value) == 1.0, "{}: the share of the right answer for {}", what, belief.name)
        for text in _HOSTILE:
            reply = text.format(name=belief.name) if "{{" in text else text
            answer = belief.parse(reply)
            require(answer != value, "{}: {} takes {!r} for the right answer", what, belief.name, reply)
            if belief.share is not None and isinstance(answer, list):
                require(0.0 <= belief.share(value, answer) <= 1.0, "{}: share of {!r}", what, reply)
        episode.probe(belief, who.believe(episode, belief))
