"""Servers' completions in the form that Inspect reads, and one request for each of Inspect's tries."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.model import ModelCall, ModelOutput, StopReason
from tenacity import RetryCallState, wait_exponential, wait_random
from tenacity.wait import wait_base

from waybench.core import Json, is_array, is_object, message_text
from waybench.core._replies import message_reasoning

_BAD_GATEWAY = 502  # for errors without a status of their own, which may pass: the request is tried again
_MOST_TOKENS = 2**53
_LONGEST = 300  # characters of a server's words where no message is among them
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")

# What providers call the reasons for which a reply ends, in lower case -> Inspect's name. Sources: OpenAI, Anthropic,
# Google, Mistral, Bedrock, Cohere, DeepSeek and Z.ai in their references of the API, and the code of TGI, vLLM, SGLang.
_STOP_REASONS: dict[str, StopReason] = {
    **dict.fromkeys(("", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_new_tokens"), "max_tokens"),
    **dict.fromkeys(
        ("model_length", "model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded"),
        "model_length",
    ),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "sensitive", "safety", "refusal", "guardrail_intervened"),
        "content_filter",
    ),
    **dict.fromkeys(
        ("recitation", "blocklist", "prohibited_content", "spii", "image_safety", "error_toxic"), "content_filter"
    ),
}
# A reply that a server broke off, with or without a part of its text: nothing that the player caused.
_BROKEN_OFF = (
    *("abort", "aborted", "error", "network_error", "internal_error", "server_error"),
    "insufficient_system_resource",
)
# Types and codes of errors, in lower case without "_" -> status. Numbers are MiniMax's (`base_resp.status_code`).
_STATUS = {
    **dict.fromkeys(("ratelimitexceeded", "ratelimiterror", "toomanyrequests", "insufficientquota", "1002"), 429),
    **dict.fromkeys(("invalidrequesterror", "badrequesterror", "contextlengthexceeded", "2013"), 400),
    **dict.fromkeys(("contentfilter", "1026", "1027"), 400),
    **dict.fromkeys(("authenticationerror", "invalidapikey", "1004"), 401),
    **dict.fromkeys(("insufficientbalance", "1008"), 402),
}
_SENSITIVE = ("1026", "1027")  # MiniMax: the prompt or the reply


def stop_reason_of(reason: object) -> StopReason | None:
    """Return Inspect's name of a provider's word for why a reply ended; None if it has no meaning here."""
    return _STOP_REASONS.get(_plain(reason))


def is_broken_off(reason: object) -> bool:
    """Return whether a reason to stop says that the server broke the reply off."""
    return _plain(reason) in _BROKEN_OFF


def read_completion(body: Json, request: Callable[[], Mapping[str, Any]]) -> tuple[int, dict[str, Any]]:
    """Return a server's answer to a request for a completion as OpenAI would have written it.

    Args:
        body: The answer, of status 200.
        request: Returns the request; it is called only where the answer lacks something.

    Returns:
        200 and the completion; or the status of an error, and the error with the server's words, if there is no
        completion, or one that the server broke off.
    """
    if not is_object(body):
        return server_error(f"the server answered {_shorten(body)} in place of a completion")
    values = body.get("choices")
    choices = [_choice(choice) for choice in values if is_object(choice)] if is_array(values) else []
    for choice in choices:
        if choice.get("error") or _plain(choice.get("finish_reason")) in _BROKEN_OFF:
            words = f"the server broke the reply off (finish_reason {choice.get('finish_reason')!r})"
            return _error_of({"error": choice.get("error") or body.get("error")}, words)
    has_reply = any(_has_reply(choice["message"]) for choice in choices)
    if not has_reply and (not choices or _error_in(body)):
        return _error_of(body, f"the server answered without a completion: {_shorten(body)}")
    completion = {**body, "choices": choices}
    for name, default in (("id", ""), ("object", "chat.completion"), ("created", 0)):
        if not isinstance(body.get(name), type(default)):
            completion[name] = default
    if not isinstance(body.get("model"), str):
        completion["model"] = str(request().get("model", ""))
    if "usage" in body:
        completion["usage"] = _usage(body["usage"])
    for index, choice in enumerate(choices):
        if type(choice.get("index")) is not int:
            choice["index"] = index
        if choice.get("logprobs") and not request().get("logprobs"):
            choice["logprobs"] = None  # nobody reads them, in whatever form they are
        if choice["message"].get("tool_calls"):
            _give_ids(choice["message"]["tool_calls"], request())
    return 200, completion


def server_error(message: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the form of an error of the server, with which the request is tried again."""
    return _BAD_GATEWAY, {"error": {"message": message, "type": "server_error", "code": _BAD_GATEWAY}}


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a choice with a message: an empty one where the model said nothing."""
    content = choice.get("message", choice.get("delta"))
    message = content if is_object(content) else {"content": choice.get("text", content)}
    return {"finish_reason": None, **choice, "message": _standard_message(message)}


def _standard_message(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provider's message in the form of OpenAI's client, whose reasoning and content are texts or None."""
    message: dict[str, Any] = {"content": None, **raw}
    message.pop("function_call", None)  # it becomes a call of today's form
    if not isinstance(raw.get("role"), str):
        message["role"] = "assistant"
    content = raw.get("content")
    if not isinstance(content, str | None):
        message["content"] = _text(content)
        if thought := message_reasoning(content):
            message["reasoning_content"] = raw.get("reasoning_content") or raw.get("reasoning") or thought
    for name in ("reasoning_content", "reasoning"):
        if not isinstance(thought := message.get(name), str | None):
            message[name] = message_reasoning(thought) or _text(thought)
    details = raw.get("reasoning_details")
    if details is not None and not (
        is_array(details) and all(is_object(part) and part.get("type") for part in details)
    ):
        message["reasoning_details"] = None
    if not isinstance(raw.get("refusal"), str | None) or raw.get("refusal") == "":
        message["refusal"] = _text(raw["refusal"]) if raw["refusal"] else None
    called = raw.get("tool_calls") or raw.get("function_call")  # the latter is OpenAI's form of 2023
    if called:
        calls = called if is_array(called) else [called]
        message["tool_calls"] = [_call(call) for call in calls if is_object(call)]
    return message


