"""A site's results as its pages need them: estimates, comparisons, names of pages, and links between episodes."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

from jinja2 import Environment as Templates

from waybench.core import Presentation
from waybench.envs import registry
from waybench.reporting._cache import Computation, ReportCache, compute_values, content_key, is_cacheable
from waybench.reporting._compare import Verdicts, comparable_tasks
from waybench.reporting._episode_store import EpisodeStore
from waybench.reporting._files import READABLE, ScoreKey, SiteFolder, slug, task_page_name
from waybench.reporting._format import presentation_of, value_text
from waybench.reporting._overview import order_environments
from waybench.reporting._reading import ModelFacts
from waybench.reporting._replays import ChosenReplays, Replays
from waybench.reporting.charts._panels import ClusterValues, panel_values
from waybench.reporting.charts._svg import ChartFiles
from waybench.reporting.tables._horizons import leading_horizons
from waybench.reporting.tables._leaders import Leaders, leader_rows
from waybench.reporting.tables._results_tables import FailureTables
from waybench.results import Estimate, Row, by_level, overall
from waybench.results.comparisons._agent_effects import AgentEffect, agent_effects
from waybench.results.comparisons._beliefs import BeliefCounts, beliefs_by_group
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._contrasts import ContrastEffect, contrast_effects
from waybench.results.comparisons._decisions import Decision, stored_decisions
from waybench.results.comparisons._isomorphs import IsomorphEffect, TwinEffect, isomorph_effects, twin_effects
from waybench.results.comparisons._model_effects import setting_effects
from waybench.results.comparisons._models import compare_all_pairs
from waybench.results.comparisons._presentations import LanguageEffect, language_effects
from waybench.results.comparisons._prompts import ExamplesEffect, WordingEffect, examples_effects, wording_effects
from waybench.results.comparisons._trends import TrendEffect, trend_effects
from waybench.results.estimates import headline_spec, item_difficulties, matrix
from waybench.results.estimates._agents import agents_of_rows
from waybench.results.estimates._bounds import Repeats, repeats_of_groups
from waybench.results.estimates._difficulty import (
    ItemDifficulty,
    Regression,
    Spread,
    regressions,
    spreads_over_attempts,
)
from waybench.results.estimates._estimates import EstimateCache
from waybench.results.estimates._ledger import ledger
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.horizons._budgets import BudgetHorizon, budget_horizons, reached_by_tokens
from waybench.results.horizons._horizons import success_curves
from waybench.results.horizons._references import SuccessCurve
from waybench.results.papers import Paper
from waybench.results.results import RunKey, Simulated, family_of, group_by, labels, without_searches
from waybench.results.results._groups import changed_setting_labels

MOST_OTHERS = 12  # other players whose attempts a page links to


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyses:
    """The comparisons and other analyses of a report.

    Attributes:
        attempts: Spreads between attempts at the items of a level.
        trends: Trends with model size within series, from the file of models.
        beliefs: Counts of answers to belief probes, for each group with probes.
        reached: Pairs of tokens and the difficulty reached with them, by group.
        cluster_values: Values of the metrics of `Presentation.panels` in each cluster.
    """

    changes: Sequence[ExamplesEffect]
    repeats: Sequence[Repeats]
    attempts: Sequence[Spread]
    pairs: Sequence[Comparison]
    regressions: Sequence[Regression]
    difficulties: Sequence[ItemDifficulty]
    wordings: Sequence[WordingEffect]
    languages: Sequence[LanguageEffect]
    contrasts: Sequence[ContrastEffect]
    trends: Sequence[TrendEffect]
    twins: Sequence[TwinEffect]
    isomorphs: Sequence[IsomorphEffect]
    agent_effects: Sequence[AgentEffect]
    beliefs: Mapping[RunKey, Sequence[BeliefCounts]]
    curves: Sequence[SuccessCurve]
    budgets: Sequence[BudgetHorizon] = ()
    reached: Mapping[RunKey, Sequence[tuple[int, float]]] = field(default_factory=dict[RunKey, Any])
    cluster_values: ClusterValues = field(default_factory=dict[RunKey, Any])

    def for_task(self, key: ScoreKey) -> "Analyses":
        """Return the analyses of one task."""

        def is_of_task(result: Any) -> bool:
            if isinstance(result, ItemDifficulty):
                return (result.env, result.apart) == key
            if isinstance(result, ContrastEffect):  # it is on the pages of both of its values
                return key in (score_key(result.group), score_key(result.reference))
            return score_key(result.groups[0] if isinstance(result, Comparison) else result.group) == key

        def results_of_task(results: Any) -> Any:
            if isinstance(results, Mapping):
                by_group = cast(Mapping[RunKey, Any], results)
                return {group: by_group[group] for group in by_group if score_key(group) == key}
            return [result for result in results if is_of_task(result)]

        return Analyses(**{part.name: results_of_task(getattr(self, part.name)) for part in fields(self)})


def score_key(group: RunKey) -> ScoreKey:
    """Return the environment of a group, and the settings for which the environment has tables of their own."""
    return group.env, group.separate_by


@dataclass(frozen=True, slots=True)
class SectionFamily:
    """The environments of one family whose scores are shown together.

    Attributes:
        apart: The settings, in words, for which the environments have tables of their own.
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
        """The key of each environment's scores (`score_key`)."""
        return [(env, self.apart) for env in self.envs]

    @property
    def pages(self) -> list[str]:
        """File names of its environments' pages, without suffix."""
        return [task_page_name(*key) for key in self.keys]

    @property
    def page(self) -> str:
        """The path of its page from the site's root; a single environment's page is that of the task."""
        return f"{'families' if len(self.envs) > 1 else 'tasks'}/{self.pages[0]}.html"

    def has_group(self, group: RunKey) -> bool:
        """Return whether a group's scores are among those of the family."""
        return score_key(group) in self.keys


