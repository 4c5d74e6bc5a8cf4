"""The check before a run: one short request to each model, so that a wrong key, address or name fails in seconds."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)

from waybench.core import TEXT_PROMPTS, ActionTool, Picture, PromptKinds, UsageError
from waybench.evaluation._function import FunctionModel, content_image
from waybench.evaluation._provider import ONE_CALL, EmbeddedPlayer, LocalModel, tool_info
from waybench.evaluation._provider_errors import ProviderError, read_error, status_of

# Models that run in this process, or take their replies from a list: a request says nothing of a server.
_LOCAL = ("hf", "vllm", "sglang", "transformer_lens", "nnterp", "mockllm", "none", "waybench", "python")
_WAITS = (2.0, 5.0)  # seconds before each new try, where a server asks to wait
PATIENCE = 20.0  # seconds for a reply; who loads a large model first can give a longer --timeout
_CONNECTING = 5.0  # seconds for a connection to a server, so that an address that nobody has fails soon
_EARLY = 5.0  # seconds after which the user hears that there is no reply yet
_CLOSING = 5.0  # seconds for closing connections
_TOKENS = 16  # the least that some hosted models take
_TOKENS_OF_A_CALL = 256
_QUESTION = "Reply with the word OK."
_RULES = "This is the check of a connection."
_OTHER = "choose a model that reads images, or a wording without pictures"
_LONGEST = 200  # characters of the server's own words
_OF_THE_MOMENT = (429, 500, 502, 503, 504)
_READY = ActionTool("ready", "Say that you are ready.", {"word": {"type": "string", "description": "The word OK."}})
_NO_TOOLS = "use a model or server with tools, or leave out interface=tools"


def check_models(
    models: Sequence[Model],
    patience: float = PATIENCE,
    tell: Callable[[str], None] = lambda line: None,
    *,
    early: float = _EARLY,
    connecting: float = _CONNECTING,
    prompts: PromptKinds = TEXT_PROMPTS,
) -> dict[str, float]:
    """Send one short request to each model and refuse to start if one fails.

    Nothing of the reply is kept. Embedded players and models without a server are not checked. A server that answers
    "bad request" is taken for working, since it may only dislike how short the request is.

    Args:
        models: The models, of which no request is running. Their connections are closed afterwards.
        patience: Seconds for a reply.
        tell: Receives a line about each model that has not replied after some seconds.
        early: After how many.
        connecting: Seconds for a connection.
        prompts: What the models have to take for the tasks. With tools the request is for a call of one, with system
            messages it has one, and a picture goes with a second request.

    Returns:
        Model -> how long its reply took, in seconds, for those that were checked.

    Raises:
        UsageError: In one line for each model that cannot be used, with what to do.
    """
    asked = [model for model in models if not _is_local(model)]
    if not asked:
        return {}

    async def check_all() -> list[str | float]:
        return await asyncio.gather(*(_check(model, patience, tell, early, connecting, prompts) for model in asked))

    results = asyncio.run(check_all())
    if problems := [result for result in results if isinstance(result, str)]:
        raise UsageError(f"{'; '.join(problems)}. Nothing was run; --no-check skips this check")
    return {str(model): took for model, took in zip(asked, results, strict=True) if isinstance(took, float)}


def refuse_without_tools(models: Sequence[Model]) -> None:
    """Refuse models of which it is known without a request that they take no tools.

    Raises:
        UsageError: If there is one.
    """
    for model in models:
        if isinstance(model.api, LocalModel | FunctionModel):
            raise UsageError(f"model {str(model)[:120]!r} takes no tools: {_NO_TOOLS}")


def _is_local(model: Model) -> bool:
    return isinstance(model.api, EmbeddedPlayer) or str(model).partition("/")[0] in _LOCAL


def refuse_text_models(models: Sequence[Model]) -> None:
    """Refuse models that are known to read text only, without a request.

    Raises:
        UsageError: In one line for each.
    """
    known = [str(model)[:120] for model in models if isinstance(model.api, LocalModel) or str(model).startswith("hf/")]
    if known:
        raise UsageError("; ".join(f"model {name!r} takes no pictures: {_OTHER}" for name in known))


async def _check(
    model: Model,
    patience: float,
    tell: Callable[[str], None],
    early: float,
    connecting: float,
    prompts: PromptKinds,
) -> str | float:
    """Return how many seconds a model's reply took, or a line on why the model cannot be used."""
    name = f"model {str(model)[:120]!r}"
    waiting = asyncio.get_running_loop().call_later(
        early, tell, f"{name}: no answer in {early:.0f} s; waiting up to {patience:.0f} s for the server"
    )
    try:
        found = await _no_connection(model, min(connecting, patience)) or await asyncio.wait_for(
            _answered_with_tools(model, prompts.has_system)
            if prompts.has_tools
            else _answered(model, prompts.has_system),
            patience,
        )
        if prompts.picture is not None and not isinstance(found, str):
            found = await asyncio.wait_for(_takes_picture(model, prompts.picture), patience) or found
    except TimeoutError:
        found = f"no reply within {patience:.0f} s: check the server, or give a model that loads a longer --timeout"
    finally:
        waiting.cancel()
        with suppress(Exception):
            await asyncio.wait_for(model.api.aclose(), _CLOSING)
    return f"{name}: {found}" if isinstance(found, str) else found


