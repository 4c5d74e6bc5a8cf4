"""Verifies a submission, without a model and without a network."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from waybench.analysis.logs import LoggedEpisode, Skipped, of_record
from waybench.analysis.results import Row, Verifier
from waybench.core import End, EpisodeRecord, Json, WaybenchError, plural
from waybench.envs import registry
from waybench.eval import PLAN
from waybench.submission._archive import MANIFEST, MOST_RECORDS, RESULTS, Archive, NotASubmission
from waybench.submission._lines import Line, comparable_head, head_of, read_line, with_texts
from waybench.submission._manifest import manifest_of
from waybench.submission._odd import OddThings
from waybench.submission._parameters import key_labels
from waybench.submission._scores import first_difference, scores
from waybench.submission._spool import Spool
from waybench.submission._verdict import Findings, RunVerdict, Verdict
from waybench.submission._walk import open_run

Key = tuple[str, int]  # a sample's id and its epoch


def verify(
    path: Path,
    *,
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Verify a submission.

    The declared items are made again from key, level and version, every record is simulated again, and the scores are
    computed again. Nothing of the file is executed or extracted, beyond files of items and wordings that are data.

    Args:
        path: The file.
        keys: Keys of private sets.
        data_dir: The folder of published data sets; None for the usual places.
        progress: Receives the number of records read so far, and of all.

    Raises:
        NotASubmission: If it is no submission, or exceeds the limits.
        OSError: If it cannot be read.
    """
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        verdict = _Verification(Archive(stream), key_labels(keys), data_dir, progress).verdict(path.name, sha256)
        stream.seek(0)
        if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
            raise NotASubmission("the file changed while it was verified: verify it again")
    return verdict


