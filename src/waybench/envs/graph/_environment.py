"""The environment of graphs as lists of edges."""

from waybench._package_data import read_text
from waybench.core import (
    Axis,
    Environment,
    HorizonSpec,
    Limits,
    Option,
    Play,
    Presentation,
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
    options=(Option(name="wording", default="edges", choices=("edges",), doc="edges: an edge in each line."),),
    source_options=OPTIONS,
    smallest_level=1,
    sample_levels=(1, 2, 4),
    public_key="graph-v1",
    play=lambda options: Play(GraphGame(), EdgeList(), Limits(turns=1)),
    make_source=GraphSource,
    horizon=HorizonSpec(
        # Four to a doubling: a player that reads no further than so far drops from 77 to 5 % within one.
        levels=tuple(sorted({round(2 ** (1 + step / 4)) for step in range(37)})),
        source_options={"question": "path"},
    ),
    decode=decode,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    failure=failure,
    axes=(
        Axis(
            name="context",
            title="Context length (thousand tokens)",
            of=lambda record: float(record.item["level"]),
            doc="Thousands of tokens of the prompt, at most.",
        ),
    ),
    success="the path is a shortest one between the two nodes",
    oracle_is_ceiling=lambda record: True,
    parse_typed=parse_typed,
    format_typed=format_typed,
    typed_help=TYPED_HELP,
    typed_actions=typed_actions,
    presentation=PRESENTATION,
    players=PLAYERS,
)
