"""Contents of the first page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from waybench.core import OPTION_AXES, Environment, Metric, Presentation, plural
from waybench.envs import registry
from waybench.reporting._files import ScoreKey, task_page
from waybench.reporting._format import presentation_of
from waybench.reporting._model_facts import ModelFacts
from waybench.reporting.charts import (
    Chart,
    ClusterValues,
    level_charts,
    panel_charts,
    scaling_charts,
    step_charts,
    twin_charts,
    undrawn,
)
from waybench.reporting.pages._overview import in_order, overviews
from waybench.reporting.tables import (
    HorizonTables,
    Table,
    TaskView,
    attempt_spread_table,
    attempt_table,
    averages,
    conduct_table,
    difficulty_table,
    effect_table,
    horizon_tables,
    models_belief_table,
    pair_tables,
    repeat_table,
    score_table,
    side_by_side,
    slope_tables,
    spread_table,
    wording_table,
)
from waybench.results import Estimate
from waybench.results.comparisons import (
    AgentEffect,
    BeliefCounts,
    Comparison,
    ExamplesEffect,
    IsomorphEffect,
    TwinEffect,
    WordingEffect,
)
from waybench.results.estimates import ItemDifficulty, Regression, Repeats, Spread, ranked
from waybench.results.horizons import SuccessCurve
from waybench.results.results import Group, differing, family_of, grouped, is_perfect, named_settings, setting


@dataclass(frozen=True, slots=True)
class Marked:
    """A model with a note on some of its episodes.

    Attributes:
        name: The model.
        page: File name of the page of its results.
        total: The estimate over all levels.
    """

    name: str
    page: str
    total: Estimate


class OfGroup(Protocol):
    """A result of one group."""

    @property
    def group(self) -> Group:
        """The group."""
        ...


G = TypeVar("G", bound=OfGroup)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the estimates are compared by.

    Attributes:
        changes: What in-context examples change.
        repeats: The results of repeats of the whole set.
        attempts: How far apart several attempts at all items of a level are.
        pairs: Models two by two.
        regressions: Scores on what may explain them.
        difficulties: What makes single items hard.
        wordings: The same items in several wordings.
        twins: The same items in an environment and its twin.
        isomorphs: Original items against isomorphic ones.
        agent_effects: Agents beside the bare model.
        beliefs: The answers to the belief probes of each group that was asked.
        curves: How success falls with difficulty.
        cluster_values: The values of the metrics of `Presentation.panels` in each cluster.
    """

    changes: Sequence[ExamplesEffect]
    repeats: Sequence[Repeats]
    attempts: Sequence[Spread]
    pairs: Sequence[Comparison]
    regressions: Sequence[Regression]
    difficulties: Sequence[ItemDifficulty]
    wordings: Sequence[WordingEffect]
    twins: Sequence[TwinEffect]
    isomorphs: Sequence[IsomorphEffect]
    agent_effects: Sequence[AgentEffect]
    beliefs: Mapping[Group, Sequence[BeliefCounts]]
    curves: Sequence[SuccessCurve]
    cluster_values: ClusterValues = field(default_factory=dict[Group, Any])

    def of(self, key: ScoreKey) -> "Compared":
        """Return what belongs to one section."""

        def own(some: Iterable[G]) -> list[G]:
            return [each for each in some if _score_key(each.group) == key]

        return Compared(
            changes=own(self.changes),
            repeats=own(self.repeats),
            attempts=own(self.attempts),
            pairs=[each for each in self.pairs if _score_key(each.groups[0]) == key],
            regressions=own(self.regressions),
            difficulties=[each for each in self.difficulties if (each.env, each.apart) == key],
            wordings=own(self.wordings),
            twins=own(self.twins),
            isomorphs=own(self.isomorphs),
            agent_effects=own(self.agent_effects),
            beliefs={group: counts for group, counts in self.beliefs.items() if _score_key(group) == key},
            curves=own(self.curves),
            cluster_values={group: of for group, of in self.cluster_values.items() if _score_key(group) == key},
        )


def _score_key(group: Group) -> ScoreKey:
    return group.env, group.apart


