"""`waybench generate` in shards, and `waybench shards`, which verifies them and counts duplicates."""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast

import click

from waybench.cli._items import ItemChoices, line_writer
from waybench.cli._options import (
    ADDRESS,
    EXECUTOR,
    PRIVATE_KEY_IN_JOB,
    ItemSettings,
    argument,
    chosen_executor,
    option,
    with_parameters,
)
from waybench.cli._output import MOST_SKIPPED, size_text, to_stderr
from waybench.core import Json, UsageError, is_public_key, plural
from waybench.evaluation.tasks import resolve_environment
from waybench.ext.scale._executors import Executor, is_on_this_machine
from waybench.ext.scale.shards._files import DIGEST, ShardFolder
from waybench.ext.scale.shards._shards import (
    FORMATS,
    Count,
    NumberRange,
    Shard,
    ShardCheck,
    ShardPlan,
    count_distinct_hashes,
    count_items_in_manifest,
    divide_into_hash_ranges,
    finished_shards,
    has_same_description,
    problem_of_shard,
    read_manifest,
    remove_shard,
    sum_counts,
    write_description,
    write_manifest,
    write_shard,
)

SIZE, LARGE_SIZE = 10_000, 100_000  # items of a shard by default; the latter for sets of ten million items or more
_LARGE_SET = 10_000_000
_SAMPLE, _SAMPLE_SECONDS = 200, 2.0  # items that are made to estimate the rest, and the time that they may take
_PROGRESS_EVERY = 10.0  # seconds between two lines of progress


