"""The pages of a site: the jobs that write them, their cache keys, and the first page."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, cast

from markupsafe import Markup

from waybench.core import Json, map_in_processes
from waybench.envs import registry
from waybench.reporting._agents import agent_report
from waybench.reporting._cache import Changes, ReportCache, content_key, is_cacheable
from waybench.reporting._compare import compare_page
from waybench.reporting._exports import data_files, summary_json
from waybench.reporting._files import ScoreKey, SiteFolder, asset_files, task_page_name
from waybench.reporting._format import TaskView, presentation_of
from waybench.reporting._model_pages import ledger_page, write_model_page
from waybench.reporting._replays import LATER
from waybench.reporting._results import item_kinds
from waybench.reporting._results_page import refresh_replay_links, write_results_page
from waybench.reporting._site import Analyses, SectionFamily, Site, count_skip_reasons, score_key
from waybench.reporting._task_pages import write_family_pages
from waybench.reporting.charts import Chart
from waybench.reporting.charts._first_page import forest_chart, profile_chart
from waybench.reporting.charts._svg import ChartFiles, colour_number, model_colours
from waybench.reporting.tables import Table
from waybench.reporting.tables._comparisons import effect_table
from waybench.reporting.tables._horizons import leading_horizons
from waybench.reporting.tables._leaders import leader_tables
from waybench.reporting.tables._matrix import horizon_matrix, matrix_table, pairs_table
from waybench.results import Estimate
from waybench.results.comparisons._contrasts import ContrastEffect, Profile, contrast_profiles
from waybench.results.comparisons._decision_text import decision_lines
from waybench.results.comparisons._outcomes import Outcome
from waybench.results.estimates._matrix import short_title
from waybench.results.formatting import one_line
from waybench.results.logs import is_embedded, is_human
from waybench.results.results import Family, family_of, group_by, without_searches
from waybench.results.results._groups import distinguishing_settings

_MOST_FORESTS = 1  # pairs of models that are drawn: the best two
_MOST_PASSED_OVER = 200  # samples that the first page names; summary.json names all


def write_site(site: Site, title: str, progress: Callable[[int, int], None]) -> None:
    """Write all pages and files; `progress` receives the number of finished jobs, and of all."""
    analyses = site.run_analyses()
    # By name and not by rank, which a new log may change: charts of other tasks then keep their colours.
    with model_colours(sorted(site.model_pages, key=lambda name: (is_embedded(name), name))):
        families = [
            Job(_family_pages_key(site, title, family, analyses), partial(write_family_pages, site, family, analyses))
            for family in site.families
        ]
        others = [
            Job(b"", lambda: site.folder.write("summary.json", summary_json(title, site, analyses))),
            Job(b"", lambda: site.write_files(data_files(site, analyses))),
            Job(b"", partial(_write_agents_page, site)),
            *(
                Job(b"", partial(_write_compare_page, site, key))
                for family in site.families
                for key in family.keys
                if key in site.comparable
            ),
        ]
        results = [
            Job(
                _results_page_key(site, title, total),
                partial(write_results_page, site, total),
                partial(refresh_replay_links, site, total.group),
            )
            for total in site.totals
        ]
        models = [
            Job(_model_page_key(site, title, name, analyses), partial(write_model_page, site, name, analyses))
            for name in site.model_pages
        ]
        # The longest jobs come first, and jobs whose charts others have drawn come last.
        jobs = [*families, *others, *results, *models]
        written = _run_jobs(jobs, site.folder, site.charts, site.cache, site.processes, progress)
        written_of_job = dict(zip(jobs, written, strict=True))
        in_list_order = [written_of_job[job] for job in (*results, *models, *families, *others)]
        site.charts.listed = [chart for result in in_list_order for chart in result.charts]
        charts = [cast(Sequence[str], written_of_job[job].value) for job in families]
        _write_front_page(site, charts, analyses)


def _results_page_key(site: Site, title: str, total: Estimate) -> bytes:
    """Return the cache key of the pages of a group's results; b"" if its environment is not part of waybench."""
    group = total.group
    if not is_cacheable(group.env):
        return b""
    episodes = site.episode_identities([group])
    estimates = site.estimates_of[group]
    failures = site.failed.of_group(group, ""), site.failed.first_errors_of(group, "")
    return content_key(
        "results",
        *(title, site.names[group], site.pages[group], site.model_pages[group.model], site.png),
        *(episodes, estimates, total, failures, site.replays.is_complete),
        [site.replays.link(group, site.store.numbers[at]) for at in site.store.positions(group)],
    )


