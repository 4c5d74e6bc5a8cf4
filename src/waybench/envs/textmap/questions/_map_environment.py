"""The environment of questions about maps, and the options that several kinds of questions have."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from waybench.core import Environment, Items, Json, Option, Play, Playing
from waybench.envs.textmap.map import MapInstance, map_name, published_steps
from waybench.envs.textmap.questions._answers import PAPER, SOUND
from waybench.envs.textmap.questions._datasets import PUBLIC_KEY, MapItems
from waybench.envs.textmap.worlds import WORLD_OPTIONS, Ask, CutoffFunction, WorldItems

Q = TypeVar("Q", bound=MapInstance)
S = TypeVar("S")
A = TypeVar("A")

LISTS = ("all", "seen")


def map_environment(
    kind: str,
    *,
    play: Callable[..., Play[Q, S, A]],
    options: tuple[Option, ...],
    source_options: tuple[Option, ...],
    decode: Callable[[Json], Q],
    resolve_references: Callable[[Json, Callable[[str, str], Path]], Json],
    prove: Callable[[Q], Mapping[str, Json]],
    ask: Ask[Q],
    purpose: tuple[str, ...],
    limit: tuple[int, str],
    is_one_item: bool = False,
    takes_tokens: bool = False,
    isomorph: Callable[[Q, str, int], Q] | None = None,
    takes_context: bool = False,
    sample_levels: tuple[int, ...] = (1, 2, 3),
    version: int = 1,
    **fields: Any,
) -> Environment[Q, S, A]:
    """Return an environment of questions about maps.

    Args:
        kind: The part of the id after the slash.
        play: Options, as keywords -> how an episode is played.
        options: The options of play.
        source_options: Options of the choice of questions, in addition to those of worlds.
        decode: JSON -> instance.
        resolve_references: Puts published maps in the place of their names (see `Items`).
        prove: Instance -> facts about its solution.
        ask: Makes the instances about a map.
        purpose: Beginning of the keys of the random streams for generated worlds.
        limit: Default and documentation of the task parameter `limit`, the number of questions about each map.
        is_one_item: Whether a world is one item with all questions, and not one for each question.
        takes_tokens: Whether a number of tokens can limit the prefix.
        isomorph: Returns the same question about a map with other names (see `Items`); None if there are none.
        takes_context: Whether a question can be asked among others of its level.
        sample_levels: Some levels, easiest first.
        version: The environment's version.
        **fields: Other fields of the `Environment`.
    """

    def draw(key: str, level: int, options: Mapping[str, Json], cutoff: CutoffFunction | None = None) -> WorldItems[Q]:
        return WorldItems(key, level, options, cutoff, ask=ask, purpose=purpose, prove=prove, is_one_item=is_one_item)

    environment: Environment[Q, S, A] = Environment(
        id=f"textmap/{kind}",
        version=version,
        items=Items(
            options=(*WORLD_OPTIONS, *source_options),
            sample_levels=sample_levels,
            public_key=PUBLIC_KEY,
            make_source=draw,
            decode=decode,
            prove=prove,
            isomorph=isomorph,
            resolve_references=resolve_references,
            pooled=True,
            cluster=map_name,
        ),
        playing=Playing(
            play=lambda options: play(**options), options=options, takes_context=takes_context, implied=published_steps
        ),
        **fields,
    )
    datasets = MapItems(environment, draw, ask, limit, is_one_item, takes_tokens).datasets
    return replace(environment, items=replace(environment.items, datasets=datasets))


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
