"""Metrics of route and destination questions (MANGO, sections 2.3, A.6, B.2 and C.1), failures and first errors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from waybench.core import (
    CONTEXT_TOKENS,
    LANGUAGE,
    NO_ANSWER,
    TEMPLATE,
    EpisodeRecord,
    FailureKind,
    FirstErrors,
    Json,
    Metric,
    Step,
    base_wording_name,
    general_failure_kind,
    has_images,
    unread_reply_kind,
)
from waybench.envs.textmap._answers import RULES, SOUND, Hop, Trajectory, move_index
from waybench.envs.textmap._frame import GAME
from waybench.envs.textmap._game import read_hops
from waybench.envs.textmap._instances import MetricFunction, last_event, share_metric
from waybench.envs.textmap._items import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap._prefix import DIFFICULTIES
from waybench.envs.textmap._wording import question_text, template_in_language


def is_parsed(record: EpisodeRecord) -> float:
    """Return 1 or 0: whether the answer could be read."""
    return float(last_event(record, "success") is not None)


def _event_score_metric(name: str) -> MetricFunction:
    """Return a function of a record: an event value; 0 without a readable answer, None for an unanswerable route."""

    def event_score(record: EpisodeRecord) -> float | None:
        """Return the event's value in a record."""
        value = last_event(record, name)
        if value is None:
            return 0.0
        if not record.proof["answerable"] and "path" not in record.instance:
            return None  # no path can be known from the prefix, so no answer is right or wrong
        return float(value)

    return event_score


success = _event_score_metric("success")


def success_weighted_by_path_length(record: EpisodeRecord) -> float | None:
    """Return success × l / max(l, p): l moves of a shortest or the given path, p moves answered.

    None for an unanswerable route, as for `success`.
    """
    value = success(record)
    return value * last_event(record, "weight") if value else value


def strict_success(record: EpisodeRecord) -> float:
    """Return the success by the rules "sound"; 0 if the answer could not be read."""
    return float(last_event(record, "strict") or 0)


def _is_answerable(record: EpisodeRecord) -> float:
    """Return 1 or 0: whether the question can be answered from the steps shown, so that it counts."""
    return float(record.proof["answerable"])


def _is_readable_and_answerable(record: EpisodeRecord) -> float:
    """Return 1 or 0: whether the answer could be read and the question can be answered."""
    return _is_answerable(record) and is_parsed(record)


def _restrict_to_difficulty(compute: MetricFunction, difficulty: str) -> MetricFunction:
    """Return a metric that is None for questions of another difficulty."""
    return lambda record: compute(record) if record.proof["difficulty"] == difficulty else None


def _difficulty_number(record: EpisodeRecord) -> float | None:
    """Return 0 for an easy and 1 for a hard question; None if it cannot be answered."""
    difficulty = record.proof["difficulty"]
    return None if difficulty is None else float(DIFFICULTIES.index(difficulty))


def _invented_share(record: EpisodeRecord) -> float | None:
    """Return the share of an answer's moves that are not on the map; None without a readable answer."""
    moves = last_event(record, "moves")
    return last_event(record, "invented") / moves if moves else None


def _shared_prefix_share(record: EpisodeRecord) -> float | None:
    """Return the share of the prompt's characters that all questions about the same prefix begin with.

    None where the prompt is a template or in a language of the user's, which can have the question anywhere, or has a
    picture, another frame than the game's, or text around it.
    """
    template = template_in_language(record.options.get(LANGUAGE, "en"), base_wording_name(record.options))
    if template is None or TEMPLATE in record.options or has_images(record.options):
        return None
    if CONTEXT_TOKENS in record.options or record.options.get("frame", GAME) != GAME:
        return None
    n_prompt_characters = sum(len(message.text) for message in record.opening)
    n_question_characters = len(question_text(template, _RecordedQuestion(record)))
    return 1 - n_question_characters / n_prompt_characters if n_prompt_characters else 0.0


class _RecordedQuestion:
    """The question of a record, without its map."""

    def __init__(self, record: EpisodeRecord) -> None:
        self.source: str = record.instance["src"]
        self.target: str = record.instance["dst"]
        self.actions: tuple[str, ...] = tuple(record.instance.get("actions", ()))


def _over_readable_answers(metric: Metric) -> Metric:
    """Return a metric over readable answers only, as MANGO publishes it (section B.2)."""

    def value_if_readable(record: EpisodeRecord) -> float | None:
        return metric.of(record) if is_parsed(record) else None

    return replace(
        metric,
        name=f"mango_{metric.name}",
        of=value_if_readable,
        title=f"{metric.title} (MANGO)",
        per=None if metric.per is None else _is_readable_and_answerable,
        doc=f"{metric.name} over readable answers only, which is what the paper publishes (section B.2).",
        left_out=LEFT_OUT.name,
    )


