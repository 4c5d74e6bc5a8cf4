"""The form in which a conversation is sent to a model: what a server refuses is left out or moved, and the run says so.

Servers differ in what they take back. The same replies have to get the same score behind each of them.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    ModelCall,
    ModelOutput,
    ModelUsage,
)

from waybench.core import FIRST_REPLIES, reasoning_warning
from waybench.evaluation._provider_errors import ProviderError, is_context_overflow, parse_provider_error
from waybench.evaluation._reasoning import reasoning_parts, without_reasoning
from waybench.evaluation._server_watch import ServerWatch

BLANK_REPLY = "(empty reply)"
"""What stands for a reply without text where the conversation is sent to the model again."""

_BAD_TOOL_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_TOOL_NAME = 64
_Apply = Callable[[list[ChatMessage]], list[ChatMessage]]
Send = Callable[[list[ChatMessage]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class _Change:
    """A way to send the same conversation in another form.

    Attributes:
        setting: Name of the setting, as logs and results have it.
        value: The setting's value where the other form is used.
        says: Matches the words of a server that refuses the usual form.
        statuses: Statuses with which a server refuses it, whatever its words are.
        unless: Matches the words of a server that the change cannot help; None where there are none.
        apply: Messages -> the same in the other form; the same list where nothing changes.
        note: What the run says, after the server's words.
    """

    setting: str
    value: str
    says: re.Pattern[str]
    statuses: tuple[int, ...]
    unless: re.Pattern[str] | None
    apply: _Apply
    note: str


def _for_each_reply(change_reply: Callable[[ChatMessageAssistant], ChatMessageAssistant]) -> _Apply:
    """Return a function that applies a change to the model's own messages of a conversation."""

    def apply(messages: list[ChatMessage]) -> list[ChatMessage]:
        """Return the conversation with changed replies; the same list if none changes."""
        changed = [
            change_reply(message) if isinstance(message, ChatMessageAssistant) else message for message in messages
        ]
        return messages if all(map(is_, changed, messages)) else changed

    return apply


