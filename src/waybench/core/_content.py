"""The text of a message's content, in any of the forms in which servers and libraries have it."""

from collections.abc import Mapping
from typing import Any, cast

_REASONING = ("thinking", "reasoning", "summary")  # where a part of reasoning has it
_REASONING_TYPES = (*_REASONING, "redacted_thinking", "reasoning_content", "summary_text")
_TEXT = ("text", "content", "refusal", "value")


def text_of(content: object) -> str | None:
    """Return the text of a message or of its content; None if it has no text in any known form.

    Args:
        content: A text, a part, a list of parts, or a message with these, as mappings or as objects with attributes
            (pydantic models of any version). Parts follow each other without a separator. Reasoning and pictures are
            no text.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [text for part in cast("list[object]", content) if (text := text_of(part)) is not None]
        return "".join(texts) if texts or not content else None
    if content is None or _is_reasoning(content):
        return None
    values = (_field(content, name) for name in _TEXT)
    texts = (text_of(cast("object", value)) for value in values if isinstance(value, str | list | tuple | Mapping))
    return next((text for text in texts if text is not None), None)


def is_message(value: object) -> bool:
    """Return whether a value is a message, or a list of parts, of which `text_of` can say that it has no text."""
    if isinstance(value, list | tuple):
        return all(map(_is_reasoning, cast("list[object]", value)))
    names = ("content", "text")
    return any(name in value for name in names) if isinstance(value, Mapping) else any(hasattr(value, n) for n in names)


def reasoning_of(content: object) -> str:
    """Return the reasoning that the parts of a message's content hold; "" if there is none.

    Args:
        content: As for `text_of`.
    """
    if isinstance(content, list | tuple):
        return "\n\n".join(filter(None, map(reasoning_of, cast("list[object]", content))))
    if content is None or not _is_reasoning(content):
        return ""
    values = (_field(content, name) for name in (*_REASONING, *_TEXT))
    return next((text for value in values if (text := _any_text(value))), "")


def _any_text(content: object) -> str:
    """Return the text of content that is known to be reasoning, whatever the types of its parts are."""
    if isinstance(content, list | tuple):
        return "".join(map(_any_text, cast("list[object]", content)))
    return reasoning_of(content) or text_of(content) or ""


def _is_reasoning(part: object) -> bool:
    return _field(part, "type") in _REASONING_TYPES


def _field(holder: object, name: str) -> Any:
    if isinstance(holder, Mapping):
        return cast("Mapping[object, Any]", holder).get(name)
    return getattr(holder, name, None)
