"""The wording of route and destination questions: a prompt with the walkthrough, the names and the question."""

import json
from functools import lru_cache

from waybench.core import ActionTool, AnswerState, Field, Invalid, Json, OneAnswerWording, ToolCall, object_schema
from waybench.envs.textmap.map import Names, PlaceMap, all_names, seen_names, simplified, walkthrough
from waybench.envs.textmap.questions._answer import (
    MOST_HOPS,
    Keys,
    Trajectory,
    published_answer,
    sound_answer,
    trajectory,
)
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.questions._prompts import Template, format_name, format_names, opening, question_text

OBSERVATIONS = ("full", "names")


class QuestionWording(OneAnswerWording[MapQuestion, Trajectory]):
    """A wording that fills a template. All questions about one prefix start with the same text, byte for byte.

    Args:
        template: The prompt template.
        observations: "full": the whole walkthrough; "names": only the name of the place at each step (the paper's
            "-S").
        lists: "all": list all places and actions of the map; "seen": only those known from the prefix.
        published: Whether to use the published parser.
    """

    def __init__(self, template: Template, observations: str, lists: str, *, published: bool) -> None:
        self.name = template.name
        self.reads_truncated = published  # as in the published runs, where a complete list counted
        self._template, self._observations, self._lists = template, observations, lists
        self._published = published
        self.rule_fields = (
            Field[MapQuestion]("walkthrough", "The part of the walkthrough that is shown.", self._walkthrough),
            Field[MapQuestion](
                "places", "The list of places.", lambda it: format_names(self._names(it).places, template)
            ),
            Field[MapQuestion](
                "actions", "The list of actions.", lambda it: format_names(self._names(it).actions, template)
            ),
            Field[MapQuestion](
                "question", "The question, with the form of the answer.", lambda it: question_text(template, it)
            ),
            Field[MapQuestion](
                "start", "The place where the question begins.", lambda it: format_name(it.source, template)
            ),
            Field[MapQuestion](
                "destination",
                "The destination of a route question.",
                lambda it: "" if it.actions else format_name(it.target, template),
            ),
            Field[MapQuestion](
                "moves",
                "The moves of a destination question.",
                lambda it: format_names(it.actions, template) if it.actions else "",
            ),
            Field[MapQuestion](
                "lead", "The beginning of the answer, if the base wording gives one.", lambda it: template.lead
            ),
        )

    def _names(self, instance: MapQuestion) -> Names:
        return _listed(instance.map, instance.cutoff, self._lists)

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
        rows = [{keys.before: hop.before, keys.action: hop.action, keys.after: hop.after} for hop in action]
        # The published parser would take a bracket in a name for the end of the list.
        inside = json.dumps(rows, ensure_ascii=False)[1:-1].replace("]", "\\u005d")
        lead = self._template.lead
        if not lead:
            return f"[{inside}]"
        return inside.removeprefix(f'{{"{keys.before}":') + "]"

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


def hop_schema(keys: Keys) -> dict[str, Json]:
    """Return the JSON schema of a move of an answer."""
    docs = ("The place before the move.", "The action.", "The place after the move.")
    return object_schema({key: {"type": "string", "description": doc} for key, doc in zip(keys, docs, strict=True)})


@lru_cache(maxsize=8)
def _answer_tool(keys: Keys) -> ActionTool:
    moves = {"type": "array", "items": hop_schema(keys), "maxItems": MOST_HOPS, "description": "The moves, in order."}
    return ActionTool("answer", "Answer the question.", {"moves": moves})


@lru_cache(maxsize=256)
def _opening(place_map: PlaceMap, cutoff: int, template: Template, observations: str, lists: str) -> str:
    return opening(template, _shown(place_map, cutoff, observations), _listed(place_map, cutoff, lists))


def _shown(place_map: PlaceMap, cutoff: int, observations: str) -> str:
    steps = place_map.steps if observations == "full" else simplified(place_map, min(cutoff, place_map.last_step))
    return walkthrough(steps, cutoff)


def _listed(place_map: PlaceMap, cutoff: int, lists: str) -> Names:
    return all_names(place_map) if lists == "all" else _known_names(place_map, cutoff)


def _known_names(place_map: PlaceMap, cutoff: int) -> Names:
    names = seen_names(place_map, cutoff)
    return names if names.places else all_names(place_map)
