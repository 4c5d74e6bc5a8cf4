"""The environment of extractions, with its metrics and failures."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from statistics import fmean

from waybench._package_data import read_text
from waybench.core import (
    NO_ANSWER,
    EpisodeRecord,
    FailureKind,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Scoring,
    general_failure_kind,
    most_frequent_kind,
    normalize_name,
)
from waybench.envs.textmap._answers import PAPER, RULES, SOUND, Hop, Trajectory, move_index
from waybench.envs.textmap._extraction_game import (
    BEFORE,
    MODES,
    PLAYERS,
    ExtractionRules,
    ExtractionState,
    ExtractionWording,
)
from waybench.envs.textmap._extraction_items import (
    EXAMPLES,
    QUESTIONS,
    Extraction,
    ExtractionResult,
    PlayerTriplets,
    QuestionResult,
    decode_extraction,
    expected_triplets,
    make_extractions,
    normalize_hop,
    rename_extraction,
    resolve_extraction,
    score_triplets,
)
from waybench.envs.textmap._game import read_hops
from waybench.envs.textmap._instances import MetricFunction, share_metric
from waybench.envs.textmap._map_environment import (
    LONGEST,
    lists_option,
    make_map_environment,
    prefix_option,
    protocol_option,
    questions_option,
    resolve_lists,
)
from waybench.envs.textmap._measures import NO_PLACE


def turn_count(task: Extraction, mode: str) -> int:
    """Return the number of turns of an episode: one for each step, or one in mode "whole"."""
    return len(expected_triplets(task, mode)) if mode == "steps" else 1


def prove(task: Extraction) -> dict[str, Json]:
    """Return the numbers of steps, moves and questions, and the success of the true triplets' graph by exact names."""
    ceiling = score_triplets(task, task.truth, "whole", SOUND).success
    n_moves = sum(hop.before != hop.after for hop in task.truth)
    return {"steps": task.cutoff, "moves": n_moves, "questions": len(task.questions), "ceiling": ceiling}


@lru_cache(maxsize=64)
def _cached_extraction(text: str) -> Extraction:
    """Return the extraction of a JSON text (cached)."""
    return decode_extraction(json.loads(text))


def recorded_extraction(record: EpisodeRecord) -> Extraction:
    """Return the extraction of a record."""
    return _cached_extraction(json.dumps(record.instance))


def recorded_triplets(record: EpisodeRecord) -> PlayerTriplets:
    """Return the triplets of a record as they were executed; None for each step without one."""
    mode = record.options["mode"]
    triplets: PlayerTriplets = ()
    for turn in record.turns:
        action = turn.carried_out
        hops = () if action is None else read_hops(action)
        triplets += hops if mode == "whole" or len(hops) == 1 else (None,)
    return triplets


def _score_record(record: EpisodeRecord) -> ExtractionResult:
    """Score the triplets of a record by its mode and protocol."""
    return score_triplets(
        recorded_extraction(record),
        recorded_triplets(record),
        record.options["mode"],
        RULES[record.options["protocol"]],
    )


def _best_success(record: EpisodeRecord) -> float:
    """Return the success with the true triplets."""
    task, mode = recorded_extraction(record), record.options["mode"]
    return score_triplets(task, expected_triplets(task, mode), mode, RULES[record.options["protocol"]]).success


def _mean_success_metric(is_included: Callable[[QuestionResult], bool]) -> MetricFunction:
    """Return the function of a record that gives the mean success of the included questions; None without any."""

    def mean_success(record: EpisodeRecord) -> float | None:
        values = [question.success for question in _score_record(record).questions if is_included(question)]
        return fmean(values) if values else None

    return mean_success


def _share_of_turns_parsed(record: EpisodeRecord) -> float:
    """Return the share of expected turns with readable triplets, without turns of a shared prefix."""
    n_readable = sum(turn.action is not None for turn in record.own_turns)
    n_prefix_turns = len(record.turns) - len(record.own_turns)
    return n_readable / (turn_count(recorded_extraction(record), record.options["mode"]) - n_prefix_turns)


METRICS = (
    Metric(
        name="success",
        of=lambda record: _score_record(record).success,
        title="Success",
        low=0,
        high=1,
        ceiling=_best_success,
        doc="Mean success of the answers that the search finds in the graph of the triplets and their opposites; 0 "
        "for a question that it cannot answer (section C.4).",
    ),
    share_metric("ceiling", _best_success, "Ceiling", "Success with the true triplets.", better=""),
    share_metric(
        "success_easy",
        _mean_success_metric(lambda question: question.difficulty == "easy"),
        "Success, easy",
        "Success on easy questions: the walkthrough makes all moves of a path (or of the given path).",
    ),
    share_metric(
        "success_hard",
        _mean_success_metric(lambda question: question.difficulty == "hard"),
        "Success, hard",
        "Success on hard questions: some move must be inferred from its opposite.",
    ),
    share_metric(
        "success_route",
        _mean_success_metric(lambda question: question.kind == "route"),
        "Success, routes",
        "Success on route questions.",
    ),
    share_metric(
        "success_destination",
        _mean_success_metric(lambda question: question.kind == "destination"),
        "Success, destinations",
        "Success on destination questions.",
    ),
    share_metric(
        "success_bare",
        lambda record: fmean(question.success_without_opposites for question in _score_record(record).questions),
        "Success without opposites",
        "Success of the answers in the graph of the triplets alone.",
    ),
    share_metric(
        "triplets",
        lambda record: _score_record(record).triplets,
        "Triplets",
        "Share of the expected steps with the right triplet.",
    ),
    share_metric(
        "triplets_moving",
        lambda record: _score_record(record).moving,
        "Triplets, moves",
        "The same for steps that lead to another place.",
    ),
    share_metric("parsed", _share_of_turns_parsed, "Parsed", "Share of turns with readable triplets."),
    share_metric(
        "precision",
        lambda record: _score_record(record).precision,
        "Edge precision",
        "Share of the graph's moves, opposites included, that are moves of the map; undefined if it has none.",
    ),
    share_metric(
        "recall",
        lambda record: _score_record(record).recall,
        "Edge recall",
        "Share of the moves known from the steps shown (made or inferred from an opposite) that the graph has.",
    ),
)


