"""How servers' responses reach Inspect's providers: in one form, and one request for each of Inspect's tries."""

import functools
import json
from typing import Any

from inspect_ai.model import ModelCall, ModelOutput
from tenacity import RetryCallState, wait_exponential, wait_random
from tenacity.wait import wait_base

from waybench.core import is_array, is_object
from waybench.eval._response_form import is_broken_off, read_completion, server_error, stop_reason_of

_PATH = "/chat/completions"
_STREAM = "text/event-stream"
_LONGEST = 200  # characters of a response that is no JSON
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
    given = getattr(api, "model_args", None)
    if hasattr(client, "max_retries") and not (is_object(given) and "max_retries" in given):
        client.max_retries = 0
    hooks = getattr(getattr(client, "_client", None), "event_hooks", None)
    if is_object(hooks) and _read_response not in hooks["response"]:
        hooks["response"].append(_read_response)


def restate_stop_reason(output: Any, call: ModelCall) -> None:
    """Put the meaning of a provider's reason to stop in place of "unknown", where it has one.

    Args:
        output: What the provider returned.
        call: The call, with the server's response.

    Raises:
        RuntimeError: If the server broke the reply off.
    """
    if not isinstance(output, ModelOutput) or not output.choices or output.stop_reason != "unknown":
        return
    response = call.response if is_object(call.response) else {}
    listed = response.get("choices") or response.get("candidates")  # Google's name for them
    holder = listed[0] if is_array(listed) and listed and is_object(listed[0]) else response
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
    request = functools.cache(lambda: _object(response.request.content))
    kind = response.headers.get("content-type", "")
    if kind.startswith(_STREAM) and request().get("stream"):
        return
    content = await response.aread()
    try:
        body = json.loads(content.decode("utf-8-sig", "replace"))
        status, answer = read_completion(body, request)
    except (ValueError, RecursionError):
        words = " ".join(content[: 4 * _LONGEST].decode("utf-8", "replace").split())[:_LONGEST]
        body = None
        status, answer = server_error(f"the server's answer is no JSON, but {kind or 'of no type'}: {words!r}")
    text = json.dumps(answer)
    if text != json.dumps(body):  # the values are compared as text, since 1 == 1.0 == True
        response.status_code = status
        response._content = text.encode()
    response.headers["content-type"] = "application/json"


def _object(content: bytes) -> dict[str, Any]:
    value = json.loads(content)
    return value if is_object(value) else {}


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