class Site:
    """The results of some episodes, and how pages are written.

    Attributes:
        facts: Facts about models, from the file of models.
        cache: The results of an earlier report.
        estimates: All estimates by level.
        totals: All estimates over all levels.
        pages: File names of the pages of the groups' results.
        model_pages: File names of the models' pages.
        neighbours: Finds the episodes beside each episode.
        comparable: The tasks that have a page of two models side by side.
    """

    def __init__(
        self,
        store: EpisodeStore,
        folder: SiteFolder,
        templates: Templates,
        facts: Mapping[str, ModelFacts],
        published: Sequence[Paper],
        cache: ReportCache,
        replays: Replays,
        *,
        png: bool,
        processes: int,
    ) -> None:
        self.store, self.folder, self.templates, self.facts, self.published = store, folder, templates, facts, published
        self.cache, self.processes, self.png = cache, processes, png
        self._known: EstimateCache = {}
        self.estimates, self.totals = by_level(store.rows, self._known), overall(store.rows, self._known)
        self.estimates_of = group_by(self.estimates, lambda estimate: estimate.group)
        self.names = labels(total.group for total in self.totals)
        self.pages = {group: results_page_name(group) for group in self.names}
        models = dict.fromkeys(group.model for group in self.names)
        self.model_pages = {name: f"{slug(name, name)}.html" for name in models}
        self.replays = ChosenReplays(store.rows, store.numbers, self.pages, replays)
        self.neighbours = NeighbourIndex(store.rows, store.numbers, self.replays, self.names)
        self.charts = ChartFiles(folder.path, png=png)
        self.failed = FailureTables(store.rows)
        scored_estimates, _ = self.scored_estimates()
        tasks = dict.fromkeys(score_key(estimate.group) for estimate in scored_estimates)
        self.families: list[SectionFamily] = []
        for (_, apart), family_tasks in group_by(tasks, lambda task: (family_of(task[0]), task[1])).items():
            envs = [env for env, _ in family_tasks]
            self.families.append(SectionFamily(apart, tuple(order_environments(presentation_of(envs[0]), envs))))
        self.comparable = comparable_tasks(store.rows)

    def write_page(self, path: str, template: str, /, **values: Any) -> None:
        """Write a page from the template of this name."""
        self.folder.write(path, self.templates.get_template(template).render(**values))

    def write_files(self, contents: Iterable[tuple[str, str | bytes]]) -> None:
        """Write files, by their names."""
        for name, content in contents:
            self.folder.write(name, content)

    def episode_identities(self, groups: Iterable[RunKey]) -> list[tuple[bytes, int, str]]:
        """Return the identity, number and exclusion reason of each episode of some groups, for a cache key."""
        store = self.store
        positions = sorted(position for group in groups for position in store.positions(group))
        return [(store.identities[at], store.numbers[at], store.rows[at].exclusion_reason) for at in positions]

    def run_analyses(self) -> Analyses:
        """Return all analyses, and set `verdicts`, `matrix`, `agents`, `ledger` and `effects`.

        Other processes fit the success curves meanwhile, which takes longest. Searches for horizons are left out of
        most analyses: which items two searches share depends on their results, so only their horizons are compared.
        """
        all_rows = self.store.rows
        rows = without_searches(all_rows)
        computations = [
            Computation(
                content_key("curves", self.episode_identities(group for group in self.names if group.env == env))
                if is_cacheable(env)
                else b"",
                partial(success_curves, rows_of_env),
            )
            # By environment, since the costly part of a fit serves all groups of an environment.
            for env, rows_of_env in group_by(all_rows, lambda row: row.group.env).items()
        ]
        pair_tables = (table for total in self.totals for table in presentation_of(total.group.env).pairs.values())
        metrics_of_pairs = list(dict.fromkeys(name for names in pair_tables for name in names))
        with compute_values(computations, self.cache, self.processes) as curves_by_env:
            self.verdicts, self.matrix = Verdicts(rows, self.estimates), matrix(rows, self._known)
            self.agents, self.ledger, self.effects = agents_of_rows(rows), ledger(rows), setting_effects(rows)
            analyses = Analyses(
                changes=examples_effects(rows),
                repeats=repeats_of_groups(rows),
                attempts=spreads_over_attempts(rows),
                pairs=compare_all_pairs(rows, metrics_of_pairs),
                regressions=regressions(rows, self.store.variables),
                difficulties=item_difficulties(all_rows),
                wordings=wording_effects(rows),
                languages=language_effects(rows),
                contrasts=contrast_effects(rows),
                trends=trend_effects(rows, self.facts),
                twins=twin_effects(rows),
                isomorphs=isomorph_effects(rows),
                agent_effects=agent_effects(rows),
                beliefs=beliefs_by_group(all_rows),
                curves=[],
                budgets=budget_horizons(rows),
                reached=reached_by_tokens(rows),
                cluster_values=panel_values(all_rows),
            )
            order = {group: number for number, group in enumerate(self.pages)}
            curves = [curve for curves_of_env in curves_by_env for curve in curves_of_env]
        return replace(analyses, curves=sorted(curves, key=lambda curve: order[curve.group]))

    @cached_property
    def ranked_groups(self) -> Mapping[ScoreKey, Mapping[RunKey, Mapping[int, Estimate]]]:
        """The groups that are compared at each task, the best one first, each with its estimates by level."""
        by_task = group_by(self.estimates, lambda estimate: score_key(estimate.group))
        return {key: rank_by_merit(estimates) for key, estimates in by_task.items()}

    @cached_property
    def decisions(self) -> list[Decision]:
        """The comparisons that ended early because they were decided."""
        return stored_decisions(self.store.rows)

    @cached_property
    def searched_groups(self) -> set[RunKey]:
        """The groups whose items depended on results, in a search for a horizon or a comparison."""
        return {row.group for row in self.store.rows if row.adaptive}

    def scored_estimates(self) -> tuple[list[Estimate], list[Estimate]]:
        """Return the estimates by level and overall, without groups of searches unless a task has no others."""
        scored = {score_key(total.group) for total in self.totals if total.group not in self.searched_groups}
        left_out = {group for group in self.searched_groups if score_key(group) in scored}
        return (
            [estimate for estimate in self.estimates if estimate.group not in left_out],
            [total for total in self.totals if total.group not in left_out],
        )

    def estimates_at(self, key: ScoreKey) -> list[Estimate]:
        """Return the estimates by level of a task."""
        by_group = [estimates for group, estimates in self.estimates_of.items() if score_key(group) == key]
        return [estimate for estimates in by_group for estimate in estimates]

    def leaders(self, analyses: Analyses, model: str | None = None) -> Leaders:
        """Return the rows of the table of all models at all tasks, or of one model."""
        horizons = leading_horizons(analyses.curves)
        return leader_rows(
            self.estimates, self.totals, self.pages, self.model_pages, horizons, model, searched=self.searched_groups
        )


