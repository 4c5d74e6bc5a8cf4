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
LEAST = 400  # characters; a shorter common beginning of a message is not shared


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation.

    Attributes:
        who: "prompt", "reply" or "answer".
        text: Its text; for an answer with `folds`, the text after the last fold.
        outcome: The outcome of a reply.
        reason: Why a reply was not carried out.
        instead: The teacher's action that was carried out, if it differs from the reply's.
        read: The text that a reply was read as.
        reasoning: The model's reasoning before a reply.
        cost: Tokens and time of a reply, in words.
        note: A note on a reply of which no action was read.
        folds: Pairs of the new text before a repeated part of an answer, and the repeated part, which is folded.
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
        """A reply split around the text that it was read as; None if the text is not in it exactly once."""
        if not self.read or self.is_plain:
            return None
        before, match, after = self.text.text.partition(self.read)
        return (before, match, after) if match and self.read not in after else None


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """The common prefix of several prompts.

    Attributes:
        messages: The messages at the beginning that are the same in all prompts.
        beginning: The common beginning of the next message; None if it has fewer than `LEAST` characters.
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
    """Finds the common prefix of prompts, which are added one at a time."""

    def __init__(self) -> None:
        self._first_prompt: tuple[Message, ...] | None = None
        self._n_common = 0  # messages that are the same in all prompts; at least one message of each is left
        # The common beginning of the messages after these, and whether it is shorter than some; None if roles differ.
        self._next: Message | None = None
        self._next_differs = False

    def add_prompt(self, prompt: Sequence[Message]) -> None:
        """Add a prompt."""
        if self._first_prompt is None:
            self._first_prompt = tuple(prompt)
            self._n_common = max(len(prompt) - 1, 0)
            self._next = prompt[self._n_common] if prompt else None
            return
        n_equal, most = 0, min(self._n_common, len(prompt) - 1)
        while n_equal < most and prompt[n_equal] == self._first_prompt[n_equal]:
            n_equal += 1
        if n_equal < self._n_common:
            # The next message is then an earlier one, which was the same in all prompts so far.
            self._n_common, self._next, self._next_differs = n_equal, None, False
            if prompt and self._first_prompt:
                self._next = self._first_prompt[n_equal]
        if self._next is None or not prompt:
            self._next = None
            return
        message = prompt[self._n_common]
        if message != self._next:
            self._next_differs = True
            common = _common_prefix(self._next.text, message.text)
            self._next = Message(message.role, common) if message.role == self._next.role else None

    def shared_prefix(self) -> SharedPrefix:
        """Return the common prefix; each prompt has at least a message, or the end of a message, after the prefix.

        Messages that are equal as a whole are included, however short. The common beginning of the next message is
        included up to the end of a line, if it is long.
        """
        messages = (self._first_prompt or ())[: self._n_common]
        if self._next is None or not self._next_differs:
            return SharedPrefix(messages)
        common = self._next.text[: self._next.text.rfind("\n") + 1]
        return SharedPrefix(messages, Message(self._next.role, common) if len(common) >= LEAST else None)


def _common_prefix(first: str, second: str) -> str:
    """Return the common prefix of two texts, by bisection, since prompts are long."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return first[:low]


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
        rows: The rows of all episodes, with the reason of each exclusion.
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

        `progress` receives the number of episodes after each batch; `processes` processes read batches.
        """
        self.prices = prices
        self.identities: list[bytes] = []
        self.simulated = 0
        # A run of 10,000 questions about long stories takes gigabytes in memory.
        self._records = Spool[int]()
        self.again: list[Simulated] = []
        self.passed_over: list[Skipped] = []
        self.unread: list[Skipped] = []
        self._episodes_without_records: list[LoggedEpisode] = []
        self._prefix_finders: dict[tuple[RunKey, int, Cluster | None], PrefixFinder] = defaultdict(PrefixFinder)
        self._last_instance: tuple[str, str, Instance] | None = None  # with its environment and hash
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
            for identity, (episode, row, again), compressed_record in batch.episodes:
                try:
                    variables.add(row, episode.record)
                except Exception as error:  # one invalid record must not end the report
                    self.passed_over.append(skipped_part(episode.log, error, episode.sample))
                    continue
                # By level, and by cluster; a cluster without a key is a single instance.
                for cluster in (None, row.cluster) if row.cluster.key else (None,):
                    self._prefix_finders[row.group, row.level, cluster].add_prompt(episode.record.opening)
                self._records.add_compressed(len(rows), compressed_record)
                self.again.append(shared.with_shared_fields(again, _ALIKE_SIMULATIONS))
                self._episodes_without_records.append(
                    shared.with_shared_fields(episode, _ALIKE_EPISODES, record=_NO_RECORD)
                )
                self.identities.append(identity)
                rows.append(shared.with_shared_fields(row, _ALIKE_ROWS))
            progress(len(rows))
        self.rows = exclude(rows)
        self.variables: Mapping[RunKey, Mapping[Cluster, Variables]] = variables.by_group(self.rows)
        n_rows = Counter[RunKey]()
        self.numbers: list[int] = []
        for row in self.rows:
            n_rows[row.group] += 1
            self.numbers.append(n_rows[row.group])
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
                replace(self._episodes_without_records[position], record=record),
                self.again[position],
                self._decode_instance(record, self.again[position]),
            )

    def shared_prefix(self, group: RunKey, level: int, cluster: Cluster | None) -> SharedPrefix:
        """Return the common prefix of a group's prompts at a level, in one cluster or, with None, in all clusters."""
        key = group, level, cluster
        return self._prefix_finders[key].shared_prefix() if key in self._prefix_finders else SharedPrefix()

    def _decode_instance(self, record: EpisodeRecord, simulation: Simulated) -> Instance | None:
        """Return a record's instance, None if it cannot be decoded; the last confirmed one is cached."""
        key = record.env, record.instance_hash
        if simulation.confirmed and self._last_instance is not None and self._last_instance[:2] == key:
            return self._last_instance[2]
        try:
            instance = registry.load(record.env).items.decode(record.instance)
        except Exception:  # a record is data from outside, and its page says that it is not valid
            return None
        if simulation.confirmed:
            self._last_instance = (*key, instance)
        return instance


