"""What the report knows of single families: their words, their tables, and who draws their boards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from waybench.report._replay import Framer, by_prefixes


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of environments is spoken of, put into tables and drawn.

    Attributes:
        title: Its name; "" for a family that the report knows nothing of.
        lead: What it is, in one or two sentences.
        level: What a level is called.
        levels: The same for several.
        item: What an item is called.
        items: The same for several.
        cluster: What several items are drawn with and are about, such as a map; "" if each is drawn by itself.
        clusters: The same for several.
        metrics: Names of the metrics and aggregates that its table shows, of each environment those that it has. The
            goal metric comes first. Without any there is no such table.
        parts: The environments (ids) that stand side by side in one table, by the table's name; those that are in
            none have one together.
        modes: Levels of different environments that belong together, by their common name: environment -> level.
            Other levels are taken together if they are the same number.
        drawer: "module:function" of (instance, turns, *, board_id, reuse) -> SVG; "" if there is none. The function
            lets no text of a reply into its drawing.
        framer: "module:function" of (instance, turns, counts) -> drawings of how it stands after so many turns; "" if
            the drawer's drawing of these turns is that, with the same view box whatever comes after them.
        legend: What is seen in a drawing, in one sentence.
        pairs: What is compared between two models, by the table's name: the metrics below its diagonal and above it.
        by_cluster: Names of the metrics that a model's page shows for each cluster.
        shared: Name of the metric that says what share of a prompt others begin with too; "" if there is none.
        undefined: Why a value may not be defined though nothing went wrong, in one sentence.
        reference: What a drawing shows besides what was done, for a switch that hides it (class "reference").
    """

    title: str = ""
    lead: str = ""
    level: str = "level"
    levels: str = "levels"
    item: str = "item"
    items: str = "items"
    cluster: str = ""
    clusters: str = ""
    metrics: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    modes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    drawer: str = ""
    framer: str = ""
    legend: str = ""
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    by_cluster: tuple[str, ...] = ()
    shared: str = ""
    undefined: str = ""
    reference: str = ""

    @property
    def name(self) -> str:
        """Its name wherever one is needed."""
        return self.title or "Other environments"

    @property
    def drawn(self) -> str:
        """What was drawn independently, several of them."""
        return self.clusters or self.items

    def draw(self) -> Callable[..., str] | None:
        """Return the function that draws a board, loaded now."""
        return _loaded(self.drawer)

    def frame(self) -> Framer | None:
        """Return the function that draws the steps of a replay, loaded now."""
        if self.framer:
            return _loaded(self.framer)
        draw = self.draw()
        return None if draw is None else by_prefixes(draw)

    def mode(self, env_id: str, level: int | None) -> str:
        """Return what an environment's level is called where several environments stand side by side; None is all."""
        if level is None:
            return f"all {self.items}"
        named = (name for name, levels in self.modes.items() if levels.get(env_id) == level)
        return next(named, f"{self.level.capitalize()} {level}")


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name) if module else None


_BASE = "search/guessnum", "search/dfs", "search/bfs"
_EMBODIED = "search/coin", "search/cavedfs", "search/cavebfs"

