"""The environment of questions about maps, and the options that several kinds of questions have."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from waybench.core import Environment, Json, Option, Play
from waybench.envs.textmap.map import MapInstance, map_name, published_steps
from waybench.envs.textmap.questions._datasets import PUBLIC_KEY, Ask, MakeSource, MakeSourceWithCutoff, MapItems
from waybench.envs.textmap.questions._score import PAPER, SOUND
from waybench.envs.textmap.worlds import LOWEST_CLASS, WORLD_OPTIONS

Q = TypeVar("Q", bound=MapInstance)
S = TypeVar("S")
A = TypeVar("A")

LISTS = ("all", "seen")


def map_environment(
    kind: str,
    *,
    decode: Callable[[Json], Q],
    play: Callable[..., Play[Q, S, A]],
    source_options: tuple[Option, ...],
    make_source: MakeSource,
    prove: Callable[[Q], Mapping[str, Json]],
    ask: Ask,
    limit: tuple[int, str],
    items_per_limit: int = 1,
    make_source_with_cutoff: MakeSourceWithCutoff | None = None,
    version: int = 1,
    sample_levels: tuple[int, ...] = (1, 2, 3),
    **fields: Any,
) -> Environment[Q, S, A]:
    """Return an environment of questions about maps.

    Args:
        kind: The part of the id after the slash.
        decode: JSON -> instance.
        play: Options, as keywords -> how an episode is played.
        source_options: Options of the choice of questions, in addition to those of worlds.
        make_source: (key, level, source options) -> items about worlds.
        prove: Instance -> facts about its solution.
        ask: (map, last step that is shown, stream, parameters of a task) -> instances.
        limit: Default and documentation of the task parameter `limit`, the number of questions about each map.
        items_per_limit: Items of a world for each unit of `limit`; 0 if a world is one item.
        make_source_with_cutoff: (key, level, source options, cutoff function) -> items, if tokens can limit the prefix.
        version: The environment's version.
        sample_levels: Some levels, easiest first.
        **fields: Other fields of the `Environment`.
    """
    cached_play = lru_cache(maxsize=64)(play)
    all_source_options = (*WORLD_OPTIONS, *source_options)
    items = MapItems(
        env_id=f"textmap/{kind}",
        ask=ask,
        limit=limit,
        items_per_limit=items_per_limit,
        source_options=all_source_options,
        make_source=make_source,
        make_source_with_cutoff=make_source_with_cutoff,
        decode=decode,
        prove=prove,
    )
    return Environment(
        id=f"textmap/{kind}",
        version=version,
        source_options=all_source_options,
        smallest_level=LOWEST_CLASS,
        sample_levels=sample_levels,
        public_key=PUBLIC_KEY,
        make_source=make_source,
        datasets=items.datasets,
        prove=prove,
        play=lambda options: cached_play(**options),
        decode=decode,
        pooled=True,
        cluster=map_name,
        implied=published_steps,
        **fields,
    )


def protocol_option(doc: str) -> Option:
    """Return the option that selects the protocol."""
    return Option(name="protocol", default=PAPER.name, choices=(PAPER.name, SOUND.name), doc=doc)


def lists_option(doc: str) -> Option:
    """Return the option that selects the listed names: all of the map, or those seen in the prefix."""
    return Option(name="lists", default=None, kind=str, choices=LISTS, doc=doc)


def listed_names(protocol: str, lists: str | None) -> str:
    """Return the value of the option `lists`, with the default of the protocol."""
    return lists or ("all" if protocol == PAPER.name else "seen")


def prefix_option(doc: str, low: int = 1) -> Option:
    """Return the source option for the number of steps that are shown."""
    return Option(name="prefix_steps", default=None, kind=int, low=low, high=5_000, doc=doc)


def questions_option(doc: str, default: int = 10, high: int = 1_000) -> Option:
    """Return the source option for the number of questions about each world."""
    return Option(name="questions", is_count=True, default=default, low=1, high=high, doc=doc)