class _SharedValues:
    """Replaces equal values by one value: each episode from another process has copies, which take memory."""

    def __init__(self) -> None:
        self._values: dict[bytes, Any] = {}

    def with_shared_fields(self, holder: T, names: Sequence[str], **changes: Any) -> T:
        """Return a named tuple or data class with shared values in the fields of these names, and with changes."""
        values = {name: self._shared_value(getattr(holder, name)) for name in names} | changes
        if isinstance(holder, Simulated):
            return cast(T, holder._replace(**values))
        return cast(T, replace(cast(Any, holder), **values))

    def _shared_value(self, value: Any) -> Any:
        """Return the first of all equal values; values are equal if their pickles are."""
        if not value:  # None and empty values take no memory of their own
            return value
        if len(self._values) > _MOST_SHARED:
            self._values.clear()
        return self._values.setdefault(hashlib.blake2b(to_pickle(value), digest_size=16).digest(), value)


_MOST_SHARED = 20_000  # values in memory, beyond which all are forgotten
# Fields of which many episodes have the same values.
_ALIKE_ROWS = (
    *("group", "instance", "cluster", "item", "metrics", "series", "outcomes", "axes", "variables", "sizes", "ranges"),
    *("anchors", "probes", "answered", "search_range", "declared_levels", "log", "run", "origin"),
)
_ALIKE_EPISODES = "model", "task", "settings", "log", "run", "design", "origin"
_ALIKE_SIMULATIONS = "read", "outcomes", "executed"
_NO_RECORD = EpisodeRecord(env="", env_version=0, options={}, instance=None, instance_hash="")
