"""Verifies folders of logs: their submission, and besides it what only logs have."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from waybench.analysis.logs import Skipped, run_infos
from waybench.core import Workers
from waybench.submission._pack import pack
from waybench.submission._transcripts import LogFinding, log_findings
from waybench.submission._verdict import Findings, RunVerdict, Verdict
from waybench.submission._verify import verify


def verify_logs(
    places: Sequence[Path],
    *,
    models: Sequence[str] = (),
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    on_problem: Callable[[Skipped], None],
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
) -> Verdict:
    """Verify the runs in logs, as `verify` does the submission that `pack` writes of them.

    Besides, each record is compared with the transcript in the same sample (replies, tokens, and the messages that were
    sent), each score with that of the record, and each log with its header.

    Args:
        places: Folders with logs, in any depth, and logs.
        models: The models; all by default.
        keys: Keys of private sets.
        data_dir: The folder of published data sets; None for the usual places.
        on_problem: Receives each file and sample that cannot be read.
        progress: Receives the number of records verified so far, and of all.
        workers: Simulate the records; copies of this process by default.

    Raises:
        UsageError: If there is no run of a model, or a file that a run's parameters name cannot be read.
    """
    skipped: list[Skipped] = []

    def skip(problem: Skipped) -> None:
        skipped.append(problem)
        on_problem(problem)

    with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
        path = Path(folder) / "submission.zip"
        pack(places, path, models=models, on_problem=skip)
        verdict = verify(path, keys=keys, data_dir=data_dir, progress=progress, workers=workers)
    infos = [info for info in run_infos(*places, on_problem=_ignore) if not models or info.model in models]
    by_run: dict[str, list[LogFinding]] = defaultdict(list)
    for finding in log_findings(infos, _ignore):
        by_run[finding.run].append(finding)
    ordered = sorted(infos, key=lambda info: (info.model, info.task, info.created, info.run))
    runs = [_with(run, by_run[info.run]) for run, info in zip(verdict.runs, ordered, strict=True)]
    problems = Findings()
    for each in skipped:
        problems.add("log", str(each))
    name = ", ".join(place.name or str(place) for place in places)
    return replace(
        verdict,
        name=name,
        sha256="",
        runs=runs,
        problems=[*verdict.problems, *problems.shown],
        counts={**verdict.counts, **problems.counts},
    )


def _with(run: RunVerdict, found: Sequence[LogFinding]) -> RunVerdict:
    problems = Findings()
    for each in found:
        problems.add(each.kind, each.text, each.sample)
    return replace(run, problems=[*run.problems, *problems.shown], counts={**run.counts, **problems.counts})


def _ignore(problem: Skipped) -> None:
    """Do nothing: what cannot be read was reported when the logs were packed."""
