"""The environment of minigames: what is the next action of a walkthrough?"""

from collections.abc import Mapping
from typing import Any

from waybench._package_data import read_text
from waybench.core import AnswerState, Limits, Option, Play, Players, Scoring, Stream
from waybench.envs.textmap.map import PlaceMap
from waybench.envs.textmap.minigame._game import (
    CHOICES,
    MOVES,
    PLAYERS,
    Minigame,
    MinigameRules,
    decode_minigame,
    minigames,
    resolve_minigame,
)
from waybench.envs.textmap.minigame._measures import METRICS, MINIGAME_FAILURES, minigame_failure, prove
from waybench.envs.textmap.minigame._wording import FORMS, PRINTED, MinigameWording
from waybench.envs.textmap.questions import (
    SOUND,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap.worlds import World

OPTIONS = (
    protocol_option(
        '"paper": the reply must be one of the actions and nothing else; "sound": it must name exactly one of them.'
    ),
    Option(
        name="wording",
        default=PRINTED.name,
        choices=tuple(FORMS),
        doc="printed: the paper's Example 9; plain: our own prompt.",
    ),
    Option(
        name="local_map",
        default=False,
        doc="Whether the prompt lists the known moves from the current place and where they lead.",
    ),
)
SOURCE_OPTIONS = (
    prefix_option("Steps of the walkthrough from which moves are chosen; by default all."),
    questions_option("Minigames per world."),
    Option(
        name="moves",
        default="all",
        choices=MOVES,
        doc="Moves to predict: all, or only those that the walkthrough made before, or whose opposite it made.",
    ),
    Option(name="choices", default=CHOICES, low=2, high=50, doc="Approximate number of listed actions."),
)


def _play(protocol: str, wording: str, local_map: bool) -> Play[Minigame, AnswerState[Minigame], str]:
    words = MinigameWording(FORMS[wording], local_map=local_map, search_reply=protocol == SOUND.name)
    return Play(MinigameRules(), words, Limits(turns=1))


def _ask(
    place_map: PlaceMap, cutoff: int, count: int, stream: Stream, options: Mapping[str, Any], world: World | None
) -> list[Minigame]:
    moves, choices = options["moves"], int(options["choices"])
    return minigames(place_map, cutoff, count, stream, moves=moves, choices=choices, world=world)


MINIGAME = map_environment(
    "minigame",
    title="Text maps: minigames (MANGO)",
    about=read_text(__file__, "about.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    ask=_ask,
    purpose=("textmap/minigames",),
    limit=(10, "Moves to predict per walkthrough; all if there are fewer."),
    decode=decode_minigame,
    resolve_references=resolve_minigame,
    prove=prove,
    scoring=Scoring(metrics=METRICS, failures=MINIGAME_FAILURES, failure=minigame_failure),
    players=Players(policies=PLAYERS),
)
