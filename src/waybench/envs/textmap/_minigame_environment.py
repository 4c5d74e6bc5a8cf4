"""The environment of minigames, with its wordings, metrics and failures."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from waybench._package_data import read_text
from waybench.core import (
    EASIER,
    HARDER,
    ActionTool,
    AnswerState,
    EpisodeRecord,
    FailureKind,
    Field,
    Invalid,
    Json,
    Limits,
    OneAnswerWording,
    Option,
    Outcome,
    Play,
    Players,
    Scoring,
    ToolCall,
    general_failure_kind,
    normalize_name,
)
from waybench.envs.textmap._answers import SOUND
from waybench.envs.textmap._instances import MetricFunction, last_event, share_metric
from waybench.envs.textmap._map_environment import (
    make_map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap._minigame_game import (
    CHOICES,
    MOVES,
    PLAYERS,
    Minigame,
    MinigameRules,
    decode_minigame,
    plain_action,
    resolve_minigame,
    sample_minigames,
)
from waybench.envs.textmap._place_map import Edge
from waybench.envs.textmap._prefix import published_walkthrough_text


def prove(game: Minigame) -> dict[str, Json]:
    """Return whether the move is known and was walked before, the number of choices, and a random action's success."""
    n_choices = len(game.actions)
    return {"known": game.is_known, "walked": game.was_walked, "choices": n_choices, "chance": 1 / n_choices}


def _event_value_metric(name: str) -> MetricFunction:
    """Return a function of a record: an event's value, None if the answer could not be read."""

    def event_value(record: EpisodeRecord) -> float | None:
        value = last_event(record, name)
        return None if value is None else float(value)

    return event_value


def answer_success(record: EpisodeRecord) -> float:
    """Return 1 or 0: whether the answer is right; an answer that could not be read is wrong."""
    return _event_value_metric("success")(record) or 0.0


def _success_metric_if(is_known: bool) -> MetricFunction:
    """Return a function of a record: its success if the right move's `is_known` is this; None otherwise."""
    return lambda record: answer_success(record) if record.proof["known"] is is_known else None


METRICS = (
    share_metric(
        "success",
        answer_success,
        "Success",
        "Whether the answer is the walkthrough's next action (section 3.5); unreadable answers count as wrong.",
    ),
    share_metric(
        "success_known",
        _success_metric_if(True),
        "Success, known moves",
        "The same for known moves: the walkthrough made the move or its opposite before.",
    ),
    share_metric(
        "success_new",
        _success_metric_if(False),
        "Success, new moves",
        "The same for unknown moves, which lead to new places.",
    ),
    share_metric(
        "parsed",
        lambda record: float(_event_value_metric("success")(record) is not None),
        "Parsed",
        "Whether the answer is readable: one of the actions.",
    ),
    share_metric(
        "chance", lambda record: record.proof["chance"], "Chance", "Success rate of a random answer.", better=""
    ),
    share_metric(
        "moving",
        _event_value_metric("moving"),
        "Moving",
        "Whether the answer leads away from the place on the map; among readable answers.",
    ),
    share_metric(
        "arrives",
        _event_value_metric("arrives"),
        "Same place",
        "Whether the answer leads to the same place as the walkthrough, by the same move or another.",
    ),
    share_metric(
        "visited",
        _event_value_metric("visited"),
        "Visited",
        "Whether the answer leads to a place that the walkthrough visited; among answers that lead away.",
        better="",
    ),
    share_metric(
        "known",
        lambda record: float(record.proof["known"]),
        "Known moves",
        "Whether the right move is known: the walkthrough made it or its opposite before.",
        better="",
    ),
)


SAME_PLACE = FailureKind(
    "same_place", "another move to the same place", "The action leads to the same place as the walkthrough's move."
)
NOT_MOVING = FailureKind("not_moving", "actions that do not lead away", "The action leads nowhere on the map.")
BACK = FailureKind("back", "moves to places visited before", "The action leads back to a place of the walkthrough.")
AHEAD = FailureKind("ahead", "moves to other new places", "The action leads to another new place.")
MINIGAME_FAILURES = (
    FailureKind("illegal", "actions that are not listed", "The action is not on the list."),
    SAME_PLACE,
    NOT_MOVING,
    BACK,
    AHEAD,
)


