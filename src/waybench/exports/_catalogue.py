"""Registration files of Inspect's catalogue of evaluations: one `eval.yaml` for each task."""

import re
from collections.abc import Iterable, Iterator

from waybench.core import Json, UsageError
from waybench.exports._files import FileText, as_name, yaml
from waybench.exports._results import Results
from waybench.tasks import find_task

_PATH = "src/waybench/tasks/_registry.py"
_COMMIT = re.compile(r"[0-9a-f]{40}")


def catalogue_entries(
    found: Iterable[Results], *, repository: str, commit: str, maintainers: Iterable[str] = ()
) -> Iterator[FileText]:
    """Yield register/TASK/eval.yaml, with what the models reached as its evaluation report.

    Args:
        found: The results.
        repository: The address of the repository that the catalogue is to name.
        commit: The commit of it that was run.
        maintainers: Who keeps the entry; by default the repository's owner.

    Raises:
        UsageError: If the address or the commit is none.
    """
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", repository):
        raise UsageError(f"--repository {repository[:80]!r}: give the address of a repository, from https:// on")
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"--commit {commit[:80]!r}: give the 40 digits of the commit that was run")
    by_task: dict[str, list[Results]] = {}
    for one in found:
        by_task.setdefault(one.group.task, []).append(one)
    for name, results in by_task.items():
        yield FileText(
            f"register/waybench_{as_name(name)}/eval.yaml",
            yaml(_entry(name, results, repository, commit, list(maintainers))) + "\n",
        )


def _entry(name: str, results: list[Results], repository: str, commit: str, maintainers: list[str]) -> Json:
    task = find_task(name)
    summary = " ".join(task.summary.split())
    return {
        "full_title": f"waybench: {name}",
        "common_title": f"waybench: {name}",
        "description": summary,
        "id": f"waybench_{as_name(name)}",
        "contributors": maintainers or [repository.split("/")[3]],
        "tasks": [
            {
                "name": name,
                "task_path": _PATH,
                "dataset_samples": max(one.total.items for one in results),
            }
        ],
        "tags": ["navigation", "planning", "games"],
        "source": {
            "repository_url": repository,
            "repository_commit": commit,
            **({"maintainers": maintainers} if maintainers else {}),
        },
        "evaluation_report": {
            "commit": commit,
            "command": f"inspect eval waybench/{name} --model MODEL",
            "results": [_row(one) for one in results],
        },
    }


def _row(one: Results) -> Json:
    mean = one.total.best
    assert mean is not None
    ends = [("ci_lower", mean.low), ("ci_upper", mean.high)]
    if (lost := mean.lost) is not None:
        ends = [("n", lost.counted), ("planned", lost.planned), ("lowest", lost.lowest), ("highest", lost.highest)]
    return {
        "model": one.group.model,
        "task": one.group.task,
        **({"date": one.date} if one.date else {}),
        "metrics": [
            {"key": one.total.headline, "value": mean.value},
            *({"key": key, "value": value} for key, value in ends if value is not None),
        ],
    }
