"""The page "Choose a task", from what tasks and environments declare and from docs/task_measures.json."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pieces import table
from task_measures import FILE, measured_items, measured_tasks

from waybench.core import Environment, Episode
from waybench.envs import registry
from waybench.envs.smartplay import HUMANS
from waybench.evaluation.tasks import TASKS, TaskEntry, count_episodes

CHARACTERS_PER_TOKEN = 4
SECONDS_PER_REQUEST = 5
CONNECTIONS = 10

_INTRODUCTION = f"""\
# Choose a task

`waybench run TASK --model MODEL` runs a task. Start with one of these:

| you want to know | run | because |
| --- | --- | --- |
| whether everything works, for little money | `alicia -T max_dimension=9` | at most 90 attempts, with short prompts |
| how far a model's planning goes | `horizon_maze --budget 200k` | the result is a difficulty, without an upper end |
| whether it explores systematically | `dfs bfs --limit 50` | it sees only the neighbours of its place |
| whether it builds a map from a text | `mango_route mango_destination` | one request for each question |
| whether it plans on a drawn map | `gtb --limit 20` | one request for each objective |
| whether it learns from feedback | `bandit_high_low rps_basic --limit 5` | the best action has to be found out |
| how it compares with people | `smartplay --limit 5 -T crafter_steps=300` | people's scores are published |

## How to read the tables

* **Items** is the number of episodes of the task with its default parameters; `--limit` plays fewer.
* **Requests** and **tokens** are for one item, of the optimal and of a random player, the lower number first. A model
  mostly needs something in between. Tokens are those of the prompts, estimated as characters
  divided by {CHARACTERS_PER_TOKEN}. Replies come on top: short answers add little, but a model that reasons at length
  can use more tokens than the prompts.
* **Whole task** is the higher cost for all items, with the time at {SECONDS_PER_REQUEST} seconds per request and
  {CONNECTIONS} requests at once. A maze ladder ends at the first dimension at which the model solves nothing.
* **Scores** are means of the headline metric. *Says nothing* and *random* are the floor; *heuristic* is a simple rule,
  and *optimal* the oracle. Heuristic and oracle know the true state of the game, so a model with the heuristic's score
  is good. *People* are the scores published with the benchmark; "–" means that nobody has published one.
* **Protocol**: all tasks have both, and the tables are for the default, `paper` (horizons: `sound`).
  [`paper`](concepts/protocols.md) reproduces the published scoring, and `sound` corrects it. If you do not compare with
  published numbers, add `-T protocol=sound`.

Embedded players played the first items of each public set (`docs/task_measures.py`; the numbers are in
`docs/task_measures.json`). Tasks in steps that would take hours were measured with fewer steps, as noted.
"""

_SEARCHES = """\
## Horizons

These tasks search for the difficulty at which a model succeeds at half of the items ([Find a
horizon](howto/horizon.md)).
They play at most 200 episodes and stop earlier at the precision or the budget; `--quote` prints the expected cost.
There is no floor or ceiling: the result is a difficulty.

"""

_COLLECTIONS = """\
## Collections

