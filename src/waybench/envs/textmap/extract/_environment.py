"""The environment of extractions: the triplets of a walkthrough, and a search in their graph."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from statistics import fmean

from waybench._package_data import read_text
from waybench.core import EpisodeRecord, FailureKind, Json, Limits, Metric, Option, Play, Stream
from waybench.envs.textmap.extract._failures import EXTRACT_FAILURES, extract_failure
from waybench.envs.textmap.extract._game import BEFORE, MODES, PLAYERS, Extracting, ExtractionRules
from waybench.envs.textmap.extract._instance import (
    EXAMPLES,
    QUESTIONS,
    Extraction,
    decode_extraction,
    extractions,
    named_extraction,
)
from waybench.envs.textmap.extract._triplet_graph import Answered, Result, Said, result, wanted
from waybench.envs.textmap.extract._wording import ExtractionWording
from waybench.envs.textmap.map import Of, share
from waybench.envs.textmap.questions import (
    LONGEST,
    PAPER,
    SOUND,
    Rules,
    Trajectory,
    listed_names,
    lists_option,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
    read_hops,
)
from waybench.envs.textmap.worlds import WorldItems, drawn_world, shown_steps, size_stream

OPTIONS = (
    protocol_option(
        '"paper": the search\'s answers are scored as in the paper, with credit for similar names; "sound": exact '
        "names."
    ),
    Option(name="wording", default="plain", choices=("plain",), doc="plain: our own words; the paper prints none."),
    Option(
        name="mode",
        default="steps",
        choices=MODES,
        doc="steps: a turn for each step after the first five, which are examples; whole: all steps in one answer, "
        "without examples.",
    ),
    Option(
        name="before",
        default=None,
        kind=str,
        choices=BEFORE,
        doc="In steps, the place that is named as the one before a step: told, the true one; own, where the player's "
        'last triplet ended; if not given, told in "paper", own in "sound".',
    ),
    lists_option(
        "The list of places: all of the map, or those seen by a reader of the prefix; if not given, all in "
        '"paper", seen in "sound".'
    ),
)
SOURCE_OPTIONS = (
    prefix_option("Steps of the walkthrough that are shown; if not given, all of it, up to 1,000.", low=EXAMPLES + 1),
    questions_option(
        "Questions for routes, and as many for destinations, that the graph is asked; easy and hard ones in turn.",
        default=QUESTIONS,
        high=100,
    ),
    Option(
        name="longest",
        default=LONGEST,
        low=1,
        high=1_000,
        doc="Most moves of a path whose destination is asked for; large maps have too many longer ones.",
    ),
)


def _rules(protocol: str) -> Rules:
    return PAPER if protocol == PAPER.name else SOUND


def _play(
    protocol: str, wording: str, mode: str, before: str | None, lists: str | None
) -> Play[Extraction, Extracting, Trajectory]:
    words = ExtractionWording(mode, listed_names(protocol, lists))
    game = ExtractionRules(mode, before or ("told" if protocol == PAPER.name else "own"), _rules(protocol))
    return Play(game, words, Limits(turns=1), lambda task: _turns(task, mode))


def _turns(task: Extraction, mode: str) -> int:
    return len(wanted(task, mode)) if mode == "steps" else 1


def _draw(key: str, level: int, options: Mapping[str, Json]) -> WorldItems[Extraction]:
    given = tuple(options.items())
    return WorldItems(key, level, 1, lambda world, extra: _of_world(key, level, given, world, extra), prove)


@lru_cache(maxsize=32)
def _of_world(key: str, level: int, options: tuple[tuple[str, Json], ...], index: int, extra: int) -> list[Extraction]:
    """Return the extraction of a world of a set."""
    given = dict(options)
    place_map, _ = drawn_world(key, level, given, index, extra, size_stream(key, level, index, extra))
    cutoff = shown_steps(place_map, given["prefix_steps"])
    stream = Stream("textmap/extractions", key, level, index, extra)
    return extractions(place_map, cutoff, int(given["questions"]), stream, longest=int(given["longest"]))


def prove(task: Extraction) -> dict[str, Json]:
    """Return what is known of an extraction.

    Returns:
        steps: steps that are shown;
        moves: how many of them lead to another place;
        questions: how many are asked of the graph;
        ceiling: success of the true triplets' graph by exact names.
    """
    best = result(task, task.truth, "whole", SOUND).success
    moves = sum(hop.before != hop.after for hop in task.truth)
    return {"steps": task.cutoff, "moves": moves, "questions": len(task.questions), "ceiling": best}


@lru_cache(maxsize=64)
def _task(text: str) -> Extraction:
    return decode_extraction(json.loads(text))


def _task_of(record: EpisodeRecord) -> Extraction:
    return _task(json.dumps(record.instance))


def _said(record: EpisodeRecord) -> Said:
    """Return a record's triplets; those that were put in the place of what was said count."""
    mode = record.options["mode"]
    said: Said = ()
    for turn in record.turns:
        taken = turn.action if turn.executed is None else turn.executed
        hops = () if taken is None else read_hops(taken)
        said += hops if mode == "whole" or len(hops) == 1 else (None,)
    return said