class _Verification:
    """The verification of one archive."""

    def __init__(
        self,
        archive: Archive,
        keys: Mapping[str, str],
        data_dir: str | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._archive, self._keys, self._data_dir, self._progress = archive, keys, data_dir, progress
        content, self._manifest_file = archive.json(MANIFEST)
        try:
            self._manifest = manifest_of(content)
        except ValueError as error:
            raise NotASubmission(str(error)[:300]) from None
        self._total = sum(run["records"] for run in self._manifest["runs"])
        if not 0 <= self._total <= MOST_RECORDS:
            raise NotASubmission(f"it has {self._total:,} records; the maximum is {MOST_RECORDS:,}")
        self._done = 0
        self._rows: list[Row] = []
        self._findings = Findings()
        self._odd = OddThings()
        self._anchoring = Verifier({}, _ignore)

    def verdict(self, name: str, sha256: str) -> Verdict:
        """Return the verdict."""
        listed: dict[str, Any] = self._manifest["files"]
        if unlisted := sorted({*self._archive.names} - {*listed, MANIFEST}):
            self._findings.add("archive", f"{unlisted[0]} is not in the manifest")
        for missing in sorted({*listed} - {*self._archive.names}):
            self._findings.add("archive", f"{missing[:80]} is missing")
        names = [run["file"] for run in self._manifest["runs"]]
        if len({*names}) < len(names):
            self._findings.add("archive", "two runs name one file of records")
        runs = [self._run(run) for run in self._manifest["runs"]]
        computed = scores(self._rows)
        if RESULTS in self._archive.names:
            content, member = self._archive.json(RESULTS)
            self._check_digest(RESULTS, member.sha256)
            submitted = cast("Mapping[str, Json]", content).get("scores") if isinstance(content, dict) else None
            if difference := first_difference(submitted, computed):
                self._findings.add("results", difference)
        else:
            self._findings.add("results", f"there is no {RESULTS}")
        return Verdict(
            submitter=self._manifest["submitter"],
            about=self._manifest["about"],
            name=name,
            sha256=sha256,
            runs=runs,
            problems=self._findings.shown,
            counts=self._findings.counts,
            odd=self._odd.findings(),
            scores=computed,
        )

    def _check_digest(self, name: str, sha256: str) -> None:
        listed: dict[str, Any] = self._manifest["files"].get(name, {})
        if listed.get("sha256") != sha256:
            self._findings.add("archive", f"{name} has another SHA-256 than the manifest says")

    def _run(self, run: dict[str, Any]) -> RunVerdict:
        problems = Findings()
        with Spool[Key]() as spool:
            levels, confirmed, has_all = self._simulated(run, spool, problems)
            played = self._covered(run, spool, levels, problems) if has_all else None
            records = len(spool)
        return RunVerdict(
            model=run["model"],
            task=run["task"],
            parameters=run["parameters"],
            settings=run["settings"],
            created=run["created"],
            version=run["version"],
            records=records,
            confirmed=confirmed,
            played=played,
            problems=problems.shown,
            counts=problems.counts,
        )

    def _simulated(self, run: dict[str, Any], spool: Spool[Key], problems: Findings) -> tuple[set[int], int, bool]:
        """Simulate a run's records again.

        Returns:
            The levels of records that are confirmed, the number of these records, and whether the file has the lines
            that the manifest states.
        """
        digest, lines, confirmed = hashlib.sha256(), 0, 0
        levels: set[int] = set()
        if run["file"] not in self._archive.names:
            problems.add("archive", f"{run['file'][:80]} is missing")
            return levels, 0, False
        for line in self._archive.lines(run["file"], digest):
            lines += 1
            if lines > run["records"]:
                problems.add("archive", f"it has more records than the {run['records']:,} of the manifest")
                return levels, confirmed, False
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)
            try:
                read = read_line(line)
            except WaybenchError as error:
                problems.add("record", str(error), f"line {lines}")
                continue
            key = (read.sample, read.epoch)
            if key in spool:
                problems.add("unexpected", "there are two records of this attempt", read.sample)
                continue
            spool.add(key, line)
            if self._is_confirmed(read, run, problems):
                confirmed += 1
                levels.add(int(read.record.item["level"]))
        if lines < run["records"]:
            problems.add("archive", f"{lines:,} records, but {run['records']:,} in the manifest")
        self._check_digest(run["file"], digest.hexdigest())
        return levels, confirmed, True

    def _is_confirmed(self, line: Line, run: dict[str, Any], problems: Findings) -> bool:
        record, sample = line.record, line.sample
        if record.player != run["model"]:
            problems.add("player", f"played by {record.player[:80]!r}", sample)
        if record.end in (None, End.INFRASTRUCTURE):
            problems.add("unfinished", (record.error or "it has no end")[:200], sample)
        try:
            environment = registry.load(record.env)
            if record.env_version != environment.version:
                problems.add("version", f"{record.env}@{record.env_version}; here it is @{environment.version}", sample)
                return False
            record = with_texts(line)
        except Exception as error:  # a record is data from outside; whatever it trips over, it is not confirmed
            message = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
            problems.add("record", message, sample)
            return False
        episode = LoggedEpisode(
            model=run["model"],
            task=run["task"],
            record=record,
            settings=of_record(record, run["settings"]),
            sample=sample,
            run=run["file"],
            search=run["search"],
            epoch=line.epoch,
        )
        unmeasured: list[Skipped] = []
        verifier = self._verifier(unmeasured)
        found = verifier.verify(episode)
        if found is None:
            problems.add("record", unmeasured[0].error if unmeasured else "it cannot be measured", sample)
            return False
        self._rows.append(found.row)
        self._odd.add(episode)
        if found.simulated.skipped:
            problems.add("not simulated", found.simulated.skipped, sample)
        elif found.simulated.mismatch:
            problems.add("record", found.simulated.mismatch, sample)
        return found.simulated.confirmed

    def _verifier(self, unmeasured: list[Skipped]) -> Verifier:
        self._anchoring.on_problem = unmeasured.append
        return self._anchoring

    def _covered(self, run: dict[str, Any], spool: Spool[Key], levels: set[int], problems: Findings) -> int | None:
        """Compare a run's records with the items that its task plays; return the number of episodes it plays."""
        if run["subset"]:
            problems.add("missing", f"the run was restricted to some samples: {run['subset'][:100]}")
        left = set(spool)
        played = 0

        def result(sample: str) -> EpisodeRecord | None:
            key = (sample, 1)
            return read_line(spool.get(key)).record if key in spool else None

        with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
            try:
                opened = open_run(
                    run["task"],
                    run["parameters"],
                    keys=self._keys,
                    items=lambda name: self._archive.content(f"items/{name}.jsonl"),
                    folder=Path(folder),
                    data_dir=self._data_dir,
                    records=len(spool),
                    levels=levels,
                )
                for sample in opened.played(run["model"], result):
                    name = str(sample.id)
                    metadata: Mapping[str, Any] = sample.metadata or {}
                    head = comparable_head(json.loads(metadata[_KEY]), texts=False)
                    for epoch in range(1, run["epochs"] + 1):
                        played += 1
                        key = (name, epoch)
                        if key not in left:
                            problems.add("missing", "there is no record of this attempt", name)
                            continue
                        left.discard(key)
                        self._compare(read_line(spool.get(key)).record, head, name, problems)
                    if metadata.get(PLAN) is not None and json.loads(metadata[PLAN]) != run["search"]:
                        problems.add("task", "the settings of the search differ from those of the parameters")
                        break
                    if played > 2 * len(spool) + _SLACK:
                        problems.add("missing", f"more than half of the {plural(played, 'episode')} or more")
                        return None
            except WaybenchError as error:
                problems.add("task", str(error))
                return None
            except Exception as error:  # parameters are data from outside
                problems.add("task", f"the items cannot be made again: {type(error).__name__} {str(error)[:100]}")
                return None
        for name, _ in sorted(left):
            problems.add("unexpected", "the task does not play this attempt with these results", name)
        return played

    def _compare(self, record: EpisodeRecord, head: dict[str, Json], sample: str, problems: Findings) -> None:
        own = head_of(record, texts=False)
        for name in sorted({*own, *head}):
            if _plain(own.get(name)) != _plain(head.get(name)):
                problems.add("item", f"{name} differs from that of the item made again", sample)
                return


_KEY = "waybench"
_SLACK = 100  # missing attempts that are looked for in a run of few records


def _plain(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _ignore(problem: Skipped) -> None:
    """Do nothing; replaced for each record."""
