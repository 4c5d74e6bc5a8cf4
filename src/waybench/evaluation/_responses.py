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

_RETRIED_STATUS = 502  # bad gateway, for errors without a status: they may pass, and the request is tried again
_MOST_TOKENS = 2**53
_LONGEST_WORDS = 300  # characters of a server's words where no message is among them
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
_STATUS_BY_CODE = {
    **dict.fromkeys(("ratelimitexceeded", "ratelimiterror", "toomanyrequests", "insufficientquota", "1002"), 429),
    **dict.fromkeys(("invalidrequesterror", "badrequesterror", "contextlengthexceeded", "2013"), 400),
    **dict.fromkeys(("contentfilter", "1026", "1027"), 400),
    **dict.fromkeys(("authenticationerror", "invalidapikey", "1004"), 401),
    **dict.fromkeys(("insufficientbalance", "1008"), 402),
}
_CONTENT_FILTER_CODES = ("1026", "1027")  # MiniMax: the prompt or the reply


def inspect_stop_reason(provider_reason: object) -> StopReason | None:
    """Return Inspect's stop reason for a provider's; None for an unknown one."""
    return _STOP_REASONS.get(_normalized_reason(provider_reason))


def is_broken_off_reason(provider_reason: object) -> bool:
    """Return whether a provider's stop reason means that the server broke the reply off."""
    return _normalized_reason(provider_reason) in _BROKEN_OFF


def standard_completion(body: Json, request: Callable[[], Mapping[str, Any]]) -> tuple[int, dict[str, Any]]:
    """Return status and body, in OpenAI's form, of a response whose status was 200; `request` returns its request.

    They are 200 and the completion; or the status of an error, and the error with the server's words, if there is no
    completion, or one that the server broke off.
    """
    if not is_object(body):
        return server_error_response(f"the server answered {_short_json(body)} in place of a completion")
    values = body.get("choices")
    choices = [_standard_choice(choice) for choice in values if is_object(choice)] if is_array(values) else []
    for choice in choices:
        if choice.get("error") or is_broken_off_reason(choice.get("finish_reason")):
            words = f"the server broke the reply off (finish_reason {choice.get('finish_reason')!r})"
            return _error_response({"error": choice.get("error") or body.get("error")}, words)
    has_reply = any(_has_reply(choice["message"]) for choice in choices)
    if not has_reply and (not choices or _find_error(body)):
        return _error_response(body, f"the server answered without a completion: {_short_json(body)}")
    completion = {**body, "choices": choices}
    for name, default in (("id", ""), ("object", "chat.completion"), ("created", 0)):
        if not isinstance(body.get(name), type(default)):
            completion[name] = default
    if not isinstance(body.get("model"), str):
        completion["model"] = str(request().get("model", ""))
    if "usage" in body:
        completion["usage"] = _standard_usage(body["usage"])
    for index, choice in enumerate(choices):
        if type(choice.get("index")) is not int:
            choice["index"] = index
        if choice.get("logprobs") and not request().get("logprobs"):
            choice["logprobs"] = None  # nobody reads them, in whatever form they are
        if choice["message"].get("tool_calls"):
            _assign_missing_call_ids(choice["message"]["tool_calls"], request())
    return 200, completion


def server_error_response(message: str) -> tuple[int, dict[str, Any]]:
    """Return status and body of a server error, after which the request is tried again."""
    return _RETRIED_STATUS, {"error": {"message": message, "type": "server_error", "code": _RETRIED_STATUS}}


def _standard_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a choice with a message in OpenAI's form; the message is empty where the model said nothing."""
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
        message["content"] = _answer_text(content)
        if thought := message_reasoning(content):
            message["reasoning_content"] = raw.get("reasoning_content") or raw.get("reasoning") or thought
    for name in ("reasoning_content", "reasoning"):
        if not isinstance(thought := message.get(name), str | None):
            message[name] = message_reasoning(thought) or _answer_text(thought)
    details = raw.get("reasoning_details")
    if details is not None and not (
        is_array(details) and all(is_object(part) and part.get("type") for part in details)
    ):
        message["reasoning_details"] = None
    refusal = raw.get("refusal")
    if refusal == "" or not isinstance(refusal, str | None):
        message["refusal"] = _answer_text(refusal) if refusal else None
    raw_calls = raw.get("tool_calls") or raw.get("function_call")  # the latter is OpenAI's form of 2023
    if raw_calls:
        calls = raw_calls if is_array(raw_calls) else [raw_calls]
        message["tool_calls"] = [_standard_tool_call(call) for call in calls if is_object(call)]
    return message


def _answer_text(content: Json) -> str:
    """Return the text of message content that is no string; its JSON if it holds a parsed value."""
    text = message_text(content)
    if text is not None:
        return text
    is_parts = is_array(content) and all(is_object(part) and "type" in part for part in content)
    if is_parts or (is_object(content) and message_reasoning(content)):
        return ""  # parts of other kinds, or reasoning alone
    return json.dumps(content, ensure_ascii=False)


