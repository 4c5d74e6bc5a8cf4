"""A layer between Inspect and a model: replies in one form, without surrogates, from a journal where it has them."""

import functools
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_ai.model import Model, ModelCall, ModelOutput
from pydantic_core import PydanticSerializationError, to_json

from waybench.core import is_array, is_object
from waybench.eval._responses import prepare_provider, restate_stop_reason

_GUARDED = "waybench_guarded"
_known: ContextVar[ModelOutput | None] = ContextVar("waybench_known_output", default=None)


@contextmanager
def answered_by(output: ModelOutput | None) -> Generator[None]:
    """Answer the requests of a block with a stored output, which Inspect counts like any other.

    Args:
        output: The output; None if a request is needed. It keeps its time, which is that of the call it is from.
    """
    if output is None:
        yield
        return
    seconds = output.time
    token = _known.set(output)
    try:
        yield
    finally:
        _known.reset(token)
        output.time = seconds  # the engine has put that of the look-up in its place


def escape_surrogates(model: Model) -> Model:
    r"""Make a model's outputs writable as UTF-8, and read its server's responses in one form (`_responses`).

    A reply may hold lone surrogates, which JSON can escape and UTF-8 cannot carry; one of them would end the whole
    task when the engine writes its log. They become their own escapes, as the six characters \ud800, before the
    engine sees them.

    Args:
        model: The model; its provider's `generate` is wrapped once.

    Returns:
        The same model.
    """
    api: Any = model.api
    if getattr(api, _GUARDED, False):
        return model
    prepare_provider(api)
    generate = api.generate

    @functools.wraps(generate)
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        if (known := _known.get()) is not None:
            return known
        match await generate(*args, **kwargs):
            case (output, ModelCall() as call):
                restate_stop_reason(output, call)
                if not _is_writable(call.response):
                    call.response = _escaped(call.response)
                return _writable(output), call
            case output:
                return _writable(output)

    api.generate = guarded
    setattr(api, _GUARDED, True)
    return model


def _writable(output: Any) -> Any:
    if not isinstance(output, ModelOutput) or _is_writable(output):
        return output  # some providers answer with an exception for the engine to raise
    return ModelOutput.model_validate(_escaped(output.model_dump()))


def _is_writable(value: Any) -> bool:
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if is_object(value):
        return {_escaped(key): _escaped(inner) for key, inner in value.items()}
    if is_array(value):
        return [_escaped(inner) for inner in value]
    return value
