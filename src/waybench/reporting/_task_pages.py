"""The pages of a family and of its tasks: each environment's tables and charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import OPTION_AXES, Environment, Json, Metric, Presentation, plural
from waybench.envs import registry
from waybench.reporting._files import ScoreKey, task_page_name
from waybench.reporting._format import TaskView, presentation_of
from waybench.reporting._overview import overview_tables
from waybench.reporting._site import Analyses, SectionFamily, Site, score_key
from waybench.reporting.charts import Chart
from waybench.reporting.charts._bars import twin_charts
from waybench.reporting.charts._charts import level_charts, omission_notes, step_charts
from waybench.reporting.charts._panels import panel_charts
from waybench.reporting.charts._scaling import reached_charts, scaling_charts
from waybench.reporting.tables import Table
from waybench.reporting.tables._comparisons import effect_table, pair_tables, published_tables, wording_table
from waybench.reporting.tables._horizons import HorizonTables, budget_table, horizon_tables
from waybench.reporting.tables._results_tables import models_belief_table
from waybench.reporting.tables._task_tables import aggregate_tables, average_table, conduct_table, score_table
from waybench.reporting.tables._variation import (
    attempt_spread_table,
    attempt_table,
    difficulty_table,
    reliability_table,
    repeat_table,
    slope_tables,
    spread_table,
)
from waybench.results import Estimate
from waybench.results.estimates._difficulty import spreads_over_sets
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.horizons._references import SuccessCurve
from waybench.results.papers import ATTEMPTS, SETS
from waybench.results.results import RunKey, group_by, setting_text
from waybench.results.results._groups import displayed_settings, distinguishing_settings
from waybench.results.results._rows import is_perfect


@dataclass(frozen=True, slots=True)
class ModelNote:
    """A model with a note on some of its episodes.

    Attributes:
        page: File name of the page of its results.
        total: Its estimate over all levels, with the numbers of the episodes.
    """

    name: str
    page: str
    total: Estimate


@dataclass(frozen=True, slots=True)
class Section:
    """The tables and charts of one environment, on its own page.

    Attributes:
        apart: The settings, in words, for which the environment has tables of its own.
        overviews: The family's tables, in the section of its first environment; otherwise empty.
        about: Sentences on the environment and on the extent of the results.
        common: The settings that all rows share, in words.
        other_charts: Its other charts, without those of horizons.
        undrawn: Sentences on scores that its charts do not show.
        horizons: Its models' horizons, for each axis of difficulty.
        unconfirmed: Models with episodes that do not replay.
        not_simulated: Models with episodes whose records could not be simulated again here.
    """

    env: Environment[Any, Any, Any]
    apart: tuple[str, ...]
    presentation: Presentation
    overviews: list[Table]
    about: tuple[str, str]
    common: list[str]
    by_level: list[Chart]
    other_charts: list[Chart]
    undrawn: list[str]
    horizons: list[HorizonTables]
    tables: list[Table]
    unconfirmed: list[ModelNote]
    not_simulated: list[ModelNote]

    @property
    def charts(self) -> list[Chart]:
        """All of its charts."""
        return [*self.by_level, *self.other_charts, *(horizon.chart for horizon in self.horizons)]

    @property
    def key(self) -> ScoreKey:
        """The key of its scores (`score_key`)."""
        return self.env.id, self.apart

    def has_group(self, group: RunKey) -> bool:
        """Return whether a group's scores are in the section."""
        return score_key(group) == self.key

    @property
    def anchor(self) -> str:
        """The file name of its page without suffix, and its anchor in other pages."""
        return task_page_name(self.env.id, self.apart)


