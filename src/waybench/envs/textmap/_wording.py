"""The wording of route and destination questions, and its prompt templates."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from waybench.core import ActionTool, AnswerState, Field, Invalid, Json, OneAnswerWording, ToolCall, object_schema
from waybench.envs.textmap._answers import (
    MOST_HOPS,
    PRINTED,
    RELEASED,
    Hop,
    ScoredQuestion,
    Trajectory,
    published_answer,
    sound_answer,
    trajectory,
)
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import PromptNames, all_names, seen_names, simplify_steps, walkthrough


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt template. The texts have placeholders such as {source}, {target} and {walkthrough}.

    `opening` is the beginning of all questions. `keys` are those that the answer must have. `lists` is the format of
    lists: "python", "json", or "bare", without quotes and brackets. `lead` is the end of the prompt that the answer
    continues.
    """

    name: str
    opening: str
    route: str
    destination: str
    keys: Hop = RELEASED
    lists: str = "python"
    lead: str = ""


_RELEASED = (
    "!!! Here is a walkthrough of a text game:\n{walkthrough}\n\n"
    "The allowed actions are: {actions}.\nThe list of locations are: {places}.\n"
)
_KEYS = "keys 'location_before', 'action' and 'location_after'"
_LEAD = "[{'location_before':"
_PRINTED = "keys 'prev_node', 'node' and 'action'.\nStart your response with '['."

CHAT = PromptTemplate(  # the released program, for GPT and Claude
    "chat",
    _RELEASED,
    '!!! Can you find a path from "{source}" to "{target}", and format the output as a python list of python '
    f"dictionary with {_KEYS}? Start your response with '['.",
    '!!! Starting from place "{source}", perform a list of action {actions}, where are you now? Describe the '
    f"trajectory in a python list of python dictionary with {_KEYS}. Start your response with '['.",
)
COMPLETION = PromptTemplate(  # the released program, for Llama and RWKV
    "completion",
    _RELEASED,
    '!!! Can you find a path from "{source}" to "{target}"?\nFormat the output as a python list of python dictionary '
    f"with {_KEYS}. \n\nAnswer: {_LEAD}",
    '!!! Starting from location "{source}", perform a list of action {actions}, where are you now?\nDescribe the '
    f"trajectory in a python list of python dictionary with {_KEYS}. \n\nAnswer: {_LEAD}",
    lead=_LEAD,
)
PAPER_EXAMPLES = PromptTemplate(  # the paper's Examples 7 and 8, with the lists as Examples 2 and 4 write them
    "examples",
    "{walkthrough}\n\nThe allowed actions are: {actions}\nThe list of places are: {places}\n",
    "How can you go from {source} to {target}?\n"
    f"Describe the trajectory in a Python list of Python dictionaries with {_PRINTED}",
    "Starting from {source}, perform a list of actions [{actions}], where are you now?\n"
    f"Describe the trajectory in a Python list of Python dictionaries with {_PRINTED}",
    PRINTED,
    "bare",
)
_ANSWER = (
    'Answer with a JSON array, one object for each move in order: [{"location_before": "...", "action": "...", '
    '"location_after": "..."}, ...]. Write the names of places and actions exactly as in the lists.'
)
PLAIN = PromptTemplate(  # of waybench
    "plain",
    "This is the walkthrough of a text game, from its start up to some step:\n{walkthrough}\n"
    "The moves that the following is about: {actions}\nThe places: {places}\n"
    "A way back counts as a move, too, if it follows from the way there.\n\n",
    f"Which moves lead from {{source}} to {{target}}? {_ANSWER}",
    f"Where do you end if you start from {{source}} and make these moves one after the other: {{actions}}? {_ANSWER} "
    '"location_after" of the last object is your answer.',
    lists="json",
)
TEMPLATES = {template.name: template for template in (CHAT, COMPLETION, PAPER_EXAMPLES, PLAIN)}


def opening(template: PromptTemplate, walkthrough: str, names: PromptNames) -> str:
    """Return the beginning of all prompts about a prefix, with the text of its walkthrough and lists of names."""
    lists = {"actions": format_names(names.actions, template), "places": format_names(names.places, template)}
    return _fill(template.opening, walkthrough=walkthrough, **lists)


def question_text(template: PromptTemplate, question: ScoredQuestion) -> str:
    """Return the text that follows the opening."""
    names = {"source": format_name(question.source, template), "target": format_name(question.target, template)}
    text = template.destination if question.actions else template.route
    return _fill(text, **names, actions=format_names(question.actions, template))


def format_name(name: str, template: PromptTemplate) -> str:
    """Return the name of a place as the template's questions write it."""
    return json.dumps(name, ensure_ascii=False) if template.lists == "json" else name


def format_names(names: Sequence[str], template: PromptTemplate) -> str:
    """Return names of places or actions as the template's lists write them."""
    if template.lists == "python":
        return repr(list(names))
    return json.dumps(list(names), ensure_ascii=False) if template.lists == "json" else ", ".join(names)


def _fill(text: str, **parts: str) -> str:
    """Replace placeholders in braces; other braces in the text or in the parts stay."""
    pieces = re.split(r"\{([a-z]+)\}", text)
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


