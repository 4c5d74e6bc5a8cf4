"""Results for Hugging Face, Inspect's catalogue of evaluations, and citations."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from waybench._version import __version__
from waybench.core import Json, UsageError, prepare_folder
from waybench.envs import registry
from waybench.evaluation.tasks import find_task
from waybench.results import Estimate, Row, overall, read_logs
from waybench.results.formatting import NO_RANK, lost_text
from waybench.results.logs import LoggedEpisode, Skipped
from waybench.results.papers import papers
from waybench.results.results import Group, fixed, grouped, measurable


class FileText(NamedTuple):
    """A file of an export.

    Attributes:
        path: Its path within the export, with slashes.
        text: Its content.
    """

    path: str
    text: str


def write_files(folder: Path, files: Iterable[FileText]) -> list[Path]:
    """Write files below a folder and return their paths.

    Raises:
        UsageError: If the folder cannot be written, or a path would leave it.
    """
    prepare_folder(folder)
    written: list[Path] = []
    for one in files:
        parts = PurePosixPath(one.path).parts
        if not parts or ".." in parts or one.path.startswith("/"):
            raise UsageError(f"cannot write {one.path[:120]!r}: the path leaves the folder of the export")
        path = folder.joinpath(*parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from None
        written.append(path)
    return written


def yaml(value: Json, indent: int = 0) -> str:
    """Return data as YAML: mappings and lists in blocks, and every other value as JSON, of which YAML is a superset."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        lines = [_yaml_entry(f"{pad}{name}:", one, indent) for name, one in value.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return "\n".join(lines)
    if isinstance(value, list) and value:
        return "\n".join(f"{pad}- {yaml(one, indent + 1).lstrip()}" for one in value)  # pyright: ignore[reportUnknownVariableType]
    return pad + json.dumps(value)


def _yaml_entry(head: str, value: Json, indent: int) -> str:
    if isinstance(value, dict | list) and value:
        return f"{head}\n{yaml(value, indent + 1)}"  # pyright: ignore[reportUnknownArgumentType]
    return f"{head} {json.dumps(value)}"


def as_name(text: str) -> str:
    """Return a text as part of a path that every system takes: other characters than these become "-"."""
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in text)
    return kept.strip(".-")[:100] or "unknown"


class Results(NamedTuple):
    """The results of one model at one task with the same settings.

    Attributes:
        group: Model, task and settings.
        total: The estimates over all levels.
        episodes: The included episodes, with their rows.
    """

    group: Group
    total: Estimate
    episodes: list[tuple[LoggedEpisode, Row]]

    @property
    def date(self) -> str:
        """The date of the last run, as YYYY-MM-DD; "" if it is not known."""
        dates = [row.origin.created[:10] for _, row in self.episodes if row.origin is not None]
        return max(dates, default="")


def read_results(
    folders: Iterable[Path], model: str = "", on_problem: Callable[[Skipped], None] | None = None
) -> list[Results]:
    """Read runs, simulate every episode again and return what counts, in the order of the logs.

    Searches for horizons are left out: they choose their items by the results, so that their mean score means nothing.

    Args:
        folders: Folders with logs, and files of records.
        model: The model's name; all models if empty.
        on_problem: Receives what is skipped.

    Raises:
        UsageError: If there are no results.
    """
    episodes, rows = measurable(
        read_logs(*folders, on_problem=on_problem), on_problem=on_problem or (lambda _: None), confirm=True
    )
    kept = set(map(id, fixed(rows)))
    pairs = [
        (episode, row)
        for episode, row in zip(episodes, rows, strict=True)
        if id(row) in kept and model in ("", row.group.model)
    ]
    totals = {total.group: total for total in overall(row for _, row in pairs)}
    found = [
        Results(group, totals[group], [pair for pair in some if pair[1].is_included])
        for group, some in grouped(pairs, lambda pair: pair[1].group).items()
        if group in totals and totals[group].best is not None
    ]
    if not found:
        raise UsageError(
            f"no results of {model!r} to export"
            if model
            else "no results to export: run a task with a fixed set of items"
        )
    return found


