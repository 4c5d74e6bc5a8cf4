"""Mazes: generation and episodes."""

import json
from collections.abc import Iterator
from importlib import import_module

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import EpisodeRecord, Stream, play_to_end, policy, replay

MAZES = waybench.load("maze/alicia")
COMPILED_MAZES = "waybench.envs.maze._kernel"  # once it is imported, mazes are drawn by it


def _scipy_maze(size: int, seed: int) -> np.ndarray:
    """Make a maze with a compiled library: scipy's minimum spanning tree of random weights, and a search."""
    rooms = size // 2
    number = np.arange(rooms * rooms).reshape(rooms, rooms)
    heads = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    tails = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    weights = np.random.default_rng(seed).random(len(heads)) + 1e-9
    tree = minimum_spanning_tree(coo_array((weights, (heads, tails)), shape=(rooms**2, rooms**2)).tocsr()).tocoo()
    cells = np.zeros((size, size), dtype=np.uint8)
    cells[1::2, 1::2] = 1
    y, x = tree.row // rooms, tree.row % rooms
    beside = tree.col == tree.row + 1
    cells[2 * y + 1 + ~beside, 2 * x + 1 + beside] = 1
    breadth_first_order(tree.tocsr(), 0, directed=False)
    return cells


def generation() -> Iterator[Comparison]:
    """Make mazes, with their proof, against the bare cells of a spanning tree by scipy.

    In compiled code, as in a process that has made many. Wilson's walks differ in length, so that many are measured.
    """
    import_module(COMPILED_MAZES)
    for size, count in ((21, 100), (101, 64)):
        for algorithm in ("backtracker", "kruskal", "prim", "wilson"):
            source = MAZES.source("bench", size, algorithm=algorithm)
            yield compare(
                f"maze N = {size}, {algorithm}, with shortest path and hash",
                lambda source=source, count=count: [item.instance.hash for item in source.head(count)],
                lambda size=size, count=count: [_scipy_maze(size, seed) for seed in range(count)],
                against="cells and search by scipy.sparse.csgraph (compiled)",
                count=count,
                unit="mazes",
            )


def episodes() -> Iterator[Comparison]:
    """Play the oracle through the whole loop against the bare rules, and replay records."""
    for size in (5, 21):
        items = MAZES.source("bench", size).head(100)
        game = MAZES.playing.play(MAZES.resolve_options({})).game
        oracle = MAZES.players.policies["oracle"]

        def bare(items=items, game=game, oracle=oracle) -> None:  # type: ignore[no-untyped-def]
            rng = Stream("bench")
            for item in items:
                state = game.start(item.instance)
                while not game.terminal(state):
                    state = game.apply(state, oracle(state, rng), rng).state

        def whole(items=items) -> None:  # type: ignore[no-untyped-def]
            for item in items:
                play_to_end(MAZES, item, policy("oracle")).record()

        records = [play_to_end(MAZES, item, policy("oracle")).record().dumps() for item in items]

        def again(records=records) -> None:  # type: ignore[no-untyped-def]
            for line in records:
                replay(MAZES, EpisodeRecord.from_json(json.loads(line)))

        yield compare(
            f"oracle's episode N = {size}: prompt, reply, parsing, rules, record",
            whole,
            bare,
            against="the rules and the oracle alone",
            count=len(items),
            unit="episodes",
        )
        yield compare(
            f"replay of a record N = {size}, from JSON",
            again,
            whole,
            against="playing it",
            count=len(items),
            unit="episodes",
        )
