"""Algorithmic search: episodes of the optimal policy over the published cases."""

from collections.abc import Iterator
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Item, Stream, UsageError, play_to_end, policy
from waybench.data import locate_file
from waybench.envs.search._items import CaseFile

# Name -> file, level, and the episodes per second of processor time that the published program manages over the same
# file on two cores of an EPYC, its log off (free play of the optimal policy, Python 3.11).
PUBLISHED = {
    "guessnum": ("binary_search_0.json", 15, 14_968),
    "coin": ("binary_search_0.json", 15, 14_385),
    "dfs": ("dfs_0.json", 8, 3_485),
    "cavedfs": ("dfs_0.json", 8, 3_254),
    "bfs": ("bfs_0.json", 15, 1_360),
    "cavebfs": ("bfs_0.json", 15, 1_400),
}
CASES = 400


def _items(name: str) -> tuple[list[Item[Any]], str]:
    environment = waybench.load(f"search/{name}")
    file, level, _ = PUBLISHED[name]
    common = {"min": 32, "max": 32 + 2**level} if file.startswith("binary") else {}
    try:
        path = locate_file("aqa", file)
    except UsageError:  # not fetched
        return environment.source(level=level).head(CASES), "generated cases of EASY mode"
    decode, level_of, prove = environment.items.decode, environment.items.level_of, environment.items.prove
    cases = CaseFile(path, "aqa-easy", (environment.id,), decode, level_of, prove, common)
    return cases.head(CASES), f"the first {CASES} EASY cases"


def search() -> Iterator[Comparison]:
    """Play the optimal policy through the whole loop, and the rules and the policy alone."""
    for name, (_, _, published) in PUBLISHED.items():
        environment = waybench.load(f"search/{name}")
        items, cases = _items(name)
        game, player = environment.playing.play(environment.resolve_options({})).game, policy("oracle")
        teacher = environment.players.policies["oracle"]

        def bare(items=items, game=game, teacher=teacher) -> None:  # type: ignore[no-untyped-def]
            rng = Stream("bench")
            for item in items:
                state = game.start(item.instance)
                while not game.terminal(state):
                    state = game.apply(state, teacher(state, rng), rng).state

        def whole(items=items, environment=environment, player=player) -> None:  # type: ignore[no-untyped-def]
            for item in items:
                play_to_end(environment, item, player)

        yield compare(
            f"search/{name}, {cases}: optimal policy's episode, messages and records included (the published program "
            f"is said to play {published:,} a second)",
            whole,
            bare,
            against="the rules and the policy alone",
            count=len(items),
            unit="episodes",
        )
