"""Before a run: its folder is locked, and one short request checks each model; and what to say of a full disk."""

import asyncio
import errno
import json
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dotenv import dotenv_values, find_dotenv  # which come with Inspect
from inspect_ai._util.appdirs import inspect_data_dir  # where the engine buffers samples; it has no public name
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

from waybench.core import LOCK_FILE, ActionTool, Picture, PromptKinds, UsageError
from waybench.core._play import TEXT_PROMPTS
from waybench.evaluation._agents import FunctionModel, content_image
from waybench.evaluation._provider import ONE_CALL, EmbeddedPlayer, LocalModel, inspect_tool_info
from waybench.evaluation._provider_errors import ProviderError, all_causes, http_status, parse_provider_error
from waybench.evaluation._server_watch import host_and_port, printable_address

HOLDER = ".waybench-lock.json"
_LOCK_TIMEOUT = 0.5  # seconds: `waybench view` touches the lock to see whether a run holds it
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SQLITE_FULL = "database or disk is full"
_DISK_FULL_TEXTS = (*map(os.strerror, _DISK_FULL_ERRORS), _SQLITE_FULL)  # where only an error's text is left
_LITTLE_SPACE = 1 << 20  # bytes; with less than this a file system counts as full
# Models that run in this process, or take their replies from a list: a request says nothing of a server.
_SERVERLESS = ("hf", "vllm", "sglang", "transformer_lens", "nnterp", "mockllm", "none", "waybench", "python")
_RETRY_WAITS = (2.0, 5.0)  # seconds before each new try, where a server asks to wait
PATIENCE = 20.0  # seconds for a reply; who loads a large model first can give a longer --timeout
_CONNECTION_TIMEOUT = 5.0  # seconds for a connection to a server, so that an address that nobody has fails soon
_NOTICE_AFTER = 5.0  # seconds after which the user hears that there is no reply yet
_CLOSE_TIMEOUT = 5.0  # seconds for closing connections
_MAX_TOKENS = 16  # the least that some hosted models take
_MAX_TOKENS_OF_CALL = 256
_QUESTION = "Reply with the word OK."
_RULES = "This is the check of a connection."
_PICTURE_ADVICE = "choose a model that reads images, or a wording without pictures"
_LONGEST_WORDS = 200  # characters of the server's own words
_TEMPORARY_STATUSES = (429, 500, 502, 503, 504)
_READY_TOOL = ActionTool(
    "ready", "Say that you are ready.", {"word": {"type": "string", "description": "The word OK."}}
)
_TOOL_ADVICE = "use a model or server with tools, or leave out interface=tools"