def _result(record: EpisodeRecord) -> Result:
    """Return what came of a record's triplets."""
    return result(_task_of(record), _said(record), record.options["mode"], _rules(record.options["protocol"]))


def _best(record: EpisodeRecord) -> float:
    task, mode = _task_of(record), record.options["mode"]
    return result(task, wanted(task, mode), mode, _rules(record.options["protocol"])).success


def _success(record: EpisodeRecord) -> float:
    return _result(record).success


def _among(fits: Callable[[Answered], bool]) -> Of:
    def of(record: EpisodeRecord) -> float | None:
        values = [each.success for each in _result(record).answered if fits(each)]
        return fmean(values) if values else None

    return of


def _parsed(record: EpisodeRecord) -> float:
    """Return the share of the turns that were asked for in which triplets could be read."""
    read = sum(turn.action is not None for turn in record.turns)
    return read / _turns(_task_of(record), record.options["mode"])


METRICS = (
    Metric(
        name="success",
        of=_success,
        title="Success",
        low=0,
        high=1,
        ceiling=_best,
        doc="Mean success of the answers that the search finds in the graph of the triplets and their opposites; 0 "
        "for a question that it cannot answer (section C.4).",
    ),
    share("ceiling", _best, "Ceiling", "Success with the true triplets.", better=""),
    share(
        "success_easy",
        _among(lambda each: each.difficulty == "easy"),
        "Success, easy",
        "The same of easy questions: all moves of some way, or of the given one, were made.",
    ),
    share(
        "success_hard",
        _among(lambda each: each.difficulty == "hard"),
        "Success, hard",
        "The same of hard questions: some move has to be inferred from its opposite.",
    ),
    share(
        "success_route",
        _among(lambda each: each.kind == "route"),
        "Success, routes",
        "The same of questions for a route.",
    ),
    share(
        "success_destination",
        _among(lambda each: each.kind == "destination"),
        "Success, destinations",
        "The same of questions for a destination.",
    ),
    share(
        "success_bare",
        lambda record: fmean(each.bare for each in _result(record).answered),
        "Success without opposites",
        "Success of the answers in the graph of the triplets alone.",
    ),
    share(
        "triplets",
        lambda record: _result(record).triplets,
        "Triplets",
        "Share of the steps that are asked for whose triplet is right.",
    ),
    share(
        "triplets_moving",
        lambda record: _result(record).moving,
        "Triplets, moves",
        "The same of the steps that lead to another place.",
    ),
    share("parsed", _parsed, "Parsed", "Share of the turns in which triplets could be read."),
    share(
        "precision",
        lambda record: _result(record).precision,
        "Edge precision",
        "Share of the graph's moves, opposites included, that are moves of the map; not defined if it has none.",
    ),
    share(
        "recall",
        lambda record: _result(record).recall,
        "Edge recall",
        "Share of the map's moves that were made or can be inferred in what was shown that the graph has.",
    ),
)


def _failure(record: EpisodeRecord) -> FailureKind:
    return extract_failure(record, _task_of(record), _said(record))


EXTRACT = map_environment(
    "extract",
    title="Text maps: triplet extraction and search (MANGO)",
    about=read_text(__file__, "about.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    sample_levels=(1, 2),
    draw_from=_draw,
    decode=decode_extraction,
    resolve_references=named_extraction,
    prove=prove,
    metrics=METRICS,
    failures=EXTRACT_FAILURES,
    failure=_failure,
    players=PLAYERS,
)
