"""Measure what each task asks of a player: `python docs/task_measures.py` writes docs/task_measures.json (minutes).

Embedded players play the first items of each task's public set with its default parameters, except those in `SMALLER`.
The file holds their mean scores, requests and characters; a test plays some of the tasks again and compares.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from waybench.core import Episode, Policy, evenly_spaced_values, policy, resolve
from waybench.evaluation.tasks import TASKS, TaskEntry, TaskItem, resolve_key
from waybench.evaluation.tasks._items import task_items

FILE = Path(__file__).parent / "task_measures.json"
PLAYERS = ("null", "random", "heuristic", "oracle")
ITEMS = 20
# What would take hours is played for fewer steps or items; the page says so.
SMALLER: Mapping[str, Mapping[str, Any]] = {
    "crafter": {"limit": 4, "steps": 300},
    "voxel_find": {"limit": 6, "steps": 60},
    "mango_extract": {"limit": 6},
}
# A ladder's items depend on the player: these levels of it are measured.
LADDER_LEVELS = (5, 11, 21)


def measured_tasks() -> dict[str, TaskEntry]:
    """Return the tasks with a line of their own: no collections, searches, or goals of the search for a biome."""
    return {
        task.name: task
        for task in TASKS
        if task.horizon is None
        and len(task.parts) == 1
        and not (task.name.startswith("voxel_") and task.name != "voxel_find")
    }


def measured_items(task: TaskEntry) -> Iterator[tuple[str, list[TaskItem]]]:
    """Yield the name of each line of a task, and the items that are played for it."""
    given = {"limit": ITEMS, **SMALLER.get(task.name, {})}
    checked = resolve_key(resolve(task.options, given, f"parameter of {task.name}"))
    if task.climb is None:
        # Where the limit is of each map, maps differ in size: the items are of all of them.
        yield task.name, evenly_spaced_values(list(task_items(task.parts, checked)), given["limit"])
        return
    for level in LADDER_LEVELS:
        parts = [replace(part, fixed={**part.fixed, "level": level}) for part in task.parts]
        items = list(task_items(parts, {**checked, "limit": task.climb.items, "attempts": 1}))
        yield f"{task.name}, dimension {level}", items


def measure(player: str, items: list[TaskItem]) -> dict[str, float | None]:
    """Return a player's means over items: score, requests, and characters of prompts and replies."""
    scores: list[float] = []
    requests: list[int] = []
    sent: list[int] = []
    written: list[int] = []
    # Where there is one item only, as in Hanoi, it is attempted several times, as the task does.
    attempts = ITEMS if len(items) == 1 else 1
    for played, attempt in product(items, range(1, attempts + 1)):
        chosen: Policy = policy(player)
        episode: Episode[Any, Any, Any] = Episode(
            played.environment, played.item, played.options, attempt=attempt, player=chosen.name
        )
        characters = replies = 0
        while not episode.done:
            characters += sum(len(message.text) for message in episode.messages)
            reply = chosen.reply(episode)
            replies += len(reply if isinstance(reply, str) else reply.text)
            episode.step(reply)
        record = episode.record()
        value = played.environment.scoring.metrics[0].of(record)
        scores += [] if value is None else [value]
        requests.append(len(record.turns))
        sent.append(characters)
        written.append(replies)
    return {
        "score": round(fmean(scores), 4) if scores else None,
        "requests": round(fmean(requests), 2),
        "prompt_characters": round(fmean(sent)),
        "reply_characters": round(fmean(written)),
    }


def measured_lines(task: TaskEntry) -> dict[str, Any]:
    """Return the measurements of a task by the names of its lines."""
    return {
        name: {
            "task": task.name,
            "items": len(items),
            "parameters": dict(SMALLER.get(task.name, {})),
            "version": items[0].environment.version,
            "players": {player: measure(player, items) for player in PLAYERS if _has(items[0], player)},
        }
        for name, items in measured_items(task)
    }


def _has(played: TaskItem, player: str) -> bool:
    return player in ("null", "random") or player in played.environment.players.policies


def main() -> None:
    """Write the file."""
    lines: dict[str, Any] = {}
    for task in measured_tasks().values():
        lines |= measured_lines(task)
        print(task.name, flush=True)
    FILE.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
