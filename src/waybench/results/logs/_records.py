"""Reading episodes from files of records: JSON lines, as `waybench play --record` writes them."""

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

from waybench.core import DataError, EpisodeRecord, Json, WaybenchError, check_json, json_lines
from waybench.envs import registry
from waybench.results.logs._guard import LINE, MOST_BYTES, MOST_VALUES, Skipped, skipped
from waybench.results.logs._inspect import LOG
from waybench.results.logs._settings import SCALARS, LoggedEpisode, of_record

RUN = "records"  # one run: a person's attempts at an item are a series, whichever file each of them is in
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
    attempts: Counter[Hashable] = Counter()
    for path, named in _files(paths):
        problems: list[Skipped] = []
        found = False
        for number, line in _lines(path, problems):
            try:
                data = _object(line)
                if not named and not _is_record(data):
                    continue
                episode = _episode(data, path, number)
            except (WaybenchError, RecursionError) as error:
                problems.append(skipped(str(path), error, f"{LINE}{number}"))
                continue
            found = True
            record = episode.record
            item = json.dumps([dict(record.options), dict(record.item)], sort_keys=True, default=str)
            attempts[series := (episode.model, episode.task, record.env, item, record.instance_hash)] += 1
            # The record itself keeps its number, since its randomness depends on it.
            yield replace(episode, attempt=attempts[series])
        if found or named:
            for problem in problems or ([] if found else [skipped(str(path), "it holds no record")]):
                report(problem)


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield each file once, and whether it is named by the user."""
    seen: set[Path] = set()
    for path in paths:
        if path.suffix == LOG:
            continue
        named = os.path.isfile(path)
        files = [path] if named else sorted(each for ending in _ENDINGS for each in path.rglob(f"*{ending}"))
        for file in files:
            if (resolved := file.resolve()) not in seen and file.is_file():
                seen.add(resolved)
                yield file, named


def _lines(path: Path, problems: list[Skipped]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not empty; a file that ends in damage ends there."""
    number = 0
    try:
        with closing(_opened(path)) as stream:
            for number, line in json_lines(stream, MOST_BYTES, str(path)):
                if line is None:
                    problems.append(skipped(str(path), f"longer than {MOST_BYTES >> 20} MiB", f"{LINE}{number}"))
                    return
                if line.strip():
                    yield number, line
    except (DataError, OSError, EOFError, zlib.error) as error:
        problems.append(skipped(str(path), error, f"{LINE}{number + 1}"))


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.name.endswith(".gz") else path.open("rb")


def _object(line: bytes) -> dict[str, Json]:
    check_json(line, MOST_VALUES)
    try:
        data: Any = json.loads(line.decode("utf-8-sig"))
    except ValueError:
        raise DataError("the line is not JSON") from None
    if not isinstance(data, dict):
        raise DataError("the line is not an object")
    return cast(dict[str, Json], data)


def _is_record(data: dict[str, Json]) -> bool:
    return "schema" in data and "turns" in data


def _episode(data: dict[str, Json], path: Path, number: int) -> LoggedEpisode:
    record = EpisodeRecord.from_json(data)
    family, _, variant = record.env.partition("/")
    task, given = data.get("task"), data.get("settings")
    settings = cast(dict[str, Json], given) if isinstance(given, dict) else {}
    return LoggedEpisode(
        model=_model(record.player),
        task=task if isinstance(task, str) and task else registry.entry(record.env).task or variant or family,
        record=record,
        settings=of_record(record, {name: value for name, value in settings.items() if isinstance(value, SCALARS)}),
        log=str(path.absolute()),
        sample=f"{LINE}{number}",
        run=RUN,
    )


def _model(player: str) -> str:
    if player == _PERSON or player.startswith(f"{_PERSON} "):
        return f"human{player.removeprefix(_PERSON)}"
    return player or UNNAMED
