"""The first page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from waybench.analysis.estimates import Matrix, short_title
from waybench.analysis.horizons import Horizon
from waybench.analysis.results import Family, Group, family_of
from waybench.envs import registry
from waybench.reporting.tables import horizon_matrix, matrix_table

if TYPE_CHECKING:
    from waybench.reporting._site import Site


def write_front(
    site: "Site", *, found: Matrix, leading: Mapping[Group, Horizon], charts: Sequence[Sequence[str]], **values: Any
) -> None:
    """Write the first page.

    Args:
        site: The site.
        found: The matrix of models by families.
        leading: The horizon that stands for each group.
        charts: Of each family its chart, as it stands in its own page, "" where it has none; and what it shows in a few
            words.
        **values: What else the first page shows.
    """
    family_pages: dict[Family, str] = {}
    env_pages: dict[str, str] = {}
    for family in site.families:
        family_pages.setdefault(family_of(family.envs[0]), f"families/{family.pages[0]}.html")
        env_pages |= {env: f"tasks/{page}.html" for env, page in zip(family.envs, family.pages, strict=True)}
    pages, model_pages = site.pages, site.model_pages
    site.page(
        "index.html",
        "index.html",
        matrix=matrix_table(found, family_pages, pages, model_pages),
        horizons=horizon_matrix(found, leading, env_pages, pages, model_pages),
        families=[
            (
                short_title(family_of(family.envs[0])),
                f"families/{family.pages[0]}.html",
                Markup(chart),
                shown,
                [(page, registry.load(env).title) for env, page in zip(family.envs, family.pages, strict=True)],
            )
            for family, (chart, shown) in zip(site.families, charts, strict=True)
        ],
        **values,
    )
