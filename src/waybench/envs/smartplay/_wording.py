"""The words around a game: manual, observations, questions, and which action a reply names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from waybench._svg import circle, path, texts
from waybench.core import (
    ActionTool,
    Field,
    Invalid,
    Memory,
    Message,
    Picture,
    Scene,
    ToolCall,
    Transition,
    View,
    Wording,
)
from waybench.core._choices import index_of_named_action
from waybench.core._texts import ENGLISH
from waybench.envs.smartplay._game import THOUGHT, AgentReply, AgentState, I, Rules, W, history_text, manual_text


def first_named_action(reply: str, actions: Sequence[str]) -> int | None:
    """Return the number of the action whose name comes first in a reply, whatever its case; None if no name does.

    A name within a word counts, too. Of names that begin at the same place the first of the list counts
    (shared/specs/smartplay.md, 10).
    """
    pattern, numbers = _name_pattern(tuple(actions))
    match = pattern.search(reply.lower())
    return None if match is None else numbers[match[0]]


def _published_reply(reply: str, actions: tuple[str, ...]) -> AgentReply:
    """Return the action that the published program takes for a reply: the first one for a reply without a name."""
    index = first_named_action(reply, actions)
    return AgentReply(0, named=False) if index is None else AgentReply(index)


_SHORT = 100  # characters of a reply, up to which it is cached
_cached_published_reply = lru_cache(maxsize=1024)(_published_reply)  # the same replies come again and again


@lru_cache(maxsize=64)
def _name_pattern(actions: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern of lower-case action names, earlier names preferred, and the names' numbers."""
    # Reversed, so that of equal names the first one's number stays.
    numbers = {name.lower(): number for number, name in reversed(list(enumerate(actions)))}
    return re.compile("|".join(re.escape(name.lower()) for name in actions)), numbers


LEGEND = (
    "The picture has what you see: you are the orange dot in the middle, north is up, and each of the boxes around you "
    "lists what is in its direction, with the number of steps to it."
)
SEEN = "seen"  # the field of an observation that lists what is seen
_LINE = re.compile(r"- (.+) (\d+) steps (?:to your ([a-z-]+)|with you)")  # thing, steps, direction
_NAMES = ("NW", "N", "NE", "W", "", "E", "SW", "S", "SE")
# Units of a drawing: the height of a line, the width of a letter, the least width and height of a box.
_LINE_HEIGHT, _LETTER, _NARROWEST, _LOWEST = 18, 7.6, 120, 46


def draw_seen(picture: Picture) -> str:
    """Draw the lines of an observation, such as "- tree 3 steps to your north-west"."""
    matches = map(_LINE.fullmatch, picture.replaced_text(SEEN).splitlines())
    return draw_compass((f"{match[1]}, {match[2]}", match[3] or "") for match in matches if match is not None)


def direction_name(east: float, south: float, least: float = 0) -> str:
    """Return a direction such as "north-west", "" for none; an offset of at most `least` does not count."""
    names = (
        "north" if south < -least else "south" if south > least else "",
        "west" if east < -least else "east" if east > least else "",
    )
    return "-".join(filter(None, names))


def draw_compass(entries: Iterable[tuple[str, str]]) -> str:
    """Return a drawing of (label, direction) in nine boxes; "" is the direction of the viewer's own box."""
    boxes: dict[tuple[int, int], list[str]] = {(row, column): [] for row in range(3) for column in range(3)}
    for label, direction in entries:
        row = 0 if "north" in direction else 2 if "south" in direction else 1
        column = 0 if "west" in direction else 2 if "east" in direction else 1
        boxes[row, column].append(label)
    longest = max((len(label) for labels in boxes.values() for label in labels), default=0)
    width = max(_NARROWEST, 20 + _LETTER * longest)
    most_labels = [max(len(boxes[row, column]) for column in range(3)) for row in range(3)]
    tops = list(accumulate((_LOWEST + _LINE_HEIGHT * count for count in most_labels), initial=0))
    middles = {(row, column): (width * column + width / 2, tops[row]) for row, column in boxes}
    lines = [f"M0 {y}h{3 * width:g}" for y in tops] + [f"M{width * column:g} 0v{tops[3]}" for column in range(4)]
    names = ((x, y + 18, name) for (x, y), name in zip(middles.values(), _NAMES, strict=True) if name)
    labels = (
        (x, y + 42 + _LINE_HEIGHT * number, label)
        for (x, y), box_labels in zip(middles.values(), boxes.values(), strict=True)
        for number, label in enumerate(box_labels)
    )
    parts = [
        path("seen-box", "#888", 1, lines),
        texts("seen-way", names, 12, colour="#888"),
        circle("seen-you", "#d55e00", 0, (width * 1.5, tops[1] + 16), 9),
        texts("seen-thing", labels, 14),
    ]
    return Scene("seen", "What is seen in each direction", (3 * width, tops[3]), parts).svg()


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
        memory: How much of the episode is shown again.
        think: The question for a thought; "" for none.
        choose: The question for an action.
        splits: Whether manual, history and observation are separate system messages.
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


