"""Measure reference scores: `python docs/reference_horizons.py scores [ENV ...]`.

Silence, a random player, the best constant reply and the oracle play up to 2,000 items that are in no preset, for each
protocol and wording and at the levels of the presets. The scores are the floors and ceilings of normalised scores
(`waybench.results.references`); tests check their versions, and measure some of them again.
"""

import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from waybench.core import Environment, Episode, Json, Source, has_images
from waybench.envs import registry
from waybench.evaluation.tasks import TASKS
from waybench.results.references import Budget, _stored, measure_reference_scores, reference_setting
from waybench.results.references._measure import KEY, LADDER_ATTEMPTS, MOST_ITEMS
from waybench.results.references._stored import Setting

PATH = Path(_stored.__file__).with_name(_stored.FILE)
# Levels of presets whose parameters do not name them: modes of AQA-Bench, the ladder of AliciaBench, and defaults.
LEVELS: Mapping[str, Sequence[int]] = {
    **dict.fromkeys(("search/guessnum", "search/bfs"), (15, 25)),
    "search/dfs": (8, 13),
    "atlas/world": (8, 11, 14, 18, 24),
    "sokoban/rooms": (8, 10, 12, 14, 17, 20),
    "maze/alicia": range(5, 27, 2),
    **{f"textmap/{name}": (3,) for name in ("destination", "route", "minigame", "extract")},
    **{f"tilemap/{name}": (3,) for name in ("gtb", "state", "stepwise")},
}
_RESERVE = 0.9  # of the time that is left, which a single measurement may take

AnyEnvironment = Environment[Any, Any, Any]


class Job(NamedTuple):
    """One measurement: what is played, and how often."""

    env: str
    level: int
    played: Mapping[str, Json]
    drawn: Mapping[str, Json]
    attempts: int


def measured_environments() -> list[AnyEnvironment]:
    """Return the environments that are played: none that knows its reference scores, and of twins the plain one."""
    built_in = [registry.load(entry.id) for entry in registry.built_in]
    return [
        env
        for env in built_in
        if not (env.items.twin or env.scoring.reference_scores is not None or env.playing.check_options)
    ]


def jobs(env: AnyEnvironment) -> Iterator[Job]:
    """Yield the measurements of an environment.

    They are of its presets and sample levels in each protocol, with each choice of options that keep tables apart, and
    in other wordings than the first at sample levels.
    """
    fixed = list(_fixed(env))
    options = {option.name: option for option in env.playing.options}
    attempts = LADDER_ATTEMPTS if env.scoring.best_of else (1,)
    sample = {level for other in (env, *_twins(env)) for level in other.items.sample_levels}
    levels = sample | set(LEVELS.get(env.id, ())) | {int(values["level"]) for values, _ in fixed if values.get("level")}
    apart = [option for option in env.playing.options if option.separate_tables and option.choices]
    choices = [options["protocol"].choices, options["wording"].choices, *(option.choices for option in apart)]
    names = ["protocol", "wording", *(option.name for option in apart)]
    for level, *values in product(sorted(levels), *choices):
        played = dict(zip(names, values, strict=True))
        wording = played["wording"]
        if has_images(env.resolve_options(played)) or (wording != options["wording"].default and level not in sample):
            continue
        drawn = [changed for values, changed in fixed if changed and values.get("level", level) == level]
        for changed, count in product([{}, *drawn], attempts):
            yield Job(env.id, level, played, changed, count)


def _twins(env: AnyEnvironment) -> list[AnyEnvironment]:
    return [other for entry in registry.built_in if (other := registry.load(entry.id)).items.twin == env.id]


def _fixed(env: AnyEnvironment) -> Iterator[tuple[Mapping[str, Json], Mapping[str, Json]]]:
    """Yield what presets of an environment fix, or have as their default level; and of it the options of items."""
    defaults = {option.name: option.default for option in env.items.options}
    for task in TASKS:
        for part in task.parts if task.horizon is None else ():
            if part.env == env.id:
                level = {option.name: option.default for option in task.options if option.name == "level"}
                changed = {name: value for name, value in part.fixed.items() if defaults.get(name, value) != value}
                yield {**level, **part.fixed}, changed


def setting(job: Job) -> Setting:
    """Return what the scores of a measurement are stored as."""
    env = registry.load(job.env)
    drawn = dict(job.drawn)
    if env.scoring.published_setting is not None and "setting" in drawn:  # results have the published name
        record = Episode(env, _source(job).item(0), dict(job.played)).record()
        drawn["setting"] = env.scoring.published_setting(record) or drawn["setting"]
    return reference_setting(env, job.level, env.resolve_options(job.played), drawn)


def _source(job: Job) -> Source[Any]:
    return registry.load(job.env).source(KEY, job.level, protocol=str(job.played["protocol"]), **job.drawn)


def measured(job: Job, budget: Budget) -> dict[str, Any]:
    """Return the line of one measurement."""
    env = registry.load(job.env)
    scores = measure_reference_scores(env, _source(job), job.played, budget, job.attempts)
    return _stored.stored_line(setting(job), scores, job.attempts if env.scoring.best_of else None)


def measure_all(all_jobs: Sequence[Job], processes: int, seconds: float, items: int = MOST_ITEMS) -> Iterator[Any]:
    """Yield the line of each measurement, in the order in which they end, within a number of seconds.

    The time that is left is shared among the measurements that are left, so that easy levels, which come first, leave
    more of it to the others. A measurement that cannot have all of its items in its share has fewer.
    """
    end, waiting = monotonic() + seconds, list(sorted(all_jobs, key=lambda job: job.level))
    running: set[Future[dict[str, Any]]] = set()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        while waiting or running:
            while waiting and len(running) < processes:
                left = max(0.0, end - monotonic())
                share = min(_RESERVE * left, left * processes / (len(waiting) + len(running)))
                running.add(pool.submit(measured, waiting.pop(0), Budget(items=items, seconds=share)))
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                if error := future.exception():  # the others are not to be lost with it
                    print(f"not measured: {error!r}", file=sys.stderr)
                else:
                    yield future.result()


def write(lines: Sequence[Mapping[str, Any]], path: Path, budget: Mapping[str, Json]) -> None:
    """Write lines into a file in place of those of the same environments, a line for each setting."""
    envs = {line["env"] for line in lines}
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"scores": []}
    kept = [line for line in content["scores"] if line["env"] not in envs]
    order = sorted(
        [*kept, *lines],
        key=lambda line: (
            line["env"],
            line["level"],
            json.dumps([line.get(name) for name in ("played", "drawn", "attempts")]),
        ),
    )
    texts = ",\n".join(json.dumps(line) for line in order)
    budgets = {**content.get("budgets", {}), **{env: dict(budget) for env in sorted(envs)}}
    header = json.dumps({"key": KEY, "budgets": budgets})[1:-1]
    path.write_text(f'{{{header}, "scores": [\n{texts}\n]}}\n', encoding="utf-8")


def main(names: Sequence[str], processes: int, seconds: float, items: int, path: Path) -> None:
    """Measure environments, all of them without names, and write their lines."""
    envs = [env for env in measured_environments() if not names or env.id in names]
    all_jobs = [job for env in envs for job in jobs(env)]
    began = monotonic()
    lines: list[dict[str, Any]] = []
    for line in measure_all(all_jobs, processes, seconds, items):
        lines.append(line)
        progress = f"{len(lines)}/{len(all_jobs)} {monotonic() - began:.0f} s"
        print(progress, line["env"], line["level"], line["played"], line["items"], flush=True)
        write(lines, path, {"processes": processes, "seconds": seconds, "items": items})
