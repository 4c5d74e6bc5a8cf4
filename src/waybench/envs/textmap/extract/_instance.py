"""Extractions: a walkthrough to write as triplets, and questions for their graph (MANGO, section C.4)."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from waybench.core import DataError, Json, Stream, UsageError, check_fields, is_array, is_object
from waybench.envs.textmap.map import (
    PUBLISHED_STEPS,
    Locate,
    MapInstance,
    PlaceMap,
    cut,
    normalize_action,
    read_map,
    read_number,
    resolve_game,
    track,
)
from waybench.envs.textmap.questions import (
    LONGEST,
    MOST_HOPS,
    Hop,
    MapQuestion,
    Trajectory,
    choose,
    destination_on,
    places_renamed,
    renamed_question,
    route_on,
)

VERSION = 1  # of the questions that are sampled by default
EXAMPLES = 5  # steps whose triplets are shown
LEAST_CUTOFF = EXAMPLES + 1
QUESTIONS, MOST_QUESTIONS = 4, 1_000


@dataclass(frozen=True, slots=True)
class Extraction(MapInstance):
    """A walkthrough whose steps the player writes as triplets.

    Attributes:
        questions: Questions for the graph of the triplets, with the same map and cutoff.
    """

    questions: tuple[MapQuestion, ...] = field(hash=False)  # each would hash the whole map again

    @property
    def truth(self) -> Trajectory:
        """The triplet of each step from 1 on: place before, action, place after; the same place if nothing changes."""
        return true_triplets(self.map, self.cutoff)

    def question_json(self) -> dict[str, Json]:
        """Return the extraction as JSON, without the map."""
        return {"cutoff": self.cutoff, "questions": [question.ends_json() for question in self.questions]}


def renamed_extraction(extraction: Extraction, key: str, number: int) -> Extraction:
    """Return an isomorphic extraction: with new names for all places, in the walkthrough and in the questions, too.

    Args:
        extraction: The extraction.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    questions = tuple(renamed_question(question, key, number) for question in extraction.questions)
    return replace(extraction, map=places_renamed(extraction, key, number).map(extraction.map), questions=questions)


@lru_cache(maxsize=64)
def true_triplets(place_map: PlaceMap, cutoff: int) -> Trajectory:
    """Return the triplets of the steps from 1 to `cutoff`.

    Raises:
        UsageError: If the place of the player is unknown.
    """
    places = track(place_map, cutoff)
    return tuple(
        Hop(places[number - 1], normalize_action(place_map.steps[number].action), places[number])
        for number in range(1, cutoff + 1)
    )


def extractions(
    place_map: PlaceMap,
    cutoff: int,
    questions: int,
    stream: Stream,
    *,
    longest: int = LONGEST,
) -> list[Extraction]:
    """Return the extraction of a map's walkthrough; empty if the prefix is too short for any question.

    Args:
        place_map: The map.
        cutoff: The last step that is shown; at most 70 for a published map, which has no positions after that.
        questions: Most route questions, and most destination questions; easy and hard ones alternate.
        stream: Random stream.
        longest: Most moves of the path in a destination question.

    Raises:
        UsageError: If the map has too many paths to sample from.
    """
    cutoff = min(cutoff, place_map.last_step, MOST_HOPS)
    shown = cut(place_map, cutoff)
    if cutoff < LEAST_CUTOFF or not any(edge.forward <= cutoff for edge in place_map.edges):
        return []
    chosen = choose(shown, "route", cutoff, questions, stream)
    chosen += choose(shown, "destination", cutoff, questions, stream, longest=longest)
    return [Extraction(shown, cutoff, tuple(chosen))] if chosen else []


def decode_extraction(data: Json) -> Extraction:
    """Read an extraction. "questions" is optional; by default, they are sampled.

    Raises:
        DataError: If it is invalid; the message names the field.
    """
    if not is_object(data):
        raise DataError('instance: give an extraction, {"map": {...}, "cutoff": 70, "questions": [{"src": ...}, ...]}')
    check_fields(data, ("map", "game", "cutoff", "questions"))
    whole = read_map(data)
    if whole.last_step < LEAST_CUTOFF:
        raise DataError(
            f"map: steps: the walkthrough ends at step {whole.last_step}; give one of {LEAST_CUTOFF} or more"
        )
    shown = read_number(data, "cutoff", LEAST_CUTOFF, MOST_HOPS, "the last step shown")
    cutoff = min(shown, whole.last_step)
    place_map = cut(whole, cutoff)
    try:
        true_triplets(place_map, cutoff)
        if "questions" not in data:
            return _draw_extraction(place_map, cutoff)
    except UsageError as error:
        raise DataError(ascii(str(error))[1:-1][:500]) from None
    rows = data["questions"]
    if not is_array(rows) or not 1 <= len(rows) <= MOST_QUESTIONS:
        raise DataError(f"questions: give a list of 1 to {MOST_QUESTIONS}")
    questions = [_question(place_map, cutoff, row, number) for number, row in enumerate(rows)]
    return Extraction(place_map, cutoff, tuple(questions))


def _draw_extraction(place_map: PlaceMap, cutoff: int) -> Extraction:
    stream = Stream("textmap/extract", VERSION, place_map.name, place_map.steps[0].observation, cutoff)
    drawn_extractions = extractions(place_map, cutoff, QUESTIONS, stream)
    if not drawn_extractions:
        raise DataError("cutoff: the walkthrough up to this step has no answerable question; show more of it")
    return drawn_extractions[0]


def _question(place_map: PlaceMap, cutoff: int, data: Json, number: int) -> MapQuestion:
    where = f"questions: record {number}"
    if not is_object(data):
        raise DataError(f'{where}: give {{"src": ..., "dst": ...}}, or {{"src": ..., "actions": [...]}}')
    for name in ("map", "game", "cutoff"):
        if name in data:
            raise DataError(f"{where}: {name} belongs beside the questions")
    try:
        question = (destination_on if "actions" in data else route_on)(place_map, cutoff, data)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    if question.labels.difficulty(cutoff) is None:
        raise DataError(f"{where}: the question cannot be answered from the steps shown")
    return question


def resolve_extraction(data: Json, locate: Locate) -> Json:
    """Replace the name of a published game in an extraction by its map.

    Args:
        data: An extraction with "game", such as "zork1"; one that has a map is returned unchanged.
        locate: (data set, file) -> path.

    Raises:
        DataError: If the name of the game is invalid, or the place at the cutoff is unknown.
        UsageError: If its files are missing.
    """
    if is_object(data) and "game" in data and "map" not in data:
        read_number(data, "cutoff", LEAST_CUTOFF, PUBLISHED_STEPS, "the last step shown")
    return resolve_game(data, locate)