def _metrics_by_difficulty(
    name: str, compute: MetricFunction, title: str, doc: str, source: str = ""
) -> tuple[Metric, ...]:
    """Return a metric over all questions, over easy and over hard ones."""
    return (
        Metric(name=name, of=compute, title=title, low=0, high=1, per=_is_answerable, doc=doc),
        *(
            share_metric(
                f"{name}_{difficulty}",
                _restrict_to_difficulty(compute, difficulty),
                f"{title}, {difficulty}",
                f"The same for {difficulty} questions: {_MEANING[difficulty]}{source}.",
            )
            for difficulty in DIFFICULTIES
        ),
    )


_MEANING = {
    "easy": "the shown steps make all moves of a path (or of the given path)",
    "hard": "some move must be inferred from its opposite",
}

LEFT_OUT = share_metric(
    "mango_left_out",
    lambda record: 1 - is_parsed(record),
    "Left out (MANGO)",
    "Whether the answer is unreadable, so that the paper's numbers leave it out.",
    better="lower",
)

_COUNTED = (
    *_metrics_by_difficulty(
        "success",
        success,
        "Success",
        "For a route, whether the moves answered lead to the destination; for a destination, in "
        '"paper" the similarity of the place answered to the right one (1 - edit distance / longer length), in "sound" '
        "whether it is the right one. An unreadable answer has 0. Questions that cannot be answered from the steps "
        "shown are excluded.",
    ),
    *_metrics_by_difficulty(
        "spl",
        success_weighted_by_path_length,
        "SPL",
        "Success weighted by path length, l / max(l, p): l moves of a shortest way or of the given path, p moves "
        "answered (section C.1, after Anderson et al. 2018). The shortest path is that of the whole map, so a short "
        "prefix limits the mean below 1: at most .97 after 15 steps of a generated world.",
        " (Figure 5)",
    ),
    *_metrics_by_difficulty(
        "reasoning",
        _event_score_metric("reasoning"),
        "Reasoning",
        "Whether the trajectory is right from place to place (section A.6): it starts at the source and follows moves "
        "of the map without gaps; a route must end at the destination, and a destination answer must use the given "
        "moves.",
    ),
)

METRICS = (
    *_COUNTED,
    *map(_over_readable_answers, _COUNTED),
    LEFT_OUT,
    share_metric("parsed", is_parsed, "Parsed", "Whether the answer is readable."),
    share_metric(
        "answerable",
        _is_answerable,
        "Answerable",
        "Whether the question can be answered from the steps shown.",
        better="",
    ),
    share_metric(
        "difficulty",
        _difficulty_number,
        "Difficulty",
        "0 for an easy question, 1 for a hard one, so the mean is the share of hard questions; undefined if the "
        "question cannot be answered.",
        better="",
        labels=DIFFICULTIES,
    ),
    share_metric(
        "strict",
        strict_success,
        "Exact success",
        'Success by the rules of "sound": exact names, no closest move, no credit for similar names, and 0 for '
        "unreadable answers.",
    ),
    share_metric(
        "invented",
        _invented_share,
        "Invented moves",
        "Share of an answer's moves that are not on the map: wrong places, actions, or both.",
        better="lower",
    ),
    share_metric(
        "shared",
        _shared_prefix_share,
        "Shared prefix",
        "Share of the prompt's characters that all questions about the same prefix share at the start, which a "
        "provider can cache.",
        better="",
    ),
)


def prove(question: MapQuestion) -> dict[str, Json]:
    """Return the facts about a question.

    They are whether it is answerable from the prefix; its difficulty, None if it is not; the steps from which it is
    answerable and easy, 9999 for never; and the moves of a shortest path on the whole map, None if there is none.
    """
    difficulty = question.difficulty
    return {
        "answerable": difficulty is not None,
        "difficulty": difficulty,
        "answerable_from": question.answerable_from,
        "easy_from": question.easy_from,
        "shortest": question.shortest,
    }


UNANSWERABLE = FailureKind(
    "unanswerable",
    "questions without an answer",
    "The question cannot be answered from the steps shown; it is excluded from all scores.",
)
NO_MOVE = FailureKind("no_move", "moves that are not on the map", "A move of the route cannot be made there.")
NO_PLACE = FailureKind("no_place", "places that do not exist", "The answer names a place that is not on the map.")
PASSED = FailureKind("passed", "routes past the destination", "The route reaches the destination and then continues.")
SHORT = FailureKind(
    "stops_short", "stopping short", "The answer follows the right path but ends before the destination."
)
ELSEWHERE = FailureKind("elsewhere", "ending at a wrong place", "The answer ends at another place of the map.")

ROUTE_FAILURES = (UNANSWERABLE, NO_MOVE, PASSED, SHORT, ELSEWHERE)
DESTINATION_FAILURES = (UNANSWERABLE, NO_PLACE, SHORT, ELSEWHERE)


