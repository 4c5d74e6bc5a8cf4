"""Writes a submission: records in a fixed order, a manifest, and scores computed as in a report."""

import json
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from waybench._version import __version__
from waybench.core import EpisodeRecord, Json, UsageError, WaybenchError, spread
from waybench.results.estimates import by_level, overall
from waybench.results.horizons import Horizon, horizons
from waybench.results.logs import LoggedEpisode, RunInfo, Skipped, read_logs, run_infos
from waybench.results.results import Row, Verifier, exclude, fixed, grouped
from waybench.submission._archive import FORMAT, MANIFEST, RESULTS, VERSION, ArchiveWriter, Member, Spool, text_of
from waybench.submission._parameters import digest, open_run, portable
from waybench.submission._records import read_line, write_line

_TOLERANCE = 1e-9  # sums in another order differ by less


def scores(rows: Iterable[Row], *, processes: int = 1) -> list[dict[str, Any]]:
    """Return the scores of rows: for each task over all its levels, for each level, and the horizons.

    Args:
        rows: The rows, those of later runs last.
        processes: In how many processes horizons are computed.

    Returns:
        JSON values; "kind" is "overall", "level" or "horizon".
    """
    counted = exclude(rows)
    own = fixed(counted)
    by_group = list(grouped(counted, lambda row: (row.group.env, row.group.model)).values())

    def work(number: int) -> list[Horizon]:
        return horizons(by_group[number])

    with spread(work, len(by_group), processes) as computed:
        all_horizons = [horizon for some in computed for horizon in some]
    found = [
        *({"kind": "overall", **each.to_json()} for each in overall(own)),
        *({"kind": "level", **each.to_json()} for each in by_level(own)),
        *({"kind": "horizon", **each.to_json()} for each in all_horizons),
    ]
    # Through JSON, so that they can be compared with those of a file; the order does not depend on that of the rows.
    data = cast("list[dict[str, Any]]", json.loads(json.dumps(found, sort_keys=True)))
    return sorted(data, key=_order)


def _order(score: Mapping[str, Any]) -> str:
    return json.dumps([score["group"], score["kind"], score.get("level"), score.get("axis"), score.get("share")])


def first_difference(submitted: Json, computed: Json, place: str = "") -> str:
    """Return where two JSON values differ, with both values; "" if they agree up to rounding."""
    if isinstance(submitted, Mapping) and isinstance(computed, Mapping):
        one, other = cast("Mapping[str, Json]", submitted), cast("Mapping[str, Json]", computed)
        for name in sorted({*one, *other}):
            if name not in one or name not in other:
                return f"{place}.{name} is missing in {'the computed' if name in one else 'the submitted'} results"
            if difference := first_difference(one[name], other[name], f"{place}.{name}"):
                return difference
        return ""
    if isinstance(submitted, list) and isinstance(computed, list):
        some, others = cast("list[Json]", submitted), cast("list[Json]", computed)
        if len(some) != len(others):
            return f"{place or 'results'}: {len(some)} submitted, {len(others)} computed"
        for number, (first, second) in enumerate(zip(some, others, strict=True)):
            if difference := first_difference(first, second, f"{place}[{number}]"):
                return difference
        return ""
    if _agree(cast("Any", submitted), computed):
        return ""
    return f"{place.lstrip('.')}: {_short_text(submitted)} submitted, {_short_text(computed)} computed"


def _short_text(value: Any) -> str:
    return str(value)[:60]


