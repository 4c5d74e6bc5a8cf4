"""Extractions: rules, reference players and wording."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from waybench.core import (
    ActionTool,
    End,
    Field,
    Game,
    GameProperties,
    Invalid,
    Json,
    Memory,
    Outcome,
    Player,
    Stream,
    ToolCall,
    Transition,
    View,
    Wording,
    last_json_object,
    normalize_name,
)
from waybench.envs.textmap._answers import (
    RELEASED,
    Hop,
    MatchingRules,
    Trajectory,
    move_index,
    parse_sound_answer,
    read_trajectory,
)
from waybench.envs.textmap._extraction_items import (
    EXAMPLES,
    Extraction,
    PlayerTriplets,
    expected_triplets,
    normalize_hop,
    score_triplets,
)
from waybench.envs.textmap._game import TrajectoryAnswers
from waybench.envs.textmap._place_map import WalkthroughStep
from waybench.envs.textmap._prefix import published_walkthrough_text, seen_names
from waybench.envs.textmap._wording import hop_schema, prompt_names

MODES = ("steps", "whole")
BEFORE = ("told", "own")
_ANSWER = '{"location_before": "...", "action": "...", "location_after": "..."}'
_HOP: Json = hop_schema(RELEASED)
_TRIPLET = ActionTool("triplet", "Give the triplet of the step.", _HOP["properties"])


@dataclass(frozen=True, slots=True)
class ExtractionState:
    """An extraction and the triplets so far.

    Attributes:
        mode: "steps": one triplet in each turn, the first five being examples; "whole": all in one answer.
        before: The place that the prompt gives as the place before a step: "told" for the true place, "own" for the end
            of the player's last triplet.
        triplets: The triplets so far; None for a step whose triplet could not be read.
        end: None before the last triplet.
    """

    task: Extraction
    mode: str
    before: str
    triplets: PlayerTriplets = ()
    end: End | None = None

    @property
    def step(self) -> int:
        """Number of the next step; of the first step in mode "whole"."""
        return 1 + len(self.triplets) + (EXAMPLES if self.mode == "steps" else 0)

    @property
    def place(self) -> str:
        """The place that the prompt gives as the place before the next step."""
        if self.before == "told":
            return self.task.truth[self.step - 1].before
        for hop in reversed(self.triplets):
            if hop is not None:
                return hop.after
        # Before the player's first triplet, the place is the end of the examples.
        return self.task.truth[self.step - 1 - len(self.triplets)].before


class ExtractionRules(TrajectoryAnswers, Game[Extraction, ExtractionState, Trajectory]):
    """The player gives triplets, one for each step or all at once; then their graph answers the questions.

    The reward of a right triplet is one divided by the number of triplets. The game is solved if the graph answers all
    questions that the graph of the true triplets answers.
    """

    def __init__(self, mode: str, before: str, rules: MatchingRules) -> None:
        self.properties = GameProperties(deterministic=True, turns=None if mode == "steps" else 1)
        self._mode, self._before, self._rules = mode, before, rules

    def start(self, instance: Extraction) -> ExtractionState:
        return ExtractionState(instance, self._mode, self._before)

    def legal(self, state: ExtractionState) -> Sequence[Trajectory]:
        """Return one triplet for each place that the next step could lead to."""
        if state.end is not None:
            return ()
        true_hop = state.task.truth[state.step - 1]
        return [(true_hop._replace(after=place),) for place in state.task.map.places]

    def apply(self, state: ExtractionState, action: Trajectory, rng: Stream) -> Transition[ExtractionState]:
        """Score a triplet, or in mode "whole" all of them; places that are not on the map are illegal."""
        if state.mode == "steps" and len(action) != 1:
            return Transition(self.forfeit(state), outcome=Outcome.ILLEGAL)
        after = self._add_triplets(state, action)
        truth = expected_triplets(state.task, state.mode)
        if state.mode == "steps":
            right_share = float(normalize_hop(action[0]) == normalize_hop(truth[len(state.triplets)]))
            reward = right_share / len(truth)
        else:
            right_share = reward = score_triplets(state.task, action, state.mode, self._rules).triplets
        index, outcome = move_index(state.task.map), Outcome.OK
        if right_share < 1:
            are_places_known = all(index.find_place(hop.before) and index.find_place(hop.after) for hop in action)
            outcome = Outcome.UNPRODUCTIVE if are_places_known else Outcome.ILLEGAL
        return Transition(after, reward, {"right": right_share}, outcome)

    def forfeit(self, state: ExtractionState) -> ExtractionState:
        """Count the reply as no triplet: go on to the next step, or end where all triplets are in one reply."""
        return self._add_triplets(state, (None,) if state.mode == "steps" else ())

    def _add_triplets(self, state: ExtractionState, new_triplets: PlayerTriplets) -> ExtractionState:
        """Return the state with further triplets, and how it ends if these are the last ones."""
        triplets = (*state.triplets, *new_triplets)
        if state.mode == "steps" and len(triplets) < len(expected_triplets(state.task, state.mode)):
            return replace(state, triplets=triplets)
        best_success = score_triplets(state.task, state.task.truth, "whole", self._rules).success
        is_solved = score_triplets(state.task, triplets, state.mode, self._rules).success >= best_success
        return replace(state, triplets=triplets, end=End.SOLVED if is_solved else End.FAILED)

    def terminal(self, state: ExtractionState) -> End | None:
        """Return SOLVED or FAILED after the last triplet: whether the graph does as well as that of true triplets."""
        return state.end

    def perturb(self, state: ExtractionState, action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Replace the end of each triplet by a random place with the given probability."""
        places = state.task.map.places
        return tuple(hop._replace(after=rng.choice(places)) if rng.random() < rate else hop for hop in action)


