"""The environment of extractions: the triplets of a walkthrough, and a search in their graph."""

from collections.abc import Mapping
from functools import lru_cache

from waybench._package_data import read_text
from waybench.core import EpisodeRecord, FailureKind, Json, Limits, Option, Play, Stream
from waybench.envs.textmap.extract._failures import EXTRACT_FAILURES, extract_failure
from waybench.envs.textmap.extract._game import BEFORE, MODES, PLAYERS, ExtractionRules, ExtractionState
from waybench.envs.textmap.extract._instance import (
    EXAMPLES,
    QUESTIONS,
    Extraction,
    decode_extraction,
    extractions,
    renamed_extraction,
    resolve_extraction,
)
from waybench.envs.textmap.extract._metrics import (
    METRICS,
    player_triplets,
    prove,
    recorded_extraction,
    scoring_rules,
    turn_count,
)
from waybench.envs.textmap.extract._wording import ExtractionWording
from waybench.envs.textmap.questions import (
    LONGEST,
    PAPER,
    Trajectory,
    listed_names,
    lists_option,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap.worlds import WorldItems, draw_world, last_shown_step, size_stream

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
    words = ExtractionWording(mode, listed_names(protocol, lists))
    game = ExtractionRules(mode, before or ("told" if protocol == PAPER.name else "own"), scoring_rules(protocol))
    return Play(game, words, Limits(turns=1), lambda task: turn_count(task, mode))


def _draw(key: str, level: int, options: Mapping[str, Json]) -> WorldItems[Extraction]:
    parameters = tuple(options.items())
    return WorldItems(
        key, level, 1, lambda world, extra: _world_extractions(key, level, parameters, world, extra), prove
    )


@lru_cache(maxsize=32)
def _world_extractions(
    key: str, level: int, options: tuple[tuple[str, Json], ...], index: int, extra: int
) -> list[Extraction]:
    """Return the extraction of a world of a set."""
    parameters = dict(options)
    place_map, _ = draw_world(key, level, parameters, index, extra, size_stream(key, level, index, extra))
    cutoff = last_shown_step(place_map, parameters["prefix_steps"])
    stream = Stream("textmap/extractions", key, level, index, extra)
    return extractions(place_map, cutoff, int(parameters["questions"]), stream, longest=int(parameters["longest"]))


def _failure(record: EpisodeRecord) -> FailureKind:
    return extract_failure(record, recorded_extraction(record), player_triplets(record))


EXTRACT = map_environment(
    "extract",
    title="Text maps: triplet extraction and search (MANGO)",
    about=read_text(__file__, "about.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    isomorph=renamed_extraction,
    sample_levels=(1, 2),
    make_source=_draw,
    ask=lambda place_map, cutoff, stream, parameters: extractions(
        place_map, cutoff, parameters["limit"], stream, longest=parameters["longest"]
    ),
    limit=(4, "Number of route questions for the graph of each walkthrough, and of destination questions."),
    items_per_limit=0,
    decode=decode_extraction,
    resolve_references=resolve_extraction,
    prove=prove,
    metrics=METRICS,
    failures=EXTRACT_FAILURES,
    failure=_failure,
    players=PLAYERS,
)
