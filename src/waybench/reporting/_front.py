"""The first page, and the pages of families, agents and all results that it links to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waybench.analysis.estimates import Matrix, short_title
from waybench.analysis.horizons import Horizon
from waybench.analysis.results import Family, Group
from waybench.core import Presentation
from waybench.reporting._files import task_page
from waybench.reporting._presentations import family_of
from waybench.reporting.charts import Chart
from waybench.reporting.pages import Section
from waybench.reporting.tables import Table, horizon_matrix, matrix_table

if TYPE_CHECKING:
    from waybench.reporting._site import Site


def write_front(
    site: "Site",
    *,
    found: Matrix,
    leading: Mapping[Group, Horizon],
    leaders: Sequence[Table],
    families: Sequence[tuple[Presentation, list[Section]]],
    compared_on: set[str],
    agent_report: Any,
    **values: Any,
) -> None:
    """Write the first page and the pages that it links to.

    Args:
        site: The site.
        found: The matrix of models by families.
        leading: The horizon that stands for each group.
        leaders: The tables of all results.
        families: The sections of each family.
        compared_on: Anchors of the sections that have a page of two models side by side.
        agent_report: The results of agents; None if there are none.
        **values: What else the first page shows.
    """
    family_pages: dict[Family, str] = {}
    for presentation, own in families:
        path = f"families/{own[0].anchor}.html"
        family_pages.setdefault(family_of(own[0].env.id), path)
        site.page(path, "family.html", presentation=presentation, sections=own, compared_on=compared_on)
    if agent_report:
        site.page("agents/index.html", "agent.html", agent_report=agent_report)
    site.page("all/index.html", "all.html", leaders=leaders)
    env_pages = {
        section.env.id: f"tasks/{task_page(section.env.id, section.apart)}.html"
        for _, own in families
        for section in reversed(own)
    }
    pages, model_pages = site.pages, site.model_pages
    site.page(
        "index.html",
        "index.html",
        matrix=matrix_table(found, family_pages, pages, model_pages),
        horizons=horizon_matrix(found, leading, env_pages, pages, model_pages),
        families=[
            (short_title(family_of(own[0].env.id)), f"families/{own[0].anchor}.html", *_first_chart(own), own)
            for _, own in families
        ],
        agent_report=agent_report,
        **values,
    )


def _first_chart(sections: Sequence[Section]) -> tuple[Chart | None, str]:
    """Return a family's chart for the first page with what it shows in a few words; None if it has none."""
    found = ((section, chart) for section in sections for chart in section.charts)
    section, chart = next(found, (None, None))
    # A caption begins with the measure and what it is by, and goes on after a colon.
    shown = "" if section is None or chart is None else f"{section.env.title}: {chart.caption.partition(':')[0]}"
    return chart, shown
