"""Compares a run's records with the items that its task plays, made again from its parameters."""

import json
import tempfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import SHARD, EpisodeRecord, Json, WaybenchError, plural
from waybench.eval import PLAN, stored_record
from waybench.submission._archive import Archive
from waybench.submission._lines import head_of, read_line
from waybench.submission._records import Key
from waybench.submission._verdict import Findings
from waybench.submission._walk import open_run
from waybench.tasks import missing_shards

_SLACK = 100  # missing attempts that are looked for in a run of few records


class Coverage(NamedTuple):
    """How a run's records cover what its task plays.

    Attributes:
        played: Number of episodes that the task plays; None if that cannot be said.
        problems: What does not agree.
    """

    played: int | None
    problems: Findings


def coverage(
    run: dict[str, Any],
    archive: Archive,
    line_of: Callable[[Key], bytes],
    samples: Collection[Key],
    *,
    shards: Mapping[str, int],
    levels: Collection[int],
    keys: Mapping[str, str],
    data_dir: str | None,
) -> Coverage:
    """Compare a run's records with the items that its task plays.

    Args:
        run: The run, as the manifest has it.
        archive: The archive, for files of items.
        line_of: Returns the line of a sample.
        samples: The samples that have a record.
        shards: The shards of its items that the submission has -> the number of their records; one that is no shard
            has the name "".
        levels: Levels of records that a simulation confirms.
        keys: Keys of private sets by their labels.
        data_dir: The folder of published data sets; None for the usual places.
    """
    problems = Findings()
    if run["subset"]:
        problems.add("missing", f"the run was restricted to some samples: {run['subset'][:100]}")
    left = dict.fromkeys(samples)
    played = 0

    def result(sample: str) -> EpisodeRecord | None:
        key = (sample, 1)
        return read_line(line_of(key)).record if key in samples else None

    with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
        try:
            opened = open_run(
                run["task"],
                run["parameters"],
                keys=keys,
                items=lambda name: archive.content(f"items/{name}.jsonl"),
                folder=Path(folder),
                data_dir=data_dir,
                records=sum(shards.values()),
                levels=levels,
            )
            shard = run["parameters"].get(SHARD)
            if shard is not None and (lacking := missing_shards(str(shard), shards)):
                problems.add("missing", lacking)
            for sample in opened.played(run["model"], result):
                name = str(sample.id)
                metadata: Mapping[str, Any] = sample.metadata or {}
                head = head_of(stored_record(metadata, {}))
                for epoch in range(1, run["epochs"] + 1):
                    played += 1
                    key = (name, epoch)
                    if key not in left:
                        problems.add("missing", "there is no record of this attempt", name)
                        continue
                    del left[key]
                    _compare(read_line(line_of(key)).record, head, name, problems)
                if metadata.get(PLAN) is not None and json.loads(metadata[PLAN]) != run["search"]:
                    problems.add("task", "the settings of the search differ from those of the parameters")
                    break
                if played > 2 * len(samples) + _SLACK:
                    problems.add("missing", f"more than half of the {plural(played, 'episode')} or more")
                    return Coverage(None, problems)
        except WaybenchError as error:
            problems.add("task", str(error))
            return Coverage(None, problems)
        except Exception as error:  # parameters are data from outside
            problems.add("task", f"the items cannot be made again: {type(error).__name__} {str(error)[:100]}")
            return Coverage(None, problems)
    for name, _ in sorted(left):
        problems.add("unexpected", "the task does not play this attempt with these results", name)
    return Coverage(played, problems)


def _compare(record: EpisodeRecord, head: dict[str, Json], sample: str, problems: Findings) -> None:
    own = head_of(record)
    for name in sorted({*own, *head}):
        if _plain(own.get(name)) != _plain(head.get(name)):
            problems.add("item", f"{name} differs from that of the item made again", sample)
            return


def _plain(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
