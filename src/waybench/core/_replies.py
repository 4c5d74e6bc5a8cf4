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
_MOST_MARKS = 1_000  # in a reply; what follows them stays as it is
_NAME = r"(?:\w{1,20}:)?(?:thinking|think|thought|reasoning)"
# What stands before the mark of an answer is no part of it: Hunyuan, ERNIE; gpt-oss; Cohere.
_ANSWER = (
    r"<(?:answer|response)>|<\|START_RESPONSE\|>"
    r"|<\|channel\|>\s*final\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>"
)
# Marks that say nothing where they stand: the end of an answer, and the frame of a message of gpt-oss.
_END = (
    r"</(?:answer|response)>|<\|END_RESPONSE\|>|<\|(?:return|end)\|>|<\|start\|>assistant"
    r"|<\|(?:im_end|eot_id|endoftext)\|>|</s>"
)
# gpt-oss behind a server that drops its marks and leaves the names in them.
_UNMARKED_CHANNELS = re.compile(r"\s*analysis(.*)assistantfinal", re.IGNORECASE | re.DOTALL)
_RARE = ("[think]", "[/think]", "thought process:", "assistantfinal")  # those without "<" or "◁" in them
_CHUNK = 1 << 20
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
_LONG_THOUGHT, _LONG_PROSE = 200, 800  # characters
_MANY_THOUGHTS, _MANY_LINES = 3, 8
_PROSE = re.compile(r"^[^\n]*?[A-Za-z]+ [A-Za-z]+ [A-Za-z]+ [^\n]*$", re.MULTILINE)
_LOOKED_AT = 20_000  # characters
_EXCERPT = 100
FIRST_REPLIES = 20  # replies that are looked at for reasoning without marks
_REASONING = ("thinking", "reasoning", "summary")  # where a part of reasoning has it
_REASONING_TYPES = (*_REASONING, "redacted_thinking", "reasoning_content", "summary_text")
_TEXT = ("text", "content", "refusal", "value")
_LONGEST_WORD = 100
_SHORT = 100  # characters
_DELETED = "\u00ad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, byte order mark
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_TWINS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "...": "\u2026",
    "..": "\u2025",
    "": _DELETED,
}
# What word processors and models put in the place of an ASCII character. NFKC knows width and blanks, and few of these.
_FOLDED = str.maketrans({twin: sign for sign, twins in _TWINS.items() for twin in twins})
_WITH_DASHES = _FOLDED | dict.fromkeys(map(ord, _DASHES), "-")
_INVISIBLE = dict.fromkeys(map(ord, _DELETED))


class ReplyParts(NamedTuple):
    """The answer in a reply, which a wording reads, and its reasoning without marks; "" for no reasoning."""

    answer: str
    reasoning: str


class _Mark(NamedTuple):
    """How a model marks its reasoning; case does not matter.

    Attributes:
        opening: A pattern; a group in it is a name that the closing mark has to have, too.
        closing: A pattern, with a group if the opening mark has one.
        opens_alone: Whether a block that is never closed reaches to the end.
        closes_alone: Whether a block that was never opened begins at the start.
    """

    opening: str
    closing: str
    opens_alone: bool = True
    closes_alone: bool = True


# Sources: the parsers of SGLang 0.5.23 (srt/parser/reasoning_parser.py) and of vLLM (vllm/reasoning/), by model.
_MARKS = (
    # <think>: DeepSeek, Qwen3, GLM, Kimi K2, MiniMax, Nemotron, Granite 4, EXAONE 4, Step, Phi-4; <seed:think>: Seed;
    # <mm:think>: MiniMax M3; <thought>: EXAONE Deep. Inspect sends reasoning back with an attribute in the mark.
    _Mark(rf"<({_NAME})(?:\s[^<>]{{0,1000}})?>", rf"</({_NAME})\s*>"),
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
    # Granite 3.2; each by itself is plain English
    _Mark(r"\bHere(?:['’]s| is) my thought process:", r"\bHere(?:['’]s| is) my response:", False, False),
)


class _Part(NamedTuple):
    kind: str  # "text", "reasoning" or "barrier", before which there is no answer
    text: str = ""


def split_reasoning(reply: str, think_tags: str | None = None) -> ReplyParts:
    """Return a reply's answer and its reasoning, which marks such as <think> separate.

    A block that was opened and never closed reaches to the end. What stands before a closing mark without an opening
    one is reasoning if anything follows; a closing mark with nothing after it takes nothing away. What stands before
    the mark of an answer is reasoning, too. At most 1,000 marks are read.

    The marks are those that waybench knows, and `think_tags` (`THINK_TAGS`).
    """
    return _split_short(reply, think_tags) if len(reply) <= _SHORT else _split_marked_reasoning(reply, think_tags)


