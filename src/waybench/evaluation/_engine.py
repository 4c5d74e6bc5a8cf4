"""Runs tasks as an Inspect eval set; garbage collection meanwhile, and notes on why a run stopped."""

import gc
import logging
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import inspect_ai
from inspect_ai import Task
from inspect_ai.log import (
    EvalLog,
    EvalLogInfo,
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, Model, get_model
from pydantic import ValidationError

from waybench.core import Json, PromptKinds, UsageError
from waybench.core._play import TEXT_PROMPTS
from waybench.core._policies import EMBEDDED
from waybench.evaluation._agents import PrerequisiteError, inspect_model_name
from waybench.evaluation._comparison import comparison_of_task, resume_comparison
from waybench.evaluation._preflight import (
    PATIENCE,
    check_env_file,
    check_models,
    disk_full_message,
    has_server,
    is_disk_full_error,
    lock_folder,
    mentions_full_disk,
    refuse_models_without_tools,
    refuse_text_only_models,
)
from waybench.evaluation._provider import EmbeddedPlayer
from waybench.evaluation._reasoning import forced_history_warning
from waybench.evaluation._run_journals import RunJournals, count_selected_tasks, interrupt_run, task_args
from waybench.evaluation._run_progress import RunProgress, follow_engine_reports, write_progress_regularly
from waybench.evaluation._secrets import Secrets, adopt_names_of_older_logs, hide_secrets_in_errors, seal_secrets
from waybench.evaluation._solver import wrap_model
from waybench.evaluation._states import HiddenStates


@contextmanager
def freeze_existing_objects() -> Generator[None]:
    """Exclude all objects that exist before a block from garbage collection within it.

    The engine's modules are some hundred thousand objects, none of which will ever be garbage, and each full collection
    visits all of them: a seventh of the processor time of a run whose model answers at once. What the block makes is
    collected as ever. A program that has frozen objects of its own is left as it is.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


STOPPED = "waybench_stopped"  # the key in a log's metadata


def write_stop_reason(folder: Path, reason: str) -> None:
    """Write why the run stopped into the metadata of a folder's unfinished logs."""
    for info in list_eval_logs(str(folder.absolute()), recursive=False):
        if read_eval_log(info, header_only=True).status == "success":
            continue
        edit = MetadataEdit(metadata_set={STOPPED: reason})
        edited = edit_eval_log(read_eval_log(info), [edit], ProvenanceData(author="waybench", reason="budget"))
        write_eval_log(edited, info.name)


_MISREAD_CHARACTERS = re.compile(r"[#?\t\n\r]|%[0-9A-Fa-f]{2}")
# Providers whose names people misspell; the engine knows more.
_PROVIDERS = (
    *("anthropic", "azureai", "bedrock", "cloudflare", "deepseek", "fireworks", "google", "grok", "groq", "hf"),
    *("llama-cpp-python", "mistral", "ollama", "openai", "openai-api", "openrouter", "perplexity", "sambanova"),
    *("sglang", "together", "vllm", "waybench"),
)
_ENGINE: Any = inspect_ai  # its signatures are too wide for a type checker


def evaluate(
    tasks: Sequence[Callable[[], Task]],
    models: Sequence[str],
    out: Path,
    *,
    model_base_url: str | None = None,
    model_args: Mapping[str, Json] | None = None,
    config: Mapping[str, Json] | None = None,
    limits: Mapping[str, int | None] | None = None,
    rerun: int = 0,
    display: str = "none",
    warn: Callable[[str], None] | None = None,
    progress: RunProgress | None = None,
    check: bool = False,
    prompts: PromptKinds = TEXT_PROMPTS,
    states: tuple[Path, Sequence[int]] | None = None,
) -> list[str]:
    """Run tasks with models as an Inspect eval set in a folder; replies that the folder holds are not requested again.

    What is finished is in the logs. The turns of episodes that were interrupted are in journals beside them, which are
    removed when the run is complete.

    Args:
        tasks: Functions that make the tasks.
        models: Names of models.
        out: The folder of the logs.
        model_base_url: Address of the models' server.
        model_args: Arguments of the models' provider.
        config: Inspect's generation settings.
        limits: Inspect's limits on a sample.
        rerun: How often episodes with errors are tried again.
        display: Inspect's display type.
        warn: Receives a line about what of an older run's journal cannot be used; by default it goes to standard error.
        progress: Follows the run, for a display; the folder has the same in a file, which `waybench view` shows. If it
            has a budget, the run stops as by Ctrl-C when that is spent; this needs the main thread.
        check: Whether to send one short request to each model first (`check_models`).
        prompts: What the models have to take for the tasks; models that are known not to are refused, and the check
            sends it.
        states: File and layers of the hidden states to store (`HiddenStates`); by default none.

    Returns:
        What is not finished, as "task with model".

    Raises:
        KeyboardInterrupt: If the user has interrupted the run.
        UsageError: If a model cannot be opened (unknown provider, no key, package missing), in the provider's words, a
            task refuses its parameters, another process runs in the folder, a disk is full, or Inspect cannot keep
            logs in a folder of this name.
    """
    config, limits, model_args = config or {}, limits or {}, model_args or {}
    check_log_folder(out)
    try:
        GenerateConfig.model_validate(config)
    except ValidationError as error:
        problem = error.errors()[0]
        setting = f"{problem['loc'][0]}={str(problem['input'])[:40]!r}" if problem["loc"] else "generation settings"
        raise UsageError(f"{setting}: {problem['msg'].removeprefix('Value error, ')}") from None
    opened = _open_models(models, model_base_url, model_args)
    if prompts.picture is not None:
        refuse_text_only_models(opened)
    refuse_models_without_tools(opened, prompts)
    warn = warn or (lambda line: print(line, file=sys.stderr))
    note = warn if progress is None else progress.notes.append
    progress = RunProgress() if progress is None else progress
    progress.on_spent = interrupt_run
    forms = [wrap_model(model) for model in opened]
    if states is not None:
        hidden_states = HiddenStates(*states)
        for model in opened:
            hidden_states.attach(model)
    for model, form in zip(opened, forms, strict=True):
        form.tell = note
        if has_server(model):
            form.watch = progress.watch_server(str(model), model.api.base_url, note)
        form.keeps_reasoning = config.get("reasoning_history") in ("all", "last")
        if warning := forced_history_warning(model.api, config):
            form.tell_once("reasoning history", warning)
    if any(not isinstance(model.api, EmbeddedPlayer) for model in opened):
        for line in prompts.notes:
            note(line)
    if check:
        # Opened again: connections belong to the event loop of a model's first request.
        models_to_check = _open_models(models, model_base_url, model_args)
        for model, form in zip(models_to_check, forms, strict=True):
            wrap_model(model, form)
        patience = config.get("attempt_timeout")
        patience = float(patience) if isinstance(patience, int | float) else PATIENCE
        seconds = check_models(models_to_check, patience, warn, prompts=prompts)
        max_connections = config.get("max_connections")
        progress.estimate_longest_run(
            seconds,
            {
                str(model): max_connections if isinstance(max_connections, int) else model.api.max_connections()
                for model in opened
            },
        )
    journals = RunJournals(out, {**config, **limits}, warn)
    try:
        n_selected = count_selected_tasks()
        # Parts that another program selects share a folder, which it looks after.
        with (
            nullcontext() if n_selected else lock_folder(out),
            write_progress_regularly(out, progress),
            _quiet_logging(),
        ):
            if not n_selected:
                _rename_superseded_logs(out)
            try:
                created = [journals.create_task(make) for make in tasks]
                adopt_names_of_older_logs(out, created, opened, warn)
                for task in created:
                    if (source := comparison_of_task(task)) is not None:
                        resume_comparison(source, task.name, task_args(task), out, config)
                journals.open_journals(opened, progress)
                progress.notes.extend(progress.opening)
                with (
                    freeze_existing_objects(),
                    follow_engine_reports(
                        progress,
                        journals.count_unlogged_replies,
                        out,
                        quiet=display == "none",
                        on_end=partial(_end_player_in_comparison, created),
                    ),
                ):
                    logs = _run_eval_set(created, opened, out, config, limits, rerun, display)
            except KeyboardInterrupt:
                if journals.failure is None and not progress.budget_is_spent:
                    raise
                logs = []
            finally:
                journals.close_journals()
            if journals.failure is not None:
                raise journals.failure
            if progress.budget_is_spent:
                write_stop_reason(out, progress.interrupted_text)
                return [status.name for status in progress.statuses() if status.state != "finished"]
            n_expected = n_selected or len(tasks) * len(opened)
            if len(logs) < n_expected or any(log.status == "cancelled" for log in logs):
                raise KeyboardInterrupt  # the engine has caught it, and reports a success with no or fewer logs
            failed = [log for log in logs if log.status != "success"]
            if any(mentions_full_disk(log.error.message) for log in failed if log.error):
                raise UsageError(disk_full_message(out))
            journals.remove_logged_turns(logs)
    except PrerequisiteError as error:
        raise UsageError(_one_line_message(error)) from None
    except Exception as error:
        if is_disk_full_error(error):
            raise UsageError(disk_full_message(out)) from None
        raise
    return [f"{log.eval.task.removeprefix('waybench/')} with {log.eval.model}" for log in failed]


def _run_eval_set(
    tasks: Sequence[Task],
    models: Sequence[Model],
    out: Path,
    config: Mapping[str, Json],
    limits: Mapping[str, int | None],
    rerun: int,
    display: str,
) -> list[EvalLog]:
    """Run the eval set with arguments as those of `evaluate`, and return the logs of all its tasks."""
    _, logs = _ENGINE.eval_set(
        tasks=list(tasks),
        model=models,
        # Models that are compared wait for each other, so that none may wait for its task to begin.
        max_tasks=len(tasks) * len(models) if any(map(comparison_of_task, tasks)) else None,
        log_dir=str(out.absolute()),
        log_dir_allow_dirty=True,
        # Embedded players are done before anyone could look; to record each event takes a fifth of the time.
        log_realtime=not all(isinstance(model.api, EmbeddedPlayer) for model in models),
        log_images=False,  # they are drawn again from the records
        log_buffer=1,  # every finished sample is on disk before the next one is paid for
        retry_attempts=rerun,
        retry_immediate=rerun > 0,
        display=display,
        log_level="error",
        log_level_transcript="info",  # below it the transcript, which is in the log, has the address of each request
        **limits,
        **config,
    )
    return logs


def _end_player_in_comparison(tasks: Sequence[Task], log: EvalLog) -> None:
    """Tell the comparison of a log's task that the log's model has ended its part."""
    for task in tasks:
        source = comparison_of_task(task)
        if source is not None and task.name == log.eval.task and task_args(task) == log.eval.task_args_passed:
            source.end_player(str(log.eval.model))


@contextmanager
def _quiet_logging() -> Generator[None]:
    """Suppress the traceback that Python's logging prints for each line of Inspect's log on a full disk."""
    old_value, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        yield
    finally:
        logging.raiseExceptions = old_value


def check_log_folder(folder: Path) -> None:
    """Refuse a folder whose path Inspect would misread as a URL, so that it would lose results.

    Raises:
        UsageError: If the path, or one above it, has such a name.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]", str(folder)):
        raise UsageError(f"{str(folder)[:120]!r} is a URL, but logs can only be written to local folders")
    if misread := sorted(set(_MISREAD_CHARACTERS.findall(str(folder.absolute())))):
        raise UsageError(
            f"logs cannot be written to {str(folder)[:120]!r}: its full path contains {', '.join(map(repr, misread))}; "
            "choose another folder"
        )


def _rename_superseded_logs(folder: Path) -> None:
    """Rename unfinished logs that a killed resumption left behind, if an older log of the task has more samples.

    The engine resumes from the newest log; one that was killed while it took over an older log's samples has few.
    """
    logs_by_task: dict[str, list[tuple[int, str, EvalLogInfo]]] = {}  # with number of samples and time of creation
    for info in list_eval_logs(str(folder.absolute()), recursive=False):
        try:
            header = read_eval_log(info, header_only=True)
            # A finished log is never superseded.
            count = sys.maxsize if header.status == "success" else len(read_eval_log_sample_summaries(info))
        except Exception:  # not a log, or one cut off while it was written, of which the engine warns
            continue
        logs_by_task.setdefault(header.eval.task_id, []).append((count, header.eval.created, info))
    for logs in logs_by_task.values():
        most_samples, created_with_most, _ = max(logs, key=lambda log: log[:2])
        for count, created, info in logs:
            if created > created_with_most and count < most_samples:
                path = Path(url2pathname(urlparse(info.name).path))
                path.rename(path.with_suffix(".superseded"))


def _open_models(names: Sequence[str], base_url: str | None, args: Mapping[str, Json]) -> list[Model]:
    """Return the models of some names, each once; one error names all that cannot be opened."""
    opened: list[Model] = []
    problems: list[str] = []
    for name in dict.fromkeys(names):
        try:
            opened.append(open_model(name, base_url, args))
        except UsageError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("; ".join(problems))
    return opened


def open_model(name: str, base_url: str | None, args: Mapping[str, Json]) -> Model:
    """Return a model by its name, with its secrets hidden and its requests in the form that its server takes.

    `name` is provider/name, or "python:" and a function. `base_url` is None for the provider's own server.

    Raises:
        UsageError: If the model cannot be opened, in the provider's words.
    """
    check_env_file()
    name = inspect_model_name(name)
    if "/" not in name:
        embedded = name in EMBEDDED or name.startswith("noisy-")
        raise UsageError(
            f"model {name[:120]!r}: give provider/name, such as waybench/{name[:120] if embedded else 'oracle'} or "
            "openai/gpt-4o"
        )
    if base_url is not None and not _is_http_address(base_url):
        raise UsageError("the base URL of the model's server is no address: write it as http://127.0.0.1:8000/v1")
    folder = str(args.get("model_path", ""))
    if folder.startswith((".", "/", "~")) and not Path(folder).expanduser().exists():
        raise UsageError(
            f"model {name[:120]!r}: folder {folder} does not exist: give the folder with the model's files"
        )
    try:
        with hide_secrets_in_errors(Secrets(base_url, args)):
            model = get_model(name, base_url=base_url, memoize=False, **args)
            address = model.api.base_url
            given_addresses = [value for variable, value in os.environ.items() if variable.endswith("_BASE_URL")]
            if base_url is None and address in given_addresses and address:
                # Logs have only an address that was passed, and tell results of two servers apart by it.
                base_url = address
                model = get_model(name, base_url=base_url, memoize=False, **args)
        wrap_model(seal_secrets(model, base_url, args))
        return model
    except Exception as error:  # every provider has its own; its message is what the user needs
        raise UsageError(f"model {name[:120]!r}: {_provider_error_text(name, _one_line_message(error))}") from None


def _provider_error_text(name: str, message: str) -> str:
    """Return a provider's message that the model `name` cannot be opened, with hints on what to give instead."""
    if "not recognized" in message:
        provider = name.partition("/")[0][:60]
        similar = get_close_matches(provider, _PROVIDERS, n=1)
        hint = f"did you mean {similar[0]!r}? " if similar else ""
        return (
            f"unknown provider {provider!r}: {hint}give a provider of Inspect, such as openai, anthropic or hf, or "
            "openai-api/NAME/MODEL with --model-base-url for a server of your own"
        )
    hint = "; or give the address of its server with --model-base-url" if "_BASE_URL" in message else ""
    if name.startswith("openai-api/") and (variable := re.search(r"\w+_API_KEY", message)):
        hint += f". A server that needs no key takes any text: {variable[0]}=none"
    return f"{message}{hint}"


def _is_http_address(text: str) -> bool:
    """Return whether a text is an http or https address with a host."""
    try:
        address = urlparse(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is none
        return False


def _one_line_message(error: Exception) -> str:
    """Return an error's text on one line, at most 300 characters, without markup."""
    text = re.sub(r"\[/?[a-z ]*\]", "", str(error) or type(error).__name__)  # rich's markup
    return " ".join(text.split()).removeprefix("ERROR: ")[:300]
