"""The environment of extractions: the triplets of a walkthrough, and a search in their graph."""

from collections.abc import Mapping
from typing import Any

from waybench._package_data import read_text
from waybench.core import Limits, Option, Play, Players, Scoring, Stream
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
from waybench.envs.textmap.extract._measures import EXTRACT_FAILURES, METRICS, extract_failure, prove, turn_count
from waybench.envs.textmap.extract._wording import ExtractionWording
from waybench.envs.textmap.map import PlaceMap
from waybench.envs.textmap.questions import (
    LONGEST,
    PAPER,
    RULES,
    Trajectory,
    listed_names,
    lists_option,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap.worlds import World

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
    game = ExtractionRules(mode, before or ("told" if protocol == PAPER.name else "own"), RULES[protocol])
    return Play(game, words, Limits(turns=1), lambda task: turn_count(task, mode))


def _ask(
    place_map: PlaceMap, cutoff: int, count: int, stream: Stream, options: Mapping[str, Any], world: World | None
) -> list[Extraction]:
    return extractions(place_map, cutoff, count, stream, longest=int(options["longest"]))


EXTRACT = map_environment(
    "extract",
    title="Text maps: triplet extraction and search (MANGO)",
    about=read_text(__file__, "about.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    isomorph=renamed_extraction,
    sample_levels=(1, 2),
    ask=_ask,
    purpose=("textmap/extractions",),
    limit=(4, "Number of route questions for the graph of each walkthrough, and of destination questions."),
    is_one_item=True,
    decode=decode_extraction,
    resolve_references=resolve_extraction,
    prove=prove,
    scoring=Scoring(metrics=METRICS, failures=EXTRACT_FAILURES, failure=extract_failure),
    players=Players(policies=PLAYERS),
)
