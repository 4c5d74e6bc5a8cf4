"""The environment of graphs as lists of edges: metrics, what people see and type, and the declaration."""

from collections.abc import Callable, Sequence
from typing import cast

from waybench._package_data import read_text
from waybench.core import (
    NOTHING,
    Axis,
    Board,
    Difficulty,
    Environment,
    EpisodeRecord,
    FailureKind,
    HorizonSpec,
    Items,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    TurnRecord,
    TypedAction,
    Typing,
    general_failure,
    outcome_metric,
)
from waybench.envs.graph._game import (
    LONGEST,
    PLAYERS,
    Answer,
    EdgeList,
    GraphGame,
    GraphState,
    Question,
    decode,
    question_text,
)
from waybench.envs.graph._items import OPTIONS, GraphSource, prove

INVENTED = FailureKind("invented", "edges that are not in the graph", "The path has a step that is no edge.")
OTHER_ENDS = FailureKind("other_ends", "paths between other nodes", "The path begins or ends at another node.")
LONGER = FailureKind("longer", "paths that are not shortest", "The path is right but longer than necessary.")
FAILURES = (INVENTED, OTHER_ENDS, LONGER)


def _event(name: str) -> Callable[[EpisodeRecord], float | None]:
    def value(record: EpisodeRecord) -> float | None:
        found = record.turns[-1].events.get(name) if record.turns else None
        return None if found is None else float(found)

    return value


def _success(record: EpisodeRecord) -> float:
    return _event("success")(record) or 0.0


def _is_path(record: EpisodeRecord) -> float | None:
    asked_for_path = cast("dict[str, Json]", record.instance)["question"] == "path"
    return float(_event("excess")(record) is not None) if asked_for_path else None


METRICS = (
    Metric(
        name="success",
        of=_success,
        title="Success",
        low=0,
        high=1,
        doc="Whether the answer is right: a shortest path, or whether there is one. Unreadable answers are wrong.",
    ),
    Metric(
        name="is_path",
        of=_is_path,
        title="Paths",
        low=0,
        high=1,
        doc="Whether the answer is a path along edges between the two nodes, of any length.",
    ),
    Metric(
        name="invented",
        of=_event("invented"),
        title="Invented edges",
        low=0,
        unbounded="an answer can have any number of nodes",
        better="lower",
        doc="Steps of the answer that are no edges of the graph; of answers that can be read.",
    ),
    Metric(
        name="excess",
        of=_event("excess"),
        title="Excess edges",
        low=0,
        unbounded="a path can go back and forth",
        better="lower",
        doc="Edges of the path beyond those of a shortest one; of answers that are paths.",
    ),
    outcome_metric("unparsed", "The answer has no JSON object with the question's key.", most=lambda record: 1),
)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return what is wrong with a path; a wrong yes or no is a wrong answer."""
    events = record.turns[-1].events if record.turns else NOTHING
    if events.get("invented"):
        return INVENTED
    if events.get("ends") is False:
        return OTHER_ENDS
    return LONGER if events.get("excess") else general_failure(record)


TYPED_HELP = "Type the nodes of the path with spaces between them, or yes or no."
_WORDS = {"yes": True, "no": False}
_DIGITS = 18


def board(state: GraphState, turns: Sequence[TurnRecord]) -> Board:
    """Return the question; the edges are in the prompt."""
    return Board(notes=[question_text(state.instance)])


def typed_actions(state: GraphState) -> Sequence[TypedAction]:
    """Return yes and no; paths are typed."""
    if state.instance.question == "path":
        return ()
    return [TypedAction(word, key=word[0]) for word in _WORDS]


def parse_typed(text: str, state: GraphState) -> Answer | None:
    """Return the answer that a person has typed; None for what is none."""
    if state.instance.question == "reachable":
        return _WORDS.get(text.strip().lower())
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= LONGEST or not all(
        part.isascii() and part.isdigit() and len(part) <= _DIGITS for part in parts
    ):
        return None
    return tuple(map(int, parts))


def format_typed(answer: Answer) -> Sequence[str]:
    """Return what a person would type."""
    return [" ".join(map(str, answer)) if isinstance(answer, tuple) else ("yes" if answer else "no")]


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