def minigame_failure(record: EpisodeRecord) -> FailureKind:
    """Return the kind of a failure by where the wrong action leads."""
    if last_event(record, "moving") is None or record.turns[-1].outcome is Outcome.ILLEGAL:
        return general_failure_kind(record)
    if last_event(record, "arrives"):
        return SAME_PLACE
    if not last_event(record, "moving"):
        return NOT_MOVING
    return BACK if last_event(record, "visited") else AHEAD


MOST_CHARACTERS = 100_000  # of a reply to search for an action
_LONGEST_EXTRA = 100  # characters beyond twice the longest action; a longer reply is not compared as a whole


@dataclass(frozen=True, slots=True)
class Form:
    """A prompt template: its beginning, and functions that return the texts of nearby moves and of the question."""

    name: str
    opening: str
    nearby: Callable[[Sequence[Edge]], str]
    question: Callable[[Sequence[str]], str]


def _printed_nearby_text(moves: Sequence[Edge]) -> str:
    """Return the known moves from the current place as the paper prints them."""
    moves_text = "; ".join(f"if you want to go to {move.target}, you should go {move.action}" for move in moves)
    return f"Small local map info: {moves_text}.\n" if moves_text else ""


def _printed_question_text(actions: Sequence[str]) -> str:
    """Return the question as the paper prints it."""
    return (
        "Consider what you should do next, and choose one appropriate action from the valid actions list: "
        f"[{', '.join(actions)}]\nPlease just tell me the selected action without any extra words."
    )


def _plain_nearby_text(moves: Sequence[Edge]) -> str:
    """Return the known moves from the current place in our own words, as JSON."""
    rows = [{"action": move.action, "leads_to": move.target} for move in moves]
    return f"What is known of the ways from here: {json.dumps(rows, ensure_ascii=False) if rows else 'nothing'}\n"


def _plain_question_text(actions: Sequence[str]) -> str:
    """Return the question in our own words."""
    return (
        f"The walkthrough goes on. What is done next? {json.dumps(list(actions), ensure_ascii=False)}\n"
        "Choose one action of this list, and answer with it alone."
    )


PRINTED = Form("printed", "", _printed_nearby_text, _printed_question_text)  # the paper's Example 9
PLAIN = Form(  # of waybench
    "plain",
    "This is the walkthrough of a text game, from its start up to the present:\n",
    _plain_nearby_text,
    _plain_question_text,
)
FORMS = {form.name: form for form in (PRINTED, PLAIN)}


