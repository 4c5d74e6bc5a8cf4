"""Options of the choice of questions, and the choice."""

from collections.abc import Mapping
from typing import Any

from waybench.core import Option, Stream
from waybench.envs.textmap.map import DIFFICULTIES, Difficulty, PlaceMap
from waybench.envs.textmap.questions._choose import LONGEST, Kind, choose
from waybench.envs.textmap.questions._instance import LABELS, RELEASED_LABELS, MapQuestion
from waybench.envs.textmap.questions._map_environment import prefix_option, questions_option
from waybench.envs.textmap.worlds import Ask, World

WORLD_NAMES = ("plain", "ids")

QUESTION_OPTIONS = (
    prefix_option("Steps of the walkthrough that are shown; if not given, all of it."),
    questions_option("Questions about each world, which share the beginning of their prompts."),
    Option(
        name="difficulty",
        default="both",
        choices=("both", *DIFFICULTIES),
        doc="Easy questions, hard ones, or both in turn; a hard one needs a move that was never made.",
    ),
    Option(
        name="longest",
        default=None,
        kind=int,
        low=1,
        high=1_000,
        doc="Most moves of the path in a destination question; if not given, no limit up to level 5, and 12 from level "
        "6 on, where there are too many paths to sample from.",
    ),
    Option(
        name="names",
        default="plain",
        choices=WORLD_NAMES,
        doc="ids: the name of each place is followed by its number in the game, so that no two are confused.",
    ),
)

LABELS_OPTION = Option(
    name="labels",
    default=RELEASED_LABELS,
    choices=tuple(LABELS),
    doc="How routes are labelled easy or hard. released: as in the published data and program, easy if any path was "
    "walked in the steps shown. paper: as in Tables 5 to 8 (section 2.2), easy if a shortest path of the whole map "
    "consists of moves that are walked at some step. At step 70 the published maps have 12,438 easy and 2,344 hard "
    "routes with released, 11,314 and 3,468 with paper.",
)


_MANY_PATHS = 128  # places of the smallest worlds that have too many paths to count


def asker(kind: Kind) -> Ask[MapQuestion]:
    """Return the function that asks questions of a kind about a map."""

    def ask(
        place_map: PlaceMap, cutoff: int, count: int, stream: Stream, options: Mapping[str, Any], world: World | None
    ) -> list[MapQuestion]:
        longest: int | None = options["longest"]
        if longest is None and world is not None and len(world.places) >= _MANY_PATHS:
            longest = LONGEST
        difficulties: list[Difficulty] = [each for each in DIFFICULTIES if options["difficulty"] in ("both", each)]
        rule = LABELS[options.get("labels", RELEASED_LABELS)]
        return choose(place_map, kind, cutoff, count, stream, difficulties=difficulties, longest=longest, rule=rule)

    return ask