def _make_failure_function(
    classify: Callable[[MapQuestion, Trajectory, EpisodeRecord], FailureKind], decode: Callable[[Json], MapQuestion]
) -> Callable[[EpisodeRecord], FailureKind]:
    """Return a function from a record to its failure; `classify` judges answers to answerable questions."""

    def failure_of_record(record: EpisodeRecord) -> FailureKind:
        """Return the kind of a record's failure."""
        general_kind = general_failure_kind(record)
        if general_kind in NO_ANSWER or not record.turns or record.turns[-1].action is None:
            return general_kind
        if not record.proof["answerable"]:
            return UNANSWERABLE
        return classify(decode(record.instance), read_hops(record.turns[-1].action), record)

    return failure_of_record


def _classify_route(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    """Return why the route of an answer fails."""
    index = move_index(question.map)
    rules = RULES[record.options["protocol"]]
    actions = [hop.action for hop in hops]
    places_after_moves = [
        index.places_after_actions(question.source, actions[:count], rules) for count in range(1, len(actions) + 1)
    ]
    if not places_after_moves[-1]:
        return NO_MOVE
    if any(question.target in places for places in places_after_moves):
        return PASSED
    shortest, routes = question.shortest, question.routes
    remaining_lengths = [routes.shortest(place, question.target) for place in places_after_moves[-1]]
    # A right beginning is as much nearer to the destination as it has moves.
    return SHORT if shortest is not None and shortest - len(hops) in remaining_lengths else ELSEWHERE


def _classify_destination(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    """Return why the place of an answer is wrong."""
    place = move_index(question.map).find_place(hops[-1].after)
    if place is None:
        return NO_PLACE
    return SHORT if place in (question.source, *(edge.target for edge in question.path[:-1])) else ELSEWHERE


route_failure = _make_failure_function(_classify_route, decode_route)
destination_failure = _make_failure_function(_classify_destination, decode_destination)


NO_MOVE_ERROR = FailureKind("no_move", "moves that are not on the map", "The move cannot be made there.")
DETOUR = FailureKind("direction", "moves off the shortest routes", "The move leads away from the destination.")
NO_PLACE_ERROR = FailureKind("no_place", "places that do not exist", "The place is not on the map.")
LOST = FailureKind("lost", "wrong places on the way", "The place is not the one that the moves so far lead to.")
STOPPED = FailureKind("stopped", "stopping short", "The answer ends before the destination.")


def _route_errors(question: MapQuestion, hops: Sequence[Hop], record: EpisodeRecord) -> Iterator[FailureKind | None]:
    """Yield the error of each move of a route (None: right) up to one that cannot be made; at last, `STOPPED`."""
    index, routes = move_index(question.map), question.routes
    rules = RULES[record.options["protocol"]]
    shortest = question.shortest or 0
    for count in range(1, len(hops) + 1):
        places = index.places_after_actions(question.source, [hop.action for hop in hops[:count]], rules)
        if not places:
            yield NO_MOVE_ERROR
            return
        remaining_lengths = [
            0 if place == question.target else routes.shortest(place, question.target) for place in places
        ]
        yield None if shortest - count in remaining_lengths else DETOUR
    yield STOPPED


def _destination_errors(
    question: MapQuestion, hops: Sequence[Hop], record: EpisodeRecord
) -> Iterator[FailureKind | None]:
    """Yield the error of each move of an answer (None: right); at last, `STOPPED`."""
    index = move_index(question.map)
    for count, hop in enumerate(hops, start=1):
        place = index.find_place(hop.after)
        right_places = index.places_after_actions(question.source, question.actions[:count], SOUND)
        if place is None:
            yield NO_PLACE_ERROR
        else:
            yield None if place in right_places else LOST
    yield STOPPED


def _make_steps_function(
    move_errors: Callable[[MapQuestion, Sequence[Hop], EpisodeRecord], Iterator[FailureKind | None]],
    decode: Callable[[Json], MapQuestion],
) -> Callable[[EpisodeRecord], Iterator[Step]]:
    """Return a function that yields the moves of a record's answer with their errors, by `move_errors`."""

    def steps_of_answer(record: EpisodeRecord) -> Iterator[Step]:
        """Yield the moves of a record's answer; nothing for an unanswerable question, one error for an unread reply."""
        if not record.turns or not record.proof["answerable"]:
            return
        number = len(record.turns) - 1
        action = record.turns[number].action
        if action is None:
            yield Step(number, unread_reply_kind(record.turns[number]))
            return
        for error in move_errors(decode(record.instance), read_hops(action), record):
            yield Step(number, error)

    return steps_of_answer


ROUTE_ERRORS = FirstErrors((DETOUR, NO_MOVE_ERROR, STOPPED), _make_steps_function(_route_errors, decode_route))
DESTINATION_ERRORS = FirstErrors(
    (LOST, NO_PLACE_ERROR, STOPPED), _make_steps_function(_destination_errors, decode_destination)
)
