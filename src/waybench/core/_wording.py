"""Wordings: the texts that a player reads, the parser of replies, and the tools by which a player can act."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core._game import A, I, Json, Outcome, S, Transition
from waybench.core._replies import split_reasoning
from waybench.core._texts import ENGLISH, Texts

_ROOT_ELEMENT = re.compile(r'<svg [^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>')


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawing of a state as a message describes it. It is drawn when it is needed, so records need no pixels.

    Attributes:
        size: Pixels of the longer side.
        grid: Whether it has lines between cells, and numbers of rows and columns.
        texts: The texts of the message that the picture replaces, as pairs of a field's name and its text.
    """

    state: Any
    size: int
    grid: bool
    draw: "DrawPicture"
    texts: tuple[tuple[str, str], ...] = ()

    def replaced_text(self, field: str) -> str:
        """Return the text of a field that the picture replaces; "" if the message has none."""
        return dict(self.texts).get(field, "")

    @property
    def svg(self) -> str:
        """The drawing as an SVG element."""
        return self.draw(self)


DrawPicture = Callable[[Picture], str]
"""(picture) -> SVG of what the messages tell of its state, with a view box from 0 0.

The drawing shows nothing that a player who reads the same messages with text could not know.
"""


def standalone_svg_document(svg: str, size: int) -> str:
    """Return a drawing as an SVG document on white, `size` pixels on its longer side.

    Raises:
        ValueError: If the drawing has no view box from 0 0.
    """
    root = _ROOT_ELEMENT.match(svg)
    if root is None:
        raise ValueError("a drawing begins with <svg ...> and a view box from 0 0")
    width, height = float(root[1]), float(root[2])
    scale = size / max(width, height)
    pixel_width, pixel_height = max(round(width * scale), 1), max(round(height * scale), 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixel_width}" height="{pixel_height}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{svg[root.end() :]}'
    )


F = TypeVar("F")  # what a field is a piece of: an instance, or a `View`


class ActionTool(NamedTuple):
    """A tool by which a player acts.

    Attributes:
        doc: What it does, in a sentence.
        parameters: Name -> JSON schema with a "description"; all of them are required. The types "string" (with or
            without "enum"), "integer", "array" ("items", "maxItems") and "object" ("properties") are known.
    """

    name: str
    doc: str
    parameters: Mapping[str, Json]


class ToolCall(NamedTuple):
    """A call of a tool.

    Attributes:
        arguments: The arguments; empty if they could not be read.
        error: Why they could not be read, in the words of the program that read them; "" if they could.
    """

    name: str
    arguments: Mapping[str, Json]
    error: str = ""


REPLY_TOOL = ActionTool(
    "act",
    "Reply to the environment.",
    {"reply": {"type": "string", "description": "The reply, in the form that the rules ask for."}},
)
"""The tool of a wording that declares none of its own: it takes a whole reply as text."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A reply that was not carried out.

    Attributes:
        reason: One sentence for the player, saying what was wrong.
        outcome: UNPARSED, TRUNCATED, OVERFLOW or REFUSED.
    """

    reason: str
    outcome: Outcome = Outcome.UNPARSED


class Message(NamedTuple):
    """One chat turn.

    Attributes:
        role: "system", "user" or "assistant".
        turn: For an assistant's message, the number of the turn (from 0) whose reply it is.
        picture: For a user's message, the picture below the text; None without one.
    """

    role: str
    text: str
    turn: int | None = None
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """How much of an episode the player is shown again on each turn.

    Attributes:
        kind: "chat": everything; "window": the opening and the last `size` turns; "fresh": the rules and the present
            observation only, with the last turns that `Wording.recall` wants.
        size: Number of past turns in a window.
    """

    kind: str = "chat"
    size: int = 0


@dataclass(frozen=True)  # with slots, Python 3.11 cannot call Field[...]
class Field(Generic[F]):
    """A piece of an environment's messages that templates of users can name (`wording=file:PATH`).

    Attributes:
        name: Its name, in lower case.
        doc: What it is, in a sentence.
        of: Instance (for a field of the rules) or `View` (for a field of observations) -> the piece; "" where there is
            none.
    """

    name: str
    doc: str
    of: Callable[[F], str]


class View(NamedTuple, Generic[S]):
    """The arguments of an observation; see `Wording.observe`.

    Attributes:
        state: The present state.
        last: The outcome of the player's last reply; None at the start.
        turn: How many turns have counted so far.
    """

    state: S
    last: "Transition[S] | Invalid | None"
    turn: int


