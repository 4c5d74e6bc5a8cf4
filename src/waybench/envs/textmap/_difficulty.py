"""Difficulty axes and explanatory variables of questions and maps."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables, Json, UsageError
from waybench.envs.textmap._instances import edit_distance
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import edge_labels, is_reached

# Place -> (action, place after, whether the move has to be inferred).
_Edges = Mapping[str, list[tuple[str, str, bool]]]
PATH_BUDGET = 3_000_000  # paths: about a second; the largest published map has 2.6 million
MOST_COMPARED = 1_000_000  # pairs of names; a few seconds at most
_FIRST_CHARACTER = 0x100000  # first of 65,534 private-use characters, more than the words of two names


def _path_length(record: EpisodeRecord) -> float | None:
    """Return the number of given moves, or of moves of a shortest path; None if there is no path."""
    actions = record.instance.get("actions")
    length = len(actions) if actions else record.proof["shortest"]
    return float(length) if length else None


def _count_inferred_moves(record: EpisodeRecord) -> float | None:
    """Return the number of inferred moves on the path of a hard question; None for another question."""
    if record.proof["difficulty"] != "hard":
        return None
    instance: Mapping[str, Json] = record.instance
    moves = _known_moves(instance)
    if instance.get("path") is None:
        count = _fewest_inferred_moves(moves, instance["src"], instance["dst"])
    else:
        count = _count_inferred_on_path(moves, instance["src"], instance)
    return float(count) if count else None


def _known_moves(instance: Mapping[str, Json]) -> _Edges:
    """Return the moves that a reader of the prefix can know, by the place where they start."""
    moves: dict[str, list[tuple[str, str, bool]]] = {}
    for source, target, action, forward, reverse, *_ in instance["map"]["edges"]:
        walked = is_reached(forward, instance["cutoff"])
        if walked or is_reached(reverse, instance["cutoff"]):
            moves.setdefault(source, []).append((action, target, not walked))
    return moves


def _count_inferred_on_path(moves: _Edges, place: str, instance: Mapping[str, Json]) -> int:
    """Return how many moves of the instance's path, which begins at `place`, have to be inferred."""
    count = 0
    for action, place_after in zip(instance["actions"], instance["path"], strict=True):
        count += (action, place_after, True) in moves.get(place, ())
        place = place_after
    return count


def _fewest_inferred_moves(moves: _Edges, start: str, end: str) -> int | None:
    """Return the least number of inferred moves of a shortest path; None if there is no path."""
    frontier, visited = {start: 0}, {start}  # place -> least number of inferred moves to it
    while frontier and end not in frontier:
        next_frontier: dict[str, int] = {}
        for place, count in frontier.items():
            for _, place_after, is_inferred in moves.get(place, ()):
                if place_after not in visited:
                    new_count = count + is_inferred
                    next_frontier[place_after] = min(next_frontier.get(place_after, new_count), new_count)
        visited |= next_frontier.keys()
        frontier = next_frontier
    return frontier.get(end)


AXES = (
    Axis(
        name="path_length",
        title="Path length",
        of=_path_length,
        doc="Moves of the given path, or of a shortest path on the whole map for a route question.",
    ),
    Axis(
        name="inferred",
        title="Inferred moves",
        of=_count_inferred_moves,
        doc="Moves that must be inferred from their opposites, on the given path or on a shortest path that the shown "
        "steps determine. Only hard questions.",
    ),
    Axis(
        name="prefix",
        title="Steps shown",
        of=lambda record: float(record.instance["cutoff"]),
        doc="Steps of the walkthrough shown.",
    ),
)

# What may make one question harder than another with a path of the same length.
ITEM_VARIABLES = (
    Axis(
        name="inferred_moves",
        title="Inferred moves",
        of=lambda record: 0.0 if record.proof["difficulty"] == "easy" else _count_inferred_moves(record),
        doc="Moves on the path that must be inferred from their opposites; 0 for an easy question.",
    ),
    Axis(
        name="first_answerable",
        title="First answerable at step",
        of=lambda record: float(record.proof["answerable_from"]) if record.proof["answerable"] else None,
        doc="The step of the walkthrough from which the question is answerable.",
    ),
    next(axis for axis in AXES if axis.name == "prefix"),
    Axis(
        name="places",
        title="Places",
        of=lambda record: float(len(record.instance["map"]["places"])),
        doc="Places of the whole map.",
    ),
    Axis(
        name="choices",
        title="Ways out of the start",
        of=lambda record: float(len(_known_moves(record.instance).get(record.instance["src"], ()))),
        doc="Known moves out of the place where the path starts.",
    ),
)


class MapVariables(NamedTuple):
    """The variables of Table 10 for the part of a map that is known at the cutoff.

    This part has the moves that are answerable (rule "released", see `Rule`) and the places at their ends.

    Attributes:
        locations: Number of places.
        explicit_edges: Number of moves that were made.
        imputed_edges: Number of moves that have to be inferred from their opposites.
        confusing_locations: Sum over the places of the distance to the farthest other name, which is the published
            confusion score (see `name_distance_and_similarity`); None if there are too many places to compare.
        alike_locations: Sum over the places of the similarity to the nearest other name; None as above.
        easy_length: Mean number of moves of easy simple paths; None if there is none, or if there are too many paths.
        hard_length: Mean number of moves of hard simple paths; None as above.
        imputed_in_hard: Mean number of inferred moves in hard simple paths; None as above.
        scene_words: Mean number of words of the observations that are shown; None if none is shown.
    """

    locations: int
    explicit_edges: int
    imputed_edges: int
    confusing_locations: float | None
    alike_locations: float | None
    easy_length: float | None
    hard_length: float | None
    imputed_in_hard: float | None
    scene_words: float | None


