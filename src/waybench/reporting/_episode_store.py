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
from waybench.reporting._reading import ReadBatch, read
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
        text: What it says.
        outcome: Of a reply, what it came to.
        reason: Of a reply, why it was not carried out.
        instead: Of a reply, what a teacher did in place of it, if that was something else.
        read: Of a reply, what it was read as.
        reasoning: Of a reply, what the model reasoned before it.
        cost: Of a reply, its tokens and time, in words.
        note: What else there is to say of it.
        folds: Of an answer, the parts that an earlier message has already, which are folded, each after what is new
            before it; `text` is what comes after the last.
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
        """Whether a reply says nothing but what it was read as."""
        return self.text.text.strip() == self.read

    @property
    def marked(self) -> tuple[str, str, str] | None:
        """What a reply was read as, where the reply says just that in one place: what is before, it, what is after."""
        if not self.read or self.is_plain:
            return None
        before, match, after = self.text.text.partition(self.read)
        return (before, match, after) if match and self.read not in after else None


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """The common prefix of several prompts.

    Attributes:
        messages: Messages that are the same in all of them.
        beginning: What the message after these begins with; "" for nothing worth telling apart.
    """

    messages: tuple[Message, ...] = ()
    beginning: Message | None = None

    @property
    def characters(self) -> int:
        """How long it is."""
        return sum(len(message.text) for message in self.messages) + len(self.beginning.text if self.beginning else "")

    def remaining_messages(self, messages: Sequence[Message]) -> list[Message]:
        """Return what a prompt says after it."""
        remaining = list(messages[len(self.messages) :])
        if remaining and self.beginning is not None:
            remaining[0] = remaining[0]._replace(text=remaining[0].text[len(self.beginning.text) :])
        return remaining

    def said(self, longest: int) -> list[Said]:
        """Return it for a page, each message up to so many characters."""
        messages = self.messages if self.beginning is None else (*self.messages, self.beginning)
        return [_prompt_message(message, longest) for message in messages]


class Common:
    """Finds the common prefix of prompts one prompt at a time."""

    def __init__(self) -> None:
        self._first: tuple[Message, ...] | None = None
        self._alike = 0  # messages that are the same in all, of which at least one of each prompt is left
        self._next: Message | None = None  # what all have in common of the one after these; None if roles differ
        self._differs = False

    def add(self, prompt: Sequence[Message]) -> None:
        """Take another prompt."""
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
            common = _common_beginning(self._next.text, other.text)
            self._next = Message(other.role, common) if other.role == self._next.role else None

    def shared_prefix(self) -> SharedPrefix:
        """Return it, so that at least one message of each prompt is left, or its end.

        Whole messages count however short they are; of the message after them, the common beginning up to the end of a
        line does if it is long.
        """
        messages = (self._first or ())[: self._alike]
        if self._next is None or not self._differs:
            return SharedPrefix(messages)
        common = self._next.text[: self._next.text.rfind("\n") + 1]
        return SharedPrefix(messages, Message(self._next.role, common) if len(common) >= LEAST else None)


def _common_beginning(first: str, last: str) -> str:
    """Return the common prefix of two texts."""
    alike, most = 0, min(len(first), len(last))
    while alike < most:  # halving: prompts are long, and so are their beginnings
        middle = (alike + most + 1) // 2
        if first[:middle] == last[:middle]:
            alike = middle
        else:
            most = middle - 1
    return first[:alike]


def prompt_messages(record: EpisodeRecord, shared: SharedPrefix, longest: int) -> list[Said]:
    """Return the first messages to a player without the common prefix.

    Args:
        record: The episode's record.
        shared: What is shown elsewhere.
        longest: Most characters of a message that are shown.
    """
    return [_prompt_message(message, longest) for message in shared.remaining_messages(record.opening)]


def _prompt_message(message: Message, longest: int) -> Said:
    return Said("prompt", speaker(message.role), excerpt_with_end(message.text, longest))


