"""Verifies a submission, without a model; and the page of a verdict."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any, cast
from uuid import uuid4

from jinja2 import Environment, StrictUndefined

from waybench.core import PROCESSES, SHARD, Json, Workers, map_in_processes, plural, private_key_label
from waybench.core._spool import Spool
from waybench.core._workers import Copies
from waybench.results.formatting import visible
from waybench.results.results import Row, RunKey
from waybench.submission._archive import MANIFEST, MOST_RECORDS, RESULTS, Archive, NotASubmission, checked_manifest
from waybench.submission._pack import first_difference, score_entries
from waybench.submission._parameters import run_findings
from waybench.submission._records import CheckedRecord, Coverage, Key, RecordChecker, coverage_of_run
from waybench.submission._verdict import (
    NOT_PROVEN,
    ORACLE_SAMPLE,
    PROBLEMS,
    Findings,
    OddThings,
    RunVerdict,
    SubmissionVerdict,
)

_BATCH_SIZE = 20  # records that a process checks at a time


def verify(
    path: Path,
    *,
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    processes: int = PROCESSES,
    workers: Workers | None = None,
    seconds: float = 3600.0,
) -> SubmissionVerdict:
    """Verify a submission.

    The declared items are made again from key, level and version, every record is simulated again, and the scores are
    computed again. Nothing of the file is executed or extracted, beyond files of items and wordings that are data.

    Args:
        path: The file.
        keys: Keys of private sets.
        data_dir: The folder of published data sets; None for the usual places.
        progress: Receives the number of records verified so far, and of all.
        processes: Number of processes; the verdict does not depend on it.
        workers: Simulate the records; copies of this process by default.
        seconds: The longest time that the verification may take.

    Raises:
        NotASubmission: If the file is no submission, changes meanwhile, or exceeds the limits.
        OSError: If the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        with Spool[LineLocation]() as spool:
            archive = Archive(file)
            key_of_label = {private_key_label(key): key for key in keys}
            workers = workers or Copies(processes)
            deadline = monotonic() + seconds

            def check_deadline() -> None:
                """Raise an error if the verification has taken too long."""
                if monotonic() > deadline:
                    raise NotASubmission(f"its verification takes longer than {seconds / 60:g} minutes")

            verification = _Verification(
                archive, spool, key_of_label, data_dir, progress, processes, workers, check_deadline
            )
            verdict = verification.verdict(path.name, sha256)
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise NotASubmission("the file changed while it was verified: verify it again")
    return verdict


LineLocation = tuple[int, int]  # number of the run, from 0, and of the line, from 1
_Job = tuple[LineLocation, bool]  # a line to check, and whether its replies are compared with the oracle's
_LineArguments = tuple[int, bytes, dict[str, Any], bool]  # the arguments of `RecordChecker.check_line`


