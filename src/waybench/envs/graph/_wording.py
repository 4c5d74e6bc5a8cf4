"""The words: the edges, one a line, and the question after them."""

from collections.abc import Sequence
from typing import Any, cast

from waybench.core import ActionTool, Field, Invalid, Json, OneAnswerWording, ToolCall, last_object, shown
from waybench.envs.graph._game import LONGEST, Answer, GraphState
from waybench.envs.graph._instance import Question, edge_lines

_INTRODUCTION = (
    "The lines below are the edges of an undirected graph. The nodes are numbers of six digits, and each line has the "
    "two nodes that an edge joins."
)
_ASKED = {
    "path": "What is a shortest path from node {0} to node {1}? A path goes from node to node along edges. Reply with "
    'a JSON object that has all nodes of the path in order: {{"path": [{0}, ..., {1}]}}',
    "reachable": "Is there a path along edges from node {0} to node {1}? Reply with a JSON object: "
    '{{"reachable": true}} or {{"reachable": false}}',
}

_TOOLS = {
    "path": ActionTool(
        "answer_path",
        "Answer with a path.",
        {
            "path": {
                "type": "array",
                "items": {"type": "integer"},
                "maxItems": LONGEST,
                "description": "All nodes of the path in order, from the first node to the second.",
            }
        },
    ),
    "reachable": ActionTool(
        "answer_reachable",
        "Answer whether there is a path.",
        {"reachable": {"type": "string", "enum": ["yes", "no"], "description": "Whether there is a path."}},
    ),
}


def question_text(question: Question) -> str:
    """Return the question's text."""
    return _ASKED[question.question].format(*question.ends)


def prompt(question: Question) -> str:
    """Return the whole prompt."""
    lines = edge_lines(question.seed, question.distance, question.components)
    return f"{_INTRODUCTION}\n\n{lines}\n\n{question_text(question)}"


class EdgeList(OneAnswerWording[Question, Answer]):
    """The graph as a list of edges."""

    name = "edges"
    rule_fields: Sequence[Field[Question]] = (
        Field("introduction", "What the lines mean.", lambda question: _INTRODUCTION),
        Field(
            "edges",
            "The edges, a line each.",
            lambda question: edge_lines(question.seed, question.distance, question.components),
        ),
        Field("question", "The question, and the form of the reply.", question_text),
        Field("start", "The first of the two nodes.", lambda question: str(question.ends[0])),
        Field("goal", "The second of the two nodes.", lambda question: str(question.ends[1])),
    )

    def rules(self, instance: Question) -> str:
        """Return the edges and the question."""
        return prompt(instance)

    def parse(self, reply: str, state: GraphState) -> Answer | Invalid:
        """Read the last JSON object with the question's key."""
        key = state.instance.question
        found = last_object(reply, key)
        if isinstance(found, Invalid):
            return found
        if found.duplicate is not None:
            return Invalid(f'The object has the key "{found.duplicate[:40]}" twice.')
        return _answer(key, found[key])

    def tools(self, state: GraphState) -> Sequence[ActionTool]:
        """Return the tool that takes a path, or the one that takes a yes or no."""
        return (_TOOLS[state.instance.question],)

    def parse_call(self, call: ToolCall, state: GraphState) -> Answer | Invalid:
        """Read the path, or the yes or no."""
        key = state.instance.question
        value = call.arguments[key]
        return value == "yes" if key == "reachable" else _answer(key, value)

    def render_call(self, action: Answer, state: GraphState) -> ToolCall:
        """Return the call with this answer."""
        key = state.instance.question
        value = list(action) if isinstance(action, tuple) else ("yes" if action else "no")
        return ToolCall(_TOOLS[key].name, {key: value})

    def render(self, action: Answer, state: GraphState) -> str:
        """Return a reply that `parse` reads as this answer."""
        if isinstance(action, tuple):
            return f'{{"path": [{", ".join(map(str, action))}]}}'
        return f'{{"reachable": {"true" if action else "false"}}}'


def _answer(key: str, value: Json) -> Answer | Invalid:
    if key == "reachable":
        return value if isinstance(value, bool) else Invalid(f'"reachable" is {shown(value)}, not true or false.')
    if not isinstance(value, list):
        return Invalid(f'"path" is {shown(value)}, not a list of nodes.')
    nodes = cast("list[Any]", value)
    if len(nodes) > LONGEST:
        return Invalid(f"The path has {len(nodes):,} nodes; at most {LONGEST:,} are read.")
    for node in nodes:
        if type(node) is not int:
            return Invalid(f'"path" has {shown(node)}, which is no node.')
    return tuple(nodes)
