"""Original items against isomorphic ones, and agreement over the forms of an item."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from tests.report.pages import site
from waybench.core import IsomorphicSource, Item, play_to_end, policy
from waybench.core._items import split_isomorphic_label
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._comparison import effect_frame
from waybench.results.comparisons._isomorphs import IsomorphEffect, compare_isomorphs, invariance_text, isomorph_effects
from waybench.results.estimates import matrix
from waybench.results.stats._verdicts import Verdict

DFS = waybench.load("search/dfs")
COUNT = 10


def episodes(player: str, number: int = 0, *, count: int = COUNT, model: str = "m") -> list[LoggedEpisode]:
    """Return a player's episodes at the first items, or at the isomorphic ones of a number."""
    source = DFS.source(level=6)
    assert DFS.items.isomorph is not None
    if number:
        source = IsomorphicSource(source, DFS.items.isomorph, DFS.items.prove, number)
    return [
        LoggedEpisode(model=model, task="dfs", record=play_to_end(DFS, item, policy(player), {}).record())
        for item in source.head(count)
    ]


def test_labels_of_isomorphic_sets() -> None:
    instance = DFS.source().item(0).instance
    assert Item(instance, "1", 5, key="dfs-v1").key_label == "dfs-v1"
    assert Item(instance, "1", 5, key="dfs-v1", isomorph=7).key_label == "dfs-v1~7"
    private = Item(instance, "1", 5, key="secret", private=True, isomorph=2).key_label
    assert "secret" not in private
    label = Item(instance, "1", 5, key="secret", private=True).key_label
    assert split_isomorphic_label(private) == (label, 2)
    assert split_isomorphic_label("a~b") == ("a~b", 0)
    assert split_isomorphic_label("a~0") == ("a~0", 0)


def test_who_remembers_the_originals_is_found() -> None:
    """A player that solves the original items and no others."""
    logged = [*episodes("oracle"), *episodes("null", 1), *episodes("null", 2)]
    (effect,) = isomorph_effects(rows(logged))
    one = effect.comparison
    assert (one.items, one.verdict) == (COUNT, Verdict.FIRST)
    assert effect.group.key == "search-v1"
    assert effect.numbers == (1, 2)
    # G_min is 0 for the oracle, and (6 - 1) / 6 if only the start is visited; two of three pairs of forms differ.
    assert one.first_mean.value == 0
    assert one.second_mean.value == pytest.approx(5 / 6)
    assert effect.agreement is not None
    assert effect.agreement.value == pytest.approx(1 - 5 / 6 * 2 / 3)
    assert effect.worst is not None
    assert effect.worst.value == pytest.approx(5 / 6)
    assert effect_frame(IsomorphEffect.kind, [effect]).table.column("sets").to_pylist() == ["1 2"]
    assert json.loads(json.dumps(effect.to_json()))["isomorphic_mean"]["value"] == pytest.approx(5 / 6)
    assert "agreement of two forms 0.444" in invariance_text(compare_isomorphs(item_scores(rows(logged))))


def test_who_does_not_is_not() -> None:
    logged = [*episodes("oracle"), *episodes("oracle", 1), *episodes("null", model="other")]
    (effect,) = isomorph_effects(rows(logged))
    assert effect.comparison.difference.value == 0
    assert effect.comparison.verdict is not Verdict.FIRST
    assert effect.agreement is not None
    assert effect.agreement.value == 1


def test_originals_in_an_isomorphic_set_are_not_new() -> None:
    """A record of an original item under the label of an isomorphic set is left out."""
    first, *others = episodes("null", 1)
    original = episodes("oracle")
    item = {**first.record.item, "id": original[0].record.item["id"]}
    copied = replace(first, record=replace(original[0].record, item=item))
    (effect,) = isomorph_effects(rows([*original, copied, *others]))
    assert effect.same == 1
    assert effect.comparison.items == COUNT - 1


def test_items_of_one_appearance_alone_are_not_compared() -> None:
    (effect,) = isomorph_effects(rows([*episodes("oracle"), *episodes("oracle", 1, count=3)]))
    assert effect.comparison.items == 3
    assert not isomorph_effects(rows(episodes("oracle")))
    assert not isomorph_effects(rows(episodes("oracle", 1)))


def test_isomorphic_items_are_not_in_the_matrix_beside_originals() -> None:
    def cells(logged: list[LoggedEpisode]) -> dict[str, int]:
        return {row.model: cell.items for row in matrix(rows(logged)).rows for cell in row.cells.values()}

    own = episodes("oracle")
    assert cells([*own, *episodes("null", 1), *episodes("null", 1, model="fresh")]) == {"m": COUNT}
    assert cells(episodes("null", 1, model="fresh")) == {"fresh": COUNT}


@pytest.mark.slow
def test_the_page_has_the_line(tmp_path: Path) -> None:
    made = site(tmp_path, [*episodes("oracle"), *episodes("null", 1)])
    (page,) = [page for page in made.tasks.values() if "Published against fresh" in page.text]
    headings, *lines = page.table("Published against fresh: the same cases in another appearance.")
    assert [one.split()[0] for one in headings[1:5]] == ["Cases", "Isomorphic", "Original", "Isomorphic"]
    assert lines[0][0].split()[0] == "m"
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [(each["items"], each["sets"], each["verdict"]) for each in summary["isomorphs"]] == [(COUNT, [1], "first")]
