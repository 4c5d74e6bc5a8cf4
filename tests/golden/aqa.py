"""The golden files of AQA-Bench (shared/specs/aqa.md, section 9): what they hold, and how it is played here."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import pytest

import waybench
from tests.conftest import shared
from waybench.core import End, Environment, Episode, EpisodeRecord, Item, Outcome, replay

GOLDEN = ("WAYBENCH_GOLDEN", "golden", "aqa")
OPTIONS = {"protocol": "paper", "wording": "code"}
ENDS = {End.SOLVED: "solved", End.TURN_LIMIT: "max_step", End.INVALID_LIMIT: "invalid"}
METRICS = {  # golden name -> ours
    "acc": "acc",
    "avg_err": "err_avg",
    "sum_err": "err_sum",
    "min_err": "err_min",
    "sum_decov": "g_sum",
    "min_decov": "g_min",
}
RANGES = {"easy": (32, 32800), "hard": (32, 33554464)}
FILES = {"guessnum": "binary_search", "coin": "binary_search"}  # the four others are named after their search

Env = Environment[Any, Any, Any]
Played = Episode[Any, Any, Any]


@cache
def golden(name: str) -> Any:
    """Read a golden file; without it the test that asks is skipped, or fails where it has to be there."""
    return json.loads(shared(*GOLDEN, name).read_text(encoding="utf-8"))


def part_of(data: dict[str, Any], name: str) -> Any:
    """Return what a golden file has under a name; a test of what the set at hand does not have is skipped."""
    if name not in data:
        pytest.skip(f"the golden files at hand have no {name}")
    return data[name]


@cache
def dataset(env: str, mode: str) -> list[Any]:
    """Read the published cases of an environment."""
    file = FILES.get(env) or ("dfs" if env.endswith("dfs") else "bfs")
    name = f"{'hard_' if mode == 'hard' else ''}{file}_0.json"
    return json.loads(shared("WAYBENCH_DATA", "data", "aqa", name).read_text(encoding="utf-8"))


def found(pattern: str) -> list[str]:
    """Return the names of golden files.

    Where there are none it is the pattern itself, so that a test asks for that file and says that it is not there.
    """
    try:
        home = shared(*GOLDEN)
    except (pytest.skip.Exception, pytest.fail.Exception):
        return [pattern]
    return sorted(path.name for path in home.glob(pattern)) or [pattern]


def policies(pattern: str, kind: str) -> list[tuple[str, str]]:
    """Return the name of each golden file with each of its policies."""
    return [
        (name, policy)
        for name in found(pattern)
        for policy in ([""] if name == pattern else list(golden(name).get(kind, ())))
    ]


def load(env: str) -> Env:
    """Load an environment by the name that the golden files give it."""
    return waybench.load(f"search/{env}")


def instance(case: dict[str, Any], mode: str) -> dict[str, Any]:
    """Return a case, of a golden file or of a published one, as JSON of ours."""
    if "target" in case:
        low, high = RANGES[mode]
        return {"target": case["target"], "min": low, "max": high}
    return {"nodes": list(range(case.get("n") or len(case["nodes"]))), "edges": case["edges"]}


def play(environment: Env, item: Item[Any], options: dict[str, Any], replies: Iterable[str]) -> Played:
    """Return the episode of recorded replies, none of which may come after its end."""
    episode: Played = Episode(environment, item, {**OPTIONS, **options})
    for number, reply in enumerate(replies):
        assert not episode.done, f"it is over before reply {number}"
        episode.step(reply)
    return episode


def with_examples(data: dict[str, Any], number: int, shown: list[int], guided: bool, replies: list[str]) -> Played:
    """Return an episode with the examples that a golden file names by their places in the data set."""
    environment, mode, cases = load(data["env"]), data["mode"], dataset(data["env"], data["mode"])
    item = environment.item(instance(cases[number], mode), [instance(cases[place], mode) for place in shown])
    return play(environment, item, {"teacher_guided": guided}, replies)


def transcript(episode: Played) -> list[list[str]]:
    """Return the chat as roles and texts."""
    return [[message.role, message.text] for message in episode.messages]


def through_json(environment: Env, episode: Played) -> EpisodeRecord:
    """Return an episode's record after a journey through JSON and a simulation."""
    text = episode.record().dumps()
    record = EpisodeRecord.from_json(json.loads(text))
    assert replay(environment, record).record().dumps() == text
    return record


def answers(record: EpisodeRecord) -> list[Any]:
    """Return the answers as a golden file writes them.

    These are the valid ones, and the last invalid one where it ended the episode; with a teacher all of them. What weak
    teacher guiding has refused is none.
    """
    listed: list[Any] = []
    for turn in record.turns:
        last = turn is record.turns[-1] and record.end is End.INVALID_LIMIT
        if "coached" in turn.events:
            continue
        if turn.outcome in (Outcome.OK, Outcome.UNPRODUCTIVE):
            listed.append(turn.action)
        elif last or record.options["teacher_guided"]:
            listed.append(["V", turn.action] if turn.outcome is Outcome.ILLEGAL else ["F", turn.reply])
    return listed


def measured(environment: Env, record: EpisodeRecord, names: Iterable[str]) -> dict[str, float | None]:
    """Return metrics by their golden names."""
    ours = {metric.name: metric for metric in environment.scoring.metrics}
    return {name: ours[METRICS[name]].of(record) for name in names}


def follows(environment: Env, record: EpisodeRecord) -> list[float]:
    """Return whether each answer follows the algorithm."""
    (series,) = environment.scoring.series
    assert series.name == "follows"
    return list(series.of(record))


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the means of metrics, with the golden names of means."""
    return {f"mean_{name}": fmean(row[name] for row in rows) for name in rows[0]}


def per_step(series: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return PSACC_k of the paper's equations 6 and 7, with its numerators and denominators, and their mean."""
    steps = range(max(map(len, series)))
    n_hat = [sum(len(one) > k for one in series) for k in steps]
    n_follow = [sum(one[k] for one in series if len(one) > k) for k in steps]
    psacc = [followed / all_ for followed, all_ in zip(n_follow, n_hat, strict=True)]
    return {"n_hat": n_hat, "n_follow": n_follow, "psacc": psacc, "psacc_avg": fmean(psacc)}
