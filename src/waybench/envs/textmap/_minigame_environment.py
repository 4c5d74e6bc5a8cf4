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
from waybench.envs.textmap._instances import MetricFunction, event, share
from waybench.envs.textmap._map_environment import map_environment, prefix_option, protocol_option, questions_option
from waybench.envs.textmap._minigame_game import (
    CHOICES,
    MOVES,
    PLAYERS,
    Minigame,
    MinigameRules,
    decode_minigame,
    plain,
    resolve_minigame,
    sample_minigames,
)
from waybench.envs.textmap._place_map import Edge
from waybench.envs.textmap._prefix import walkthrough


def prove(game: Minigame) -> dict[str, Json]:
    """Return the facts about a minigame.

    Returns:
        known: whether the move is known before;
        walked: whether it was made before;
        choices: number of actions in the list;
        chance: success of a random action of the list.
    """
    choices = len(game.actions)
    return {"known": game.is_known, "walked": game.was_walked, "choices": choices, "chance": 1 / choices}


def _event_value(name: str) -> MetricFunction:
    """Return the metric of an event, undefined if the answer could not be read."""

    def compute(record: EpisodeRecord) -> float | None:
        value = event(record, name)
        return None if value is None else float(value)

    return compute


def success(record: EpisodeRecord) -> float:
    """Return whether the answer is right; an answer that could not be read is wrong."""
    return _event_value("success")(record) or 0.0


def _success_if(is_known: bool) -> MetricFunction:
    return lambda record: success(record) if record.proof["known"] is is_known else None


