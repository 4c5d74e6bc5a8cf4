"""Reading replies: the text of a message, the reasoning that stands in it, and names as they are compared."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from waybench.core._errors import UsageError, plural
from waybench.core._json import MAX_DEPTH

THINK_TAGS = "think_tags"  # an option of play of every environment, in addition to its own
_LONGEST_MARK = 100  # characters
_MOST_MARKS = 1_000  # that are read in a reply; further marks stay in the text
_TAG_NAME = r"(?:\w{1,20}:)?(?:thinking|think|thought|reasoning)"
# Marks at which the answer begins, of Hunyuan and ERNIE, of gpt-oss, and of Cohere.
_ANSWER_MARK = (
    r"<(?:answer|response)>|<\|START_RESPONSE\|>"
    r"|<\|channel\|>\s*final\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>"
)
# Marks that are dropped: the end of an answer, and the frame of a message of gpt-oss.
_DROPPED_MARK = (
    r"</(?:answer|response)>|<\|END_RESPONSE\|>|<\|(?:return|end)\|>|<\|start\|>assistant"
    r"|<\|(?:im_end|eot_id|endoftext)\|>|</s>"
)
# Replies of gpt-oss behind a server that removes "<|...|>" and leaves the names of roles and channels.
_UNMARKED_CHANNELS = re.compile(r"\s*analysis(.*)assistantfinal", re.IGNORECASE | re.DOTALL)
_RARE_MARKS = ("[think]", "[/think]", "thought process:", "assistantfinal")  # without "<" or "◁"
_CHUNK_LENGTH = 1 << 20  # characters
_FENCE = re.compile(r"\A\s*```\w*[ \t]*\n|\n```\s*\Z")
_BRACKET = re.compile(r"[\[\]{}]")
_OPENS_LIKE_REASONING = re.compile(
    r"(?:\W{0,3}(?:okay|ok|alright|hmm|well|so|wait|now)\b[\s,.:]{1,3}){0,2}"
    r"(?:let me (?:think|see|start|analy[sz]e|work|figure|try|look)"
    r"|let'?s (?:think|see|analy[sz]e|work|figure|break|look)"
    r"|we (?:need|have|are|must|want|should)\b|i (?:need|have|should|must|am|'m|'ll)\b|i'(?:m|ll) "
    r"|first,? (?:i|we|let)\b|the (?:user|question|problem|task|prompt) |thinking process|step by step"
    r"|to (?:solve|find|determine|figure|answer|reach)\b)",
    re.IGNORECASE,
)
_SECOND_THOUGHTS = re.compile(
    r"\b(?:wait|hmm|actually|let me (?:re\w+|check|double)|alternatively|but then)\b", re.IGNORECASE
)
_LEAST_THOUGHT, _LEAST_PROSE = 200, 800  # characters of a reply that looks like reasoning, and like much prose
_LEAST_SECOND_THOUGHTS, _LEAST_PROSE_LINES = 3, 8
_PROSE_LINE = re.compile(r"^[^\n]*?[A-Za-z]+ [A-Za-z]+ [A-Za-z]+ [^\n]*$", re.MULTILINE)
_LONGEST_SCANNED = 20_000  # characters of a reply that are searched for reasoning without marks
_EXCERPT_LENGTH = 100
FIRST_REPLIES = 20  # replies that are looked at for reasoning without marks
_REASONING_FIELDS = ("thinking", "reasoning", "summary")  # of a part of a message
_REASONING_TYPES = (*_REASONING_FIELDS, "redacted_thinking", "reasoning_content", "summary_text")
_TEXT_FIELDS = ("text", "content", "refusal", "value")
_LONGEST_WORD = 100  # characters, of words and names that are normalized or cached
_LONGEST_CACHED_REPLY = 100  # characters
_DELETED = "\u00ad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, byte order mark
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_TYPOGRAPHIC_VARIANTS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "...": "\u2026",
    "..": "\u2025",
    "": _DELETED,
}
# Characters that word processors and models write in place of ASCII characters. NFKC covers width and blanks, but few
# of these.
_FOLDED = str.maketrans({variant: plain for plain, variants in _TYPOGRAPHIC_VARIANTS.items() for variant in variants})
_WITH_DASHES = _FOLDED | dict.fromkeys(map(ord, _DASHES), "-")
_INVISIBLE = dict.fromkeys(map(ord, _DELETED))


class ReplyParts(NamedTuple):
    """The answer in a reply, which a wording reads, and its reasoning without marks; "" for no reasoning."""

    answer: str
    reasoning: str


class _Mark(NamedTuple):
    """How a model marks its reasoning; case does not matter.

    Attributes:
        opening: A pattern; a group in it is a tag name that the closing mark must have, too.
        closing: A pattern, with a group if the opening pattern has one.
        opens_alone: Whether a block that is never closed reaches to the end of the reply.
        closes_alone: Whether a closing mark without an opening mark ends a block that begins at the start of the reply.
    """

    opening: str
    closing: str
    opens_alone: bool = True
    closes_alone: bool = True


# Sources: the parsers of SGLang 0.5.23 (srt/parser/reasoning_parser.py) and of vLLM (vllm/reasoning/), by model.
_MARKS = (
    # <think>: DeepSeek, Qwen3, GLM, Kimi K2, MiniMax, Nemotron, Granite 4, EXAONE 4, Step, Phi-4; <seed:think>: Seed;
    # <mm:think>: MiniMax M3; <thought>: EXAONE Deep. Inspect sends reasoning back with an attribute in the mark.
    _Mark(rf"<({_TAG_NAME})(?:\s[^<>]{{0,1000}})?>", rf"</({_TAG_NAME})\s*>"),
    _Mark(r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    _Mark("◁think▷", "◁/think▷"),  # the first Kimi
    _Mark(r"<\|open\|>think<\|sep\|>", r"<\|close\|>think<\|sep\|>"),  # Kimi K3
    # gpt-oss; what follows in the channel "final" is the answer
    _Mark(
        r"<\|channel\|>\s*(?:analysis|commentary)\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>",
        r"<\|end\|>|(?=<\|channel\|>)",
        closes_alone=False,
    ),
    _Mark(r"<\|channel>thought\b", r"<channel\|>"),  # Gemma 4
    _Mark(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    _Mark(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
    # Granite 3.2; one of these sentences without the other is plain English
    _Mark(r"\bHere(?:['’]s| is) my thought process:", r"\bHere(?:['’]s| is) my response:", False, False),
)


class _Part(NamedTuple):
    """A part of a reply: text, reasoning, or a barrier, before which all text is reasoning."""

    kind: str  # "text", "reasoning" or "barrier"
    text: str = ""


def split_reasoning(reply: str, think_tags: str | None = None) -> ReplyParts:
    """Return a reply's answer and its reasoning, which marks such as <think> separate.

    A block that was opened and never closed reaches to the end. Text before a closing mark without an opening mark is
    reasoning if other text follows, and otherwise the answer. Text before the mark of an answer is reasoning, too. At
    most 1,000 marks are read.

    The marks are those that waybench knows, and those of the option `think_tags`.
    """
    if len(reply) <= _LONGEST_CACHED_REPLY:
        return _split_short_reply(reply, think_tags)
    return _split_marked_reasoning(reply, think_tags)


def _split_marked_reasoning(reply: str, think_tags: str | None) -> ReplyParts:
    """Return what `split_reasoning` does, without a cache."""
    if (think_tags is None and not _can_have_marks(reply)) or _is_one_json_value(reply):
        return ReplyParts(reply, "")
    reader = _mark_reader(think_tags)
    parts: list[_Part] = []
    position, unclosed_groups = 0, set[str]()
    if (channels := _UNMARKED_CHANNELS.match(reply)) is not None:
        parts += (_Part("text", channels[1]), _Part("barrier"))
        position = channels.end()
    for _ in range(_MOST_MARKS):
        if (mark := reader.pattern.search(reply, position)) is None:
            break
        group = mark.lastgroup or ""  # see `_mark_reader`
        parts.append(_Part("text", reply[position : mark.start()]))
        position = mark.end()
        is_opening = group.startswith("o")
        if not is_opening:
            if group != "end":
                parts.append(_Part("barrier"))
            continue
        number = int(group[1:])
        closing_pattern = reader.closings[number]
        first_name = reader.pattern.groupindex[group]  # groups count from 1: the index after the mark's own group
        tag_names = [name.lower() for name in mark.groups()[first_name : first_name + closing_pattern.groups]]
        closings = closing_pattern.finditer(reply, position) if group not in unclosed_groups else ()
        closing = next((match for match in closings if [*map(str.lower, match.groups())] == tag_names), None)
        if closing is None and not reader.marks[number].opens_alone:
            unclosed_groups.add(group)  # no later mark of this kind is closed, either
            parts.append(_Part("text", mark[0]))
            continue
        end = len(reply) if closing is None else closing.start()
        parts.append(_Part("reasoning", reply[position:end]))
        position = end if closing is None else closing.end()
    if not parts:
        return ReplyParts(reply, "")
    return _join_reply_parts([*parts, _Part("text", reply[position:])])


# In games of few actions the same replies come again and again.
_split_short_reply = lru_cache(maxsize=1024)(_split_marked_reasoning)


def _join_reply_parts(parts: Sequence[_Part]) -> ReplyParts:
    """Return the text after the last barrier as the answer, and all other parts as reasoning.

    Barriers with no text after them do not count, so that a reply always keeps an answer.
    """
    last_nonempty = max((number for number, part in enumerate(parts) if part.text.strip()), default=0)
    barrier = max((number for number in range(last_nonempty) if parts[number].kind == "barrier"), default=0)
    reasoning_parts = [*parts[:barrier], *(part for part in parts[barrier:] if part.kind == "reasoning")]
    reasoning = (part.text.strip() for part in reasoning_parts)
    answer = "".join(part.text for part in parts[barrier:] if part.kind == "text")
    return ReplyParts(answer, "\n\n".join(filter(None, reasoning)))


def _is_one_json_value(reply: str) -> bool:
    """Return whether a reply is one JSON value, so that any marks are inside its strings."""
    text = _FENCE.sub("", reply).strip()
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return False
    depth = 0
    for bracket in _BRACKET.finditer(text):  # the depth that the json module can read depends on the machine's stack
        depth += 1 if bracket[0] in "{[" else -1
        if depth > MAX_DEPTH:
            return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _can_have_marks(reply: str) -> bool:
    """Return whether a reply may have marks of reasoning; a fast check before the pattern."""
    if "<" in reply or "◁" in reply:
        return True
    for start in range(0, len(reply), _CHUNK_LENGTH):  # a copy in lower case of a whole reply could have a gigabyte
        chunk = reply[start : start + _CHUNK_LENGTH + _LONGEST_MARK].lower()
        for mark in _RARE_MARKS:  # no generator, which would be slower: most replies come here
            if mark in chunk:
                return True
    return False


class _MarkReader(NamedTuple):
    """The marks, the pattern of each one's closing mark, and one pattern of all marks with a group for each."""

    marks: Sequence[_Mark]
    closings: Sequence[re.Pattern[str]]
    pattern: re.Pattern[str]


