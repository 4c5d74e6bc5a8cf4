"""A layer between Inspect and a model.

It sends conversations in a form that the server takes, reads its responses in one form, escapes surrogates in replies,
and answers from a journal where it can.
"""

import functools
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelCall, ModelOutput
from pydantic_core import PydanticSerializationError, to_json

from waybench.core import is_array, is_object
from waybench.eval._responses import prepare_provider, restate_stop_reason
from waybench.eval._sent_form import SentForm

_FORM = "waybench_sent_form"
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


def wrap_model(model: Model, form: SentForm | None = None) -> SentForm:
    r"""Put the layer between Inspect and a model.

    A reply may hold lone surrogates, which JSON can escape and UTF-8 cannot carry; one of them would end the whole
    task when the engine writes its log. They become their own escapes, as the six characters \ud800, before the
    engine sees them.

    Args:
        model: The model; its provider's `generate` is wrapped once.
        form: The form in which conversations are sent, in place of the model's own.

    Returns:
        The form.
    """
    api: Any = model.api
    known_form: SentForm | None = getattr(api, _FORM, None)
    setattr(api, _FORM, form or known_form or SentForm(str(model)))
    if known_form is not None:
        return getattr(api, _FORM)
    prepare_provider(api)
    generate = api.generate

    @functools.wraps(generate)
    async def guarded(input: list[ChatMessage], tools: Any, tool_choice: Any, config: Any) -> Any:
        if (known := _known.get()) is not None:
            return known

        async def send(messages: list[ChatMessage]) -> Any:
            return await generate(messages, tools, tool_choice, config)

        sent_form: SentForm = getattr(api, _FORM)
        match await sent_form.send(send, input):
            case (output, ModelCall() as call):
                restate_stop_reason(output, call)
                if not _is_writable(call.response):
                    call.response = _escaped(call.response)
                return _writable(output), call
            case output:
                return _writable(output)

    api.generate = guarded
    return getattr(api, _FORM)


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
