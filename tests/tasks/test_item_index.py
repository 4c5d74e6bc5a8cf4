"""Searches that go by a difficulty index of single items: what is played, what is found, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR

from waybench.core import EpisodeRecord, Item, ItemIndex, UsageError, play_to_end, policy, resolve
from waybench.envs import registry
from waybench.evaluation._adaptive import HorizonSearch
from waybench.evaluation.tasks import find_task, load_task
from waybench.evaluation.tasks._horizon import HorizonConfig, horizon_config
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates import item_difficulties
from waybench.results.horizons import horizons
from waybench.results.horizons._searches import search_results, search_results_text
from waybench.results.stats import Seeker, Trial

# A graph of n nodes takes about 2 n steps; who errs at a rate in each step finds one with more of them harder.
TERMS = {"minimum": [0.8, 1.0, 2.0]}
DFS = registry.load("search/dfs")


def summary(path: Path, *entries: Any) -> str:
    path.write_text(json.dumps({"item_difficulty": list(entries)}))
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    other = {"env": "maze/alicia", "why": "", "index": {"turns": [0, 1, 1]}}
    return summary(tmp_path / "summary.json", other, {"env": "search/dfs", "why": "", "index": TERMS})


def plan(name: str = "horizon_dfs", **some: Any) -> HorizonConfig:
    entry = find_task(name)
    return horizon_config(entry, resolve(entry.options, some))


def played(found: HorizonConfig, player: str) -> list[tuple[str, EpisodeRecord, dict[str, Any]]]:
    """Run a search to its end; return the ids, records and plans of its samples."""
    search = HorizonSearch(found)
    waiting, done = search.initial_samples(), list[tuple[str, EpisodeRecord, dict[str, Any]]]()
    at = search.initial_state(player)
    while waiting:
        sample = waiting.pop(0)
        assert sample.metadata is not None
        head = EpisodeRecord.from_parts(sample.metadata["waybench"])
        item = Item(found.environment.items.decode(head.instance), **head.item, proof=head.proof)
        record = play_to_end(found.environment, item, policy(player), dict(head.options)).record()
        done.append((str(sample.id), record, json.loads(sample.metadata["waybench_search"])))
        waiting += search.samples_after(at, str(sample.id), record)
    return done


def logged(done: list[tuple[str, EpisodeRecord, dict[str, Any]]]) -> list[LoggedEpisode]:
    return [
        LoggedEpisode(model="vendor/model", task="horizon_dfs", record=record, design=search, run="one")
        for _, record, search in done
    ]


def test_items_are_sorted_by_their_own_difficulty(file: str) -> None:
    found = plan(difficulty_index=file)
    assert len(found.strata) > 10
    assert all(stratum.n_items is not None and stratum.n_items >= 20 for stratum in found.strata)
    for stratum in found.strata:
        for number in range(3):
            item, at = stratum.item(number)
            record = play_to_end(DFS, item, policy("null"), dict(found.options)).record()
            steps = next(each for each in DFS.difficulty.item_variables if each.name == "minimum").of(record)
            assert steps is not None
            # log2(1 + steps) less what is usual, and a unit of it is worth two doublings of the level.
            usual = (1 + steps) / (2**0.8 * item.level)
            assert at == pytest.approx(item.level * usual**2, rel=0.02)
            assert 0.75 * stratum.difficulty < at < 1.35 * stratum.difficulty


def test_the_search_is_the_same_again_and_its_description_says_what_it_went_by(file: str) -> None:
    found = plan(difficulty_index=file, most=40, precision=0.2)
    done = played(found, "noisy-0.05")
    assert [name for name, *_ in done] == [name for name, *_ in played(found, "noisy-0.05")]
    assert all(search["difficulty_index"] == TERMS for *_, search in done)

    episodes = logged(done)
    all_rows = rows(episodes)
    (searched,) = search_results(episodes, all_rows)
    trials = [
        Trial(found.axis.of(record) or 0.0, DFS.difficulty.is_success(record), None, 1.0) for _, record, _ in done
    ]
    state = Seeker(found.rule, found.strata[0].difficulty, found.strata[-1].difficulty).state(trials)
    assert (searched.value, searched.low, searched.high) == state.horizon
    assert ", items by difficulty index " in search_results_text([searched])
    assert searched.stop == state.stop_reason(found.strata[0].difficulty, found.strata[-1].difficulty) != ""
    # It is another setting than a search by levels, and on the same axis.
    assert dict(searched.group.options)["difficulty_index"] == ItemIndex.read(TERMS, ["minimum"]).digest
    assert {each.axis for each in horizons(all_rows)} >= {"nodes"} and searched.axis == "nodes"
    assert not item_difficulties(all_rows)  # these results have no levels


def test_a_plan_that_is_unfit_is_none() -> None:
    record = play_to_end(DFS, DFS.source(level=8).item(0), policy("oracle")).record()
    unfit: list[Any] = [5, {}, {"minimum": [0, 1]}, {"minimum": [0, 1, float("nan")]}, {"minimum": [0, 1, 10**400]}]
    for index in [*unfit, {"nothing": [0, 1, 1]}, {"minimum": [0, True, 1]}, [["minimum", 0]]]:
        (row,) = rows([LoggedEpisode("vendor/model", "horizon_dfs", record, design={"difficulty_index": index})])
        assert row.axes["nodes"] == 8
        assert "difficulty_index" not in dict(row.group.options)
    (row,) = rows([LoggedEpisode("a/b", "horizon_dfs", record, design={"difficulty_index": {"minimum": [0, 1, 9e5]}})])
    assert row.axes["nodes"] == 2.0**60  # whoever wrote the weights, the level is a number


def test_another_content_is_another_task(file: str, tmp_path: Path) -> None:
    def parameters(path: str) -> dict[str, Any]:
        return getattr(load_task(find_task("horizon_dfs"))(difficulty_index=path), TASK_ALL_PARAMS_ATTR)

    other = summary(tmp_path / "other.json", {"env": "search/dfs", "index": {"minimum": [0.8, 1.0, 1.9]}})
    same = summary(tmp_path / "same.json", {"env": "search/dfs", "index": TERMS})
    assert parameters(file) == parameters(same) != parameters(other)
    assert str(tmp_path) not in json.dumps(parameters(file), default=str)
    # What a log has of it is the index itself, by which the task can be made again without the file.
    inline = parameters(file)["difficulty_index"]
    assert json.loads(inline) == TERMS
    assert parameters(inline) == parameters(file)
    assert [each.difficulty for each in plan(difficulty_index=inline).strata] == [
        each.difficulty for each in plan(difficulty_index=file).strata
    ]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], r"no difficulty index of search/dfs$"),
        ([{"env": "search/dfs", "why": "fewer than 20", "index": None}], "fewer than 20"),
        ([{"env": "search/dfs", "index": TERMS}] * 2, "it has 2 for different settings"),
        ([{"env": "search/dfs", "index": {"turns": [0, 1, 1]}}], "has no term 'turns'"),
    ],
)
def test_what_is_refused(tmp_path: Path, entries: list[Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(difficulty_index=summary(tmp_path / "summary.json", *entries))


def test_what_is_no_summary(tmp_path: Path, file: str) -> None:
    with pytest.raises(UsageError, match=r"give summary\.json of a report"):
        plan(difficulty_index=str(tmp_path / "nothing.json"))
    for text in ("{", '{"minimum": 5}', '{"minimum": [0, 1, NaN]}', '{"a":' * 100_000):
        with pytest.raises(UsageError, match="difficulty_index="):
            plan(difficulty_index=text)
    with pytest.raises(UsageError, match="leave one of them out"):
        plan(difficulty_index=file, axis="steps_left", level=10)
    assert "difficulty_index" not in {option.name for option in find_task("horizon_graph_paths").options}