def _family_pages_key(site: Site, title: str, family: SectionFamily, analyses: Analyses) -> bytes:
    """Return the cache key of the pages of a family; b"" if an environment is not part of waybench."""
    if not all(map(is_cacheable, family.envs)):
        return b""
    groups = [group for group in site.names if family.has_group(group)]
    return content_key(
        "family",
        *(title, family, site.png, site.episode_identities(groups), site.published, bool(site.facts)),
        [(group, site.pages[group], group in site.searched_groups, site.estimates_of[group]) for group in groups],
        [total for total in site.totals if family.has_group(total.group)],
        [(group.model, site.facts.get(group.model), colour_number(group.model)) for group in groups],
        [analyses.for_task(key) for key in family.keys],
    )


def _model_page_key(site: Site, title: str, name: str, analyses: Analyses) -> bytes:
    """Return the cache key of a model's page; b"" if an environment is not part of waybench."""
    groups = [group for group in site.names if group.model == name]
    if not all(is_cacheable(group.env) for group in groups):
        return b""
    # The groups of other models determine the levels of a task, and the settings that distinguish its rows.
    groups_of_tasks = [site.ranked_groups[score_key(group)] for group in groups]
    groups_with_curves = [
        [curve.group for curve in analyses.curves if curve.group.env == group.env] for group in groups
    ]
    agents = [(agent.model, agent.settings, colour_number(agent.model)) for agent in site.agents]
    return content_key(
        "model",
        *(title, name, site.model_pages[name], site.png),
        # The only line of a chart has the first colour, whatever the model.
        colour_number(name) if len({(group.env, group.separate_by) for group in groups}) < len(groups) else None,
        [(group, site.pages[group], group in site.searched_groups, site.estimates_of[group]) for group in groups],
        [total for total in site.totals if total.group.model == name],
        [
            (
                distinguishing_settings(group, task_groups),
                distinguishing_settings(group, curve_groups),
                [task_group for task_group in task_groups if task_group.model == name],
            )
            for group, task_groups, curve_groups in zip(groups, groups_of_tasks, groups_with_curves, strict=True)
        ],
        [sorted({level for by_level in task_groups.values() for level in by_level}) for task_groups in groups_of_tasks],
        [curve for curve in analyses.curves if curve.group.model == name],
        site.failed.of_model(name, site.pages),
        agents if any(model == name for model, *_ in agents) else (),
        [agent for agent in site.agents if agent.model == name],
    )


def _write_agents_page(site: Site) -> None:
    """Write the page of all agents, if there are any."""
    report = agent_report(site.agents, site.pages)
    if report:
        site.write_files(site.charts.files_of(report.charts))
        site.write_page("agents/index.html", "agent.html", agent_report=report)


def _write_compare_page(site: Site, key: ScoreKey) -> None:
    """Write the page that shows two models side by side at a task."""
    (env_id, apart), store = key, site.store
    view = TaskView(registry.load(env_id), presentation_of(env_id), site.pages)
    positions = sorted(at for group in site.names if score_key(group) == key for at in store.positions(group))
    rows = [(store.rows[at], store.numbers[at]) for at in positions]
    rows = [(row, number if site.replays.is_written(row.group, number) else -number) for row, number in rows]
    anchor = task_page_name(*key)
    site.write_page(
        f"compare/{anchor}.html",
        "compare.html",
        env=view.env,
        apart=apart,
        anchor=anchor,
        presentation=view.presentation,
        comparison=compare_page(view, rows, site.estimates_at(key), site.verdicts),
    )


