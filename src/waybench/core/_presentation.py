"""How an environment is described, tabulated and drawn for people."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from waybench.core._board import Board
from waybench.core._record import TurnRecord
from waybench.core._scene import MakeScene, MakeScenes, draw_last_scene, draw_scenes, make_after_each_count

Draw = Callable[..., str]
"""(instance, turns, *, board_id, reuse) -> SVG.

A page that shows many attempts at one instance draws its board once: the first drawing has it with the id `board_id`,
and the others refer to it (`reuse`). A drawing that has no such part ignores both. No text of a reply may get into a
drawing, since replies may be hostile.
"""

DrawFrames = Callable[[Any, Sequence[TurnRecord], Sequence[int]], Iterator[str]]
"""(instance, turns, counts) -> an SVG after each number of turns in `counts`, which rise.

It receives all turns, so that it simulates them once and draws everything to one scale. No text of a reply may get
into a drawing.
"""


class _DerivedDrawing(partial[Any]):
    """A drawing that follows from other fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """An environment's words and drawings for reports and terminals.

    Everything has a default, so an environment declares what it wants to improve. Environments of one family (the part
    of the id before the slash) usually share one presentation; then reports show them together under its title.

    Attributes:
        title: The family's heading in reports; the environment's own title if empty.
        family: The family's name in summaries, where its environments are apart from others with the same first part of
            the id; by default that part.
        lead: One or two sentences on what the family measures, below the heading.
        level: What a level is called.
        levels: Its plural; by default `level` with an "s".
        item: What an item is called.
        items: Its plural; by default `item` with an "s".
        cluster: What several items belong to, such as a map with many questions; "" if items are independent.
        clusters: Its plural; by default `cluster` with an "s".
        metrics: Names of the metrics and aggregates in the family's table, the headline metric first; each environment
            shows those that it has. Without any there is no such table.
        parts: Title of a table -> ids of the environments that stand side by side in it. Environments in no part
            share a table of their own.
        modes: Name of a mode -> environment id -> level, for levels of different environments that belong together.
            All other levels are matched by number.
        legend: What a drawing shows, in a few sentences.
        reference: What a drawing shows in addition to the player's actions, for a switch that hides it (CSS class
            "reference"); "" if nothing.
        scene: Makes the `Scene` of an episode so far; None if there is no drawing, or `scenes` makes it.
        scenes: Makes the scenes of a replay, each of the same size. None if `scene` makes each of them from the turns
            so far.
        draw: Draws an episode (see `Draw`). It draws the scene if there is one.
        draw_frames: Draws the frames of a replay (see `DrawFrames`). By default it draws the scenes, or what `draw`
            draws of the turns so far, which must always have the same view box.
        draw_cluster: (instance) -> SVG with a size, of all that its cluster is, such as a whole map, for a page of its
            own; None if there is none.
        cluster_legend: What that drawing shows, in a few sentences.
        board: (state, turns so far) -> what a person who plays sees of the state (see `Board`).
        pairs: Title of a table that compares models in pairs -> names of the metrics below and above its diagonal.
        panels: Title of a chart -> names of the metrics that are its panels, such as success at easy and at hard
            questions. One chart has a bar for each player; if items belong to clusters, others have a point for each
            cluster, one model against another.
        by_cluster: Names of the metrics that a page of results shows for each cluster.
        shared: Name of the metric that says what share of a prompt other prompts begin with, too; "" if there is none.
        undefined: Why a value may be undefined although nothing went wrong, in one sentence.
    """

    title: str = ""
    family: str = ""
    lead: str = ""
    level: str = "level"
    levels: str = ""
    item: str = "item"
    items: str = ""
    cluster: str = ""
    clusters: str = ""
    metrics: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    modes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    legend: str = ""
    reference: str = ""
    scene: MakeScene | None = None
    scenes: MakeScenes | None = None
    draw: Draw | None = None
    draw_frames: DrawFrames | None = None
    draw_cluster: Callable[[Any], str] | None = None
    cluster_legend: str = ""
    board: Callable[[Any, Sequence[TurnRecord]], Board] | None = None
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    by_cluster: tuple[str, ...] = ()
    shared: str = ""
    undefined: str = ""

    def __post_init__(self) -> None:
        """Fill in plurals, and the functions that draw scenes where they are not given."""
        # A copy (`dataclasses.replace`) derives its drawings again: they follow from its own scenes.
        draw = None if isinstance(self.draw, _DerivedDrawing) else self.draw
        draw_frames = None if isinstance(self.draw_frames, _DerivedDrawing) else self.draw_frames
        last = self.scenes if self.scene is None else make_after_each_count(self.scene)
        if draw_frames is None:
            if draw is not None:
                draw_frames = _DerivedDrawing(make_after_each_count(draw))
            elif last is not None:
                draw_frames = _DerivedDrawing(draw_scenes, self.scenes or last)
        if draw is None and last is not None:
            draw = _DerivedDrawing(draw_last_scene, last)
        object.__setattr__(self, "draw", draw)
        object.__setattr__(self, "draw_frames", draw_frames)
        for noun in ("level", "item", "cluster"):
            singular, several = getattr(self, noun), getattr(self, f"{noun}s")
            if singular and not several:
                object.__setattr__(self, f"{noun}s", f"{singular}s")

    @property
    def sampling_units(self) -> str:
        """The plural of the independently drawn units: clusters if there are any, otherwise items."""
        return self.clusters or self.items

    def level_title(self, env_id: str, level: int | None) -> str:
        """Return the title of an environment's level in tables; of all levels for None."""
        if level is None:
            return f"all {self.items}"
        names = (name for name, levels in self.modes.items() if levels.get(env_id) == level)
        return next(names, f"{self.level.capitalize()} {level}")