@dataclass(frozen=True, slots=True)
class Section:
    """One environment on the first page.

    Attributes:
        env: The environment.
        apart: Settings, in words, that keep its scores out of others' tables.
        presentation: Its presentation.
        overviews: The family's tables, before its first environment.
        about: What was measured, in two sentences.
        common: The settings that all rows share, in words.
        by_level: Its charts of the score by level, for the first page.
        other_charts: Its other charts.
        undrawn: Sentences on what its charts do not show.
        horizons: Its models' horizons, for each axis of difficulty.
        tables: Its tables, in the order in which they stand below its charts.
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
    unconfirmed: list[Marked]
    not_simulated: list[Marked]

    @property
    def charts(self) -> list[Chart]:
        """All of its charts."""
        return [*self.by_level, *self.other_charts, *(each.chart for each in self.horizons)]

    @property
    def key(self) -> ScoreKey:
        """Its environment, and what its scores are kept apart by."""
        return self.env.id, self.apart

    def holds(self, group: Group) -> bool:
        """Whether a group's scores are in it."""
        return _score_key(group) == self.key

    @property
    def anchor(self) -> str:
        """The file name of its page, and its anchor in others."""
        return task_page(self.env.id, self.apart)


@dataclass(frozen=True, slots=True)
class SectionFamily:
    """The environments of one family whose scores stand together.

    Attributes:
        apart: Settings, in words, that keep their scores out of others' tables.
        envs: The environments' ids, in the order in which they are shown.
    """

    apart: tuple[str, ...]
    envs: tuple[str, ...]

    @property
    def presentation(self) -> Presentation:
        """The presentation of its first environment."""
        return presentation_of(self.envs[0])

    @property
    def keys(self) -> list[ScoreKey]:
        """The environments, each with what its scores are kept apart by."""
        return [(env, self.apart) for env in self.envs]

    @property
    def pages(self) -> list[str]:
        """File names of its environments' pages, without suffix."""
        return [task_page(*key) for key in self.keys]

    def holds(self, group: Group) -> bool:
        """Whether a group's scores are in it."""
        return group.env in self.envs and group.apart == self.apart


def section_families(estimates: Iterable[Estimate]) -> list[SectionFamily]:
    """Return the families of some estimates."""
    keys = dict.fromkeys(_score_key(estimate.group) for estimate in estimates)
    return [
        SectionFamily(apart, tuple(in_order(presentation_of(own[0][0]), [env for env, _ in own])))
        for (_, apart), own in grouped(keys, lambda key: (family_of(key[0]), key[1])).items()
    ]


def sections(
    family: SectionFamily,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    compared: Compared,
    pages: Mapping[Group, str],
    models: Mapping[str, ModelFacts],
) -> list[Section]:
    """Return the sections of a family, one for each environment.

    Args:
        family: The family.
        estimates: Its estimates by level.
        totals: Those over all levels.
        compared: What they are compared by.
        pages: File names of the groups' pages.
        models: What is known of models.
    """
    total_of = {total.group: total for total in totals}
    by_env = grouped(estimates, lambda estimate: estimate.group.env)
    presentation = family.presentation
    shown = [total for total in totals if registry.load(total.group.env).items.pooled] or estimates
    name = f"{family.pages[0]}-family"
    tables = overviews(presentation, shown, compared.changes, pages, name) if presentation.metrics else []
    found: list[Section] = []
    for number, env in enumerate(family.envs):
        key, before = (env, family.apart), [] if number else tables
        own = [each for each in shown if each.group.env == env]
        metrics = overviews(presentation, own, compared.changes, pages, "task-metrics") if presentation.metrics else []
        found.append(_section(key, before, metrics, by_env[env], total_of, compared.of(key), pages, models))
    return found