async def _no_connection(model: Model, seconds: float) -> str:
    """Return a line if nothing takes a connection at a model's address in time; "" otherwise, or if it is not known.

    What is refused at once is left to the request, whose words say more. Behind a proxy nothing is tried.
    """
    address = urlsplit(str(model.api.base_url or ""))
    try:
        host, port = address.hostname, address.port or {"http": 80, "https": 443}.get(address.scheme)
    except ValueError:  # a port that is none
        return ""
    if host is None or port is None or (address.scheme in getproxies() and not proxy_bypass(host)):
        return ""
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), seconds)
        writer.close()
    except TimeoutError:
        where = f"{host}, port {port}"
        return f"nothing takes a connection at {where} within {seconds:.0f} s: start it, or check --model-base-url"
    except OSError:
        return ""
    return ""


async def _answered_with_tools(model: Model, system: bool) -> str | float:
    """Return how many seconds a reply to a request for a call took; otherwise why the model cannot be used."""
    began = time.monotonic()
    output = await _sent(model, tools=True, system=system)
    took = time.monotonic() - began
    if isinstance(output, ModelOutput):
        if output.message.tool_calls or output.stop_reason == "max_tokens":
            return took
        words = " ".join(output.completion.split())[:_LONGEST]
        return f"asked for a call of a tool, it answered without one ({words!r}): {_NO_TOOLS}"
    error = read_error(output)
    if error.status in _OF_THE_MOMENT or isinstance(await _sent(model, system=system), Exception):
        return await _answered(model, system)  # tools are not what it lacks
    return f"it takes no tools ({error.words[:_LONGEST]}): {_NO_TOOLS}"


async def _sent(
    model: Model, *, tools: bool = False, picture: Picture | None = None, system: bool = False
) -> ModelOutput | Exception:
    """Send a short request, and return the reply or the error."""
    question = "Call the tool ready with the word OK." if tools else _QUESTION
    parts: list[Content] = [] if picture is None else [ContentText(text=question), content_image(picture)]
    messages: list[ChatMessage] = [ChatMessageSystem(content=_RULES)] if system else []
    messages.append(ChatMessageUser(content=parts or question))
    config = GenerateConfig(max_tokens=_TOKENS_OF_A_CALL if tools else _TOKENS)
    try:
        if tools:
            found = await model.api.generate(messages, [tool_info(_READY)], "any", ONE_CALL.merge(config))
        else:
            found = await model.api.generate(messages, [], "none", config)
    except Exception as raised:
        return raised
    return found[0] if isinstance(found, tuple) else found


async def _answered(model: Model, system: bool = False) -> str | float:
    """Return how many seconds a model's reply took; otherwise why the model cannot be used."""
    began = time.monotonic()
    output = await _sent_patiently(model, system=system)
    if isinstance(output, ModelOutput) or status_of(output) in (400, 422):
        return time.monotonic() - began
    return _advice(model, read_error(output))


async def _takes_picture(model: Model, picture: Picture) -> str:
    """Return why a model that takes text does not take a picture; "" if it does."""
    output = await _sent_patiently(model, picture)
    is_output = isinstance(output, ModelOutput)
    if is_output and output.stop_reason != "model_length":
        return ""
    words = (output.completion if is_output else read_error(output).words)[:_LONGEST]
    return f"takes no picture of {picture.size} pixels ({words}): {_OTHER}, or a smaller image_size"


async def _sent_patiently(
    model: Model, picture: Picture | None = None, *, system: bool = False
) -> ModelOutput | Exception:
    """Send a short request, to a busy server more than once."""
    for wait in _WAITS:
        output = await _sent(model, picture=picture, system=system)
        if isinstance(output, ModelOutput) or not ((status := status_of(output) or 0) == 429 or status >= 500):
            return output
        await asyncio.sleep(wait)
    return await _sent(model, picture=picture, system=system)


def _advice(model: Model, error: ProviderError) -> str:
    """Return in one line what is wrong and what to do."""
    words = error.words[:_LONGEST]
    where = f" at {model.api.base_url}" if _has_plain_address(model) else ""
    match error.status:
        case 401 | 403:
            return f"the server{where} refuses the key ({words}): set the key of this provider in the environment"
        case 404:
            return f"the server{where} does not know this model ({words}): check its name and --model-base-url"
        case 429:
            return f"the server{where} refuses requests for now ({words}): check the quota, or try again later"
        case None:
            return f"no reply from the server{where} ({words}): start it, or check --model-base-url"
        case int(status):
            return f"the server{where} answers with status {status} ({words}): check the server"


def _has_plain_address(model: Model) -> bool:
    """Return whether a model's address is known and holds nothing secret."""
    address = model.api.base_url
    return bool(address) and "@" not in str(address) and "?" not in str(address)
