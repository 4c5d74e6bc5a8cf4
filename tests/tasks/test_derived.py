"""Tasks that follow from what environments declare, another package's included."""

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.data.file_server import toy_set
from tests.tasks.test_search import heads, ids, refused
from tests.toys import DIAL
from waybench.core import (
    Axis,
    CatalogueWarning,
    DataFiles,
    Dataset,
    Entry,
    EpisodeRecord,
    HorizonSpec,
    ItemList,
    Option,
    UsageError,
)
from waybench.core._play import RESERVED_NAMES, STREAM
from waybench.core._registry import Registry
from waybench.envs import registry
from waybench.evaluation.tasks import TASKS, _entry, find_task, load_task, resolve_environment
from waybench.evaluation.tasks import _catalogue as derived
from waybench.evaluation.tasks._catalogue import all_tasks

OWN = {entry.id for entry in registry.built_in}


def _published(given: Any, files: DataFiles) -> Any:
    assert given["hands"] == 2
    return ItemList(DIAL.source("published", 5).head(3))


TURNED = replace(
    DIAL,
    id="toy/turned",
    difficulty=replace(
        DIAL.difficulty,
        axes=(Axis(name="numbers", title="Numbers", of=lambda record: float(record.item["level"]), doc="Numbers."),),
        success="the dial is at its number",
        horizon=HorizonSpec(levels=(3, 6, 12), without=("window",)),
    ),
    items=replace(
        DIAL.items,
        datasets=(
            Dataset(
                name="published",
                doc="three dials",
                items="dials",
                open=_published,
                options=(Option(name="hands", default=1, doc="Hands of a dial."),),
                download=toy_set("https://toys.invalid"),
            ),
        ),
    ),
)
CLASHING = replace(DIAL, id="hanoi/dial")


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """A catalogue with two environments that are not ours."""
    found = Registry(registry.built_in)
    turned = Entry("toy/turned", 1, f"{__name__}:TURNED", "a dial with everything", horizon="dials, by numbers")
    found.register(turned)
    found.register(Entry("hanoi/dial", 1, f"{__name__}:CLASHING", "a dial with a name that is taken", task="gtb"))
    for name in ("_entry", "_items", "_catalogue", "_horizon", "_samples"):
        monkeypatch.setattr(f"waybench.evaluation.tasks.{name}.registry", found)
    derived._tasks_of_packages.cache_clear()
    derived.environment_task.cache_clear()
    yield found
    derived._tasks_of_packages.cache_clear()
    derived.environment_task.cache_clear()


def test_every_environment_of_ours_is_played_by_a_task_and_by_its_id() -> None:
    assert {env for task in TASKS for env in task.envs} == OWN
    for env_id in OWN:
        task = find_task(env_id)
        environment = registry.load(env_id)
        names = {option.name for option in task.options}
        hidden = {name for each in environment.all_datasets for name in each.hidden}
        assert names >= {"source", "key", "level", "limit", "attempts"}
        assert names >= {option.name for option in environment.playing.options}
        assert names >= {option.name for option in environment.items.options} - hidden


@pytest.mark.filterwarnings("ignore:environment hanoi/dial")
@pytest.mark.parametrize(
    ("name", "env_id"),
    [
        ("maze/alicia", "maze/alicia"),
        ("maze/alicia@1", "maze/alicia"),
        ("maze", "maze/alicia"),
        ("alicia", "maze/alicia"),
        ("waybench/alicia@1", "maze/alicia"),
        ("gtb_stepwise", "tilemap/stepwise"),
        ("horizon_maze", "maze/alicia"),
        ("toy", "toy/turned"),
        ("turned", "toy/turned"),
        ("horizon_toy", "toy/turned"),
    ],
)
def test_an_environment_is_named_by_its_id_its_family_or_its_task(name: str, env_id: str, others: Registry) -> None:
    assert resolve_environment(name).id == env_id


def test_what_a_task_fixes_is_the_default_of_its_environment() -> None:
    two_arms = resolve_environment("bandit_high_low")
    assert {option.name: option.default for option in two_arms.items.options}["setting"] == "high_low"
    assert {option.name: option.default for option in registry.load("bandit/arms").items.options}["setting"] == "free"
    four = waybench.load("hanoi_4")
    assert (four.items.smallest_level, four.items.sample_levels) == (4, (4,))
    assert four.source().item(0).level == 4
    searched = resolve_environment("horizon_maze")
    assert {option.name: option.default for option in searched.playing.options}["protocol"] == "sound"
    assert waybench.play("hanoi_4").record.item["level"] == 4


def test_a_task_of_several_environments_names_them() -> None:
    with pytest.raises(UsageError, match=r"aqa plays several environments: choose one of search/guessnum, "):
        resolve_environment("aqa")
    with pytest.raises(UsageError, match=r"unknown environment 'alica': did you mean 'alicia'\?$"):
        waybench.load("alica")


def test_an_environment_with_a_task_of_its_name_has_no_second_one() -> None:
    plain = [task for task in TASKS if not task.horizon and task.name in {env.partition("/")[2] for env in OWN}]
    assert len({task.name for task in TASKS}) == len(TASKS)
    assert {task.name for task in plain} >= {"alicia", "dfs", "gtb"}
    assert sum("hanoi/rods" in task.envs for task in TASKS) == 5  # of 3 disks, of 4, of any number, all of SmartPlay,
    # and the search for a horizon


