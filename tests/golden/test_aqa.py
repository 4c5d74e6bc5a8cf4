"""Every published result of AQA-Bench that is at hand, replayed (shared/specs/aqa.md, section 9)."""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest

from tests.golden.aqa import (
    ENDS,
    METRICS,
    OPTIONS,
    RANGES,
    Env,
    Played,
    answers,
    dataset,
    follows,
    found,
    golden,
    instance,
    load,
    means,
    measured,
    part_of,
    per_step,
    play,
    policies,
    through_json,
    transcript,
    with_examples,
)
from tests.golden.aqa_players import player
from waybench._scoring import score_line
from waybench.core import End, Episode, Item

Compared = Callable[[str, str, int], None]
EPISODES, EXAMPLES, AGGREGATES = "episodes_*.json", "ice2_*.json", "aggregate*.json"


def exactly(expected: Any) -> Any:
    return pytest.approx(expected, rel=0, abs=1e-12)


def limits(data: dict[str, Any]) -> dict[str, Any]:
    return {"max_steps": data["max_step"], "max_retries": data["max_retry"]}


def case_of(environment: Env, data: dict[str, Any], number: int) -> Item[Any]:
    return environment.item(instance(data["cases"][number], data["mode"]))


def chat(system: str, told: list[str], said: list[str]) -> list[list[str]]:
    turns = [turn for pair in zip(told, said, strict=False) for turn in (["user", pair[0]], ["assistant", pair[1]])]
    return [["system", system], *turns, ["user", told[-1]]]


# Episodes


@pytest.mark.parametrize(("name", "policy"), policies(EPISODES, "free"))
def test_free_play(name: str, policy: str, compared: Compared) -> None:
    data = golden(name)
    environment, recorded = load(data["env"]), data["free"][policy]
    rows: list[dict[str, Any]] = []
    for expected in recorded["episodes"]:
        item = case_of(environment, data, expected["case"])
        episode = play(environment, item, limits(data), expected["replies"])
        assert [episode.messages[1].text, *(turn.message for turn in episode.turns)] == expected["messages"]
        assert transcript(episode) == chat(data["system"], expected["messages"], expected["committed"])
        record = through_json(environment, episode)
        assert record.end is not None
        assert ENDS[record.end] == expected["end"]
        assert answers(record) == expected["answers"]
        rows.append(measured(environment, record, expected["metrics"]))
        assert rows[-1] == exactly(expected["metrics"])
    assert means(rows) == exactly(recorded["mean"])
    compared("aqa", "episodes", len(rows))


@pytest.mark.parametrize(("name", "policy"), policies(EPISODES, "tf"))
def test_play_with_a_teacher(name: str, policy: str, compared: Compared) -> None:
    data = golden(name)
    environment, recorded = load(data["env"]), data["tf"][policy]
    told = told_by_a_teacher(data)
    rows: list[dict[str, Any]] = []
    series: list[list[float]] = []
    for expected in recorded["episodes"]:
        item = case_of(environment, data, expected["case"])
        episode = play(environment, item, {"teacher_guided": True}, expected["replies"])
        assert episode.end_reason is End.SOLVED
        if expected["case"] in told:
            said = [*map(str, expected["teacher"])]
            assert transcript(episode) == chat(data["system"], told[expected["case"]], said)
        record = through_json(environment, episode)
        assert [turn.executed for turn in record.turns] == expected["teacher"]
        assert answers(record) == expected["answers"]
        series.append(follows(environment, record))
        assert series[-1] == expected["follows"]
        rows.append(measured(environment, record, expected["metrics"]))
        assert rows[-1] == exactly(expected["metrics"])
    assert means(rows) == exactly(recorded["mean"])
    found_per_step = per_step(series)
    for key in ("n_hat", "n_follow", "psacc", "psacc_avg"):
        assert found_per_step[key] == exactly(recorded[key])
    compared("aqa", "episodes", len(rows))


def told_by_a_teacher(data: dict[str, Any]) -> dict[int, list[str]]:
    """Return the messages of each case with a teacher; the same whatever is said, they are recorded once."""
    return {episode["case"]: episode["messages"] for episode in data["tf"].get("optimal", {}).get("episodes", ())}


@pytest.mark.parametrize("name", found(EPISODES))
def test_the_limits_are_the_published_ones_by_default(name: str) -> None:
    data = golden(name)
    environment = load(data["env"])
    for number in range(len(data["cases"])):
        episode: Played = Episode(environment, case_of(environment, data, number))
        assert (episode.limits.turns, episode.limits.retries) == (data["max_step"], data["max_retry"])


@pytest.mark.parametrize("name", found(EPISODES))
def test_the_cases_are_those_of_the_data_set(name: str, compared: Compared) -> None:
    data = golden(name)
    published = [instance(case, data["mode"]) for case in dataset(data["env"], data["mode"])]
    for case in data["cases"]:
        assert instance(case, data["mode"]) in published
    compared("aqa", "cases", len(data["cases"]))