@contextmanager
def lock_folder(folder: Path) -> Generator[None]:
    """Create a folder and hold its lock during a block, so that no two runs write into it at once.

    SQLite's lock of a file, which holds nothing, is the operating system's on each platform. It ends with the process
    however that ends, so that no lock is ever left over, nor mistaken for that of a process that got the same id.

    Raises:
        UsageError: If another process holds it; the message says which, and since when.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _acquire_lock(folder)
    holder = folder / HOLDER
    with suppress(OSError):
        holder.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": time.time()}), "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        if lock is not None:
            lock.close()


def _acquire_lock(folder: Path) -> sqlite3.Connection | None:
    """Return an open connection that locks a folder; None where the file system has no locks."""
    lock = None
    try:
        lock = sqlite3.connect(folder / LOCK_FILE, timeout=_LOCK_TIMEOUT, isolation_level=None)
        lock.execute("PRAGMA journal_mode = MEMORY")  # no second file
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:  # also of a file system without locks, or of a file that is not ours
        if lock is not None:
            lock.close()
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise UsageError(_lock_holder_message(folder)) from None
        return None
    return lock


def _lock_holder_message(folder: Path) -> str:
    """Return the error message that names the process which holds a folder's lock."""
    holder_text = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError):
        holder: Any = json.loads((folder / HOLDER).read_text("utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(holder["since"])))
        holder_text = f"process {int(holder['pid'])} on {str(holder['host'])[:60]}, since {since},"
    return (
        f"{folder} is in use: {holder_text} is running in it; wait until it ends, or choose another folder with --out"
    )


def is_disk_full_error(error: BaseException) -> bool:
    """Return whether an error or one of its causes means that the disk is full."""
    return any(
        (isinstance(cause, OSError) and cause.errno in _DISK_FULL_ERRORS)
        or (isinstance(cause, sqlite3.OperationalError) and _SQLITE_FULL in str(cause))
        for cause in all_causes(error)
    )


def mentions_full_disk(error_text: str) -> bool:
    """Return whether the text of an error means that the disk is full."""
    return any(words in error_text for words in _DISK_FULL_TEXTS)


def disk_full_message(log_folder: Path) -> str:
    """Return an error message that names the full folder among those that a run writes, and what to do."""
    folders = [log_folder, Path(inspect_data_dir("samplebuffer")), Path(tempfile.gettempdir())]
    full_folders: list[str] = []
    for folder in folders:
        with suppress(OSError):
            if (free := shutil.disk_usage(folder).free) < _LITTLE_SPACE:
                full_folders.append(f"{folder} ({free:,} bytes left)")
    places = " and ".join(full_folders) or " or ".join(map(str, folders)) + " (or a quota there)"
    return (
        f"no space left to write: {places}. Free some space and run the same command again: it continues where this "
        "run stopped, without repeating completed requests"
    )


def check_env_file() -> None:
    """Raise a UsageError if .env, here or in a folder above, cannot be read or has a line that sets no variable."""
    path = find_dotenv(usecwd=True)
    try:
        values = dotenv_values(path, interpolate=False) if path else {}
        bad_names = [name for name, value in values.items() if not name or "=" in name or "\0" in f"{name}{value}"]
    except (OSError, ValueError) as error:  # a UnicodeDecodeError is one
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(
            f"{path}: {reason}; it should have a line NAME=VALUE for each variable: mend or move it"
        ) from None
    if bad_names:
        raise UsageError(f"{path}: {bad_names[0][:40]!a} cannot be a variable: write NAME=VALUE, without zero bytes")


def check_models(
    models: Sequence[Model],
    reply_timeout: float = PATIENCE,
    tell: Callable[[str], None] = lambda line: None,
    *,
    notice_after: float = _NOTICE_AFTER,
    connection_timeout: float = _CONNECTION_TIMEOUT,
    prompts: PromptKinds = TEXT_PROMPTS,
) -> dict[str, float]:
    """Send one short request to each model that has a server; return by model the seconds that the reply took.

    Nothing of a reply is kept, and the connections of the models, of which no request may be running, are closed. A
    server that answers "bad request" is taken for working, since it may only dislike how short the request is.

    `tell` receives a line about each model that has not replied after `notice_after` seconds. The timeouts are in
    seconds. `prompts` are the kinds of prompts that the tasks send: with tools the request is for a call of one, with
    system messages it has one, and a picture goes with a second request.

    Raises:
        UsageError: In one line for each model that cannot be used, with what to do.
    """
    models_with_server = [model for model in models if has_server(model)]
    if not models_with_server:
        return {}

    async def check_all() -> list[str | float]:
        """Check all models at the same time."""
        return await asyncio.gather(
            *(
                _check_model(model, reply_timeout, tell, notice_after, connection_timeout, prompts)
                for model in models_with_server
            )
        )

    results = asyncio.run(check_all())
    if problems := [result for result in results if isinstance(result, str)]:
        raise UsageError(f"{'; '.join(problems)}. Nothing was run; --no-check skips this check")
    return {
        str(model): seconds
        for model, seconds in zip(models_with_server, results, strict=True)
        if isinstance(seconds, float)
    }


def has_server(model: Model) -> bool:
    """Return whether a model replies through a server, not in this process."""
    return not isinstance(model.api, EmbeddedPlayer) and str(model).partition("/")[0] not in _SERVERLESS


def refuse_models_without_tools(models: Sequence[Model], prompts: PromptKinds) -> None:
    """Raise a UsageError for a model that is known to take no tools, if the prompts need tools."""
    if not prompts.has_tools and not prompts.agent_with_tools:
        return
    agent = prompts.agent_with_tools[:60]
    advice = f"agent {agent} gives it tools; use another model or agent" if agent else _TOOL_ADVICE
    for model in models:
        if isinstance(model.api, LocalModel | FunctionModel):
            raise UsageError(f"model {str(model)[:120]!r} takes no tools: {advice}")


def refuse_text_only_models(models: Sequence[Model]) -> None:
    """Raise a UsageError, in one line for each, for models that are known to take no pictures."""
    names = [str(model)[:120] for model in models if isinstance(model.api, LocalModel) or str(model).startswith("hf/")]
    if names:
        raise UsageError("; ".join(f"model {name!r} takes no pictures: {_PICTURE_ADVICE}" for name in names))


async def _check_model(
    model: Model,
    reply_timeout: float,
    tell: Callable[[str], None],
    notice_after: float,
    connection_timeout: float,
    prompts: PromptKinds,
) -> str | float:
    """Return the seconds that a model's reply took, or a line on why it cannot be used; arguments as `check_models`."""
    name = f"model {str(model)[:120]!r}"
    notice = asyncio.get_running_loop().call_later(
        notice_after,
        tell,
        f"{name}: no answer in {notice_after:.0f} s; waiting up to {reply_timeout:.0f} s for the server",
    )
    try:
        time_reply = _time_tool_call if prompts.has_tools else _time_text_reply
        result: str | float = await _connection_problem(model, min(connection_timeout, reply_timeout))
        result = result or await asyncio.wait_for(time_reply(model, prompts.has_system), reply_timeout)
        if prompts.picture is not None and not isinstance(result, str):
            result = await asyncio.wait_for(_picture_problem(model, prompts.picture), reply_timeout) or result
    except TimeoutError:
        result = (
            f"no reply within {reply_timeout:.0f} s: check the server, or give a model that loads a longer --timeout"
        )
    finally:
        notice.cancel()
        with suppress(Exception):
            await asyncio.wait_for(model.api.aclose(), _CLOSE_TIMEOUT)
    return f"{name}: {result}" if isinstance(result, str) else result


async def _connection_problem(model: Model, seconds: float) -> str:
    """Return why no connection to a model's server can be opened in time; "" if one can, or if not known.

    A connection that is refused at once gives "", since the error of the request says more. Behind a proxy no
    connection is tried.
    """
    address = host_and_port(model.api.base_url)
    if address is None:
        return ""
    host, port = address
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), seconds)
        writer.close()
    except TimeoutError:
        server = f"{host}, port {port}"
        return f"nothing takes a connection at {server} within {seconds:.0f} s: start it, or check --model-base-url"
    except OSError:
        return ""
    return ""