_ARGUMENT_FIELDS = ("arguments", "input", "parameters")  # what servers call them


def _standard_tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool call in OpenAI's form."""
    if call.get("type") == "custom" and "custom" in call:
        return dict(call)
    function = call.get("function")
    call_fields = function if is_object(function) else call
    name = call_fields.get("name")
    values = (call_fields.get(field) for field in _ARGUMENT_FIELDS)
    return {
        **call,
        "type": "function",
        "function": {
            **(call_fields if call_fields is function else {}),
            "name": name if isinstance(name, str) else "",
            "arguments": _arguments_as_json_text(next((value for value in values if value is not None), None)),
        },
    }


def _arguments_as_json_text(arguments: Json) -> str:
    """Return a call's arguments as JSON text; servers may send a value, or text that is encoded twice."""
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


def _assign_missing_call_ids(calls: Sequence[dict[str, Any]], request: Mapping[str, Any]) -> None:
    """Set the ids of calls where they are missing or already used; a resumed run sets the same."""
    messages = [message for message in request.get("messages") or () if is_object(message)]
    earlier_calls = [call for message in messages for call in message.get("tool_calls") or () if is_object(call)]
    used_ids = {str(call.get("id")) for call in earlier_calls}
    for index, call in enumerate(calls):
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id.strip() or call_id in used_ids:
            call["id"] = f"w{len(messages):06d}{index:02d}"  # some providers take nine letters and digits only
        used_ids.add(call["id"])


def _standard_usage(usage: Json) -> dict[str, Any] | None:
    """Return token counts in the form that Inspect reads; None if they are not known."""
    if not is_object(usage):
        return None
    n_prompt, n_reply = (
        _parse_token_count(usage.get("prompt_tokens")),
        _parse_token_count(usage.get("completion_tokens")),
    )
    if n_prompt is None or n_reply is None:
        return None
    n_total = _parse_token_count(usage.get("total_tokens"))
    counts = {"prompt_tokens": n_prompt, "completion_tokens": n_reply, "total_tokens": n_prompt + n_reply}
    details = {
        name: {kind: _parse_token_count(value) for kind, value in part.items()}
        if is_object(part := usage[name])
        else None
        for name in _DETAILS
        if name in usage
    }
    prompt_details = details.get("prompt_tokens_details") or {}
    if sum(prompt_details.get(name) or 0 for name in ("cached_tokens", "cache_write_tokens")) > n_prompt:
        details["prompt_tokens_details"] = None  # Inspect subtracts them, and would count less than none
    return {**usage, **counts, **({} if n_total is None else {"total_tokens": n_total}), **details}


def _parse_token_count(value: Json) -> int | None:
    """Return a token count, which may be text or a float; None if it is no count."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= _MOST_TOKENS and number == int(number) else None


def _has_reply(message: Mapping[str, Any]) -> bool:
    """Return whether a message has text, reasoning, a refusal or tool calls."""
    texts = (message.get(name) for name in ("content", "refusal", "reasoning_content", "reasoning"))
    return bool(message.get("tool_calls")) or any(text is not None and text != "" for text in texts)


def _find_error(body: Mapping[str, Any]) -> Any:
    """Return the error in a response body: its value, or the body itself if it has an error's fields; else None."""
    minimax_response = body.get("base_resp")  # MiniMax
    if is_object(minimax_response) and minimax_response.get("status_code"):
        return minimax_response
    errors = body.get("errors")  # Cloudflare
    error = body.get("error") or (errors[0] if is_array(errors) and errors else errors)
    if error:
        return error
    return body if not body.get("choices") and any(body.get(name) for name in ("message", "detail", "msg")) else None


def _error_response(body: Mapping[str, Any], default_message: str) -> tuple[int, dict[str, Any]]:
    """Return status and body of the error in a response, or of a server error with a default message."""
    error = _find_error(body)
    if not error:
        return server_error_response(default_message)
    fields: dict[str, Any] = error if is_object(error) else {"message": error}
    words = next((fields[name] for name in ("message", "status_msg", "detail", "msg", "error") if fields.get(name)), "")
    message = words if isinstance(words, str) and words else _short_json(fields)
    codes = [fields.get(name) for name in ("code", "status_code", "status", "type")]
    status = next(filter(None, map(_status_of_error_code, codes)), _RETRIED_STATUS)
    code = next((code for code in codes if isinstance(code, int | str) and code), status)
    code = "content_filter" if str(code) in _CONTENT_FILTER_CODES else code
    return status, {"error": {"type": "server_error", **fields, "message": message, "code": code}}


def _status_of_error_code(code: object) -> int | None:
    """Return the HTTP status that an error's code or type stands for; None if unknown."""
    text = str(code).lower().replace("_", "")
    if text in _STATUS_BY_CODE:
        return _STATUS_BY_CODE[text]
    return int(text) if text.isdecimal() and 400 <= int(text) < 600 else None