@lru_cache(maxsize=16)
def _mark_reader(think_tags: str | None) -> _MarkReader:
    """Return the known marks and those of `think_tags`.

    The groups of the pattern are oN and cN for the opening and closing mark of number N, "answer" and "end" (dropped).
    """
    marks, first_characters = _MARKS, "<[◁H"  # a fast test before the whole pattern is tried
    if think_tags is not None:
        opening, closing = split_think_tags(think_tags)
        marks = (_Mark(re.escape(opening), re.escape(closing)), *_MARKS)
        first_characters += opening[0] + closing[0]
    groups: list[str] = []
    for number, mark in enumerate(marks):
        groups.append(f"(?P<o{number}>{mark.opening})")
        if mark.closes_alone:
            groups.append(f"(?P<c{number}>{mark.closing})")
    groups += (f"(?P<answer>{_ANSWER_MARK})", f"(?P<end>{_DROPPED_MARK})")
    closings = tuple(re.compile(mark.closing, re.IGNORECASE) for mark in marks)
    pattern = re.compile(rf"(?=[{re.escape(first_characters)}])(?:{'|'.join(groups)})", re.IGNORECASE)
    return _MarkReader(marks, closings, pattern)


def join_think_tags(opening: str, closing: str) -> str:
    """Return an opening and a closing mark as a value of the option `think_tags`, which `split_think_tags` reads."""
    return ("\n" if " " in f"{opening}{closing}" else " ").join((opening, closing))