def _split_marked_reasoning(reply: str, think_tags: str | None) -> ReplyParts:
    if (think_tags is None and not _can_have_marks(reply)) or _is_one_json_value(reply):
        return ReplyParts(reply, "")
    reader = _mark_reader(think_tags)
    parts: list[_Part] = []
    position, unclosed = 0, set[str]()
    if (channels := _UNMARKED_CHANNELS.match(reply)) is not None:
        parts += (_Part("text", channels[1]), _Part("barrier"))
        position = channels.end()
    for _ in range(_MOST_MARKS):
        if (mark := reader.pattern.search(reply, position)) is None:
            break
        kind = mark.lastgroup or ""
        parts.append(_Part("text", reply[position : mark.start()]))
        position = mark.end()
        if kind[0] != "o":
            parts += [_Part("barrier")] if kind != "end" else []
            continue
        number = int(kind[1:])
        names = mark.groups()[reader.pattern.groupindex[kind] :][: reader.closings[number].groups]
        closings = reader.closings[number].finditer(reply, position) if kind not in unclosed else ()
        closing = next((end for end in closings if _are_same_tag_names(end.groups(), names)), None)
        if closing is None and not reader.marks[number].opens_alone:
            unclosed.add(kind)  # it is not closed later, either
            parts.append(_Part("text", mark[0]))
            continue
        end = len(reply) if closing is None else closing.start()
        parts.append(_Part("reasoning", reply[position:end]))
        position = end if closing is None else closing.end()
    if not parts:
        return ReplyParts(reply, "")
    return _join_reply_parts([*parts, _Part("text", reply[position:])])


_split_short = lru_cache(maxsize=1024)(
    _split_marked_reasoning
)  # in games of few actions the same replies come again and again


def _join_reply_parts(parts: Sequence[_Part]) -> ReplyParts:
    """Return the answer after the last barrier before text, and all reasoning."""
    last_said = max((number for number, part in enumerate(parts) if part.text.strip()), default=0)
    barrier = max((number for number in range(last_said) if parts[number].kind == "barrier"), default=0)
    reasoning = (
        part.text.strip() for part in (*parts[:barrier], *(p for p in parts[barrier:] if p.kind == "reasoning"))
    )
    answer = "".join(part.text for part in parts[barrier:] if part.kind == "text")
    return ReplyParts(answer, "\n\n".join(filter(None, reasoning)))


def _is_one_json_value(reply: str) -> bool:
    """Return whether a reply is one JSON value, so that any marks are inside its strings."""
    text = _FENCE.sub("", reply).strip()
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return False
    depth = 0
    for bracket in _BRACKET.finditer(text):  # counted here, since what the json module takes depends on the stack
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
    for start in range(0, len(reply), _CHUNK):  # not a copy of all of it in lower case, which can be a gigabyte
        lower = reply[start : start + _CHUNK + _LONGEST_MARK].lower()
        for mark in _RARE:  # no generator: most replies come here
            if mark in lower:
                return True
    return False


