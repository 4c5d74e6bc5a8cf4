"""Runs: evaluating models, reading logs, writing reports."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waybench._extras import says_missing_extra
from waybench.core import Json, PromptKinds, UsageError, load_prices

if TYPE_CHECKING:
    from waybench.results.logs import Skipped

Paths = str | Path  # of a file or a folder


@dataclass(frozen=True, slots=True)
class Results:
    """The results of some runs, as tables of pyarrow; a table's `to_pandas()` returns a pandas DataFrame.

    Attributes:
        episodes: One row for each episode, the excluded ones too (column `counts`).
        scores: One row for each mean with its interval, by model, settings and level.
        horizons: One row for each horizon with its interval.
        skipped: Samples and files of the logs that could not be read, and why.
    """

    episodes: Any
    scores: Any
    horizons: Any
    skipped: tuple["Skipped", ...]

    def __repr__(self) -> str:
        return (
            f"<Results: {self.episodes.num_rows} episodes, {self.scores.num_rows} scores, "
            f"{self.horizons.num_rows} horizons>"
        )


@says_missing_extra
def evaluate(
    tasks: str | Iterable[str],
    models: str | Iterable[str],
    *,
    out: Paths = "waybench-out",
    model_base_url: str | None = None,
    model_args: Mapping[str, Json] | None = None,
    config: Mapping[str, Json] | None = None,
    rerun: int = 1,
    **parameters: Json,
) -> Results:
    """Evaluate models on tasks. The same call continues a run that was interrupted.

    Args:
        tasks: Names of tasks, as `waybench list` shows them, or ids of environments.
        models: Names of models, as provider/name (``"openai/gpt-4o"``, ``"waybench/oracle"``).
        out: The folder for the logs.
        model_base_url: The address of the models' server.
        model_args: Arguments of the models' provider.
        config: Inspect's generation settings, such as ``{"temperature": 0, "max_tokens": 500}``.
        rerun: How often episodes with infrastructure errors are tried again.
        **parameters: Parameters of the tasks (``limit``, ``attempts``, ``protocol``, ...).

    Returns:
        The results of all runs in the folder.

    Raises:
        waybench.core.UsageError: For an unknown task, model or parameter; if `waybench[eval]` is not installed.
    """
    from waybench.evaluation import evaluate as run  # imported here: the evaluation engine takes seconds
    from waybench.evaluation.tasks import find_task, load_task, task_prompts

    task_makers: list[Callable[[], Any]] = []
    prompts = PromptKinds()
    for name in [tasks] if isinstance(tasks, str) else tasks:
        entry = find_task(name)
        resolved = entry.resolve(parameters)
        task_makers.append(partial(load_task(entry), **{parameter: resolved[parameter] for parameter in parameters}))
        prompts |= task_prompts(entry, resolved)
    run(
        task_makers,
        [models] if isinstance(models, str) else list(models),
        Path(out),
        model_base_url=model_base_url,
        model_args=model_args,
        config=config,
        rerun=rerun,
        prompts=prompts,
    )
    return read_logs(out)


@says_missing_extra
def read_logs(*folders: Paths, prices: Paths | None = None) -> Results:
    """Read the logs of some folders. Every episode is simulated again, as for a report.

    Args:
        *folders: Folders with logs, in any depth, and files of records (`waybench play --record`).
        prices: A file with the prices of models' tokens, for the costs; list prices by default.

    Returns:
        The results as tables.

    Raises:
        waybench.core.UsageError: If a folder does not exist, or has no episodes; if `waybench[eval]` is not installed.
    """
    from waybench.results import by_level, episode_frame, horizon_frame, overall, score_frame
    from waybench.results import read_logs as read
    from waybench.results.horizons import horizons
    from waybench.results.logs import Skipped
    from waybench.results.results import exclude
    from waybench.results.results._measured_row import verify_episodes

    skipped: list[Skipped] = []
    price_by_model = load_prices(Path(prices) if prices else None)
    episodes = read(*map(Path, folders), on_problem=skipped.append)
    rows = exclude(episode.row for episode in verify_episodes(episodes, price_by_model, skipped.append))
    return Results(
        episode_frame(rows).table,
        score_frame([*by_level(rows), *overall(rows)]).table,
        horizon_frame(horizons(rows)).table,
        tuple(skipped),
    )


@says_missing_extra
def report(
    *folders: Paths,
    out: Paths | None = None,
    title: str = "waybench",
    prices: Paths | None = None,
    published: bool = False,
    models: Paths | None = None,
) -> Path:
    """Write a report of the runs in some folders: a static site that opens without a server.

    Args:
        *folders: Folders with logs, in any depth, and files of records (`waybench play --record`).
        out: The folder for the site; the folder ``site`` in the first folder by default.
        title: The site's title.
        prices: A file with the prices of models' tokens, for the costs; list prices by default.
        published: Whether the papers' rows are shown beside the results, marked as not run here.
        models: A TOML file with names, sizes, dates and series of models, for charts against size and date.

    Returns:
        The path of the first page.

    Raises:
        waybench.core.UsageError: If a folder does not exist, or has no episodes; if `waybench[eval]` is not installed.
    """
    from waybench.reporting import read_models, write_report
    from waybench.results import read_logs as read
    from waybench.results.logs import Skipped
    from waybench.results.papers import papers

    if not folders:
        raise UsageError("give at least one folder with logs")
    skipped_on_reading = list[Skipped]()
    episodes = read(*map(Path, folders), on_problem=skipped_on_reading.append)
    first = Path(folders[0])  # a folder of logs, or a file of records
    default_out = (first.parent if os.path.isfile(first) else first) / "site"
    written = write_report(
        episodes,
        Path(out) if out is not None else default_out,
        title=title,
        prices=load_prices(Path(prices) if prices else None),
        models=read_models(Path(models)) if models else None,
        passed_over=skipped_on_reading,
        published=papers() if published else (),
    )
    for skipped in written.passed_over:
        print(f"waybench: {skipped}", file=sys.stderr)
    return written.index