def _section(
    key: ScoreKey,
    tables: list[Table],
    metrics: list[Table],
    estimates: Sequence[Estimate],
    total_of: Mapping[Group, Estimate],
    compared: Compared,
    pages: Mapping[Group, str],
    models: Mapping[str, ModelFacts],
) -> Section:
    env, presentation = registry.load(key[0]), presentation_of(key[0])
    view = TaskView(env, presentation, pages)
    groups = ranked(estimates)
    levels = sorted({level for cells in groups.values() for level in cells})
    marked = [Marked(group.model, pages[group], total_of[group]) for group in groups]
    first = next(iter(groups))
    varied = set(differing(first, groups))
    by_guide = grouped(estimates, lambda estimate: estimate.guided)
    # The family's tables have it all where there is one level.
    scored = [
        score_table(f"task-scores-{number}", view, by_guide[guided])
        for number, guided in enumerate(sorted(by_guide), start=1)
    ]
    # Where a search goes along an option, all items are of one level, and what it has chosen to play says little.
    along = [curve for curve in compared.curves if curve.axis in OPTION_AXES]
    along_option = bool(along)
    charts = [] if along_option else level_charts(env, presentation, estimates)
    ordered, every = list(groups), [total_of[group] for group in groups]
    own_tables = (
        *(scored if not along_option and (not presentation.metrics or len(levels) > 1) else []),
        *metrics,
        *side_by_side(view, every if env.items.pooled else estimates),
        averages(view, ordered, total_of),
        *pair_tables(view, ordered, compared.pairs),
        *slope_tables(view, ordered, compared.regressions),
        difficulty_table(view, compared.difficulties),
        wording_table(view, compared.wordings),
        *(effect_table(view, effects) for effects in (compared.twins, compared.isomorphs, compared.agent_effects)),
        models_belief_table(compared.beliefs, pages),
        spread_table(view, estimates),
        attempt_spread_table(view, compared.attempts, estimates),
        repeat_table(view, compared.repeats),
        attempt_table(view, every),
        conduct_table(view, groups, total_of),
    )
    return Section(
        env=env,
        apart=key[1],
        presentation=presentation,
        overviews=tables,
        about=(
            _first_sentence(env.about),
            _second_sentence(estimates, env.scoring.metrics[0], presentation, levels, along),
        ),
        common=[text for name, value in named_settings(first).items() if (text := setting(name, value)) not in varied],
        by_level=charts,
        other_charts=[
            *panel_charts(env, presentation, ordered, total_of, compared.cluster_values),
            *scaling_charts(env, presentation, estimates, every, compared.curves, models),
            *twin_charts(env, presentation, compared.twins),
            *step_charts(env, presentation, estimates),
        ],
        undrawn=[] if along_option else undrawn(env, presentation, estimates, charts),
        horizons=horizon_tables(view, compared.curves, [*ordered, *_searches(ordered, compared.curves)]),
        tables=[table for table in own_tables if table],
        unconfirmed=[each for each in marked if each.total.unconfirmed],
        not_simulated=[each for each in marked if each.total.not_simulated],
    )


def _searches(ordered: Sequence[Group], curves: Iterable[SuccessCurve]) -> list[Group]:
    """Return the groups that have horizons and no scores: those of searches."""
    groups = dict.fromkeys(horizon.group for each in curves for horizon in each.horizons)
    return [group for group in groups if group not in ordered]


def _first_sentence(about: str) -> str:
    text = " ".join(about.split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _second_sentence(
    estimates: Sequence[Estimate],
    metric: Metric,
    presentation: Presentation,
    levels: Sequence[int],
    along: Sequence[SuccessCurve],
) -> str:
    most = max(estimate.most_attempts for estimate in estimates)
    items = {estimate.items + estimate.missing for estimate in estimates}
    if along:  # an item can be played with several values of the option
        items = {curve.horizons[0].items for curve in along}
    count = plural(max(items), presentation.item, presentation.items)
    up_to = "" if len(items) == 1 else "up to "
    span = (
        f"{presentation.level} {levels[0]}"
        if len(levels) == 1
        else f"{presentation.levels} {levels[0]} to {levels[-1]}"
    )
    each = f"{up_to}{count}" if len(levels) == 1 else f"{up_to}{count} each"
    if along:
        axes = " or ".join(dict.fromkeys(OPTION_AXES[curve.axis].title.lower() for curve in along))
        return f"{span.capitalize()}, {each}, with one or more values of {axes} at each {presentation.item}."
    free = any(not estimate.guided for estimate in estimates)
    best_of = registry.load(estimates[0].group.env).scoring.best_of
    bounded = free and best_of and (is_perfect(metric.high, metric) or is_perfect(metric.low, metric))
    # How many were allowed is not in the records: where each first one was perfect, no other was made.
    ended = ", none after a perfect one" if bounded else ""
    tries = "one attempt" if most == 1 else f"{most:,} attempts"
    return f"{span.capitalize()}, {each}; at most {tries} at each {presentation.item}{ended}."
