"""Writes the pages of a site in several processes; unchanged pages are kept."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from waybench.core import Json, spread
from waybench.reporting._cache import Changes, ReportCache
from waybench.reporting._files import Folder
from waybench.reporting.charts import ChartFiles


class Job(NamedTuple):
    """Pages to write.

    Attributes:
        key: Of everything that they are made of; b"" if that is not known.
        write: Writes them, and the files of their charts; what it returns is returned by `write_pages`.
        refresh: Brings up to date what in kept pages depends on other results; None if nothing does.
    """

    key: bytes
    write: Callable[[], Json]
    refresh: Callable[[], object] | None = None


class Written(NamedTuple):
    """What a job wrote: its files with their digests, its charts, what it used of the cache, and what it returned."""

    files: dict[str, str]
    charts: list[dict[str, Json]]
    changes: Changes
    value: Json

    def dumps(self) -> bytes:
        values = self.files, self.charts, sorted(key.hex() for key in self.changes.used), self.value
        return json.dumps(values).encode()


def write_pages(
    jobs: Sequence[Job],
    folder: Folder,
    charts: ChartFiles,
    kept: ReportCache,
    processes: int,
    progress: Callable[[int, int], None],
) -> list[Written]:
    """Run the jobs whose content has changed since an earlier report, in several processes if possible.

    Args:
        jobs: The jobs.
        folder: The site's folder.
        charts: The charts' files.
        kept: What the earlier report has worked out.
        processes: In how many processes at most.
        progress: Is given how many jobs are done, and of how many.

    Returns:
        What each job wrote, whose charts are not listed yet.
    """
    found = [_still_there(job, folder, kept) for job in jobs]
    to_do = [job for job, before in zip(jobs, found, strict=True) if before is None]

    def write(number: int) -> Written:
        before = len(charts.listed)
        with folder.recorded() as files, kept.recorded() as changes:
            value = to_do[number].write()
        listed = charts.listed[before:]
        del charts.listed[before:]
        return Written(files, listed, changes, value)

    done: list[Written] = []
    with spread(write, len(to_do), processes) as results:
        for number, (job, before) in enumerate(zip(jobs, found, strict=True), start=1):
            made = before or next(results)
            if before is None and job.key:
                kept.put(job.key, made.dumps())
            folder.take_over(made.files)
            if before is not None and job.refresh is not None:
                job.refresh()
            kept.merge(made.changes)
            done.append(made)
            progress(number, len(jobs))
    return done


def _still_there(job: Job, folder: Folder, kept: ReportCache) -> Written | None:
    """Return what an earlier report wrote for a job, if all of it is in the folder as it was."""
    content = kept.get(job.key) if job.key else None
    if content is None:
        return None
    try:
        found: Any = json.loads(content)
        files, listed, used, value = found
        made = Written(dict(files), list(listed), Changes({}, {bytes.fromhex(key) for key in used}), value)
    except (ValueError, TypeError):
        return None
    return made if folder.has(made.files, sections=False) else None
