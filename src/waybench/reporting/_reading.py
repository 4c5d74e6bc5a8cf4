"""Reading what a report is made of: episodes, verified in several processes, and facts about models."""

import math
import pickle
import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from waybench.core import Price, UsageError, Workers, map_in_processes, to_pickle, unknown_name_message
from waybench.reporting._cache import (
    Changes,
    ReportCache,
    content_key,
    episode_key,
    is_cacheable,
    pack_values,
    unpack_row,
)
from waybench.results import LoggedEpisode
from waybench.results.formatting import one_line
from waybench.results.frames import Column, Frame, column_data
from waybench.results.logs import EpisodeBatches, Skipped, skipped_part
from waybench.results.results import Verifier
from waybench.results.results._measured_row import Verified, with_outcomes


class ReadEpisode(NamedTuple):
    """An episode that can be measured.

    Attributes:
        identity: A digest of everything that its row and its page are made of.
        verified: The episode with its row.
        compressed_record: Its record as JSON, compressed by zlib.
    """

    identity: bytes
    verified: Verified
    compressed_record: bytes


class ReadBatch(NamedTuple):
    """The result of reading a batch of episodes.

    Attributes:
        episodes: The episodes that can be measured, in order.
        unread: Parts of the logs that could not be read.
        problems: Episodes that are skipped, since they cannot be measured.
        simulated: Number of episodes that were simulated; the others are from the cache.
        changes: Entries of the cache that were added or read.
    """

    episodes: list[ReadEpisode]
    unread: list[Skipped]
    problems: list[Skipped]
    simulated: int
    changes: Changes


def read_batches(
    episodes: Iterable[LoggedEpisode] | EpisodeBatches,
    prices: Mapping[str, Price],
    cache: ReportCache,
    processes: int,
) -> Iterator[ReadBatch]:
    """Read episodes and verify them, in batches; new results are added to the cache.

    `EpisodeBatches` are read in up to `processes` processes. `prices` has the known prices of the models' tokens.

    Raises:
        NoEpisodesError: If `EpisodeBatches` were given without an episode in them.
    """
    reader = _Reader(prices, cache)
    if not isinstance(episodes, EpisodeBatches):
        yield from (reader.verify_batch([recorded], []) for recorded in episodes)
        return

    def read_batch(number: int) -> bytes:
        unread: list[Skipped] = []
        return to_pickle(reader.verify_batch(episodes.read(number, unread.append), unread))

    empty = True
    skipped: list[Skipped] = []
    with map_in_processes(read_batch, len(episodes), processes) as batches:
        for content in batches:
            batch: ReadBatch = pickle.loads(content)
            cache.merge_changes(batch.changes)
            skipped += batch.unread
            empty = empty and not batch.episodes and not batch.problems
            yield batch
    if empty:
        raise episodes.no_episodes_error(skipped)


def simulate_uncached(
    episodes: EpisodeBatches, prices: Mapping[str, Price], cache: ReportCache, workers: Workers
) -> None:
    """Let workers simulate the episodes that the cache lacks, and add confirmed episodes to the cache.

    A worker with another version of waybench returns other keys, so that its results are not used.
    """
    with workers.each(_simulate_on_worker, _UncachedEpisodes(episodes, prices, cache)) as new_entries_of_batches:
        for new_entries in new_entries_of_batches:
            for key, content in new_entries.items():
                cache.put(key, content)


class _UncachedEpisodes(Sequence[bytes]):
    """The episodes of each batch that the cache does not have, with the prices; pickled."""

    def __init__(self, episodes: EpisodeBatches, prices: Mapping[str, Price], cache: ReportCache) -> None:
        self._episodes, self._prices, self._cache = episodes, prices, cache

    def __len__(self) -> int:
        return len(self._episodes)

    def __getitem__(self, number: Any, /) -> Any:
        batch = self._episodes.read(number, lambda problem: None)  # `read_batches` reports the problems
        return to_pickle(([episode for episode in batch if not self._is_cached(episode)], self._prices))

    def _is_cached(self, episode: LoggedEpisode) -> bool:
        """Return whether the cache has an episode; True, too, for an invalid record, which no worker can read."""
        try:
            return bool(self._cache.get(episode_key(episode, self._prices.get(episode.model), episode.record.dumps())))
        except Exception:  # a record is data from outside; `read_batches` reports what is wrong with it
            return True


def _simulate_on_worker(pickled: bytes) -> dict[bytes, bytes]:
    """Simulate pickled episodes, and return the new entries of the cache: content by key."""
    episodes, prices = pickle.loads(pickled)  # trusted: pickled by `_UncachedEpisodes`
    return _Reader(prices, ReportCache(None)).verify_batch(episodes, []).changes.new


