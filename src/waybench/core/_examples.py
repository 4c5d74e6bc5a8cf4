"""In-context examples: the oracle's episodes on other instances, which a player is shown before its own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from waybench.core._environment import Environment
from waybench.core._errors import UsageError
from waybench.core._instance import Instance, Item, Source
from waybench.core._play import Play
from waybench.core._random import Stream
from waybench.core._text import plural

I = TypeVar("I", bound=Instance)  # noqa: E741

_FAR = 10**9  # number of the item that the first examples of a source without an end are counted back from
_TRIES = 1000  # examples that are drawn for one item, at most
LONGEST_EXAMPLES = 4_000_000  # characters of all examples of an episode, which is more than any model reads
_MOST_TURNS = 1000  # turns in which a game that can end by itself has done so, whatever the limit on turns is

Chat = tuple[tuple[str, str], ...]
"""Turns of a chat, as (role, text)."""


def with_examples(
    source: Source[I],
    indices: Iterable[int],
    count: int,
    *,
    protocol: str,
    similar: Callable[[Item[I]], Source[I]],
    size: int | None = None,
    noun: str = "item",
) -> Iterator[Item[I]]:
    """Yield items of a source, each with its in-context examples (the parameter `icl` of tasks).

    In "paper", as AQA-Bench publishes it, they are the items just before it: the window begins with the last items of a
    file, or, where there is no last one, with some far beyond those that are played. Where a level has few different
    items, one of them can be the same as the item. In "sound" each item has examples of its own, all different and none
    the same as the item.

    Args:
        source: The source.
        indices: The numbers of the items.
        count: Number of examples of each item.
        protocol: "paper" or "sound".
        similar: Item -> a source of items like it, for "sound".
        size: Number of items, for a file.
        noun: What an item is called in messages.

    Raises:
        UsageError: If there are not so many different items of an item's level, or in a file.
    """

    @lru_cache(maxsize=256)
    def instance(index: int) -> I:
        return source.item(index if index >= 0 else (size or _FAR) + index).instance

    if protocol == "paper" and size is not None and count >= size:
        raise UsageError(f"icl={count}: the file has only {plural(size, noun)}; lower icl")
    for index in indices:
        item = source.item(index)
        if not count:
            yield item
        elif protocol == "paper":
            yield replace(item, examples=tuple(instance(before) for before in range(index - count, index)))
        else:
            yield replace(item, examples=_own_examples(similar, index, item, count, noun))


def _own_examples(
    similar: Callable[[Item[I]], Source[I]], index: int, item: Item[I], count: int, noun: str
) -> tuple[I, ...]:
    try:
        source = similar(item)
    except UsageError as error:
        raise UsageError(
            f"icl with protocol=sound draws examples similar to {noun} {item.id}, and that cannot be done ({error}): "
            "use protocol=paper, or remove icl"
        ) from None
    chosen: dict[str, I] = {}
    for number in range(_TRIES):
        example = source.item(index * _TRIES + number).instance
        if example.hash != item.instance.hash:
            chosen.setdefault(example.hash, example)
        if len(chosen) == count:
            return tuple(chosen.values())
    raise UsageError(
        f"icl={count}: level {item.level} does not have enough different {noun}s; lower icl or raise the level"
    )


def solved_examples(
    environment: Environment[Any, Any, Any], play: Play[Any, Any, Any], instances: Sequence[Any]
) -> Chat:
    """Return the oracle's whole episodes on some instances, one after another.

    Some games, such as slot machines, end by the limit on turns alone: an episode that has no end of its own within
    that limit, and within 1,000 turns where the limit is lower, is cut at the limit.

    Args:
        environment: The environment.
        play: How its episodes are played.
        instances: The instances.

    Raises:
        UsageError: If they have more than 4 million characters.
    """
    messages: list[tuple[str, str]] = []
    size, oracle = 0, environment.players.policies["oracle"]
    for instance in instances:
        solved = _solved(environment.id, play.game, play.wording, oracle, instance, play.most_turns(instance))
        size += sum(len(text) for _, text in solved)
        _check_size(size)
        messages += solved
    return tuple(messages)


@lru_cache(maxsize=128)  # many episodes show the same examples
def _solved(env_id: str, game: Any, wording: Any, oracle: Any, instance: Any, turns: int) -> Chat:
    state, turn = game.start(instance), 0
    messages = [("user", wording.observe(state, None, 0))]
    size = len(messages[0][1])
    while not (over := game.terminal(state)) and turn < max(turns, _MOST_TURNS):
        rng = Stream(env_id, instance.hash, "example", turn)
        action = oracle(state, rng)
        messages.append(("assistant", wording.render(action, state)))
        turn += 1
        last = game.apply(state, action, rng)
        state = last.state
        messages.append(("user", wording.observe(state, last, turn)))
        size += len(messages[-2][1]) + len(messages[-1][1])
        if turn <= turns:
            _check_size(size)
    if not over:
        del messages[1 + 2 * turns :]
    if wording.closing_answer:
        messages.append(("assistant", ""))
    return tuple(messages)


def _check_size(size: int) -> None:
    if size > LONGEST_EXAMPLES:
        raise UsageError(
            f"the examples have more than {LONGEST_EXAMPLES // 10**6} million characters: use fewer or easier examples"
        )
