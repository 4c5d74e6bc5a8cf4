"""Writes a submission: records in a fixed order, a manifest, and scores computed as in a report."""

import json
import math
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from waybench._version import __version__
from waybench.core import EpisodeRecord, Json, UsageError, WaybenchError, map_in_processes
from waybench.core._designs import design_of_run
from waybench.core._spool import Spool
from waybench.evaluation.tasks._samples import implied_samples
from waybench.results.estimates import by_level, overall
from waybench.results.horizons import Horizon, horizons
from waybench.results.logs import Skipped, read_logs
from waybench.results.logs._settings import RunInfo, run_infos
from waybench.results.results import Row, Verifier, exclude, group_by, without_searches
from waybench.submission._archive import (
    FORMAT,
    MANIFEST,
    RESULTS,
    VERSION,
    ArchiveWriter,
    Member,
    canonical_json_bytes,
)
from waybench.submission._parameters import items_digest, make_samples_again, portable_parameters
from waybench.submission._records import decode_record_line, encode_record_line

_SORT_FIELDS = ("group", "kind", "level", "axis", "share")  # of scores
_TOLERANCE = 1e-9  # sums in another order differ by less


def score_entries(rows: Iterable[Row], *, processes: int = 1) -> list[dict[str, Any]]:
    """Return the scores of rows as JSON: each task over all levels, each level, and horizons.

    `rows` are in the order of their runs, the latest last. The "kind" of a score is "overall", "level" or "horizon".
    """
    rows = exclude(rows)
    fixed_rows = without_searches(rows)
    by_group = list(group_by(rows, lambda row: (row.group.env, row.group.model)).values())

    def horizons_of_group(number: int) -> list[Horizon]:
        return horizons(by_group[number])

    with map_in_processes(horizons_of_group, len(by_group), processes) as horizons_of_groups:
        all_horizons = [horizon for group_horizons in horizons_of_groups for horizon in group_horizons]
    scores = [
        *({"kind": "overall", **score.to_json()} for score in overall(fixed_rows)),
        *({"kind": "level", **score.to_json()} for score in by_level(fixed_rows)),
        *({"kind": "horizon", **horizon.to_json()} for horizon in all_horizons),
    ]
    # Through JSON, so that they can be compared with those of a file; the order does not depend on that of the rows.
    data = cast("list[dict[str, Any]]", json.loads(json.dumps(scores, sort_keys=True)))
    return sorted(data, key=lambda score: json.dumps([score.get(name) for name in _SORT_FIELDS]))


def first_difference(submitted: Any, computed: Any, location: str = "") -> str:
    """Return where two JSON values differ, with both values; "" if they agree up to rounding."""
    if isinstance(submitted, Mapping) and isinstance(computed, Mapping):
        first, second = cast("Mapping[str, Any]", submitted), cast("Mapping[str, Any]", computed)
        for name in sorted({*first, *second}):
            if name not in first or name not in second:
                return f"{location}.{name} is missing in {'the computed' if name in first else 'the submitted'} results"
            if difference := first_difference(first[name], second[name], f"{location}.{name}"):
                return difference
        return ""
    if isinstance(submitted, list) and isinstance(computed, list):
        first_list, second_list = cast("list[Any]", submitted), cast("list[Any]", computed)
        if len(first_list) != len(second_list):
            return f"{location or 'results'}: {len(first_list)} submitted, {len(second_list)} computed"
        for number, (first, second) in enumerate(zip(first_list, second_list, strict=True)):
            if difference := first_difference(first, second, f"{location}[{number}]"):
                return difference
        return ""
    first, second = cast("tuple[Any, Any]", (submitted, computed))
    if type(first) in (int, float) and type(second) in (int, float):
        is_same = math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    else:
        is_same = type(first) is type(second) and first == second
    return "" if is_same else f"{location.lstrip('.')}: {str(first)[:60]} submitted, {str(second)[:60]} computed"


Key = tuple[str, str, int]  # a run, a sample's id, and its epoch


class Packed(NamedTuple):
    """A submission that was written: numbers of runs, of records, and of records that no simulation confirms."""

    path: Path
    models: Sequence[str]
    runs: int
    records: int
    unconfirmed: int


