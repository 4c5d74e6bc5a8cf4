"""In-context examples: the oracle's episodes on other instances, which a player is shown before its own."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from waybench.core._environment import Environment, Play
from waybench.core._errors import UsageError
from waybench.core._random import Stream

LONGEST_EXAMPLES = 4_000_000  # characters of all examples of an episode, which is more than any model reads
_MOST_TURNS = 1000  # turns in which a game that can end by itself has done so, whatever the limit on turns is

Chat = tuple[tuple[str, str], ...]
"""Turns of a chat, as (role, text)."""


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
    size, oracle = 0, environment.players["oracle"]
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