def speaker(role: str) -> str:
    """Return a heading for who speaks."""
    return {"system": "System prompt", "user": "Prompt"}.get(role, role)


class StoredEpisode(NamedTuple):
    """An episode with its row, outcomes and origin.

    Attributes:
        number: Its number in its group, from 1, in the order of the logs.
        row: Its row.
        episode: Itself.
        again: What a new simulation says of it.
        instance: Its instance, as long as that can be made of the record.
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
        variables: What can explain scores, by group and cluster.
        numbers: Of each row, its number in its group, from 1.
        again: Of each row, what a new simulation says of its record.
        identities: Of each row, a digest of everything that its row and its page are made of.
        simulated: Number of episodes that were simulated again; the others are as the cache has them.
        passed_over: Episodes that are passed over, since they cannot be measured.
        unread: What of the logs could not be read.
        prices: What the models' tokens cost, as far as that is known.
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
            prices: What the models' tokens cost, as far as that is known.
            cache: What an earlier report has worked out; nothing by default.
            progress: Is given the number of episodes after each batch.
            processes: In how many processes batches are read.
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
        self._common: dict[tuple[RunKey, int, Cluster | None], Common] = defaultdict(Common)
        self._last: tuple[str, str, Instance] | None = None
        try:
            self._gather(read(episodes, prices, cache or ReportCache(None), processes), progress or (lambda done: None))
        except BaseException:
            self.close()
            raise

    def _gather(self, batches: Iterable[ReadBatch], progress: Callable[[int], None]) -> None:
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
                    self._common[row.group, row.level, cluster].add(episode.record.opening)
                self._records.add_compressed(len(rows), data)
                self.again.append(shared.fields(again, _ALIKE_SIMULATIONS))
                self._heads.append(shared.fields(episode, _ALIKE_EPISODES, record=_NO_RECORD))
                self.identities.append(identity)
                rows.append(shared.fields(row, _ALIKE_ROWS))
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
        """Remove the records."""
        self._records.close()

    def positions(self, group: RunKey) -> list[int]:
        """Return the numbers of a group's episodes among all."""
        return self._positions.get(group, [])

    def load(self, positions: Iterable[int]) -> Iterator[StoredEpisode]:
        """Yield episodes, read back one at a time."""
        for position in positions:
            record = EpisodeRecord.from_json(json.loads(self._records.get(position)))
            yield StoredEpisode(
                self.numbers[position],
                self.rows[position],
                replace(self._heads[position], record=record),
                self.again[position],
                self._instance(record, self.again[position]),
            )

    def shared_prefix(self, group: RunKey, level: int, cluster: Cluster | None) -> SharedPrefix:
        """Return the common prefix of the prompts of a group's level, of one cluster or (None) of all."""
        key = group, level, cluster
        return self._common[key].shared_prefix() if key in self._common else SharedPrefix()

    def _instance(self, record: EpisodeRecord, again: Simulated) -> Instance | None:
        """Return a record's instance; that of the last one is kept, for attempts at an item follow each other."""
        key = record.env, record.instance_hash
        if again.confirmed and self._last is not None and self._last[:2] == key:
            return self._last[2]
        try:
            instance = registry.load(record.env).items.decode(record.instance)
        except Exception:  # a record is data from outside, and its page says that it is none
            return None
        if again.confirmed:
            self._last = (*key, instance)
        return instance


class _SharedValues:
    """Keeps one of equal values: each episode that comes from another process has copies of its own."""

    def __init__(self) -> None:
        self._values: dict[bytes, Any] = {}

    def fields(self, holder: T, names: Sequence[str], **changes: Any) -> T:
        """Return a named tuple or a data class that has shared values in some fields, and changes in others."""
        values = {name: self._value(getattr(holder, name)) for name in names} | changes
        return cast(
            T, holder._replace(**values) if isinstance(holder, Simulated) else replace(cast(Any, holder), **values)
        )

    def _value(self, value: Any) -> Any:
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
