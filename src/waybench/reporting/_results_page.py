"""The page of a group's results, and the pages of its episodes and clusters."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from waybench.core import Presentation
from waybench.envs import registry
from waybench.reporting._episode import conversation_view, episode_source, probes_by_turn, repeated_fold_texts
from waybench.reporting._episode_store import StoredEpisode
from waybench.reporting._files import slug
from waybench.reporting._format import TaskView, presentation_of
from waybench.reporting._replays import draw_replay_frames, pack_json, steps_without_drawings
from waybench.reporting._results import Attempt, ItemView, ResultsPage, item_kinds
from waybench.reporting._site import Site, count_skip_reasons
from waybench.reporting.tables._results_tables import LoggedError, belief_table, error_table, level_table
from waybench.reporting.tables._task_tables import aggregate_tables_of_model, clusters_table, prompt_shares
from waybench.results import Estimate, Row
from waybench.results.estimates import headline_spec
from waybench.results.formatting import one_line
from waybench.results.results import Cluster, RunKey, setting_text
from waybench.results.results._groups import displayed_settings

_LONGEST_LIST = 60  # characters of cluster names


class ClusterPages:
    """The drawings of a group's clusters.

    Attributes:
        paths: Paths of the pages written so far, from the first page of the site.
    """

    def __init__(self, presentation: Presentation, site: Site) -> None:
        self._presentation, self._site = presentation, site
        self.paths: dict[Cluster, str] = {}

    def page_path(self, cluster: Cluster, instance: Any) -> str:
        """Return the path of a cluster's page from the first page of the site; "" without a drawing.

        The page is written on the first call with an instance of the cluster that a simulation confirms, not None.
        """
        draw = self._presentation.draw_cluster
        if draw is not None and cluster.key and instance is not None and cluster not in self.paths:
            drawing = Markup(draw(instance))
            # Named after the drawing, so that different clusters of the same name have a page each.
            path = f"clusters/{slug(cluster.name, drawing)}.html"
            self._site.write_page(
                path, "cluster.html", cluster=cluster, drawing=drawing, presentation=self._presentation
            )
            self.paths[cluster] = path
        return self.paths.get(cluster, "")


def write_results_page(site: Site, total: Estimate) -> None:
    """Write the page of a group's results and the pages of its episodes; `total` is its estimate over all levels."""
    group, store, estimates = total.group, site.store, site.estimates_of[total.group]
    view = TaskView(registry.load(group.env), presentation_of(group.env), site.pages)
    env, presentation = view.env, view.presentation
    headline = headline_spec(env, total.guided)
    cluster_pages = ClusterPages(presentation, site)
    values_of_all_pages = {
        "name": site.names[group],
        "group": group,
        "env": env,
        "presentation": presentation,
        "measured": headline,
        "model_page": site.model_pages[group.model],
        "page": site.pages[group],
    }

    def write_replay(played: StoredEpisode, attempt: Attempt, item: ItemView) -> None:
        """Write the page of an episode, if it has one."""
        if not site.replays.is_written(group, played.number):
            return
        turns = played.episode.record.turns
        instance = played.instance if played.again.confirmed else None
        if presentation.draw_frames is None or instance is None:
            frames = steps_without_drawings(turns)
        else:
            frames = draw_replay_frames(presentation.draw_frames, instance, turns)
        messages = conversation_view(played, item.opening)
        site.write_page(
            f"replays/{attempt.replay}",
            "replay.html",
            **values_of_all_pages,
            attempt=attempt,
            item=item,
            said=messages,
            probes=probes_by_turn(played),
            frames=frames,
            data=pack_json({**frames.values, "repeated": repeated_fold_texts(messages)}),
            first_error=played.row.first_error,
            not_simulated=played.again.skipped,
            neighbours=site.neighbours.find(played.row, played.number),
            source=episode_source(played),
            whole=cluster_pages.page_path(played.row.cluster, instance),
        )

    positions = store.positions(group)
    results = ResultsPage(view, store, site.replays, write_replay)
    levels = results.build_levels(positions, estimates)
    cards = [card for level in levels for card in level.cards]
    errors = [
        LoggedError(card.item, card.anchor, attempt.number, attempt.error.text, attempt.log)
        for card in cards
        for attempt in card.attempts
        if attempt.error and not attempt.exclusion_reason
    ]
    rows = [store.rows[position] for position in positions]
    sampling_units = "attempts" if total.single and total.single.clusters > total.items else presentation.sampling_units
    anchors = {batch.cluster: batch.anchor for level in levels for batch in level.batches if batch.cluster}
    with_total = [*estimates, total] if env.items.pooled and len(estimates) > 1 else estimates
    level_name, shown_settings = presentation.level.capitalize(), displayed_settings(group)
    n_cards_of_kind = {kind: sum(kind in card.kinds for card in cards) for kind in item_kinds(group.env)}
    site.write_page(
        f"results/{site.pages[group]}",
        "results.html",
        **values_of_all_pages,
        settings=[
            *(setting_text(name, value, group.env) for name, value in shown_settings.items()),
            *_cluster_names_text(rows, presentation),
        ],
        defaults=[
            setting_text(name, value, group.env) for name, value in group.settings.items() if name not in shown_settings
        ],
        origins=list(dict.fromkeys(row.origin for row in rows if row.origin)),
        total=total,
        by_level=level_table(view, headline, [level.estimate for level in levels], total, sampling_units),
        errors=error_table(view, errors),
        aggregates=aggregate_tables_of_model(view, with_total),
        failures=site.failed.of_group(group, level_name),
        first_errors=site.failed.first_errors_of(group, level_name),
        beliefs=belief_table(rows),
        prompt=prompt_shares(total, presentation),
        not_simulated=count_skip_reasons(store.again[at] for at in positions),
        clusters=clusters_table(view, rows, store.variables.get(group, {}), anchors, cluster_pages.paths),
        levels=levels,
        kinds={  # the filters that show some items, but not all
            kind: (label, n_cards_of_kind[kind])
            for kind, label in item_kinds(group.env).items()
            if 0 < n_cards_of_kind[kind] < len(cards)
        },
        items=len(cards),
        packed=pack_json({"boards": results.packed}) if results.packed else "",
    )


def refresh_replay_links(site: Site, group: RunKey) -> None:
    """Update, in a group's written replays, the links to other models' replays of the same items."""
    template, presentation = site.templates.get_template("others.html"), presentation_of(group.env)
    for position in site.store.positions(group):
        row, number = site.store.rows[position], site.store.numbers[position]
        if site.replays.is_written(group, number):
            neighbours = site.neighbours.find(row, number)
            section = template.render(neighbours=neighbours, presentation=presentation)
            site.folder.replace_section(f"replays/{site.replays.link(group, number)}", section)


def _cluster_names_text(rows: Sequence[Row], presentation: Presentation) -> list[str]:
    """Return the names of a group's clusters, such as its maps, as one setting, or how many there are; [] if none."""
    names = sorted({one_line(row.cluster.name, 40) for row in rows if row.cluster.key})
    if not (presentation.clusters and names):
        return []
    text = ", ".join(names)
    return [f"{presentation.clusters}: {text if len(text) <= _LONGEST_LIST else f'{len(names):,}, listed below'}"]
