"""The wordings of minigames: the prompt of the paper and a plain one."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from waybench.core import ActionTool, AnswerState, Field, Invalid, OneAnswerWording, ToolCall, normal_name
from waybench.envs.textmap.map import Edge, walkthrough
from waybench.envs.textmap.minigame._game import Minigame, plain

MOST_CHARACTERS = 100_000  # of a reply to search for an action
_LONGEST_MORE = 100  # characters; a longer reply is not compared as a whole


@dataclass(frozen=True, slots=True)
class Form:
    """A prompt template.

    Attributes:
        name: Name of the wording.
        opening: Text before the walkthrough.
        nearby: Moves -> description of the nearby places.
        question: Actions -> the question.
    """

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

    Args:
        form: The prompt template.
        local_map: Whether the prompt has the known moves from the current place.
        search_reply: Whether to search a longer reply for an action.
    """

    def __init__(self, form: Form, *, local_map: bool, search_reply: bool) -> None:
        self.name = form.name
        self._form, self._local_map, self._searched = form, local_map, search_reply
        self.rule_fields = (
            Field[Minigame]("walkthrough", "The walkthrough up to the present.", _walkthrough),
            Field[Minigame](
                "nearby", "With local_map, the known moves from here.", lambda it: self._nearby(it).strip("\n")
            ),
            Field[Minigame](
                "actions", "The actions to choose from, one in each line.", lambda it: "\n".join(it.actions)
            ),
            Field[Minigame]("question", "The question, with the actions.", lambda it: form.question(it.actions)),
        )

    def _nearby(self, instance: Minigame) -> str:
        return self._form.nearby(instance.nearby) if self._local_map else ""

    def rules(self, instance: Minigame) -> str:
        """Return the whole prompt."""
        known = self._nearby(instance)
        return f"{self._form.opening}{_walkthrough(instance)}\n{known}{self._form.question(instance.actions)}"

    def parse(self, reply: str, state: AnswerState[Minigame]) -> str | Invalid:
        """Parse an action: the whole reply, up to case, spaces, quotes and punctuation.

        With `search_reply`, a longer reply is valid if it names exactly one of the actions. An action within a longer
        action does not count: "open egg with all" does not name "open egg".
        """
        if len(reply) > MOST_CHARACTERS:
            return Invalid(f"The reply has {len(reply)} characters; at most {MOST_CHARACTERS} are read.")
        dashes = any("-" in plain(action) for action in state.instance.actions)
        text = normal_name(reply, dashes=dashes)
        actions = {plain(action): action for action in state.instance.actions}
        whole = (
            actions.get(plain(text, dashes=dashes)) if len(text) <= 2 * max(map(len, actions)) + _LONGEST_MORE else None
        )
        if whole is not None:
            return whole
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
        listed = {"type": "string", "enum": list(state.instance.actions), "description": "The action."}
        return (ActionTool("choose", "Choose the next action.", {"action": listed}),)

    def parse_call(self, call: ToolCall, state: AnswerState[Minigame]) -> str:
        """Read the action."""
        return call.arguments["action"]

    def render_call(self, action: str, state: AnswerState[Minigame]) -> ToolCall:
        """Return a call with the action."""
        return ToolCall("choose", {"action": action})


def _walkthrough(instance: Minigame) -> str:
    return walkthrough(instance.map.steps, instance.cutoff)
