"""The words around a game: the manual, the observations and the questions (SmartPlay, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import CALL_RULES, ActionTool, Field, Invalid, Memory, Message, ToolCall, Transition, View, Wording
from waybench.smartplay._game import THOUGHT, AgentState, Choice
from waybench.smartplay._history import history_text, manual_text
from waybench.smartplay._match import published_match, sound_match
from waybench.smartplay._rules import I, Rules, W

ROLE = "You’re a player trying to play the game."
THINK = "What is the next action to take, let’s think step by step."  # as section 5 words it
CHOOSE = (
    "Choose the best executable action from the list of all actions. Write the exact chosen action."  # as section 5
)
CODE_THINK = "What is the best action to take? Let's think step by step, "  # as the published program words it
_PRESENT = "current step observation: "
_PLAIN = "Answer with the exact name of one action of the list, and nothing else."
_THINK_RULES = " Where you are asked to think, answer with text and without a call."


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """The questions in the prompt.

    Attributes:
        name: Its name.
        memory: How much of the episode is shown again.
        think: The question for a thought; "" for none.
        choose: The question for an action.
        splits: Whether manual, history and observation are system messages of their own.
    """

    name: str
    memory: Memory
    think: str
    choose: str
    splits: bool = False

    @property
    def chats(self) -> bool:
        """Whether the whole chat is shown, so that no history is needed."""
        return self.memory.kind == "chat"


PROMPT_STYLES = {
    style.name: style
    for style in (
        PromptStyle("two_questions", Memory("fresh"), THINK, CHOOSE),
        PromptStyle("code", Memory("fresh"), CODE_THINK, CHOOSE, splits=True),
        PromptStyle("one_question", Memory("fresh"), "", CHOOSE),
        PromptStyle("chat", Memory(), "", _PLAIN),
    )
}


class AgentWording(Wording[I, AgentState[I, W], Choice]):
    """The manual, the history, the present observation, and one or two questions.

    The published program sends manual, history and observation as system messages of their own, and so does the style
    "code". In the other styles the manual is the system message, and the rest stands before the question.

    Args:
        rules: Whose manual and observations.
        style: The questions, and how much of the episode is shown again.
        published: Whether the first name found counts, and the first action where there is none; otherwise exactly
            one action must be named.
    """

    rules_role = "system"

    def __init__(self, rules: Rules[I, W], style: PromptStyle, *, published: bool) -> None:
        self.name = style.name
        self.memory = style.memory
        self._rules, self._style, self._published = rules, style, published
        self._thinks, self._chats, self._first_question = bool(style.think), style.chats, style.think or style.choose
        self.call_rules = CALL_RULES + (_THINK_RULES if style.think else "")
        self.rule_fields = (
            Field[I]("manual", "The manual of the game, without the list of actions.", rules.manual),
            Field[I]("actions", "The names of all actions, one in each line.", self._action_lines),
            *rules.manual_fields,
        )
        self.fields = (
            Field[View[AgentState[I, W]]](
                "history", "The past observations; none after a thought.", lambda view: self._history(view.state)
            ),
            Field[View[AgentState[I, W]]](
                "scene",
                "The description of the game as it is now; none after a thought.",
                lambda view: self._scene(view.state),
            ),
            Field[View[AgentState[I, W]]](
                "mistake", "Why the last reply was not carried out.", lambda view: _mistake(view.last)
            ),
            Field[View[AgentState[I, W]]](
                "question", "The question for a thought or an action.", lambda view: self._question(view.state)
            ),
            Field[View[AgentState[I, W]]](
                "actions",
                "The names of all actions, one in each line.",
                lambda view: self._action_lines(view.state.instance),
            ),
            *map(self._scene_field, rules.scene_fields),
        )

    def _scene_field(self, field: Field[W]) -> Field[View[AgentState[I, W]]]:
        def of(view: View[AgentState[I, W]]) -> str:
            return "" if self._chooses(view.state) else field.of(view.state.world)

        return Field[View[AgentState[I, W]]](field.name, field.doc, of)

    def _action_lines(self, instance: I) -> str:
        return "\n".join(self._rules.actions(instance))

    def _chooses(self, state: AgentState[I, W]) -> bool:
        """Return whether the second question is next, after a thought."""
        return self._thinks and not state.thinking

    def _history(self, state: AgentState[I, W]) -> str:
        return "" if self._chooses(state) or self._chats else history_text(state.past)

    def _scene(self, state: AgentState[I, W]) -> str:
        return "" if self._chooses(state) else state.seen

    def _question(self, state: AgentState[I, W]) -> str:
        return self._style.choose if self._chooses(state) else self._first_question

    def rules(self, instance: I) -> str:
        """Return who the player is, and the manual, with the list of actions unless the game's manual goes without."""
        manual = self._rules.manual(instance)
        if self._rules.lists_actions:
            manual = manual_text(manual, self._rules.actions(instance))
        return f"{ROLE}\n\n{manual}"

    def observe(self, state: AgentState[I, W], last: Transition[AgentState[I, W]] | Invalid | None, turn: int) -> str:
        """Return the history, the present observation and the question; after a thought the next question alone."""
        if self._chooses(state):
            return self._style.choose
        if self._chats:
            parts = (_mistake(last), state.seen, self._first_question)
        else:
            parts = (history_text(state.past), _mistake(last), f"{_PRESENT}{state.seen}", self._first_question)
        return "\n\n".join([part for part in parts if part])

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages; in a style that splits them as the published program sends them.

        These are system messages with the role, the manual, the history (none at the start) and the observation, and
        the question of the user (shared/specs/smartplay.md, 10). In `sound` the reason why a reply was not carried out
        ends the history.
        """
        before, present, after = f"\n\n{observation}".partition(f"\n\n{_PRESENT}")
        if not self._style.splits or not present:
            return super().prompt(rules, examples, observation)
        role, _, manual = rules.partition("\n\n")
        seen, _, question = after.rpartition("\n\n")  # no question has an empty line
        system = (role, manual, before.removeprefix("\n\n"), f"{_PRESENT}{seen}")
        shown = (Message(*example) for example in examples)
        return (*(Message("system", text) for text in system if text), *shown, Message("user", question))

    def recall(self, state: AgentState[I, W]) -> int:
        """Return 1 for the second question, so that the thought is shown with it."""
        return int(self._chooses(state))

    def thought_question(self, state: AgentState[I, W]) -> str:
        """Return the question for a thought where one is due."""
        return self._style.think if state.thinking else ""

    def takes_truncated(self, state: AgentState[I, W]) -> bool:
        """Return True for a thought, and as published for everything."""
        return self._published or state.thinking

    def parse(self, reply: str, state: AgentState[I, W]) -> Choice | Invalid:
        """Read a thought, whatever it is, or an action."""
        if state.thinking:
            return THOUGHT
        actions = self._rules.actions(state.instance)
        if self._published:
            index = published_match(reply, actions)
            return Choice(0, named=False) if index is None else Choice(index)
        result = sound_match(reply, actions)
        return result if isinstance(result, Invalid) else Choice(result)

    def understands(self, reply: str, state: AgentState[I, W]) -> bool:
        """Return whether a reply names an action; "paper" takes the first one where it names none."""
        action = self.parse(reply, state)
        return not isinstance(action, Invalid) and action.named

    def render(self, action: Choice, state: AgentState[I, W]) -> str:
        """Return an action's name, or a thought that says nothing."""
        if action.action is None:
            return "..."
        actions = self._rules.actions(state.instance)
        return actions[action.action] if action.named else "?"

    def tools(self, state: AgentState[I, W]) -> tuple[ActionTool, ...]:
        """Return the tool that takes the name of an action."""
        names = {"type": "string", "enum": list(self._rules.actions(state.instance)), "description": "The action."}
        return (ActionTool("act", "Take one of the listed actions.", {"action": names}),)

    def parse_call(self, call: ToolCall, state: AgentState[I, W]) -> Choice:
        """Read an action; a name that is not in the list does not fit the schema, in both protocols."""
        return Choice(self._rules.actions(state.instance).index(call.arguments["action"]))

    def render_call(self, action: Choice, state: AgentState[I, W]) -> ToolCall:
        """Return a call with the action's name."""
        return ToolCall("act", {"action": self.render(action, state)})

    def action_name(self, action: Choice, state: AgentState[I, W]) -> str:
        """Return an action's name, also where the reply did not name it."""
        return "a thought" if action.action is None else self._rules.actions(state.instance)[action.action]


def _mistake(last: Transition[Any] | Invalid | None) -> str:
    return last.reason if isinstance(last, Invalid) else ""