def split_think_tags(think_tags: str) -> list[str]:
    """Return the two marks in a value of the option `think_tags`; raise a UsageError unless they are two and differ."""
    separator = "\n" if "\n" in think_tags.strip() else " "
    tags = [tag.strip() for tag in think_tags.strip().split(separator) if tag.strip()]
    if len(tags) != 2 or tags[0].lower() == tags[1].lower() or max(map(len, tags)) > _LONGEST_MARK:
        raise UsageError(
            f"{THINK_TAGS}={think_tags[:80]!r}: give two different marks of at most {_LONGEST_MARK} characters, such "
            "as <plan> and </plan>"
        )
    if not all(tag.isprintable() for tag in tags):
        raise UsageError(f"{THINK_TAGS}={think_tags[:80]!r}: a mark has only printable characters")
    return tags


def looks_like_reasoning(text: str) -> bool:
    """Return whether a reply without marks reads like thinking aloud, for a warning.

    Its length must be at least 200 characters, and it must open as reasoning does ("Let me think"), change its mind
    several times ("Wait"), or have many lines of prose.
    """
    text = text[:_LONGEST_SCANNED].strip()
    if len(text) < _LEAST_THOUGHT:
        return False
    if _OPENS_LIKE_REASONING.match(text):
        return True
    if len(_SECOND_THOUGHTS.findall(text)) >= _LEAST_SECOND_THOUGHTS:
        return True
    return len(text) >= _LEAST_PROSE and len(_PROSE_LINE.findall(text)) >= _LEAST_PROSE_LINES


