"""Results for Hugging Face, Inspect's catalogue of evaluations, and citations."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from waybench._version import __version__
from waybench.core import Json, UsageError
from waybench.envs import registry
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._presets import catalogue_function, paper_of_task
from waybench.ext.publish.exports._files import FileText, as_path_part, check_dataset_name, without_none, yaml
from waybench.results import Estimate, Row, overall, read_logs
from waybench.results.formatting import NO_RANK, lost_text
from waybench.results.logs import LoggedEpisode, Skipped
from waybench.results.papers import papers
from waybench.results.results import RunKey, group_by, measure_episodes, without_searches

_FOLDER = "src/waybench/evaluation/tasks/catalogue"
_COMMIT = re.compile(r"[0-9a-f]{40}")


class ModelResults(NamedTuple):
    """The results of one model at one task with the same settings.

    Attributes:
        total: The estimates over all levels.
        episodes: The included episodes, with their rows.
    """

    group: RunKey
    total: Estimate
    episodes: list[tuple[LoggedEpisode, Row]]

    @property
    def date(self) -> str:
        """The date of the last run, as YYYY-MM-DD; "" if it is not known."""
        dates = [row.origin.created[:10] for _, row in self.episodes if row.origin is not None]
        return max(dates, default="")


def read_results(
    folders: Iterable[Path], model: str = "", on_problem: Callable[[Skipped], None] | None = None
) -> list[ModelResults]:
    """Read runs, simulate every episode again, and return the results in the order of the logs.

    Searches for horizons are left out: they choose their items by the results, so that their mean score means nothing.

    `folders` are folders with logs, and files of records; `model` is "" for all models. `on_problem` receives the logs
    and episodes that are skipped.

    Raises:
        UsageError: If there are no results.
    """
    episodes, rows = measure_episodes(
        read_logs(*folders, on_problem=on_problem), on_problem=on_problem or (lambda _: None), confirm=True
    )
    ids_of_fixed_rows = set(map(id, without_searches(rows)))
    episodes_and_rows = [
        (episode, row)
        for episode, row in zip(episodes, rows, strict=True)
        if id(row) in ids_of_fixed_rows and model in ("", row.group.model)
    ]
    total_by_group = {total.group: total for total in overall(row for _, row in episodes_and_rows)}
    results = [
        ModelResults(group, total_by_group[group], [pair for pair in group_pairs if pair[1].is_included])
        for group, group_pairs in group_by(episodes_and_rows, lambda pair: pair[1].group).items()
        if group in total_by_group and total_by_group[group].best is not None
    ]
    if not results:
        raise UsageError(
            f"no results of {model!r} to export"
            if model
            else "no results to export: run a task with a fixed set of items"
        )
    return results


def citations(results: Iterable[ModelResults]) -> Iterator[FileText]:
    """Yield CITATION.cff and citations.bib."""
    families = {_environment_family(result.group.env) for result in results}
    cited_papers = [
        paper
        for paper in papers()
        if families
        & {_environment_family(block.env) for table in paper.tables for block in (*table.published, *table.embedded)}
    ]
    references = [
        {
            "type": "article" if paper.authors else "generic",
            "title": paper.title,
            "authors": [_cff_author(author) for author in paper.authors] or [{"name": f"The author of {paper.title}"}],
            **without_none(year=paper.year),
            "notes": paper.source,
        }
        for paper in cited_papers
    ]
    citation = {
        "cff-version": "1.2.0",
        "message": "Please cite waybench and the papers whose benchmarks were run.",
        "title": "waybench",
        "type": "software",
        "version": __version__,
        "license": "MIT",
        "authors": [{"name": "waybench contributors"}],
        **without_none(references=references or None),
    }
    yield FileText("CITATION.cff", yaml(citation) + "\n")
    software = _bibtex_entry("software", "waybench", "waybench", f"version {__version__}", "{waybench contributors}")
    entries = [
        _bibtex_entry("misc", paper.name, paper.title, paper.source, " and ".join(paper.authors), paper.year)
        for paper in cited_papers
    ]
    yield FileText("citations.bib", "\n".join([software, *entries]))


def _cff_author(author: str) -> dict[str, str]:
    """Return an author, "Family, Given", as CITATION.cff has it."""
    family, _, given = author.partition(", ")
    return {"family-names": family, "given-names": given}


def _environment_family(env: str) -> str:
    return env.partition("/")[0]


def _bibtex_entry(kind: str, key: str, title: str, note: str, author: str, year: int | None = None) -> str:
    """Return an entry of a BibTeX file; fields that are "" or None are left out."""
    fields = {"title": f"{{{title}}}", **without_none(author=author or None, year=year), "note": note}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}\n"


def catalogue_entries(
    results: Iterable[ModelResults], *, repository: str, commit: str, maintainers: Iterable[str] = ()
) -> Iterator[FileText]:
    """Yield register/TASK/eval.yaml of each published benchmark, with the models' results as its evaluation report.

    A published benchmark has a function for the catalogue in `waybench.evaluation.tasks.catalogue`; other tasks have
    none, and are left out.

    `repository` is the address of the repository that the catalogue names, `commit` the commit of it that was run.
    `maintainers` keep the entry; by default the repository's owner.

    Raises:
        UsageError: If the address or the commit is not valid, or no result is of a published benchmark.
    """
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", repository):
        raise UsageError(f"--repository {repository[:80]!r}: give the address of a repository, from https:// on")
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"--commit {commit[:80]!r}: give the 40 digits of the commit that was run")
    by_task = group_by(results, lambda result: result.group.task)
    functions = {name: function for name in by_task if (function := catalogue_function(find_task(name)))}
    if not functions:
        raise UsageError(f"inspect-catalogue: {', '.join(by_task)}: the catalogue has the published benchmarks alone")
    for name, function in functions.items():
        entry = _catalogue_entry(name, by_task[name], function, repository, commit, list(maintainers))
        yield FileText(f"register/waybench_{as_path_part(name)}/eval.yaml", yaml(entry) + "\n")


def _catalogue_entry(
    name: str,
    results: list[ModelResults],
    function_and_arguments: tuple[str, Mapping[str, Json]],
    repository: str,
    commit: str,
    maintainers: list[str],
) -> Json:
    """Return the catalogue's entry of a task, by the function for the catalogue and its arguments."""
    function, arguments = function_and_arguments
    path, task = f"{_FOLDER}/{function}.py", find_task(name)
    paper = paper_of_task(task)
    arguments_text = "".join(f" -T {key}={value}" for key, value in arguments.items())
    n_samples = max(result.total.items for result in results)
    return {
        "full_title": f"waybench: {name}",
        "common_title": f"waybench: {name}",
        "description": " ".join(task.summary.split()),
        "id": f"waybench_{as_path_part(name)}",
        "contributors": maintainers or [repository.split("/")[3]],
        "tasks": [{"name": function, "task_path": path, "dataset_samples": n_samples}],
        **({"arxiv": f"https://arxiv.org/abs/{paper.removeprefix('arXiv:')}"} if paper else {}),
        "tags": ["navigation", "planning", "games"],
        "source": {
            "repository_url": repository,
            "repository_commit": commit,
            **without_none(maintainers=maintainers or None),
        },
        "evaluation_report": {
            "commit": commit,
            "command": f"inspect eval {path}{arguments_text} --model MODEL",
            "results": [_report_row(result, function) for result in results],
        },
    }


