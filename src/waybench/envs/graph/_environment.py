"""The environment of graphs as lists of edges: drawings, questions by key, metrics, what people see and type."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from waybench._package_data import read_text
from waybench._svg import Point, box, circle, line, path, texts
from waybench.core import (
    HARDER,
    NOTHING,
    Axis,
    Board,
    DataError,
    Difficulty,
    Environment,
    EpisodeRecord,
    FailureKind,
    HorizonSpec,
    Items,
    Json,
    KeyedSource,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scene,
    Scoring,
    Stream,
    TurnRecord,
    TypedAction,
    Typing,
    UsageError,
    general_failure_kind,
    load_tokenizer,
    outcome_metric,
)
from waybench.core._tokens import ESTIMATE, tokenizer_name_with_digest
from waybench.envs.graph._game import (
    CHAIN,
    FIRST_NAME,
    LEAST_DISTANCE,
    LONGEST,
    MOST_DISTANCE,
    MOST_LEVEL,
    MOST_NODES,
    PLAYERS,
    QUESTIONS,
    VERSION,
    Answer,
    EdgeList,
    GraphGame,
    GraphQuestion,
    GraphState,
    decode,
    graph_of,
    make_component,
    prompt,
    question_text,
)

_PATH_SPACE, _CHAIN_SPACE, _MARGIN = 64, 26, 40  # pixels: between nodes of a path, in a dead end, around


def _node_positions(distance: int) -> list[Point]:
    """Return the positions of a component's nodes: the two paths above each other, their dead ends outwards."""
    top = _MARGIN + CHAIN * _CHAIN_SPACE
    bottom = top + _PATH_SPACE
    # In the order of `make_component`.
    path_points: list[Point] = [
        (_MARGIN + _PATH_SPACE * step, y) for y in (top, bottom) for step in range(distance + 1)
    ]
    chain_points = [
        (x, y + (step if y == bottom else -step) * _CHAIN_SPACE) for x, y in path_points for step in range(1, CHAIN + 1)
    ]
    return [*path_points, *chain_points]


def scene(question: GraphQuestion, turns: Sequence[TurnRecord]) -> Scene:
    """Return a drawing of the start's component with the answer, without the answer's nodes in other components."""
    component, positions = make_component(question.distance), _node_positions(question.distance)
    names = graph_of(question).names[: component.nodes]
    nodes_by_name = {name: node for node, name in enumerate(names)}

    def svg_lines(pairs: Iterable[Sequence[int]]) -> list[str]:
        """Return the SVG path data of the lines between pairs of nodes."""
        return [line([positions[start], positions[end]]) for start, end in pairs]

    answer = GraphGame().decode(turns[-1].carried_out) if turns and turns[-1].carried_out is not None else ()
    answered_nodes = [nodes_by_name.get(name) for name in answer] if isinstance(answer, tuple) else []
    steps = [(node, next_) for node, next_ in pairwise(answered_nodes) if node is not None and next_ is not None]
    right_steps = [(node, next_node) for node, next_node in steps if next_node in component.neighbours[node]]
    wrong_steps = [step for step in steps if step not in right_steps]
    start, (goal_x, goal_y) = component.shortest[0], positions[component.shortest[-1]]
    n_path_nodes = 2 * question.distance + 2
    labels = [  # below the upper path, above the lower one
        (x, y + 18 if node <= question.distance else y - 8, names[node])
        for node, (x, y) in enumerate(positions[:n_path_nodes])
    ]
    shortest = svg_lines(pairwise(component.shortest)) if question.reachable else []
    shapes = [
        path("textmap-shortest reference", "#e69f00", 9, shortest, 'stroke-opacity="0.55"'),
        path("textmap-edge", "#8a8f98", 1.5, svg_lines(component.edges)),
        path("textmap-way", "#0072b2", 3.5, svg_lines(right_steps)),
        path("textmap-wrong", "#d55e00", 2.5, svg_lines(wrong_steps), 'stroke-dasharray="5 4"'),
        *(circle("textmap-place", "#5b6069", 0, point, 4) for point in positions),
        circle("textmap-start", "#009e73", 2.5, positions[start], 8),
        box("textmap-goal", "#009e73", 2.5, (goal_x - 8, goal_y - 8), (16, 16)) if question.reachable else "",
        texts("textmap-name", labels, 10),
    ]
    n_nodes, n_others = question.components * component.nodes, question.components - 1
    label = f"Graph of {n_nodes:,} nodes; the part with the start, without {n_others:,} others"
    width = 2 * _MARGIN + _PATH_SPACE * question.distance
    return Scene("textmap", label, (width, 2 * _MARGIN + _PATH_SPACE + 2 * CHAIN * _CHAIN_SPACE), shapes)