def _are_same_tag_names(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether the tag names of an opening and a closing mark are the same but for case."""
    return [name.lower() for name in first] == [name.lower() for name in second]


class _MarkReader(NamedTuple):
    marks: Sequence[_Mark]
    closings: Sequence[re.Pattern[str]]
    pattern: re.Pattern[str]


@lru_cache(maxsize=16)
def _mark_reader(think_tags: str | None) -> _MarkReader:
    """Return the marks with one pattern for all of them, by groups: oN opens, cN closes, answer, end."""
    marks, first = _MARKS, "<[◁H"  # all marks begin with one of these signs, which is quickly seen
    if think_tags is not None:
        opening, closing = split_think_tags(think_tags)
        marks = (_Mark(re.escape(opening), re.escape(closing)), *_MARKS)
        first += opening[0] + closing[0]
    groups: list[str] = []
    for number, mark in enumerate(marks):
        groups.append(f"(?P<o{number}>{mark.opening})")
        if mark.closes_alone:
            groups.append(f"(?P<c{number}>{mark.closing})")
    groups += (f"(?P<answer>{_ANSWER})", f"(?P<end>{_END})")
    closings = tuple(re.compile(mark.closing, re.IGNORECASE) for mark in marks)
    return _MarkReader(marks, closings, re.compile(rf"(?=[{re.escape(first)}])(?:{'|'.join(groups)})", re.IGNORECASE))


def join_think_tags(opening: str, closing: str) -> str:
    """Return an opening and a closing mark as a value of the option `think_tags`."""
    return ("\n" if " " in f"{opening}{closing}" else " ").join((opening, closing))


def split_think_tags(think_tags: str) -> list[str]:
    """Return the two marks in a value of the option `think_tags`; raise a UsageError unless they are two and differ."""
    tags = [tag.strip() for tag in think_tags.strip().split("\n" if "\n" in think_tags.strip() else " ") if tag.strip()]
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

    It does if it is long and opens as such texts do, if it has second thoughts again and again, or if many lines of
    prose stand in it.
    """
    text = text[:_LOOKED_AT].strip()
    if len(text) < _LONG_THOUGHT:
        return False
    if _OPENS_LIKE_REASONING.match(text):
        return True
    if len(_SECOND_THOUGHTS.findall(text)) >= _MANY_THOUGHTS:
        return True
    return len(text) >= _LONG_PROSE and len(_PROSE.findall(text)) >= _MANY_LINES


def reasoning_warning(replies: Sequence[str]) -> str:
    """Return a warning about replies that look like reasoning without marks, with an excerpt; "" for none.

    The replies had to name an action and have no mark, such as the first `FIRST_REPLIES`.
    """
    thoughts = [reply for reply in replies if looks_like_reasoning(reply)]
    if not thoughts:
        return ""
    excerpt = json.dumps(" ".join(thoughts[0][:400].split())[:_EXCERPT])
    return (
        f"{len(thoughts)} of the first {plural(len(replies), 'reply', 'replies')} looked at may be reasoning "
        f"without marks, and are read as answers: {excerpt}... If the model marks its reasoning, give --think-tags "
        "OPEN CLOSE, or let its server separate it."
    )


def message_text(content: object) -> str | None:
    """Return the text of a message or of its content; None if it has no text in any known form.

    Args:
        content: A text, a part, a list of parts, or a message with these, as mappings or as objects with attributes
            (pydantic models of any version). Parts follow each other without a separator. Reasoning and pictures are
            no text.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [text for part in cast("list[object]", content) if (text := message_text(part)) is not None]
        return "".join(texts) if texts or not content else None
    if content is None or _is_reasoning_part(content):
        return None
    values = (_key_or_attribute(content, name) for name in _TEXT)
    texts = (message_text(cast("object", value)) for value in values if isinstance(value, str | list | tuple | Mapping))
    return next((text for text in texts if text is not None), None)


def is_message_content(value: object) -> bool:
    """Return whether a value is a message, or a list of parts that are all reasoning."""
    if isinstance(value, list | tuple):
        return all(map(_is_reasoning_part, cast("list[object]", value)))
    names = ("content", "text")
    return any(name in value for name in names) if isinstance(value, Mapping) else any(hasattr(value, n) for n in names)


def message_reasoning(content: object) -> str:
    """Return the reasoning in a message's content; "" if there is none."""
    if isinstance(content, list | tuple):
        return "\n\n".join(filter(None, map(message_reasoning, cast("list[object]", content))))
    if content is None or not _is_reasoning_part(content):
        return ""
    values = (_key_or_attribute(content, name) for name in (*_REASONING, *_TEXT))
    return next((text for value in values if (text := _reasoning_or_text(value))), "")


def _reasoning_or_text(content: object) -> str:
    """Return the text of content that is known to be reasoning."""
    if isinstance(content, list | tuple):
        return "".join(map(_reasoning_or_text, cast("list[object]", content)))
    return message_reasoning(content) or message_text(content) or ""


def _is_reasoning_part(part: object) -> bool:
    return _key_or_attribute(part, "type") in _REASONING_TYPES


def _key_or_attribute(holder: object, name: str) -> Any:
    """Return a mapping's value or an object's attribute by name; None if there is none."""
    if isinstance(holder, Mapping):
        return cast("Mapping[object, Any]", holder).get(name)
    return getattr(holder, name, None)


def without_invisible_characters(text: str) -> str:
    """Return a text without soft hyphens and characters of no width."""
    return text if text.isascii() else text.translate(_INVISIBLE)


def is_minus_sign(sign: str) -> bool:
    """Return whether a character is a hyphen, a dash or a minus sign."""
    return sign == "-" or (sign != "" and sign in _DASHES)


def normalize_name(name: str, *, dashes: bool = True) -> str:
    """Return a name without differences of case, width, blanks and typography, to compare it.

    It is for both sides of a comparison, not for what is stored. Long words keep their width, since normalizing many
    marks on one letter is slow.

    Args:
        name: The name, or a text that is searched for names.
        dashes: Whether all dashes are hyphens. In a text they are not, unless a name that it is searched for has one:
            a dash between two words would make one of them.
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
