"""What players are told at first: where many items' prompts begin alike, the beginning is shown once."""

from collections.abc import Sequence
from dataclasses import dataclass

from waybench.core import EpisodeRecord, Message
from waybench.report._format import Excerpt, excerpt, excerpt_with_end, plural

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
    """

    who: str
    title: str
    text: Excerpt
    outcome: str = ""
    reason: str = ""
    instead: Excerpt | None = None
    read: str = ""

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
class Opening:
    """What several prompts begin with.

    Attributes:
        messages: Messages that are the same in all of them.
        beginning: What the message after these begins with; "" for nothing worth telling apart.
    """

    messages: tuple[Message, ...] = ()
    beginning: Message | None = None

    def rest(self, messages: Sequence[Message]) -> list[Message]:
        """Return what a prompt says after it."""
        left = list(messages[len(self.messages) :])
        if left and self.beginning is not None:
            left[0] = left[0]._replace(text=left[0].text[len(self.beginning.text) :])
        return left

    def said(self, longest: int) -> list[Said]:
        """Return it for a page, each message up to so many characters."""
        told = self.messages if self.beginning is None else (*self.messages, self.beginning)
        return [_said(message, longest) for message in told]


def opening(prompts: Sequence[Sequence[Message]]) -> Opening:
    """Return what some prompts all begin with, so that at least one message of each is left, or its end.

    Whole messages count however short they are; of the message after them, the common beginning up to the end of a line
    does if it is long.
    """
    shortest = min(map(len, prompts), default=0)
    if not shortest:
        return Opening()
    count = 0
    while count < shortest - 1 and all(prompt[count] == prompts[0][count] for prompt in prompts):
        count += 1
    messages = tuple(prompts[0][:count])
    following = {(prompt[count].role, prompt[count].text) for prompt in prompts}
    if len(following) < 2 or len({role for role, _ in following}) > 1:
        return Opening(messages)
    common = _beginning([text for _, text in following])
    common = common[: common.rfind("\n") + 1]
    if len(common) < LEAST:
        return Opening(messages)
    return Opening(messages, Message(prompts[0][count].role, common))


def _beginning(texts: Sequence[str]) -> str:
    """Return what all texts begin with: what the first and the last one in the alphabet begin with."""
    first, last = min(texts), max(texts)
    alike, most = 0, min(len(first), len(last))
    while alike < most:  # halving: prompts are long, and so are their beginnings
        middle = (alike + most + 1) // 2
        if first[:middle] == last[:middle]:
            alike = middle
        else:
            most = middle - 1
    return first[:alike]


def prompted(record: EpisodeRecord, shared: Opening, longest: int, *, whole: bool) -> list[Said]:
    """Return what a player was told at first, without what all were told.

    Args:
        record: The episode's record.
        shared: What is shown elsewhere.
        longest: Most characters of a message that are shown.
        whole: Whether in-context examples are shown too; they are long, and mostly the same as the item's before.
    """
    told = shared.rest(record.opening)
    examples = told[:-1]
    if not record.examples or whole or len(examples) < 2:
        return [_said(message, longest) for message in told]
    count = plural(len(record.examples), "in-context example")
    left_out = f"{count}, {plural(len(examples), 'message')}: left out here, see the first one on this page."
    return [Said("prompt", "In-context examples", excerpt(left_out, len(left_out))), _said(told[-1], longest)]


def _said(message: Message, longest: int) -> Said:
    return Said("prompt", speaker(message.role), excerpt_with_end(message.text, longest))


def speaker(role: str) -> str:
    """Return a heading for who speaks."""
    return {"system": "System prompt", "user": "Prompt"}.get(role, role)
