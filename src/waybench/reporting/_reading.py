"""Reading and verifying the episodes of a report, in several processes where that is possible."""

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from waybench.core import Price, Workers, dumped, spread
from waybench.reporting._cache import (
    Changes,
    KeptEpisode,
    ReportCache,
    content_key,
    episode_key,
    is_cacheable,
    pack,
    unpack,
)
from waybench.results import LoggedEpisode
from waybench.results.logs import EpisodeBatches, Skipped, skipped
from waybench.results.results import Verified, Verifier, with_outcomes


class Found(NamedTuple):
    """An episode that can be measured.

    Attributes:
        identity: A digest of everything that its row and its page are made of.
        verified: The episode with its row.
        data: Its record, compressed.
    """

    identity: bytes
    verified: Verified
    data: bytes


class Batch(NamedTuple):
    """What became of some episodes.

    Attributes:
        found: Those that can be measured, in order.
        unread: What of the logs could not be read.
        problems: Episodes that are passed over, since they cannot be measured.
        simulated: Number of episodes that were simulated; the others are as the cache has them.
        changes: What was added to the cache and asked for.
    """

    found: list[Found]
    unread: list[Skipped]
    problems: list[Skipped]
    simulated: int
    changes: Changes


def read(
    episodes: Iterable[LoggedEpisode] | EpisodeBatches,
    prices: Mapping[str, Price],
    cache: ReportCache,
    processes: int,
) -> Iterator[Batch]:
    """Read episodes and verify them, in batches.

    Args:
        episodes: The episodes; batches may be read in other processes.
        prices: What the models' tokens cost, as far as that is known.
        cache: What an earlier report has worked out; what is new is added.
        processes: In how many processes batches are read.

    Raises:
        NoEpisodesError: If batches were given, and there is no episode in them.
    """
    reader = _Reader(prices, cache)
    if not isinstance(episodes, EpisodeBatches):
        yield from (reader.batch([recorded], []) for recorded in episodes)
        return

    def work(number: int) -> bytes:
        unread: list[Skipped] = []
        return dumped(reader.batch(episodes.read(number, unread.append), unread))

    empty = True
    with spread(work, len(episodes), processes) as batches:
        for content in batches:
            batch: Batch = pickle.loads(content)
            cache.merge(batch.changes)
            empty = empty and not batch.found and not batch.problems
            yield batch
    if empty:
        raise episodes.none_found()


def simulate(episodes: EpisodeBatches, prices: Mapping[str, Price], cache: ReportCache, workers: Workers) -> None:
    """Have episodes simulated that the cache does not have, and add what is confirmed; `read` then finds it there.

    A worker whose waybench differs from this one adds nothing that is found: its keys are others.

    Args:
        episodes: The episodes.
        prices: What the models' tokens cost, as far as that is known.
        cache: What an earlier report has worked out.
        workers: Simulate the episodes.
    """
    with workers.each(_simulated, _Unknown(episodes, prices, cache)) as results:
        for new in results:
            for key, content in new.items():
                cache.put(key, content)


class _Unknown(Sequence[bytes]):
    """The episodes of each batch that the cache does not have, with the prices; pickled."""

    def __init__(self, episodes: EpisodeBatches, prices: Mapping[str, Price], cache: ReportCache) -> None:
        self._episodes, self._prices, self._kept = episodes, prices, cache

    def __len__(self) -> int:
        return len(self._episodes)

    def __getitem__(self, number: Any, /) -> Any:
        batch = self._episodes.read(number, _ignore)
        return dumped(([episode for episode in batch if not self._is_kept(episode)], dict(self._prices)))

    def _is_kept(self, episode: LoggedEpisode) -> bool:
        try:
            return bool(self._kept.get(episode_key(episode, self._prices.get(episode.model), episode.record.dumps())))
        except Exception:  # a record is data from outside; `read` says what is wrong with it
            return True


def _simulated(part: bytes) -> dict[bytes, bytes]:
    """Return what a worker adds to the cache."""
    episodes, prices = pickle.loads(part)  # by this command
    return _Reader(prices, ReportCache(None)).batch(episodes, []).changes.new


def _ignore(problem: Skipped) -> None:
    """Do nothing: `read` reports it."""


class _Reader:
    def __init__(self, prices: Mapping[str, Price], cache: ReportCache) -> None:
        self._prices, self._kept = prices, cache
        self._problems: list[Skipped] = []
        self._verifier = Verifier(prices, self._problems.append)
        self._simulated = 0

    def batch(self, episodes: Iterable[LoggedEpisode], unread: list[Skipped]) -> Batch:
        """Verify some episodes; `unread` is filled while they are read."""
        self._problems.clear()
        self._simulated = 0
        with self._kept.recorded() as changes:
            episodes_read = [episode for recorded in episodes if (episode := self._found(recorded)) is not None]
        return Batch(episodes_read, unread, self._problems[:], self._simulated, changes)

    def _found(self, recorded: LoggedEpisode) -> Found | None:
        """Return an episode with its row, from the cache where it has been verified before.

        Only what a simulation has confirmed is kept: whether a record cannot be simulated, or why it is not confirmed,
        may be due to this machine.
        """
        try:
            text = recorded.record.dumps()
            key = episode_key(recorded, self._prices.get(recorded.model), text)
        except Exception:  # a record is data from outside; the verifier says what is wrong with it
            key, text = b"", ""
        content = self._kept.get(key) if key else None
        cached = unpack(content) if content else None
        if cached is not None:
            verified = Verified(with_outcomes(recorded, cached.simulated), *cached)
        else:
            self._simulated += 1
            again = self._verifier.verify(recorded)
            if again is None:
                return None
            verified, cached = again, KeptEpisode(again.row, again.simulated)
            if key and again.simulated.confirmed and is_cacheable(recorded.record.env):
                self._kept.put(key, pack(cached))
        try:
            record = verified.episode.record
            data = zlib.compress((text if text and record is recorded.record else record.dumps()).encode("ascii"), 1)
        except Exception as error:  # a record is data from outside: it is not to take the others with it
            self._problems.append(skipped(recorded.log, error, recorded.sample))
            return None
        return Found(_identity(key, cached), verified, data)


def _identity(key: bytes, cached: KeptEpisode) -> bytes:
    """Return the identity of an episode; where the simulation confirms the record, its key says all."""
    return key if key and cached.simulated.confirmed else content_key("episode", key, cached)
