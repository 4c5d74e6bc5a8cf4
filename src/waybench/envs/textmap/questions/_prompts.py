"""Prompt templates: the published ones verbatim, and one of waybench.

A prompt has two parts: the opening with the walkthrough and the lists of names, and the question. All questions about
one prefix have the same opening, byte for byte, so that a provider can cache it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from waybench.envs.textmap.map import Names
from waybench.envs.textmap.questions._answer import PRINTED, RELEASED, Keys
from waybench.envs.textmap.questions._score import Question


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt template. The texts have placeholders such as {source}, {target} and {walkthrough}.

    Attributes:
        name: Its name.
        opening: The beginning of all questions, with {walkthrough}, {actions} and {places}.
        route: The route question, with {source} and {target}.
        destination: The destination question, with {source} and {actions}.
        keys: The keys that the answer must have.
        lists: Format of lists: "python", "json", or "bare", without quotes and brackets.
        lead: The end of the prompt that the answer continues; it is part of the answer.
    """

    name: str
    opening: str
    route: str
    destination: str
    keys: Keys = RELEASED
    lists: str = "python"
    lead: str = ""


_RELEASED = (
    "!!! Here is a walkthrough of a text game:\n{walkthrough}\n\n"
    "The allowed actions are: {actions}.\nThe list of locations are: {places}.\n"
)
_KEYS = "keys 'location_before', 'action' and 'location_after'"
_LEAD = "[{'location_before':"
_PRINTED = "keys 'prev_node', 'node' and 'action'.\nStart your response with '['."

CHAT = Template(  # the released program, for GPT and Claude
    "chat",
    _RELEASED,
    '!!! Can you find a path from "{source}" to "{target}", and format the output as a python list of python '
    f"dictionary with {_KEYS}? Start your response with '['.",
    '!!! Starting from place "{source}", perform a list of action {actions}, where are you now? Describe the '
    f"trajectory in a python list of python dictionary with {_KEYS}. Start your response with '['.",
)
COMPLETION = Template(  # the released program, for Llama and RWKV
    "completion",
    _RELEASED,
    '!!! Can you find a path from "{source}" to "{target}"?\nFormat the output as a python list of python dictionary '
    f"with {_KEYS}. \n\nAnswer: {_LEAD}",
    '!!! Starting from location "{source}", perform a list of action {actions}, where are you now?\nDescribe the '
    f"trajectory in a python list of python dictionary with {_KEYS}. \n\nAnswer: {_LEAD}",
    lead=_LEAD,
)
PAPER_EXAMPLES = Template(  # the paper's Examples 7 and 8, with the lists as Examples 2 and 4 write them
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
PLAIN = Template(  # of waybench
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


def opening(template: Template, walkthrough: str, names: Names) -> str:
    """Return the beginning of all prompts about a prefix.

    Args:
        template: The prompt template.
        walkthrough: The text of the prefix.
        names: The lists to show: `all_names` as published, `seen_names` to show nothing from after the prefix.
    """
    lists = {"actions": format_names(names.actions, template), "places": format_names(names.places, template)}
    return _fill(template.opening, walkthrough=walkthrough, **lists)


def question_text(template: Template, question: Question) -> str:
    """Return the text that follows the opening."""
    names = {"source": format_name(question.source, template), "target": format_name(question.target, template)}
    text = template.destination if question.actions else template.route
    return _fill(text, **names, actions=format_names(question.actions, template))


def format_name(name: str, template: Template) -> str:
    """Return the name of a place as the template's questions write it."""
    return json.dumps(name, ensure_ascii=False) if template.lists == "json" else name


def format_names(names: Sequence[str], template: Template) -> str:
    """Return names of places or actions as the template's lists write them."""
    if template.lists == "python":
        return repr(list(names))
    return json.dumps(list(names), ensure_ascii=False) if template.lists == "json" else ", ".join(names)


def _fill(text: str, **parts: str) -> str:
    """Replace placeholders in braces; other braces in the text or in the parts stay."""
    pieces = re.split(r"\{([a-z]+)\}", text)
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))
