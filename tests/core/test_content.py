"""The text of a message, in whatever form it comes."""

from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText
from pydantic import BaseModel

from waybench.core import message_text
from waybench.core._replies import message_reasoning


class Part(BaseModel):
    """A part as another library has it."""

    type: str = "text"
    text: str


class Said(BaseModel):
    """A message as another library has it."""

    content: str | list[Part] | None


@pytest.mark.parametrize(
    "content",
    [
        "up, down",
        ["up", ", down"],
        [{"type": "text", "text": "up"}, {"type": "output_text", "text": ", down"}],
        {"role": "assistant", "content": "up, down"},
        {"role": "assistant", "content": [{"type": "text", "text": {"content": "up, down"}}]},
        [{"type": "text", "text": {"value": "up, down", "annotations": []}}],
        {"type": "refusal", "refusal": "up, down"},
        [{"type": "thinking", "thinking": "left?"}, {"type": "text", "text": "up, down"}],
        Part(text="up, down"),
        [Part(text="up, "), Part(text="down")],
        Said(content="up, down"),
        Said(content=[Part(text="up, down")]),
        ChatMessageAssistant(content=[ContentReasoning(reasoning="left?"), ContentText(text="up, down")]),
        SimpleNamespace(content=[SimpleNamespace(type="text", text="up, down")]),
    ],
)
def test_text_is_read_in_any_form(content: Any) -> None:
    assert message_text(content) == "up, down"


@pytest.mark.parametrize(
    "content", [None, 3, True, {}, {"text": 3}, [{"type": "image_url"}], Said(content=None), object()]
)
def test_what_has_no_text_has_none(content: Any) -> None:
    assert message_text(content) is None


def test_no_parts_are_an_empty_text() -> None:
    assert message_text([]) == message_text({"content": []}) == ""


@pytest.mark.parametrize(
    "content",
    [
        {"type": "thinking", "thinking": "left?"},
        [{"type": "thinking", "thinking": [{"type": "text", "text": "le"}, {"type": "text", "text": "ft?"}]}],
        [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "left?"}]}, {"type": "text", "text": "up"}],
        {"type": "reasoning", "content": [{"type": "reasoning_content", "text": "left?"}]},
        ContentReasoning(reasoning="left?"),
    ],
)
def test_reasoning_is_read_in_any_form(content: Any) -> None:
    assert message_reasoning(content) == "left?"


def test_a_text_is_no_reasoning() -> None:
    assert (
        message_reasoning("up") == message_reasoning([{"type": "text", "text": "up"}]) == message_reasoning(None) == ""
    )