def _join_consecutive_roles(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Return messages in which consecutive ones of the same role are joined; the same list if there are none."""
    joined: list[ChatMessage] = []
    for message in messages:
        previous = joined[-1] if joined else None
        if previous is not None and previous.role == message.role and _can_join(previous) and _can_join(message):
            joined[-1] = previous.model_copy(update={"content": _join_contents(previous.content, message.content)})
        else:
            joined.append(message)
    return joined if len(joined) < len(messages) else messages


def _system_as_user_messages(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Return messages in which system messages are part of the user message that follows."""
    if not any(isinstance(message, ChatMessageSystem) for message in messages):
        return messages
    return _join_consecutive_roles(
        [
            ChatMessageUser(content=message.content) if isinstance(message, ChatMessageSystem) else message
            for message in messages
        ]
    )


def _can_join(message: ChatMessage) -> bool:
    """Return whether a message has neither tool calls nor a tool's result, which servers match one by one."""
    return message.role != "tool" and not (isinstance(message, ChatMessageAssistant) and message.tool_calls)


def _join_contents(first: str | list[Content], second: str | list[Content]) -> str | list[Content]:
    """Return the contents of two messages as one: joined texts, or a list of parts."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    first_parts, second_parts = (
        [ContentText(text=content)] if isinstance(content, str) else content for content in (first, second)
    )
    return [*first_parts, *second_parts]


def _strip_text(message: ChatMessageAssistant) -> ChatMessageAssistant:
    """Return a message whose texts have no white space at their ends; the same object if unchanged."""
    content = message.content
    if isinstance(content, str):
        return message if content == content.strip() else message.model_copy(update={"content": content.strip()})
    parts: list[Content] = [
        part.model_copy(update={"text": part.text.strip()})
        if isinstance(part, ContentText) and part.text != part.text.strip()
        else part
        for part in content
    ]
    return message if all(map(is_, parts, content)) else message.model_copy(update={"content": parts})


def sendable_reply(message: ChatMessageAssistant) -> ChatMessageAssistant:
    """Return a model's message without what servers refuse; the same object if unchanged.

    A message without text gets a placeholder, and names of tools only characters and lengths that OpenAI accepts.
    """
    if message.tool_calls:
        given_names = [call.function for call in message.tool_calls]
        names = [_BAD_TOOL_NAME_CHARACTERS.sub("_", name)[:_LONGEST_TOOL_NAME] or "unknown" for name in given_names]
        if names == given_names:
            return message
        calls = [replace(call, function=name) for call, name in zip(message.tool_calls, names, strict=True)]
        return message.model_copy(update={"tool_calls": calls})
    if message.text.strip():
        return message
    reasoning, placeholder = reasoning_parts(message), ContentText(text=BLANK_REPLY)
    return message.model_copy(update={"content": [*reasoning, placeholder] if reasoning else BLANK_REPLY})


_CHANGES = (
    _Change(  # of agents' own messages; those of an episode have it from the start
        "blank_reply",
        BLANK_REPLY,
        re.compile(r"empty|blank|whitespace|\bnone\b|content", re.IGNORECASE),
        (),
        None,
        _for_each_reply(sendable_reply),
        f"Messages without text are sent to it as {BLANK_REPLY}",
    ),
    _Change(
        "reasoning_history",
        "none",
        re.compile(r"reasoning|thinking|thought", re.IGNORECASE),
        (400, 422),
        # DeepSeek, Kimi, Gemini: it has to be sent back, and something else is wrong.
        re.compile(r"must be passed back|is missing|missing [`a-z ]*(?:reasoning|thought)", re.IGNORECASE),
        _for_each_reply(lambda message: sendable_reply(without_reasoning(message))),
        "Reasoning is not sent back to it from now on (reasoning_history=none; docs/howto/reasoning.md)",
    ),
    _Change(
        "consecutive_messages",
        "joined",
        re.compile(r"\broles?\b|alternat|consecutive", re.IGNORECASE),
        (),
        None,
        _join_consecutive_roles,
        "Messages of one role that follow each other are joined (consecutive_messages=joined)",
    ),
    _Change(
        "system_role",
        "user",
        re.compile(r"system|developer|\broles?\b|alternat", re.IGNORECASE),
        (),
        None,
        _system_as_user_messages,
        "The rules go into the first user message (system_role=user)",
    ),
    _Change(
        "reply_blanks",
        "trimmed",
        re.compile(r"white ?space|trailing", re.IGNORECASE),
        (),
        None,
        _for_each_reply(_strip_text),
        "Replies are sent back to it without the blanks at their ends (reply_blanks=trimmed)",
    ),
)
# Some servers answer 500 where their chat template fails, and of some providers' errors no status is known.
_REFUSING = (400, 422, 500, None)


@dataclass(slots=True)
class SentForm:
    """The form in which conversations are sent to one model, which its server's refusals change.

    Attributes:
        settings: The changes of form, as settings: "blank_reply", "reasoning_history", "consecutive_messages",
            "system_role" and "reply_blanks".
        keeps_reasoning: Whether the user wants reasoning sent back, whatever a server says.
        watch: Follows the requests to the model's server; None where nobody is told of it.
        first_replies: The model's first replies that had to name an action and have no reasoning mark in them.
    """

    model: str
    tell: Callable[[str], None] = lambda line: None
    settings: dict[str, str] = field(default_factory=dict[str, str])
    keeps_reasoning: bool = False
    watch: ServerWatch | None = None
    first_replies: list[str] = field(default_factory=list[str])
    _topics: set[str] = field(default_factory=set[str])

    def tell_once(self, topic: str, line: str) -> None:
        """Tell the user a line about the model, once for each topic."""
        if topic not in self._topics:
            self._topics.add(topic)
            self.tell(f"{self.model}: {line}")

    def warn_of_unmarked_reasoning(self, reply: str) -> None:
        """Warn if the model's first replies, this one included, look like reasoning without marks."""
        if len(self.first_replies) < FIRST_REPLIES:
            self.first_replies.append(reply)
            if warning := reasoning_warning(self.first_replies):
                self.tell_once("reasoning without marks", warning)

    async def send(self, send: Send, messages: list[ChatMessage]) -> Any:
        """Send a conversation in a form that the server accepts.

        `send` sends messages, and returns what a provider returns: an output or an error, also beside the call.

        Returns:
            What the provider returned; where the conversation was too long for the model, an output that says so.

        Raises:
            Exception: What the provider raised, if no other form of the conversation is taken.
        """
        sent = self._send_in_accepted_form(send, messages)
        return await (sent if self.watch is None else self.watch.await_answer(sent))

    async def _send_in_accepted_form(self, send: Send, messages: list[ChatMessage]) -> Any:
        """Send a conversation, and in other forms if the server refuses it."""
        current = self._in_accepted_form(messages)
        answer, error = await _answer_and_error(send, current)
        if error is not None and _is_refusal(error):
            answer, error = await self._send_in_other_forms(send, current, answer, error)
        if error is not None and error.is_overflow:
            return self._overflow_output(answer, error)
        if isinstance(answer, BaseException):
            raise answer
        return answer if error is not None else _reject_misread_overflow(answer)

    def form_settings(self, messages: list[ChatMessage]) -> dict[str, str]:
        """Return the settings, by name, that change the form of a conversation."""
        return {
            change.setting: change.value
            for change in _CHANGES
            if change.setting in self.settings and change.apply(messages) is not messages
        }

    def _in_accepted_form(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """Return a conversation in the form that the server accepts; the same list if that is unchanged."""
        for change in _CHANGES:
            if change.setting in self.settings:
                messages = change.apply(messages)
        return messages

    async def _send_in_other_forms(
        self, send: Send, messages: list[ChatMessage], answer: Any, error: ProviderError
    ) -> tuple[Any, ProviderError | None]:
        """Send a refused conversation in other forms until one is accepted; return the answer and the error."""
        accepted_form = self._in_accepted_form(messages)
        if accepted_form is not messages:  # the refusal of another conversation has changed the form in the meantime
            messages = accepted_form
            answer, refusal = await _answer_and_error(send, messages)
            if refusal is None or not _is_refusal(refusal):
                return answer, refusal
            error = refusal
        return await self._send_with_one_more_change(send, messages, answer, error, ())

    async def _send_with_one_more_change(
        self,
        send: Send,
        messages: list[ChatMessage],
        answer: Any,
        error: ProviderError,
        changes_before: tuple[_Change, ...],
    ) -> tuple[Any, ProviderError | None]:
        """Send a refused conversation with one more change of form; if refused for another reason, recurse."""
        for change in _CHANGES:
            changed = None if change in changes_before else self._changed_if_it_can_help(change, messages, error)
            if changed is None:
                continue
            other, refusal = await _answer_and_error(send, changed)
            changes = (*changes_before, change)
            if refusal is not None and _is_refusal(refusal):
                # Other words mean that this change helped, and that something else is refused now.
                if refusal.words != error.words:
                    return await self._send_with_one_more_change(send, changed, other, refusal, changes)
                continue
            if refusal is None or refusal.is_overflow:
                for accepted in changes:
                    self.settings[accepted.setting] = accepted.value
                    reason = f"its server refused a conversation ({error.words[:200]})"
                    self.tell_once(accepted.setting, f"{reason}. {accepted.note}")
            return other, refusal  # an error that may pass is the engine's to try again
        return answer, error

    def _changed_if_it_can_help(
        self, change: _Change, messages: list[ChatMessage], error: ProviderError
    ) -> list[ChatMessage] | None:
        """Return a conversation with a change of form applied; None if the change cannot remedy the error."""
        if self.keeps_reasoning and change.setting == "reasoning_history":
            return None
        if not (error.status in change.statuses or change.says.search(error.text)):
            return None
        if change.unless is not None and change.unless.search(error.text):
            return None
        changed = change.apply(messages)
        return None if changed is messages else changed  # what the change would mend is not in the conversation

    def _overflow_output(self, answer: Any, error: ProviderError) -> Any:
        """Return the output for a conversation that exceeds the model's context; its text is the provider's."""
        if error.fitting_prompt_and_context:
            prompt, context = error.fitting_prompt_and_context
            self.tell_once(
                "tokens of the reply",
                f"its server refuses prompts of {prompt:,} tokens, which fit into its {context:,}, because of the "
                "tokens that the reply may have: give a lower --max-tokens",
            )
        output = ModelOutput.from_content(self.model, error.words, stop_reason="model_length")
        output.usage = ModelUsage()  # otherwise the engine would fetch a tokenizer's file to count by
        _, call = _output_and_call(answer)
        return output if call is None else (output, call)


def _is_refusal(error: ProviderError) -> bool:
    """Return whether an error means that the server refuses the conversation, not because of its length."""
    return error.status in _REFUSING and not error.is_overflow


async def _answer_and_error(send: Send, messages: list[ChatMessage]) -> tuple[Any, ProviderError | None]:
    """Send messages; return the provider's answer, or the exception it raised, and the parsed error if any."""
    try:
        answer = await send(messages)
    except Exception as error:
        return error, parse_provider_error(error)
    output, _ = _output_and_call(answer)
    if isinstance(output, ModelOutput) and output.error:  # as Anthropic's provider returns what it does not know
        return answer, parse_provider_error(RuntimeError(output.error))
    return answer, parse_provider_error(output) if isinstance(output, Exception) else None


def _output_and_call(answer: Any) -> tuple[Any, ModelCall | None]:
    """Return the output in a provider's answer, and the logged call if it has one."""
    match answer:
        case (output, ModelCall() as call):
            return output, call
        case _:
            return answer, None


def _reject_misread_overflow(answer: Any) -> Any:
    """Return an answer; raise an error if the engine took a refusal of the settings for a full context."""
    output, call = _output_and_call(answer)
    if not isinstance(output, ModelOutput) or output.stop_reason != "model_length" or output.usage is not None:
        return answer
    if not is_context_overflow(output.completion, None if call is None else call.response):
        raise RuntimeError(f"the server refuses the settings of the run: {output.completion}")
    return answer
