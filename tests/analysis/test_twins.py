"""Environments against their twins: the same cases, plainly worded and told as a story."""

import json
from pathlib import Path

import pytest

import waybench
from tests.analysis.searches import searched
from waybench.envs import registry
from waybench.results import rows
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._comparison import effect_frame
from waybench.results.comparisons._isomorphs import TwinEffect, compare_twins, twin_effects
from waybench.results.stats._verdicts import Verdict

PAIRS = {"search/coin": "search/guessnum", "search/cavedfs": "search/dfs", "search/cavebfs": "search/bfs"}


def test_the_twins_are_the_plain_environments_of_the_stories() -> None:
    envs = (registry.load(entry.id) for entry in registry.built_in)
    assert {env.id: env.items.twin for env in envs if env.items.twin} == PAIRS


@pytest.mark.parametrize(("story", "plain"), PAIRS.items())
@pytest.mark.parametrize("key", [None, "mine"])
def test_twins_draw_the_same_instances(story: str, plain: str, key: str | None) -> None:
    one, other = (waybench.load(env).source(key=key, level=8) for env in (story, plain))
    assert [item.instance.hash for item in one.head(20)] == [item.instance.hash for item in other.head(20)]


def test_a_model_at_both_is_compared_case_by_case() -> None:
    good = searched("oracle", "dfs", count=20, model="m", level=8)
    bad = searched("null", "cavedfs", count=20, model="m", level=8)
    other = searched("oracle", "cavedfs", count=20, model="other", level=8)
    (effect,) = twin_effects(rows([*good, *bad, *other]))
    one = effect.comparison
    assert (effect.group.env, effect.reference.env, effect.level) == ("search/cavedfs", "search/dfs", 8)
    # Nothing but the start is visited in the story, and everything in the plain one.
    assert (one.first_mean.value, one.second_mean.value, one.difference.value) == (0.875, 0.0, 0.875)
    assert (one.items, one.verdict) == (20, Verdict.SECOND)
    assert effect_frame(TwinEffect.kind, [effect]).table.column("twin_mean").to_pylist() == [0.0]
    assert json.loads(json.dumps(effect.to_json()))["difference"]["value"] == 0.875


def test_other_settings_and_other_items_are_not_compared() -> None:
    plain = searched("oracle", "guessnum", count=3, model="m")
    assert not twin_effects(rows([*plain, *searched("oracle", "coin", count=3, model="m", protocol="sound")]))
    assert not twin_effects(rows([*plain, *searched("oracle", "coin", count=3, model="m", key="another")]))


def test_all_twins_of_a_folder_are_one_family_of_tests() -> None:
    envs = ("dfs", "cavedfs", "bfs", "cavebfs")
    scores = item_scores(rows([each for env in envs for each in searched("random", env, model="m")]))
    found = compare_twins(scores)
    assert [one.first.env for one in found] == ["search/cavedfs", "search/cavebfs"]
    # Three levels of one case each: too few to be in the family of tests.
    assert {(one.adjusted_p, one.family_size) for one in found} == {(None, 0)}
    assert [one.first.task for one in compare_twins(scores, is_chosen=lambda task: task == "bfs")] == ["cavebfs"]


def test_cases_of_the_twin_are_read_and_those_of_others_are_not(tmp_path: Path) -> None:
    def lines(env: str) -> Path:
        items = waybench.load(f"search/{env}").source(level=8).head(3)
        path = tmp_path / f"{env}.txt"
        text = [json.dumps({"env": f"search/{env}", "id": i.id, "instance": i.instance.to_json()}) for i in items]
        path.write_text("\n".join(text), encoding="utf-8")
        return path

    file = next(one for one in waybench.load("search/coin").all_datasets if one.name == "file")
    given = {"protocol": "paper", "mode": "easy", "icl": 1, "limit": None, "attempts": 1}
    source = file.open({**given, "source": str(lines("guessnum"))}, None)  # type: ignore[arg-type]
    plain = waybench.load("search/guessnum").source(level=8).head(3)
    assert [source.item(i).instance for i in range(3)] == [item.instance for item in plain]
    # As in the published program, the first example is the file's last case.
    assert source.item(0).examples == (source.item(2).instance,)
    with pytest.raises(waybench.core.DataError, match="line 1: it is of 'search/dfs', not of search/coin"):
        file.open({**given, "source": str(lines("dfs"))}, None)  # type: ignore[arg-type]