def _write_front_page(site: Site, charts: Sequence[Sequence[str]], analyses: Analyses) -> None:
    """Write the first page, the pages that it alone links to, and the list of charts, which must be complete.

    `charts` has for each family its chart as SVG, "" if it has none, and a short text on what the chart shows.
    """
    pages, model_pages, groups = site.pages, site.model_pages, [total.group for total in site.totals]
    site.write_files(asset_files({kind for group in groups for kind in item_kinds(group.env)}))
    # Models are compared with models; reference players are compared only if there are no models.
    ranked_models = [row.model for row in site.matrix.rows if row.kind != "reference"]
    rivals = ranked_models or [row.model for row in site.matrix.rows]
    outcomes: list[Outcome] = []
    if len(rivals) > 1:
        outcomes = site.verdicts.model_outcomes(without_searches(site.store.rows), rivals)
    if not ranked_models:  # the pair of reference players that differs most comes first
        outcomes.sort(key=lambda outcome: -outcome.n_shown)
    forests = [forest_chart(outcome) for outcome in outcomes[:_MOST_FORESTS]]
    site.write_files(site.charts.files_of(chart for chart in forests if chart))
    profiles = contrast_profiles(
        analyses.contrasts, [horizon for curve in analyses.curves for horizon in curve.horizons]
    )
    contrasts = [
        _contrast_profile(TaskView(registry.load(env), presentation_of(env), pages), effects, profiles)
        for env, effects in group_by(analyses.contrasts, lambda effect: effect.group.env).items()
    ]
    envs_with_profiles = {profile.group.env for profile in profiles}
    site.write_files(site.charts.files_of(part.chart for part in contrasts if part.chart))
    site.write_files([site.charts.index_file()])
    if not site.replays.is_complete:
        site.write_page(f"replays/{LATER}", "later.html")
    ledger = ledger_page(site.ledger, site.effects, pages, model_pages, site.store.prices)
    if ledger:
        site.write_page("ledger/index.html", "ledger.html", ledger=ledger)
    site.write_page("all/index.html", "all.html", leaders=leader_tables(site.leaders(analyses)))
    family_pages: dict[Family, str] = {}
    env_pages: dict[str, str] = {}
    for family in site.families:
        family_pages.setdefault(family_of(family.envs[0]), family.page)
        env_pages |= {env: f"tasks/{page}.html" for env, page in zip(family.envs, family.pages, strict=True)}
    site.write_page(
        "index.html",
        "index.html",
        outcomes=[
            (outcome.text, chart, _compare_links(site, outcome)) for outcome, chart in zip_longest(outcomes, forests)
        ],
        matrix=matrix_table(site.matrix, family_pages, pages, model_pages),
        pairs=pairs_table(site.matrix, model_pages),
        # An environment with profiles has a horizon for each condition, in the chart of profiles.
        horizons=horizon_matrix(
            site.matrix,
            {
                group: horizon
                for group, horizon in leading_horizons(analyses.curves).items()
                if group.env not in envs_with_profiles
            },
            env_pages,
            pages,
            model_pages,
        ),
        families=[
            (
                ", ".join([short_title(family_of(family.envs[0])), *(one_line(part, 60) for part in family.apart)]),
                family.page,
                Markup(chart),
                text,
                [(page, registry.load(env).title) for env, page in zip(family.envs, family.pages, strict=True)],
            )
            for family, (chart, text) in zip(site.families, charts, strict=True)
        ],
        contrasts=contrasts,
        decisions=[(decision.plan.task, decision_lines(decision)) for decision in site.decisions],
        agents=bool(site.agents),
        about={
            "models": len({group.model for group in groups if not group.embedded and not is_human(group.model)}),
            "people": len({group.model for group in groups if is_human(group.model)}),
            "players": len({group.model for group in groups if group.embedded}),
            "environments": len({group.env for group in groups}),
            "families": len({family_of(group.env) for group in groups}),
            "episodes": len(site.store.rows),
            "items": len(
                {(row.group.env, row.group.key, row.level, row.item, row.instance) for row in site.store.rows}
            ),
            "errors": sum(total.errors for total in site.totals),
            "unconfirmed": sum(total.unconfirmed for total in site.totals),
            "not_simulated": count_skip_reasons(site.store.again),
        },
        passed_over=[(Path(skipped.log).name, skipped.sample, skipped.error) for skipped in site.store.passed_over],
        most_passed_over=_MOST_PASSED_OVER,
        spent=ledger,
    )


