"""Which questions about a map are asked: samples, easy and hard ones alternating, and their options."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Literal

from waybench.core import Option, Stream, UsageError
from waybench.envs.textmap.map import DIFFICULTIES, Difficulty, PlaceMap, Rule, cut
from waybench.envs.textmap.questions._instance import LABELS, RELEASED_LABELS, MapQuestion
from waybench.envs.textmap.questions._map_environment import prefix_option, questions_option
from waybench.envs.textmap.worlds import Ask, World

Kind = Literal["route", "destination"]

LONGEST = 12  # moves of a path in a destination question, where there are too many longer paths


def choose(
    place_map: PlaceMap,
    kind: Kind,
    cutoff: int,
    count: int,
    stream: Stream,
    *,
    difficulties: Sequence[Difficulty] = DIFFICULTIES,
    longest: int | None = None,
    rule: Rule = "released",
) -> list[MapQuestion]:
    """Sample questions that are answerable from the steps 0 to `cutoff`, uniformly within each difficulty.

    Easy and hard questions alternate while there are both. A sample of fewer questions is a prefix of a larger one.

    Args:
        place_map: The map.
        kind: Kind of question.
        cutoff: The last step that is shown.
        count: Most questions.
        stream: Random stream.
        difficulties: Difficulties to include.
        longest: Most moves of the path in a destination question.
        rule: How routes are labelled easy and hard; see `Rule`.

    Raises:
        UsageError: If the map has too many paths to sample from.
    """
    shown = cut(place_map, cutoff)
    word = stream.word()  # so that the sample of one difficulty does not depend on the other
    draw = _routes(shown, cutoff, rule) if kind == "route" else _destinations(shown, cutoff, longest)
    by_difficulty = [draw(difficulty, count, Stream("textmap/choose", word, difficulty)) for difficulty in difficulties]
    alternating = chain.from_iterable(zip_longest(*by_difficulty))
    return [question for question in alternating if question is not None][:count]


_Draw = Callable[[Difficulty, int, Stream], list[MapQuestion]]


def _routes(place_map: PlaceMap, cutoff: int, rule: Rule) -> _Draw:
    from waybench.envs.textmap.map import routes

    known = routes(place_map)

    def draw(difficulty: Difficulty, count: int, stream: Stream) -> list[MapQuestion]:
        pairs = known.pairs(difficulty, cutoff, rule)
        stream.shuffle(pairs)
        return [MapQuestion(place_map, cutoff, *known.pair(number), rule=rule) for number in pairs[:count]]

    return draw


def _destinations(place_map: PlaceMap, cutoff: int, longest: int | None) -> _Draw:
    from waybench.envs.textmap.map import Choice, Paths

    paths, moves = Paths(place_map, cutoff), place_map.edges

    def draw(difficulty: Difficulty, count: int, stream: Stream) -> list[MapQuestion]:
        try:
            sample = paths.sample(count, stream, Choice(difficulty=difficulty, longest=longest))
        except UsageError:  # no place is given, so the budget is the only cause
            hint = (
                "lower longest, the most moves of a path,"
                if longest
                else "set longest, the most moves of a path (12, say),"
            )
            raise UsageError(f"map {place_map.name}: too many simple paths to draw from: {hint} or show less") from None
        edges = [tuple([moves[number] for number in path]) for path in sample]
        return [MapQuestion(place_map, cutoff, path[0].source, path[-1].target, path) for path in edges]

    return draw


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
