"""Episode store: one row per episode in memory, records on disk, and the common prefix of prompts."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from waybench.core import EpisodeRecord, Instance, Message, Price, to_pickle
from waybench.core._spool import Spool
from waybench.envs import registry
from waybench.reporting._cache import ReportCache
from waybench.reporting._format import Excerpt, excerpt_with_end
from waybench.reporting._reading import ReadBatch, read_batches
from waybench.results import LoggedEpisode, Row
from waybench.results.estimates._bounds import ClusterVariables, Variables
from waybench.results.logs import EpisodeBatches, Skipped, skipped_part
from waybench.results.results import Cluster, RunKey, Simulated, exclude, group_by

T = TypeVar("T")
LEAST = 400  # characters: a shorter common beginning of a message stays where it is


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation.

    Attributes:
        who: "prompt", "reply" or "answer".
        title: Its heading.
        text: Its text; of an answer with `folds`, the text after the last of them.
        outcome: The outcome of a reply.
        reason: Why a reply was not carried out.
        instead: The teacher's action in place of a reply's, if it is another one.
        read: The text that a reply was read as.
        reasoning: The model's reasoning before a reply.
        cost: Tokens and time of a reply, in words.
        note: A note on a reply of which no action was read.
        folds: Repeated parts of an answer, which are folded, each after the new text before it.
    """

    who: str
    title: str
    text: Excerpt
    outcome: str = ""
    reason: str = ""
    instead: Excerpt | None = None
    read: str = ""
    reasoning: Excerpt | None = None
    cost: str = ""
    note: str = ""
    folds: Sequence[tuple[str, Excerpt]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether a reply consists only of the text that it was read as."""
        return self.text.text.strip() == self.read

    @property
    def marked(self) -> tuple[str, str, str] | None:
        """A reply split around the only place of the text that it was read as; None if there is no such place."""
        if not self.read or self.is_plain:
            return None
        before, match, after = self.text.text.partition(self.read)
        return (before, match, after) if match and self.read not in after else None


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """The common prefix of several prompts.

    Attributes:
        messages: Messages that are the same in all of them.
        beginning: The common beginning of the next message; None without one of at least `LEAST` characters.
    """

    messages: tuple[Message, ...] = ()
    beginning: Message | None = None

    @property
    def characters(self) -> int:
        """Its length in characters."""
        return sum(len(message.text) for message in self.messages) + len(self.beginning.text if self.beginning else "")

    def remaining_messages(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages of a prompt after the prefix."""
        remaining = list(messages[len(self.messages) :])
        if remaining and self.beginning is not None:
            remaining[0] = remaining[0]._replace(text=remaining[0].text[len(self.beginning.text) :])
        return remaining

    def page_messages(self, longest: int) -> list[Said]:
        """Return the prefix as messages of a page, each cut to at most `longest` characters."""
        messages = self.messages if self.beginning is None else (*self.messages, self.beginning)
        return [_prompt_message(message, longest) for message in messages]


class PrefixFinder:
    """Finds the common prefix of prompts one prompt at a time."""

    def __init__(self) -> None:
        self._first: tuple[Message, ...] | None = None
        self._alike = 0  # messages that are the same in all, of which at least one of each prompt is left
        self._next: Message | None = None  # what all have in common of the one after these; None if roles differ
        self._differs = False

    def add_prompt(self, prompt: Sequence[Message]) -> None:
        if self._first is None:
            self._first = tuple(prompt)
            self._alike = max(len(prompt) - 1, 0)
            self._next = prompt[self._alike] if prompt else None
            return
        alike = 0
        most = min(self._alike, len(prompt) - 1)
        while alike < most and prompt[alike] == self._first[alike]:
            alike += 1
        if alike < self._alike:
            self._alike, self._next, self._differs = max(alike, 0), None, False
            if prompt and self._first:
                self._next = self._first[self._alike]
        if self._next is None or not prompt:
            self._next = None
            return
        other = prompt[self._alike]
        if other != self._next:
            self._differs = True
            common = _common_prefix(self._next.text, other.text)
            self._next = Message(other.role, common) if other.role == self._next.role else None

    def shared_prefix(self) -> SharedPrefix:
        """Return the common prefix, after which each prompt has at least one message, or the end of one, left.

        Whole messages count however short they are; of the message after them, the common beginning up to the end of a
        line does if it is long.
        """
        messages = (self._first or ())[: self._alike]
        if self._next is None or not self._differs:
            return SharedPrefix(messages)
        common = self._next.text[: self._next.text.rfind("\n") + 1]
        return SharedPrefix(messages, Message(self._next.role, common) if len(common) >= LEAST else None)


def _common_prefix(first: str, second: str) -> str:
    """Return the common prefix of two texts."""
    alike, most = 0, min(len(first), len(second))
    while alike < most:  # halving: prompts are long, and so are their beginnings
        middle = (alike + most + 1) // 2
        if first[:middle] == second[:middle]:
            alike = middle
        else:
            most = middle - 1
    return first[:alike]


def prompt_messages(record: EpisodeRecord, shared: SharedPrefix, longest: int) -> list[Said]:
    """Return the messages of a prompt after its shared prefix, each cut to at most `longest` characters."""
    return [_prompt_message(message, longest) for message in shared.remaining_messages(record.opening)]


def _prompt_message(message: Message, longest: int) -> Said:
    """Return a message of a prompt for a page, cut to at most `longest` characters."""
    return Said("prompt", prompt_heading(message.role), excerpt_with_end(message.text, longest))


def prompt_heading(role: str) -> str:
    """Return the heading of a prompt's message from the message's role."""
    return {"system": "System prompt", "user": "Prompt"}.get(role, role)


class StoredEpisode(NamedTuple):
    """An episode with its row, outcomes and origin.

    Attributes:
        number: Its number in its group, from 1, in the order of the logs.
        again: The new simulation of its record.
        instance: Its instance; None if it cannot be decoded from the record.
    """

    number: int
    row: Row
    episode: LoggedEpisode
    again: Simulated
    instance: Instance | None


class EpisodeStore:
    """All episodes of a report.

    Attributes:
        rows: Their rows, with those excluded that do not count.
        variables: Explanatory variables of scores, by group and cluster.
        numbers: The number of each row in its group, from 1.
        again: The new simulation of each row's record.
        identities: For each row, a digest of everything that its row and its page are made of.
        simulated: Number of episodes that were simulated again; the others are from the cache.
        passed_over: Episodes that are skipped, since they cannot be measured.
        unread: Parts of the logs that could not be read.
        prices: Prices of the models' tokens, as far as they are known.
    """

    def __init__(
        self,
        episodes: Iterable[LoggedEpisode] | EpisodeBatches,
        prices: Mapping[str, Price],
        cache: ReportCache | None = None,
        progress: Callable[[int], None] | None = None,
        processes: int = 1,
    ) -> None:
        """Simulate and measure all episodes and write them to disk.

        Args:
            episodes: The episodes.
            prices: Prices of the models' tokens, as far as they are known.
            cache: The results of an earlier report; none by default.
            progress: Receives the number of episodes after each batch.
            processes: Number of processes that read batches.
        """
        self.prices = prices
        self.identities: list[bytes] = []
        self.simulated = 0
        # A run of 10,000 questions about long stories takes gigabytes in memory.
        self._records = Spool[int]()
        self.again: list[Simulated] = []
        self.passed_over: list[Skipped] = []
        self.unread: list[Skipped] = []
        self._heads: list[LoggedEpisode] = []
        self._common: dict[tuple[RunKey, int, Cluster | None], PrefixFinder] = defaultdict(PrefixFinder)
        self._last: tuple[str, str, Instance] | None = None
        try:
            self._store_batches(
                read_batches(episodes, prices, cache or ReportCache(None), processes), progress or (lambda done: None)
            )
        except BaseException:
            self.close()
            raise

    def _store_batches(self, batches: Iterable[ReadBatch], progress: Callable[[int], None]) -> None:
        """Store the episodes of all batches; `progress` receives the number stored so far."""
        rows: list[Row] = []
        variables, shared = ClusterVariables(), _SharedValues()
        for batch in batches:
            self.unread += batch.unread
            self.passed_over += batch.problems
            self.simulated += batch.simulated
            for identity, (episode, row, again), data in batch.episodes:
                try:
                    variables.add(row, episode.record)
                except Exception as error:  # a record is data from outside: it is not to take the others with it
                    self.passed_over.append(skipped_part(episode.log, error, episode.sample))
                    continue
                # By level, and by what is known to be drawn together; a cluster without a key is an instance by itself.
                for cluster in (None, row.cluster) if row.cluster.key else (None,):
                    self._common[row.group, row.level, cluster].add_prompt(episode.record.opening)
                self._records.add_compressed(len(rows), data)
                self.again.append(shared.with_shared_fields(again, _ALIKE_SIMULATIONS))
                self._heads.append(shared.with_shared_fields(episode, _ALIKE_EPISODES, record=_NO_RECORD))
                self.identities.append(identity)
                rows.append(shared.with_shared_fields(row, _ALIKE_ROWS))
            progress(len(rows))
        self.rows = exclude(rows)
        self.variables: Mapping[RunKey, Mapping[Cluster, Variables]] = variables.by_group(self.rows)
        counts = Counter[RunKey]()
        self.numbers: list[int] = []
        for row in self.rows:
            counts[row.group] += 1
            self.numbers.append(counts[row.group])
        self._positions = group_by(range(len(self.rows)), lambda position: self.rows[position].group)

    def close(self) -> None:
        """Delete the records on disk."""
        self._records.close()

    def positions(self, group: RunKey) -> list[int]:
        """Return the indices of a group's episodes in `rows`."""
        return self._positions.get(group, [])

    def load(self, positions: Iterable[int]) -> Iterator[StoredEpisode]:
        """Yield the episodes at these indices of `rows`, read from disk one at a time."""
        for position in positions:
            record = EpisodeRecord.from_json(json.loads(self._records.get(position)))
            yield StoredEpisode(
                self.numbers[position],
                self.rows[position],
                replace(self._heads[position], record=record),
                self.again[position],
                self._decode_instance(record, self.again[position]),
            )

    def shared_prefix(self, group: RunKey, level: int, cluster: Cluster | None) -> SharedPrefix:
        """Return the common prefix of the prompts of a group at a level, in one cluster or, with None, in all."""
        key = group, level, cluster
        return self._common[key].shared_prefix() if key in self._common else SharedPrefix()

    def _decode_instance(self, record: EpisodeRecord, simulation: Simulated) -> Instance | None:
        """Return a record's instance, None if it cannot be decoded; the last confirmed one is remembered."""
        key = record.env, record.instance_hash
        if simulation.confirmed and self._last is not None and self._last[:2] == key:
            return self._last[2]
        try:
            instance = registry.load(record.env).items.decode(record.instance)
        except Exception:  # a record is data from outside, and its page says that it is none
            return None
        if simulation.confirmed:
            self._last = (*key, instance)
        return instance


class _SharedValues:
    """Keeps one of equal values: each episode that comes from another process has copies of its own."""

    def __init__(self) -> None:
        self._values: dict[bytes, Any] = {}

    def with_shared_fields(self, holder: T, names: Sequence[str], **changes: Any) -> T:
        """Return a named tuple or data class whose values in these fields are shared, and others changed."""
        values = {name: self._shared_value(getattr(holder, name)) for name in names} | changes
        return cast(
            T, holder._replace(**values) if isinstance(holder, Simulated) else replace(cast(Any, holder), **values)
        )

    def _shared_value(self, value: Any) -> Any:
        if not value:
            return value
        if len(self._values) > _MOST_SHARED:
            self._values.clear()
        return self._values.setdefault(hashlib.blake2b(to_pickle(value), digest_size=16).digest(), value)


_MOST_SHARED = 20_000
# Fields of which many episodes have the same values.
_ALIKE_ROWS = (
    *("group", "instance", "cluster", "item", "metrics", "series", "outcomes", "axes", "variables", "sizes", "ranges"),
    *("anchors", "probes", "answered", "search_range", "declared_levels", "log", "run", "origin"),
)
_ALIKE_EPISODES = "model", "task", "settings", "log", "run", "design", "origin"
_ALIKE_SIMULATIONS = "read", "outcomes", "executed"
_NO_RECORD = EpisodeRecord(env="", env_version=0, options={}, instance=None, instance_hash="")
