"""Reading episodes from files of records: JSON lines, one at a time or in batches."""

import gzip
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from waybench.core import DataError, EpisodeRecord, Json, WaybenchError, check_json_bounds, numbered_json_lines
from waybench.core._spool import Spool
from waybench.envs import registry
from waybench.results.logs._guard import LINE, MOST_BYTES, MOST_VALUES, Skipped, skipped_part
from waybench.results.logs._inspect import LOG
from waybench.results.logs._settings import SCALARS, LoggedEpisode, settings_of_record

BATCH = 100  # episodes in memory at a time, and of large ones fewer
BATCH_BYTES = 1 << 23  # of a batch: so several processes share the work of a log of large episodes evenly
RUN = "records"  # all files are one run: a person's attempts at an item are a series, whatever files they are in
UNNAMED = "stored replies"
_ENDINGS = (".jsonl", ".jsonl.gz")
_PERSON = "person"  # what older versions call a player whom newer ones call "human"


def read_records(paths: Iterable[Path], report: Callable[[Skipped], None]) -> Iterator[LoggedEpisode]:
    """Yield the episodes of all files of records.

    A line is a record as JSON, and may hold two fields more: "task", the name of the task, and "settings", how the
    item was generated. Attempts of one player at one item with the same options are numbered in the order in which
    they are read.

    Args:
        paths: Files, and folders, in any depth of which files called *.jsonl and *.jsonl.gz are looked for. A file
            found in a folder is skipped without a message if no line of it is a record: it holds something else.
        report: Is called with each line that is skipped, and the reason.
    """
    for _, episode in _numbered_lines(paths, report):
        yield episode


def _numbered_lines(paths: Iterable[Path], report: Callable[[Skipped], None]) -> Iterator[tuple[bytes, LoggedEpisode]]:
    """Yield the lines of files of records with their episodes, whose attempts are numbered."""
    attempts: Counter[bytes] = Counter()
    for path, is_named in _record_paths(paths):
        problems: list[Skipped] = []
        has_record, log = False, str(path.absolute())
        for number, line in _nonempty_lines(path, problems):
            try:
                data = _json_object(line)
                if not is_named and not ("schema" in data and "turns" in data):
                    continue
                episode = _episode_of_line(data, log, number)
            except (WaybenchError, RecursionError) as error:
                problems.append(skipped_part(str(path), error, f"{LINE}{number}"))
                continue
            has_record = True
            record = episode.record
            identity = [dict(record.options), dict(record.item), episode.model, episode.task, record.env]
            text = json.dumps([*identity, record.instance_hash], sort_keys=True, default=str)
            attempts[series := hashlib.sha256(text.encode()).digest()] += 1
            # The record itself keeps its number, since its randomness depends on it.
            yield line, replace(episode, attempt=attempts[series])
        if is_named and not (has_record or problems):
            report(skipped_part(str(path), "it holds no record"))
        if is_named or has_record:
            for problem in problems:
                report(problem)


def _record_paths(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield each file of records once, and whether the user named it."""
    resolved_paths: set[Path] = set()
    for path in paths:
        if path.suffix == LOG:
            continue
        is_named = os.path.isfile(path)
        files = [path] if is_named else sorted(file for ending in _ENDINGS for file in path.rglob(f"*{ending}"))
        for file in files:
            if (resolved := file.resolve()) not in resolved_paths and file.is_file():
                resolved_paths.add(resolved)
                yield file, is_named


def _nonempty_lines(path: Path, problems: list[Skipped]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not empty; a damaged file ends at the damage."""
    number = 0
    try:
        is_zipped = path.name.endswith(".gz")
        with closing(cast(IO[bytes], gzip.open(path, "rb")) if is_zipped else path.open("rb")) as stream:
            for number, line in numbered_json_lines(stream, MOST_BYTES, str(path)):
                if line is None:
                    problems.append(skipped_part(str(path), f"longer than {MOST_BYTES >> 20} MiB", f"{LINE}{number}"))
                    return
                if line.strip():
                    yield number, line
    except (DataError, OSError, EOFError, zlib.error) as error:
        problems.append(skipped_part(str(path), error, f"{LINE}{number + 1}"))


def _json_object(line: bytes) -> dict[str, Json]:
    """Return the JSON object in a line; raise a DataError for anything else."""
    check_json_bounds(line, MOST_VALUES)
    try:
        data: Any = json.loads(line.decode("utf-8-sig"))
    except ValueError:
        raise DataError("the line is not JSON") from None
    if not isinstance(data, dict):
        raise DataError("the line is not an object")
    return cast(dict[str, Json], data)


def _episode_of_line(data: dict[str, Json], log: str, line_number: int) -> LoggedEpisode:
    """Return the episode in a line of a file of records; its sample is named after the line's number."""
    record = EpisodeRecord.from_json(data)
    family, _, variant = record.env.partition("/")
    player = record.player
    is_person = player == _PERSON or player.startswith(f"{_PERSON} ")
    task, settings_json = data.get("task"), data.get("settings")
    settings = cast(dict[str, Json], settings_json) if isinstance(settings_json, dict) else {}
    return LoggedEpisode(
        model=f"human{player.removeprefix(_PERSON)}" if is_person else player or UNNAMED,
        task=task if isinstance(task, str) and task else registry.find_entry(record.env).task or variant or family,
        record=record,
        settings=settings_of_record(
            record, {name: value for name, value in settings.items() if isinstance(value, SCALARS)}
        ),
        log=log,
        sample=f"{LINE}{line_number}",
        run=RUN,
    )


class _SpooledLine(NamedTuple):
    """A line of the spool: its file, its number there from 1, and the number of the attempt."""

    log: str
    number: int
    attempt: int


class RecordSpool:
    """The records of all files in some folders, in batches, which forks of the process can read at the same time.

    The files are read once, since the number of an attempt depends on all lines before it.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._problems: list[Skipped] = []
        self._spool = Spool[int]()
        self._lines: list[_SpooledLine] = []
        self._starts = [0]
        size = 0
        for line, episode in _numbered_lines(paths, self._problems.append):
            number = len(self._lines)
            if number - self._starts[-1] == BATCH or (number > self._starts[-1] and size + len(line) > BATCH_BYTES):
                self._starts.append(number)
                size = 0
            size += len(line)
            self._spool.add(number, line)
            line_number = int(episode.sample.removeprefix(LINE))
            self._lines.append(_SpooledLine(episode.log, line_number, episode.attempt))

    def __len__(self) -> int:
        """Return the number of batches; at least 1, even without records."""
        return len(self._starts)

    def read(self, batch: int, on_problem: Callable[[Skipped], None]) -> Iterator[LoggedEpisode]:
        """Yield the episodes of a batch; the first one also reports all lines that are skipped."""
        for problem in self._problems if batch == 0 else ():
            on_problem(problem)
        ends = [*self._starts[1:], len(self._lines)]
        for number in range(self._starts[batch], ends[batch]):
            log, line_number, attempt = self._lines[number]
            yield replace(_episode_of_line(_json_object(self._spool.get(number)), log, line_number), attempt=attempt)