OBSERVATIONS = ("full", "names")


class QuestionWording(OneAnswerWording[MapQuestion, Trajectory]):
    """A wording that fills a template. All questions about one prefix start with the same text, byte for byte.

    With `observations` "names", only the name of the place is shown at each step (the paper's "-S"), not the "full"
    walkthrough. `lists` is "all" or "seen", see `prompt_names`. `published` says whether the published parser reads
    replies.
    """

    def __init__(self, template: PromptTemplate, observations: str, lists: str, *, published: bool) -> None:
        self.name = template.name
        self.reads_truncated = published  # as in the published runs, where a complete list counted
        self._template, self._observations, self._lists = template, observations, lists
        self._published = published
        field = Field[MapQuestion]
        self.rule_fields = (
            field("walkthrough", "The part of the walkthrough that is shown.", self._walkthrough),
            field(
                "places", "The list of places.", lambda question: format_names(self._names(question).places, template)
            ),
            field(
                "actions",
                "The list of actions.",
                lambda question: format_names(self._names(question).actions, template),
            ),
            field("question", "The question, with the form of the answer.", partial(question_text, template)),
            field(
                "start", "The place where the question begins.", lambda question: format_name(question.source, template)
            ),
            field(
                "destination",
                "The destination of a route question.",
                lambda question: "" if question.actions else format_name(question.target, template),
            ),
            field(
                "moves",
                "The moves of a destination question.",
                lambda question: format_names(question.actions, template) if question.actions else "",
            ),
            field("lead", "The beginning of the answer, if the base wording gives one.", lambda _: template.lead),
        )

    def _names(self, instance: MapQuestion) -> PromptNames:
        return prompt_names(instance.map, instance.cutoff, self._lists)

    def _walkthrough(self, instance: MapQuestion) -> str:
        return _shown(instance.map, instance.cutoff, self._observations)

    def opening(self, place_map: PlaceMap, cutoff: int) -> str:
        """Return the beginning of all prompts about a prefix."""
        return _opening(place_map, cutoff, self._template, self._observations, self._lists)

    def rules(self, instance: MapQuestion) -> str:
        """Return the whole prompt: the opening and the question."""
        return self.opening(instance.map, instance.cutoff) + question_text(self._template, instance)

    def parse(self, reply: str, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        """Parse a trajectory."""
        parse_answer = published_answer if self._published else sound_answer
        return parse_answer(reply, self._template.keys, self._template.lead)

    def render(self, action: Trajectory, state: AnswerState[MapQuestion]) -> str:
        """Return a trajectory as JSON, which is also a Python literal, as a continuation of the prompt's lead."""
        keys = self._template.keys
        rows = [dict(zip(keys, hop, strict=True)) for hop in action]
        # The published parser would take a bracket in a name for the end of the list.
        inside = json.dumps(rows, ensure_ascii=False)[1:-1].replace("]", "\\u005d")
        return inside.removeprefix(f'{{"{keys.before}":') + "]" if self._template.lead else f"[{inside}]"

    def tools(self, state: AnswerState[MapQuestion]) -> tuple[ActionTool, ...]:
        """Return the tool that takes a trajectory."""
        return (_answer_tool(self._template.keys),)

    def parse_call(self, call: ToolCall, state: AnswerState[MapQuestion]) -> Trajectory | Invalid:
        """Read a trajectory."""
        return trajectory(call.arguments["moves"], self._template.keys)

    def render_call(self, action: Trajectory, state: AnswerState[MapQuestion]) -> ToolCall:
        """Return a call with the trajectory."""
        rows = [dict(zip(self._template.keys, hop, strict=True)) for hop in action]
        return ToolCall("answer", {"moves": rows})


def hop_schema(keys: Hop) -> dict[str, Json]:
    """Return the JSON schema of a move of an answer."""
    docs = ("The place before the move.", "The action.", "The place after the move.")
    return object_schema({key: {"type": "string", "description": doc} for key, doc in zip(keys, docs, strict=True)})


@lru_cache(maxsize=8)
def _answer_tool(keys: Hop) -> ActionTool:
    moves = {"type": "array", "items": hop_schema(keys), "maxItems": MOST_HOPS, "description": "The moves, in order."}
    return ActionTool("answer", "Answer the question.", {"moves": moves})


@lru_cache(maxsize=256)
def _opening(place_map: PlaceMap, cutoff: int, template: PromptTemplate, observations: str, lists: str) -> str:
    return opening(template, _shown(place_map, cutoff, observations), prompt_names(place_map, cutoff, lists))


def _shown(place_map: PlaceMap, cutoff: int, observations: str) -> str:
    steps = place_map.steps if observations == "full" else simplify_steps(place_map, min(cutoff, place_map.last_step))
    return walkthrough(steps, cutoff)


def prompt_names(place_map: PlaceMap, cutoff: int, lists: str) -> PromptNames:
    """Return the names in a prompt: all of the map, or with `lists` "seen" those known from the prefix, if any."""
    names = seen_names(place_map, cutoff) if lists == "seen" else all_names(place_map)
    return names if names.places else all_names(place_map)