class AgentWording(Wording[I, AgentState[I, W], AgentReply]):
    """The manual, the history, the present observation, and one or two questions.

    The published program sends manual, history and observation as separate system messages, and so does the style
    "code". In the other styles the manual is the system message, and history and observation precede the question.

    Args:
        rules: The game, which writes the manual and the observations.
        style: The questions, and how much of the episode is shown again.
        published: Whether the first name in a reply counts, and the first action for a reply without a name; otherwise
            a reply must name exactly one action.
    """

    rules_role = "system"

    def __init__(self, rules: Rules[I, W], style: PromptStyle, *, published: bool) -> None:
        self.name = style.name
        self.memory = style.memory
        self._rules, self._style, self._published = rules, style, published
        self._thinks, self._chats, self._first_question = bool(style.think), style.chats, style.think or style.choose
        self.call_rules = ENGLISH["call.rules"] + (_THINK_RULES if style.think else "")
        self.rule_fields = (
            Field[I]("manual", "The manual of the game, without the list of actions.", rules.manual),
            Field[I]("actions", "The names of all actions, one in each line.", self._action_lines),
            *rules.manual_fields,
        )
        self.fields = (
            Field[View[AgentState[I, W]]](
                "history", "The past observations; none after a thought.", lambda view: self._history_text(view.state)
            ),
            Field[View[AgentState[I, W]]](
                "scene",
                "The description of the game as it is now; none after a thought.",
                lambda view: self._scene_text(view.state),
            ),
            Field[View[AgentState[I, W]]](
                "mistake", "Why the last reply was not carried out.", lambda view: _mistake_text(view.last)
            ),
            Field[View[AgentState[I, W]]](
                "question", "The question for a thought or an action.", lambda view: self._question_text(view.state)
            ),
            Field[View[AgentState[I, W]]](
                "actions",
                "The names of all actions, one in each line.",
                lambda view: self._action_lines(view.state.instance),
            ),
            *map(self._scene_field, rules.scene_fields),
        )

    def _scene_field(self, field: Field[W]) -> Field[View[AgentState[I, W]]]:
        """Return a field of the world as a field of the prompt, empty after a thought."""

        def scene_text(view: View[AgentState[I, W]]) -> str:
            return "" if self._is_choosing(view.state) else field.of(view.state.world)

        return Field[View[AgentState[I, W]]](field.name, field.doc, scene_text)

    def _action_lines(self, instance: I) -> str:
        return "\n".join(self._rules.actions(instance))

    def _is_choosing(self, state: AgentState[I, W]) -> bool:
        """Return whether the second question is next, after a thought."""
        return self._thinks and not state.thinking

    def _history_text(self, state: AgentState[I, W]) -> str:
        """Return the past observations; "" after a thought and in a chat."""
        return "" if self._is_choosing(state) or self._chats else history_text(state.past)

    def _scene_text(self, state: AgentState[I, W]) -> str:
        """Return the present observation; "" after a thought."""
        return "" if self._is_choosing(state) else state.seen

    def _question_text(self, state: AgentState[I, W]) -> str:
        return self._style.choose if self._is_choosing(state) else self._first_question

    def rules(self, instance: I) -> str:
        """Return the role, the manual and, if the game lists them, the actions."""
        manual = self._rules.manual(instance)
        if self._rules.lists_actions:
            manual = manual_text(manual, tuple(self._rules.actions(instance)))
        return f"{ROLE}\n\n{manual}"

    def observe(self, state: AgentState[I, W], last: Transition[AgentState[I, W]] | Invalid | None, turn: int) -> str:
        """Return the history, the present observation and the question; after a thought only the second question."""
        if self._is_choosing(state):
            return self._style.choose
        if self._chats:
            parts = (_mistake_text(last), state.seen, self._first_question)
        else:
            parts = (history_text(state.past), _mistake_text(last), f"{_PRESENT}{state.seen}", self._first_question)
        return "\n\n".join([part for part in parts if part])

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages; the style "code" splits them as the published program does.

        Then there are system messages with the role, the manual, the history (none at the start) and the observation,
        and a user message with the question (shared/specs/smartplay.md, 10). In `sound` the reason why a reply was not
        carried out ends the history.
        """
        history, separator, present = f"\n\n{observation}".partition(f"\n\n{_PRESENT}")
        if not self._style.splits or not separator:  # after a thought there is only a question, nothing to split
            return super().prompt(rules, examples, observation)
        role, _, manual = rules.partition("\n\n")
        scene, _, question = present.rpartition("\n\n")  # no question has an empty line
        system_texts = (role, manual, history.removeprefix("\n\n"), f"{_PRESENT}{scene}")
        system = (Message("system", text) for text in system_texts if text)
        return (*system, *(Message(*example) for example in examples), Message("user", question))

    def recall(self, state: AgentState[I, W]) -> int:
        """Return how many replies are shown again: 1, the thought, with the second question."""
        return int(self._is_choosing(state))

    def thought_question(self, state: AgentState[I, W]) -> str:
        """Return the question for a thought where one is due."""
        return self._style.think if state.thinking else ""

    def takes_truncated(self, state: AgentState[I, W]) -> bool:
        """Return whether a reply cut off by the token limit counts: a thought does, in "paper" every reply."""
        return self._published or state.thinking

    def parse(self, reply: str, state: AgentState[I, W]) -> AgentReply | Invalid:
        """Read an action; where a thought is due, any reply is one."""
        if state.thinking:
            return THOUGHT
        actions = self._rules.actions(state.instance)
        if self._published:
            read_reply = _cached_published_reply if len(reply) <= _SHORT else _published_reply
            return read_reply(reply, tuple(actions))
        result = index_of_named_action(reply, actions)
        return result if isinstance(result, Invalid) else AgentReply(result)

    def understands(self, reply: str, state: AgentState[I, W]) -> bool:
        """Return whether a reply names an action; "paper" takes the first one where it names none."""
        action = self.parse(reply, state)
        return not isinstance(action, Invalid) and action.named

    def render(self, action: AgentReply, state: AgentState[I, W]) -> str:
        if action.action is None:
            return "..."
        actions = self._rules.actions(state.instance)
        return actions[action.action] if action.named else "?"

    def tools(self, state: AgentState[I, W]) -> tuple[ActionTool, ...]:
        names = {"type": "string", "enum": list(self._rules.actions(state.instance)), "description": "The action."}
        return (ActionTool("act", "Take one of the listed actions.", {"action": names}),)

    def parse_call(self, call: ToolCall, state: AgentState[I, W]) -> AgentReply:
        """Read an action; the schema of the tool has ruled out other names, in both protocols."""
        return AgentReply(self._rules.actions(state.instance).index(call.arguments["action"]))

    def render_call(self, action: AgentReply, state: AgentState[I, W]) -> ToolCall:
        return ToolCall("act", {"action": self.render(action, state)})

    def action_name(self, action: AgentReply, state: AgentState[I, W]) -> str:
        """Return an action's name, also where the reply did not name it."""
        return "a thought" if action.action is None else self._rules.actions(state.instance)[action.action]


def _mistake_text(last: Transition[Any] | Invalid | None) -> str:
    """Return why the last reply was not carried out; "" if it was."""
    return last.reason if isinstance(last, Invalid) else ""