def _text(content: Json) -> str:
    """Return the answer in content of another type: its text, or its JSON where a server has read JSON for a value."""
    text = message_text(content)
    if text is not None:
        return text
    is_parts = is_array(content) and all(is_object(part) and "type" in part for part in content)
    return (
        ""
        if is_parts or (is_object(content) and message_reasoning(content))
        else json.dumps(content, ensure_ascii=False)
    )


_ARGUMENTS = ("arguments", "input", "parameters")  # what servers call them


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    if call.get("type") == "custom" and "custom" in call:
        return dict(call)
    function = call.get("function")
    named = function if is_object(function) else call
    name = named.get("name")
    return {
        **call,
        "type": "function",
        "function": {
            **(named if named is function else {}),
            "name": name if isinstance(name, str) else "",
            "arguments": _arguments(next((named[key] for key in _ARGUMENTS if named.get(key) is not None), None)),
        },
    }


def _arguments(arguments: Json) -> str:
    """Return a call's arguments as JSON text, which some servers send as values, and some encode twice."""
    if arguments is None or arguments == "":
        return "{}"
    if not isinstance(arguments, str):
        return json.dumps(arguments, ensure_ascii=False)
    if arguments.lstrip().startswith('"'):
        try:
            inner = json.loads(arguments)
            if isinstance(inner, str) and is_object(json.loads(inner)):
                return inner
        except (ValueError, RecursionError):
            pass
    return arguments