@dataclass(frozen=True)
class Request:
    """What the command's options say of the items and their lines; a key is only a reference where it is private.

    Attributes:
        env: An environment, its family or a task.
        kind: "instances", "prompts" or "solutions".
        split: The split whose items are meant.
        player: Who plays solutions.
        reasoning: Where the reasoning is in solutions.
        file_format: "jsonl" or "parquet".
    """

    env: str
    settings: ItemSettings
    kind: str
    split: str | None
    player: str
    reasoning: str
    file_format: str

    def choices(self) -> ItemChoices:
        """Return the items that the request names."""
        protocol = "paper" if self.kind == "instances" else None
        return ItemChoices(self.env, self.settings, protocol, self.split)

    def rows(self, items: NumberRange) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the hash and the lines of each item in a range."""
        choices, lines = _cached_choices(self), line_writer(self.kind, self.player, self.reasoning)
        for index in range(items.first, items.first + items.size):
            choice = choices.choose(index)
            yield choice.item.instance.hash, lines(choice)


@lru_cache(maxsize=1)
def _cached_choices(request: Request) -> ItemChoices:
    return request.choices()


class ShardJob(NamedTuple):
    """One shard to make.

    Attributes:
        existing: The shard if it existed when the jobs were listed, so that nothing is left to do; else None.
    """

    request: Request
    place: str
    items: NumberRange
    existing: Shard | None


def make_shard(job: ShardJob) -> Shard:
    """Return the shard of a job; write it if it does not exist."""
    if job.existing is not None:
        return job.existing
    return write_shard(ShardFolder(job.place), job.items, job.request.rows(job.items), job.request.file_format)


def default_shard_size(item_count: int) -> int:
    """Return the default number of items in a shard, for a set of this size."""
    return LARGE_SIZE if item_count >= _LARGE_SET else SIZE


def generate_shards(
    request: Request, folder: str, plan: ShardPlan, executor: Executor, number: int | None = None
) -> None:
    """Write the missing shards of a set, and its manifest when all exist; or only the shard with a number."""
    key = request.settings.key_reference
    if (
        key is not None
        and not key.startswith(("env:", "file:"))
        and not is_on_this_machine(executor)
        and not is_public_key(key, resolve_environment(request.env).items.public_key)
    ):
        raise UsageError(f"{PRIVATE_KEY_IN_JOB} --key env:NAME")
    description = _set_description(request, plan)
    store = ShardFolder(folder)
    is_described = has_same_description(store, description)
    n_in_manifest = count_items_in_manifest(store)
    if n_in_manifest is not None and n_in_manifest > plan.count:
        raise UsageError(
            f"{store.shown} has {n_in_manifest:,} items: give --count {n_in_manifest} or more, or choose another folder"
        )
    shard_by_range = finished_shards(store, FORMATS[request.file_format])
    n_planned = plan.items_of_shard(number).size if number is not None else plan.count
    numbers = range(len(plan)) if number is None else [number]
    n_items = n_planned - sum(
        shard_range.size for shard_range in shard_by_range if plan.shard_number(shard_range) in numbers
    )
    if n_items:
        _check_free_space(request, store, plan, n_items)
    if not is_described:
        write_description(store, description)
    jobs = [
        ShardJob(request, store.place, shard_range, shard_by_range.get(shard_range))
        for shard_range in map(plan.items_of_shard, numbers)
    ]
    missing = [job for job in jobs if job.existing is None]
    if number is not None:
        to_stderr(f"waybench: shard {number}: items/{make_shard(jobs[0]).name}")
        return
    # Where other processes run jobs, each of them must list the same ones; here, only what is missing is handed over.
    _make_shards(executor, missing if executor.is_whole else jobs)
    if not executor.is_whole:  # another process finishes the set
        return
    if not missing and n_in_manifest == plan.count:
        to_stderr(f"waybench: all {plural(len(plan), 'shard')} are there: nothing to do")
        return
    _finish_set(store, description, plan, executor, FORMATS[request.file_format])


def _finish_set(
    store: ShardFolder, description: Mapping[str, Json], plan: ShardPlan, executor: Executor, ending: str
) -> None:
    """Remove superseded shards, count duplicates, and write the manifest."""
    shard_by_range = finished_shards(store, ending)
    n_lost = sum(plan.items_of_shard(number) not in shard_by_range for number in range(len(plan)))
    if n_lost:
        raise UsageError(f"{store.shown}: {plural(n_lost, 'shard')} are gone again: run the same command once more")
    shards = [shard_by_range[plan.items_of_shard(number)] for number in range(len(plan))]
    for shard in shard_by_range.values():
        # A shard that begins where a planned one does, but is shorter, was the last one of a smaller set.
        planned_range = plan.items_of_shard(min(max(0, (shard.range.first - plan.start) // plan.size), len(plan) - 1))
        if shard.range.first == planned_range.first and shard.range.size < planned_range.size:
            remove_shard(store, shard)
    store.remove_scratch_folders()
    count = count_duplicates([store.place], [shards], executor)
    write_manifest(store, description, shards, different=count.different)
    size = size_text(sum(shard.bytes for shard in shards))
    n_repeated = count.items - count.different
    to_stderr(
        f"waybench: {count.items:,} items in {plural(len(shards), 'shard')}, {size}; "
        f"{f'{n_repeated:,} repeated' if n_repeated else 'no item twice'}"
    )


def count_duplicates(places: Sequence[str], shards: Sequence[Sequence[Shard]], executor: Executor) -> Count:
    """Count the different items in sets, where each range of hashes is one job."""
    return sum_counts(
        count for _, count in executor.map(count_distinct_hashes, divide_into_hash_ranges(places, shards))
    )


def _make_shards(executor: Executor, jobs: Sequence[ShardJob]) -> None:
    """Write shards on an executor, and print the progress."""
    began = last_line = time.monotonic()
    n_done, n_items = 0, sum(job.items.size for job in jobs if job.existing is None)
    for n_shards, (index, _) in enumerate(executor.map(make_shard, jobs), start=1):
        n_done += jobs[index].items.size if jobs[index].existing is None else 0
        now = time.monotonic()
        if n_done and now - last_line >= _PROGRESS_EVERY:
            last_line, rate = now, n_done / (now - began)
            time_left = rough_duration_text((n_items - n_done) / rate)
            to_stderr(f"waybench: {n_shards:,} of {len(jobs):,} shards, {rate:,.0f} items/s, {time_left} left")


def _set_description(request: Request, plan: ShardPlan) -> dict[str, Json]:
    """Return all settings on which the content of a set's shards depends; a private key only by name."""
    if not plan.count:
        raise UsageError("--count 0: give the number of items that the shards have together")
    choices = _cached_choices(request)
    if choices.is_list:
        raise UsageError("shards are made by key and level: leave the task's parameters out")
    if choices.space is not None and plan.start + plan.count > choices.space:
        raise UsageError(
            f"there are only {plural(choices.space, 'different item')}: give --count {choices.space} at most, or "
            "leave the options of shards out, which writes each once"
        )
    choice = choices.choose(plan.start)
    is_chat = request.kind != "instances"
    return {
        "env": choice.environment.id,
        "version": choice.environment.version,
        "level": choice.item.level,
        "key": choice.item.key_label,
        "settings": dict(choice.settings),
        "options": dict(choice.options) if is_chat else {},
        "kind": request.kind,
        "split": request.split,
        "player": request.player if request.kind == "solutions" else None,
        "reasoning": request.reasoning if request.kind == "solutions" else None,
        "format": request.file_format,
        "start": plan.start,
        "shard_size": plan.size,
    }


