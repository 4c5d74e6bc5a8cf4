"""The page of a group's results, and those of its episodes and clusters."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from waybench.core import Presentation
from waybench.envs import registry
from waybench.reporting._episode_store import Played
from waybench.reporting._files import slug
from waybench.reporting._format import presentation_of
from waybench.reporting._replays import frames, packed, steps_without_drawings
from waybench.reporting._summary import skip_reasons
from waybench.reporting.pages import Attempt, Item, Results, conversation, episode_source, item_kinds, probes, repeated
from waybench.reporting.tables import (
    LoggedError,
    TaskView,
    belief_table,
    clusters,
    error_table,
    level_table,
    of_model,
    prompt,
)
from waybench.results import Estimate, Row
from waybench.results.estimates import measure
from waybench.results.formatting import one_line
from waybench.results.results import Cluster, Group, named_settings, setting

if TYPE_CHECKING:
    from waybench.reporting._site import Site


class ClusterPages:
    """The drawings of a group's clusters.

    Args:
        presentation: The presentation of the group's environment.
        write: (path, template, values) writes a page.

    Attributes:
        paths: Paths of the pages written so far, from the first page of the site.
    """

    def __init__(self, presentation: Presentation, write: Callable[..., None]) -> None:
        self._presentation, self._write = presentation, write
        self.paths: dict[Cluster, str] = {}

    def path(self, cluster: Cluster, instance: Any) -> str:
        """Return the page of a cluster, which is written when it is first needed.

        Args:
            cluster: The cluster.
            instance: An instance that belongs to it; None if there is none that a simulation confirms.

        Returns:
            The path of the page from the first page of the site; "" without a drawing.
        """
        draw = self._presentation.draw_cluster
        if draw is None or not cluster.key or (instance is None and cluster not in self.paths):
            return ""
        if cluster not in self.paths:
            drawing = Markup(draw(instance))
            # Named after the drawing: clusters of one name that differ, as in the names of places, have a page each.
            path = f"clusters/{slug(cluster.name, drawing)}.html"
            self._write(path, "cluster.html", cluster=cluster, drawing=drawing, presentation=self._presentation)
            self.paths[cluster] = path
        return self.paths[cluster]


_LONGEST_LIST = 60  # characters


def write_results(site: "Site", total: Estimate) -> None:
    """Write the page of a group's results, and those of its episodes.

    Args:
        site: The site.
        total: The group's estimate over all levels.
    """
    group, page = total.group, site.pages[total.group]
    env, presentation = registry.load(group.env), presentation_of(group.env)
    view = TaskView(env, presentation, site.pages)
    positions = site.found.positions(group)
    estimates = site.estimates_of[group]
    measured = measure(env, total.guided)
    draw_frames = presentation.draw_frames
    shared = {
        "name": site.names[group],
        "group": group,
        "env": env,
        "presentation": presentation,
        "measured": measured,
        "model_page": site.model_pages[group.model],
        "page": page,
    }

    whole = ClusterPages(presentation, site.page)

    def follow(played: Played, attempt: Attempt, item: Item) -> None:
        if not site.replays.is_written(group, played.number):
            return
        turns = played.episode.record.turns
        instance = played.instance if played.again.confirmed else None
        drawings = (
            steps_without_drawings(turns)
            if draw_frames is None or instance is None
            else frames(draw_frames, instance, turns)
        )
        said = conversation(played, item.opening)
        site.page(
            f"replays/{attempt.replay}",
            "replay.html",
            **shared,
            attempt=attempt,
            item=item,
            said=said,
            probes=probes(played),
            frames=drawings,
            data=packed({**drawings.values, "repeated": repeated(said)}),
            first_error=played.row.first_error,
            not_simulated=played.again.skipped,
            neighbours=site.neighbours.find(played.row, played.number),
            source=episode_source(played),
            whole=whole.path(played.row.cluster, instance),
        )

    shown_settings = named_settings(group)
    results = Results(env, presentation, site.found, site.replays, follow)
    shown = results.levels(positions, estimates)
    own = [site.found.rows[position] for position in positions]
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
    site.page(
        f"results/{page}",
        "results.html",
        **shared,
        settings=[
            *(setting(name, value) for name, value in shown_settings.items()),
            *_clusters(own, presentation),
        ],
        defaults=[setting(name, value) for name, value in group.settings.items() if name not in shown_settings],
        origins=list(dict.fromkeys(row.origin for row in own if row.origin)),
        total=total,
        by_level=level_table(view, measured, [level.estimate for level in shown], total, drawn),
        errors=error_table(view, errors),
        aggregates=of_model(view, [*estimates, total] if env.items.pooled and len(estimates) > 1 else estimates),
        failures=site.failed.of_group(group, presentation.level.capitalize()),
        first_errors=site.failed.first_errors_of(group, presentation.level.capitalize()),
        beliefs=belief_table(own),
        prompt=prompt(total, presentation),
        not_simulated=skip_reasons(site.found.again[at] for at in positions),
        clusters=clusters(view, own, site.found.variables.get(group, {}), anchors, whole.paths),
        levels=shown,
        kinds={
            kind: (label, count)
            for kind, label in item_kinds(group.env).items()
            if 0 < (count := sum(kind in card.kinds for card in cards)) < len(cards)
        },
        items=len(cards),
        packed=packed({"boards": results.packed}) if results.packed else "",
    )


def refresh_neighbours(site: "Site", group: Group) -> None:
    """Bring the links of a group's replays to the same items by other models up to date.

    Args:
        site: The site, whose folder has these replays.
        group: The group.
    """
    others, presentation = site.templates.get_template("others.html"), presentation_of(group.env)
    for position in site.found.positions(group):
        row, number = site.found.rows[position], site.found.numbers[position]
        if site.replays.is_written(group, number):
            neighbours = site.neighbours.find(row, number)
            section = others.render(neighbours=neighbours, presentation=presentation)
            site.folder.refill(f"replays/{site.replays.link(group, number)}", section)


def _clusters(own: Sequence[Row], presentation: Presentation) -> list[str]:
    """Return the names of a group's clusters, such as its maps, or their number where there are many."""
    names = sorted({one_line(row.cluster.name, 40) for row in own if row.cluster.key})
    if not (presentation.clusters and names):
        return []
    listed = ", ".join(names)
    return [f"{presentation.clusters}: {listed if len(listed) <= _LONGEST_LIST else f'{len(names):,}, listed below'}"]
