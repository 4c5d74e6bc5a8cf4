"""The pages of a group of results, which stay as they are as long as nothing that they show has changed."""

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from waybench.core import Json
from waybench.reporting._cache import Changes, ReportCache
from waybench.reporting._files import Folder
from waybench.reporting._workers import spread
from waybench.reporting.charts import ChartFiles


class Job(NamedTuple):
    """Pages to write.

    Attributes:
        key: Of everything that they are made of; b"" if that is not known.
        write: Writes them, and the files of their charts.
    """

    key: bytes
    write: Callable[[], None]


class _Written(NamedTuple):
    """What a job wrote: its files with their digests, its charts, and what it used of the cache."""

    files: dict[str, str]
    charts: list[dict[str, Json]]
    changes: Changes

    def dumps(self) -> bytes:
        values = self.files, self.charts, sorted(key.hex() for key in self.changes.used)
        return json.dumps(values).encode()


class GroupPages:
    """Writes the pages of groups: those that have changed, in other processes if possible.

    Args:
        folder: The site's folder.
        charts: The charts' files.
        kept: What an earlier report has worked out.
    """

    def __init__(self, folder: Folder, charts: ChartFiles, kept: ReportCache) -> None:
        self._folder, self._charts, self._kept = folder, charts, kept

    @contextmanager
    def written(
        self, jobs: Sequence[Job], processes: int, progress: Callable[[int, int], None]
    ) -> Generator[Callable[[], None], None, None]:
        """Begin to write, and yield what waits until all is written.

        Args:
            jobs: The jobs.
            processes: In how many processes at most.
            progress: Is given how many jobs are done, and of how many.
        """
        found = [self._still_there(job) for job in jobs]
        to_do = [job for job, before in zip(jobs, found, strict=True) if before is None]
        with spread(lambda number: self._write(to_do[number]), len(to_do), processes) as results:

            def wait() -> None:
                listed: list[dict[str, Json]] = []
                for number, (job, before) in enumerate(zip(jobs, found, strict=True), start=1):
                    made = before or next(results)
                    if before is None and job.key:
                        self._kept.put(job.key, made.dumps())
                    self._folder.take_over(made.files)
                    self._kept.merge(made.changes)
                    listed += made.charts
                    progress(number, len(jobs))
                self._charts.listed[:0] = listed

            yield wait

    def _write(self, job: Job) -> _Written:
        before = len(self._charts.listed)
        with self._folder.recorded() as files, self._kept.recorded() as changes:
            job.write()
        listed = self._charts.listed[before:]
        del self._charts.listed[before:]
        return _Written(files, listed, changes)

    def _still_there(self, job: Job) -> _Written | None:
        """Return what an earlier report wrote for a job, if all of it is in the folder as it was."""
        content = self._kept.get(job.key) if job.key else None
        if content is None:
            return None
        try:
            found: Any = json.loads(content)
            files, charts, used = found
            made = _Written(dict(files), list(charts), Changes({}, {bytes.fromhex(key) for key in used}))
        except (ValueError, TypeError):
            return None
        return made if self._folder.has(made.files) else None
