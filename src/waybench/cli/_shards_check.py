"""`waybench shards`: verify sets of shards, and count duplicates over them."""

import sys
from collections.abc import Sequence
from typing import cast

import click

from waybench.cli._executor import ADDRESS, EXECUTOR, chosen_executor
from waybench.cli._options import argument, option, with_parameters
from waybench.cli._output import MOST_SKIPPED, size_text
from waybench.cli._shards import count_duplicates
from waybench.core import Json, UsageError, plural
from waybench.scale import Executor
from waybench.shards import Count, Shard, Store, ToCheck, check_shard, read_manifest

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
    names = [place.rstrip("/") for place in places]
    if len(set(names)) < len(names):
        raise UsageError("a folder is named twice: name each once")
    engine = chosen_executor(executor_name or "processes", address)
    if engine is None or not engine.is_whole:
        raise UsageError("the counts of all parts are needed here: use --executor processes or ray")
    paths: list[str] = []
    sets: list[list[Shard]] = []
    found: list[str] = []
    for place in names:
        store = Store(place)
        paths.append(store.place)
        manifest, listed = read_manifest(store)
        sets.append(listed)
        problems = _sizes(store, listed) if quick else _problems(store.place, manifest, listed, engine)
        found += [f"{place}/{problem}" for problem in problems]
        said = f"{sum(one.range.size for one in listed):,} items in {plural(len(listed), 'shard')}"
        state = plural(len(problems), "problem") if problems else "sizes agree" if quick else "verified"
        click.echo(f"{place}: {said}, {size_text(sum(one.bytes for one in listed))}: {state}")
    for problem in found[:MOST_SKIPPED]:
        click.echo(problem)
    if len(found) > MOST_SKIPPED:
        click.echo(f"and {len(found) - MOST_SKIPPED} more")
    if found:
        click.echo("remove these files, and generate the set again: what is left is kept")
        sys.exit(1)
    _tell_duplicates(names, count_duplicates(paths, sets, engine))


def _tell_duplicates(places: Sequence[str], count: Count) -> None:
    click.echo(f"{count.items:,} items, {count.different:,} different, {count.items - count.different:,} repeated")
    if len(places) > 1:
        for place, different in zip(places, count.of_sets, strict=True):
            click.echo(f"  {place}: {different:,} different")
        click.echo(f"  in two or more sets: {count.shared:,}")


def _problems(place: str, manifest: dict[str, Json], listed: Sequence[Shard], engine: Executor) -> list[str]:
    described = cast("dict[str, Json]", manifest["set"])
    expected = tuple((name, described[name]) for name in _SHARED)
    jobs = [ToCheck(place, shard, expected) for shard in listed]
    results = dict(engine.map(check_shard, jobs))
    return [problem for index in sorted(results) if (problem := results[index]) is not None]


def _sizes(store: Store, listed: Sequence[Shard]) -> list[str]:
    there = store.listed("items")
    return [
        f"items/{shard.name}: {'missing' if shard.name not in there else f'{there[shard.name]:,} bytes'}"
        for shard in listed
        if there.get(shard.name) != shard.bytes
    ]
