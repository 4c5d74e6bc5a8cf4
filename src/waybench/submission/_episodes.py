"""The episodes of a submission, for reports."""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from waybench.analysis.logs import LoggedEpisode, Skipped, of_record, skipped
from waybench.submission._archive import MANIFEST, Archive, NotASubmission
from waybench.submission._lines import read_line, with_texts
from waybench.submission._manifest import manifest_of


def episodes(
    path: Path, sha256: str, *, run: str, name: Callable[[str], str], on_problem: Callable[[Skipped], None]
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of a submission, each attempt once.

    Args:
        path: The file.
        sha256: SHA-256 of the file that was verified.
        run: What tells its runs from those of other submissions.
        name: Returns the name of a model in the report.
        on_problem: Receives each record that cannot be read.

    Raises:
        NotASubmission: If it is no submission, or another file than the one that was verified.
    """
    with path.open("rb", buffering=0) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
            raise NotASubmission(f"{path.name} changed after it was verified")
        stream.seek(0)
        archive = Archive(stream)
        for each in manifest_of(archive.json(MANIFEST)[0])["runs"]:
            if each["file"] not in archive.names:
                continue
            seen: set[tuple[str, int]] = set()
            # No more than the verification has read: a file of 4 GiB can have as many lines.
            for line in islice(archive.lines(each["file"]), each["records"]):
                try:
                    read = read_line(line)
                    key = read.sample, read.epoch
                    if key in seen:
                        continue
                    seen.add(key)
                    record, _ = with_texts(read)
                    settings = of_record(record, each["settings"])
                except Exception as error:  # a record is data from outside: it is not to take the others with it
                    on_problem(skipped(path.name, error, ""))
                    continue
                yield LoggedEpisode(
                    model=name(each["model"]),
                    task=each["task"],
                    record=record,
                    settings=settings,
                    log=path.name,
                    sample=read.sample,
                    run=f"{run}/{each['file']}",
                    search=each["search"],
                    epoch=read.epoch,
                )
