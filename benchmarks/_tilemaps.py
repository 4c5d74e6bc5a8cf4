"""Tile maps: scoring stored plans, and shortest paths."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Item, Stream, UsageError, play_to_end, policy
from waybench.data import locate_file
from waybench.envs.tilemap._instance import TileMap, tile_list
from waybench.envs.tilemap._items import MapFile

PUBLISHED_RATE = 50  # maps a second that the published program scores of the oracle's plans, its pauses taken out


def _items() -> tuple[list[Item[Any]], str]:
    environment = waybench.load("tilemap/gtb")
    try:
        source: Any = MapFile(locate_file("gtb", "traversal_benchmark.json"), "gtb", published=True)
    except UsageError:  # not fetched
        return environment.source(level=3).head(151), "151 generated maps"
    return source.head(len(source)), "the 151 published maps"


def tilemaps() -> Iterator[Comparison]:
    """Score the oracle's plans by the rules alone and through whole episodes; find shortest paths."""
    environment = waybench.load("tilemap/gtb")
    items, maps = _items()
    game = environment.playing.play(environment.resolve_options({})).game
    episodes = [play_to_end(environment, item, policy("oracle")) for item in items]
    plans = [[game.decode(json.loads(json.dumps(turn.action))) for turn in episode.turns] for episode in episodes]
    replies = [[turn.reply for turn in episode.turns] for episode in episodes]

    def rules() -> None:
        rng = Stream("bench")
        for item, moves in zip(items, plans, strict=True):
            state = game.start(item.instance)
            for plan in moves:
                state = game.apply(state, plan, rng).state

    def whole() -> None:
        for item, text in zip(items, replies, strict=True):
            episode: Any = waybench.core.Episode(environment, item)
            for reply in text:
                episode.step(reply)
            environment.scoring.metrics[0].of(episode.record())

    yield compare(
        f"oracle's replies on {maps} scored: prompts, parsing, rules, record, score",
        whole,
        rules,
        against=f"the rules alone (the published program is said to score {PUBLISHED_RATE} maps a second)",
        count=len(items),
        unit="maps",
    )
    middle = sorted(items, key=lambda item: item.instance.width * item.instance.height)[len(items) // 2].instance
    goals = [objective.row * middle.width + objective.column for objective in middle.objectives]
    floor = middle.floor(tile_list(middle.walkable))
    legs = list(zip([middle.start, *goals], goals, strict=False))
    neighbours = _neighbours(middle)
    yield compare(
        f"shortest paths of the {len(legs)} legs of the median map ({middle.width} x {middle.height})",
        lambda: [floor.shortest_path(*leg) for _ in range(100) for leg in legs],
        lambda: [_cell_by_cell(neighbours, *leg) for _ in range(100) for leg in legs],
        against="a breadth-first search cell by cell in plain Python",
        count=100 * len(legs),
        unit="paths",
    )


def _neighbours(case: TileMap) -> list[list[int]]:
    floor, width = case.floor(tile_list(case.walkable)), case.width
    neighbours: list[list[int]] = []
    for cell in range(width * case.height):
        beside = [cell - width, cell + width]
        beside += [cell - 1] if cell % width else []
        beside += [cell + 1] if cell % width < width - 1 else []
        neighbours.append([other for other in beside if 0 <= other < width * case.height and floor.open >> other & 1])
    return neighbours


def _cell_by_cell(neighbours: list[list[int]], start: int, goal: int) -> list[int] | None:
    came = {start: start}
    todo = deque([start])
    while todo and goal not in came:
        cell = todo.popleft()
        for other in neighbours[cell]:
            if other not in came:
                came[other] = cell
                todo.append(other)
    if goal not in came:
        return None
    path = [goal]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[-2::-1]
