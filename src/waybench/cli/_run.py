"""`waybench run`: evaluate models on tasks, resumably."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._budget import NO_BUDGET, quote_lines, run_budget
from waybench.cli._executor import ADDRESS, EXECUTOR, chosen_executor
from waybench.cli._log_place import DEFAULT_OUT
from waybench.cli._parameters import combinations, generation_settings, model_arguments, runs_of, task_parameters
from waybench.cli._params import THINK_TAGS_FLAG, FiniteRange
from waybench.cli._parts import RunPart, part_arguments, part_folder, refuse_secrets, run_parts, split
from waybench.cli._progress import evaluate_shown
from waybench.cli._summary import print_summary
from waybench.core import PROBE, Price, UsageError, joined_think_tags, prepare_folder, read_budget, read_prices
from waybench.data import cache_dir
from waybench.scale import Executor, Folder, is_on_this_machine, is_url, local_copy
from waybench.tasks import TASKS, TaskEntry, find_task

if TYPE_CHECKING:
    from waybench.tasks import TaskQuote

_EXAMPLE = TASKS[0].name
_EXAMPLES = f"""\b
waybench run {_EXAMPLE} --model openai/gpt-4o
waybench run {_EXAMPLE} --model openai-api/local/llama --model-base-url http://127.0.0.1:8000/v1
waybench run {_EXAMPLE} --model hf/local -M model_path=./my-model"""

_POSITIVE = click.IntRange(min=1)


@click.command(epilog=_EXAMPLES)
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    required=True,
    help="Model, as provider/name, or python:module.function for a function of messages to a reply; repeatable.",
)
@click.option(
    "-T",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Task parameter (`waybench list TASK`), for those of the tasks that have it; TASK.KEY=VALUE for one task. "
    "Repeatable.",
)
@click.option(
    "--each",
    multiple=True,
    metavar="KEY=VALUE,VALUE...",
    help="Run once for each value of a task parameter, as in wording=matrix,ascii; repeatable.",
)
@click.option(
    "--agent",
    metavar="NAME[:ARG=VALUE,...]",
    help="Agent or solver of Inspect that works out each reply: react, a registered name, file.py@name or module.name.",
)
@click.option(
    "--probe",
    metavar="every:N|TURN,...",
    help="Turns before which a belief probe asks the model what it knows of the state, as every:5 or 1,5,10.",
)
@click.option(
    "--prefix",
    metavar="PLAYER:STEPS[+...]",
    help="Steps that reference players take before the model, such as oracle:5, oracle:-3 (all but the last three) or "
    "oracle:4+random:1.",
)
@THINK_TAGS_FLAG
@click.option(
    "--limit",
    type=_POSITIVE,
    help="Items of each level, set or map: the task's parameter `limit`, which `waybench list TASK` describes.",
)
@click.option("--attempts", type=_POSITIVE, help="Maximum attempts per item.  [default: the task's own]")
@click.option(
    "--precision",
    type=FiniteRange(0.02, 1),
    help="Relative half-width of the interval at which a horizon_ task stops.  [default: 0.1]",
)
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="What this command may spend: 200k (tokens), or 5USD with --prices; `none` for no limit. A horizon_ task "
    "plans its search for each model with it. Tasks that climb have a default: for each model 1M tokens, or what an "
    "optimal player without reasoning needs up to the last level if that is more.",
)
@click.option(
    "--prices", metavar="FILE", type=click.Path(path_type=Path), help="Token prices as JSON (see `waybench prices`)."
)
@click.option("--quote", "quote_only", is_flag=True, help="Print what each task asks of each model, and exit.")
@click.option(
    "--out",
    default=str(DEFAULT_OUT),
    show_default=True,
    metavar="DIR|URL",
    help="Log folder, also by URL (s3://bucket/folder, gs://...); keys for it come from the environment.",
)
@EXECUTOR
@ADDRESS
@click.option(
    "--gpus-per-model",
    type=FiniteRange(min=0, min_open=True),
    help="GPUs that each model needs; the executor finds them. A job is then a model with all tasks.",
)
@click.option(
    "--shards",
    type=_POSITIVE,
    default=1,
    show_default=True,
    help="With --executor: jobs that share the items of each task with each model. Ladders and searches stay one job.",
)
@click.option("--model-base-url", metavar="URL", help="Base URL of the model's server.  [default: the provider's]")
@click.option(
    "-M", "model_args", multiple=True, metavar="KEY=VALUE", help="Argument for the model provider; repeatable."
)
@click.option("--temperature", type=FiniteRange(min=0), help="Sampling temperature.  [default: the provider's]")
@click.option(
    "--max-tokens",
    type=_POSITIVE,
    help="Maximum tokens of one reply; longer replies are `truncated`.  [default: the provider's]",
)
@click.option("--reasoning-effort", help="Reasoning effort of a reasoning model.  [default: the provider's]")
@click.option(
    "-G",
    "generation",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any other setting of generation, by Inspect's name: top_p=0.95, reasoning_tokens=8000, "
    '"system_message=Think first."; repeatable.',
)
@click.option("--seed", type=int, help="Sampling seed, if the provider supports one.  [default: none]")
@click.option(
    "--max-connections", type=_POSITIVE, help="Maximum concurrent requests.  [default: the provider's, mostly 10]"
)
@click.option(
    "--max-retries", type=click.IntRange(min=0), default=5, show_default=True, help="Maximum retries of a request."
)
@click.option("--timeout", type=_POSITIVE, help="Timeout of one request attempt, in seconds.  [default: none]")
@click.option(
    "--time-limit",
    type=_POSITIVE,
    help="Seconds per episode; exceeding it is an infrastructure error.  [default: no limit]",
)
@click.option(
    "--token-limit", type=_POSITIVE, help="Tokens per episode; exceeding it ends the episode.  [default: no limit]"
)
@click.option(
    "--rerun",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How often to retry episodes with infrastructure errors.",
)
@click.option("--no-check", is_flag=True, help="Do not send a short request to each model before the run.")
@click.option("--levels", is_flag=True, help="Print the scores of each level, too.")
@click.option(
    "--display",
    type=click.Choice(["rich", "full", "plain", "log", "none"]),
    help="Progress display.  [default: rich on a terminal, plain elsewhere]",
)
def run(
    tasks: tuple[str, ...],
    models: tuple[str, ...],
    parameters: tuple[str, ...],
    each: tuple[str, ...],
    agent: str | None,
    probe: str | None,
    prefix: str | None,
    think_tags: tuple[str, str] | None,
    limit: int | None,
    attempts: int | None,
    precision: float | None,
    budget: str | None,
    prices: Path | None,
    quote_only: bool,
    out: str,
    executor_name: str | None,
    address: str,
    gpus_per_model: float | None,
    shards: int,
    model_base_url: str | None,
    model_args: tuple[str, ...],
    generation: tuple[str, ...],
    time_limit: int | None,
    token_limit: int | None,
    rerun: int,
    no_check: bool,
    levels: bool,
    display: str | None,
    timeout: int | None,
    **config: Any,
) -> None:
    """Evaluate models on tasks.

    TASK is the name of a task, or the id of an environment to play it with all of its options. To resume an
    interrupted run, run the same command again: it continues where the run stopped.
    """
    entries = [*map(find_task, dict.fromkeys(tasks))]
    searches = any(entry.searches for entry in entries)
    names = ", ".join(entry.name for entry in entries)[:200]
    if probe is not None and not any(option.name == PROBE for entry in entries for option in entry.options):
        raise UsageError(
            f"--probe: there are no belief probes in {names}: no state is declared that follows from what a player was "
            "shown; leave the option out"
        )
    if precision is not None and not searches:
        raise UsageError(f"--precision: no search for a horizon is among {names}; leave the option out")
    settings = generation_settings(generation, {name: value for name, value in config.items() if value is not None})
    if budget != NO_BUDGET:
        read_budget(budget)  # what is no budget is refused even where it limits nothing
    planned = budget if searches and budget != NO_BUDGET else None
    given = task_parameters(
        parameters,
        agent=agent,
        probe=probe,
        prefix=prefix,
        think_tags=think_tags and joined_think_tags(*think_tags),
        limit=limit,
        attempts=attempts,
        precision=precision,
        budget=planned,
    )
    known = read_prices(prices) if prices else {}
    chosen, partly = runs_of(entries, given, combinations(each, given), prices)
    for line in partly if len(entries) > 1 else ():
        click.echo(line, err=True)
    from waybench.eval import RunProgress, check_folder, check_player  # seconds to import

    engine = chosen_executor(executor_name, address, gpus_per_model or 0)
    if engine is None and shards > 1:
        raise UsageError("--shards: without an executor there is one job only; add --executor, or use -T shard=1/2")
    is_local = not is_url(out)
    if is_local:
        check_folder(Path(out))
    if not quote_only:
        _ = prepare_folder(Path(out)) if is_local else Folder(out).check()
    for model in models:
        if model.startswith("waybench/"):
            check_player(model.removeprefix("waybench/"), [env for entry, _ in chosen for env in entry.envs])
    quotes, opening = _quoted(chosen, models, known, quote_only=quote_only)
    to_last_level = {name: found.to_last_level for name, found in quotes if found.to_last_level is not None}
    limit_of_run = run_budget(budget, entries, models, known, to_last_level)
    if limit_of_run.note:
        opening.append(limit_of_run.note)
    if quote_only:
        if limit_of_run.note:
            click.echo(limit_of_run.note)
        return
    whole = RunPart(
        tuple((entry.name, args) for entry, args in chosen),
        models,
        out,
        {
            "model_base_url": model_base_url,
            "model_args": model_arguments(model_args),
            "config": {**settings, **({"attempt_timeout": timeout} if timeout else {})},
            "limits": {"time_limit": time_limit, "token_limit": token_limit},
            "rerun": rerun,
            "check": not no_check,
        },
        limit_of_run,
        known,
    )
    if engine is not None:
        if not is_on_this_machine(engine):
            refuse_secrets(whole)
        parts = _with_budgets(
            split(whole, by_task=not gpus_per_model, shards=shards), to_last_level, is_given=budget is not None
        )
        for line in opening:
            click.echo(line, err=True)
        _run_with(engine, parts, known, levels=levels)
        return
    progress = RunProgress(
        prices=known,
        budget=limit_of_run.amount,
        in_dollars=limit_of_run.in_dollars,
        budget_tasks=limit_of_run.tasks,
        opening=opening,
        most_requests=sum(found.requests for _, found in quotes),
    )
    made, more = part_arguments(whole)
    try:
        with nullcontext(Path(out)) if is_local else part_folder(whole, progress.notes.append) as folder:
            unfinished = evaluate_shown(made, models, folder, **more, display=display, progress=progress)
    except KeyboardInterrupt:
        click.echo(progress.interrupted_text, err=True)
        raise
    if progress.budget_is_spent:
        click.echo(progress.interrupted_text, err=True)
    _summarise(out, known, () if progress.budget_is_spent else unfinished, levels=levels)
    if unfinished:
        sys.exit(1)


def _quoted(
    chosen: Sequence[tuple[TaskEntry, Mapping[str, Any]]],
    models: Sequence[str],
    prices: Mapping[str, Price],
    *,
    quote_only: bool,
) -> "tuple[list[tuple[str, TaskQuote]], list[str]]":
    """Print what tasks ask of each model, for searches and for `--quote`.

    Returns:
        The quotes by the tasks' names, and the lines on the other tasks, which are shown when the run begins.
    """
    from waybench.tasks import TaskQuote

    quotes: list[tuple[str, TaskQuote]] = []
    opening: list[str] = []
    paid = [model for model in models if not model.startswith("waybench/")]  # embedded players cost nothing
    for entry, args in chosen:
        if not paid and not quote_only and not entry.searches:
            continue
        found = TaskQuote(entry, args)
        quotes.append((entry.name, found))
        if quote_only or entry.searches:
            for line in quote_lines(entry.name, found, models, prices):
                click.echo(line)
        else:
            opening += quote_lines(entry.name, found, paid, prices)
    return quotes, opening


def _with_budgets(parts: Sequence[RunPart], to_last_level: Mapping[str, float], *, is_given: bool) -> list[RunPart]:
    """Return the parts of a run, each with its own budget.

    Args:
        parts: The parts with the budget of the whole run.
        to_last_level: Of each task that climbs, the tokens that an optimal player needs up to the last level.
        is_given: Whether the budget was given, so that the parts share it; otherwise it is that of each task that
            climbs, for each model.
    """
    if parts[0].budget.amount is None:
        return list(parts)
    if is_given:
        shared = parts[0].budget._replace(amount=parts[0].budget.amount / len(parts))
        return [replace(part, budget=shared) for part in parts]
    own = [[find_task(name) for name, _ in part.tasks] for part in parts]
    return [
        replace(part, budget=run_budget(None, some, part.models, part.prices, to_last_level))
        for some, part in zip(own, parts, strict=True)
    ]


def _run_with(engine: Executor, parts: Sequence[RunPart], prices: Mapping[str, Price], *, levels: bool) -> None:
    """Run a run's parts where an executor runs them."""
    try:
        unfinished = run_parts(parts, engine)
    except KeyboardInterrupt:
        click.echo("Interrupted. What is finished is kept. To resume, run the same command again.", err=True)
        raise
    if engine.is_whole:
        _summarise(parts[0].out, prices, unfinished, levels=levels)
    if unfinished:
        sys.exit(1)


def _summarise(out: str, prices: Mapping[str, Price], unfinished: Sequence[str], *, levels: bool) -> None:
    """Print the summary of a run, whose folder may be elsewhere."""
    folder = local_copy(out, cache_dir()) if is_url(out) else Path(out)
    print_summary(folder, prices, unfinished, levels=levels, shown=out)