class MinigameWording(OneAnswerWording[Minigame, str]):
    """A wording that fills a prompt template.

    With `local_map`, the prompt has the known moves from the current place. With `search_reply`, a longer reply is
    searched for an action.
    """

    def __init__(self, form: Form, *, local_map: bool, search_reply: bool) -> None:
        self.name = form.name
        self._form, self._local_map, self._search_reply = form, local_map, search_reply
        field = Field[Minigame]
        self.rule_fields = (
            field("walkthrough", "The walkthrough up to the present.", _walkthrough_text),
            field(
                "nearby", "With local_map, the known moves from here.", lambda game: self._nearby_text(game).strip("\n")
            ),
            field("actions", "The actions to choose from, one in each line.", lambda game: "\n".join(game.actions)),
            field("question", "The question, with the actions.", lambda game: form.question(game.actions)),
        )

    def _nearby_text(self, instance: Minigame) -> str:
        """Return the known moves from the current place, with the option `local_map`."""
        return self._form.nearby(instance.nearby_moves) if self._local_map else ""

    def rules(self, instance: Minigame) -> str:
        nearby = self._nearby_text(instance)
        return f"{self._form.opening}{_walkthrough_text(instance)}\n{nearby}{self._form.question(instance.actions)}"

    def parse(self, reply: str, state: AnswerState[Minigame]) -> str | Invalid:
        """Parse an action: the whole reply, up to case, spaces, quotes and punctuation.

        With `search_reply`, a longer reply is valid if it names exactly one of the actions. An action within a longer
        action does not count: "open egg with all" does not name "open egg".
        """
        if len(reply) > MOST_CHARACTERS:
            return Invalid(f"The reply has {len(reply)} characters; at most {MOST_CHARACTERS} are read.")
        actions = {plain_action(action): action for action in state.instance.actions}
        has_dashes = any("-" in name for name in actions)
        text = normalize_name(reply, dashes=has_dashes)
        is_short = len(text) <= 2 * max(map(len, actions)) + _LONGEST_EXTRA
        if is_short and (action := actions.get(plain_action(text, dashes=has_dashes))) is not None:
            return action
        if not self._search_reply:
            return Invalid("The reply is none of the actions in the list.")
        longest_first = sorted(actions, key=len, reverse=True)
        mentioned_names = set(re.findall(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", text))
        if len(mentioned_names) == 1:
            return actions[mentioned_names.pop()]
        return Invalid(f"The reply names {len(mentioned_names) or 'none'} of the actions in the list; name one.")

    def render(self, action: str, state: AnswerState[Minigame]) -> str:
        return action

    def tools(self, state: AnswerState[Minigame]) -> tuple[ActionTool, ...]:
        schema = {"type": "string", "enum": list(state.instance.actions), "description": "The action."}
        return (ActionTool("choose", "Choose the next action.", {"action": schema}),)

    def parse_call(self, call: ToolCall, state: AnswerState[Minigame]) -> str:
        return call.arguments["action"]

    def render_call(self, action: str, state: AnswerState[Minigame]) -> ToolCall:
        return ToolCall("choose", {"action": action})


def _walkthrough_text(instance: Minigame) -> str:
    """Return the steps before the one to predict."""
    return published_walkthrough_text(instance.map.steps, instance.cutoff)


OPTIONS = (
    protocol_option(
        '"paper": the reply must be one of the actions and nothing else; "sound": it must name exactly one of them.'
    ),
    Option(
        name="wording",
        default=PRINTED.name,
        choices=tuple(FORMS),
        doc="printed: the paper's Example 9; plain: our own prompt.",
    ),
    Option(
        name="local_map",
        effect=EASIER,
        default=False,
        doc="Whether the prompt lists the known moves from the current place and where they lead.",
    ),
)
SOURCE_OPTIONS = (
    prefix_option("Steps of the walkthrough from which moves are chosen; by default all."),
    questions_option("Minigames per world."),
    Option(
        name="moves",
        default="all",
        choices=MOVES,
        doc="Moves to predict: all, or only those that the walkthrough made before, or whose opposite it made.",
    ),
    Option(name="choices", effect=HARDER, default=CHOICES, low=2, high=50, doc="Approximate number of listed actions."),
)


def _play(protocol: str, wording: str, local_map: bool) -> Play[Minigame, AnswerState[Minigame], str]:
    """Return the rules and the wording of an episode by the options."""
    minigame_wording = MinigameWording(FORMS[wording], local_map=local_map, search_reply=protocol == SOUND.name)
    return Play(MinigameRules(), minigame_wording, Limits(turns=1))


MINIGAME = make_map_environment(
    "minigame",
    title="Text maps: minigames (MANGO)",
    about=read_text(__file__, "minigame.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    ask=lambda place_map, cutoff, count, stream, options, world: sample_minigames(
        place_map, cutoff, count, stream, moves=options["moves"], choices=int(options["choices"]), world=world
    ),
    purpose=("textmap/minigames",),
    limit=(10, "Moves to predict per walkthrough; all if there are fewer."),
    decode=decode_minigame,
    resolve_references=resolve_minigame,
    prove=prove,
    scoring=Scoring(metrics=METRICS, failures=MINIGAME_FAILURES, failure=minigame_failure),
    players=Players(policies=PLAYERS),
)