async def _time_tool_call(model: Model, has_system_message: bool) -> str | float:
    """Return the seconds that a reply with a tool call took, or a line on why the model cannot be used."""
    began = time.monotonic()
    output = await _send_test_request(model, asks_for_call=True, has_system_message=has_system_message)
    seconds = time.monotonic() - began
    if isinstance(output, ModelOutput):
        if output.message.tool_calls or output.stop_reason == "max_tokens":
            return seconds
        words = " ".join(output.completion.split())[:_LONGEST_WORDS]
        return f"asked for a call of a tool, it answered without one ({words!r}): {_TOOL_ADVICE}"
    error = parse_provider_error(output)
    if error.status not in _TEMPORARY_STATUSES:
        output = await _send_test_request(model, has_system_message=has_system_message)
    if isinstance(output, Exception):  # also without tools, or the server is busy
        return await _time_text_reply(model, has_system_message)
    return f"it takes no tools ({error.words[:_LONGEST_WORDS]}): {_TOOL_ADVICE}"


async def _send_test_request(
    model: Model, *, asks_for_call: bool = False, picture: Picture | None = None, has_system_message: bool = False
) -> ModelOutput | Exception:
    """Send one short request, which may ask for a tool call or have a picture; return the reply or the error."""
    question = "Call the tool ready with the word OK." if asks_for_call else _QUESTION
    contents: list[Content] = [] if picture is None else [ContentText(text=question), content_image(picture)]
    messages: list[ChatMessage] = [ChatMessageSystem(content=_RULES)] if has_system_message else []
    messages.append(ChatMessageUser(content=contents or question))
    config = GenerateConfig(max_tokens=_MAX_TOKENS_OF_CALL if asks_for_call else _MAX_TOKENS)
    try:
        if asks_for_call:
            answer = await model.api.generate(messages, [inspect_tool_info(_READY_TOOL)], "any", ONE_CALL.merge(config))
        else:
            answer = await model.api.generate(messages, [], "none", config)
    except Exception as error:
        return error
    return answer[0] if isinstance(answer, tuple) else answer


async def _time_text_reply(model: Model, has_system_message: bool = False) -> str | float:
    """Return the seconds that a model's reply in text took, or a line on why the model cannot be used."""
    began = time.monotonic()
    output = await _send_with_retries(model, has_system_message=has_system_message)
    # A server may refuse the request only because it is so short.
    if isinstance(output, ModelOutput) or http_status(output) in (400, 422):
        return time.monotonic() - began
    return _problem_and_advice(model, parse_provider_error(output))


async def _picture_problem(model: Model, picture: Picture) -> str:
    """Return why a model cannot take a picture; "" if it can."""
    output = await _send_with_retries(model, picture)
    is_output = isinstance(output, ModelOutput)
    if is_output and output.stop_reason != "model_length":
        return ""
    words = (output.completion if is_output else parse_provider_error(output).words)[:_LONGEST_WORDS]
    return f"takes no picture of {picture.size} pixels ({words}): {_PICTURE_ADVICE}, or a smaller image_size"


async def _send_with_retries(
    model: Model, picture: Picture | None = None, *, has_system_message: bool = False
) -> ModelOutput | Exception:
    """Send one short request, up to three times if the server is busy; return the reply or the error."""
    for wait in _RETRY_WAITS:
        output = await _send_test_request(model, picture=picture, has_system_message=has_system_message)
        status = 0 if isinstance(output, ModelOutput) else http_status(output) or 0
        is_busy = status == 429 or status >= 500
        if not is_busy:
            return output
        await asyncio.sleep(wait)
    return await _send_test_request(model, picture=picture, has_system_message=has_system_message)


def _problem_and_advice(model: Model, error: ProviderError) -> str:
    """Return a line on what a provider's error means and what the user can do."""
    words = error.words[:_LONGEST_WORDS]
    address = printable_address(model.api.base_url)
    at_address = f" at {address}" if address else ""
    match error.status:
        case 401 | 403:
            return f"the server{at_address} refuses the key ({words}): set the key of this provider in the environment"
        case 404:
            return f"the server{at_address} does not know this model ({words}): check its name and --model-base-url"
        case 429:
            return f"the server{at_address} refuses requests for now ({words}): check the quota, or try again later"
        case None:
            return f"no reply from the server{at_address} ({words}): start it, or check --model-base-url"
        case int(status):
            return f"the server{at_address} answers with status {status} ({words}): check the server"