def reasoning_warning(replies: Sequence[str]) -> str:
    """Return a warning about replies that look like reasoning without marks, with an excerpt; "" for none.

    The replies are, for example, the first `FIRST_REPLIES` that had to name an action and have no mark of reasoning.
    """
    thoughts = [reply for reply in replies if looks_like_reasoning(reply)]
    if not thoughts:
        return ""
    excerpt = json.dumps(" ".join(thoughts[0][:400].split())[:_EXCERPT_LENGTH])
    return (
        f"{len(thoughts)} of the first {plural(len(replies), 'reply', 'replies')} looked at may be reasoning "
        f"without marks, and are read as answers: {excerpt}... If the model marks its reasoning, give --think-tags "
        "OPEN CLOSE, or let its server separate it."
    )


def message_text(content: object) -> str | None:
    """Return the text of a message or of its content; None if it has no text in any known form.

    Reasoning and pictures are no text; the texts of several parts are joined without a separator.

    Args:
        content: A text, a part, a list of parts, or a message with such content. Parts and messages are mappings, or
            objects with attributes (pydantic models of any version).
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [text for part in cast("list[object]", content) if (text := message_text(part)) is not None]
        return "".join(texts) if texts or not content else None
    if content is None or _is_reasoning_part(content):
        return None
    values = (_key_or_attribute(content, name) for name in _TEXT_FIELDS)
    texts = (message_text(cast("object", value)) for value in values if isinstance(value, str | list | tuple | Mapping))
    return next((text for text in texts if text is not None), None)


def is_message_content(value: object) -> bool:
    """Return whether a value is a message, or a list of parts that are all reasoning."""
    if isinstance(value, list | tuple):
        return all(map(_is_reasoning_part, cast("list[object]", value)))
    if isinstance(value, Mapping):
        return "content" in value or "text" in value
    return hasattr(value, "content") or hasattr(value, "text")


def message_reasoning(content: object) -> str:
    """Return the reasoning in a message's content; "" if there is none."""
    if isinstance(content, list | tuple):
        return "\n\n".join(filter(None, map(message_reasoning, cast("list[object]", content))))
    if content is None or not _is_reasoning_part(content):
        return ""
    values = (_key_or_attribute(content, name) for name in (*_REASONING_FIELDS, *_TEXT_FIELDS))
    return next((text for value in values if (text := _reasoning_or_text(value))), "")


def _reasoning_or_text(content: object) -> str:
    """Return the text of the content of a reasoning part, in which plain text is reasoning, too."""
    if isinstance(content, list | tuple):
        return "".join(map(_reasoning_or_text, cast("list[object]", content)))
    return message_reasoning(content) or message_text(content) or ""


def _is_reasoning_part(part: object) -> bool:
    """Return whether a part of a message is marked as reasoning by its type."""
    return _key_or_attribute(part, "type") in _REASONING_TYPES


def _key_or_attribute(holder: object, name: str) -> Any:
    """Return a mapping's value or an object's attribute by name; None if there is none."""
    if isinstance(holder, Mapping):
        return cast("Mapping[object, Any]", holder).get(name)
    return getattr(holder, name, None)


def without_invisible_characters(text: str) -> str:
    """Return a text without soft hyphens and characters of no width."""
    return text if text.isascii() else text.translate(_INVISIBLE)


def is_minus_sign(character: str) -> bool:
    """Return whether a character is a hyphen, a dash or a minus sign; False for ""."""
    return character == "-" or (character != "" and character in _DASHES)


def normalize_name(name: str, *, dashes: bool = True) -> str:
    """Return a name without differences of case, width, blanks and typography, to compare it.

    Both sides of a comparison are normalized; nothing normalized is stored. Words of more than 100 characters keep
    their width, since normalizing many marks on one letter is slow.

    Args:
        name: The name, or a text that is searched for names.
        dashes: Whether all dashes become hyphens. In a text that is searched for names without hyphens they should not:
            a dash between two words would join them to one word.
    """
    return _normalize_short(name, dashes) if len(name) <= _LONGEST_WORD else _fold_case_and_typography(name, dashes)


def fold_typography(text: str, *, dashes: bool = True) -> str:
    """Return a text without differences of width and typography, with one blank for several."""
    if text.isascii():
        return " ".join(text.split())
    folded = text.translate(_WITH_DASHES if dashes else _FOLDED)
    words = (word if len(word) > _LONGEST_WORD else unicodedata.normalize("NFKC", word) for word in folded.split())
    return " ".join(" ".join(words).split())


def _fold_case_and_typography(text: str, dashes: bool) -> str:
    """Return a text without differences of case, width, blanks and typography."""
    return " ".join(fold_typography(text, dashes=dashes).casefold().split())


_normalize_short = lru_cache(maxsize=8192)(_fold_case_and_typography)  # the same names come again and again