@pytest.mark.parametrize("kind", ["free", "tf"])
@pytest.mark.parametrize("name", found(EPISODES))
def test_the_players_of_these_tests_say_what_was_recorded(name: str, kind: str, compared: Compared) -> None:
    data = golden(name)
    low, high = (data["min"], data["max"]) if "min" in data else (0, data["node_num"] - 1)
    told, count = told_by_a_teacher(data), 0
    for policy, recorded in data[kind].items():
        for episode in recorded["episodes"]:
            if kind == "tf" and episode["case"] not in told:
                continue
            say = player(policy, data["env"], episode["case"], low, high)
            heard = (episode["messages"] if kind == "free" else told[episode["case"]])[:-1]
            assert [say(message) for message in heard] == episode["replies"]
            count += 1
    compared("aqa", "players", count)


@pytest.mark.parametrize("kind", ["free", "tf"])
@pytest.mark.parametrize("name", found(EPISODES))
def test_stored_replies_are_scored_the_same(name: str, kind: str, compared: Compared) -> None:
    data = golden(name)
    scored = 0
    for recorded in data[kind].values():
        for expected in recorded["episodes"][:3]:
            line = {
                "env": f"search/{data['env']}",
                "instance": instance(data["cases"][expected["case"]], data["mode"]),
                "replies": expected["replies"],
                "options": {"protocol": "paper", "max_steps": data["max_step"], "teacher_guided": kind == "tf"},
            }
            result = score_line(json.dumps(line).encode(), 1)
            assert {key: result["metrics"][METRICS[key]] for key in expected["metrics"]} == exactly(expected["metrics"])
            assert "unused_replies" not in result
            if "messages" in expected:
                assert [turn["message"] for turn in result["turns"]] == expected["messages"][1:]
            if "end" in expected:
                assert ENDS[End(result["end"])] == expected["end"]
            scored += 1
    compared("aqa", "scored lines", scored)


# In-context examples


@pytest.mark.parametrize("name", found(EXAMPLES))
def test_in_context_examples(name: str, compared: Compared) -> None:
    data = golden(name)
    free = golden(name.replace("ice2", "episodes"))["free"]  # the replies, of the same policies to the same cases
    environment = load(data["env"])
    count = 0
    for policy, run in data["runs"].items():
        guided = policy.startswith("tf_")
        played = [] if guided or policy not in free else free[policy]["episodes"]
        replies = {episode["case"]: episode["replies"] for episode in played}
        for expected in run["episodes"]:
            case = expected["case"]
            said = expected.get("replies") or replies.get(case)
            if said is None:
                continue  # they are in another file, or not at hand
            episode = with_examples(data, case, expected["example_cases"], guided, said)
            assert transcript(episode)[:-1] == expected["transcript"]
            record = through_json(environment, episode)
            assert measured(environment, record, expected["metrics"]) == exactly(expected["metrics"])
            count += 1
        if "mean25" in run and replies.keys() >= set(range(len(run["example_cases"]))):
            rows: list[dict[str, Any]] = []
            for case, shown in enumerate(run["example_cases"]):
                episode = with_examples(data, case, shown, guided, replies[case])
                assert len(episode.record().examples) == data["ice"]
                rows.append(measured(environment, episode.record(), run["episodes"][0]["metrics"]))
            assert means(rows) == exactly(run["mean25"])
            count += len(rows)
    compared("aqa", "episodes", count)


# Means over the published files


def aggregates() -> list[Any]:
    """Return each golden file of means with each of its settings and policies; those of HARD mode take long."""
    listed: list[Any] = []
    for name in found(AGGREGATES):
        settings: dict[str, Any] = {"": [""]} if name == AGGREGATES else golden(name)
        for setting, runs in settings.items():
            slow = [pytest.mark.slow] if setting.endswith("_hard") else []
            listed += [pytest.param(name, setting, policy, marks=slow) for policy in runs]
    return listed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting", "policy"), aggregates())
def test_means_over_the_published_files(name: str, setting: str, policy: str, compared: Compared) -> None:
    expected = golden(name)[setting][policy]
    env, mode = setting.split("_")
    kind, _, policy = policy.partition(":")
    cases = dataset(env, mode)
    groups = {key: int(size[1]) for key in expected if (size := re.fullmatch(r"(?:first|all)(\d+)", key))}
    everything = "ends_all" in expected
    played = [
        said(env, mode, policy, number, kind == "tf")
        for number in range(len(cases) if everything else max(groups.values()))
    ]
    environment = load(env)
    names = [key.removeprefix("mean_") for key in next(expected[group] for group in groups) if key.startswith("mean_")]
    records = [episode.record() for episode in played]
    rows: list[Any] = [measured(environment, record, names) for record in records]
    for group, size in groups.items():
        found_means = means(rows[:size])
        if kind == "tf":
            found_means |= per_step([follows(environment, record) for record in records[:size]])
        assert found_means.keys() == expected[group].keys()
        for key, value in expected[group].items():
            assert found_means[key] == pytest.approx(value, rel=1e-9, abs=1e-12)
    if everything:
        assert Counter(ENDS[record.end] for record in records if record.end) == expected["ends_all"]
        for key, counts in (
            ("answers_min_mean_max", [len(answers(record)) for record in records]),
            ("replies_min_mean_max", [len(record.turns) for record in records]),
        ):
            assert [min(counts), fmean(counts), max(counts)] == pytest.approx(expected[key], rel=1e-9)
    compared("aqa", "episodes", len(played))