def pack(
    paths: Sequence[Path],
    out: Path,
    *,
    models: Sequence[str] = (),
    submitter: str = "",
    about: str = "",
    on_problem: Callable[[Skipped], None],
    progress: Callable[[int], None] | None = None,
) -> Packed:
    """Write a submission of the runs in logs. The same logs give the same bytes, with the same version of zlib.

    `paths` are logs, and folders with logs in any depth; without `models`, all models' runs are written. `on_problem`
    receives each file and sample that cannot be read, and `progress` the number of episodes read so far.

    Raises:
        UsageError: If there is no run of a model, a file that a run names cannot be read, or `out` cannot be written.
    """
    if out.is_dir() or not out.parent.is_dir():  # before the logs are read, which takes long
        reason = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise UsageError(f"cannot write {out}: {reason}; give a file, such as submission.zip")
    infos = [info for info in run_infos(*paths, on_problem=on_problem) if not models or info.model in models]
    for model in models:
        if all(info.model != model for info in infos):
            names = ", ".join(sorted({info.model for info in run_infos(*paths, on_problem=on_problem)}))
            raise UsageError(f"no run of {model[:120]} in these logs; they have runs of {names[:300] or 'no model'}")
    if not infos:
        raise UsageError(f"no run of waybench in {', '.join(map(str, paths))[:300]}: give a folder of logs")
    by_run = {info.run: info for info in infos}
    verifier = Verifier({}, on_problem)
    designs: dict[str, Json] = {}
    rows: list[Row] = []
    unconfirmed = 0
    with Spool[Key]() as spool:
        for episode in read_logs(*paths, on_problem=on_problem):
            if episode.run not in by_run:
                continue
            verified = verifier.verify(episode)
            confirmed = verified is not None and verified.simulated.confirmed
            unconfirmed += not confirmed
            if verified is not None:
                rows.append(verified.row)
            if episode.design:
                designs.setdefault(episode.run, dict(episode.design))
            key = (episode.run, episode.sample, episode.epoch)
            spool.add(key, encode_record_line(episode.sample, episode.epoch, episode.record, confirmed=confirmed))
            if progress is not None:
                progress(len(spool))
        ordered = sorted(infos, key=lambda info: (info.model, info.task, info.created, info.run))
        position = {info.run: number for number, info in enumerate(ordered)}
        rows.sort(key=lambda row: position[row.run])  # as `verify` reads them: which of two runs is later matters
        _write_archive(out, ordered, spool, designs, score_entries(rows), {"submitter": submitter, "about": about})
        return Packed(out, sorted({info.model for info in infos}), len(infos), len(spool), unconfirmed)


def _write_archive(
    out: Path,
    infos: Sequence[RunInfo],
    spool: Spool[Key],
    designs: dict[str, Json],
    results: list[dict[str, Any]],
    texts: dict[str, Json],
) -> None:
    """Write the archive: records by run, items, results, manifest."""
    items: dict[str, bytes] = {}

    def add_items(content: bytes) -> str:
        """Add a file of items, and return its digest."""
        items[name := items_digest(content)] = content
        return name

    keys_of_run = group_by(spool, lambda key: key[0])
    with _replace_when_complete(out) as path, closing(ArchiveWriter(path)) as writer:
        runs: list[Json] = []
        members: list[Member] = []
        for number, info in enumerate(infos):
            run_keys = keys_of_run.get(info.run, [])
            first_records = [decode_record_line(spool.get(key)).record for key in run_keys[:1]]
            parameters = portable_parameters(info.task, info.parameters, first_records, add_items)
            letters = (c if c.isascii() and c.isalnum() else "_" for c in info.task.lower())
            name = f"records/{number:03}-{''.join(letters)[:60] or 'task'}.jsonl"
            member = writer.write(name, map(spool.get, _keys_as_played(info, parameters, items, run_keys, spool)))
            members.append(member)
            runs.append(
                {
                    "file": name,
                    "records": len(run_keys),
                    "model": info.model,
                    "task": info.task,
                    "parameters": parameters,
                    "settings": dict(info.settings),
                    "epochs": info.epochs,
                    "subset": info.subset,
                    "created": info.created,
                    "version": info.version,
                    # The name is older than ladders, whose levels are here, too.
                    "search": dict(design_of_run(designs.get(info.run, {}))),
                }
            )
        members += [writer.write(f"items/{name}.jsonl", iter([items[name]])) for name in sorted(items)]
        members.append(writer.write(RESULTS, iter([canonical_json_bytes({"scores": results})])))
        manifest = {"format": FORMAT, "schema": VERSION, "waybench": __version__, **texts, "runs": runs}
        manifest["files"] = {member.name: {"sha256": member.sha256, "bytes": member.bytes} for member in members}
        writer.write(MANIFEST, iter([canonical_json_bytes(manifest)]))


@contextmanager
def _replace_when_complete(out: Path) -> Generator[Path]:
    """Yield a temporary path, which replaces `out` at the end; after an error it is removed."""
    unfinished = out.with_name(f".waybench-submission-{os.getpid()}")
    try:
        yield unfinished
        os.replace(unfinished, out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}; choose another file with --out") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _keys_as_played(
    info: RunInfo, parameters: dict[str, Json], items: dict[str, bytes], keys: Sequence[Key], spool: Spool[Key]
) -> Iterator[Key]:
    """Yield the keys of a run's records in the order in which its task plays them, then those of other records."""
    remaining = dict.fromkeys(keys)

    def find_record(sample: str) -> EpisodeRecord | None:
        key = (info.run, sample, 1)
        return decode_record_line(spool.get(key)).record if key in spool else None

    with tempfile.TemporaryDirectory(prefix="waybench-submission-") as folder:
        try:
            samples = make_samples_again(
                info.task,
                parameters,
                keys={},
                items=items.__getitem__,
                folder=Path(folder),
                data_dir=data_dir if isinstance(data_dir := info.parameters.get("data_dir"), str) else None,
                records=len(keys),
                levels=None,
            )
            for sample in implied_samples(samples, info.model, find_record):
                for epoch in range(1, info.epochs + 1):
                    key = (info.run, str(sample.id), epoch)
                    if key in remaining:
                        del remaining[key]
                        yield key
        except WaybenchError:  # without a private key, or for an unknown task, the keys alone give the order
            pass
        yield from sorted(remaining)
