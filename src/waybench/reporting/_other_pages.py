"""Pages about several groups of results, and writing pages in several processes."""

import json
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from waybench.core import Json, spread
from waybench.envs import registry
from waybench.reporting._agents import agent_cards, agent_report
from waybench.reporting._cache import Changes, ReportCache
from waybench.reporting._export import exports
from waybench.reporting._files import Folder, ScoreKey, task_page
from waybench.reporting._format import presentation_of
from waybench.reporting._replays import LATER
from waybench.reporting._summary import about, summary_json, write_front
from waybench.reporting._templates import assets
from waybench.reporting.charts import ChartFiles
from waybench.reporting.pages import (
    Compared,
    Section,
    SectionFamily,
    comparison,
    item_kinds,
    ledger_page,
    model,
    sections,
)
from waybench.reporting.tables import Table, leader_tables, leaders, leading_of, published_tables
from waybench.results import Estimate, Row, horizon_frame
from waybench.results.comparisons import IsomorphEffect, SettingEffect, TwinEffect, effect_frame, wording_frame
from waybench.results.estimates import ledger_frame
from waybench.results.published import published_frame

if TYPE_CHECKING:
    from waybench.reporting._site import Site


_MOST_PASSED_OVER = 200  # samples that the first page names; summary.json names all


def write_model(site: "Site", name: str, compared: Compared) -> None:
    """Write the page of a model."""
    shown = model(
        name,
        site.estimates,
        site.totals,
        agent_cards(site.agents, name),
        site.pages,
        site.model_pages,
        compared.curves,
        site.failed.of_model(name, site.pages),
        site.searched,
    )
    site.page(f"models/{site.model_pages[name]}", "model.html", model=shown)
    site.files(site.charts.of(shown.charts))


def write_family(site: "Site", family: SectionFamily, compared: Compared) -> Json:
    """Write the page of a family, and those of its environments.

    Returns:
        Its chart for the first page, "" if it has none, and what that shows in a few words.
    """
    estimates, totals = ([each for each in some if family.holds(each.group)] for some in site.fixed())
    own = sections(family, estimates, totals, compared, site.pages, site.facts)
    compared_on = {section.anchor for section in own if section.key in site.comparable}
    for section in own:
        site.page(
            f"tasks/{section.anchor}.html",
            "task.html",
            section=section,
            first=own[0],
            side_by_side=section.anchor in compared_on,
            published=_published(site, section),
        )
        site.files(site.charts.of(section.charts))
    site.page(
        f"families/{own[0].anchor}.html",
        "family.html",
        presentation=own[0].presentation,
        sections=own,
        compared_on=compared_on,
    )
    section, chart = next(((section, chart) for section in own for chart in section.charts), (None, None))
    if section is None or chart is None:
        return ["", ""]
    # A caption begins with the measure and what it is by, and goes on after a colon.
    return [str(chart.narrow or chart.wide), f"{section.env.title}: {chart.caption.partition(':')[0]}"]


def write_agents(site: "Site") -> None:
    """Write the page of all agents, if there are any."""
    shown = agent_report(site.agents, site.pages)
    if shown:
        site.files(site.charts.of(shown.charts))
        site.page("agents/index.html", "agent.html", agent_report=shown)


def write_summary(site: "Site", title: str, compared: Compared) -> None:
    """Write the summary for programs."""
    more = {
        "agents": [each.to_json() for each in site.agents],
        "ledger": [each.to_json() for each in site.ledger],
        "effects": [site.paged(each.to_json(), each.first, each.second) for each in site.effects],
        "comparisons": site.verdicts.to_json(site.pages),
        "failures": site.failed.to_json(site.pages),
        "matrix": site.matrix.to_json(),
    }
    site.folder.write("summary.json", summary_json(title, site, compared, more))


def write_frames(site: "Site", compared: Compared) -> None:
    """Write the frames, and the table for a README."""
    others = [
        horizon_frame([horizon for curve in compared.curves for horizon in curve.horizons]),
        ledger_frame(site.ledger),
        effect_frame(SettingEffect.kind, site.effects),
        wording_frame(compared.wordings),
        effect_frame(TwinEffect.kind, compared.twins),
        effect_frame(IsomorphEffect.kind, compared.isomorphs),
        *([published_frame(site.published)] if site.published else []),
    ]
    given = site.estimates, site.totals
    table = leaders(*given, site.pages, site.model_pages, leading_of(compared.curves), searched=site.searched)
    site.files(exports(site.found.rows, given, others, table, site.templates, site.facts))


