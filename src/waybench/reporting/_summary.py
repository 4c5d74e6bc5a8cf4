"""The summary of a site for programs, and its first page."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from waybench._version import __version__
from waybench.envs import registry
from waybench.reporting.pages import Compared
from waybench.reporting.tables import horizon_matrix, matrix_table
from waybench.results import Estimate
from waybench.results.comparisons import (
    AgentEffect,
    Comparison,
    IsomorphEffect,
    SettingEffect,
    TwinEffect,
    WordingEffect,
)
from waybench.results.estimates import Matrix, short_title, spread
from waybench.results.frames import column_schema
from waybench.results.horizons import SHARES, Horizon, SuccessCurve
from waybench.results.logs import is_human
from waybench.results.results import Family, Group, Simulated, family_of
from waybench.results.stats import CONFIDENCE

if TYPE_CHECKING:
    from waybench.reporting._site import Site


SUMMARY_SCHEMA = 2
SCHEMA_FILE = "summary.schema.json"


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of the summary: that of effects from their columns, the rest from the package's file."""
    schema = json.loads((files("waybench.reporting") / SCHEMA_FILE).read_text(encoding="utf-8"))
    kinds = {
        "twin": TwinEffect.kind,
        "isomorphs": IsomorphEffect.kind,
        "agent_effect": AgentEffect.kind,
        "effect": SettingEffect.kind,
        "wordings": WordingEffect.kind,
    }
    effects = {name: column_schema(kind.doc, kind.columns) for name, kind in kinds.items()}
    for side in ("first", "second"):
        page = {"type": "string", "description": f"The page of the results with the {side} value, as in overall."}
        effects["effect"]["properties"][side] = page
        effects["effect"]["required"].append(side)
    schema["$defs"] |= effects
    return schema


def skip_reasons(again: Iterable[Simulated]) -> dict[str, int]:
    """Return how many records were not simulated again, by reason."""
    return dict(Counter(each.skipped for each in again if each.skipped))


def about(site: "Site") -> dict[str, Any]:
    """Return what the first page's lead is made of."""
    groups = [total.group for total in site.totals]
    return {
        "models": len({group.model for group in groups if not group.embedded and not is_human(group.model)}),
        "people": len({group.model for group in groups if is_human(group.model)}),
        "players": len({group.model for group in groups if group.embedded}),
        "environments": len({group.env for group in groups}),
        "families": len({family_of(group.env) for group in groups}),
        "episodes": len(site.found.rows),
        "items": len({(row.group.env, row.group.key, row.level, row.item, row.instance) for row in site.found.rows}),
        "errors": sum(total.errors for total in site.totals),
        "unconfirmed": sum(total.unconfirmed for total in site.totals),
        "not_simulated": skip_reasons(site.found.again),
    }


def summary_json(title: str, site: "Site", compared: Compared, more: Mapping[str, Sequence[Any]]) -> str:
    """Return the summary as JSON.

    Args:
        title: The site's title.
        site: The site.
        compared: What its results are compared by.
        more: Parts of the summary that are worked out elsewhere, by their keys.
    """
    pages = site.pages

    def listed(some: Sequence[Estimate]) -> list[dict[str, Any]]:
        return [
            {
                **estimate.to_json(),
                "adaptive": estimate.group in site.searched,
                "page": f"results/{pages[estimate.group]}",
            }
            for estimate in some
        ]

    summary = {
        "schema": SUMMARY_SCHEMA,
        "waybench": __version__,
        "title": title,
        "confidence": CONFIDENCE,
        "levels": listed(site.estimates),
        "overall": listed(site.totals),
        "skipped": [
            {"log": Path(one.log).name, "sample": one.sample or None, "error": one.error}
            for one in site.found.passed_over
        ],
        "changes": [each.to_json() for each in compared.changes],
        "spreads": [each.to_json() for each in spread(site.estimates)],
        "attempt_spreads": [each.to_json() for each in compared.attempts],
        "repeats": [each.to_json() for each in compared.repeats],
        # There are many pairs, so models are named by their pages, as in "overall".
        "pairs": [site.paged(_pair(each), *each.groups) for each in compared.pairs],
        "regressions": [each.to_json() for each in compared.regressions],
        "item_difficulty": [each.to_json() for each in compared.difficulties],
        "horizons": [
            {
                **each.to_json(),
                "page": f"results/{pages[each.group]}",
                "ratio_to_leader": _ratio(curve, pages) if each.share == SHARES[0] else None,
            }
            for curve in compared.curves
            for each in curve.horizons
        ],
        "wordings": [each.to_json() for each in compared.wordings],
        "twins": [each.to_json() for each in compared.twins],
        "isomorphs": [each.to_json() for each in compared.isomorphs],
        "agent_effects": [each.to_json() for each in compared.agent_effects],
        **more,
    }
    return lines(summary)


def lines(summary: Mapping[str, Any]) -> str:
    """Return an object as JSON, each of its keys and each record of a list on a line of its own.

    Indented, a summary takes three times as long to write and half as much room again.
    """

    def text(value: Any) -> str:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))

    def part(value: Any) -> str:
        records = ",\n".join(map(text, cast(list[Any], value))) if isinstance(value, list) else ""
        return f"[\n{records}\n]" if records else text(value)

    return "{\n" + ",\n".join(f"{text(key)}:{part(value)}" for key, value in summary.items()) + "\n}\n"


def _pair(one: Comparison) -> dict[str, Any]:
    means = {name: asdict(getattr(one, name)) for name in ("first_mean", "second_mean", "difference")}
    return {"metric": one.metric.name, **means, "items": one.difference.n}


def _ratio(curve: SuccessCurve, pages: Mapping[Group, str]) -> dict[str, Any] | None:
    if curve.ratio is None or curve.leader is None:
        return None
    ratio = curve.ratio
    return {"leader": f"results/{pages[curve.leader]}", "value": ratio.value, "low": ratio.low, "high": ratio.high}


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
