"""Sets of questions about the project's own text worlds."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypedDict

from waybench.core import Json, Option, Stream
from waybench.envs.textmap.map import DIFFICULTIES, Difficulty, PlaceMap, Rule, with_ids
from waybench.envs.textmap.questions._choose import LONGEST, Kind, choose
from waybench.envs.textmap.questions._instance import LABELS, RELEASED_LABELS, MapQuestion
from waybench.envs.textmap.questions._one_answer import prefix_option, questions_option
from waybench.envs.textmap.worlds import WorldItems, draw_world, last_shown_step, size_stream

WORLD_NAMES = ("plain", "ids")

CutoffFunction = Callable[[PlaceMap], int]

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
        doc="Most moves of a path whose destination is asked for; if not given, any simple path can come up to level "
        "5, and from level 6 on, where there are too many to draw from, those of up to 12 moves.",
    ),
    Option(
        name="names",
        default="plain",
        choices=WORLD_NAMES,
        doc="ids: each place's name is followed by a machine's number for it, so that no two are confused.",
    ),
)

LABELS_OPTION = Option(
    name="labels",
    default=RELEASED_LABELS,
    choices=tuple(LABELS),
    doc="How routes are labelled easy and hard. released: as the published data and program do, easy if any way was "
    "walked in what is shown. paper: as Tables 5 to 8 count (section 2.2), easy if some shortest way of the whole map "
    "consists of moves that are made at some step; of the published maps at step 70, 11,314 easy and 3,468 hard routes "
    "in place of 12,438 and 2,344.",
)


_MANY_PATHS = 6  # the first level whose worlds can have more paths than anybody can count


class WorldQuestions(WorldItems[MapQuestion]):
    """Questions about worlds that are drawn by key, some about each.

    Args:
        key: The set's key.
        level: Size class: worlds of level k have 2 ** (k + 1) places up to twice as many.
        options: A value for each of `WORLD_OPTIONS` and `QUESTION_OPTIONS`.
        kind: What is asked for.
        prove: What is known of a question.
        cutoff: Map -> the last step that is shown; if None, the option `prefix_steps` says it.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(
        self,
        key: str,
        level: int,
        options: Mapping[str, Json],
        kind: Kind,
        prove: Callable[[MapQuestion], Mapping[str, Json]],
        cutoff: CutoffFunction | None = None,
    ) -> None:
        option_items = tuple(options.items())
        cutoff_function = cutoff or _by_steps(options["prefix_steps"])

        def make(world: int, extra: int) -> list[MapQuestion]:
            return _questions(key, level, option_items, kind, cutoff_function, world, extra)

        super().__init__(key, level, int(options["questions"]), make, prove)


@lru_cache(maxsize=32)
def _questions(
    key: str,
    level: int,
    options: tuple[tuple[str, Json], ...],
    kind: Kind,
    cutoff: CutoffFunction,
    world: int,
    extra: int,
) -> list[MapQuestion]:
    """Return the questions about one world of a set."""
    settings = dict(options)
    if settings["longest"] is None and level >= _MANY_PATHS:
        settings["longest"] = LONGEST
    place_map = world_map(key, level, settings, world, extra)
    stream = Stream("textmap/questions", kind, key, level, world, extra)
    return choose(place_map, kind, cutoff(place_map), int(settings["questions"]), stream, **question_filter(settings))


@lru_cache(maxsize=64)
def _by_steps(steps: int | None) -> CutoffFunction:
    def cutoff(place_map: PlaceMap) -> int:
        return last_shown_step(place_map, steps)

    return cutoff


class QuestionFilter(TypedDict):
    """What `choose` is told of the questions that are wanted.

    Attributes:
        difficulties: Which difficulties.
        longest: Most moves of a path whose destination is asked for.
        rule: How routes are labelled.
    """

    difficulties: tuple[Difficulty, ...]
    longest: int | None
    rule: Rule


def question_filter(options: Mapping[str, Json]) -> QuestionFilter:
    """Return what the options `difficulty`, `longest` and (of routes) `labels` say."""
    difficulties: tuple[Difficulty, ...] = tuple(
        difficulty for difficulty in DIFFICULTIES if options["difficulty"] in ("both", difficulty)
    )
    return {
        "difficulties": difficulties,
        "longest": options["longest"],
        "rule": LABELS[options.get("labels", RELEASED_LABELS)],
    }


def world_map(key: str, level: int, options: Mapping[str, Json], index: int, extra: int = 0) -> PlaceMap:
    """Return the map of a world of a set.

    Args:
        key: The set's key.
        level: Size class.
        options: A value for each of `WORLD_OPTIONS` and `QUESTION_OPTIONS`.
        index: Number of the world within the set.
        extra: Number of the further world that stands in for it; 0 for itself.
    """
    rng = size_stream(key, level, index, extra)
    place_map, world = draw_world(key, level, options, index, extra, rng)
    if options["names"] == "plain":
        return place_map
    numbers = list(range(1, 4 * len(world.places)))
    rng.shuffle(numbers)
    return with_ids(
        place_map, {place: f"obj{number}" for place, number in zip(place_map.places, numbers, strict=False)}
    )
