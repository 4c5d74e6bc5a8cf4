"""The site: its pages, and a summary for programs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment as Templates

from waybench._version import __version__
from waybench.analysis import Estimate, Row, by_level, horizon_frame, overall
from waybench.analysis.comparisons import (
    examples_effects,
    pairs,
    setting_effect_frame,
    setting_effects,
    twin_effects,
    twin_frame,
    wording_effects,
    wording_frame,
)
from waybench.analysis.estimates import (
    agents,
    attempt_spread,
    item_difficulties,
    ledger,
    ledger_frame,
    matrix,
    measure,
    regressions,
    repeats,
    spread,
)
from waybench.analysis.formatting import one_line
from waybench.analysis.horizons import success_curves
from waybench.analysis.logs import is_human
from waybench.analysis.published import published_frame
from waybench.analysis.results import Group, Simulated, chosen, grouped, labels, setting
from waybench.core import Presentation
from waybench.envs import registry
from waybench.papers import Paper
from waybench.reporting._agents import agent_report
from waybench.reporting._cache import ReportCache, content_key, is_cacheable
from waybench.reporting._cluster_pages import ClusterPages
from waybench.reporting._episode_store import EpisodeStore, Played
from waybench.reporting._export import exports
from waybench.reporting._files import READABLE, Folder, slug
from waybench.reporting._front import write_front
from waybench.reporting._group_pages import Job, write_groups
from waybench.reporting._model_facts import ModelFacts
from waybench.reporting._neighbours import NeighbourIndex, Neighbours
from waybench.reporting._presentations import family_of, presentation_of
from waybench.reporting._progress import Progress, no_progress
from waybench.reporting._replay import framer, frames, undrawn
from waybench.reporting._templates import assets
from waybench.reporting.charts import ChartFiles, panel_values
from waybench.reporting.pages import (
    Attempt,
    Compared,
    Item,
    Results,
    Section,
    Verdicts,
    comparison,
    conversation,
    episode_source,
    item_kinds,
    ledger_page,
    model,
    sections,
)
from waybench.reporting.tables import (
    Failed,
    LoggedError,
    Table,
    clusters,
    error_table,
    leader_tables,
    leaders,
    leading_of,
    level_table,
    of_model,
    prompt,
    published_tables,
)
from waybench.stats import CONFIDENCE

SUMMARY_SCHEMA = 2
_MOST_PASSED_OVER = 200  # samples that the first page names; summary.json names all
_LONGEST_LIST = 60  # characters


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
    ) -> None:
        self.facts, self.published = facts, published
        self.found, self.folder, self.templates = found, folder, made
        self.kept, self._processes, self._png, self._progress = kept, processes, png, progress
        self.estimates, self.totals = by_level(found.rows), overall(found.rows)
        self.names = labels(total.group for total in self.totals)
        self.pages = {group: _page_name(group) for group in self.names}
        models = dict.fromkeys(group.model for group in self.names)
        self.model_pages = {name: f"{slug(name, name)}.html" for name in models}
        self.neighbours = NeighbourIndex(found.rows, found.numbers, self.pages, self.names)
        self.charts = ChartFiles(folder.path, png=png)
        self.failed, self.verdicts = Failed(found.rows), Verdicts(found.rows, self.estimates)

    def page(self, path: str, template: str, /, **values: Any) -> None:
        self.folder.write(path, self.templates.get_template(template).render(**values))

    def files(self, some: Iterable[tuple[str, str | bytes]]) -> None:
        for name, content in some:
            self.folder.write(name, content)

    def write(self, title: str) -> None:
        compared = self._compared()
        jobs = [Job(self._results_key(title, total), partial(self._results, total)) for total in self.totals]
        if self._processes > 1:
            jobs += self._drawing_jobs(compared)
        write_groups(jobs, self.folder, self.charts, self.kept, self._processes, partial(self._progress, "pages"))
        self._write_others(title, compared)

    def _drawing_jobs(self, compared: Compared) -> list[Job]:
        """Return jobs that draw the charts of tasks and models, so that `_write_others` finds them in the cache."""
        jobs: list[Job] = []
        fixed = self._fixed()
        for env in dict.fromkeys(total.group.env for total in self.totals):
            estimates, totals = ([each for each in some if each.group.env == env] for some in fixed)
            key = content_key("charts", env, self._episodes(lambda group, env=env: group.env == env), self.facts)
            jobs.append(Job(key, partial(sections, estimates, totals, compared, self.pages, self.facts)))
        for name in self.model_pages:
            key = content_key("charts", self._episodes(lambda group, name=name: group.model == name))
            given = self.estimates, self.totals, None, self.pages, self.model_pages, compared.curves, None
            jobs.append(Job(key, partial(model, name, *given)))
        return jobs

    def _episodes(self, is_wanted: Callable[[Group], bool]) -> list[tuple[bytes, int, str]]:
        """Return what says everything of the episodes of some groups."""
        found = self.found
        own = zip(found.identities, found.numbers, found.rows, strict=True)
        return [(identity, number, row.exclusion_reason) for identity, number, row in own if is_wanted(row.group)]

    def _results_key(self, title: str, total: Estimate) -> bytes:
        """Return the key of the pages of a group's results: of all that `_results` shows."""
        group = total.group
        if not is_cacheable(group.env):
            return b""
        episodes = self._episodes(lambda each: each == group)
        estimates = [estimate for estimate in self.estimates if estimate.group == group]
        failures = self.failed.of_group(group, "")
        return content_key(
            "results",
            *(title, self.names[group], self.pages[group], self.model_pages[group.model], self._png),
            *(episodes, estimates, total, failures),
            self._neighbours_of(group),
        )

    def _neighbours_of(self, group: Group) -> list[Neighbours]:
        """Return the links of the replays of a group's episodes to others."""
        found = self.found
        return [self.neighbours.find(found.rows[at], found.numbers[at]) for at in found.positions(group)]

    def _compared(self) -> Compared:
        rows = self.found.rows
        return Compared(
            changes=examples_effects(rows),
            repeats=repeats(rows),
            attempts=attempt_spread(rows),
            pairs=pairs(rows, _paired(total.group.env for total in self.totals)),
            regressions=regressions(rows, self.found.variables),
            difficulties=item_difficulties(rows),
            wordings=wording_effects(rows),
            twins=twin_effects(rows),
            curves=success_curves(rows),
            cluster_values=panel_values(rows),
        )

    def _write_others(self, title: str, compared: Compared) -> None:
        """Write what is about several groups of results."""
        rows = self.found.rows
        took, changed = ledger(rows), setting_effects(rows)
        played = agents(rows)
        agent_cards = agent_report(played, self.pages)
        models_by_families = matrix(rows)
        given = (self.estimates, self.totals)
        for name, page in self.model_pages.items():
            failed = self.failed.of_model(name, self.pages)
            shown = model(name, *given, agent_cards, self.pages, self.model_pages, compared.curves, failed)
            self.page(f"models/{page}", "model.html", model=shown)
            self.files(self.charts.of(shown.charts))
        self.files(assets({kind for total in self.totals for kind in item_kinds(total.group.env)}))
        more = {
            "agents": [each.to_json() for each in played],
            "ledger": [each.to_json() for each in took],
            "effects": [self.paged(each.to_json(), each.first, each.second) for each in changed],
            "comparisons": self.verdicts.to_json(self.pages),
            "failures": self.failed.to_json(self.pages),
            "matrix": models_by_families.to_json(),
        }
        self.folder.write("summary.json", _summary(title, self, compared, more))
        families = _by_family(sections(*self._fixed(), compared, self.pages, self.facts))
        compared_on = {section.anchor for _, own in families for section in own if self._compare(section)}
        for _, own in families:
            for section in own:
                on = section.anchor in compared_on
                self.page(
                    f"tasks/{section.anchor}.html",
                    "task.html",
                    section=section,
                    first=own[0],
                    side_by_side=on,
                    published=self._published(section),
                )
                self.files(self.charts.of(section.charts))
        self.files(self.charts.of(agent_cards.charts) if agent_cards else ())
        table = leaders(*given, self.pages, self.model_pages, leading_of(compared.curves))
        horizons = [horizon for curve in compared.curves for horizon in curve.horizons]
        others = [
            horizon_frame(horizons),
            ledger_frame(took),
            setting_effect_frame(changed),
            wording_frame(compared.wordings),
            twin_frame(compared.twins),
            *([published_frame(self.published)] if self.published else []),
        ]
        self.files(exports(rows, given, others, table, self.charts, self.templates, self.facts))
        spent = ledger_page(took, changed, self.pages, self.model_pages)
        if spent:
            self.page("ledger/index.html", "ledger.html", ledger=spent)
        write_front(
            self,
            found=models_by_families,
            leading=leading_of(compared.curves),
            leaders=leader_tables(table),
            families=families,
            compared_on=compared_on,
            agent_report=agent_cards,
            about=_about(self),
            passed_over=[(Path(one.log).name, one.sample, one.error) for one in self.found.passed_over],
            most_passed_over=_MOST_PASSED_OVER,
            spent=spent,
        )

    def _fixed(self) -> tuple[list[Estimate], list[Estimate]]:
        """Return the estimates by level and overall without those of searches, unless a task has no others."""
        searched = {row.group for row in self.found.rows if row.adaptive}
        scored = {(total.group.env, total.group.apart) for total in self.totals if total.group not in searched}
        dropped = {group for group in searched if (group.env, group.apart) in scored}
        estimates, totals = (
            [each for each in some if each.group not in dropped] for some in (self.estimates, self.totals)
        )
        return estimates, totals

    def paged(self, values: dict[str, Any], first: Group, second: Group) -> dict[str, Any]:
        """Return values with the pages of the two groups they are about."""
        return {**values, "first": f"results/{self.pages[first]}", "second": f"results/{self.pages[second]}"}

    def _published(self, section: Section) -> list[Table]:
        """Return the published rows of a task beside its results."""
        estimates, totals = (
            [each for each in some if section.holds(each.group)] for some in (self.estimates, self.totals)
        )
        return published_tables(section.env.id, estimates, totals, self.published, self.pages)

    def _compare(self, section: Section) -> bool:
        """Write the page on which two models stand side by side at a task, if there are two."""
        found = self.found
        own = [(row, number) for row, number in zip(found.rows, found.numbers, strict=True) if section.holds(row.group)]
        estimates = [estimate for estimate in self.estimates if section.holds(estimate.group)]
        made = comparison(section.env, section.presentation, own, estimates, self.pages, self.verdicts)
        if made is not None:
            self.page(f"compare/{section.anchor}.html", "compare.html", section=section, comparison=made)
        return made is not None

    def _results(self, total: Estimate) -> None:
        """Write the page of a group's results, and those of its episodes."""
        group, page = total.group, self.pages[total.group]
        env, presentation = registry.load(group.env), presentation_of(group.env)
        positions = self.found.positions(group)
        estimates = [estimate for estimate in self.estimates if estimate.group == group]
        measured = measure(env, total.guided)
        draw_frames = framer(presentation)
        shared = {
            "name": self.names[group],
            "group": group,
            "env": env,
            "presentation": presentation,
            "measured": measured,
            "model_page": self.model_pages[group.model],
            "page": page,
        }

        whole = ClusterPages(presentation, self.page)

        def follow(played: Played, attempt: Attempt, item: Item) -> None:
            turns = played.episode.record.turns
            instance = played.instance if played.again.confirmed else None
            drawings = (
                undrawn(turns) if draw_frames is None or instance is None else frames(draw_frames, instance, turns)
            )
            self.page(
                f"replays/{attempt.replay}",
                "replay.html",
                **shared,
                attempt=attempt,
                item=item,
                said=conversation(played, item.opening),
                frames=drawings,
                not_simulated=played.again.skipped,
                neighbours=self.neighbours.find(played.row, played.number),
                source=episode_source(played),
                whole=whole.path(played.row.cluster, instance),
            )

        shown = Results(env, presentation, self.found, page, follow).levels(positions, estimates)
        self.files(self.charts.of(figure for level in shown for figure in level.charts))
        own = [self.found.rows[position] for position in positions]
        drawn = "attempts" if total.single and total.single.clusters > total.items else presentation.sampling_units
        errors = [
            LoggedError(card.item, card.anchor, attempt.number, attempt.error.text, attempt.log)
            for level in shown
            for card in level.cards
            for attempt in card.attempts
            if attempt.error and not attempt.exclusion_reason
        ]
        anchors = {batch.cluster: batch.anchor for level in shown for batch in level.batches if batch.cluster}
        cards = [card for level in shown for card in level.cards]
        self.page(
            f"results/{page}",
            "results.html",
            **shared,
            settings=[
                *(setting(option, value) for option, value in group.settings.items()),
                *_clusters(own, presentation),
            ],
            origins=list(dict.fromkeys(row.origin for row in own if row.origin)),
            total=total,
            by_level=level_table(env, presentation, measured, [level.estimate for level in shown], total, drawn),
            errors=error_table(presentation, errors),
            aggregates=of_model(
                env, presentation, [*estimates, total] if env.pooled and len(estimates) > 1 else estimates
            ),
            failures=self.failed.of_group(group, presentation.level.capitalize()),
            prompt=prompt(total, presentation),
            not_simulated=skip_reasons(self.found.again[at] for at in positions),
            clusters=clusters(env, presentation, own, self.found.variables.get(group, {}), anchors, whole.paths),
            levels=shown,
            kinds={
                kind: (label, count)
                for kind, label in item_kinds(group.env).items()
                if 0 < (count := sum(kind in card.kinds for card in cards)) < len(cards)
            },
            items=len(cards),
        )


