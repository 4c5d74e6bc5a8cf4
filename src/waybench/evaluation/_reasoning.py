"""Reasoning between turns: the form in which it comes back, what later requests repeat of it, and what is stored."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
)
from inspect_ai.util import Store

from waybench.core import Json, split_reasoning
from waybench.core._record import REASONING_FORMS, SENT_BACK

REASONING = "waybench_reasoning"  # where the store has the reasoning of the model
TEXT, SUMMARY, ENCRYPTED = REASONING_FORMS
ALL, LAST, NONE, SOME = SENT_BACK


def reasoning_parts(message: ChatMessage) -> list[ContentReasoning]:
    """Return the parts of a message that a provider has marked as reasoning."""
    if not isinstance(message, ChatMessageAssistant) or isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, ContentReasoning)]


def store_reasoning(store: Store, turn: int, message: ChatMessageAssistant) -> None:
    """Write the reasoning in a message to a sample's store, under the turn's number, for reports.

    It is no part of the record, which nothing but the reply decides.
    """
    texts = [part.summary or "" if part.redacted else part.reasoning for part in reasoning_parts(message)]
    text = "\n\n".join(text for text in texts if text.strip())
    if text:
        store.set(REASONING, {**(store.get(REASONING) or {}), str(turn): text})


def reasoning_forms(message: ChatMessage, think_tags: str | None = None) -> set[str]:
    """Return the forms of a message's reasoning, of `REASONING_FORMS`; empty if it has none.

    Reasoning that stands in the text of a reply, between marks, is text.
    """
    forms: set[str] = set()
    for part in reasoning_parts(message):
        if part.reasoning.strip() and not part.redacted:
            forms.add(TEXT)
        elif (part.summary or "").strip():
            forms.add(SUMMARY)
        elif part.reasoning.strip() or part.signature:
            forms.add(ENCRYPTED)
    in_text = isinstance(message, ChatMessageAssistant) and split_reasoning(message.text, think_tags).reasoning
    return forms | ({TEXT} if in_text else set())


def without_reasoning(message: ChatMessageAssistant, think_tags: str | None = None) -> ChatMessageAssistant:
    """Return a message without its reasoning, also where that stands in its text; the same object if it has none."""
    if not (reasoning_parts(message) or reasoning_forms(message, think_tags)):
        return message
    if isinstance(message.content, str):
        return message.model_copy(update={"content": split_reasoning(message.content, think_tags).answer})
    answer: list[Content] = [
        part.model_copy(update={"text": split_reasoning(part.text, think_tags).answer})
        if isinstance(part, ContentText)
        else part
        for part in message.content
        if not isinstance(part, ContentReasoning)
    ]
    return message.model_copy(update={"content": answer})


def effective_reasoning_history(api: ModelAPI, config: GenerateConfig) -> str:
    """Return which reasoning a provider sends back with these settings: "all", "last" or "none"."""
    setting = config.reasoning_history
    return api.force_reasoning_history() or (api.auto_reasoning_history() if setting in (None, "auto") else setting)


def forced_history_warning(api: ModelAPI, settings: Mapping[str, Json]) -> str:
    """Return a warning if a provider sends back other reasoning than the settings ask for; else ""."""
    setting, forced_setting = settings.get("reasoning_history"), api.force_reasoning_history()
    if setting in (None, "auto", forced_setting) or forced_setting is None:
        return ""
    return (
        f"its provider always has reasoning_history={forced_setting}, whatever is asked for ({setting}); records say so"
    )


def without_unsent_reasoning(messages: list[ChatMessage], history: str, think_tags: str | None) -> list[ChatMessage]:
    """Return messages without the reasoning in their texts that `history` ("all", "last", "none") leaves out.

    Inspect leaves out what a provider has marked as reasoning; the same list where all reasoning is sent back.
    """
    if history == ALL:
        return messages
    sent_messages = list(messages)
    indices = [index for index, message in enumerate(sent_messages) if reasoning_forms(message, think_tags)]
    for index in indices[:-1] if history == LAST else indices:
        message = sent_messages[index]
        if isinstance(message, ChatMessageAssistant):
            sent_messages[index] = without_reasoning(message, think_tags)
    return sent_messages


@dataclass(slots=True)
class ReasoningWatch:
    """Follows the requests of an episode: which reasoning came back, and what of it later requests repeated.

    Attributes:
        think_tags: The marks of reasoning that the user has named; None for those that waybench knows.
        forms: The forms of all reasoning so far.
        replies: Number of replies with reasoning so far.
        requests: For each request after the first reply with reasoning: the number of such replies before it, and the
            number that it repeats.
    """

    think_tags: str | None = None
    forms: set[str] = field(default_factory=set[str])
    replies: int = 0
    requests: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def add_request(self, messages: Sequence[ChatMessage]) -> None:
        """Count the replies with reasoning that a request repeats."""
        if self.replies:
            self.requests.append(
                (self.replies, sum(bool(reasoning_forms(message, self.think_tags)) for message in messages))
            )

    def add_reply(self, message: ChatMessageAssistant) -> None:
        """Record the forms of a reply's reasoning."""
        forms = reasoning_forms(message, self.think_tags)
        self.forms |= forms
        self.replies += bool(forms)

    @property
    def returned_forms(self) -> str:
        """The forms of all reasoning, joined by "+"; "" if there was none."""
        return "+".join(form for form in REASONING_FORMS if form in self.forms)

    @property
    def sent_back(self) -> str:
        """Which reasoning later requests repeated, one of `SENT_BACK`; "" if no request came after any."""
        if not self.requests:
            return ""
        if all(n_sent >= n_before for n_before, n_sent in self.requests):
            return ALL
        if not any(n_sent for _, n_sent in self.requests):
            return NONE
        return LAST if all(n_sent == 1 for _, n_sent in self.requests) else SOME


current_watch: ContextVar[ReasoningWatch | None] = ContextVar("waybench_reasoning_watch", default=None)
"""Follows the requests of the episode that is played; None while none is, or while something else is asked."""
