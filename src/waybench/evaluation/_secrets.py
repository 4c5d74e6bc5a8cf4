"""Credentials of model servers are used in requests and never written to a log: in headers, errors or replies."""

import base64
import functools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from inspect_ai import Task
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR  # it has no public name
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import Model, ModelCall, ModelOutput

from waybench.core import (
    LABEL,
    Json,
    credentials_in_address,
    find_secrets,
    is_array,
    is_object,
    private_key_label,
    redact_address,
    redact_secrets,
)
from waybench.core._secrets import HIDDEN
from waybench.evaluation._provider_errors import all_causes, response_text
from waybench.evaluation._run_journals import task_args

_SHORTEST_SECRET = 4  # characters; to hide shorter ones would mangle most texts
_SHORTEST_API_KEY = 8  # "none" stands for none
_SEALED_ATTRIBUTE = "waybench_sealed"


class Secrets:
    """The secrets of a model's address and of the arguments of its provider, which are replaced in texts."""

    def __init__(self, base_url: str | None, args: Mapping[str, Json]) -> None:
        self._texts: list[str] = []
        self._add_texts(find_secrets(dict(args)))
        self.add_address(base_url)

    def add_address(self, address: str | None) -> None:
        """Add user name and password in an address, and its other secret parts."""
        if address:
            self._add_texts(credentials_in_address(address))
            user = urlsplit(address).netloc.rpartition("@")[0] if "://" in address else ""
            self._add_texts([base64.b64encode(user.encode("utf-8", "replace")).decode()] if user else [])

    def add_api_key(self, key: str | None) -> None:
        """Add a provider's API key, unless it is too short to be one."""
        self._add_texts([key] if key and len(key) >= _SHORTEST_API_KEY else [])

    def hide(self, value: Any) -> Any:
        """Return a JSON value in which all secrets are replaced."""
        if isinstance(value, str):
            return functools.reduce(lambda text, secret: text.replace(secret, HIDDEN), self._texts, value)
        if isinstance(value, Mapping):
            fields = cast("Mapping[Any, Any]", value).items()
            return {self.hide(name): self.hide(inner) for name, inner in fields}
        if isinstance(value, list):
            return [self.hide(inner) for inner in cast("list[Any]", value)]
        return value

    def hide_output(self, output: ModelOutput) -> ModelOutput:
        """Return a model's output in which all secrets are replaced."""
        if not self._texts:
            return output
        fields = output.model_dump()
        hidden_fields = {
            name: self.hide(fields[name]) for name in ("error", "metadata", "model", "completion", "response_id")
        }
        choices = [
            {**choice, "message": {name: self._hide_part(name, part) for name, part in choice["message"].items()}}
            for choice in fields["choices"]
        ]
        all_fields = {**fields, **hidden_fields, "choices": choices}
        return output if all_fields == fields else ModelOutput.model_validate(all_fields)

    def _hide_part(self, name: str, part: Any) -> Any:
        """Return a field of a message in which all secrets are replaced, except in names that Inspect reads.

        The arguments of a tool call are the model's own, so secrets are replaced under all of their names.
        """
        if name in ("role", "source", "type"):
            return part
        if is_object(part) and name != "arguments":
            return {inner: self._hide_part(inner, value) for inner, value in part.items()}
        return [self._hide_part("", value) for value in part] if is_array(part) else self.hide(part)

    def redact_exception(self, error: BaseException) -> None:
        """Replace all secrets in the texts of an exception and its causes, in place."""
        for cause in all_causes(error):
            cause.args = tuple(map(self.hide, cause.args))
            if not getattr(cause, "body", None) and (text := response_text(cause)):
                setattr(cause, "body", text)  # noqa: B010  what is read of an error is its body first
            for name, value in vars(cause).items():
                if isinstance(value, str | dict | list):
                    setattr(cause, name, self.hide(value))

    def _add_texts(self, texts: Iterable[str]) -> None:
        """Add secret texts; of "Bearer TOKEN" the token as well."""
        words = [word for text in texts for word in (text, text.rpartition(" ")[2])]
        longest_first = sorted({*self._texts, *words}, key=len, reverse=True)
        self._texts = [text for text in longest_first if len(text) >= _SHORTEST_SECRET]


def seal_secrets(model: Model, base_url: str | None, args: Mapping[str, Json]) -> Model:
    """Remove a model's secrets from its settings in logs and from its outputs, and return the same model.

    What is sent to the provider keeps the secrets; the copy of a request that is logged does not.
    """
    sealed_model: Any = model
    if base_url is not None:
        sealed_model._explicit_base_url = redact_address(base_url)
    sealed_model.model_args = redact_secrets(dict(args))
    secrets = Secrets(base_url, args)
    secrets.add_address(model.api.base_url)
    secrets.add_api_key(model.api.api_key)
    api: Any = model.api
    generate = api.generate

    @functools.wraps(generate)
    async def generate_sealed(*positional: Any, **more: Any) -> Any:
        """Call the provider, and hide the secrets in what it returns or raises."""
        with hide_secrets_in_errors(secrets):
            answer = await generate(*positional, **more)
        output, call = cast("tuple[Any, Any]", answer) if isinstance(answer, tuple) else (answer, None)
        if isinstance(call, ModelCall):
            call.request, call.response = secrets.hide(call.request), secrets.hide(call.response)
        if isinstance(output, Exception):
            secrets.redact_exception(output)
        elif isinstance(output, ModelOutput):
            output = secrets.hide_output(output)
        return (output, call) if isinstance(answer, tuple) else output

    if not getattr(api, _SEALED_ATTRIBUTE, False):
        api.generate = generate_sealed
        setattr(api, _SEALED_ATTRIBUTE, True)
    return model


@contextmanager
def hide_secrets_in_errors(secrets: Secrets) -> Generator[None]:
    """Replace secrets in the exceptions that a block raises."""
    try:
        yield
    except Exception as error:
        secrets.redact_exception(error)
        raise


def adopt_names_of_older_logs(
    folder: Path, tasks: Sequence[Task], models: Sequence[Model], warn: Callable[[str], None]
) -> None:
    """Give tasks and models the unredacted settings of older versions' logs, so that the engine resumes these.

    The engine resumes a log only if it names task and model alike. The next log may have these settings in clear text,
    too, since the folder has them already.
    """
    private_tasks = [task for task in tasks if LABEL.fullmatch(str(task_args(task).get("key", "")))]
    if not private_tasks and not any(HIDDEN in repr(model.model_args) for model in models):
        return
    is_changed = False
    for info in list_eval_logs(str(folder.absolute()), recursive=False):
        try:
            spec = read_eval_log(info, header_only=True).eval
        except Exception:  # not a log, of which the engine warns
            continue
        key = spec.task_args_passed.get("key")
        for task in private_tasks:
            if spec.task == task.name and key is not None and private_key_label(str(key)) == task_args(task)["key"]:
                for parameters in (task_args(task), getattr(task, TASK_ALL_PARAMS_ATTR, {})):
                    parameters["key"] = key
                is_changed = True
        for model in models:
            run_model: Any = model
            is_older = redact_secrets(spec.model_args) != spec.model_args
            args: dict[str, Any] = run_model.model_args
            logged_args = {name: args[name] for name in args if name != "api_key" and not name.startswith("aws_")}
            if is_older and spec.model == str(model) and redact_secrets(spec.model_args) == logged_args:
                run_model.model_args = dict(spec.model_args)
                is_changed = True
    if is_changed:
        warn(
            f"an older version wrote a key or password in clear text into the logs of {folder}; resumed logs keep it. "
            "Remove the folder or keep it private; runs into a new folder contain no secrets"
        )