def results_page_name(group: RunKey) -> str:
    """Return the file name of the page of a group's results, which depends on the group alone.

    It names the environment where the task does not, and the settings that differ from their defaults.
    """
    identity = json.dumps([group.env, group.model, group.settings], sort_keys=True)
    env_family, _, variant = group.env.partition("/")
    env = [] if env_family in group.task or variant in group.task else [group.env]
    settings = " ".join([group.task, *env, *changed_setting_labels(group)])
    # A long name is cut, so that there is room for what distinguishes the pages of one model.
    model = group.model[: max(24, READABLE - 1 - len(settings))]
    return f"{slug(f'{model} {settings}', identity)}.html"


def count_skip_reasons(simulations: Iterable[Simulated]) -> dict[str, int]:
    """Return the number of records that could not be simulated again, by reason."""
    return dict(Counter(simulated.skipped for simulated in simulations if simulated.skipped))


class Neighbour(NamedTuple):
    """A link to another episode: its text, the episode's result, and the address of its replay."""

    title: str
    result: str
    page: str


class Neighbours(NamedTuple):
    """Links from one episode to its neighbours.

    Attributes:
        beside: Links to the previous and the next attempt, and the previous and the next item, if there are any.
        others: Links to the first attempts of other players at the same item.
        more: Number of other players that are not listed.
    """

    beside: Sequence[Neighbour] = ()
    others: Sequence[Neighbour] = ()
    more: int = 0


