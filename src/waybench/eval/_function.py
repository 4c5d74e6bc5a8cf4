"""A function of the user's as a model: `--model python:my_module.reply`."""

import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from inspect import isawaitable, iscoroutinefunction
from typing import Any, cast

from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from waybench.core import UsageError, is_message, text_of
from waybench.eval._errors import one_line_errors

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
