"""The site: which pages it has, and which of them are made again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast

from jinja2 import Environment as Templates

from waybench.reporting._cache import Computation, ReportCache, computed, content_key, is_cacheable
from waybench.reporting._episode_store import EpisodeStore
from waybench.reporting._files import READABLE, Folder, ScoreKey, slug
from waybench.reporting._format import presentation_of
from waybench.reporting._model_facts import ModelFacts
from waybench.reporting._neighbours import NeighbourIndex
from waybench.reporting._other_pages import (
    Job,
    write_agents,
    write_compare,
    write_family,
    write_frames,
    write_model,
    write_pages,
    write_rest,
    write_summary,
)
from waybench.reporting._progress import Progress, no_progress
from waybench.reporting._replays import BY_DEFAULT, ChosenReplays, Replays
from waybench.reporting._results_page import refresh_neighbours, write_results
from waybench.reporting.charts import ChartFiles, colour_number, model_colours, panel_values
from waybench.reporting.pages import Compared, SectionFamily, Verdicts, comparable_tasks, section_families
from waybench.reporting.tables import Failed
from waybench.results import Estimate, by_level, overall
from waybench.results.comparisons import (
    agent_effects,
    beliefs_by_group,
    examples_effects,
    isomorph_effects,
    pairs,
    setting_effects,
    twin_effects,
    wording_effects,
)
from waybench.results.estimates import (
    KnownEstimates,
    agents,
    attempt_spread,
    item_difficulties,
    ledger,
    matrix,
    ranked,
    regressions,
    repeats,
)
from waybench.results.horizons import success_curves
from waybench.results.logs import is_embedded
from waybench.results.papers import Paper
from waybench.results.results import Group, chosen, differing, fixed, grouped, labels


class Site:
    """The pages of some episodes."""

    def __init__(
        self,
        found: EpisodeStore,
        folder: Folder,
        made: Templates,
        facts: Mapping[str, ModelFacts],
        published: Sequence[Paper],
        *,
        png: bool = False,
        kept: ReportCache,
        processes: int = 1,
        progress: Progress = no_progress,
        replays: Replays = BY_DEFAULT,
    ) -> None:
        self.facts, self.published = facts, published
        self.found, self.folder, self.templates = found, folder, made
        self.kept, self._processes, self._png, self._progress = kept, processes, png, progress
        self._known: KnownEstimates = {}
        self.estimates, self.totals = by_level(found.rows, self._known), overall(found.rows, self._known)
        self.estimates_of = grouped(self.estimates, lambda estimate: estimate.group)
        self.names = labels(total.group for total in self.totals)
        self.pages = {group: page_name(group) for group in self.names}
        models = dict.fromkeys(group.model for group in self.names)
        self.model_pages = {name: f"{slug(name, name)}.html" for name in models}
        self.replays = ChosenReplays(found.rows, found.numbers, self.pages, replays)
        self.neighbours = NeighbourIndex(found.rows, found.numbers, self.replays, self.names)
        self.charts = ChartFiles(folder.path, png=png)
        self.failed = Failed(found.rows)
        self.families = section_families(self.fixed()[0])
        self.comparable = comparable_tasks(found.rows)

    def page(self, path: str, template: str, /, **values: Any) -> None:
        self.folder.write(path, self.templates.get_template(template).render(**values))

    def files(self, some: Iterable[tuple[str, str | bytes]]) -> None:
        for name, content in some:
            self.folder.write(name, content)

    def write(self, title: str) -> None:
        compared = self._compared()
        # In the order of names: a log that is added may change ranks, and leaves the charts of other tasks as they are.
        with model_colours(sorted(self.model_pages, key=lambda name: (is_embedded(name), name))):
            self._write(title, compared)

    def _write(self, title: str, compared: Compared) -> None:
        results = [
            Job(
                self._results_key(title, total),
                partial(write_results, self, total),
                partial(refresh_neighbours, self, total.group),
            )
            for total in self.totals
        ]
        families = [
            Job(self._family_key(title, family, compared), partial(write_family, self, family, compared))
            for family in self.families
        ]
        others = [
            Job(b"", partial(write_summary, self, title, compared)),
            Job(b"", partial(write_frames, self, compared)),
            Job(b"", partial(write_agents, self)),
            *(
                Job(b"", partial(write_compare, self, key))
                for family in self.families
                for key in family.keys
                if key in self.comparable
            ),
        ]
        models = [
            Job(self._model_key(title, name, compared), partial(write_model, self, name, compared))
            for name in self.model_pages
        ]
        # The longest jobs come first, and last those whose charts others have drawn.
        written = write_pages(
            [*families, *others, *results, *models],
            self.folder,
            self.charts,
            self.kept,
            self._processes,
            partial(self._progress, "pages"),
        )
        of_families, rest = written[: len(families)], written[len(families) :]
        of_others, rest = rest[: len(others)], rest[len(others) :]
        of_groups, of_models = rest[: len(results)], rest[len(results) :]
        self.charts.listed = [
            chart for each in (*of_groups, *of_models, *of_families, *of_others) for chart in each.charts
        ]
        write_rest(self, [cast(Sequence[str], each.value) for each in of_families], compared)

    def _episodes(self, groups: Iterable[Group]) -> list[tuple[bytes, int, str]]:
        """Return what says everything of the episodes of some groups."""
        found = self.found
        own = sorted(position for group in groups for position in found.positions(group))
        return [(found.identities[at], found.numbers[at], found.rows[at].exclusion_reason) for at in own]

    def _results_key(self, title: str, total: Estimate) -> bytes:
        """Return the key of the pages of a group's results: of all that `_results` shows."""
        group = total.group
        if not is_cacheable(group.env):
            return b""
        episodes = self._episodes([group])
        estimates = self.estimates_of[group]
        failures = self.failed.of_group(group, ""), self.failed.first_errors_of(group, "")
        return content_key(
            "results",
            *(title, self.names[group], self.pages[group], self.model_pages[group.model], self._png),
            *(episodes, estimates, total, failures, self.replays.is_complete),
            [self.replays.link(group, self.found.numbers[at]) for at in self.found.positions(group)],
        )

    def _family_key(self, title: str, family: SectionFamily, compared: Compared) -> bytes:
        """Return the key of the pages of a family: of all that `write_family` shows."""
        if not all(map(is_cacheable, family.envs)):
            return b""
        groups = [group for group in self.names if family.holds(group)]
        return content_key(
            "family",
            *(title, family, self._png, self._episodes(groups), self.published, bool(self.facts)),
            [(group, self.pages[group], group in self.searched, self.estimates_of[group]) for group in groups],
            [total for total in self.totals if family.holds(total.group)],
            [(group.model, self.facts.get(group.model), colour_number(group.model)) for group in groups],
            [compared.of(key) for key in family.keys],
        )

    def _model_key(self, title: str, name: str, compared: Compared) -> bytes:
        """Return the key of a model's page: of all that `write_model` shows."""
        groups = [group for group in self.names if group.model == name]
        if not all(is_cacheable(group.env) for group in groups):
            return b""
        # Of the others it depends how many levels a task has, and which settings tell its rows apart.
        others = [self._places[group.env, group.apart] for group in groups]
        curved = [[each.group for each in compared.curves if each.group.env == group.env] for group in groups]
        agents = [(agent.model, agent.settings, colour_number(agent.model)) for agent in self.agents]
        return content_key(
            "model",
            *(title, name, self.model_pages[name], self._png),
            # A line alone has the first colour.
            colour_number(name) if len({(group.env, group.apart) for group in groups}) < len(groups) else None,
            [(group, self.pages[group], group in self.searched, self.estimates_of[group]) for group in groups],
            [total for total in self.totals if total.group.model == name],
            [
                (differing(group, found), differing(group, some), [each for each in found if each.model == name])
                for group, found, some in zip(groups, others, curved, strict=True)
            ],
            [sorted({level for cells in found.values() for level in cells}) for found in others],
            [curve for curve in compared.curves if curve.group.model == name],
            self.failed.of_model(name, self.pages),
            agents if any(model == name for model, *_ in agents) else (),
            [agent for agent in self.agents if agent.model == name],
        )

    def _compared(self) -> Compared:
        """Compare the groups; other processes fit the curves meanwhile, which takes longest.

        Two searches for horizons share items by chance, and which ones depends on their results: they are compared by
        their horizons alone.
        """
        rows = fixed(self.found.rows)
        with computed(self._curves(), self.kept, self._processes) as curves:
            self.verdicts, self.matrix = Verdicts(rows, self.estimates), matrix(rows, self._known)
            self.agents, self.ledger, self.effects = agents(rows), ledger(rows), setting_effects(rows)
            compared = Compared(
                changes=examples_effects(rows),
                repeats=repeats(rows),
                attempts=attempt_spread(rows),
                pairs=pairs(rows, _paired(total.group.env for total in self.totals)),
                regressions=regressions(rows, self.found.variables),
                difficulties=item_difficulties(self.found.rows),
                wordings=wording_effects(rows),
                twins=twin_effects(rows),
                isomorphs=isomorph_effects(rows),
                agent_effects=agent_effects(rows),
                beliefs=beliefs_by_group(self.found.rows),
                curves=[],
                cluster_values=panel_values(self.found.rows),
            )
            order = {group: number for number, group in enumerate(self.pages)}
            found = sorted((one for some in curves for one in some), key=lambda one: order[one.group])
        return replace(compared, curves=found)

    def _curves(self) -> list[Computation]:
        """Return the computations of the curves of each environment, whose groups share what is costly of a fit."""
        return [
            Computation(
                content_key("curves", self._episodes(group for group in self.names if group.env == env))
                if is_cacheable(env)
                else b"",
                partial(success_curves, own),
            )
            for env, own in grouped(self.found.rows, lambda row: row.group.env).items()
        ]

    @cached_property
    def _places(self) -> Mapping[ScoreKey, Mapping[Group, Mapping[int, Estimate]]]:
        """The groups that are compared at a task, the best one first, each with its estimates by level."""
        by_place = grouped(self.estimates, lambda each: (each.group.env, each.group.apart))
        return {place: ranked(some) for place, some in by_place.items()}

    @cached_property
    def searched(self) -> set[Group]:
        """The groups whose items were chosen by a search for a horizon."""
        return {row.group for row in self.found.rows if row.adaptive}

    def fixed(self) -> tuple[list[Estimate], list[Estimate]]:
        """Return the estimates by level and overall without those of searches, unless a task has no others."""
        searched = self.searched
        scored = {(total.group.env, total.group.apart) for total in self.totals if total.group not in searched}
        dropped = {group for group in searched if (group.env, group.apart) in scored}
        estimates, totals = (
            [each for each in some if each.group not in dropped] for some in (self.estimates, self.totals)
        )
        return estimates, totals

    def paged(self, values: dict[str, Any], first: Group, second: Group) -> dict[str, Any]:
        """Return values with the pages of the two groups they are about."""
        return {"first": f"results/{self.pages[first]}", "second": f"results/{self.pages[second]}", **values}


def _paired(envs: Iterable[str]) -> list[str]:
    tables = (table for env in envs for table in presentation_of(env).pairs.values())
    return list(dict.fromkeys(name for names in tables for name in names))


def page_name(group: Group) -> str:
    """Return the name of the page of a group's results, which is a function of the group alone.

    It names the environment where the task does not, and the settings that are not left to their default.
    """
    identity = json.dumps([group.env, group.model, group.settings], sort_keys=True)
    family_, _, variant = group.env.partition("/")
    env = [] if family_ in group.task or variant in group.task else [group.env]
    rest = " ".join([group.task, *env, *chosen(group)])
    # Room for what tells the pages of one model apart, however long its name is.
    return f"{slug(f'{group.model[: max(24, READABLE - 1 - len(rest))]} {rest}', identity)}.html"
