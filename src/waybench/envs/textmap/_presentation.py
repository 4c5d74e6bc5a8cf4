"""The presentation that the four environments of text maps share: words, metrics, legend and drawings."""

from collections.abc import Iterator
from typing import Any

from waybench.core import Images, Picture, Presentation
from waybench.envs.textmap._people import board


def _draw(*args: Any, **options: Any) -> str:
    from waybench.envs.textmap.drawing import draw  # imported when it is needed

    return draw(*args, **options)


def _draw_frames(*args: Any) -> Iterator[str]:
    from waybench.envs.textmap.drawing import draw_frames

    return draw_frames(*args)


def _draw_cluster(instance: Any) -> str:
    from waybench.envs.textmap.drawing import draw_map

    return draw_map(instance)


def _draw_picture(picture: Picture) -> str:
    from waybench.envs.textmap.drawing import draw_picture  # imported when it is needed

    return draw_picture(picture)


IMAGES = Images(
    draw=_draw_picture,
    legend="(In place of the walkthrough, the picture below has its map. Each dot is a place, with its name. Each "
    "arrow is a move that the walkthrough makes, with its action near the place where the move begins.)",
    replaces=("walkthrough",),
    legend_field="walkthrough",
    bases=("chat", "plain", "examples"),
    size=1024,
)


PRESENTATION = Presentation(
    title="Text maps (MANGO)",
    lead=(
        "Questions about the map in a game's walkthrough: where do given moves lead, and which moves lead from one "
        "place to another? Easy questions are about moves that the walkthrough makes; in hard questions, some move "
        "must be inferred from its opposite. Success says whether the answer ends at the right place, reasoning "
        "whether each step of it is right."
    ),
    level="size class",
    levels="size classes",
    item="question",
    cluster="map",
    metrics=(
        *("success", "success_easy", "success_hard", "mango_success", "mango_left_out", "spl", "reasoning"),
        *("success_known", "success_new", "chance", "ceiling", "triplets", "precision", "recall", "parsed"),
    ),
    parts={
        "Routes and destinations": ("textmap/route", "textmap/destination"),
        "Minigames": ("textmap/minigame",),
        "Extraction and search": ("textmap/extract",),
    },
    pairs={
        "Success": ("mango_success_easy", "mango_success_hard"),
        "Reasoning": ("mango_reasoning_easy", "mango_reasoning_hard"),
        "Success in minigames": ("success_known", "success_new"),
    },
    panels={
        "Success": ("success_easy", "success_hard"),
        "Success weighted by route length": ("spl_easy", "spl_hard"),
        "Reasoning accuracy": ("reasoning_easy", "reasoning_hard"),
        "Success in minigames": ("success_known", "success_new"),
    },
    board=board,
    draw=_draw,
    draw_frames=_draw_frames,
    draw_cluster=_draw_cluster,
    cluster_legend=(
        "All places and moves of the map, whatever a prompt shows of it. Each panel is a level or a separate part; "
        "moves up and down lead from one to another, and a line below the name of a place says where to. Otherwise a "
        "move goes in the direction of its line, with north at the top, unless the line says what is typed. The half "
        "next to a place is the move from there: solid if the walkthrough makes it, dashed if it is inferred from its "
        "opposite. An arrow leads one way only. Hover over a place for its moves with their steps."
    ),
    legend=(
        "Lines are moves, with north at the top where possible, and up, down, in and out drawn diagonally. For moves "
        "in both directions, the half next to a place is the move from there: solid if it was walked, dashed if it "
        "follows from its opposite, dotted if it is not known yet. The ring is the start of the question, the green "
        "square the destination of a route. Arrows are the answer's moves, as they were scored; a dot marks where "
        "they end, a cross where they go wrong, and orange dots moves that are not on the map. A pale line leads to a "
        "minigame's place. Right triplets are blue, the others orange."
    ),
    reference="a shortest route, or the right answer (wide band)",
    by_cluster=("success", "success_easy", "success_hard", "success_known", "success_new", "reasoning"),
    shared="shared",
    undefined=(
        "A dash: there is no question of this kind, or no readable answer to one. An unreadable answer counts as 0; "
        "only the numbers marked (MANGO) leave it out, as the paper does."
    ),
)