_ROUNDS = 12  # of counting; three or four are usual
_LINE_LENGTH = len(f"{FIRST_NAME} {FIRST_NAME}\n")
_CHARACTERS_PER_TOKEN = 4  # of the estimate

OPTIONS = (
    Option(
        name="question",
        default="path",
        choices=QUESTIONS,
        doc="A shortest path between two nodes, or whether there is a path; for one half of the items there is one.",
    ),
    Option(
        name="distance",
        effect=HARDER,
        default=4,
        low=LEAST_DISTANCE,
        high=MOST_DISTANCE,
        doc="Edges of the shortest path.",
    ),
    Option(
        name="tokenizer",
        default=ESTIMATE,
        local=True,
        doc="What counts tokens: characters (an estimate, four per token), tiktoken/ENCODING, or the path of a "
        "tokenizer.json.",
    ),
)


class GraphSource(KeyedSource[GraphQuestion]):
    """Questions of one key; the nodes asked about and the paths between them are the same at every level.

    The level is the greatest number of tokens of a prompt, in thousands; UsageError if it does not exist or is too low
    for the distance, or if there is no such tokenizer.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= MOST_LEVEL:
            raise UsageError(f"level {level}: give a number of thousands of tokens from 1 to {MOST_LEVEL:,}")
        super().__init__(key, level, prove)
        self._question, self._distance = str(options["question"]), int(options["distance"])
        self._name = tokenizer_name_with_digest(str(options["tokenizer"]))
        self._tokenizer = None if self._name == ESTIMATE else load_tokenizer(str(options["tokenizer"]))

    def instance(self, index: int) -> GraphQuestion:
        stream = Stream("graph", VERSION, self.key, index)
        seed = f"{stream.word():016x}{stream.word():016x}"
        reachable = self._question == "path" or bool(stream.below(2))
        question = GraphQuestion(self._question, seed, self._distance, 2, reachable, self.level, self._name, 1)
        # As many components as the level has room for; at most one more would fit.
        limit, component = self.level * 1_000, make_component(self._distance)
        most = MOST_NODES // component.nodes
        count = max(2, min(most, limit * _CHARACTERS_PER_TOKEN // (_LINE_LENGTH * len(component.edges))))
        largest: GraphQuestion | None = None
        for _ in range(_ROUNDS):
            candidate = replace(question, components=count)
            candidate = replace(candidate, tokens=self._count_tokens(candidate))
            tokens_per_component = candidate.tokens / count
            if candidate.tokens <= limit:
                largest = candidate if largest is None or count > largest.components else largest
                next_count = count + int((limit - candidate.tokens) / tokens_per_component)
            else:
                next_count = count - max(1, int((candidate.tokens - limit) / tokens_per_component))
            next_count = min(most, next_count)
            if next_count == count or next_count < 2 or (largest is not None and next_count <= largest.components):
                break
            count = next_count
        if largest is None:
            raise UsageError(f"level {self.level}: too few tokens for a graph with distance={self._distance}")
        return largest

    def _count_tokens(self, question: GraphQuestion) -> int:
        """Return the number of tokens of the prompt, by the tokenizer or estimated."""
        if self._tokenizer is None:
            return estimated_tokens(question)
        return len(self._tokenizer.encode(prompt(question)))


def prompt_length(question: GraphQuestion) -> int:
    """Return the number of characters of the prompt without writing it: all edges are equally long."""
    smallest = replace(question, components=2)
    n_more_edges = (question.components - 2) * len(make_component(question.distance).edges)
    return len(prompt(smallest)) + n_more_edges * _LINE_LENGTH


def estimated_tokens(question: GraphQuestion) -> int:
    """Return the number of tokens of the prompt, at four characters each, rounded up."""
    return -(-prompt_length(question) // _CHARACTERS_PER_TOKEN)


def prove(question: GraphQuestion) -> dict[str, Json]:
    """Return "nodes", "edges", "characters" (of the prompt) and "minimum" (a shortest path's edges, or None).

    Raises a DataError if the question's number of tokens is an estimate and not that of the prompt.
    """
    if question.tokenizer == ESTIMATE and question.tokens != estimated_tokens(question):
        raise DataError(f"graph: the prompt has {estimated_tokens(question):,} tokens, not {question.tokens:,}")
    component = make_component(question.distance)
    return {
        "nodes": component.nodes * question.components,
        "edges": len(component.edges) * question.components,
        "characters": prompt_length(question),
        "minimum": question.distance if question.reachable else None,
    }


INVENTED = FailureKind("invented", "edges that are not in the graph", "The path has a step that is no edge.")
OTHER_ENDS = FailureKind("other_ends", "paths between other nodes", "The path begins or ends at another node.")
LONGER = FailureKind("longer", "paths that are not shortest", "The path is right but longer than necessary.")
FAILURES = (INVENTED, OTHER_ENDS, LONGER)


def _event_value(record: EpisodeRecord, name: str) -> float | None:
    """Return an event of the answer as a number; None if there is none."""
    event = record.turns[-1].events.get(name) if record.turns else None
    return None if event is None else float(event)


def _is_path(record: EpisodeRecord) -> float | None:
    """Return 1 or 0: whether the answer to a path question is a path between the two nodes; otherwise None."""
    is_path_question = cast("dict[str, Json]", record.instance)["question"] == "path"
    # Only of an answer that is a path is the number of moves beyond the shortest path recorded.
    return float(_event_value(record, "excess") is not None) if is_path_question else None


METRICS = (
    Metric(
        name="success",
        of=lambda record: _event_value(record, "success") or 0.0,
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
        of=lambda record: _event_value(record, "invented"),
        title="Invented edges",
        low=0,
        unbounded="an answer can have any number of nodes",
        better="lower",
        doc="Steps of the answer that are no edges of the graph; of answers that can be read.",
    ),
    Metric(
        name="excess",
        of=lambda record: _event_value(record, "excess"),
        title="Excess edges",
        low=0,
        unbounded="a path can go back and forth",
        better="lower",
        doc="Edges of the path beyond those of a shortest one; of answers that are paths.",
    ),
    outcome_metric("unparsed", "The answer has no JSON object with the question's key.", max_turns=lambda record: 1),
)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return what is wrong with an answer."""
    events = record.turns[-1].events if record.turns else NOTHING
    if events.get("invented"):
        return INVENTED
    if events.get("ends") is False:
        return OTHER_ENDS
    return LONGER if events.get("excess") else general_failure_kind(record)


TYPED_HELP = "Type the nodes of the path with spaces between them, or yes or no."
_WORDS = {"yes": True, "no": False}
_MOST_DIGITS = 18  # of a typed node


def board(state: GraphState, turns: Sequence[TurnRecord]) -> Board:
    """Return the question; the edges are in the prompt."""
    return Board(notes=[question_text(state.instance)])


def typed_actions(state: GraphState) -> Sequence[TypedAction]:
    """Return yes and no for a question whether there is a path; a path is typed."""
    if state.instance.question == "path":
        return ()
    return [TypedAction(word, key=word[0]) for word in _WORDS]


def parse_typed(text: str, state: GraphState) -> Answer | None:
    """Return the yes or no, or the path, that a person has typed; None for any other text."""
    if state.instance.question == "reachable":
        return _WORDS.get(text.strip().lower())
    parts = text.replace(",", " ").split()
    are_numbers = all(part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts)
    return tuple(map(int, parts)) if are_numbers and 1 <= len(parts) <= LONGEST else None


def format_typed(answer: Answer) -> Sequence[str]:
    """Return an answer as a person types it."""
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
    legend=(
        "The part of the graph with the start (ring) and, if it can be reached, the goal (square). Blue: the path in "
        "the answer; dashed: an edge that is not in the list. All other parts have the same form."
    ),
    reference="the shortest path",
    scene=scene,
    board=board,
)


PATHS: Environment[GraphQuestion, GraphState, Answer] = Environment(
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
