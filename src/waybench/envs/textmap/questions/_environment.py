"""The environments of text maps: routes and destinations, asked about a game's walkthrough."""

from collections.abc import Mapping
from functools import lru_cache

from waybench.core import Environment, Json, Limits, Option, Play
from waybench.envs.textmap._presentation import PRESENTATION
from waybench.envs.textmap.map import map_name, named, published_steps
from waybench.envs.textmap.questions._about import about
from waybench.envs.textmap.questions._answer import Trajectory
from waybench.envs.textmap.questions._axes import AXES
from waybench.envs.textmap.questions._choose import Kind
from waybench.envs.textmap.questions._failures import (
    DESTINATION_FAILURES,
    ROUTE_FAILURES,
    destination_failure,
    route_failure,
)
from waybench.envs.textmap.questions._game import Asked, QuestionGame
from waybench.envs.textmap.questions._instance import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap.questions._metrics import METRICS, prove
from waybench.envs.textmap.questions._players import PLAYERS
from waybench.envs.textmap.questions._prompts import TEMPLATES
from waybench.envs.textmap.questions._score import PAPER, SOUND
from waybench.envs.textmap.questions._source import SOURCE_OPTIONS, WorldQuestions
from waybench.envs.textmap.questions._typed import HELP, parse_typed
from waybench.envs.textmap.questions._variables import explanatory_variables
from waybench.envs.textmap.questions._wording import LISTS, OBSERVATIONS, QuestionWording
from waybench.envs.textmap.worlds import LOWEST_CLASS

OPTIONS = (
    Option(
        name="protocol",
        default=PAPER.name,
        choices=(PAPER.name, SOUND.name),
        doc='"paper": parsing, closest moves and similar names as in the paper, ill-structured answers left out; '
        '"sound": exact names, moves as they are, and every answer counts.',
    ),
    Option(
        name="wording",
        default="chat",
        choices=tuple(TEMPLATES),
        doc="chat, completion: the published program's prompts for GPT and Claude, for Llama and RWKV; examples: the "
        "paper's Examples 7 and 8; plain: our own words.",
    ),
    Option(
        name="observations",
        default="full",
        choices=OBSERVATIONS,
        doc='names: of each step the name of the place alone is shown (the paper\'s "-S").',
    ),
    Option(
        name="lists",
        default=None,
        kind=str,
        choices=LISTS,
        doc="The lists of places and actions: all of the map, or those seen by a reader of the prefix; if not given, "
        'all in "paper", seen in "sound".',
    ),
)


def _play(options: Mapping[str, Json]) -> Play[MapQuestion, Asked, Trajectory]:
    return _made(options["protocol"], options["wording"], options["observations"], options["lists"])


@lru_cache(maxsize=64)
def _made(protocol: str, wording: str, observations: str, lists: str | None) -> Play[MapQuestion, Asked, Trajectory]:
    rules = {rules.name: rules for rules in (PAPER, SOUND)}[protocol]
    published = rules is PAPER
    words = QuestionWording(
        TEMPLATES[wording], observations, lists or ("all" if published else "seen"), published=published
    )
    return Play(QuestionGame(rules), words, Limits(turns=1))


_SUCCESS = {
    "route": "the moves answered lead to the destination, on however long a way",
    "destination": "the place answered is the destination",
}


def _environment(kind: Kind, title: str) -> Environment[MapQuestion, Asked, Trajectory]:
    decode = {"route": decode_route, "destination": decode_destination}[kind]
    return Environment(
        id=f"textmap/{kind}",
        version=1,
        title=title,
        about=about(kind),
        options=OPTIONS,
        source_options=SOURCE_OPTIONS,
        smallest_level=LOWEST_CLASS,
        sample_levels=(1, 2, 3),
        public_key="textmap-v1",
        play=_play,
        draw_from=lambda key, level, options: WorldQuestions(key, level, options, kind, prove),
        decode=decode,
        resolve_references=named,
        level_of=lambda question: question.level,
        prove=prove,
        metrics=METRICS,
        failures={"route": ROUTE_FAILURES, "destination": DESTINATION_FAILURES}[kind],
        failure={"route": route_failure, "destination": destination_failure}[kind],
        axes=AXES,
        success=_SUCCESS[kind],
        pooled=True,
        cluster=map_name,
        implied=published_steps,
        parse_typed=parse_typed,
        typed_help=HELP,
        explanatory_variables=explanatory_variables(decode),
        presentation=PRESENTATION,
        players=PLAYERS,
    )


ROUTE = _environment("route", "Text maps: route finding (MANGO)")
DESTINATION = _environment("destination", "Text maps: destination finding (MANGO)")
