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
from waybench.cli._output import MOST_SKIPPED, size_text
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
_LARGE = 10_000_000
_SAMPLE, _SAMPLE_SECONDS = 200, 2.0  # items that are made to estimate the rest, and the time that they may take
_QUIET = 10.0  # seconds between two lines of progress


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
        made: The shard, if it was there when the jobs were listed: then nothing is left to do.
    """

    request: Request
    place: str
    items: NumberRange
    made: Shard | None


def make_shard(job: ShardJob) -> Shard:
    """Return the shard of a job; write it if it does not exist."""
    if job.made is not None:
        return job.made
    return write_shard(ShardFolder(job.place), job.items, job.request.rows(job.items), job.request.file_format)


def default_shard_size(item_count: int) -> int:
    """Return the default number of items in a shard, for a set of this size."""
    return LARGE_SIZE if item_count >= _LARGE else SIZE


def generate_shards(request: Request, folder: str, plan: ShardPlan, engine: Executor, only: int | None = None) -> None:
    """Write the missing shards of a set (or `only` one of them), and the manifest when all exist."""
    key = request.settings.key_reference
    if (
        key is not None
        and not key.startswith(("env:", "file:"))
        and not is_on_this_machine(engine)
        and not is_public_key(key, resolve_environment(request.env).items.public_key)
    ):
        raise UsageError(f"{PRIVATE_KEY_IN_JOB} --key env:NAME")
    description = _set_description(request, plan)
    store = ShardFolder(folder)
    is_described = has_same_description(store, description)
    held = count_items_in_manifest(store)
    if held is not None and held > plan.count:
        raise UsageError(f"{store.shown} has {held:,} items: give --count {held} or more, or choose another folder")
    there = finished_shards(store, FORMATS[request.file_format])
    planned = plan.items_of_shard(only).size if only is not None else plan.count
    numbers = range(len(plan)) if only is None else [only]
    items = planned - sum(shard_range.size for shard_range in there if plan.shard_number(shard_range) in numbers)
    if items:
        _check_free_space(request, store, plan, items)
    if not is_described:
        write_description(store, description)
    jobs = [
        ShardJob(request, store.place, shard_range, there.get(shard_range))
        for shard_range in map(plan.items_of_shard, numbers)
    ]
    missing = [job for job in jobs if job.made is None]
    if only is not None:
        click.echo(f"waybench: shard {only}: items/{make_shard(jobs[0]).name}", err=True)
        return
    # Where other processes run jobs, each of them must list the same ones; here, only what is missing is handed over.
    _make_shards(engine, missing if engine.is_whole else jobs)
    if not engine.is_whole or (not missing and held == plan.count):
        if engine.is_whole:
            click.echo(f"waybench: all {plural(len(plan), 'shard')} are there: nothing to do", err=True)
        return
    _finish_set(store, description, plan, engine, FORMATS[request.file_format])


def _finish_set(
    store: ShardFolder, description: Mapping[str, Json], plan: ShardPlan, engine: Executor, ending: str
) -> None:
    """Remove superseded shards, count duplicates, and write the manifest."""
    there = finished_shards(store, ending)
    lost = sum(plan.items_of_shard(number) not in there for number in range(len(plan)))
    if lost:
        raise UsageError(f"{store.shown}: {plural(lost, 'shard')} are gone again: run the same command once more")
    shards = [there[plan.items_of_shard(number)] for number in range(len(plan))]
    for shard in there.values():
        full = plan.items_of_shard(min(max(0, (shard.range.first - plan.start) // plan.size), len(plan) - 1))
        if shard.range.first == full.first and shard.range.size < full.size:
            remove_shard(store, shard)  # the last shard of a smaller set, which a full one has replaced
    store.remove_scratch_folders()
    count = count_duplicates([store.place], [shards], engine)
    write_manifest(store, description, shards, different=count.different)
    size = size_text(sum(shard.bytes for shard in shards))
    repeated = count.items - count.different
    click.echo(
        f"waybench: {count.items:,} items in {plural(len(shards), 'shard')}, {size}; "
        f"{f'{repeated:,} repeated' if repeated else 'no item twice'}",
        err=True,
    )


def count_duplicates(places: Sequence[str], shards: Sequence[Sequence[Shard]], engine: Executor) -> Count:
    """Count the different items in sets, where each range of hashes is one job."""
    return sum_counts(count for _, count in engine.map(count_distinct_hashes, divide_into_hash_ranges(places, shards)))


def _make_shards(engine: Executor, jobs: Sequence[ShardJob]) -> None:
    """Write shards on an executor, and print the progress."""
    began = last_line = time.monotonic()
    done, items = 0, sum(job.items.size for job in jobs if job.made is None)
    for number, (index, _) in enumerate(engine.map(make_shard, jobs), start=1):
        done += jobs[index].items.size if jobs[index].made is None else 0
        now = time.monotonic()
        if done and now - last_line >= _QUIET:
            last_line, rate = now, done / (now - began)
            remaining = rough_duration_text((items - done) / rate)
            click.echo(f"waybench: {number:,} of {len(jobs):,} shards, {rate:,.0f} items/s, {remaining} left", err=True)


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
    chats = request.kind != "instances"
    return {
        "env": choice.environment.id,
        "version": choice.environment.version,
        "level": choice.item.level,
        "key": choice.item.key_label,
        "settings": dict(choice.settings),
        "options": dict(choice.options) if chats else {},
        "kind": request.kind,
        "split": request.split,
        "player": request.player if request.kind == "solutions" else None,
        "reasoning": request.reasoning if request.kind == "solutions" else None,
        "format": request.file_format,
        "start": plan.start,
        "shard_size": plan.size,
    }


def _check_free_space(request: Request, store: ShardFolder, plan: ShardPlan, items: int) -> None:
    """Print the estimated size and time of the missing shards; raise a UsageError if they do not fit."""
    of_file, seconds = _cost_per_item(request, plan)
    need = (of_file + DIGEST) * items
    click.echo(
        f"waybench: {items:,} items in {plural(-(-items // plan.size), 'shard')}: about {size_text(need)} "
        f"and {rough_duration_text(seconds * items)} of processor time",
        err=True,
    )
    room = store.free_bytes()
    if room is not None and need > room:
        raise UsageError(
            f"{store.shown} needs about {size_text(need)}, and {size_text(room)} are free: choose another folder, or a "
            "smaller --count"
        )


def _cost_per_item(request: Request, plan: ShardPlan) -> tuple[float, float]:
    """Return the bytes and seconds of an item, from a sample of the set."""
    step = max(1, plan.count // _SAMPLE)
    with tempfile.TemporaryDirectory(prefix="waybench-") as folder:
        began, number = time.process_time(), 0

        def sampled_rows() -> Iterator[tuple[str, Iterator[str]]]:
            nonlocal number
            for first in range(plan.start, plan.start + plan.count, step):
                number += 1
                yield from request.rows(NumberRange(first, 1))
                if time.process_time() - began > _SAMPLE_SECONDS:
                    return

        shard = write_shard(ShardFolder(folder), NumberRange(plan.start, number), sampled_rows(), request.file_format)
    return shard.bytes / number, (time.process_time() - began) / number


def rough_duration_text(seconds: float) -> str:
    """Return a duration in hours, minutes or seconds."""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"


_SHARED = ("env", "version", "level", "key")  # what each row of a set has, as its description says
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
    engine = chosen_executor(executor_name or "processes", address)
    if engine is None or not engine.is_whole:
        raise UsageError("the counts of all parts are needed here: use --executor processes or ray")
    paths: list[str] = []
    sets: list[list[Shard]] = []
    all_problems: list[str] = []
    for name in names:
        store = ShardFolder(name)
        paths.append(store.place)
        manifest, members = read_manifest(store)
        sets.append(members)
        if quick:
            problems = _size_problems(store, members)
        else:
            problems = _content_problems(store.place, manifest, members, engine)
        all_problems += [f"{name}/{problem}" for problem in problems]
        items = f"{sum(shard.range.size for shard in members):,} items in {plural(len(members), 'shard')}"
        state = plural(len(problems), "problem") if problems else "sizes agree" if quick else "verified"
        click.echo(f"{name}: {items}, {size_text(sum(shard.bytes for shard in members))}: {state}")
    for problem in all_problems[:MOST_SKIPPED]:
        click.echo(problem)
    if len(all_problems) > MOST_SKIPPED:
        click.echo(f"and {len(all_problems) - MOST_SKIPPED} more")
    if all_problems:
        click.echo("remove these files, and generate the set again: what is left is kept")
        sys.exit(1)
    count = count_duplicates(paths, sets, engine)
    click.echo(f"{count.items:,} items, {count.different:,} different, {count.items - count.different:,} repeated")
    if len(names) > 1:
        for name, different in zip(names, count.of_sets, strict=True):
            click.echo(f"  {name}: {different:,} different")
        click.echo(f"  in two or more sets: {count.shared:,}")


def _content_problems(folder: str, manifest: dict[str, Json], shards: Sequence[Shard], engine: Executor) -> list[str]:
    """Return the problems of shards whose content differs from the manifest."""
    described = cast("dict[str, Json]", manifest["set"])
    expected = tuple((name, described[name]) for name in _SHARED)
    jobs = [ShardCheck(folder, shard, expected) for shard in shards]
    results = dict(engine.map(problem_of_shard, jobs))
    return [problem for index in sorted(results) if (problem := results[index]) is not None]


def _size_problems(store: ShardFolder, shards: Sequence[Shard]) -> list[str]:
    """Return the problems of shards that are missing or have another size than in the manifest."""
    sizes = store.file_sizes_by_name("items")
    return [
        f"items/{shard.name}: {'missing' if shard.name not in sizes else f'{sizes[shard.name]:,} bytes'}"
        for shard in shards
        if sizes.get(shard.name) != shard.bytes
    ]