"""


def tasks_page() -> str:
    """Return the page."""
    lines = json.loads(FILE.read_text(encoding="utf-8"))
    families: dict[str, list[TaskEntry]] = {}
    for task in measured_tasks().values():
        families.setdefault(task.envs[0].partition("/")[0], []).append(task)
    parts = [_INTRODUCTION]
    for family, tasks in families.items():
        parts.append(f"## {_title(tasks[0])}\n\n" + "\n\n".join(_family_tables(tasks, lines)))
        if family == "voxel":
            goals = [f"`{task.name}`" for task in TASKS if task.name.startswith("voxel_") and task not in tasks]
            parts.append(", ".join(goals) + " are the same search for one goal each.")
    parts.append(_COLLECTIONS + _rows(task for task in TASKS if len(task.parts) > 1))
    parts.append(_SEARCHES + _rows(task for task in TASKS if task.horizon is not None))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _rows(tasks: Iterable[TaskEntry]) -> str:
    return table(
        ("task", "measures", "environments"),
        ((f"`{task.name}`", task.summary, ", ".join(map(_link, task.envs))) for task in tasks),
    )


def _title(task: TaskEntry) -> str:
    environment = registry.load(task.envs[0])
    return environment.presentation.title or environment.title


def _link(env_id: str) -> str:
    return f"[{env_id}](environments/{env_id.replace('/', '-')}.md)"


def _family_tables(tasks: list[TaskEntry], measured: Mapping[str, Any]) -> list[str]:
    costs: list[tuple[object, ...]] = []
    scores: list[tuple[object, ...]] = []
    notes: dict[str, None] = {}
    about = table(
        ("task", "measures", "environment"),
        ((f"`{task.name}`", task.summary, _link(task.envs[0])) for task in tasks),
    )
    for task in tasks:
        environment = registry.load(task.envs[0])
        for name, line in ((name, line) for name, line in measured.items() if line["task"] == task.name):
            label = f"`{task.name}`" + name.removeprefix(task.name)
            costs.append((label, *_cost(task, line["players"])))
            scores.append((label, *_scores(task, line["players"], environment)))
            given = {key: value for key, value in line["parameters"].items() if key != "limit"}
            if given:
                parameters = ", ".join(f"`-T {key}={value}`" for key, value in given.items())
                notes[
                    f"`{task.name}` was measured with {parameters}; with its default of more steps it costs more."
                ] = None
    return [
        about,
        table(("task", "items", "requests per item", "tokens per item", "whole task"), costs),
        table(("task", "metric", "better", "says nothing", "random", "heuristic", "optimal", "people"), scores),
        *notes,
    ]


def _cost(task: TaskEntry, players: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    ends = sorted((players["oracle"], players["random"]), key=lambda player: player["requests"])
    fewest, most = (player["requests"] for player in ends)
    least, largest = (player["prompt_characters"] / CHARACTERS_PER_TOKEN for player in ends)
    if task.climb is not None:
        attempts = next(option.default for option in task.options if option.name == "attempts")
        episodes = task.climb.items * attempts
        items = f"{task.climb.items} × {attempts} attempts"
    else:
        episodes = count_episodes(task, {}) or 0
        items = f"{episodes:,}"
    requests = episodes * most
    whole = (
        f"{_rounded(requests)} requests, {_amount(episodes * largest)} tokens, "
        f"{_time(requests / CONNECTIONS * SECONDS_PER_REQUEST)}"
    )
    return (
        items,
        _both(_rounded(fewest), _rounded(most)),
        _both(_amount(least), _amount(largest)),
        whole + (" per dimension" if task.climb else ""),
    )


def _scores(
    task: TaskEntry, players: Mapping[str, Mapping[str, float | None]], environment: Environment[Any, Any, Any]
) -> tuple[str, ...]:
    metric = environment.scoring.metrics[0]
    values = [players[name]["score"] if name in players else None for name in ("null", "random", "heuristic", "oracle")]
    return (f"`{metric.name}`", metric.better, *map(_value, values), _people(task, environment))


def _people(task: TaskEntry, environment: Environment[Any, Any, Any]) -> str:
    """Return the published score of people, for tasks that play a setting that has one."""
    if environment.scoring.published_setting is None or any(option.name == "level" for option in task.options):
        return "–"
    _, items = next(measured_items(task))
    record = Episode(environment, items[0].item, items[0].options).record()
    baseline = HUMANS.get(environment.scoring.published_setting(record) or "")
    if baseline is None:
        return "–"
    return f"{baseline.human:,} in {baseline.steps:,} steps"


def _both(first: str, second: str) -> str:
    return first if first == second else f"{first} to {second}"


def _value(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


def _rounded(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 100 else f"{_two_digits(value):,}"


def _amount(tokens: float) -> str:
    for size, unit in ((1e6, " million"), (1e3, "k")):
        if tokens >= size:
            return f"{float(f'{tokens / size:.2g}'):g}{unit}"
    return str(_two_digits(tokens))


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
