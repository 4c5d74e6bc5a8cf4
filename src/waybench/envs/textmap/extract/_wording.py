"""The wording of extractions. The paper has none, so it is waybench's own."""

import json
from functools import lru_cache

from waybench.core import ActionTool, Field, Invalid, Json, Memory, ToolCall, Transition, View, Wording, last_object
from waybench.envs.textmap.extract._game import ExtractionState
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction
from waybench.envs.textmap.map import Step, all_names, seen_names, walkthrough
from waybench.envs.textmap.questions import RELEASED, Hop, Trajectory, hop_schema, sound_answer, trajectory

_TASK = (
    "This is the walkthrough of a text game. Each step of it becomes a triplet: the place before the step, the action, "
    "and the place after it. They are the same place if the step does not lead to another one.\n"
    "The places, by the names to be used: {places}\n\n"
)
_ANSWER = '{"location_before": "...", "action": "...", "location_after": "..."}'


class ExtractionWording(Wording[Extraction, ExtractionState, Trajectory]):
    """The wording that requests triplets.

    Args:
        mode: "steps": one step in each prompt, with the same five examples; "whole": all steps in one prompt.
        lists: "all": list all places of the map; "seen": only those known from the prefix.
    """

    name = "plain"

    def __init__(self, mode: str, lists: str) -> None:
        self.memory = Memory("fresh") if mode == "steps" else Memory()
        self._mode, self._lists = mode, lists
        self.rule_fields = (
            Field[Extraction]("places", "The list of places, as JSON.", lambda task: _places(task, lists)),
            Field[Extraction](
                "walkthrough",
                "The steps: with mode=steps those that are examples, otherwise all that are shown.",
                lambda task: walkthrough(task.map.steps, EXAMPLES if mode == "steps" else task.cutoff),
            ),
            Field[Extraction]("examples", "With mode=steps, the first steps with their triplets.", self._examples),
        )
        self.fields = (
            Field[View[ExtractionState]](
                "last_step", "The step before the one that is asked for.", lambda view: _step(view.state, -1)
            ),
            Field[View[ExtractionState]](
                "step", "The step whose triplet is asked for.", lambda view: _step(view.state, 0)
            ),
            Field[View[ExtractionState]](
                "place", "The place before it, as JSON.", lambda view: "" if view.state.end else _place(view.state)
            ),
        )

    def _examples(self, instance: Extraction) -> str:
        return "\n\n".join(_example_texts(instance)) if self._mode == "steps" else ""

    def rules(self, instance: Extraction) -> str:
        """Return the task, with the examples or the whole walkthrough."""
        return _rules(instance, self._mode, self._lists)

    def observe(self, state: ExtractionState, last: Transition[ExtractionState] | Invalid | None, turn: int) -> str:
        """Return the next step with the one before it, or a message after the last step."""
        if state.end is not None:
            return last.reason if self._mode == "whole" and isinstance(last, Invalid) else "That was the last step."
        if self._mode == "whole":
            return ""
        return (
            f"The last step:\n{_step(state, -1)}\n\nThe step to be told:\n{_step(state, 0)}\n\n"
            f"The place before it: {_place(state)}\n"
            f"Answer with its triplet, a JSON object: {_ANSWER}"
        )

    def parse(self, reply: str, state: ExtractionState) -> Trajectory | Invalid:
        """Parse a triplet from the last JSON object, or all of them from the last list of objects."""
        if self._mode == "whole":
            return sound_answer(reply)
        answer = last_object(reply, RELEASED.before)
        if isinstance(answer, Invalid):
            return answer
        if answer.duplicate is not None:
            return Invalid("The JSON object has a key twice.")
        return trajectory([answer])

    def render(self, action: Trajectory, state: ExtractionState) -> str:
        """Return triplets as JSON."""
        rows = [_row(hop) for hop in action]
        return rows[0] if self._mode == "steps" else f"[{', '.join(rows)}]"

    def tools(self, state: ExtractionState) -> tuple[ActionTool, ...]:
        """Return the tool that takes a triplet, or all of them."""
        return (_TRIPLET if self._mode == "steps" else _TRIPLETS,)

    def parse_call(self, call: ToolCall, state: ExtractionState) -> Trajectory | Invalid:
        """Read triplets."""
        return trajectory([call.arguments] if self._mode == "steps" else call.arguments["triplets"])

    def render_call(self, action: Trajectory, state: ExtractionState) -> ToolCall:
        """Return a call with the triplets."""
        rows = [dict(zip(RELEASED, hop, strict=True)) for hop in action]
        return (
            ToolCall(_TRIPLET.name, rows[0]) if self._mode == "steps" else ToolCall(_TRIPLETS.name, {"triplets": rows})
        )


_HOP: Json = hop_schema(RELEASED)
_TRIPLET = ActionTool("triplet", "Give the triplet of the step.", _HOP["properties"])
_TRIPLETS = ActionTool(
    "triplets",
    "Give the triplets of all steps.",
    {"triplets": {"type": "array", "items": _HOP, "description": "The triplets, in the order of the steps."}},
)


def _row(hop: Hop) -> str:
    return json.dumps(dict(zip(RELEASED, hop, strict=True)), ensure_ascii=False)


def _block(step: Step) -> str:
    return walkthrough((step,)).strip()


def _step(state: ExtractionState, after: int) -> str:
    """Return the step that is asked for, or one before it; "" where none is."""
    if state.mode == "whole" or state.end is not None:
        return ""
    return _block(state.task.map.steps[state.step + after])


def _place(state: ExtractionState) -> str:
    return json.dumps(state.place, ensure_ascii=False) if state.mode == "steps" else ""


def _places(instance: Extraction, lists: str) -> str:
    known_names = seen_names(instance.map, instance.cutoff) if lists == "seen" else all_names(instance.map)
    names = known_names.places or all_names(instance.map).places
    return json.dumps(list(names), ensure_ascii=False)


def _example_texts(instance: Extraction) -> list[str]:
    steps = instance.map.steps
    solved = zip(steps[1:], instance.truth[:EXAMPLES], strict=False)
    return [_block(steps[0]), *(f"{_block(step)}\n{_row(hop)}" for step, hop in solved)]


@lru_cache(maxsize=64)
def _rules(instance: Extraction, mode: str, lists: str) -> str:
    task = _TASK.replace("{places}", _places(instance, lists))
    steps = instance.map.steps
    if mode == "whole":
        return (
            f"{task}{walkthrough(steps, instance.cutoff)}\n"
            f"Answer with the triplets of the steps from 1 to {instance.cutoff}, in their order and one for each step, "
            f"as a JSON array: [{_ANSWER}, ...]"
        )
    return f"{task}The first steps, as examples:\n" + "\n\n".join(_example_texts(instance))
