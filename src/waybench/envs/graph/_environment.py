"""The environment of graphs as lists of edges."""

from waybench._package_data import read_text
from waybench.core import (
    Axis,
    Difficulty,
    Environment,
    HorizonSpec,
    Items,
    Limits,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Typing,
)
from waybench.envs.graph._game import Answer, GraphGame, GraphState
from waybench.envs.graph._instance import Question, decode
from waybench.envs.graph._metrics import FAILURES, METRICS, failure
from waybench.envs.graph._people import TYPED_HELP, board, format_typed, parse_typed, typed_actions
from waybench.envs.graph._players import PLAYERS
from waybench.envs.graph._source import OPTIONS, GraphSource, prove
from waybench.envs.graph._wording import EdgeList

PRESENTATION = Presentation(
    title="Graphs in long contexts",
    lead=(
        "The player reads a graph as a list of edges and answers one question about two of its nodes. The "
        "context length is that of the prompt in thousands of tokens; the part of the list that the answer needs is "
        "the same at each length."
    ),
    level="context length (thousand tokens)",
    levels="context lengths (thousand tokens)",
    item="question",
    metrics=("success", "is_path", "invented", "excess", "unparsed"),
    board=board,
)


PATHS: Environment[Question, GraphState, Answer] = Environment(
    id="graph/paths",
    version=1,
    title="Graphs in long contexts",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
        sample_levels=(1, 2, 4),
        public_key="graph-v1",
        make_source=GraphSource,
        decode=decode,
        prove=prove,
    ),
    playing=Playing(
        options=(Option(name="wording", default="edges", choices=("edges",), doc="edges: an edge in each line."),),
        play=lambda options: Play(GraphGame(), EdgeList(), Limits(turns=1)),
    ),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, failure=failure),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            # Four to a doubling: a player that reads no further than so far drops from 77 to 5 % within one.
            levels=tuple(sorted({round(2 ** (1 + step / 4)) for step in range(37)})),
            source_options={"question": "path"},
        ),
        axes=(
            Axis(
                name="context",
                title="Context length (thousand tokens)",
                of=lambda record: float(record.item["level"]),
                doc="Thousands of tokens of the prompt, at most.",
            ),
        ),
        success="the path is a shortest one between the two nodes",
    ),
    players=Players(policies=PLAYERS, oracle_is_ceiling=lambda record: True),
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions),
    presentation=PRESENTATION,
)