@lru_cache(maxsize=256)
def map_variables(place_map: PlaceMap, cutoff: int, *, budget: int = PATH_BUDGET) -> MapVariables:
    """Return the variables of a map for the steps up to a cutoff (cached).

    Variables that need more than `budget` paths to be enumerated are None.
    """
    labels = [(edge, edge_labels(edge)) for edge in place_map.edges]
    answerable = [(edge, label) for edge, label in labels if is_reached(label.answerable_from(), cutoff)]
    n_explicit = sum(is_reached(label.easy_from(), cutoff) for _, label in answerable)
    ends = {place for edge, _ in answerable for place in (edge.source, edge.target)}
    places = [place for place in place_map.places if place in ends]
    word_counts = [len(step.observation.split()) for step in place_map.steps if step.number <= cutoff]
    return MapVariables(
        len(places),
        n_explicit,
        len(answerable) - n_explicit,
        *_name_confusion_and_likeness(places),
        *_path_length_variables(place_map, cutoff, budget),
        fmean(word_counts) if word_counts else None,
    )


def name_distance_and_similarity(name: str, names: Iterable[str]) -> tuple[float, float]:
    """Return the distance of a place's name to the farthest other name, and its similarity to the nearest (0 to 1).

    `names` may have the name itself. The distance is the confusion score as MANGO prints it (section 3.3): the edit
    distance in words divided by the number of words of the longer name. It is great for a name that is *far* from some
    other name, and so nearly always 1: for 51 of the 53 published maps, the sum at step 70 is the number of places.
    The similarity is what the paper's words describe: 1 minus the same quotient, 2/3 for a name that differs from
    another name in one of three words, and 0 for a name that has no word in common with any other.
    """
    ratios = [_relative_word_distance(name.split(), other.split()) for other in names if other != name]
    return (max(ratios), 1 - min(ratios)) if ratios else (0.0, 0.0)


def _relative_word_distance(first_words: Sequence[str], second_words: Sequence[str]) -> float:
    """Return the edit distance in words divided by the words of the longer name; 0 if both have none."""
    # Encode each word as one character.
    words = dict.fromkeys((*first_words, *second_words))
    characters = {word: chr(_FIRST_CHARACTER + index) for index, word in enumerate(words)}
    first, second = ("".join(characters[word] for word in words) for words in (first_words, second_words))
    return edit_distance(first, second) / max(len(first), len(second), 1)


def _name_confusion_and_likeness(places: Collection[str]) -> tuple[float | None, float | None]:
    """Return the sums of distances and of similarities of all places' names; None if there are too many places."""
    if len(places) ** 2 > MOST_COMPARED:
        return None, None
    scores = [name_distance_and_similarity(place, places) for place in places]
    return sum(distance for distance, _ in scores), sum(similarity for _, similarity in scores)


def _path_length_variables(
    place_map: PlaceMap, cutoff: int, budget: int
) -> tuple[float | None, float | None, float | None]:
    """Return the mean lengths of easy and of hard paths, and the mean number of inferred moves in hard paths.

    Each is None where there is no such path; all are None if there are more paths than `budget`.
    """
    import numpy as np

    from waybench.envs.textmap._paths import Paths, PathSelection

    paths = Paths(place_map, cutoff, budget=budget)
    is_inferred = np.array([not is_reached(edge_labels(edge).easy_from(), cutoff) for edge in place_map.edges])
    try:
        easy, hard = paths.count_paths().lengths.tolist()  # for each length, the number of paths
        n_hard = sum(hard)
        blocks = paths.blocks(PathSelection(difficulty="hard")) if n_hard else ()
        n_inferred = sum(int(is_inferred[block.moves].sum()) for block in blocks)
    except UsageError:  # there are more paths than the budget allows
        return None, None, None
    return _mean_of_histogram(easy), _mean_of_histogram(hard), n_inferred / n_hard if n_hard else None


def _mean_of_histogram(counts: list[int]) -> float | None:
    """Return the mean of values of which `counts[value]` were observed; None if there are none."""
    return sum(length * count for length, count in enumerate(counts)) / sum(counts) if sum(counts) else None


def explanatory_variables(decode: Callable[[Json], MapQuestion]) -> ExplanatoryVariables:
    """Return the explanatory variables of the maps of an environment and of its questions, which `decode` reads."""

    def variables_of_map(record: EpisodeRecord) -> Mapping[str, float | None]:
        """Return the variables of the map of a record."""
        question = decode(record.instance)
        return map_variables(question.map, question.cutoff)._asdict()

    return ExplanatoryVariables(
        titles={
            "locations": "Places",
            "explicit_edges": "Explicit edges",
            "imputed_edges": "Imputed edges",
            "confusing_locations": "Confusion of names",
            "alike_locations": "Likeness of names",
            "easy_length": "Length of easy paths",
            "hard_length": "Length of hard paths",
            "imputed_in_hard": "Imputed in hard paths",
            "scene_words": "Words in a scene",
        },
        note=(
            "The confusion of names is MANGO's score as it is printed, a sum over places of how far the farthest other "
            "name is; it is nearly always the number of places. Their likeness is the sum of how near the nearest one "
            "is."
        ),
        # The variables of MANGO's Table 10, and the likeness of names, which the paper means but does not print.
        by_metric={
            "mango_success_easy": (
                *("locations", "explicit_edges", "confusing_locations", "alike_locations"),
                *("easy_length", "scene_words"),
            ),
            "mango_success_hard": (
                *("locations", "explicit_edges", "imputed_edges", "confusing_locations", "alike_locations"),
                *("hard_length", "imputed_in_hard", "scene_words"),
            ),
        },
        depends_on=lambda record: record.instance["cutoff"],
        of=variables_of_map,
        items=ITEM_VARIABLES,
    )