def family_sections(site: Site, family: SectionFamily, analyses: Analyses) -> list[Section]:
    """Return the sections of a family, one for each environment."""
    all_estimates, all_totals = site.scored_estimates()
    estimates = [estimate for estimate in all_estimates if family.has_group(estimate.group)]
    totals = [total for total in all_totals if family.has_group(total.group)]
    by_env = group_by(estimates, lambda estimate: estimate.group.env)
    presentation = family.presentation
    overview_estimates = [total for total in totals if registry.load(total.group.env).items.pooled] or estimates

    def overview(estimates: Sequence[Estimate], id: str) -> list[Table]:
        if not presentation.metrics:
            return []
        return overview_tables(presentation, estimates, analyses.changes, site.pages, id)

    family_tables = overview(overview_estimates, f"{family.pages[0]}-family")
    sections: list[Section] = []
    for env in family.envs:
        key = env, family.apart
        task_tables = overview(
            [estimate for estimate in overview_estimates if estimate.group.env == env], "task-metrics"
        )
        task_analyses = analyses.for_task(key)
        sections.append(_task_section(site, key, family_tables, task_tables, by_env[env], totals, task_analyses))
        family_tables = []  # only the first section has them
    return sections


def _task_section(
    site: Site,
    key: ScoreKey,
    family_tables: list[Table],
    metric_tables: list[Table],
    estimates: Sequence[Estimate],
    all_totals: Sequence[Estimate],
    analyses: Analyses,
) -> Section:
    """Return the section of one environment, with the tables of its family and of its metrics from the overview."""
    env_id, separate_by = key
    view = TaskView(registry.load(env_id), presentation_of(env_id), site.pages)
    env, presentation = view.env, view.presentation
    groups = rank_by_merit(estimates)
    levels = sorted({level for by_level in groups.values() for level in by_level})
    total_of = {total.group: total for total in all_totals}
    ordered, totals = list(groups), [total_of[group] for group in groups]
    model_notes = [ModelNote(total.group.model, site.pages[total.group], total) for total in totals]
    varied_settings = set(distinguishing_settings(ordered[0], groups))
    by_guided = group_by(estimates, lambda estimate: estimate.guided)
    score_tables = [
        score_table(f"task-scores-{number}", view, by_guided[guided])
        for number, guided in enumerate(sorted(by_guided), start=1)
    ]
    # A search along an option plays items of one level, and chooses them by results, so that scores mean little.
    option_curves = [curve for curve in analyses.curves if curve.axis in OPTION_AXES]
    charts = [] if option_curves else level_charts(view, estimates)
    # With one level, the family's tables have all scores.
    has_scores = not option_curves and (not presentation.metrics or len(levels) > 1)
    tables = (
        *(score_tables if has_scores else []),
        *metric_tables,
        *aggregate_tables(view, totals if env.items.pooled else estimates),
        average_table(view, ordered, total_of),
        *pair_tables(view, ordered, analyses.pairs),
        *slope_tables(view, ordered, analyses.regressions),
        difficulty_table(view, analyses.difficulties),
        wording_table(view, analyses.wordings),
        effect_table(view, analyses.contrasts),
        effect_table(view, analyses.languages),
        effect_table(view, analyses.trends),
        budget_table(view, analyses.budgets),
        *(effect_table(view, effects) for effects in (analyses.twins, analyses.isomorphs, analyses.agent_effects)),
        models_belief_table(analyses.beliefs, site.pages),
        spread_table(view, estimates),
        attempt_spread_table(view, analyses.attempts, estimates),
        repeat_table(view, analyses.repeats),
        reliability_table(view, totals),
        attempt_table(view, totals),
        conduct_table(view, groups, total_of),
    )
    settings = [setting_text(name, value, ordered[0].env) for name, value in displayed_settings(ordered[0]).items()]
    first_sentence, full_stop, _ = " ".join(env.about.split()).partition(". ")
    # The groups of searches have horizons and no scores.
    searches = dict.fromkeys(curve.group for curve in analyses.curves if curve.group not in groups)
    return Section(
        env=env,
        apart=separate_by,
        presentation=presentation,
        overviews=family_tables,
        about=(
            f"{first_sentence}." if full_stop else first_sentence,
            _extent_sentence(estimates, env.scoring.metrics[0], presentation, levels, option_curves),
        ),
        common=[text for text in settings if text not in varied_settings],
        by_level=charts,
        other_charts=[
            *panel_charts(view, ordered, total_of, analyses.cluster_values),
            *scaling_charts(view, estimates, totals, analyses.curves, site.facts),
            *reached_charts(view, analyses.reached),
            *twin_charts(view, analyses.twins),
            *step_charts(view, estimates),
        ],
        undrawn=[] if option_curves else omission_notes(view, estimates, charts),
        horizons=horizon_tables(view, analyses.curves, [*ordered, *searches]),
        tables=[table for table in tables if table],
        unconfirmed=[model for model in model_notes if model.total.unconfirmed],
        not_simulated=[model for model in model_notes if model.total.not_simulated],
    )