_FAMILIES: dict[str, Any] = {
    "maze": Family(
        title="Mazes (AliciaBench)",
        level="dimension",
        levels="dimensions",
        item="maze",
        items="mazes",
        drawer="waybench.envs.maze._drawing:draw",
        legend=(
            "The ring is the entrance, the square the exit. The line is the way walked, pale and wide around it what "
            "was walked more than once. A dot marks where a request ended, and a cross where a movement hit a wall or "
            "the edge; nothing of that movement was carried out."
        ),
        reference="a shortest path (dashed)",
    ),
    "tilemap": Family(
        title="Tile maps (GameTraversalBenchmark)",
        lead=(
            "Maps of characters, over which an agent is led from objective to objective. GTB_Score weighs where plans "
            "end against their length and against replies that cannot be carried out; Top-0 is the share of objectives "
            "at which a plan ended. MGE counts replies in error for a map, MPL moves, MAT all actions."
        ),
        level="size class",
        levels="size classes",
        item="map",
        items="maps",
        metrics=("score", "generation_errors", "path_length", "actions", "top0", "top1", "top5", "moved"),
        drawer="waybench.envs.tilemap._drawing:draw",
        legend=(
            "The ring is where the player began, and the squares are the objectives with their numbers. The line is "
            "the way that was walked, or straight where beings were in it, and a dot marks where a plan ended."
        ),
        reference="a shortest tour (dashed)",
    ),
    "textmap": Family(
        title="Text maps (MANGO)",
        lead=(
            "Questions about the map that a game's walkthrough tells of: where do given moves lead, and which moves "
            "lead from here to there? Easy questions are about ways that were walked; in hard ones some move has to be "
            "inferred from its opposite. Success says whether the way ends where it should, reasoning whether the "
            "trajectory is right from place to place."
        ),
        level="size class",
        levels="size classes",
        item="question",
        items="questions",
        cluster="map",
        clusters="maps",
        metrics=(
            *("success", "success_easy", "success_hard", "spl", "reasoning"),
            *("success_known", "success_new", "chance", "ceiling", "triplets", "precision", "recall", "parsed"),
        ),
        parts={
            "Routes and destinations": ("textmap/route", "textmap/destination"),
            "Minigames": ("textmap/minigame",),
            "Extraction and search": ("textmap/extract",),
        },
        pairs={
            "Success": ("success_easy", "success_hard"),
            "Reasoning": ("reasoning_easy", "reasoning_hard"),
            "Success in minigames": ("success_known", "success_new"),
        },
        drawer="waybench.envs.textmap.drawing._draw:draw",
        framer="waybench.envs.textmap.drawing._draw:draw_frames",
        legend=(
            "Lines are moves, with north at the top as far as they agree on it, and up, down, in and out aslant. Where "
            "they lead both ways, the half next to a place is the way from there: solid if it was walked, dashed if it "
            "follows from its opposite, dotted if nothing told of it yet. The ring is where the question begins, the "
            "green square where a route is to end. Arrows are the moves that were answered, as they were scored; a dot "
            "is where they end, a cross where they go wrong, and orange dots are moves that the map does not have. A "
            "pale line leads to a minigame's place. Triplets that were right are blue, the others orange."
        ),
        reference="a shortest route, or the right answer (wide band)",
        by_cluster=("success", "success_easy", "success_hard", "success_known", "success_new", "reasoning"),
        shared="shared",
        undefined=(
            'A dash: no such question has an answer that counts. In protocol "paper" of routes and destinations only '
            "answers that could be read do."
        ),
    ),
    "bandit": Family(
        title="Slot machines (SmartPlay)",
        lead=(
            "One of some slot machines is pulled, again and again, and which of them is the best has to be learned. "
            "The score is the number of pulls of the best one; regret is what the others have cost in expected reward."
        ),
        level="number of machines",
        levels="numbers of machines",
        metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
        drawer="waybench.envs.bandit._drawing:draw",
        legend=(
            "A bar is the share of a machine's pulls that paid, and below it is what it gave on average. Each pull is "
            "a cell in its machine's row: high if it paid, low if it took. The triangle is below the last one."
        ),
        reference=(
            "the chances (dashed; those of the start where they drift), the best machine (amber), and a line "
            "under pulls of the best one of that time"
        ),
    ),
    "rps": Family(
        title="Rock, Paper, Scissors (SmartPlay)",
        lead=(
            "Rounds against an opponent who prefers some choices, or adapts to what was played. The score is the "
            "number of rounds in which the choice with the highest expected score was made, whatever it came to."
        ),
        level="level of opponents",
        levels="levels of opponents",
        metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
        drawer="waybench.envs.rps._drawing:draw",
        legend=(
            "Above, how often each choice was made, and what a win with it is worth. Below, the choices of each round: "
            "R, P or S, with a triangle upwards for a win, downwards for a defeat, and a line for a tie."
        ),
        reference=(
            "the best choice of each round, filled where the player made it, and how probable the opponent's next "
            "choices are (dashed)"
        ),
    ),
    "hanoi": Family(
        title="Tower of Hanoi (SmartPlay)",
        lead=(
            "Disks are moved between three rods, one at a time and never onto a smaller one. The score is the number "
            "of disks on the rod where they have to go when the episode ends."
        ),
        level="number of disks",
        levels="numbers of disks",
        item="puzzle",
        items="puzzles",
        metrics=("score", "human", "completed", "optimal_rate", "first_mistake", "illegal", "unnamed", "unparsed"),
        drawer="waybench.envs.hanoi._drawing:draw",
        framer="waybench.envs.hanoi._drawing:draw_frames",
        legend=(
            "The rods at the start and after each move, with an edge around the disk that was moved. A cross on a line "
            "from rod to rod is a move that is not allowed."
        ),
        reference="the goal",
    ),
    "messenger": Family(
        title="Messenger (SmartPlay)",
        lead=(
            "A message is to be brought to a goal past an enemy, and which of the entities is which is told by a "
            "manual in other words. The score is the reward of the last step: 1 for a delivery, -1 for a death. On the "
            "human scale 1 is what people come to and 0 is a death; oracle-normalised, 0 is a random player and 1 is "
            "one that knows who is who."
        ),
        level="stage",
        levels="stages",
        item="game",
        items="games",
        metrics=(
            "score",
            "completed",
            "reward",
            "human",
            "scaled",
            "got_message",
            "met_enemy",
            "met_decoy",
            "met_goal",
        ),
        drawer="waybench.envs.messenger._drawing:draw",
        legend=(
            "The ring is where the player began, and the squares are where the enemy (E), the message (M), the goal "
            "(G) and decoys (D) did. The solid line is the player's way, dashed ones are those of the others, and dots "
            "mark where all were last: a ring around the player's is a success, a cross is a death."
        ),
        undefined=(
            "A dash: there are no published figures of people for stage 3, and none to scale with for other boards and "
            "numbers of steps; where the player has the message from the start, it cannot get it."
        ),
    ),
    "crafter": Family(
        title="Crafter (SmartPlay)",
        lead=(
            "A life in a world of grass, water, mountains and caves, with 22 achievements to unlock. The score is the "
            "number of achievements unlocked so far, summed over the steps, so that early ones and a long life count. "
            "The Crafter score is made of the shares of worlds in which each achievement was unlocked."
        ),
        item="world",
        items="worlds",
        metrics=("score", "human", "crafter_score", "achievements", "reward", "played", "unnamed", "unparsed"),
        drawer="waybench.envs.crafter._drawing:draw",
        framer="waybench.envs.crafter._drawing:draw_frames",
        legend=(
            "The ring is where the player began and the line its way; the dot is where it was last, with the direction "
            "it faced, and dashes are around what it saw there. Numbers are achievements, listed beside the map, where "
            "they were unlocked. Cells with an edge were changed, and letters are beings and what is rare."
        ),
    ),
    "voxel": Family(
        title="Find a biome (after SmartPlay)",
        lead=(
            "A biome is looked for in a world of blocks that is told of in words, by going in one of four directions "
            "again and again. The score is the share of searches that found one. Where no engine is named the world is "
            "our own, and no published figures are for comparison."
        ),
        level="level of distance",
        levels="levels of distance",
        item="search",
        items="searches",
        metrics=("score", "found_after", "progress", "distance_left", "spl", "unnamed", "unparsed"),
        drawer="waybench.envs.voxel._drawing:draw",
        framer="waybench.envs.voxel._drawing:draw_frames",
        legend=(
            "The map from above, north at the top, with the biomes that count outlined. The ring is where the player "
            "began, the square the goal that was nearest then, the line its way, and the dot where it was last, with a "
            "ring around it where the biome was found."
        ),
        undefined="A dash: where no biome was found there is no number of steps to it.",
    ),
    "search": Family(
        title="Algorithmic search (AQA-Bench)",
        lead=(
            "Binary, depth-first and breadth-first search, each told plainly and as a story. The goal metric says how "
            "near the goal a player came, the sum of its gaps how fast, and ACC how long it kept to the algorithm. "
            "Players that give up early have small sums, so the goal metric comes first."
        ),
        item="case",
        items="cases",
        metrics=("err_min", "err_sum", "g_min", "g_sum", "acc"),
        parts={"Base environments": _BASE, "Embodied environments": _EMBODIED},
        modes={
            "EASY mode": dict(zip((*_BASE, *_EMBODIED), (15, 8, 15) * 2, strict=True)),
            "HARD mode": dict(zip((*_BASE, *_EMBODIED), (25, 13, 25) * 2, strict=True)),
        },
    ),
}