def _agree(submitted: Any, computed: Any) -> bool:
    if type(submitted) in (int, float) and type(computed) in (int, float):
        return math.isclose(submitted, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(submitted) is type(computed) and submitted == computed


Key = tuple[str, str, int]  # a run, a sample's id, its epoch


class Packed(NamedTuple):
    """A submission that was written.

    Attributes:
        path: The file.
        models: Its models.
        runs: Number of runs.
        records: Number of records.
        unconfirmed: Number of records that a simulation does not confirm.
    """

    path: Path
    models: Sequence[str]
    runs: int
    records: int
    unconfirmed: int


def pack(
    places: Sequence[Path],
    out: Path,
    *,
    models: Sequence[str] = (),
    submitter: str = "",
    about: str = "",
    on_problem: Callable[[Skipped], None],
    on_episode: Callable[[LoggedEpisode], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Packed:
    """Write a submission. The same logs give the same bytes, with the same version of zlib.

    Args:
        places: Folders with logs, in any depth, and logs.
        out: The file to write.
        models: The models whose runs are submitted; all by default.
        submitter: Who submits.
        about: What the submitter says of the models.
        on_problem: Receives each file and sample that cannot be read.
        on_episode: Receives each episode.
        progress: Receives the number of episodes read so far.

    Raises:
        UsageError: If there is no run of a model, or if a file that a run names cannot be read or this one not
            written.
    """
    if out.is_dir() or not out.parent.is_dir():  # said before the logs are read
        reason = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise UsageError(f"cannot write {out}: {reason}; give a file, such as submission.zip")
    infos = [info for info in run_infos(*places, on_problem=on_problem) if not models or info.model in models]
    for model in models:
        if all(info.model != model for info in infos):
            known = ", ".join(sorted({info.model for info in run_infos(*places, on_problem=on_problem)}))
            raise UsageError(f"no run of {model[:120]} in these logs; they have runs of {known[:300] or 'no model'}")
    if not infos:
        raise UsageError(f"no run of waybench in {', '.join(map(str, places))[:300]}: give a folder of logs")
    by_run = {info.run: info for info in infos}
    verifier = Verifier({}, on_problem)
    searches: dict[str, Json] = {}
    rows: list[Row] = []
    unconfirmed = 0
    with Spool[Key]() as spool:
        for episode in read_logs(*places, on_problem=on_problem):
            if episode.run not in by_run:
                continue
            if on_episode is not None:
                on_episode(episode)
            found = verifier.verify(episode)
            confirmed = found is not None and found.simulated.confirmed
            unconfirmed += not confirmed
            if found is not None:
                rows.append(found.row)
            if episode.search:
                searches.setdefault(episode.run, dict(episode.search))
            key = (episode.run, episode.sample, episode.epoch)
            spool.add(key, write_line(episode.sample, episode.epoch, episode.record, confirmed=confirmed))
            if progress is not None:
                progress(len(spool))
        ordered = sorted(infos, key=lambda info: (info.model, info.task, info.created, info.run))
        place = {info.run: number for number, info in enumerate(ordered)}
        rows.sort(key=lambda row: place[row.run])  # as `verify` reads them: which of two runs is later matters
        _write(out, ordered, spool, searches, scores(rows), {"submitter": submitter, "about": about})
        return Packed(out, sorted({info.model for info in infos}), len(infos), len(spool), unconfirmed)


def _write(
    out: Path,
    infos: Sequence[RunInfo],
    spool: Spool[Key],
    searches: dict[str, Json],
    results: list[dict[str, Any]],
    said: dict[str, Json],
) -> None:
    items: dict[str, bytes] = {}

    def add_items(content: bytes) -> str:
        items[name := digest(content)] = content
        return name

    keys: dict[str, list[Key]] = defaultdict(list)
    for key in spool:
        keys[key[0]].append(key)
    with _finished(out) as path, closing(ArchiveWriter(path)) as writer:
        runs: list[Json] = []
        members: list[Member] = []
        for number, info in enumerate(infos):
            own = keys[info.run]
            first = [read_line(spool.get(key)).record for key in own[:1]]
            parameters = portable(info.task, info.parameters, first, add_items)
            name = f"records/{number:03}-{_file_name(info.task)}.jsonl"
            member = writer.write(name, map(spool.get, _in_order(info, parameters, items, own, spool)))
            members.append(member)
            runs.append(
                {
                    "file": name,
                    "records": len(own),
                    "model": info.model,
                    "task": info.task,
                    "parameters": parameters,
                    "settings": dict(info.settings),
                    "epochs": info.epochs,
                    "subset": info.subset,
                    "created": info.created,
                    "version": info.version,
                    "search": searches.get(info.run, {}),
                }
            )
        members += [writer.write(f"items/{name}.jsonl", iter([items[name]])) for name in sorted(items)]
        members.append(writer.write(RESULTS, iter([text_of({"scores": results})])))
        manifest = {"format": FORMAT, "schema": VERSION, "waybench": __version__, **said, "runs": runs}
        manifest["files"] = {each.name: {"sha256": each.sha256, "bytes": each.bytes} for each in members}
        writer.write(MANIFEST, iter([text_of(manifest)]))


@contextmanager
def _finished(out: Path) -> Generator[Path]:
    """Give a path to write to, which becomes the file at the end; after an error or Ctrl-C nothing is left."""
    unfinished = out.with_name(f".waybench-submission-{os.getpid()}")
    try:
        yield unfinished
        os.replace(unfinished, out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}; choose another file with --out") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _in_order(
    info: RunInfo, parameters: dict[str, Json], items: dict[str, bytes], keys: Sequence[Key], spool: Spool[Key]
) -> Iterator[Key]:
    """Yield the keys of a run's records as the task plays them, and then those that it does not play."""
    left = dict.fromkeys(keys)

    def result(sample: str) -> EpisodeRecord | None:
        key = (info.run, sample, 1)
        return read_line(spool.get(key)).record if key in spool else None

    with tempfile.TemporaryDirectory(prefix="waybench-submission-") as folder:
        try:
            run = open_run(
                info.task,
                parameters,
                keys={},
                items=items.__getitem__,
                folder=Path(folder),
                data_dir=_text(info.parameters.get("data_dir")),
                records=len(keys),
                levels=None,
            )
            for sample in run.played(info.model, result):
                for epoch in range(1, info.epochs + 1):
                    key = (info.run, str(sample.id), epoch)
                    if key in left:
                        del left[key]
                        yield key
        except WaybenchError:  # a private key is not here, or the task is unknown: the order of the log does as well
            pass
        yield from sorted(left)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _file_name(task: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in task.lower())[:60] or "task"
