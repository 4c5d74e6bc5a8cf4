"""Things that look odd in a submission. None of them is a proof, and none changes the verdict."""

import hashlib
from collections import defaultdict

from waybench.analysis.logs import LoggedEpisode, is_embedded
from waybench.core import Episode, Item, plural, policy
from waybench.envs import registry
from waybench.submission._verdict import Finding

_ORACLE_SAMPLE = 50  # episodes of each model that are compared with the oracle's
_SUSPICIOUS = 0.9  # share of episodes from which on equal replies are named
_FEW = 5  # episodes below which no share is named
_FASTEST = 20_000  # output tokens a second
_LONGEST_TOKEN = 200  # characters of a reply for each token that the provider counted


class OddThings:
    """Looks for odd things in episodes, one at a time."""

    def __init__(self) -> None:
        self._replies: dict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
        self._oracle: dict[str, list[bool]] = defaultdict(list)
        self._times: dict[str, list[str]] = defaultdict(list)
        self._episodes: dict[str, int] = defaultdict(int)

    def add(self, episode: LoggedEpisode) -> None:
        """Take the next episode, which a simulation need not confirm."""
        record, model = episode.record, episode.model
        replies = [turn.reply for turn in record.turns]
        self._episodes[model] += 1
        if is_embedded(model) or not replies:
            return
        item = (record.instance_hash, str(sorted(record.options.items(), key=str)), record.attempt)
        self._replies[item][model] = hashlib.sha256("\0".join(replies).encode("utf-8", "surrogatepass")).hexdigest()
        if len(self._oracle[model]) < _ORACLE_SAMPLE:
            self._oracle[model].append(_is_oracles(episode))
        for turn in record.turns:
            usage = turn.usage
            if usage is None or not usage.output_tokens:
                if turn.reply and usage is not None:
                    self._times[model].append("replies without any output token")
            elif usage.seconds <= 0 or usage.output_tokens / usage.seconds > _FASTEST:
                self._times[model].append(f"replies of more than {_FASTEST:,} tokens a second")
            elif len(turn.reply) > _LONGEST_TOKEN * usage.output_tokens:
                self._times[model].append("replies with more text than their tokens can have")

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
            for text in sorted(set(texts)):
                found.append(Finding("time", f"{model}: {text} ({texts.count(text):,} of them)"))
        return found


def _is_oracles(episode: LoggedEpisode) -> bool:
    """Return whether an episode's replies are the oracle's, to the letter."""
    record = episode.record
    environment = registry.load(record.env)
    if "oracle" not in environment.players:
        return False
    try:
        oracle = policy("oracle")
        item = Item(environment.decode(record.instance), id="", level=0)
        again = Episode(environment, item, record.options, attempt=record.attempt)
        for turn in record.turns:
            if again.done or oracle.reply(again) != turn.reply:
                return False
            again.step(turn.reply)
        return True
    except Exception:  # a record is data from outside
        return False
