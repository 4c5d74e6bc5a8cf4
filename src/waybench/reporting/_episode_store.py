"""Episode store: keeps one row per episode in memory and the full record on disk."""

import json
import os
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from waybench.analysis import LoggedEpisode, Row
from waybench.analysis.estimates import ClusterVariables, Variables
from waybench.analysis.logs import EpisodeBatches, Skipped, skipped
from waybench.analysis.results import Cluster, Group, Simulated, exclude, grouped
from waybench.core import EpisodeRecord, Instance, Price
from waybench.envs import registry
from waybench.reporting._cache import ReportCache
from waybench.reporting._reading import Batch, read
from waybench.reporting._shared_prefix import Common, SharedPrefix


class Played(NamedTuple):
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
    """

    def __init__(
        self,
        episodes: Iterable[LoggedEpisode] | EpisodeBatches,
        prices: Mapping[str, Price],
        kept: ReportCache | None = None,
        progress: Callable[[int], None] | None = None,
        processes: int = 1,
    ) -> None:
        """Simulate and measure all episodes and write them to disk.

        Args:
            episodes: The episodes.
            prices: What the models' tokens cost, as far as that is known.
            kept: What an earlier report has worked out; nothing by default.
            progress: Is given the number of episodes after each batch.
            processes: In how many processes batches are read.
        """
        self.identities: list[bytes] = []
        self.simulated = 0
        # A run of 10,000 questions about long stories takes gigabytes in memory.
        self._file = tempfile.TemporaryFile(prefix="waybench-report-")  # noqa: SIM115 (closed by close)
        self._places: list[tuple[int, int]] = []
        self.again: list[Simulated] = []
        self.passed_over: list[Skipped] = []
        self.unread: list[Skipped] = []
        self._heads: list[LoggedEpisode] = []
        self._common: dict[tuple[Group, int, Cluster | None], Common] = defaultdict(Common)
        self._last: tuple[str, str, Instance] | None = None
        try:
            self._gather(read(episodes, prices, kept or ReportCache(None), processes), progress or _silent)
        except BaseException:
            self.close()
            raise

    def _gather(self, batches: Iterable[Batch], progress: Callable[[int], None]) -> None:
        made: list[Row] = []
        variables = ClusterVariables()
        for batch in batches:
            self.unread += batch.unread
            self.passed_over += batch.problems
            self.simulated += batch.simulated
            for identity, (episode, one, again), data in batch.found:
                try:
                    variables.add(one, episode.record)
                except Exception as error:  # a record is data from outside: it is not to take the others with it
                    self.passed_over.append(skipped(episode.log, error, episode.sample))
                    continue
                # By level, and by what is known to be drawn together; a cluster without a key is an instance by itself.
                for cluster in (None, one.cluster) if one.cluster.key else (None,):
                    self._common[one.group, one.level, cluster].add(episode.record.opening)
                self._keep(episode, again, data)
                self.identities.append(identity)
                made.append(one)
            progress(len(made))
        self._file.flush()
        self.rows = exclude(made)
        self.variables: Mapping[Group, Mapping[Cluster, Variables]] = variables.of(self.rows)
        self.numbers = _numbered(self.rows)
        self._positions = grouped(range(len(self.rows)), lambda position: self.rows[position].group)

    def close(self) -> None:
        """Remove the files."""
        self._file.close()

    def _keep(self, episode: LoggedEpisode, again: Simulated, data: bytes) -> None:
        self._places.append((self._file.tell(), len(data)))
        self._file.write(data)
        self.again.append(again)
        self._heads.append(replace(episode, record=_NO_RECORD))

    def positions(self, group: Group) -> list[int]:
        """Return the numbers of a group's episodes among all."""
        return self._positions.get(group, [])

    def load(self, positions: Iterable[int]) -> Iterator[Played]:
        """Yield episodes, read back one at a time."""
        for position in positions:
            record = EpisodeRecord.from_json(json.loads(zlib.decompress(self._read(*self._places[position]))))
            yield Played(
                self.numbers[position],
                self.rows[position],
                replace(self._heads[position], record=record),
                self.again[position],
                self._instance(record, self.again[position]),
            )

    def _read(self, start: int, size: int) -> bytes:
        if hasattr(os, "pread"):  # processes that are copies of this one share the place in the file, but not this
            return os.pread(self._file.fileno(), size, start)
        self._file.seek(start)
        return self._file.read(size)

    def opening(self, group: Group, level: int, cluster: Cluster | None) -> SharedPrefix:
        """Return the common prefix of the prompts of a group's level, of one cluster or (None) of all."""
        place = group, level, cluster
        return self._common[place].shared_prefix() if place in self._common else SharedPrefix()

    def _instance(self, record: EpisodeRecord, again: Simulated) -> Instance | None:
        """Return a record's instance; that of the last one is kept, for attempts at an item follow each other."""
        place = record.env, record.instance_hash
        if again.confirmed and self._last is not None and self._last[:2] == place:
            return self._last[2]
        try:
            instance = registry.load(record.env).items.decode(record.instance)
        except Exception:  # a record is data from outside, and its page says that it is none
            return None
        if again.confirmed:
            self._last = (*place, instance)
        return instance


_NO_RECORD = EpisodeRecord(env="", env_version=0, options={}, instance=None, instance_hash="")


def _silent(done: int) -> None:
    """Show no progress."""


def _numbered(all_rows: Iterable[Row]) -> list[int]:
    counts: dict[Group, int] = defaultdict(int)
    numbers: list[int] = []
    for one in all_rows:
        counts[one.group] += 1
        numbers.append(counts[one.group])
    return numbers
