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
from waybench.evaluation._provider import ONE_CALL, EmbeddedPlayer, LocalModel, tool_info
from waybench.evaluation._provider_errors import ProviderError, causes_of, read_error, status_of
from waybench.evaluation._server_watch import host_and_port, shown_address

HOLDER = ".waybench-lock.json"
_WAIT = 0.5  # seconds: `waybench view` touches the lock to see whether a run holds it
_CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WORDS = (*map(os.strerror, _CODES), "database or disk is full")  # where only an error's text is left
_LITTLE = 1 << 20  # bytes; with less than this a file system counts as full
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


@contextmanager
def lock_folder(folder: Path) -> Generator[None]:
    """Hold the lock of a folder, which is created, since two runs in it at once would send every request twice.

    SQLite's lock of a file, which holds nothing, is the operating system's on each platform. It ends with the process
    however that ends, so that no lock is ever left over, nor mistaken for that of a process that got the same id.

    Raises:
        UsageError: If another process holds it; the message says which, and since when.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _acquire(folder)
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


def _acquire(folder: Path) -> sqlite3.Connection | None:
    """Return the locked file; None where the file system has no locks, which stops no run."""
    lock = None
    try:
        lock = sqlite3.connect(folder / LOCK_FILE, timeout=_WAIT, isolation_level=None)
        lock.execute("PRAGMA journal_mode = MEMORY")  # no second file
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:  # also of a file system without locks, or of a file that is not ours
        if lock is not None:
            lock.close()
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise UsageError(_holder_message(folder)) from None
        return None
    return lock


def _holder_message(folder: Path) -> str:
    who = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError):
        holder: Any = json.loads((folder / HOLDER).read_text("utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(holder["since"])))
        who = f"process {int(holder['pid'])} on {str(holder['host'])[:60]}, since {since},"
    return f"{folder} is in use: {who} is running in it; wait until it ends, or choose another folder with --out"


def is_full(error: BaseException) -> bool:
    """Return whether an error or one of its causes says that the disk is full."""
    return any(
        (isinstance(cause, OSError) and cause.errno in _CODES)
        or (isinstance(cause, sqlite3.OperationalError) and _WORDS[-1] in str(cause))
        for cause in causes_of(error)
    )


def says_full(text: str) -> bool:
    """Return whether the text of an error says that the disk is full."""
    return any(words in text for words in _WORDS)


def full_message(out: Path) -> str:
    """Return a message that names the full folder, of those that a run with logs in `out` writes, and what to do."""
    folders = [out, Path(inspect_data_dir("samplebuffer")), Path(tempfile.gettempdir())]
    full: list[str] = []
    for folder in folders:
        with suppress(OSError):
            if (free := shutil.disk_usage(folder).free) < _LITTLE:
                full.append(f"{folder} ({free:,} bytes left)")
    where = " and ".join(full) or " or ".join(map(str, folders)) + " (or a quota there)"
    return (
        f"no space left to write: {where}. Free some space and run the same command again: it continues where this run "
        "stopped, without repeating completed requests"
    )


def check_env_file() -> None:
    """Check the file .env of this folder or one above it, which Inspect reads before the first model.

    Raises:
        UsageError: If it cannot be read, or what it says cannot be a variable.
    """
    path = find_dotenv(usecwd=True)
    try:
        values = dotenv_values(path, interpolate=False) if path else {}
        wrong = [name for name, value in values.items() if not name or "=" in name or "\0" in f"{name}{value}"]
    except (OSError, ValueError) as error:  # a UnicodeDecodeError is one
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(
            f"{path}: {reason}; it should have a line NAME=VALUE for each variable: mend or move it"
        ) from None
    if wrong:
        raise UsageError(f"{path}: {wrong[0][:40]!a} cannot be a variable: write NAME=VALUE, without zero bytes")


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
    asked = [model for model in models if has_server(model)]
    if not asked:
        return {}

    async def check_all() -> list[str | float]:
        return await asyncio.gather(*(_check(model, patience, tell, early, connecting, prompts) for model in asked))

    results = asyncio.run(check_all())
    if problems := [result for result in results if isinstance(result, str)]:
        raise UsageError(f"{'; '.join(problems)}. Nothing was run; --no-check skips this check")
    return {str(model): took for model, took in zip(asked, results, strict=True) if isinstance(took, float)}


def has_server(model: Model) -> bool:
    """Return whether a model replies through a server."""
    return not isinstance(model.api, EmbeddedPlayer) and str(model).partition("/")[0] not in _LOCAL


def refuse_without_tools(models: Sequence[Model], prompts: PromptKinds) -> None:
    """Refuse models of which it is known without a request that they take no tools, where they need to.

    Raises:
        UsageError: If there is one.
    """
    if not prompts.has_tools and not prompts.agent_with_tools:
        return
    agent = prompts.agent_with_tools[:60]
    advice = f"agent {agent} gives it tools; use another model or agent" if agent else _NO_TOOLS
    for model in models:
        if isinstance(model.api, LocalModel | FunctionModel):
            raise UsageError(f"model {str(model)[:120]!r} takes no tools: {advice}")


def refuse_text_models(models: Sequence[Model]) -> None:
    """Refuse models that are known to read text only, without a request.

    Raises:
        UsageError: In one line for each.
    """
    names = [str(model)[:120] for model in models if isinstance(model.api, LocalModel) or str(model).startswith("hf/")]
    if names:
        raise UsageError("; ".join(f"model {name!r} takes no pictures: {_OTHER}" for name in names))


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
        result = await _no_connection(model, min(connecting, patience)) or await asyncio.wait_for(
            _seconds_to_call(model, prompts.has_system)
            if prompts.has_tools
            else _seconds_to_answer(model, prompts.has_system),
            patience,
        )
        if prompts.picture is not None and not isinstance(result, str):
            result = await asyncio.wait_for(_takes_picture(model, prompts.picture), patience) or result
    except TimeoutError:
        result = f"no reply within {patience:.0f} s: check the server, or give a model that loads a longer --timeout"
    finally:
        waiting.cancel()
        with suppress(Exception):
            await asyncio.wait_for(model.api.aclose(), _CLOSING)
    return f"{name}: {result}" if isinstance(result, str) else result


async def _no_connection(model: Model, seconds: float) -> str:
    """Return a line if nothing takes a connection at a model's address in time; "" otherwise, or if it is not known.

    What is refused at once is left to the request, whose words say more. Behind a proxy nothing is tried.
    """
    where = host_and_port(model.api.base_url)
    if where is None:
        return ""
    host, port = where
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), seconds)
        writer.close()
    except TimeoutError:
        place = f"{host}, port {port}"
        return f"nothing takes a connection at {place} within {seconds:.0f} s: start it, or check --model-base-url"
    except OSError:
        return ""
    return ""


async def _seconds_to_call(model: Model, system: bool) -> str | float:
    """Return how many seconds a reply to a request for a call took; otherwise why the model cannot be used."""
    began = time.monotonic()
    output = await _send(model, tools=True, system=system)
    took = time.monotonic() - began
    if isinstance(output, ModelOutput):
        if output.message.tool_calls or output.stop_reason == "max_tokens":
            return took
        words = " ".join(output.completion.split())[:_LONGEST]
        return f"asked for a call of a tool, it answered without one ({words!r}): {_NO_TOOLS}"
    error = read_error(output)
    if error.status in _OF_THE_MOMENT or isinstance(await _send(model, system=system), Exception):
        return await _seconds_to_answer(model, system)  # tools are not what it lacks
    return f"it takes no tools ({error.words[:_LONGEST]}): {_NO_TOOLS}"


async def _send(
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
            answer = await model.api.generate(messages, [tool_info(_READY)], "any", ONE_CALL.merge(config))
        else:
            answer = await model.api.generate(messages, [], "none", config)
    except Exception as raised:
        return raised
    return answer[0] if isinstance(answer, tuple) else answer


async def _seconds_to_answer(model: Model, system: bool = False) -> str | float:
    """Return how many seconds a model's reply took; otherwise why the model cannot be used."""
    began = time.monotonic()
    output = await _send_patiently(model, system=system)
    if isinstance(output, ModelOutput) or status_of(output) in (400, 422):
        return time.monotonic() - began
    return _advice(model, read_error(output))


async def _takes_picture(model: Model, picture: Picture) -> str:
    """Return why a model that takes text does not take a picture; "" if it does."""
    output = await _send_patiently(model, picture)
    is_output = isinstance(output, ModelOutput)
    if is_output and output.stop_reason != "model_length":
        return ""
    words = (output.completion if is_output else read_error(output).words)[:_LONGEST]
    return f"takes no picture of {picture.size} pixels ({words}): {_OTHER}, or a smaller image_size"


async def _send_patiently(
    model: Model, picture: Picture | None = None, *, system: bool = False
) -> ModelOutput | Exception:
    """Send a short request, to a busy server more than once."""
    for wait in _WAITS:
        output = await _send(model, picture=picture, system=system)
        if isinstance(output, ModelOutput) or not ((status := status_of(output) or 0) == 429 or status >= 500):
            return output
        await asyncio.sleep(wait)
    return await _send(model, picture=picture, system=system)


def _advice(model: Model, error: ProviderError) -> str:
    """Return in one line what is wrong and what to do."""
    words = error.words[:_LONGEST]
    address = shown_address(model.api.base_url)
    where = f" at {address}" if address else ""
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