def _predict_triplets(state: ExtractionState, predict_place: Callable[[int, str], str]) -> Trajectory:
    """Return the triplet of the next step, or in mode "whole" those of all steps.

    `predict_place(step, place before)` returns the place after a step.
    """
    truth, before = state.task.truth, state.place
    last_step = state.step if state.mode == "steps" else len(truth)
    triplets: list[Hop] = []
    for number in range(state.step, last_step + 1):
        triplets.append(Hop(before, truth[number - 1].action, predict_place(number, before)))
        before = triplets[-1].after
    return tuple(triplets)


def oracle(state: ExtractionState, rng: Stream) -> Trajectory:
    """Give the true triplets."""
    truth = state.task.truth
    return (truth[state.step - 1],) if state.mode == "steps" else truth


def read_headings(state: ExtractionState, rng: Stream) -> Trajectory:
    """Take the first line of an observation as the place if it is a name; otherwise assume no move."""
    task = state.task
    names = {normalize_name(place): place for place in seen_names(task.map, task.cutoff).places}

    def place_in_heading(number: int, before: str) -> str:
        """Return the place that the first line of a step's observation names; otherwise the place before."""
        lines = task.map.steps[number].observation.strip().splitlines()
        return names.get(normalize_name(lines[0]), before) if lines else before

    return _predict_triplets(state, place_in_heading)


def assume_no_moves(state: ExtractionState, rng: Stream) -> Trajectory:
    """Answer that no step of the walkthrough leads to another place."""
    return _predict_triplets(state, lambda number, before: before)


def random(state: ExtractionState, rng: Stream) -> Trajectory:
    """Choose a random place after each step."""
    return _predict_triplets(state, lambda number, before: rng.choice(state.task.map.places))


PLAYERS: Mapping[str, Player[ExtractionState, Trajectory]] = {
    "heuristic": read_headings,
    "oracle": oracle,
    "headings": read_headings,
    "staying": assume_no_moves,
    "random": random,
}


_TASK = (
    "This is the walkthrough of a text game. Each step of it becomes a triplet: the place before the step, the action, "
    "and the place after it. They are the same place if the step does not lead to another one.\n"
    "The places, by the names to be used: {places}\n\n"
)