def test_another_package_s_environment_has_a_task_and_a_search(others: Registry) -> None:
    with pytest.warns(CatalogueWarning) as told:
        names = [task.name for task in all_tasks()][len(TASKS) :]
    assert names == ["hanoi/dial", "toy", "horizon_toy"]
    assert [str(each.message) for each in told] == [
        "environment hanoi/dial: a task gtb exists already; this one is named hanoi/dial"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert find_task("waybench/turned") is find_task("toy/turned")
        assert find_task("gtb").envs == ("tilemap/gtb",)
        assert find_task("hanoi/dial").envs == ("hanoi/dial",)
    with pytest.raises(UsageError, match="did you mean 'turned'"):
        find_task("turnd")
    search = find_task("horizon_toy")
    assert next(option.default for option in search.options if option.name == "hardest") == 12
    assert not {"window"} & {option.name for option in search.options}


def test_a_family_names_the_task_of_its_first_environment() -> None:
    assert find_task("maze") is find_task("maze/alicia")
    assert find_task("waybench/tilemap") is find_task("tilemap/gtb")
    assert find_task("hanoi").name == "hanoi"  # a task of that name is preferred


def _samples(name: str, **given: Any) -> list[EpisodeRecord]:
    dataset = load_task(find_task(name))(**given).dataset
    return [EpisodeRecord.from_parts(sample.metadata["waybench"]) for sample in dataset]


@pytest.mark.filterwarnings("ignore:environment hanoi/dial")
def test_what_another_package_s_task_plays(others: Registry, tmp_path: Path) -> None:
    drawn = _samples("turned", level=7, limit=3, attempts=2, key="mine", turns=9)
    assert [(head.item["id"], head.attempt) for head in drawn] == [(f"7-{i}", a) for i in range(3) for a in (1, 2)]
    assert all(head.item["key"].startswith("private-") for head in drawn)  # a set of one's own shows no key
    assert {head.options["turns"] for head in drawn} == {9}
    assert len(_samples("turned")) == 20
    published = _samples("toy/turned", source="published", hands=2)
    assert [head.instance for head in published] == [
        item.instance.to_json() for item in DIAL.source("published", 5).head(3)
    ]
    assert len(_samples("turned", source="published", hands=2, limit=2)) == 2


@pytest.mark.filterwarnings("ignore:environment hanoi/dial")
def test_parameters_of_other_data_sets_are_refused(others: Registry) -> None:
    from waybench.evaluation._agents import PrerequisiteError

    with pytest.raises(PrerequisiteError, match="level, key: only for generated items; remove it, or remove source"):
        _samples("turned", source="published", hands=2, level=4, key="k")
    with pytest.raises(PrerequisiteError, match="hands: only for published dials; add source=published"):
        _samples("turned", hands=2)


@pytest.mark.parametrize("env_id", ["hanoi/rods", "maze/alicia", "search/dfs", "textmap/route", "tilemap/gtb"])
def test_every_environment_reads_the_lines_of_generate(env_id: str, tmp_path: Path) -> None:
    environment = registry.load(env_id)
    items = environment.source("lines").head(3)
    lines = [{"env": env_id, "id": item.id, "instance": item.instance.to_json()} for item in items]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    task = load_task(find_task(env_id))(source=str(path))
    found = [EpisodeRecord.from_parts(sample.metadata["waybench"]) for sample in task.dataset]
    assert [head.instance_hash for head in found] == [item.instance.hash for item in items]
    assert {head.item["key"].partition("-")[0] for head in found} == {"some.jsonl"}
    assert [head.proof for head in found] == [dict(item.proof) for item in items]


def test_a_maze_is_not_attempted_again_after_a_perfect_attempt() -> None:
    from waybench.evaluation._ladders import Ladder

    task = load_task(find_task("maze/alicia"))(limit=2, attempts=3)
    assert isinstance(task.sample_source, Ladder)
    assert [str(sample.id) for sample in task.dataset] == ["501-1", "502-1"]


def test_smartplay_with_published_sentences_in_a_folder(data_dir: Any) -> None:
    folder = str(data_dir("smartplay").parent)
    found = heads("smartplay", source="published", data_dir=folder, limit=1)
    assert {head.item["key"] for head in found if head.env == "messenger/roles"} == {"messenger-v1-published-test"}
    assert len(ids("smartplay", source="published", data_dir=folder, limit=1)) == 7
    assert "cast: only for generated" in refused("messenger", source="published", data_dir=folder, cast="both")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("horizon_alicia", "horizon_maze"), ("horizon_search/dfs", "horizon_dfs"), ("maze/alicai", "maze/alicia")],
)
def test_a_task_that_there_is_not_gets_a_proposal(name: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"unknown task '{name}': did you mean '{meant}'"):
        find_task(name)


def test_names_that_options_cannot_have_are_those_of_the_parameters_of_tasks() -> None:
    # The options of published sets share data_dir; a run that ends when it is decided adds STREAM to its task.
    names = {_entry.SHARD_OPTION.name, STREAM, "data_dir"}
    for entry in registry.built_in:
        environment = waybench.load(entry.id)
        horizon = environment.difficulty.horizon
        declared = list(_entry.environment_parameters(environment).values())
        declared += _entry.horizon_parameters(environment, horizon) if horizon is not None else ()
        of_datasets = (option for dataset in environment.all_datasets for option in dataset.options)
        own = {option.name for option in (*environment.play_options, *environment.items.options, *of_datasets)}
        names |= {option.name for option in declared if option.name not in own - {"source"}}
    assert names == RESERVED_NAMES