def _give_ids(calls: Sequence[dict[str, Any]], request: Mapping[str, Any]) -> None:
    """Give calls ids of our own where theirs are missing or in use; a run that is resumed gives the same."""
    messages = [message for message in request.get("messages") or () if is_object(message)]
    earlier = [call for message in messages for call in message.get("tool_calls") or () if is_object(call)]
    used = {str(call.get("id")) for call in earlier}
    for index, call in enumerate(calls):
        name = call.get("id")
        if not isinstance(name, str) or not name.strip() or name in used:
            call["id"] = f"w{len(messages):06d}{index:02d}"  # some providers take nine letters and digits only
        used.add(call["id"])


def _usage(usage: Json) -> dict[str, Any] | None:
    """Return counts of tokens as Inspect reads them; None if they are not known."""
    if not is_object(usage):
        return None
    prompt, reply = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None or reply is None:
        return None
    total = _count(usage.get("total_tokens"))
    counts = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    details = {
        name: {kind: _count(value) for kind, value in part.items()} if is_object(part := usage[name]) else None
        for name in _DETAILS
        if name in usage
    }
    of_prompt = details.get("prompt_tokens_details") or {}
    if sum(of_prompt.get(name) or 0 for name in ("cached_tokens", "cache_write_tokens")) > prompt:
        details["prompt_tokens_details"] = None  # Inspect subtracts them
    return {**usage, **counts, **({} if total is None else {"total_tokens": total}), **details}


def _count(value: Json) -> int | None:
    """Return a count of tokens that a server may have written as text or as a float; None if it is none."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= _MOST_TOKENS and number == int(number) else None


def _has_reply(message: Mapping[str, Any]) -> bool:
    texts = (message.get(name) for name in ("content", "refusal", "reasoning_content", "reasoning"))
    return bool(message.get("tool_calls")) or any(text is not None and text != "" for text in texts)


def _error_in(body: Mapping[str, Any]) -> Any:
    """Return what of an answer is an error: its value, or the answer itself where that has its fields; or None."""
    base = body.get("base_resp")  # MiniMax
    if is_object(base) and base.get("status_code"):
        return base
    errors = body.get("errors")  # Cloudflare
    error = body.get("error") or (errors[0] if is_array(errors) and errors else errors)
    if error:
        return error
    return body if not body.get("choices") and any(body.get(name) for name in ("message", "detail", "msg")) else None


def _error_of(body: Mapping[str, Any], otherwise: str) -> tuple[int, dict[str, Any]]:
    """Return the error of an answer with its own words and status."""
    error = _error_in(body)
    if not error:
        return server_error(otherwise)
    fields: dict[str, Any] = error if is_object(error) else {"message": error}
    words = next((fields[name] for name in ("message", "status_msg", "detail", "msg", "error") if fields.get(name)), "")
    message = words if isinstance(words, str) and words else _shorten(fields)
    codes = [fields.get(name) for name in ("code", "status_code", "status", "type")]
    status = next(filter(None, map(_status, codes)), _BAD_GATEWAY)
    code = next((code for code in codes if isinstance(code, int | str) and code), status)
    code = "content_filter" if str(code) in _SENSITIVE else code
    return status, {"error": {"type": "server_error", **fields, "message": message, "code": code}}


def _status(code: object) -> int | None:
    """Return the HTTP status that an error's code or type stands for."""
    text = str(code).lower().replace("_", "")
    if text in _STATUS:
        return _STATUS[text]
    return int(text) if text.isdecimal() and 400 <= int(text) < 600 else None


def _plain(reason: object) -> str:
    return "" if reason is None else str(reason).partition(":")[0].strip().lower()  # "content_filter: RECITATION"


def _shorten(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST]


_PATH = "/chat/completions"
_STREAM = "text/event-stream"
_LONGEST_BODY = 200  # characters of a response that is no JSON
_LONGEST_WAIT = 60.0  # seconds that a server may ask for
_WAIT = wait_exponential(multiplier=3, max=1800) + wait_random(0, 3)  # seconds, as Inspect itself waits