class ExtractionWording(Wording[Extraction, ExtractionState, Trajectory]):
    """The wording that requests triplets.

    In mode "steps", each prompt has one step and the same five examples; in mode "whole", all steps are in one prompt.
    """

    name = "plain"

    def __init__(self, mode: str, lists: str) -> None:
        self.memory = Memory("fresh") if mode == "steps" else Memory()
        self._mode, self._lists = mode, lists
        rule, field = Field[Extraction], Field[View[ExtractionState]]
        self.rule_fields = (
            rule("places", "The list of places, as JSON.", lambda task: _place_list_json(task, lists)),
            rule(
                "walkthrough",
                "The steps: with mode=steps those that are examples, otherwise all that are shown.",
                lambda task: published_walkthrough_text(task.map.steps, EXAMPLES if mode == "steps" else task.cutoff),
            ),
            rule(
                "examples",
                "With mode=steps, the first steps with their triplets.",
                lambda task: _examples_text(task) if mode == "steps" else "",
            ),
        )
        self.fields = (
            field(
                "last_step",
                "The step before the one that is asked for.",
                lambda view: _shown_step_text(view.state, -1),
            ),
            field("step", "The step whose triplet is asked for.", lambda view: _shown_step_text(view.state, 0)),
            field(
                "place",
                "The place before it, as JSON.",
                lambda view: "" if view.state.end else _place_json(view.state),
            ),
        )

    def rules(self, instance: Extraction) -> str:
        return _rules_text(instance, self._mode, self._lists)

    def observe(self, state: ExtractionState, last: Transition[ExtractionState] | Invalid | None, turn: int) -> str:
        """Return the next step with the one before it, or a message after the last step."""
        if state.end is not None:
            return last.reason if self._mode == "whole" and isinstance(last, Invalid) else "That was the last step."
        if self._mode == "whole":
            return ""
        return (
            f"The last step:\n{_shown_step_text(state, -1)}\n\n"
            f"The step to be told:\n{_shown_step_text(state, 0)}\n\n"
            f"The place before it: {_place_json(state)}\n"
            f"Answer with its triplet, a JSON object: {_ANSWER}"
        )

    def parse(self, reply: str, state: ExtractionState) -> Trajectory | Invalid:
        """Parse a triplet from the last JSON object, or all of them from the last list of objects."""
        if self._mode == "whole":
            return parse_sound_answer(reply)
        answer = last_json_object(reply, RELEASED.before)
        if isinstance(answer, Invalid):
            return answer
        if answer.duplicate is not None:
            return Invalid("The JSON object has a key twice.")
        return read_trajectory([answer])

    def render(self, action: Trajectory, state: ExtractionState) -> str:
        objects = [_triplet_json(hop) for hop in action]
        return objects[0] if self._mode == "steps" else f"[{', '.join(objects)}]"

    def tools(self, state: ExtractionState) -> tuple[ActionTool, ...]:
        return (_TRIPLET if self._mode == "steps" else _TRIPLETS,)

    def parse_call(self, call: ToolCall, state: ExtractionState) -> Trajectory | Invalid:
        return read_trajectory([call.arguments] if self._mode == "steps" else call.arguments["triplets"])

    def render_call(self, action: Trajectory, state: ExtractionState) -> ToolCall:
        objects = [dict(zip(RELEASED, hop, strict=True)) for hop in action]
        if self._mode == "steps":
            return ToolCall(_TRIPLET.name, objects[0])
        return ToolCall(_TRIPLETS.name, {"triplets": objects})


_TRIPLETS = ActionTool(
    "triplets",
    "Give the triplets of all steps.",
    {"triplets": {"type": "array", "items": _HOP, "description": "The triplets, in the order of the steps."}},
)


def _triplet_json(hop: Hop) -> str:
    """Return a triplet as a JSON object."""
    return json.dumps(dict(zip(RELEASED, hop, strict=True)), ensure_ascii=False)


def _step_text(step: WalkthroughStep) -> str:
    """Return one step of a walkthrough."""
    return published_walkthrough_text((step,)).strip()


def _shown_step_text(state: ExtractionState, offset: int) -> str:
    """Return the step whose triplet is asked for (offset 0), or the step before it (-1); "" if none is asked for."""
    if state.mode == "whole" or state.end is not None:
        return ""
    return _step_text(state.task.map.steps[state.step + offset])


def _place_json(state: ExtractionState) -> str:
    """Return the place before the step that is asked for, as JSON; "" in mode "whole"."""
    return json.dumps(state.place, ensure_ascii=False) if state.mode == "steps" else ""


def _place_list_json(instance: Extraction, lists: str) -> str:
    """Return the places to choose from as JSON: all of the map, or those seen in the prefix."""
    return json.dumps(prompt_names(instance.map, instance.cutoff, lists).places, ensure_ascii=False)


def _examples_text(instance: Extraction) -> str:
    """Return the first steps with their triplets."""
    opening, *steps = instance.map.steps
    examples = zip(steps, instance.truth[:EXAMPLES], strict=False)
    return "\n\n".join([_step_text(opening), *(f"{_step_text(step)}\n{_triplet_json(hop)}" for step, hop in examples)])


@lru_cache(maxsize=64)
def _rules_text(instance: Extraction, mode: str, lists: str) -> str:
    """Return the whole first message: the task, with the examples or all steps."""
    task = _TASK.replace("{places}", _place_list_json(instance, lists))
    if mode == "whole":
        return (
            f"{task}{published_walkthrough_text(instance.map.steps, instance.cutoff)}\n"
            f"Answer with the triplets of the steps from 1 to {instance.cutoff}, in their order and one for each step, "
            f"as a JSON array: [{_ANSWER}, ...]"
        )
    return f"{task}The first steps, as examples:\n" + _examples_text(instance)
