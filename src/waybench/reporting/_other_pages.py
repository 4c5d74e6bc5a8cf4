"""The pages about several groups of results: of models and tasks, the first page, and the files for programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from waybench.analysis import horizon_frame
from waybench.analysis.comparisons import (
    isomorph_frame,
    setting_effect_frame,
    setting_effects,
    twin_frame,
    wording_frame,
)
from waybench.analysis.estimates import agents, ledger, ledger_frame
from waybench.analysis.published import published_frame
from waybench.analysis.results import grouped
from waybench.core import Presentation
from waybench.reporting._agents import agent_report
from waybench.reporting._chosen_replays import LATER
from waybench.reporting._export import exports
from waybench.reporting._front import write_front
from waybench.reporting._presentations import family_of
from waybench.reporting._summary import about, summary_json
from waybench.reporting._templates import assets
from waybench.reporting.pages import Compared, Section, comparison, item_kinds, ledger_page, model, sections
from waybench.reporting.tables import Table, leader_tables, leaders, leading_of, published_tables

if TYPE_CHECKING:
    from waybench.reporting._site import Site

_MOST_PASSED_OVER = 200  # samples that the first page names; summary.json names all


def write_others(site: "Site", title: str, compared: Compared) -> None:
    """Write what is about several groups of results.

    Args:
        site: The site.
        title: Its title.
        compared: What the results are compared by.
    """
    rows = site.found.rows
    took, changed = ledger(rows), setting_effects(rows)
    played = agents(rows)
    agent_cards = agent_report(played, site.pages)
    given = (site.estimates, site.totals)
    for name, page in site.model_pages.items():
        failed = site.failed.of_model(name, site.pages)
        shown = model(name, *given, agent_cards, site.pages, site.model_pages, compared.curves, failed, site.searched)
        site.page(f"models/{page}", "model.html", model=shown)
        site.files(site.charts.of(shown.charts))
    site.files(assets({kind for total in site.totals for kind in item_kinds(total.group.env)}))
    more = {
        "agents": [each.to_json() for each in played],
        "ledger": [each.to_json() for each in took],
        "effects": [site.paged(each.to_json(), each.first, each.second) for each in changed],
        "comparisons": site.verdicts.to_json(site.pages),
        "failures": site.failed.to_json(site.pages),
        "matrix": site.matrix.to_json(),
    }
    site.folder.write("summary.json", summary_json(title, site, compared, more))
    families = _by_family(sections(*site.fixed(), compared, site.pages, site.facts))
    compared_on = {section.anchor for _, own in families for section in own if _compare(site, section)}
    for _, own in families:
        for section in own:
            on = section.anchor in compared_on
            site.page(
                f"tasks/{section.anchor}.html",
                "task.html",
                section=section,
                first=own[0],
                side_by_side=on,
                published=_published(site, section),
            )
            site.files(site.charts.of(section.charts))
    site.files(site.charts.of(agent_cards.charts) if agent_cards else ())
    table = leaders(*given, site.pages, site.model_pages, leading_of(compared.curves), searched=site.searched)
    horizons = [horizon for curve in compared.curves for horizon in curve.horizons]
    others = [
        horizon_frame(horizons),
        ledger_frame(took),
        setting_effect_frame(changed),
        wording_frame(compared.wordings),
        twin_frame(compared.twins),
        isomorph_frame(compared.isomorphs),
        *([published_frame(site.published)] if site.published else []),
    ]
    site.files(exports(rows, given, others, table, site.charts, site.templates, site.facts))
    if not site.replays.is_complete:
        site.page(f"replays/{LATER}", "later.html")
    spent = ledger_page(took, changed, site.pages, site.model_pages)
    if spent:
        site.page("ledger/index.html", "ledger.html", ledger=spent)
    write_front(
        site,
        found=site.matrix,
        leading=leading_of(compared.curves),
        leaders=leader_tables(table),
        families=families,
        compared_on=compared_on,
        agent_report=agent_cards,
        about=about(site),
        passed_over=[(Path(one.log).name, one.sample, one.error) for one in site.found.passed_over],
        most_passed_over=_MOST_PASSED_OVER,
        spent=spent,
    )


def _published(site: "Site", section: Section) -> list[Table]:
    """Return the published rows of a task beside its results."""
    estimates, totals = ([each for each in some if section.holds(each.group)] for some in (site.estimates, site.totals))
    return published_tables(section.env.id, estimates, totals, site.published, site.pages)


def _compare(site: "Site", section: Section) -> bool:
    """Write the page on which two models stand side by side at a task, if there are two."""
    found = site.found
    own = [
        (row, number if site.replays.is_written(row.group, number) else -number)
        for row, number in zip(found.rows, found.numbers, strict=True)
        if section.holds(row.group)
    ]
    estimates = [estimate for estimate in site.estimates if section.holds(estimate.group)]
    made = comparison(section.env, section.presentation, own, estimates, site.pages, site.verdicts)
    if made is not None:
        site.page(f"compare/{section.anchor}.html", "compare.html", section=section, comparison=made)
    return made is not None


def _by_family(some: Sequence[Section]) -> list[tuple[Presentation, list[Section]]]:
    found = grouped(some, lambda each: (family_of(each.env.id), each.apart))
    return [(own[0].presentation, own) for own in found.values()]