def _compare_links(site: Site, outcome: Outcome) -> list[tuple[str, str]]:
    """Return the tasks that distinguish two models, each with the address of its page of two models side by side."""
    groups = [pair.first.group for pair in outcome.with_enough_items if pair.first.group]
    return [
        (
            ", ".join([registry.load(group.env).title, *group.separate_by]),
            f"compare/{task_page_name(*score_key(group))}.html",
        )
        for group in groups
        if score_key(group) in site.comparable
    ]


class _ProfilePart(NamedTuple):
    """The part of the first page on an environment with contrasts: a chart, a sentence for each model, and a table."""

    chart: Chart | None
    sentences: list[str]
    table: Table | None


def _contrast_profile(view: TaskView, effects: Sequence[ContrastEffect], profiles: Sequence[Profile]) -> _ProfilePart:
    """Return the part on one environment, from its effects and the profiles of all environments."""
    profiles = [profile for profile in profiles if profile.group.env == view.env.id]
    return _ProfilePart(
        profile_chart(view, profiles), [profile.text for profile in profiles], effect_table(view, effects)
    )


class Job(NamedTuple):
    """Pages to write.

    Attributes:
        key: The cache key of the pages; b"" if they cannot be cached.
        write: Writes the pages and the files of their charts, and returns `Written.value`.
        refresh: Updates the parts of unchanged pages that depend on other results; None if there are none.
    """

    key: bytes
    write: Callable[[], Json]
    refresh: Callable[[], object] | None = None


class Written(NamedTuple):
    """The result of a job: its files with their digests, its charts, its changes of the cache, and its return value."""

    files: dict[str, str]
    charts: list[dict[str, Json]]
    changes: Changes
    value: Json

    def to_bytes(self) -> bytes:
        """Return the result as a content of the cache."""
        values = self.files, self.charts, sorted(key.hex() for key in self.changes.used), self.value
        return json.dumps(values).encode()


def _run_jobs(
    jobs: Sequence[Job],
    folder: SiteFolder,
    charts: ChartFiles,
    cache: ReportCache,
    processes: int,
    progress: Callable[[int, int], None],
) -> list[Written]:
    """Run the jobs whose content has changed since an earlier report, in several processes if possible.

    Returns:
        The result of each job, in order; its charts are not in `ChartFiles.listed` yet.
    """
    earlier_results = [_earlier_result(job, folder, cache) for job in jobs]
    changed_jobs = [job for job, earlier in zip(jobs, earlier_results, strict=True) if earlier is None]

    def run_job(number: int) -> Written:
        """Run a job; its charts are removed from the list again, which other processes cannot share."""
        n_listed = len(charts.listed)
        with folder.record_written_files() as files, cache.record_changes() as changes:
            value = changed_jobs[number].write()
        new_charts = charts.listed[n_listed:]
        del charts.listed[n_listed:]
        return Written(files, new_charts, changes, value)

    results: list[Written] = []
    with map_in_processes(run_job, len(changed_jobs), processes) as new_results:
        for job, earlier in zip(jobs, earlier_results, strict=True):
            written = earlier or next(new_results)
            if earlier is None and job.key:
                cache.put(job.key, written.to_bytes())
            folder.take_over(written.files)
            if earlier is not None and job.refresh is not None:
                job.refresh()
            cache.merge_changes(written.changes)
            results.append(written)
            progress(len(results), len(jobs))
    return results


def _earlier_result(job: Job, folder: SiteFolder, cache: ReportCache) -> Written | None:
    """Return the result of a job in an earlier report, if all its files are unchanged in the folder."""
    content = cache.get(job.key) if job.key else None
    if content is None:
        return None
    try:
        files, listed_charts, used_keys, value = json.loads(content)
        changes = Changes({}, {bytes.fromhex(key) for key in used_keys})
        written = Written(dict(files), list(listed_charts), changes, value)
    except (ValueError, TypeError):
        return None
    return written if folder.has_files(written.files, sections=False) else None