METRICS = (
    share(
        "success",
        success,
        "Success",
        "Whether the answer is the walkthrough's next action (section 3.5); unreadable answers count as wrong.",
    ),
    share(
        "success_known",
        _success_if(True),
        "Success, known moves",
        "The same for known moves: the walkthrough made the move or its opposite before.",
    ),
    share(
        "success_new", _success_if(False), "Success, new moves", "The same for unknown moves, which lead to new places."
    ),
    share(
        "parsed",
        lambda record: float(_event_value("success")(record) is not None),
        "Parsed",
        "Whether the answer is readable: one of the actions.",
    ),
    share("chance", lambda record: record.proof["chance"], "Chance", "Success rate of a random answer.", better=""),
    share(
        "moving",
        _event_value("moving"),
        "Moving",
        "Whether the answer leads away from the place on the map; among readable answers.",
    ),
    share(
        "arrives",
        _event_value("arrives"),
        "Same place",
        "Whether the answer leads to the same place as the walkthrough, by the same move or another.",
    ),
    share(
        "visited",
        _event_value("visited"),
        "Visited",
        "Whether the answer leads to a place that the walkthrough visited; among answers that lead away.",
        better="",
    ),
    share(
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
    """Return where a wrong action leads."""
    if event(record, "moving") is None or record.turns[-1].outcome is Outcome.ILLEGAL:
        return general_failure_kind(record)
    if event(record, "arrives"):
        return SAME_PLACE
    if not event(record, "moving"):
        return NOT_MOVING
    return BACK if event(record, "visited") else AHEAD


MOST_CHARACTERS = 100_000  # of a reply to search for an action
_LONGEST_MORE = 100  # characters; a longer reply is not compared as a whole


@dataclass(frozen=True, slots=True)
class Form:
    """A prompt template: its beginning, and functions that write the nearby moves and the question."""

    name: str
    opening: str
    nearby: Callable[[Sequence[Edge]], str]
    question: Callable[[Sequence[str]], str]


def _printed_nearby(moves: Sequence[Edge]) -> str:
    ways = "; ".join(f"if you want to go to {move.target}, you should go {move.action}" for move in moves)
    return f"Small local map info: {ways}.\n" if ways else ""


def _printed_question(actions: Sequence[str]) -> str:
    return (
        "Consider what you should do next, and choose one appropriate action from the valid actions list: "
        f"[{', '.join(actions)}]\nPlease just tell me the selected action without any extra words."
    )


def _plain_nearby(moves: Sequence[Edge]) -> str:
    ways = [{"action": move.action, "leads_to": move.target} for move in moves]
    return f"What is known of the ways from here: {json.dumps(ways, ensure_ascii=False) if ways else 'nothing'}\n"


def _plain_question(actions: Sequence[str]) -> str:
    return (
        f"The walkthrough goes on. What is done next? {json.dumps(list(actions), ensure_ascii=False)}\n"
        "Choose one action of this list, and answer with it alone."
    )


PRINTED = Form("printed", "", _printed_nearby, _printed_question)  # the paper's Example 9
PLAIN = Form(  # of waybench
    "plain",
    "This is the walkthrough of a text game, from its start up to the present:\n",
    _plain_nearby,
    _plain_question,
)
FORMS = {form.name: form for form in (PRINTED, PLAIN)}


class MinigameWording(OneAnswerWording[Minigame, str]):
    """A wording that fills a prompt template.

    With `local_map`, the prompt has the known moves from the current place. With `search_reply`, a longer reply is
    searched for an action.
    """

    def __init__(self, form: Form, *, local_map: bool, search_reply: bool) -> None:
        self.name = form.name
        self._form, self._local_map, self._searched = form, local_map, search_reply
        field = Field[Minigame]
        self.rule_fields = (
            field("walkthrough", "The walkthrough up to the present.", _walkthrough),
            field("nearby", "With local_map, the known moves from here.", lambda game: self._nearby(game).strip("\n")),
            field("actions", "The actions to choose from, one in each line.", lambda game: "\n".join(game.actions)),
            field("question", "The question, with the actions.", lambda game: form.question(game.actions)),
        )

    def _nearby(self, instance: Minigame) -> str:
        return self._form.nearby(instance.nearby) if self._local_map else ""

    def rules(self, instance: Minigame) -> str:
        """Return the whole prompt."""
        nearby = self._nearby(instance)
        return f"{self._form.opening}{_walkthrough(instance)}\n{nearby}{self._form.question(instance.actions)}"

    def parse(self, reply: str, state: AnswerState[Minigame]) -> str | Invalid:
        """Parse an action: the whole reply, up to case, spaces, quotes and punctuation.

        With `search_reply`, a longer reply is valid if it names exactly one of the actions. An action within a longer
        action does not count: "open egg with all" does not name "open egg".
        """
        if len(reply) > MOST_CHARACTERS:
            return Invalid(f"The reply has {len(reply)} characters; at most {MOST_CHARACTERS} are read.")
        dashes = any("-" in plain(action) for action in state.instance.actions)
        text = normalize_name(reply, dashes=dashes)
        actions = {plain(action): action for action in state.instance.actions}
        is_short = len(text) <= 2 * max(map(len, actions)) + _LONGEST_MORE
        if is_short and (action := actions.get(plain(text, dashes=dashes))) is not None:
            return action
        if not self._searched:
            return Invalid("The reply is none of the actions in the list.")
        longest_first = sorted(actions, key=len, reverse=True)
        mentioned = set(re.findall(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", text))
        if len(mentioned) == 1:
            return actions[mentioned.pop()]
        return Invalid(f"The reply names {len(mentioned) or 'none'} of the actions in the list; name one.")

    def render(self, action: str, state: AnswerState[Minigame]) -> str:
        """Return the action."""
        return action

    def tools(self, state: AnswerState[Minigame]) -> tuple[ActionTool, ...]:
        """Return the tool that takes one of the listed actions."""
        schema = {"type": "string", "enum": list(state.instance.actions), "description": "The action."}
        return (ActionTool("choose", "Choose the next action.", {"action": schema}),)

    def parse_call(self, call: ToolCall, state: AnswerState[Minigame]) -> str:
        """Read the action."""
        return call.arguments["action"]

    def render_call(self, action: str, state: AnswerState[Minigame]) -> ToolCall:
        """Return a call with the action."""
        return ToolCall("choose", {"action": action})


def _walkthrough(instance: Minigame) -> str:
    return walkthrough(instance.map.steps, instance.cutoff)


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
    words = MinigameWording(FORMS[wording], local_map=local_map, search_reply=protocol == SOUND.name)
    return Play(MinigameRules(), words, Limits(turns=1))


MINIGAME = map_environment(
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
