"""The environments of route and destination questions."""

from collections.abc import Callable

from waybench._package_data import read_text
from waybench.core import (
    AnswerState,
    Difficulty,
    Environment,
    HorizonSpec,
    Json,
    Limits,
    Option,
    Play,
    Players,
    Scoring,
    Typing,
)
from waybench.envs.textmap.map import resolve_game
from waybench.envs.textmap.questions._answers import HELP, PAPER, RULES, Trajectory, parse_typed
from waybench.envs.textmap.questions._choice import LABELS_OPTION, QUESTION_OPTIONS, Kind, asker
from waybench.envs.textmap.questions._difficulty import AXES, explanatory_variables
from waybench.envs.textmap.questions._game import PLAYERS, QuestionGame, renamed_question
from waybench.envs.textmap.questions._instance import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap.questions._map_environment import (
    listed_names,
    lists_option,
    map_environment,
    protocol_option,
)
from waybench.envs.textmap.questions._measures import (
    DESTINATION_ERRORS,
    DESTINATION_FAILURES,
    METRICS,
    ROUTE_ERRORS,
    ROUTE_FAILURES,
    destination_failure,
    prove,
    route_failure,
)
from waybench.envs.textmap.questions._wording import OBSERVATIONS, TEMPLATES, QuestionWording

OPTIONS = (
    protocol_option(
        '"paper": parsing, closest moves and similar names as in the paper; "sound": exact names and moves. Unreadable '
        "answers count as 0 in both; the metrics marked (MANGO) leave them out."
    ),
    Option(
        name="wording",
        default="chat",
        choices=tuple(TEMPLATES),
        doc="chat, completion: the published program's prompts for GPT and Claude, for Llama and RWKV; examples: the "
        "paper's Examples 7 and 8; plain: our own prompt.",
    ),
    Option(
        name="observations",
        default="full",
        choices=OBSERVATIONS,
        doc='names: show only the name of the place at each step (the paper\'s "-S").',
    ),
    lists_option(
        "Lists of places and actions in the prompt: all of the map, or those seen in the prefix; by default all in "
        '"paper" and seen in "sound".'
    ),
)


def _play(
    protocol: str, wording: str, observations: str, lists: str | None
) -> Play[MapQuestion, AnswerState[MapQuestion], Trajectory]:
    published = protocol == PAPER.name
    words = QuestionWording(TEMPLATES[wording], observations, listed_names(protocol, lists), published=published)
    return Play(QuestionGame(RULES[protocol]), words, Limits(turns=1))


def _environment(
    kind: Kind,
    title: str,
    opening: str,
    decode: Callable[[Json], MapQuestion],
    scoring: Scoring,
    success: str,
    horizon: HorizonSpec | None = None,
) -> Environment[MapQuestion, AnswerState[MapQuestion], Trajectory]:
    return map_environment(
        kind,
        version=2,
        title=title,
        about=read_text(__file__, "about.md").format(first=opening),
        options=OPTIONS,
        play=_play,
        source_options=(*QUESTION_OPTIONS, LABELS_OPTION) if kind == "route" else QUESTION_OPTIONS,
        ask=asker(kind),
        purpose=("textmap/questions", kind),
        takes_tokens=True,
        limit=(10, "Questions per game or world, alternately easy and hard; all if there are fewer."),
        resolve_references=resolve_game,
        prove=prove,
        isomorph=renamed_question,
        takes_context=True,
        decode=decode,
        scoring=scoring,
        difficulty=Difficulty(
            axes=AXES, success=success, horizon=horizon, explanatory_variables=explanatory_variables(decode)
        ),
        players=Players(policies=PLAYERS),
        typing=Typing(parse=parse_typed, help=HELP),
    )


ROUTE = _environment(
    "route",
    "Text maps: route finding (MANGO)",
    "The player reads the walkthrough of a text game and tells how to get from one place to another.",
    decode_route,
    Scoring(metrics=METRICS, failures=ROUTE_FAILURES, failure=route_failure, first_errors=ROUTE_ERRORS),
    success="the answer's moves lead to the destination, by any path",
    horizon=HorizonSpec(levels=(1, 2, 3, 4, 5, 6, 7), pool=40),
)
DESTINATION = _environment(
    "destination",
    "Text maps: destination finding (MANGO)",
    "The player reads the walkthrough of a text game and tells where a sequence of moves leads.",
    decode_destination,
    Scoring(
        metrics=METRICS, failures=DESTINATION_FAILURES, failure=destination_failure, first_errors=DESTINATION_ERRORS
    ),
    success="the answered place is the destination",
)