def _extent_sentence(
    estimates: Sequence[Estimate],
    metric: Metric,
    presentation: Presentation,
    levels: Sequence[int],
    option_curves: Sequence[SuccessCurve],
) -> str:
    """Return a sentence on the levels, items and attempts of a task."""
    most_attempts = max(estimate.most_attempts for estimate in estimates)
    numbers_of_items = {estimate.items + estimate.missing for estimate in estimates}
    if option_curves:  # an item can be played with several values of the option
        numbers_of_items = {curve.horizons[0].items for curve in option_curves}
    items = plural(max(numbers_of_items), presentation.item, presentation.items)
    if len(numbers_of_items) > 1:
        items = f"up to {items}"
    extent = f"{presentation.level.capitalize()} {levels[0]}, {items}"
    if len(levels) > 1:
        extent = f"{presentation.levels.capitalize()} {levels[0]} to {levels[-1]}, {items} each"
    if option_curves:
        axes = " or ".join(dict.fromkeys(OPTION_AXES[curve.axis].title.lower() for curve in option_curves))
        return f"{extent}, with one or more values of {axes} at each {presentation.item}."
    has_own_play = any(not estimate.guided for estimate in estimates)
    best_of = registry.load(estimates[0].group.env).scoring.best_of
    can_be_perfect = is_perfect(metric.high, metric) or is_perfect(metric.low, metric)
    # Attempts after a perfect one are skipped, so that fewer than allowed may have been made.
    skipped = ", none after a perfect one" if has_own_play and best_of and can_be_perfect else ""
    attempts = "one attempt" if most_attempts == 1 else f"{most_attempts:,} attempts"
    return f"{extent}; at most {attempts} at each {presentation.item}{skipped}."


def write_family_pages(site: Site, family: SectionFamily, analyses: Analyses) -> Json:
    """Write the page of a family, unless it has a single environment, and the pages of its environments.

    Returns:
        The family's chart for the first page, and what the chart shows in a few words; "" for both without a chart.
    """
    task_sections = family_sections(site, family, analyses)
    compared_on = {section.anchor for section in task_sections if section.key in site.comparable}
    for section in task_sections:
        totals = [total for total in site.totals if section.has_group(total.group)]
        site.write_page(
            f"tasks/{section.anchor}.html",
            "task.html",
            section=section,
            family=family,
            side_by_side=section.anchor in compared_on,
            published=published_tables(
                section.env.id,
                site.estimates_at(section.key),
                totals,
                site.published,
                site.pages,
                {SETS: spreads_over_sets(site.estimates_at(section.key)), ATTEMPTS: analyses.attempts},
            ),
        )
        site.write_files(site.charts.files_of(section.charts))
    if len(task_sections) > 1:
        site.write_page(
            family.page,
            "family.html",
            presentation=family.presentation,
            sections=task_sections,
            compared_on=compared_on,
        )
    for section in task_sections:
        for chart in section.charts:  # the first one; its caption says before a colon what is drawn
            return [str(chart.narrow or chart.wide), f"{section.env.title}: {chart.caption.partition(':')[0]}"]
    return ["", ""]
