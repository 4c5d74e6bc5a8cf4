"""Questions by key, with as large a graph as the tokens allow."""

from collections.abc import Mapping
from dataclasses import replace

from waybench.core import ESTIMATE, DataError, Json, KeyedSource, Option, Stream, UsageError, tokenizer, tokenizer_name
from waybench.envs.graph._game import (
    FIRST_NAME,
    LEAST_DISTANCE,
    MOST_DISTANCE,
    MOST_LEVEL,
    MOST_NODES,
    QUESTIONS,
    VERSION,
    Question,
    component,
    prompt,
)

_THOUSAND = 1_000
_ROUNDS = 12  # of counting; three or four are usual
_LINE = len(f"{FIRST_NAME} {FIRST_NAME}\n")

OPTIONS = (
    Option(
        name="question",
        default="path",
        choices=QUESTIONS,
        doc="A shortest path between two nodes, or whether there is a path; for one half of the items there is one.",
    ),
    Option(name="distance", default=4, low=LEAST_DISTANCE, high=MOST_DISTANCE, doc="Edges of the shortest path."),
    Option(
        name="tokenizer",
        default=ESTIMATE,
        local=True,
        doc="What counts tokens: characters (an estimate, four per token), tiktoken/ENCODING, or the path of a "
        "tokenizer.json.",
    ),
)


class GraphSource(KeyedSource[Question]):
    """Questions of one key; the same nodes are asked about, with the same paths between them, at every level.

    Args:
        key: The set's key.
        level: The greatest number of tokens of a prompt, in thousands.
        options: `question`, `distance` and `tokenizer`.

    Raises:
        UsageError: For a level that does not exist, or too small a one for the distance; if there is no such tokenizer.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= MOST_LEVEL:
            raise UsageError(f"level {level}: give a number of thousands of tokens from 1 to {MOST_LEVEL:,}")
        super().__init__(key, level, prove)
        self._question, self._distance = str(options["question"]), int(options["distance"])
        self._name = tokenizer_name(str(options["tokenizer"]))
        self._tokenizer = None if self._name == ESTIMATE else tokenizer(str(options["tokenizer"]))

    def instance(self, index: int) -> Question:
        """Return the question of this number.

        Raises:
            UsageError: If the level has no room for a graph of this distance.
        """
        stream = Stream("graph", VERSION, self.key, index)
        seed = f"{stream.word():016x}{stream.word():016x}"
        reachable = self._question == "path" or bool(stream.below(2))
        question = Question(self._question, seed, self._distance, 2, reachable, self.level, self._name, 1)
        return self._filled(question)

    def _filled(self, question: Question) -> Question:
        """Return the question with as many components as the level has room for; at most one more would fit."""
        limit = self.level * _THOUSAND
        most = MOST_NODES // component(self._distance).nodes
        count = max(2, min(most, limit * 4 // (_LINE * len(component(self._distance).edges))))
        best: Question | None = None
        for _ in range(_ROUNDS):
            tried = replace(question, components=count, tokens=self._tokens(replace(question, components=count)))
            each = tried.tokens / count
            if tried.tokens <= limit:
                best = max((found for found in (best, tried) if found is not None), key=lambda found: found.components)
                following = count + int((limit - tried.tokens) / each)
            else:
                following = count - max(1, int((tried.tokens - limit) / each))
            following = min(most, following)
            if following == count or following < 2 or (best is not None and following <= best.components):
                break
            count = following
        if best is None:
            raise UsageError(f"level {self.level}: too few tokens for a graph with distance={self._distance}")
        return best

    def _tokens(self, question: Question) -> int:
        if self._tokenizer is None:
            return estimated_tokens(question)
        return len(self._tokenizer.encode(prompt(question)))


def characters(question: Question) -> int:
    """Return the length of the prompt, without making it: all edges are equally long."""
    small = replace(question, components=2)
    more = (question.components - 2) * len(component(question.distance).edges)
    return len(prompt(small)) + more * _LINE


def estimated_tokens(question: Question) -> int:
    """Return a token for every four characters of the prompt."""
    return -(-characters(question) // 4)


def prove(question: Question) -> dict[str, Json]:
    """Return what is known of a question.

    Returns:
        nodes, edges: of the graph;
        characters: of the prompt;
        minimum: edges of a shortest path; None if there is none.

    Raises:
        DataError: If the number of estimated tokens is not that of the prompt.
    """
    if question.tokenizer == ESTIMATE and question.tokens != estimated_tokens(question):
        raise DataError(f"graph: the prompt has {estimated_tokens(question):,} tokens, not {question.tokens:,}")
    shape = component(question.distance)
    return {
        "nodes": shape.nodes * question.components,
        "edges": len(shape.edges) * question.components,
        "characters": characters(question),
        "minimum": question.distance if question.reachable else None,
    }