class _Reader:
    """Verifies episodes, or takes their verification from the cache."""

    def __init__(self, prices: Mapping[str, Price], cache: ReportCache) -> None:
        self._prices, self._cache = prices, cache
        self._problems: list[Skipped] = []
        self._verifier = Verifier(prices, self._problems.append)
        self._simulated = 0

    def verify_batch(self, episodes: Iterable[LoggedEpisode], unread: list[Skipped]) -> ReadBatch:
        """Simulate episodes again, unless the cache has them; return them with their rows and what was skipped.

        `unread` is complete once `episodes` has been iterated, which adds what cannot be read.
        """
        self._problems.clear()
        self._simulated = 0
        with self._cache.record_changes() as changes:
            episodes_read = [episode for recorded in episodes if (episode := self._read_episode(recorded)) is not None]
        return ReadBatch(episodes_read, unread, self._problems[:], self._simulated, changes)

    def _read_episode(self, recorded: LoggedEpisode) -> ReadEpisode | None:
        """Return an episode with its row, from the cache if it has been verified before; None if it cannot be measured.

        Only confirmed simulations are cached: why a record cannot be simulated or is not confirmed may be due to this
        machine. A record that has no JSON text has no key, so that the cache is neither read nor written.
        """
        try:
            text = recorded.record.dumps()
            key = episode_key(recorded, self._prices.get(recorded.model), text)
        except Exception:  # a record is data from outside; the verifier reports what is wrong with it
            key, text = b"", ""
        content = self._cache.get(key) if key else None
        cached = unpack_row(content) if content else None
        if cached is not None:
            row, simulated = cached
            verified = Verified(with_outcomes(recorded, simulated), row, simulated)
        else:
            self._simulated += 1
            verified = self._verifier.verify(recorded)
            if verified is None:
                return None
            if key and verified.simulated.confirmed and is_cacheable(recorded.record.env):
                self._cache.put(key, pack_values((verified.row, verified.simulated)))
        try:
            record = verified.episode.record
            # The verified record has other outcomes than the recorded one where a simulation corrects them.
            verified_text = text if text and record is recorded.record else record.dumps()
            compressed_record = zlib.compress(verified_text.encode("ascii"), 1)
        except Exception as error:  # one invalid record must not end the report
            self._problems.append(skipped_part(recorded.log, error, recorded.sample))
            return None
        # The row of a confirmed record follows from the record and its prices, of which the key is a digest.
        key_identifies_row = key and verified.simulated.confirmed
        identity = key if key_identifies_row else content_key("episode", key, verified.row, verified.simulated)
        return ReadEpisode(identity, verified, compressed_record)


_FEWEST_PARAMETERS = 1000  # of a model; a smaller number is one of billions by mistake
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_FIELDS = ("name", "size", "date", "series")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Facts about one model.

    Attributes:
        name: Its name in charts; "" for its name in the logs.
        size: Number of parameters; None if it is not given.
        released: The date of its release; None if it is not given.
        series: Its series, whose models are joined by a line in charts; "" for none.
    """

    name: str = ""
    size: float | None = None
    released: date | None = None
    series: str = ""


def read_models(path: Path) -> dict[str, ModelFacts]:
    """Read a file of models: a TOML table for each, by its name as in the logs.

    ["openai/some-model"] can have name, size (7e9 or "7B"), date (2023-07-18 or "2023-07") and series.

    Raises:
        UsageError: If the file cannot be read, or a field of a model is not valid; the message names both.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}): give a file of models") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not valid TOML ({one_line(str(error), 80)}): see `--models` in the guide"
        ) from None
    return {name: _parse_model_facts(f"{path}: {one_line(name, 80)}", value) for name, value in data.items()}


def _parse_model_facts(location: str, value: Any) -> ModelFacts:
    if not isinstance(value, dict):
        raise UsageError(f'{location}: give a table, as ["provider/model"] and below it size = "7B"')
    fields = cast("dict[str, Any]", value)
    for field in fields:
        if field not in _FIELDS:
            hint = " (a name with a dot or a slash needs quotes)" if isinstance(fields[field], dict) else ""
            raise UsageError(f"{location}: {unknown_name_message('field', field, _FIELDS)}{hint}")
    return ModelFacts(
        name=_parse_text(f"{location}: name", fields.get("name", "")),
        size=_parse_size(f"{location}: size", fields.get("size")),
        released=_parse_date(f"{location}: date", fields.get("date")),
        series=_parse_text(f"{location}: series", fields.get("series", "")),
    )


def _parse_text(location: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{location}: give text, not {one_line(str(value), 40)}")
    return one_line(value, 80)


def _parse_size(location: str, value: Any) -> float | None:
    """Return a number of parameters, given as a number or as text such as "7B"; raise UsageError for other values."""
    if isinstance(value, str) and (size := _SIZE.fullmatch(value.strip())):
        return float(size[1]) * _UNITS[size[2].upper()]
    if value is None:
        return None
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= _FEWEST_PARAMETERS
    ):
        return float(value)
    raise UsageError(f'{location}: give the number of parameters, as 7e9 or "7B", not {one_line(repr(value), 40)}')


def _parse_date(location: str, value: Any) -> date | None:
    """Return a date of TOML or of text, the first of the month for a month; raise UsageError for other values."""
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):  # a datetime is a date, too
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value)
        except ValueError:
            pass
    raise UsageError(f'{location}: give a day, as 2023-07-18, or a month, as "2023-07", not {one_line(str(value), 40)}')


def with_model_facts(frame: Frame, models: Mapping[str, ModelFacts]) -> Frame:
    """Return a frame with columns of facts about each row's model; the frame as it is without facts or models."""
    if not models or all(column.name != "model" for column in frame.schema):
        return frame
    rows = [models.get(name, _NO_FACTS) for name in frame.table.column("model").to_pylist()]
    return frame.with_columns(column_data(_FACT_COLUMNS, rows))


_NO_FACTS = ModelFacts()
_FACT_COLUMNS: tuple[Column[ModelFacts], ...] = (
    Column(
        "model_name", str, "The model's name in the file of models; null without.", lambda facts: facts.name or None
    ),
    Column("model_size", float, "Its number of parameters by that file; null without.", "size"),
    Column(
        "model_date",
        str,
        "The date of its release by that file; null without.",
        lambda facts: facts.released and facts.released.isoformat(),
    ),
    Column("model_series", str, "Its series by that file; null without.", lambda facts: facts.series or None),
)
