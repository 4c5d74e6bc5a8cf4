"""The user's function as a model, pictures as PNG, and waybench's errors as Inspect's."""

import base64
import os
import re
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from inspect import isawaitable, iscoroutinefunction
from typing import Any, cast

import vl_convert
from anyio import to_thread
from inspect_ai._util.error import PrerequisiteError  # what the engine prints as one line; it has no public name
from inspect_ai.model import ChatMessage, ContentImage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from waybench.core import Picture, UsageError, WaybenchError, is_message, text_of


@contextmanager
def one_line_errors() -> Generator[None]:
    """Raise errors that the user can correct as Inspect's own, which are printed as one line without a traceback."""
    try:
        yield
    except WaybenchError as error:
        raise PrerequisiteError(str(error)) from None


PREFIX = "python:"  # on the command line; the engine's name of the model begins with "python/"
Answer = Callable[[list[dict[str, str]]], Any | Awaitable[Any]]


def engine_name(name: str) -> str:
    """Return a model's name as Inspect takes it."""
    return f"python/{name.removeprefix(PREFIX)}" if name.startswith(PREFIX) else name


def load_object(reference: str) -> Any:
    """Return what a reference of the form `module.name` or `module:name` names, of the working folder too.

    Raises:
        UsageError: If there is no such module or name, or the module cannot be imported.
    """
    module, colon, name = reference.partition(":")
    if not colon:
        module, _, name = reference.rpartition(".")
    if not module or not name:
        raise UsageError(f"{reference[:80]!r}: give a module and a name in it, as my_module.reply")
    if os.getcwd() not in sys.path and "" not in sys.path:  # as for `python -m`, and at the end: it hides nothing
        sys.path.append(os.getcwd())
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise UsageError(f"{reference[:80]!r}: {error} in {os.getcwd()} or Python's path") from None
    except AttributeError as error:
        raise UsageError(f"{reference[:80]!r}: {error}") from None
    except Exception as error:  # the module is the user's own
        raise UsageError(f"{reference[:80]!r} cannot be imported: {type(error).__name__}: {error}") from None
    return found


def load_function(reference: str) -> Answer:
    """Return the function of a reference.

    Raises:
        UsageError: If there is none.
    """
    found: Any = load_object(reference)
    if not callable(found):
        raise UsageError(f"{reference[:80]!r} is no function, but of type {type(found).__name__}")
    return cast("Answer", found)


class FunctionModel(ModelAPI):
    """Replies with a function of messages, each a role and a content, to a text or a message with one; sync or async.

    A sync function runs in threads, as many as there are connections: `--max-connections 1` for one that must not.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the base class's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with one_line_errors():
            self._function = load_function(model_name)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Return the function's reply."""
        if tools:
            raise RuntimeError(f"python:{self.model_name} takes no tools")
        messages = [{"role": message.role, "content": message.text} for message in input]
        function: Any = self._function
        if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
            said = await function(messages)
        else:
            said = await to_thread.run_sync(function, messages, abandon_on_cancel=True)
            said = await said if isawaitable(said) else said
        text = text_of(said)
        if text is None and not is_message(said):
            raise TypeError(f"python:{self.model_name} returned {type(said).__name__}: return the reply as a string")
        output = ModelOutput.from_content(f"python/{self.model_name}", text or "")
        output.usage = ModelUsage()  # it is not known, and the engine would fetch a tokenizer's file to count by
        return output


# The one font that comes with what draws the pictures, so that they have the same bytes whatever fonts a machine has.
_FONT = 'font-family="Liberation Sans"'
_GENERIC = re.compile(r'font-family="(?:sans-serif|monospace)"')
_ROOT = re.compile(r'<svg [^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>')
_PIXELS_PER_TOKEN = 750  # by which Anthropic's documentation estimates the tokens of a picture


def png(picture: Picture) -> bytes:
    """Return a picture as PNG, on white. The same picture has the same bytes every time.

    Args:
        picture: The picture.

    Raises:
        ValueError: If it is not drawn with a view box from 0 0.
    """
    return _png(picture.svg, picture.size)


@lru_cache(maxsize=64)  # a chat shows its first pictures again with each request
def _png(svg: str, size: int) -> bytes:
    root = _ROOT.match(svg)
    if root is None:
        raise ValueError("a drawing begins with <svg ...> and a view box from 0 0")
    width, height = float(root[1]), float(root[2])
    scale = size / max(width, height)
    across, down = max(round(width * scale), 1), max(round(height * scale), 1)
    body = svg[root.end() :]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" '
        f'viewBox="0 0 {width:g} {height:g}" {_FONT}>'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>'
    )
    return bytes(vl_convert.svg_to_png(head + _GENERIC.sub(_FONT, body)))


def content_image(picture: Picture) -> ContentImage:
    """Return a picture as a part of a message of Inspect."""
    return ContentImage(image=f"data:image/png;base64,{base64.b64encode(png(picture)).decode('ascii')}")


def picture_tokens(picture: Picture) -> float:
    """Return about how many tokens a picture takes, for estimates: a token for each 750 pixels of a square."""
    return picture.size**2 / _PIXELS_PER_TOKEN
