"""Servers write a completion in many forms, and none of them ends an episode or changes what was said."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageTool, ChatMessageUser, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo, ToolParams
from openai import APIStatusError
from tenacity import RetryError

from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MAZES, records, solution, waybench_
from waybench.evaluation._engine import open_model
from waybench.evaluation._provider import raw_reply
from waybench.evaluation._responses import inspect_stop_reason
from waybench.evaluation._solver import provider_error_text, read_reply

REPLY = '{"movements": [{"direction": "down", "cells": 4}]}'
Form = Callable[[dict[str, Any], dict[str, Any]], Any]


def message(**fields: Any) -> Form:
    """Return a form whose message has other fields."""
    return lambda request, completion: _with(completion, message={**completion["choices"][0]["message"], **fields})


def choice(**fields: Any) -> Form:
    """Return a form whose choice has other fields."""
    return lambda request, completion: _with(completion, **fields)


def whole(**fields: Any) -> Form:
    """Return a form which itself has other fields."""
    return lambda request, completion: {**completion, **fields}


def without(*names: str) -> Form:
    """Return a form that lacks fields."""
    return lambda request, completion: {name: value for name, value in completion.items() if name not in names}


def parts(*content: Any) -> Form:
    """Return a form whose content is a list."""
    return message(content=list(content))


def content(make: Callable[[str], Any]) -> Form:
    """Return a form whose content is made of the text."""

    def form(request: dict[str, Any], completion: dict[str, Any]) -> Any:
        return message(content=make(completion["choices"][0]["message"]["content"]))(request, completion)

    return form


def usage(**fields: Any) -> Form:
    """Return a form with other counts of tokens."""
    return lambda request, completion: {**completion, "usage": {**completion["usage"], **fields}}


def _with(completion: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**completion, "choices": [{**completion["choices"][0], **fields}]}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# None of these changes the reply.
FORMS: dict[str, Form] = {
    "as OpenAI has it": lambda request, completion: completion,
    "usage missing": without("usage"),
    "one part": content(lambda text: [text_part(text)]),
    "parts cut in a word": content(lambda text: [text_part(text[:9]), text_part(text[9:])]),
    "parts of Mistral": content(lambda text: [{"type": "thinking", "thinking": [text_part("up?")]}, text_part(text)]),
    "parts of Databricks": content(
        lambda text: [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "up?", "signature": ""}]},
            text_part(text),
        ]
    ),
    "parts of the Responses API": content(lambda text: [{"type": "output_text", "text": text, "annotations": None}]),
    "parts that are texts": content(lambda text: [text[:5], text[5:]]),
    "a part without a list": content(text_part),
    "parts with a reference": content(lambda text: [text_part(text), {"type": "reference", "reference_ids": [1]}]),
    "the value of JSON text": content(json.loads),
    "text of a choice": lambda request, completion: {
        **completion,
        "choices": [{"text": completion["choices"][0]["message"]["content"], "finish_reason": "stop"}],
    },
    "delta in place of the message": lambda request, completion: {
        **completion,
        "choices": [{"index": 0, "delta": completion["choices"][0]["message"], "finish_reason": "stop"}],
    },
    "reasoning in parts": message(reasoning_content=[text_part("up?")]),
    "reasoning as an object": message(reasoning={"type": "reasoning", "text": "up?"}),
    "reasoning details as text": message(reasoning_details="up?"),
    "reasoning details without types": message(reasoning_details=[{"text": "up?"}]),
    "refusal of no words": message(refusal=""),
    "refusal is false": message(refusal=False),
    "no role": message(role=None),
    "no calls": message(tool_calls=[], function_call=None),
    "no id, time and kind": without("id", "created", "object"),
    "an id that is a number": whole(id=7, created=1.5, object=None),
    "model null": whole(model=None),
    "no model": without("model"),
    "index null": choice(index=None),
    "log probabilities nobody asked for": choice(logprobs="none"),
    "an empty error": whole(error={}),
    "an error of null": whole(error=None),
    "usage null": whole(usage=None),
    "usage of nulls": usage(prompt_tokens=None, completion_tokens=None, total_tokens=None),
    "usage in words": whole(usage="many"),
    "usage of a list": whole(usage=[1, 2]),
    "usage true": usage(completion_tokens=True),
    "usage negative": usage(prompt_tokens=-1),
    "usage fractional": usage(completion_tokens=20.5),
    "usage not a number": usage(prompt_tokens=float("nan")),
    "usage endless": usage(prompt_tokens=1e308),
    "finish reason null": choice(finish_reason=None),
    "finish reason eos_token": choice(finish_reason="eos_token"),
    "finish reason stop_sequence": choice(finish_reason="stop_sequence"),
    "finish reason STOP": choice(finish_reason="STOP"),
    "finish reason of its own": choice(finish_reason="because"),
    "byte order mark": lambda request, completion: b"\xef\xbb\xbf" + json.dumps(completion).encode(),
    "not UTF-8": lambda request, completion: json.dumps({**completion, "note": "?"}).encode().replace(b"?", b"\xe9"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")


def ask(
    server: ModelServer,
    model: str = "openai-api/scripted/m",
    tools: tuple[str, ...] = (),
    before: list[ChatMessage] | None = None,
) -> ModelOutput:
    """Send one request through Inspect."""
    opened = open_model(model, server.url, {})
    infos = [ToolInfo(name=name, description="a tool", parameters=ToolParams()) for name in tools]
    messages = [*(before or []), ChatMessageUser(content="go")]

    async def send() -> ModelOutput:
        try:
            return await opened.generate(messages, infos, config=GenerateConfig(max_retries=0))
        finally:
            await opened.api.aclose()

    return asyncio.run(send())


def answered(form: Form, text: str = REPLY) -> ModelOutput:
    with model_server(lambda messages, before: Answer(text, form=form)) as server:
        return ask(server)


@pytest.mark.parametrize("name", FORMS)
def test_a_reply_is_the_same_in_any_form(name: str) -> None:
    output = answered(FORMS[name])
    reply = read_reply(output, 0)
    assert reply.text == REPLY or (json.loads(reply.text) == json.loads(REPLY) and name == "the value of JSON text")
    assert reply.stop == "stop"
    assert output.model == "m"


@pytest.mark.parametrize("name", [name for name in FORMS if name.startswith("parts of ") or name.startswith("reaso")])
def test_reasoning_is_kept_apart(name: str) -> None:
    output = answered(FORMS[name])
    thoughts = [part.reasoning for part in output.message.content_list if part.type == "reasoning"]
    is_readable = "Responses" not in name and "details" not in name
    assert thoughts == (["up?"] if is_readable else [])


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"prompt_tokens": "100", "completion_tokens": "20"}, (100, 20, 0)),
        ({"prompt_tokens": 100.0, "completion_tokens": 20.0, "total_tokens": None}, (100, 20, 0)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 150}}, (100, 12, 0)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": None, "audio_tokens": 1}}, (100, 12, 0)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": "40"}}, (100, 12, 40)),
        ({"prompt_tokens": 100, "prompt_tokens_details": 40, "completion_tokens_details": []}, (100, 12, 0)),
        ({"prompt_tokens": 100, "completion_tokens": 20.5}, (0, 0, 0)),
        ({"prompt_tokens": None}, (0, 0, 0)),
        ({"prompt_tokens": -100}, (0, 0, 0)),
    ],
)
def test_counts_of_tokens_that_can_be_read_are(fields: dict[str, Any], tokens: tuple[int, int, int]) -> None:
    used = read_reply(answered(usage(**fields)), 0).usage
    assert used is not None
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == tokens


STOPS = {
    "max_tokens": "truncated",
    "MAX_TOKENS": "truncated",
    "length": "truncated",
    "model_context_window_exceeded": "overflow",
    "sensitive": "refused",
    "SAFETY": "refused",
    "content_filter: RECITATION": "refused",
    "OTHER": "stop",
}


@pytest.mark.parametrize("text", ["up", ""])
@pytest.mark.parametrize("reason", STOPS)
def test_reasons_to_stop_have_one_meaning(reason: str, text: str) -> None:
    reply = read_reply(answered(choice(finish_reason=reason), text), 0)
    assert (reply.text, reply.stop) == (text, STOPS[reason])


def test_a_reason_without_a_meaning_is_none() -> None:
    assert inspect_stop_reason("MALFORMED_FUNCTION_CALL") is None
    assert inspect_stop_reason(None) == "stop"


EMPTY: dict[str, Form] = {
    "content null": message(content=None),
    "message null": choice(message=None),
    "no message": lambda request, completion: {**completion, "choices": [{"index": 0, "finish_reason": "stop"}]},
    "no parts": parts(),
    "thinking alone": parts({"type": "thinking", "thinking": "up?"}),
    "a picture": parts({"type": "image_url", "image_url": {"url": "data:"}}),
    "malformed call": choice(finish_reason="MALFORMED_FUNCTION_CALL", message={"content": ""}),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_completion_is_the_player_s_empty_reply(name: str) -> None:
    reply = read_reply(answered(EMPTY[name]), 0)
    assert (reply.text, reply.stop) == ("", "stop")


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "move", "arguments": REPLY}, **fields}


def function(arguments: Any) -> dict[str, Any]:
    return {"function": {"name": "move", "arguments": arguments}}


CALLS: dict[str, Any] = {
    "as OpenAI has it": [call()],
    "arguments an object": [call(**function(json.loads(REPLY)))],
    "JSON in JSON": [call(**function(json.dumps(REPLY)))],
    "id missing": [{"type": "function", **function(REPLY)}],
    "id null": [call(id=None)],
    "id empty": [call(id="")],
    "id blank": [call(id=" ")],
    "id a number": [call(id=3)],
    "type missing": [{"id": "c1", **function(REPLY)}],
    "type of its own": [call(type="tool")],
    "no list": call(),
    "without a function": [{"id": "c1", "name": "move", "arguments": json.loads(REPLY)}],
    "something else beside it": [None, call()],
}


def called(calls: Any) -> Form:
    return lambda request, completion: _with(
        completion, message={"role": "assistant", "content": None, "tool_calls": calls}, finish_reason="tool_calls"
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_the_same_in_any_form(name: str) -> None:
    with model_server(lambda messages, before: Answer(form=called(CALLS[name]))) as server:
        output = ask(server, tools=("move",))
    assert json.loads(raw_reply(output)) == {"calls": [{"name": "move", "arguments": json.loads(REPLY)}]}
    assert [one.id for one in output.message.tool_calls or ()] == [
        "w00000100" if name.startswith("id ") else "c1",
    ]


def test_a_call_of_2023() -> None:
    form = message(content=None, function_call={"name": "move", "arguments": REPLY})
    with model_server(lambda messages, before: Answer(form=form)) as server:
        output = ask(server, tools=("move",))
    assert json.loads(raw_reply(output)) == {"calls": [{"name": "move", "arguments": json.loads(REPLY)}]}


@pytest.mark.parametrize("arguments", [None, ""])
def test_arguments_of_null_are_none(arguments: Any) -> None:
    with model_server(lambda messages, before: Answer(form=called([call(**function(arguments))]))) as server:
        assert [one.arguments for one in ask(server, tools=("move",)).message.tool_calls or ()] == [{}]


def test_ids_differ_within_a_conversation_and_are_the_same_when_it_is_repeated() -> None:
    def talk() -> list[list[str]]:
        before: list[ChatMessage] = []
        ids: list[list[str]] = []
        for _ in range(3):
            output = ask(server, tools=("move",), before=before)
            calls = output.message.tool_calls or []
            results = [ChatMessageTool(content="ok", tool_call_id=one.id, function="move") for one in calls]
            before += [ChatMessageUser(content="go"), output.message, *results]
            ids.append([one.id for one in calls])
        return ids

    with model_server(lambda messages, before: Answer(form=called([call(), call()]))) as server:
        first, again = talk(), talk()
    assert first == again
    assert first[0][0] == "c1"  # which nothing else has
    assert len({name for names in first for name in names}) == 6
    assert all(name.isalnum() and len(name) == 9 for names in first for name in names if name != "c1")


ERRORS: dict[str, tuple[Form, str]] = {
    "error": (
        lambda request, completion: {"error": {"message": "Provider returned error", "code": 502}, "choices": None},
        "InternalServerError.*502.*Provider returned error",
    ),
    "error in words": (lambda request, completion: {"error": "the pool is empty"}, "the pool is empty"),
    "error beside an empty reply": (
        lambda request, completion: {
            **_with(completion, message=None),
            "error": {"message": "upstream", "code": "503"},
        },
        "InternalServerError.*503.*upstream",
    ),
    "too many requests": (
        lambda request, completion: {"error": {"message": "slow down", "code": "rate_limit_exceeded"}, "choices": []},
        "RateLimitError.*429.*slow down",
    ),
    "no credits": (lambda request, completion: {"error": {"message": "no credits", "code": 402}}, "402.*no credits"),
    "MiniMax": (
        lambda request, completion: {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
        "RateLimitError.*rate limit",
    ),
    "Cloudflare": (
        lambda request, completion: {"errors": [{"code": 3040, "message": "no capacity"}]},
        "no capacity",
    ),
    "FastAPI": (lambda request, completion: {"detail": "engine is dead"}, "engine is dead"),
    "older vLLM": (
        lambda request, completion: {"message": "engine is dead", "code": 500},
        "500.*engine is dead",
    ),
    "choice": (
        lambda request, completion: _with(
            completion, finish_reason="error", error={"code": 504, "message": "Upstream idle timeout"}
        ),
        "InternalServerError.*504.*Upstream idle timeout",
    ),
    "broken off": (choice(finish_reason="network_error"), "broke the reply off.*network_error"),
    "no choices": (whole(choices=[]), "without a completion"),
    "null": (lambda request, completion: None, "null in place of a completion"),
    "a list": (lambda request, completion: [1], r"\[1\] in place of a completion"),
    "a page": (lambda request, completion: b"<html><body>Bad gateway</body></html>", "no JSON.*Bad gateway"),
    "nothing": (lambda request, completion: b"", "no JSON"),
    "cut off": (lambda request, completion: b'{"choices": [', "no JSON"),
    "nested": (lambda request, completion: b'{"choices":' + b"[" * 100_000, "no JSON"),
}


FINAL = ("no credits",)  # what a second request would not change


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_in_the_place_of_a_completion_keeps_its_words_and_status(name: str) -> None:
    form, words = ERRORS[name]
    with pytest.raises(APIStatusError if name in FINAL else RetryError) as caught:  # of the provider's own types
        answered(form)
    assert re.search(words, provider_error_text(caught.value)), provider_error_text(caught.value)


def test_a_filter_of_minimax_is_a_refusal() -> None:
    form = whole(choices=None, base_resp={"status_code": 1027, "status_msg": "output new_sensitive"})
    assert read_reply(answered(form), 0).stop == "refused"


PROVIDERS = {
    "openai/gpt-4o": "OPENAI_API_KEY",
    "openrouter/a/b": "OPENROUTER_API_KEY",
    "together/a/b": "TOGETHER_API_KEY",
    "fireworks/a/b": "FIREWORKS_API_KEY",
    "deepseek/a": "DEEPSEEK_API_KEY",
    "moonshot/a": "MOONSHOT_API_KEY",
    "sambanova/a": "SAMBANOVA_API_KEY",
    "llama-cpp-python/a": "",
    "ollama/a": "",
    "vllm/a": "",
    "sglang/a": "",
}


@pytest.mark.parametrize("model", PROVIDERS)
def test_every_provider_of_this_protocol_reads_them(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROVIDERS[model] or "UNUSED", "sk-0123456789")
    failed = False

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer(REPLY, form=ERRORS["error"][0] if failed else FORMS["parts of Mistral"])

    with model_server(script) as server:
        assert read_reply(ask(server, model), 0).text == REPLY
        failed = True
        with pytest.raises(RetryError) as caught:
            ask(server, model)
        assert "Provider returned error" in provider_error_text(caught.value)
        assert sum(server.asked.values()) == 2


@pytest.mark.slow
def test_no_form_ends_an_episode(tmp_path: Path) -> None:
    forms = {
        f"form-{index}": form for index, form in enumerate(list(FORMS.values())[::2])
    }  # a model each, which takes time
    item = MAZES.source(level=5).item(0)

    def send(request: dict[str, Any], completion: dict[str, Any]) -> Any:
        return forms[request["model"]](request, completion)

    with model_server(lambda messages, before: Answer(solution(item), form=send)) as server:
        models = [word for name in forms for word in ("-m", f"openai-api/scripted/{name}")]
        run = waybench_(
            *("run", "alicia", *models, "--model-base-url", server.url, "--out", str(tmp_path), "--no-check"),
            *("-T", "max_dimension=5", "--limit", "1", "--attempts", "1", "--rerun", "0", "--max-retries", "0"),
        )
    assert run.returncode == 0, run.stderr
    assert {str(record.end) for record in records(tmp_path).values()} == {"solved"}