STAYING = FailureKind("staying", "moves not recognised", "Most wrong triplets say that a step leads nowhere.")
WRONG_TRIPLET = FailureKind("wrong_triplet", "wrong triplets", "Most wrong triplets lead from or to a wrong place.")
MISSING = FailureKind("missing", "missing triplets", "Most steps without the right triplet have no triplet.")
CEILING = FailureKind(
    "ceiling",
    "questions that right triplets do not answer",
    "All triplets are right, but the graph does not answer every question.",
)
EXTRACT_FAILURES = (NO_PLACE, STAYING, WRONG_TRIPLET, MISSING, CEILING)


def extraction_failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent error of the triplets; `CEILING` if all are right."""
    general_kind = general_failure_kind(record)
    if general_kind in NO_ANSWER:
        return general_kind
    errors = _triplet_errors(recorded_extraction(record), recorded_triplets(record), record.options["mode"])
    return most_frequent_kind(errors, EXTRACT_FAILURES) or CEILING


def _triplet_errors(task: Extraction, triplets: PlayerTriplets, mode: str) -> Iterator[FailureKind]:
    """Yield the kind of each wrong or missing triplet."""
    truth = expected_triplets(task, mode)
    if mode == "steps":
        pairs = zip(truth, (*triplets, *[None] * (len(truth) - len(triplets))), strict=True)
        wrong_hops = [hop for true_hop, hop in pairs if hop is None or normalize_hop(hop) != normalize_hop(true_hop)]
    else:
        # A missing triplet must not make all that follow wrong.
        remaining = Counter(map(normalize_hop, truth))
        wrong_hops = list[Hop | None]()
        for hop in triplets:
            if hop is None:
                continue
            names = normalize_hop(hop)
            if remaining[names] > 0:
                remaining[names] -= 1
            else:
                wrong_hops.append(hop)
        wrong_hops += [None] * (remaining.total() - len(wrong_hops))
    index = move_index(task.map)
    for hop in wrong_hops:
        if hop is None:
            yield MISSING
        elif index.find_place(hop.before) is None or index.find_place(hop.after) is None:
            yield NO_PLACE
        else:
            yield STAYING if normalize_name(hop.before) == normalize_name(hop.after) else WRONG_TRIPLET


OPTIONS = (
    protocol_option(
        '"paper": the search\'s answers are scored as in the paper, with credit for similar names; "sound": exact '
        "names."
    ),
    Option(
        name="wording",
        default="plain",
        choices=("plain",),
        doc="plain: our own prompt; the paper does not print its prompt.",
    ),
    Option(
        name="mode",
        default="steps",
        choices=MODES,
        doc="steps: one turn per step after the first five, which are examples; whole: all steps in one answer, "
        "without examples.",
    ),
    Option(
        name="before",
        default=None,
        kind=str,
        choices=BEFORE,
        doc="With mode=steps, the place that the prompt gives as the place before a step. told: the true one; own: the "
        'end of the player\'s last triplet. By default told in "paper" and own in "sound".',
    ),
    lists_option(
        "List of places in the prompt: all places of the map, or those seen in the prefix; by default all in "
        '"paper" and seen in "sound".'
    ),
)
SOURCE_OPTIONS = (
    prefix_option("Steps of the walkthrough to show; by default all, up to 1,000.", low=EXAMPLES + 1),
    questions_option(
        "Number of route questions for the graph, and of destination questions; easy and hard ones alternate.",
        default=QUESTIONS,
        high=100,
    ),
    Option(
        name="longest",
        default=LONGEST,
        low=1,
        high=1_000,
        doc="Maximum moves of the path in a destination question; large maps have too many longer paths.",
    ),
)


def _play(
    protocol: str, wording: str, mode: str, before: str | None, lists: str | None
) -> Play[Extraction, ExtractionState, Trajectory]:
    """Return the rules and the wording of an episode by the options."""
    extraction_wording = ExtractionWording(mode, resolve_lists(protocol, lists))
    game = ExtractionRules(mode, before or ("told" if protocol == PAPER.name else "own"), RULES[protocol])
    turns = partial(turn_count, mode=mode) if mode == "steps" else None
    return Play(game, extraction_wording, Limits(turns=1), turns)


EXTRACT = make_map_environment(
    "extract",
    version=2,  # the true triplets solve an episode
    title="Text maps: triplet extraction and search (MANGO)",
    about=read_text(__file__, "extraction.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    isomorph=rename_extraction,
    sample_levels=(1, 2),
    ask=lambda place_map, cutoff, count, stream, options, world: make_extractions(
        place_map, cutoff, count, stream, longest=int(options["longest"])
    ),
    purpose=("textmap/extractions",),
    limit=(4, "Number of route questions for the graph of each walkthrough, and of destination questions."),
    is_one_item=True,
    decode=decode_extraction,
    resolve_references=resolve_extraction,
    prove=prove,
    scoring=Scoring(metrics=METRICS, failures=EXTRACT_FAILURES, failure=extraction_failure),
    players=Players(policies=PLAYERS),
)