class NeighbourIndex:
    """Finds the episodes beside each episode of a report."""

    def __init__(
        self, rows: Sequence[Row], numbers: Sequence[int], replays: ChosenReplays, names: Mapping[RunKey, str]
    ) -> None:
        """Index episodes by their rows and their numbers in their groups."""
        self._replays, self._names = replays, names
        self._attempts: dict[RunKey, dict[_ItemId, list[_NumberedRow]]] = defaultdict(lambda: defaultdict(list))
        self._groups_at_item: dict[tuple[str, str, int, str, str], dict[RunKey, _ItemId]] = defaultdict(dict)
        for row, number in zip(rows, numbers, strict=True):
            item = _item_id(row)
            self._attempts[row.group][item].append((number, row))
            self._groups_at_item[_item_id_across_groups(row)][row.group] = item
        self._sorted_items = {group: sorted(items) for group, items in self._attempts.items()}
        for items in self._attempts.values():
            for attempts in items.values():
                attempts.sort(key=_attempt_sort_key)

    def find(self, row: Row, number: int) -> Neighbours:
        """Return the links from an episode to its neighbours; `number` is its number in its group."""
        group, item = row.group, _item_id(row)
        attempts_of_item, items = self._attempts[group], self._sorted_items[group]
        attempts = attempts_of_item[item]
        attempt_index, item_index = [number for number, _ in attempts].index(number), bisect_left(items, item)
        # Each slice has one element or, at an end, none.
        beside = [
            *(("Previous attempt", attempt) for attempt in attempts[:attempt_index][-1:]),
            *(("Next attempt", attempt) for attempt in attempts[attempt_index + 1 :][:1]),
            *(("Previous item", attempts_of_item[other][0]) for other in items[:item_index][-1:]),
            *(("Next item", attempts_of_item[other][0]) for other in items[item_index + 1 :][:1]),
        ]
        others = [
            self._neighbour_link(self._names[other], self._attempts[other][item_of_other][0])
            for other, item_of_other in self._groups_at_item[_item_id_across_groups(row)].items()
            if other != group
        ]
        others.sort(key=lambda neighbour: neighbour.title)
        return Neighbours(
            [self._neighbour_link(title, attempt) for title, attempt in beside],
            others[:MOST_OTHERS],
            len(others[MOST_OTHERS:]),
        )

    def _neighbour_link(self, title: str, episode: "_NumberedRow") -> Neighbour:
        """Return the link to an episode, with its score, or why it has none."""
        number, row = episode
        headline = headline_spec(registry.load(row.group.env), row.guided)
        value = headline.value(row)
        result = "infrastructure error" if row.error else value_text(value, headline.metric)
        if value is None and not row.error:
            result = "excluded" if row.exclusion_reason else "no score"
        return Neighbour(title, result, self._replays.link(row.group, number))


_ItemId = tuple[int, int, str, str]
_NumberedRow = tuple[int, Row]  # an episode's number in its group, and its row


def _attempt_sort_key(episode: _NumberedRow) -> tuple[bool, int, int]:
    """Return the sort key of an attempt at an item: excluded attempts come last."""
    number, row = episode
    return bool(row.exclusion_reason), row.attempt, number


def _item_id(row: Row) -> _ItemId:
    return row.level, row.index, row.item, row.instance


def _item_id_across_groups(row: Row) -> tuple[str, str, int, str, str]:
    return row.group.env, row.group.key, row.level, row.item, row.instance