def citations(found: Iterable[Results]) -> Iterator[FileText]:
    """Yield CITATION.cff and citations.bib."""
    families = {_family(one.group.env) for one in found}
    cited = [
        paper
        for paper in papers()
        if families & {_family(block.env) for table in paper.tables for block in (*table.published, *table.embedded)}
    ]
    yield FileText(
        "CITATION.cff",
        yaml(
            {
                "cff-version": "1.2.0",
                "message": "Please cite waybench and the papers whose benchmarks were run.",
                "title": "waybench",
                "type": "software",
                "version": __version__,
                "license": "MIT",
                "authors": [{"name": "waybench contributors"}],
                **(
                    {
                        "references": [
                            {
                                "type": "generic",
                                "title": paper.title,
                                "authors": [{"name": f"The authors of {paper.title.partition(':')[0]}"}],
                                "notes": paper.source,
                            }
                            for paper in cited
                        ]
                    }
                    if cited
                    else {}
                ),
            }
        )
        + "\n",
    )
    entries = [("software", "waybench", "waybench", f"version {__version__}", "waybench contributors")]
    entries += [("misc", paper.name, paper.title, paper.source, "") for paper in cited]
    yield FileText("citations.bib", "\n".join(_bibtex(*entry) for entry in entries))


def _family(env: str) -> str:
    return env.partition("/")[0]


def _bibtex(kind: str, key: str, title: str, note: str, author: str) -> str:
    fields = {"title": f"{{{title}}}", **({"author": f"{{{author}}}"} if author else {}), "note": note}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}\n"


_PATH = "src/waybench/evaluation/tasks/_registry.py"
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


def eval_results(found: Iterable[Results], dataset: str, *, url: str = "") -> Iterator[FileText]:
    """Yield a file for each model and task: MODEL/.eval_results/waybench_TASK.yaml.

    Results of one model at one task with different settings are files of their own, whose notes say what is not the
    default.

    Args:
        found: The results.
        dataset: The benchmark's data set on the Hub, "owner/name".
        url: Where the evaluation can be read; left out if empty.

    Raises:
        UsageError: If the data set's name is no such name.
    """
    _check(dataset)
    written: set[str] = set()
    for one in found:
        group = one.group
        assert one.total.best is not None
        entry: dict[str, Json] = {
            "dataset": {"id": dataset, "task_id": group.task},
            "value": one.total.best.value,
            **({"date": one.date} if one.date else {}),
            **({"source": {"url": url, "name": "waybench"}} if url else {}),
            "notes": _notes(one),
        }
        path = f"{as_name(group.model)}/.eval_results/waybench_{as_name(group.task)}"
        number = 1
        while (name := path if number == 1 else f"{path}_{number}") in written:
            number += 1
        written.add(name)
        yield FileText(f"{name}.yaml", yaml([entry]) + "\n")


def benchmark_file(found: Iterable[Results]) -> FileText:
    """Return `eval.yaml` of the benchmark's data set: its tasks, which leaderboards list.

    Inspect's own `hf/` tasks cannot play episodes of several turns: `waybench run TASK` does.
    """
    tasks = sorted({one.group.task for one in found})
    document = {
        "name": "waybench",
        "description": "How well a language model finds its way.",
        "evaluation_framework": "waybench",
        "tasks": [{"id": task} for task in tasks],
    }
    return FileText("eval.yaml", yaml(document) + "\n")


def _notes(one: Results) -> str:
    group = one.group
    environment = registry.load(group.env)
    defaults = {option.name: option.default for option in (*environment.playing.options, *environment.items.options)}
    other = [f"{name}={value}" for name, value in group.options if name in defaults and value != defaults[name]]
    mean = one.total.best
    assert mean is not None
    interval = [] if mean.low is None or mean.high is None else [f"95 % interval {mean.low:.4g} to {mean.high:.4g}"]
    if mean.lost:
        lost = lost_text(mean.lost, environment.scoring.metrics[0])
        interval = [f"{lost} with the attempts that have no result", NO_RANK]
    facts = [f"{group.env} version {group.version}", f"key {group.key}", f"{one.total.items} items", *interval, *other]
    return ", ".join(facts)


def _check(dataset: str) -> None:
    owner, slash, name = dataset.partition("/")
    if not slash or as_name(owner) != owner or as_name(name) != name:
        raise UsageError(f"--dataset {dataset[:80]!r}: give the data set on the Hub as owner/name")