def skip_reasons(again: Iterable[Simulated]) -> dict[str, int]:
    """Return how many records were not simulated again, by reason."""
    return dict(Counter(each.skipped for each in again if each.skipped))


def _by_family(some: Sequence[Section]) -> list[tuple[Presentation, list[Section]]]:
    found = grouped(some, lambda each: (family_of(each.env.id), each.apart))
    return [(own[0].presentation, own) for own in found.values()]


def _about(site: Site) -> dict[str, Any]:
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


def _paired(envs: Iterable[str]) -> list[str]:
    tables = (table for env in envs for table in presentation_of(env).pairs.values())
    return list(dict.fromkeys(name for names in tables for name in names))


def _clusters(own: Sequence[Row], presentation: Presentation) -> list[str]:
    """Return the names of a group's clusters, such as its maps, or their number where there are many."""
    names = sorted({one_line(row.cluster.name, 40) for row in own if row.cluster.key})
    if not (presentation.clusters and names):
        return []
    listed = ", ".join(names)
    return [f"{presentation.clusters}: {listed if len(listed) <= _LONGEST_LIST else f'{len(names):,}, listed below'}"]


def _page_name(group: Group) -> str:
    """Return the name of the page of a group's results, which is a function of the group alone.

    It names the environment where the task does not, and the settings that are not left to their default.
    """
    identity = json.dumps([group.env, group.model, group.settings], sort_keys=True)
    family_, _, variant = group.env.partition("/")
    env = [] if family_ in group.task or variant in group.task else [group.env]
    rest = " ".join([group.task, *env, *chosen(group)])
    # Room for what tells the pages of one model apart, however long its name is.
    return f"{slug(f'{group.model[: max(24, READABLE - 1 - len(rest))]} {rest}', identity)}.html"


def _summary(title: str, site: Site, compared: Compared, more: Mapping[str, Sequence[Any]]) -> str:
    pages = site.pages

    def listed(some: Sequence[Estimate]) -> list[dict[str, Any]]:
        return [{**estimate.to_json(), "page": f"results/{pages[estimate.group]}"} for estimate in some]

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
        "pairs": [site.paged(each.to_json(), each.first, each.second) for each in compared.pairs],
        "regressions": [each.to_json() for each in compared.regressions],
        "item_difficulty": [each.to_json() for each in compared.difficulties],
        "horizons": [
            {**each.to_json(), "page": f"results/{pages[each.group]}"}
            for curve in compared.curves
            for each in curve.horizons
        ],
        "wordings": [each.to_json() for each in compared.wordings],
        "twins": [each.to_json() for each in compared.twins],
        **more,
    }
    return json.dumps(summary, indent=1, allow_nan=False) + "\n"