def said(env: str, mode: str, policy: str, number: int, guided: bool) -> Played:
    """Return what a player says to a published case."""
    environment, data = load(env), instance(dataset(env, mode)[number], mode)
    low, high = RANGES[mode] if "target" in data else (0, len(data["nodes"]) - 1)
    episode: Played = Episode(environment, environment.item(data), {**OPTIONS, "teacher_guided": guided})
    say, message = player(policy, env, number, low, high), episode.messages[-1].text
    while not episode.done:
        message = episode.step(say(message)).message
    return episode


@pytest.mark.parametrize("env", ["dfs", "cavedfs", "bfs", "cavebfs"])
def test_random_walks_with_a_teacher(env: str, compared: Compared) -> None:
    outcome, text = part_of(golden("defects.json"), f"tf_random_all_{env}")
    assert outcome == "ok"
    expected = ast.literal_eval(text)
    names = [key.removeprefix("mean_") for key in expected]
    environment = load(env)
    rows: list[Any] = [
        measured(environment, said(env, "easy", "poor_random", number, True).record(), names) for number in range(800)
    ]
    assert means(rows) == pytest.approx(expected, rel=1e-9)
    compared("aqa", "episodes", len(rows))


# What the tables of the paper show (shared/specs/aqa.md, sections 1 and 5); they tell which cases were played.

TABLES = [
    ("guessnum", "easy", 400, "optimal", "err_sum", 0.4964),
    ("guessnum", "easy", 800, "optimal", "err_sum", 0.4979),
    ("guessnum", "hard", 400, "optimal", "err_sum", 0.5293),
    ("guessnum", "hard", 1500, "optimal", "err_sum", 0.5169),
    ("guessnum", "hard", 1500, "alt_optimal", "acc", 0.51),
    ("coin", "easy", 400, "alt_optimal", "acc", 0.53),
    ("dfs", "easy", 400, "optimal", "g_sum", 3.8775),
    ("bfs", "easy", 400, "optimal", "g_sum", 6.0667),
    ("bfs", "hard", 100, "optimal", "g_sum", 11.04),
    ("cavebfs", "hard", 100, "alt_optimal", "g_sum", 11.04),
]


@pytest.mark.parametrize(("env", "mode", "count", "policy", "metric", "mean"), TABLES)
def test_means_that_the_tables_show(
    env: str, mode: str, count: int, policy: str, metric: str, mean: float, compared: Compared
) -> None:
    (of,) = (one.of for one in load(env).scoring.metrics if one.name == metric)
    values: list[Any] = [of(said(env, mode, policy, number, False).record()) for number in range(count)]
    digits = len(str(mean).partition(".")[2])
    assert round(fmean(values), digits) == mean
    compared("aqa", "episodes", count)


@pytest.mark.parametrize(
    ("mode", "count", "least", "total"), [("hard", 1500, 0.4924, 14.771), ("hard", 400, 0.4949, 14.847)]
)
def test_a_constant_low_guess_shows_that_all_steps_count(
    mode: str, count: int, least: float, total: float, compared: Compared
) -> None:
    environment = load("guessnum")
    rows: list[Any] = []
    for case in dataset("guessnum", mode)[:count]:
        episode = play(environment, environment.item(instance(case, mode)), {}, ["32"] * 30)
        assert episode.end_reason is End.TURN_LIMIT
        rows.append(measured(environment, episode.record(), ["min_err", "sum_err"]))
    found_means = means(rows)
    assert (round(found_means["mean_min_err"], 4), round(found_means["mean_sum_err"], 3)) == (least, total)
    compared("aqa", "episodes", count)


@pytest.mark.parametrize(
    ("env", "mode", "least", "most"),
    [
        ("guessnum", "easy", 7, 15),
        ("guessnum", "hard", None, 25),
        ("dfs", "easy", 7, 13),
        ("dfs", "hard", 12, 23),
        ("bfs", "easy", 14, 14),
        ("bfs", "hard", 24, 24),
    ],
)
def test_the_optimal_number_of_steps_in_the_files(
    env: str, mode: str, least: int | None, most: int, compared: Compared
) -> None:
    environment = load(env)
    steps = [environment.item(instance(case, mode)).proof["minimum"] for case in dataset(env, mode)]
    assert (least or min(steps), max(steps)) == (min(steps), most)
    compared("aqa", "rows", len(steps))