def _check_free_space(request: Request, store: ShardFolder, plan: ShardPlan, n_items: int) -> None:
    """Print the estimated size and time of the missing shards; raise a UsageError if they do not fit."""
    bytes_per_item, seconds_per_item = _cost_per_item(request, plan)
    needed_bytes = (bytes_per_item + DIGEST) * n_items
    n_shards = -(-n_items // plan.size)  # rounded up
    to_stderr(
        f"waybench: {n_items:,} items in {plural(n_shards, 'shard')}: about {size_text(needed_bytes)} "
        f"and {rough_duration_text(seconds_per_item * n_items)} of processor time"
    )
    free_bytes = store.free_bytes()
    if free_bytes is not None and needed_bytes > free_bytes:
        raise UsageError(
            f"{store.shown} needs about {size_text(needed_bytes)}, and {size_text(free_bytes)} are free: choose "
            "another folder, or a smaller --count"
        )


def _cost_per_item(request: Request, plan: ShardPlan) -> tuple[float, float]:
    """Return the bytes and seconds of an item, from a sample of the set."""
    step = max(1, plan.count // _SAMPLE)
    with tempfile.TemporaryDirectory(prefix="waybench-") as folder:
        began, n_sampled = time.process_time(), 0

        def sampled_rows() -> Iterator[tuple[str, Iterator[str]]]:
            """Yield the rows of items at equal distances, and count them, until the time for a sample is over."""
            nonlocal n_sampled
            for index in range(plan.start, plan.start + plan.count, step):
                n_sampled += 1
                yield from request.rows(NumberRange(index, 1))
                if time.process_time() - began > _SAMPLE_SECONDS:
                    return

        shard = write_shard(
            ShardFolder(folder), NumberRange(plan.start, n_sampled), sampled_rows(), request.file_format
        )
    return shard.bytes / n_sampled, (time.process_time() - began) / n_sampled


def rough_duration_text(seconds: float) -> str:
    """Return a duration in hours, minutes or seconds."""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"


_COMMON_FIELDS = ("env", "version", "level", "key")  # what each row of a set has, as its description says
_EXAMPLES = """\b
waybench shards items/train
waybench shards s3://bucket/train s3://bucket/test --executor ray --address auto"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def shards(
    places: tuple[str, ...] = argument("FOLDER...", required=True),
    executor_name: str | None = EXECUTOR,
    address: str = ADDRESS,
    quick: bool = option("Do not read the items: compare names and sizes, and count duplicates."),
) -> None:
    """Verify sets that `waybench generate` wrote as shards, and count how many of their items are different.

    Of each FOLDER (or URL), every shard is read and compared with the manifest: the hash of the file, the number of
    items, and the hashes of the items. Then duplicates are counted exactly, within each set and over all of them,
    whatever their keys, in bounded memory. The exit status is 1 if anything is wrong.
    """
    names = [path.rstrip("/") for path in places]
    if len(set(names)) < len(names):
        raise UsageError("a folder is named twice: name each once")
    executor = chosen_executor(executor_name or "processes", address)
    if executor is None or not executor.is_whole:
        raise UsageError("the counts of all parts are needed here: use --executor processes or ray")
    paths: list[str] = []
    sets: list[list[Shard]] = []
    all_problems: list[str] = []
    for name in names:
        store = ShardFolder(name)
        paths.append(store.place)
        manifest, shards_of_set = read_manifest(store)
        sets.append(shards_of_set)
        if quick:
            problems = _size_problems(store, shards_of_set)
        else:
            problems = _content_problems(store.place, manifest, shards_of_set, executor)
        all_problems += [f"{name}/{problem}" for problem in problems]
        items_text = (
            f"{sum(shard.range.size for shard in shards_of_set):,} items in {plural(len(shards_of_set), 'shard')}"
        )
        state_text = plural(len(problems), "problem") if problems else "sizes agree" if quick else "verified"
        click.echo(f"{name}: {items_text}, {size_text(sum(shard.bytes for shard in shards_of_set))}: {state_text}")
    for problem in all_problems[:MOST_SKIPPED]:
        click.echo(problem)
    if len(all_problems) > MOST_SKIPPED:
        click.echo(f"and {len(all_problems) - MOST_SKIPPED} more")
    if all_problems:
        click.echo("remove these files, and generate the set again: what is left is kept")
        sys.exit(1)
    count = count_duplicates(paths, sets, executor)
    click.echo(f"{count.items:,} items, {count.different:,} different, {count.items - count.different:,} repeated")
    if len(names) > 1:
        for name, n_different in zip(names, count.of_sets, strict=True):
            click.echo(f"  {name}: {n_different:,} different")
        click.echo(f"  in two or more sets: {count.shared:,}")


def _content_problems(folder: str, manifest: dict[str, Json], shards: Sequence[Shard], executor: Executor) -> list[str]:
    """Return the problems of shards whose content differs from the manifest."""
    description = cast("dict[str, Json]", manifest["set"])
    expected = tuple((name, description[name]) for name in _COMMON_FIELDS)
    jobs = [ShardCheck(folder, shard, expected) for shard in shards]
    results = dict(executor.map(problem_of_shard, jobs))
    return [problem for index in sorted(results) if (problem := results[index]) is not None]


def _size_problems(store: ShardFolder, shards: Sequence[Shard]) -> list[str]:
    """Return the problems of shards that are missing or have another size than in the manifest."""
    sizes = store.file_sizes_by_name("items")
    return [
        f"items/{shard.name}: {'missing' if shard.name not in sizes else f'{sizes[shard.name]:,} bytes'}"
        for shard in shards
        if sizes.get(shard.name) != shard.bytes
    ]
