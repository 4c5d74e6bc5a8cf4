"""The tasks that look for a horizon, of every family, without the engine."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from waybench.core import End, Episode, EpisodeRecord, Item, UsageError, policy, resolve
from waybench.envs import registry
from waybench.evaluation._adaptive import HorizonSearch
from waybench.evaluation._agents import PrerequisiteError
from waybench.evaluation.tasks import TASKS, find_task, load_task
from waybench.evaluation.tasks._horizon import horizon_config, horizon_quote, parse_budget
from waybench.results import LoggedEpisode, rows
from waybench.results.horizons._searches import search_results, search_results_text
from waybench.results.stats import Seeker, Trial

ENTRIES = {entry.name: entry for entry in TASKS if entry.horizon}
QUICK = {"horizon_maze": {"hardest": 21}, "horizon_tilemap": {"hardest": 3}, "horizon_textmap": {"hardest": 4}}


def given(name: str, **some: Any) -> dict[str, Any]:
    return resolve(ENTRIES[name].options, {**QUICK.get(name, {}), **some})


def finished(sample: Any, player: str, end: End | None = None) -> Any:
    """Play a sample's episode as the solver would, and return what the engine would report of it."""
    head = EpisodeRecord.from_parts(sample.metadata["waybench"])
    environment = registry.load(head.env)
    item = Item(environment.items.decode(head.instance), **head.item, proof=head.proof)
    episode: Episode[Any, Any, Any] = Episode(environment, item, head.options, attempt=1, player=player)
    while not episode.done and end is None:
        episode.step(policy(player).reply(episode))
    if end is not None:
        episode.end(end)
    turns = [turn.dumps() for turn in episode.turns]
    progress = {"player": player, "turns": turns, "end": episode.end_reason, "error": None}
    error = SimpleNamespace(message="failed") if end is End.INFRASTRUCTURE else None
    store = {"waybench": progress}
    return SimpleNamespace(id=sample.id, epoch=1, error=error, metadata=sample.metadata, store=store, scores=None)


def followed(source: HorizonSearch, ended: Any) -> list[Any]:
    return asyncio.run(source.sample_complete(ended)) or []


def play(source: HorizonSearch, player: str, *, last_first: bool = False) -> list[Any]:
    """Run a search to its end, one sample after the other; return the finished samples."""
    waiting, done = source.initial_samples(), []
    while waiting:
        ended = finished(waiting.pop(-1 if last_first else 0), player)
        done.append(ended)
        waiting += followed(source, ended)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_every_family_can_be_searched(name: str) -> None:
    plan = horizon_config(ENTRIES[name], given(name, most=12, batch=6))
    places = [stratum.difficulty for stratum in plan.strata]
    assert places == sorted(places) and len(places) >= 3
    assert all(stratum.tokens.input > 0 and stratum.tokens.output > 0 for stratum in plan.strata)
    done = play(HorizonSearch(plan), "oracle")
    assert len(done) == 12
    assert max(Counter(ended.id for ended in done).values()) == 1  # no item twice
    for ended in done:
        record = EpisodeRecord.from_parts(ended.metadata["waybench"], ended.store["waybench"])
        assert record.end == End.SOLVED
        assert record.options["protocol"] == "sound"
        at = plan.axis.of(record)
        assert at is not None and 0.75 * places[0] <= at <= 1.35 * places[-1]


@pytest.mark.parametrize("name", ["horizon_maze", "horizon_textmap"])
def test_what_is_asked_is_the_same_in_any_order(name: str) -> None:
    plan = horizon_config(ENTRIES[name], given(name, most=40, precision=0.05))
    first, second = (
        {ended.id for ended in play(HorizonSearch(plan), "noisy-0.1", last_first=last)} for last in (False, True)
    )
    assert first == second
    assert len(first) == 40


def test_two_players_of_one_run_are_two_searches() -> None:
    plan = horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", most=24, precision=0.05, requests=1))
    source = HorizonSearch(plan)
    waiting = [(player, sample) for player in ("oracle", "noisy-0.1") for sample in source.initial_samples()]
    found: dict[str, list[str]] = {"oracle": [], "noisy-0.1": []}
    while waiting:
        player, sample = waiting.pop(0)
        found[player].append(sample.id)
        waiting += [(player, more) for more in followed(source, finished(sample, player))]
    for player, ids in found.items():
        assert ids == [ended.id for ended in play(HorizonSearch(plan), player)]
    assert found["oracle"] != found["noisy-0.1"]


def test_a_retried_run_is_told_of_everything_again_and_asks_the_same() -> None:
    plan = horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", most=20, precision=0.05))
    source = HorizonSearch(plan)
    first = [ended.id for ended in play(source, "noisy-0.1")]
    assert [ended.id for ended in play(source, "noisy-0.1")] == first


def test_an_infrastructure_error_holds_up_its_round() -> None:
    source = HorizonSearch(horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", most=20)))
    first, *others = source.initial_samples()
    assert not followed(source, finished(first, "oracle", End.INFRASTRUCTURE))
    assert not [more for sample in others for more in followed(source, finished(sample, "oracle"))]
    waiting = source.initial_samples()  # a later run tells of what is finished, and repeats what is not
    assert [sample.id for sample in waiting] == [first.id, *(sample.id for sample in others)]
    assert len([more for sample in waiting for more in followed(source, finished(sample, "oracle"))]) == 4


def test_a_player_known_by_construction_is_found() -> None:
    """It solves a maze with the probability of no error in so many steps."""
    plan = horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", requests=1, precision=0.2, hardest=101))
    done = play(HorizonSearch(plan), "noisy-0.1")
    seeker = Seeker(plan.rule, plan.strata[0].difficulty, plan.strata[-1].difficulty)
    trials = [Trial(ended.metadata["level"], ended.store["waybench"]["end"] == End.SOLVED, None, 1.0) for ended in done]
    horizon = seeker.state(trials).horizon
    assert horizon.low < 9.14 < horizon.high  # where the mean of `noisy_success` is a half


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, (None, False)),
        ("5USD", (5.0, True)),
        ("$0.5", (0.5, True)),
        ("5 usd", (5.0, True)),
        ("200000", (200_000.0, False)),
        ("200k tokens", (200_000.0, False)),
        ("1.5M", (1_500_000.0, False)),
        ("1 token", (1.0, False)),
    ],
)
def test_budgets(text: str | None, wanted: tuple[float | None, bool]) -> None:
    assert parse_budget(text) == wanted


