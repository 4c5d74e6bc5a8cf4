"""Things that look odd in a submission. None of them is a proof, and none changes the verdict."""

import hashlib
from collections import Counter, defaultdict
from typing import NamedTuple

from waybench.analysis.logs import LoggedEpisode, is_embedded
from waybench.core import Episode, Item, TurnRecord, plural, policy, require_self_contained
from waybench.envs import registry
from waybench.submission._verdict import Finding

ORACLE_SAMPLE = 50  # records of each model that are compared with the oracle's
_SUSPICIOUS = 0.9  # share of episodes from which on equal replies are named
_FEW = 5  # episodes below which no share is named
_FASTEST = 20_000  # output tokens a second
_LONGEST_TOKEN = 200  # characters of a reply for each token that the provider counted


class Conduct(NamedTuple):
    """What may look odd in an episode.

    Attributes:
        model: The model.
        item: What the episode was given.
        replies: SHA-256 of its replies; "" of an embedded player, and without replies.
        oracles: Whether its replies are the oracle's, to the letter; None if they were not compared.
        times: What cannot be in its times and numbers of tokens, once for each reply.
    """

    model: str
    item: tuple[str, str, int]
    replies: str = ""
    oracles: bool | None = None
    times: tuple[str, ...] = ()


def conduct_of(episode: LoggedEpisode, *, against_oracle: bool) -> Conduct:
    """Return what may look odd in an episode, which a simulation need not confirm.

    Args:
        episode: The episode.
        against_oracle: Whether its replies are compared with the oracle's, which takes another simulation.
    """
    record = episode.record
    item = (record.instance_hash, str(sorted(record.options.items(), key=str)), record.attempt)
    replies = [turn.reply for turn in record.own_turns]
    if is_embedded(episode.model) or not replies:
        return Conduct(episode.model, item)
    digest = hashlib.sha256("\0".join(replies).encode("utf-8", "surrogatepass")).hexdigest()
    times = tuple(text for turn in record.own_turns if (text := _strange_time(turn)))
    return Conduct(episode.model, item, digest, _is_oracles(episode) if against_oracle else None, times)


def _strange_time(turn: TurnRecord) -> str:
    usage = turn.usage
    if usage is None or not usage.output_tokens:
        return "replies without any output token" if turn.reply and usage is not None else ""
    if usage.seconds <= 0 or usage.output_tokens / usage.seconds > _FASTEST:
        return f"replies of more than {_FASTEST:,} tokens a second"
    if len(turn.reply) > _LONGEST_TOKEN * usage.output_tokens:
        return "replies with more text than their tokens can have"
    return ""


class OddThings:
    """Looks for odd things in episodes, one at a time."""

    def __init__(self) -> None:
        self._replies: dict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
        self._oracle: dict[str, list[bool]] = defaultdict(list)
        self._times: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, conduct: Conduct) -> None:
        """Take the next episode."""
        if not conduct.replies:
            return
        self._replies[conduct.item][conduct.model] = conduct.replies
        if conduct.oracles is not None:
            self._oracle[conduct.model].append(conduct.oracles)
        self._times[conduct.model].update(conduct.times)

    def findings(self) -> list[Finding]:
        """Return what was found, a line for each kind and model."""
        found: list[Finding] = []
        pairs: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for by_model in self._replies.values():
            names = sorted(by_model)
            for number, first in enumerate(names):
                for second in names[number + 1 :]:
                    pairs[first, second].append(by_model[first] == by_model[second])
        for (first, second), equal in pairs.items():
            if len(equal) >= _FEW and sum(equal) >= _SUSPICIOUS * len(equal):
                text = (
                    f"{first} and {second} gave the same replies in {sum(equal):,} of {plural(len(equal), 'episode')}"
                )
                found.append(Finding("same replies", text))
        for model, same in self._oracle.items():
            if len(same) >= _FEW and sum(same) >= _SUSPICIOUS * len(same):
                text = f"{model} replied as the oracle does, to the letter, in {sum(same)} of {len(same)} episodes"
                found.append(Finding("oracle", text))
        for model, texts in self._times.items():
            for text, count in sorted(texts.items()):
                found.append(Finding("time", f"{model}: {text} ({count:,} of them)"))
        return found


def _is_oracles(episode: LoggedEpisode) -> bool:
    """Return whether an episode's replies are the oracle's, to the letter."""
    record = episode.record
    environment = registry.load(record.env)
    if "oracle" not in environment.players.policies:
        return False
    try:
        require_self_contained(record.options)
        oracle = policy("oracle")
        item = Item(environment.items.decode(record.instance), id="", level=0)
        again = Episode(environment, item, record.options, attempt=record.attempt)
        for turn in record.own_turns:
            if again.done or oracle.reply(again) != turn.reply:
                return False
            again.step(turn.reply)
        return True
    except Exception:  # a record is data from outside
        return False