def _report_row(result: ModelResults, task: str) -> Json:
    """Return a model's row of a report: its headline score with the interval or, with lost attempts, the bounds."""
    mean = result.total.best
    assert mean is not None
    bounds = [("ci_lower", mean.low), ("ci_upper", mean.high)]
    if (lost := mean.lost) is not None:
        bounds = [
            ("n", lost.n_with_result),
            ("planned", lost.planned),
            ("lowest", lost.lowest),
            ("highest", lost.highest),
        ]
    return {
        "model": result.group.model,
        "task": task,
        **without_none(date=result.date or None),
        "metrics": [
            {"key": result.total.headline, "value": mean.value},
            *({"key": key, "value": value} for key, value in bounds if value is not None),
        ],
    }


def eval_results_files(results: Iterable[ModelResults], dataset: str, *, url: str = "") -> Iterator[FileText]:
    """Yield a file for each model and task: MODEL/.eval_results/waybench_TASK.yaml.

    Results of one model at one task with different settings are files of their own, whose notes name the settings that
    are not the default.

    `dataset` is the benchmark's data set on the Hub, "owner/name"; `url` is the address of the evaluation, left out if
    empty.

    Raises:
        UsageError: If the data set's name has another form.
    """
    check_dataset_name(dataset)
    used_names: set[str] = set()
    for result in results:
        group = result.group
        assert result.total.best is not None
        entry: dict[str, Json] = {
            "dataset": {"id": dataset, "task_id": group.task},
            "value": result.total.best.value,
            **without_none(date=result.date or None, source={"url": url, "name": "waybench"} if url else None),
            "notes": _result_notes(result),
        }
        path = f"{as_path_part(group.model)}/.eval_results/waybench_{as_path_part(group.task)}"
        names = (path if number == 1 else f"{path}_{number}" for number in count(1))
        file = next(name for name in names if name not in used_names)
        used_names.add(file)
        yield FileText(f"{file}.yaml", yaml([entry]) + "\n")


def _result_notes(result: ModelResults) -> str:
    """Return the environment, key, items, interval and options that are not the default, as text."""
    group = result.group
    environment = registry.load(group.env)
    defaults = {option.name: option.default for option in (*environment.playing.options, *environment.items.options)}
    other_options = [f"{name}={value}" for name, value in group.options if name in defaults and value != defaults[name]]
    mean = result.total.best
    assert mean is not None
    interval = [] if mean.low is None or mean.high is None else [f"95 % interval {mean.low:.4g} to {mean.high:.4g}"]
    if mean.lost:
        lost = lost_text(mean.lost, environment.scoring.metrics[0])
        interval = [f"{lost} with the attempts that have no result", NO_RANK]
    set_texts = [f"{group.env} version {group.version}", f"key {group.key}", f"{result.total.items} items"]
    return ", ".join([*set_texts, *interval, *other_options])