@pytest.mark.parametrize("text", ["", "5EUR", "USD", "-1", "0", "0USD", "$5USD", "1e3", "nan", "5 5", "\u0665USD"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="as in 5USD or 200k tokens"):
        parse_budget(text)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no price for c/d"):
        horizon_quote(ENTRIES["horizon_maze"], given("horizon_maze", budget="5USD"), "c/d")
    with pytest.raises(UsageError, match="at least two of the levels 5, 7, 9"):
        horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", easiest=21, hardest=21))
    prices = tmp_path / "prices.json"
    prices.write_text('{"a/b": {"input": 1, "output": 1}}')
    with pytest.raises(UsageError, match="no price for c/d"):
        horizon_quote(ENTRIES["horizon_maze"], given("horizon_maze", budget="5USD", prices=str(prices)), "c/d")
    with pytest.raises(UsageError, match="cost more; raise it"):
        horizon_quote(ENTRIES["horizon_maze"], given("horizon_maze", budget="10 tokens"), "c/d")


@pytest.mark.slow
def test_a_quote_is_in_the_unit_that_is_known(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"a/b": {"input": 1000, "output": 1000}}')
    in_tokens = horizon_quote(ENTRIES["horizon_maze"], given("horizon_maze"), "a/b")
    in_dollars = horizon_quote(ENTRIES["horizon_maze"], given("horizon_maze", prices=str(prices), budget="9USD"), "a/b")
    assert in_tokens.startswith("horizon_maze, a/b: about ") and " tokens (" in in_tokens
    assert " USD (" in in_dollars and in_dollars.endswith("the budget is 9USD")
    tokens = float(in_tokens.split(" and ")[1].split(" tokens")[0].replace(",", ""))
    dollars = float(in_dollars.split(" and ")[1].split(" USD")[0].replace(",", ""))
    assert dollars == pytest.approx(tokens / 1000, abs=0.01)


def test_a_model_that_costs_nothing_has_no_budget_in_dollars(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"a/free": {"input": 0, "output": 0}, "a/paid": {"input": 0, "output": 5}}')
    plan = horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", budget="1USD", prices=str(prices), most=8))
    assert [plan.budget(model) for model in ("a/free", "waybench/oracle", "a/paid")] == [None, None, 1.0]
    assert plan.price("a/free") is None
    assert plan.price("a/paid") is not None
    with pytest.raises(
        PrerequisiteError, match="no price for oracle"
    ):  # found out after the first round, at the latest
        play(HorizonSearch(plan), "oracle")


def test_a_random_player_has_no_horizon_in_mazes() -> None:
    """It reaches most exits of small mazes, which was once a 50 % horizon at dimension 13.7."""
    done = play(HorizonSearch(horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", most=80))), "random")
    episodes = [
        LoggedEpisode(
            model="waybench/random",
            task="horizon_maze",
            record=EpisodeRecord.from_parts(ended.metadata["waybench"], ended.store["waybench"]),
            design=json.loads(ended.metadata["waybench_search"]),
        )
        for ended in done
    ]
    assert sum(each.record.end == End.SOLVED for each in episodes) > len(episodes) / 2
    text = search_results_text(search_results(episodes, rows(episodes)))
    assert "50 % horizon below the easiest level tested (dimension 5;" in text
    assert "; not above a random player's; a random player and the best constant reply: below 5; " in text


def test_a_search_goes_by_success_and_not_by_solutions() -> None:
    """Two players that solve every maze: the one by the shortest path, the other by a way that is too long."""
    plan = horizon_config(ENTRIES["horizon_maze"], given("horizon_maze", most=24, precision=0.05))

    def levels(wanders: bool) -> list[int]:
        source, found = HorizonSearch(plan), list[int]()
        waiting = source.initial_samples()
        while waiting:
            ended = finished(waiting.pop(0), "oracle")
            if wanders:
                progress = ended.store["waybench"]
                turn = json.loads(progress["turns"][0])
                turn["events"]["moved"] *= 2
                progress["turns"] = [json.dumps(turn)]
            assert ended.store["waybench"]["end"] == End.SOLVED
            found.append(ended.metadata["level"])
            waiting += followed(source, ended)
        return found

    straight, wandering = levels(wanders=False), levels(wanders=True)
    assert max(straight) == 21
    assert straight[:4] == wandering[:4], "the first round is the same for all"
    assert set(wandering[-8:]) == {5}


def test_another_success_is_another_version_of_the_task_and_not_of_the_environment() -> None:
    versions = {
        name: load_task(find_task(name))(**some).version
        for name, some in (("alicia", {}), ("horizon_maze", QUICK["horizon_maze"]), ("horizon_tilemap", {"hardest": 2}))
    }
    assert versions == {"alicia": 1, "horizon_maze": 4, "horizon_tilemap": 4}
    assert (registry.load("maze/alicia").version, registry.load("tilemap/gtb").version) == (1, 2)