class _LineBatches(Sequence[tuple[str, list[_LineArguments]]]):
    """Batches of lines to check, each with the verification's name; lines are read when their batch is taken."""

    def __init__(self, jobs: Sequence[_Job], spool: Spool[LineLocation], runs: Sequence[dict[str, Any]]) -> None:
        self._jobs, self._spool, self._runs = jobs, spool, runs
        self._name = uuid4().hex

    def __len__(self) -> int:
        return -(-len(self._jobs) // _BATCH_SIZE)  # rounded up

    def __getitem__(self, number: Any, /) -> Any:
        """Return a batch: its name, and of each line the arguments of `RecordChecker.check_line`."""
        return self._name, [
            (line, self._spool.get((run, line)), self._runs[run], against_oracle)
            for (run, line), against_oracle in self._jobs[number * _BATCH_SIZE : (number + 1) * _BATCH_SIZE]
        ]


def _check_lines(batch: tuple[str, Sequence[_LineArguments]]) -> list[CheckedRecord]:
    """Return the results of checking a batch of lines: the verification's name and the arguments of each check."""
    verification, lines = batch
    checker = _cached_checker(verification)
    return [checker.check_line(*line) for line in lines]


@lru_cache(maxsize=1)
def _cached_checker(verification: str) -> RecordChecker:
    """Return this process's checker for a verification, whose name tells it from an earlier one."""
    return RecordChecker()


class _RunState:
    """What is known of a run.

    Attributes:
        is_read_to_end: Whether the file was read to its end, so that it has no more lines than the manifest states.
        line_of_attempt: Each record's sample and epoch -> the number of its line.
    """

    def __init__(self) -> None:
        self.problems = Findings()
        self.is_read_to_end = False
        self.line_of_attempt: dict[Key, int] = {}
        self.confirmed_levels: set[int] = set()
        self.n_confirmed = 0


class _Verification:
    """The verification of one archive."""

    def __init__(
        self,
        archive: Archive,
        spool: Spool[LineLocation],
        key_of_label: Mapping[str, str],
        data_dir: str | None,
        progress: Callable[[int, int], None] | None,
        processes: int,
        workers: Workers,
        check_deadline: Callable[[], None],
    ) -> None:
        self._check_deadline = check_deadline
        self._archive, self._spool, self._data_dir = archive, spool, data_dir
        self._key_of_label = key_of_label  # of private sets
        self._progress, self._processes, self._workers = progress, processes, workers
        content, self._manifest_file = archive.read_json(MANIFEST)
        try:
            self._manifest = checked_manifest(content)
        except ValueError as error:
            raise NotASubmission(str(error)[:300]) from None
        self._runs: list[dict[str, Any]] = self._manifest["runs"]
        self._total = sum(run["records"] for run in self._runs)
        if not 0 <= self._total <= MOST_RECORDS:
            raise NotASubmission(f"it has {self._total:,} records; the maximum is {MOST_RECORDS:,}")
        self._states = [_RunState() for _ in self._runs]
        self._rows: list[Row] = []
        self._groups: dict[RunKey, RunKey] = {}
        self._findings = Findings()
        self._odd = OddThings()

    def verdict(self, name: str, sha256: str) -> SubmissionVerdict:
        """Verify the archive, and return the verdict."""
        files_of_manifest: dict[str, Any] = self._manifest["files"]
        if unlisted := sorted({*self._archive.names} - {*files_of_manifest, MANIFEST}):
            self._findings.add("archive", f"{unlisted[0]} is not in the manifest")
        for missing in sorted({*files_of_manifest} - {*self._archive.names}):
            self._findings.add("archive", f"{missing[:80]} is missing")
        self._check_records(self._spool_lines())
        states = {run["file"]: state for run, state in zip(self._runs, self._states, strict=True)}
        for first, second in self._odd.run_pairs_with_same_record():
            states[second].problems.add("repeated", f"records of {first} are in {second}, too")
        runs = [
            self._run_verdict(run, state, coverage)
            for run, state, coverage in zip(self._runs, self._states, self._coverages(), strict=True)
        ]
        computed = score_entries(self._rows, processes=self._processes)
        if RESULTS in self._archive.names:
            content, member = self._archive.read_json(RESULTS)
            self._check_digest(RESULTS, member.sha256)
            submitted = cast("Mapping[str, Json]", content).get("scores") if isinstance(content, dict) else None
            if difference := first_difference(submitted, computed):
                self._findings.add("results", difference)
        else:
            self._findings.add("results", f"there is no {RESULTS}")
        return SubmissionVerdict(
            submitter=self._manifest["submitter"],
            about=self._manifest["about"],
            name=name,
            sha256=sha256,
            runs=runs,
            problems=self._findings.shown_findings,
            counts=self._findings.counts,
            odd=self._odd.findings(),
            scores=computed,
            fingerprints=self._odd.fingerprints,
        )

    def _check_digest(self, name: str, sha256: str) -> None:
        """Add a finding if a file's SHA-256 differs from the manifest's."""
        member: dict[str, Any] = self._manifest["files"].get(name, {})
        if member.get("sha256") != sha256:
            self._findings.add("archive", f"{name} has another SHA-256 than the manifest says")

    def _spool_lines(self) -> list[_Job]:
        """Write the lines of all runs to the spool; return the lines to check."""
        jobs: list[_Job] = []
        n_compared: Counter[str] = Counter()  # records that are compared with the oracle's, by model
        for number, (run, state) in enumerate(zip(self._runs, self._states, strict=True)):
            if run["file"] not in self._archive.names:
                state.problems.add("archive", f"{run['file'][:80]} is missing")
                continue
            digest, n_lines = hashlib.sha256(), 0
            for n_lines, line in enumerate(self._archive.read_lines(run["file"], digest), start=1):
                if n_lines > run["records"]:
                    text = f"it has more records than the {run['records']:,} of the manifest"
                    state.problems.add("archive", text)
                    break
                self._spool.add((number, n_lines), line)
                jobs.append(((number, n_lines), n_compared[run["model"]] < ORACLE_SAMPLE))
                n_compared[run["model"]] += 1
            else:
                if n_lines < run["records"]:
                    state.problems.add("archive", f"{n_lines:,} records, but {run['records']:,} in the manifest")
                self._check_digest(run["file"], digest.hexdigest())
                state.is_read_to_end = True
        return jobs

    def _check_records(self, jobs: Sequence[_Job]) -> None:
        """Simulate all records again, and collect the results in the order of the jobs."""
        n_done = 0
        with self._workers.each(_check_lines, _LineBatches(jobs, self._spool, self._runs)) as batches:
            for batch in batches:
                for checked in batch:
                    (run, line), _ = jobs[n_done]
                    self._add_checked_record(checked, self._states[run], line)
                    n_done += 1
                    self._check_deadline()
                    if self._progress is not None:
                        self._progress(n_done, self._total)

    def _add_checked_record(self, checked: CheckedRecord, state: _RunState, line: int) -> None:
        """Add the result of checking a line to the state of its run."""
        if checked.key is not None:
            if checked.key in state.line_of_attempt:
                state.problems.add("unexpected", "there are two records of this attempt", checked.key[0])
                return
            state.line_of_attempt[checked.key] = line
        for problem in checked.problems:
            state.problems.add(*problem)
        if checked.row is not None:
            # One group for all its rows saves memory: each row from another process has a copy, with long texts.
            group = self._groups.setdefault(checked.row.group, checked.row.group)
            self._rows.append(replace(checked.row, group=group))
        if checked.conduct is not None:
            self._odd.add(checked.conduct)
        if checked.level is not None:
            state.n_confirmed += 1
            state.confirmed_levels.add(checked.level)

    def _coverages(self) -> Iterator[Coverage | None]:
        """Yield the coverage of each run; None if its file is missing or has more records than the manifest states."""
        # Runs of different shards of the same items differ in the parameter SHARD alone.
        item_set_of_runs = [
            json.dumps(
                [
                    *(run[name] for name in ("model", "task", "settings", "epochs")),
                    {name: value for name, value in run["parameters"].items() if name != SHARD},
                ],
                sort_keys=True,
            )
            for run in self._runs
        ]
        n_records_by_shard: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))  # of each item set
        for item_set, run, state in zip(item_set_of_runs, self._runs, self._states, strict=True):
            n_records_by_shard[item_set][str(run["parameters"].get(SHARD) or "")] += len(state.line_of_attempt)

        def coverage_of_run_number(number: int) -> Coverage | None:
            state = self._states[number]
            if not state.is_read_to_end:
                return None

            def read_line(attempt: Key) -> bytes:
                self._check_deadline()
                return self._spool.get((number, state.line_of_attempt[attempt]))

            return coverage_of_run(
                self._runs[number],
                self._archive,
                read_line,
                state.line_of_attempt,
                shards=n_records_by_shard[item_set_of_runs[number]],
                levels=state.confirmed_levels,
                keys=self._key_of_label,
                data_dir=self._data_dir,
            )

        with map_in_processes(coverage_of_run_number, len(self._runs), self._processes) as results:
            yield from results

    def _run_verdict(self, run: dict[str, Any], state: _RunState, run_coverage: Coverage | None) -> RunVerdict:
        """Return the verdict of a run, with all findings on it and its parameters."""
        problems = state.problems
        for finding in run_findings(run):
            problems.add(*finding)
        if run_coverage is not None:
            problems.update(run_coverage.problems)
        return RunVerdict(
            model=run["model"],
            task=run["task"],
            parameters=run["parameters"],
            settings=run["settings"],
            created=run["created"],
            version=run["version"],
            records=len(state.line_of_attempt),
            confirmed=state.n_confirmed,
            played=run_coverage.played if run_coverage is not None else None,
            problems=problems.shown_findings,
            counts=problems.counts,
            epochs=run["epochs"],
        )


def verdict_page(
    verdict: SubmissionVerdict, *, links: Sequence[tuple[str, str]] = (), note: str = "", signer: str = ""
) -> str:
    """Return the HTML page of a verdict.

    Args:
        verdict: The verdict. Everything in it is text from outside, which is escaped.
        links: Texts and addresses of pages about the same submission.
        note: A further sentence on the submission; "" for none.
        signer: Who signed that the file is verified; "" for nobody. The signed verdict is then the page's heading and
            stands for the checks that are not possible here, so that a check left out is no failure.
    """
    templates = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible_if_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    source = (files("waybench.submission") / "verdict.html").read_text(encoding="utf-8")
    headline_scores = [
        score for score in verdict.scores if score["kind"] == "overall" and score["metrics"].get(score["headline"])
    ]
    return templates.from_string(source).render(
        verdict=verdict,
        links=links,
        note=note,
        signer=signer,
        scores=headline_scores,
        meanings=PROBLEMS,
        not_proven=NOT_PROVEN,
        plural=plural,
        records=sum(run.records for run in verdict.runs),
    )


def _visible_if_text(value: Any) -> Any:
    """Return a text with invisible characters shown; other values unchanged."""
    return visible(value) if isinstance(value, str) else value
