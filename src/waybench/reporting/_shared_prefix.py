"""The common prefix of many items' prompts, which is shown once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from waybench.core import EpisodeRecord, Message
from waybench.reporting._format import Excerpt, excerpt_with_end

LEAST = 400  # characters: a shorter common beginning of a message stays where it is


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation.

    Attributes:
        who: "prompt", "reply" or "answer".
        title: Its heading.
        text: What it says.
        outcome: Of a reply, what it came to.
        reason: Of a reply, why it was not carried out.
        instead: Of a reply, what a teacher did in place of it, if that was something else.
        read: Of a reply, what it was read as.
        reasoning: Of a reply, what the model reasoned before it.
        cost: Of a reply, its tokens and time, in words.
        note: What else there is to say of it.
        folds: Of an answer, the parts that an earlier message has already, which are folded, each after what is new
            before it; `text` is what comes after the last.
    """

    who: str
    title: str
    text: Excerpt
    outcome: str = ""
    reason: str = ""
    instead: Excerpt | None = None
    read: str = ""
    reasoning: Excerpt | None = None
    cost: str = ""
    note: str = ""
    folds: Sequence[tuple[str, Excerpt]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether a reply says nothing but what it was read as."""
        return self.text.text.strip() == self.read

    @property
    def marked(self) -> tuple[str, str, str] | None:
        """What a reply was read as, where the reply says just that in one place: what is before, it, what is after."""
        if not self.read or self.is_plain:
            return None
        before, found, after = self.text.text.partition(self.read)
        return (before, found, after) if found and self.read not in after else None


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """The common prefix of several prompts.

    Attributes:
        messages: Messages that are the same in all of them.
        beginning: What the message after these begins with; "" for nothing worth telling apart.
    """

    messages: tuple[Message, ...] = ()
    beginning: Message | None = None

    @property
    def characters(self) -> int:
        """How long it is."""
        return sum(len(message.text) for message in self.messages) + len(self.beginning.text if self.beginning else "")

    def rest(self, messages: Sequence[Message]) -> list[Message]:
        """Return what a prompt says after it."""
        left = list(messages[len(self.messages) :])
        if left and self.beginning is not None:
            left[0] = left[0]._replace(text=left[0].text[len(self.beginning.text) :])
        return left

    def said(self, longest: int) -> list[Said]:
        """Return it for a page, each message up to so many characters."""
        messages = self.messages if self.beginning is None else (*self.messages, self.beginning)
        return [_said(message, longest) for message in messages]


class Common:
    """Finds the common prefix of prompts one prompt at a time."""

    def __init__(self) -> None:
        self._first: tuple[Message, ...] | None = None
        self._alike = 0  # messages that are the same in all, of which at least one of each prompt is left
        self._next: Message | None = None  # what all have in common of the one after these; None if roles differ
        self._differs = False

    def add(self, prompt: Sequence[Message]) -> None:
        """Take another prompt."""
        if self._first is None:
            self._first = tuple(prompt)
            self._alike = max(len(prompt) - 1, 0)
            self._next = prompt[self._alike] if prompt else None
            return
        alike = 0
        most = min(self._alike, len(prompt) - 1)
        while alike < most and prompt[alike] == self._first[alike]:
            alike += 1
        if alike < self._alike:
            self._alike, self._next, self._differs = max(alike, 0), None, False
            if prompt and self._first:
                self._next = self._first[self._alike]
        if self._next is None or not prompt:
            self._next = None
            return
        other = prompt[self._alike]
        if other != self._next:
            self._differs = True
            common = _beginning(self._next.text, other.text)
            self._next = Message(other.role, common) if other.role == self._next.role else None

    def shared_prefix(self) -> SharedPrefix:
        """Return it, so that at least one message of each prompt is left, or its end.

        Whole messages count however short they are; of the message after them, the common beginning up to the end of a
        line does if it is long.
        """
        messages = (self._first or ())[: self._alike]
        if self._next is None or not self._differs:
            return SharedPrefix(messages)
        common = self._next.text[: self._next.text.rfind("\n") + 1]
        return SharedPrefix(messages, Message(self._next.role, common) if len(common) >= LEAST else None)


def opening(prompts: Iterable[Sequence[Message]]) -> SharedPrefix:
    """Return the common prefix of some prompts (see `Common.opening`)."""
    found = Common()
    for prompt in prompts:
        found.add(prompt)
    return found.shared_prefix()


def _beginning(first: str, last: str) -> str:
    """Return the common prefix of two texts."""
    alike, most = 0, min(len(first), len(last))
    while alike < most:  # halving: prompts are long, and so are their beginnings
        middle = (alike + most + 1) // 2
        if first[:middle] == last[:middle]:
            alike = middle
        else:
            most = middle - 1
    return first[:alike]


def prompted(record: EpisodeRecord, shared: SharedPrefix, longest: int) -> list[Said]:
    """Return the first messages to a player without the common prefix.

    Args:
        record: The episode's record.
        shared: What is shown elsewhere.
        longest: Most characters of a message that are shown.
    """
    return [_said(message, longest) for message in shared.rest(record.opening)]


def _said(message: Message, longest: int) -> Said:
    return Said("prompt", speaker(message.role), excerpt_with_end(message.text, longest))


def speaker(role: str) -> str:
    """Return a heading for who speaks."""
    return {"system": "System prompt", "user": "Prompt"}.get(role, role)