def prepare_provider(api: Any) -> None:
    """Let a provider's client return completions in one form and send each request once, now and when it is renewed.

    The clients of OpenAI, Anthropic and Groq repeat a failed request twice on their own, for each of Inspect's tries.
    `-M max_retries=2` gives them that back. Between its tries Inspect waits as long as the server asks, as they do.

    Args:
        api: The provider, which has not been prepared. One without such a client only waits as long as its server says.
    """
    _prepare_client(api)
    if (initialize := getattr(api, "initialize", None)) is not None:

        def initialized() -> None:
            initialize()
            _prepare_client(api)

        api.initialize = initialized
    if (own_wait := getattr(api, "retry_wait", None)) is not None:
        wait = _ServersWait(own_wait() or _WAIT)
        api.retry_wait = lambda: wait


def _prepare_client(api: Any) -> None:
    client: Any = getattr(api, "client", None)
    args = getattr(api, "model_args", None)
    if hasattr(client, "max_retries") and not (is_object(args) and "max_retries" in args):
        client.max_retries = 0
    hooks = getattr(getattr(client, "_client", None), "event_hooks", None)
    if is_object(hooks) and _read_response not in hooks["response"]:
        hooks["response"].append(_read_response)


def restate_stop_reason(output: Any, call: ModelCall) -> None:
    """Put the meaning of a provider's reason to stop in place of "unknown", where it has one.

    Raises:
        RuntimeError: If the server broke the reply off.
    """
    if not isinstance(output, ModelOutput) or not output.choices or output.stop_reason != "unknown":
        return
    response = call.response if is_object(call.response) else {}
    choices = response.get("choices") or response.get("candidates")  # Google's name for them
    holder = choices[0] if is_array(choices) and choices and is_object(choices[0]) else response
    names = [name for name in ("finish_reason", "stop_reason", "stopReason", "finishReason") if name in holder]
    reason = holder[names[0]] if names else None
    if is_broken_off(reason):
        raise RuntimeError(f"the server broke the reply off ({reason})")
    if names and (stop_reason := stop_reason_of(reason)):
        output.choices[0].stop_reason = stop_reason


async def _read_response(response: Any) -> None:
    """Rewrite a response of the HTTP client (httpx or httpx2) in place if it is no completion as OpenAI writes them."""
    if response.status_code != 200 or not response.url.path.endswith(_PATH):
        return

    @functools.cache
    def request() -> dict[str, Any]:
        value = json.loads(response.request.content)
        return value if is_object(value) else {}

    kind = response.headers.get("content-type", "")
    if kind.startswith(_STREAM) and request().get("stream"):
        return
    content = await response.aread()
    try:
        body = json.loads(content.decode("utf-8-sig", "replace"))
        status, answer = read_completion(body, request)
    except (ValueError, RecursionError):
        words = " ".join(content[: 4 * _LONGEST_BODY].decode("utf-8", "replace").split())[:_LONGEST_BODY]
        body = None
        status, answer = server_error(f"the server's answer is no JSON, but {kind or 'of no type'}: {words!r}")
    text = json.dumps(answer)
    if text != json.dumps(body):  # the values are compared as text, since 1 == 1.0 == True
        response.status_code = status
        response._content = text.encode()
    response.headers["content-type"] = "application/json"


class _ServersWait(wait_base):
    """Waits as long as the server asks, and otherwise as a provider does."""

    def __init__(self, otherwise: wait_base) -> None:
        self._otherwise = otherwise

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        headers = getattr(getattr(error, "response", None), "headers", {})
        for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            try:
                seconds = float(headers.get(name, "")) * scale
            except ValueError:  # a date, or none
                continue
            if 0 < seconds <= _LONGEST_WAIT:
                return seconds
        return self._otherwise(retry_state)
