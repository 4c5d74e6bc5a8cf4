"""Real episodes for the tests of estimates and pages: the embedded players, and whatever a test makes them say."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import waybench
from waybench.core import End, Episode, EpisodeRecord, Item, Reply, Usage, play_to_end, policy
from waybench.results import Estimate, LoggedEpisode, Row, by_level, rows
from waybench.results.estimates._bounds import ClusterVariables, Variables
from waybench.results.results import Cluster, RunKey

MAZE = waybench.load("maze/alicia")
SCORE = MAZE.scoring.metrics[0]


def item(level: int = 5, number: int = 0) -> Item[Any]:
    """Return a public maze."""
    return MAZE.source(level=level).item(number)


def estimate(episodes: Iterable[LoggedEpisode]) -> list[Estimate]:
    """Return the estimates of episodes, by level."""
    return by_level(rows(episodes))


def logged(record: EpisodeRecord, model: str = "vendor/model", task: str = "alicia", log: str = "") -> LoggedEpisode:
    """Return a record as a log would hold it."""
    return LoggedEpisode(model=model, task=task, record=record, log=log)


def played(
    player: str,
    levels: Iterable[int] = (5, 7),
    *,
    mazes: int = 3,
    attempts: int = 3,
    model: str | None = None,
    **options: Any,
) -> list[LoggedEpisode]:
    """Return what an embedded player does; attempts end with a perfect one, levels with one that was not reached."""
    found: list[LoggedEpisode] = []
    for level in levels:
        reached = False
        for number in range(mazes):
            for attempt in range(1, attempts + 1):
                record = play_to_end(MAZE, item(level, number), policy(player), options, attempt=attempt).record()
                used = [turn._replace(usage=Usage(1000, 50, seconds=2.0)) for turn in record.turns]
                record = replace(record, turns=tuple(used))
                found.append(logged(record, model or f"waybench/{player}"))
                reached |= record.end is End.SOLVED
                if SCORE.of(record) == SCORE.high:
                    break
        if not reached:
            break
    return found


def said(replies: Sequence[Reply | str], *, level: int = 9, number: int = 0, attempt: int = 1) -> EpisodeRecord:
    """Return the record of an episode with given replies, which need not come to an end."""
    episode: Episode[Any, Any, Any] = Episode(MAZE, item(level, number), attempt=attempt)
    for reply in replies:
        if not episode.done:
            episode.step(reply)
    return episode.record()


def failed(record: EpisodeRecord, message: str = "RateLimitError: 429") -> EpisodeRecord:
    """Return a record that ended in an infrastructure error before its last turn."""
    return replace(record, end=End.INFRASTRUCTURE, error=message, turns=record.turns[:-1])


def detour(maze: Item[Any], extra: int, attempt: int = 1) -> EpisodeRecord:
    """Return the record of an attempt that reaches the exit with `extra` steps too many; an even number."""
    steps = [[str(direction), int(cells)] for direction, cells in maze.proof["solution"]]
    direction, back = steps[0][0], {"up": "down", "down": "up", "left": "right", "right": "left"}[str(steps[0][0])]
    wander = [[direction, 1], [back, 1]] * (extra // 2)
    told = ", ".join(f'{{"direction": "{way}", "cells": {cells}}}' for way, cells in [*wander, *steps])
    episode: Episode[Any, Any, Any] = Episode(MAZE, maze, attempt=attempt)
    episode.step(f'{{"movements": [{told}]}}')
    return episode.record()


def variables(all_rows: Sequence[Row], episodes: Iterable[LoggedEpisode]) -> dict[RunKey, dict[Cluster, Variables]]:
    """Return the variables of every cluster with an episode that counts, for each group."""
    found = ClusterVariables()
    for row, episode in zip(all_rows, episodes, strict=True):
        found.add(row, episode.record)
    return found.by_group(all_rows)