_GUESSES = {
    "drawer": "waybench.envs.search._drawing_number:draw",
    "legend": (
        "The upper line is the whole range, with what is still possible shaded, the guesses above it and the number "
        "itself below. Each row is a guess: shaded is what was possible before it, by the distance from the number on "
        "a logarithmic scale. A bold cross is a guess that could not be right any more, a thin one a number that was "
        "named and not taken."
    ),
    "reference": "where the teacher bisects what was possible (dashed)",
}
_WALKS = {
    "legend": (
        "Nodes that were visited are filled, with the order of their first visits beside them; the last one has a "
        "green ring. Those with an edge have been told of, pale ones have not. The way starts at node 0. "
        "Orange edges, rings and numbers are of steps that the algorithm would not have made. A dashed line goes to a "
        "node that was named and not visited, with a cross where that was not allowed."
    ),
    "reference": "the algorithm's order of first visits (amber)",
}
_DEPTH = {**_WALKS, "drawer": "waybench.envs.search._drawing_walk:draw_depth"}
_BREADTH = {**_WALKS, "drawer": "waybench.envs.search._drawing_walk:draw_breadth"}

# What environments are drawn by, where their family has not one drawing for all.
_DRAWN: dict[str, Any] = dict(zip((*_BASE, *_EMBODIED), (_GUESSES, _DEPTH, _BREADTH) * 2, strict=True))


def family(env_id: str) -> Family:
    """Return what is known of an environment's family; for an unknown one, plain words and no drawing."""
    return replace(_FAMILIES.get(env_id.partition("/")[0], Family()), **_DRAWN.get(env_id, {}))
