"""The page of one model: its results at all tasks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import Estimate
from waybench.analysis.horizons import SuccessCurve
from waybench.analysis.results import Group, grouped
from waybench.core import Environment, Presentation
from waybench.envs import registry
from waybench.reporting._agents import AgentCard
from waybench.reporting._presentations import presentation_of
from waybench.reporting.charts import Chart, level_charts, outcomes, step_charts, undrawn
from waybench.reporting.tables import Table, horizon_table_of_model, leader_tables, leaders, leading_of


@dataclass(frozen=True, slots=True)
class Part:
    """A model's charts for one environment.

    Attributes:
        env: The environment.
        apart: Settings, in words, that keep its scores out of others' charts.
        presentation: Its presentation.
        charts: The charts.
        undrawn: Sentences on what they do not show.
    """

    env: Environment[Any, Any, Any]
    apart: tuple[str, ...]
    presentation: Presentation
    charts: list[Chart]
    undrawn: list[str]


@dataclass(frozen=True, slots=True)
class Model:
    """A model's page.

    Attributes:
        name: The model.
        embedded: Whether it is one of the embedded players.
        leaders: Its rows of the first table.
        agents: What is shown of it as an agent, for each of its settings.
        outcomes: The chart of what its replies came to; None where nothing was said.
        failed: How its attempts failed; None if none did.
        parts: Its charts.
        horizons: Its horizons, task by task and axis by axis; None if there are none.
    """

    name: str
    embedded: bool
    leaders: list[Table]
    agents: list[AgentCard]
    outcomes: Chart | None
    failed: Table | None
    parts: list[Part]
    horizons: Table | None

    @property
    def charts(self) -> list[Chart]:
        """All of its charts but those of agents."""
        return [*([self.outcomes] if self.outcomes else []), *(one for part in self.parts for one in part.charts)]


def model(
    name: str,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    agents: Sequence[AgentCard],
    pages: Mapping[Group, str],
    model_pages: Mapping[str, str],
    curves: Sequence[SuccessCurve],
    failed: Table | None,
    searched: Collection[Group] = (),
) -> Model:
    """Return what a model's page shows.

    Args:
        name: The model.
        estimates: All models' estimates by level.
        totals: Those over all levels.
        agents: What is shown of it as an agent, for each of its settings.
        pages: File names of the groups' pages.
        model_pages: File names of the models' pages.
        curves: How all models' success falls with difficulty.
        failed: How its attempts failed.
        searched: Groups of searches for a horizon, which have no scores.
    """
    own = [each for each in estimates if each.group.model == name]
    parts: list[Part] = []
    for (env_id, apart), some in grouped(own, lambda each: (each.group.env, each.group.apart)).items():
        env, presentation = registry.load(env_id), presentation_of(env_id)
        charts = level_charts(env, presentation, some, name)
        texts = undrawn(env, presentation, some, charts)
        # With one combination of settings, the page of its results has the same curves.
        if len({each.group for each in some}) > 1:
            charts += step_charts(env, presentation, some, name)
        if charts:
            parts.append(Part(env, apart, presentation, charts, texts))
    return Model(
        name=name,
        embedded=own[0].group.embedded,
        leaders=leader_tables(
            leaders(estimates, totals, pages, model_pages, leading_of(curves), name, searched), alone=True
        ),
        agents=list(agents),
        outcomes=outcomes([total for total in totals if total.group.model == name]),
        failed=failed,
        parts=parts,
        horizons=horizon_table_of_model(name, curves, pages),
    )