class Wording(ABC, Generic[I, S, A]):
    """Turns states into text and replies into actions; a small object or data, never a repetition of rules.

    Attributes:
        name: Its name, a choice of the option `wording`; "plain" by default.
        memory: How much of the episode each prompt repeats.
        rules_role: The role of the message with the rules.
        reads_truncated: Whether a reply that was cut off at the output limit is still read.
        closing_answer: Whether an example ends with an empty answer to its last message.
        rewrites: Whether the chat can show other words than those of a reply (`remember`).
        acts_by_tools: Whether a reply is a call of one of its `tools`.
        rule_fields: What templates of the rules can name, in addition to {rules}.
        fields: What templates of observations can name, in addition to {observation} and {turn}.
        call_rules: The end of the rules where the player acts by tools (`interface=tools`); "" for the general text.
        texts: Its texts by name, in its language.
    """

    name: str = "plain"
    memory: Memory = Memory()
    rules_role: str = "user"
    reads_truncated: bool = False
    closing_answer: bool = False
    rewrites: bool = False
    acts_by_tools: bool = False
    rule_fields: "Sequence[Field[I]]" = ()
    fields: "Sequence[Field[View[S]]]" = ()
    call_rules: str = ""
    texts: Texts = ENGLISH

    @property
    def repeats_replies(self) -> bool:
        """Whether later prompts contain the player's replies unchanged, with their reasoning."""
        return self.memory.kind != "fresh" and not self.rewrites

    def in_language(self, texts: Texts) -> "Wording[I, S, A]":
        """Return this wording with the environment's texts in another language (`Playing.texts`)."""
        raise NotImplementedError(f"{type(self).__name__} has no texts by language: define in_language")

    @abstractmethod
    def rules(self, instance: I) -> str:
        """Return the text that the player receives once, at the start."""

    @abstractmethod
    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the description of a state for the player.

        Args:
            state: The present state.
            last: The outcome of the player's last reply; None at the start.
            turn: How many turns have counted so far, this one included; forgiven replies do not count.

        Returns:
            The text; "" at the start if `rules` already says everything.
        """

    def picture(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> Picture | None:
        """Return the picture that goes with the text of `observe` for the same arguments; None by default.

        At the start, where `last` is None, the message with the picture contains the rules, too.
        """
        return None

    def prompt(self, rules: str, examples: Sequence[tuple[str, str]], observation: str) -> tuple[Message, ...]:
        """Return the messages that begin a chat; by default neighbours of the same role are joined into one message.

        Args:
            rules: The text that `rules` returned.
            examples: Solved examples as pairs of role and text.
            observation: The text that `observe` returned; with a "fresh" memory, also that of a later turn.
        """
        messages: list[Message] = []
        for role, text in [(self.rules_role, rules), *examples, ("user", observation)]:
            if messages and messages[-1].role == role:
                text = "\n\n".join(part for part in (messages.pop().text, text) if part)
            if text or role == "assistant":
                messages.append(Message(role, text))
        return tuple(messages) or (Message("user", ""),)

    def recall(self, state: S) -> int:
        """Return the number of last turns that a fresh prompt in this state contains; 0 by default."""
        return 0

    def thought_question(self, state: S) -> str:
        """Return the question that ends the present message if it asks for a thought, not an action; "" otherwise.

        A person is not asked for thoughts: `waybench play` replies to such a message with an empty text.
        """
        return ""

    def takes_truncated(self, state: S) -> bool:
        """Return whether a reply in this state is read even if it was cut off; by default as `reads_truncated` says."""
        return self.reads_truncated

    @abstractmethod
    def parse(self, reply: str, state: S) -> A | Invalid:
        """Return the action in a reply, or why there is none; replies are hostile input and never repaired."""

    def understands(self, reply: str, state: S) -> bool:
        """Return whether a reply says what to do; by default whether `parse` reads it.

        A person can repeat a reply that says nothing at no cost, even where the protocol lets it count for models.
        """
        return not isinstance(self.parse(reply, state), Invalid)

    def remember(self, reply: str, parsed: A | Invalid) -> str:
        """Return the text that the chat shows for a reply from now on; by default the reply itself."""
        return reply

    @abstractmethod
    def render(self, action: A, state: S) -> str:
        """Return a reply that `parse` reads as this action."""

    def action_name(self, action: A, state: S) -> str:
        """Return the name of an action for people who read a record; by default the text of `render`."""
        return self.render(action, state)

    def tools(self, state: S) -> Sequence[ActionTool]:
        """Return the tools by which a player acts with `interface=tools`; by default one that takes a whole reply.

        The tools have the same names in all states of an episode. A question for a thought is answered in text.
        """
        return (REPLY_TOOL,)

    def parse_call(self, call: ToolCall, state: S) -> A | Invalid:
        """Return the action of a call of one of `tools`, whose arguments fit its schema."""
        return self.parse(split_reasoning(call.arguments["reply"]).answer, state)

    def render_call(self, action: A, state: S) -> ToolCall:
        """Return a call that `parse_call` reads as this action."""
        return ToolCall(REPLY_TOOL.name, {"reply": self.render(action, state)})


def _delegating_method(name: str) -> Any:
    """Return a method that calls the base wording's method of the same name."""

    def method(self: "DerivedWording[Any, Any, Any]", *args: Any, **named: Any) -> Any:
        return getattr(self._base, name)(*args, **named)  # pyright: ignore[reportPrivateUsage]

    method.__name__ = name
    return method


class DerivedWording(Wording[I, S, A], Generic[I, S, A]):
    """A wording that passes every call to another wording; a subclass overrides what it changes."""

    def __init__(self, base: Wording[I, S, A], name: str) -> None:
        self.name = name
        self.memory, self.rules_role = base.memory, base.rules_role
        self.reads_truncated, self.closing_answer = base.reads_truncated, base.closing_answer
        self.rewrites, self.call_rules, self.acts_by_tools = base.rewrites, base.call_rules, base.acts_by_tools
        self.rule_fields, self.fields, self.texts = base.rule_fields, base.fields, base.texts
        self._base = base

    def in_language(self, texts: Texts) -> "Wording[I, S, A]":
        """Raise an error: derive a wording from one that is in the language already."""
        raise NotImplementedError(f"{type(self).__name__}: derive it from a wording in the other language")

    rules = _delegating_method("rules")
    observe = _delegating_method("observe")
    picture = _delegating_method("picture")
    prompt = _delegating_method("prompt")
    recall = _delegating_method("recall")
    thought_question = _delegating_method("thought_question")
    takes_truncated = _delegating_method("takes_truncated")
    parse = _delegating_method("parse")
    understands = _delegating_method("understands")
    remember = _delegating_method("remember")
    render = _delegating_method("render")
    action_name = _delegating_method("action_name")
    tools = _delegating_method("tools")
    parse_call = _delegating_method("parse_call")
    render_call = _delegating_method("render_call")