def write_rest(site: "Site", charts: Sequence[Sequence[str]], compared: Compared) -> None:
    """Write the first page, and the other pages that link to those of models and families.

    Args:
        site: The site, with all charts listed.
        charts: Of each family its chart, "" where it has none, and what it shows in a few words.
        compared: What the results are compared by.
    """
    site.files(assets({kind for total in site.totals for kind in item_kinds(total.group.env)}))
    site.files([site.charts.index()])
    if not site.replays.is_complete:
        site.page(f"replays/{LATER}", "later.html")
    spent = ledger_page(site.ledger, site.effects, site.pages, site.model_pages)
    if spent:
        site.page("ledger/index.html", "ledger.html", ledger=spent)
    leading = leading_of(compared.curves)
    table = leaders(site.estimates, site.totals, site.pages, site.model_pages, leading, searched=site.searched)
    site.page("all/index.html", "all.html", leaders=leader_tables(table))
    write_front(
        site,
        found=site.matrix,
        leading=leading,
        charts=charts,
        agents=bool(site.agents),
        about=about(site),
        passed_over=[(Path(one.log).name, one.sample, one.error) for one in site.found.passed_over],
        most_passed_over=_MOST_PASSED_OVER,
        spent=spent,
    )


def write_compare(site: "Site", key: ScoreKey) -> None:
    """Write the page on which two models stand side by side at a task (`Site.comparable`)."""
    (env_id, apart), anchor = key, task_page(*key)
    env, presentation = registry.load(env_id), presentation_of(env_id)
    rows = [
        (row, number if site.replays.is_written(row.group, number) else -number) for row, number in _rows(site, key)
    ]
    site.page(
        f"compare/{anchor}.html",
        "compare.html",
        env=env,
        apart=apart,
        anchor=anchor,
        presentation=presentation,
        comparison=comparison(env, presentation, rows, _estimates(site, key), site.pages, site.verdicts),
    )


def _rows(site: "Site", key: ScoreKey) -> list[tuple[Row, int]]:
    """Return the rows of a task, each with its number in its group."""
    found = site.found
    positions = (found.positions(group) for group in site.names if (group.env, group.apart) == key)
    return [(found.rows[at], found.numbers[at]) for at in sorted(chain.from_iterable(positions))]


def _estimates(site: "Site", key: ScoreKey) -> list[Estimate]:
    """Return the estimates by level of a task."""
    groups = [group for group in site.estimates_of if (group.env, group.apart) == key]
    return [each for group in groups for each in site.estimates_of[group]]


def _published(site: "Site", section: Section) -> list[Table]:
    """Return the published rows of a task beside its results."""
    estimates = _estimates(site, section.key)
    totals = [total for total in site.totals if section.holds(total.group)]
    return published_tables(section.env.id, estimates, totals, site.published, site.pages)


class Job(NamedTuple):
    """Pages to write.

    Attributes:
        key: Of everything that they are made of; b"" if that is not known.
        write: Writes them, and the files of their charts; what it returns is returned by `write_pages`.
        refresh: Brings up to date what in kept pages depends on other results; None if nothing does.
    """

    key: bytes
    write: Callable[[], Json]
    refresh: Callable[[], object] | None = None


class Written(NamedTuple):
    """What a job wrote: its files with their digests, its charts, what it used of the cache, and what it returned."""

    files: dict[str, str]
    charts: list[dict[str, Json]]
    changes: Changes
    value: Json

    def dumps(self) -> bytes:
        values = self.files, self.charts, sorted(key.hex() for key in self.changes.used), self.value
        return json.dumps(values).encode()


def write_pages(
    jobs: Sequence[Job],
    folder: Folder,
    charts: ChartFiles,
    kept: ReportCache,
    processes: int,
    progress: Callable[[int, int], None],
) -> list[Written]:
    """Run the jobs whose content has changed since an earlier report, in several processes if possible.

    Args:
        jobs: The jobs.
        folder: The site's folder.
        charts: The charts' files.
        kept: What the earlier report has worked out.
        processes: In how many processes at most.
        progress: Is given how many jobs are done, and of how many.

    Returns:
        What each job wrote, whose charts are not listed yet.
    """
    found = [_still_there(job, folder, kept) for job in jobs]
    to_do = [job for job, before in zip(jobs, found, strict=True) if before is None]

    def write(number: int) -> Written:
        before = len(charts.listed)
        with folder.recorded() as files, kept.recorded() as changes:
            value = to_do[number].write()
        listed = charts.listed[before:]
        del charts.listed[before:]
        return Written(files, listed, changes, value)

    done: list[Written] = []
    with spread(write, len(to_do), processes) as results:
        for number, (job, before) in enumerate(zip(jobs, found, strict=True), start=1):
            made = before or next(results)
            if before is None and job.key:
                kept.put(job.key, made.dumps())
            folder.take_over(made.files)
            if before is not None and job.refresh is not None:
                job.refresh()
            kept.merge(made.changes)
            done.append(made)
            progress(number, len(jobs))
    return done


def _still_there(job: Job, folder: Folder, kept: ReportCache) -> Written | None:
    """Return what an earlier report wrote for a job, if all of it is in the folder as it was."""
    content = kept.get(job.key) if job.key else None
    if content is None:
        return None
    try:
        found: Any = json.loads(content)
        files, listed, used, value = found
        made = Written(dict(files), list(listed), Changes({}, {bytes.fromhex(key) for key in used}), value)
    except (ValueError, TypeError):
        return None
    return made if folder.has(made.files, sections=False) else None
