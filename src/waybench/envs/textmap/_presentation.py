"""The presentation that the four environments of text maps share: words, metrics, legend and drawings."""

from collections.abc import Iterator
from typing import Any

from waybench.core import Presentation


def _draw(*args: Any, **options: Any) -> str:
    from waybench.envs.textmap.drawing import draw  # imported when it is needed

    return draw(*args, **options)


def _draw_frames(*args: Any) -> Iterator[str]:
    from waybench.envs.textmap.drawing import draw_frames

    return draw_frames(*args)


PRESENTATION = Presentation(
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
    cluster="map",
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
    draw=_draw,
    draw_frames=_draw_frames,
    legend=(
        "Lines are moves, with north at the top as far as they agree on it, and up, down, in and out aslant. Where "
        "they lead both ways, the half next to a place is the way from there: solid if it was walked, dashed if it "
        "follows from its opposite, dotted if it is not known yet. The ring is where the question begins, the "
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
)