def _normalized_reason(reason: object) -> str:
    """Return a stop reason in lower case, without what follows a colon."""
    return "" if reason is None else str(reason).partition(":")[0].strip().lower()  # "content_filter: RECITATION"


def _short_json(value: Json) -> str:
    """Return a value as JSON text of at most 300 characters."""
    return json.dumps(value, ensure_ascii=False)[:_LONGEST_WORDS]


_COMPLETIONS_PATH = "/chat/completions"
_STREAM_TYPE = "text/event-stream"
_LONGEST_BODY = 200  # characters of a response that is no JSON
_LONGEST_WAIT = 60.0  # seconds that a server may ask for
_WAIT = wait_exponential(multiplier=3, max=1800) + wait_random(0, 3)  # seconds, as Inspect itself waits


def prepare_provider(api: Any) -> None:
    """Make a provider's client return completions in OpenAI's form and send each request only once.

    The clients of OpenAI, Anthropic and Groq repeat a failed request twice on their own, for each of Inspect's tries.
    `-M max_retries=2` gives them that back. Between its tries Inspect waits as long as the server asks, as they do.

    Prepare each provider once. One without such a client only waits as long as its server says.
    """
    _prepare_client(api)
    if (initialize := getattr(api, "initialize", None)) is not None:

        def initialize_and_prepare() -> None:  # it creates the client anew
            initialize()
            _prepare_client(api)

        api.initialize = initialize_and_prepare
    if (provider_wait := getattr(api, "retry_wait", None)) is not None:
        wait = _ServersWait(provider_wait() or _WAIT)
        api.retry_wait = lambda: wait


def _prepare_client(api: Any) -> None:
    """Turn off the client's own retries, and let it standardise responses."""
    client: Any = getattr(api, "client", None)
    args = getattr(api, "model_args", None)
    if hasattr(client, "max_retries") and not (is_object(args) and "max_retries" in args):
        client.max_retries = 0
    hooks = getattr(getattr(client, "_client", None), "event_hooks", None)
    if is_object(hooks) and _standardize_response not in hooks["response"]:
        hooks["response"].append(_standardize_response)


def resolve_unknown_stop_reason(output: Any, call: ModelCall) -> None:
    """Set the stop reason of an output where Inspect calls it "unknown" and the response has a known one.

    Raises:
        RuntimeError: If the server broke the reply off.
    """
    if not isinstance(output, ModelOutput) or not output.choices or output.stop_reason != "unknown":
        return
    response = call.response if is_object(call.response) else {}
    choices = response.get("choices") or response.get("candidates")  # Google's name for them
    fields = choices[0] if is_array(choices) and choices and is_object(choices[0]) else response
    names = [name for name in ("finish_reason", "stop_reason", "stopReason", "finishReason") if name in fields]
    reason = fields[names[0]] if names else None
    if is_broken_off_reason(reason):
        raise RuntimeError(f"the server broke the reply off ({reason})")
    if names and (stop_reason := inspect_stop_reason(reason)):
        output.choices[0].stop_reason = stop_reason


async def _standardize_response(response: Any) -> None:
    """Rewrite a response of the HTTP client (httpx or httpx2) in place if it is not in OpenAI's form."""
    if response.status_code != 200 or not response.url.path.endswith(_COMPLETIONS_PATH):
        return

    @functools.cache
    def request() -> dict[str, Any]:
        """Return the JSON object of the request; {} if it is none."""
        value = json.loads(response.request.content)
        return value if is_object(value) else {}

    content_type = response.headers.get("content-type", "")
    if content_type.startswith(_STREAM_TYPE) and request().get("stream"):
        return
    content = await response.aread()
    try:
        body = json.loads(content.decode("utf-8-sig", "replace"))
        status, answer = standard_completion(body, request)
    except (ValueError, RecursionError):
        words = " ".join(content[: 4 * _LONGEST_BODY].decode("utf-8", "replace").split())[:_LONGEST_BODY]
        body = None
        status, answer = server_error_response(
            f"the server's answer is no JSON, but {content_type or 'of no type'}: {words!r}"
        )
    text = json.dumps(answer)
    if text != json.dumps(body):  # the values are compared as text, since 1 == 1.0 == True
        response.status_code = status
        response._content = text.encode()
    response.headers["content-type"] = "application/json"


class _ServersWait(wait_base):
    """Waits as long as the server asks; if it does not, or for over a minute, as the provider does by default."""

    def __init__(self, default_wait: wait_base) -> None:
        self._default_wait = default_wait

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait before the next try."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        headers = getattr(getattr(error, "response", None), "headers", {})
        for name, seconds_per_unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            try:
                seconds = float(headers.get(name, "")) * seconds_per_unit
            except ValueError:  # a date, or none
                continue
            if 0 < seconds <= _LONGEST_WAIT:
                return seconds
        return self._default_wait(retry_state)
