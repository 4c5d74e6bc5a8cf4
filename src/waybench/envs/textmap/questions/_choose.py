"""Samples the questions about a map, easy and hard ones alternating.

Modules that count paths are imported when they are needed, since they import numpy.
"""

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import Literal

from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import DIFFICULTIES, Difficulty, PlaceMap, Rule, cut
from waybench.envs.textmap.questions._instance import MapQuestion

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
