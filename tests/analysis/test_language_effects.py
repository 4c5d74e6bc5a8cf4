"""The gap between languages of one model at the same items, and its table in the report."""

import json
from pathlib import Path

import pytest

import waybench
from tests.report.pages import site
from waybench.core import play_to_end, policy
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._presentations import language_effects
from waybench.results.stats._verdicts import Verdict

MAZES = waybench.load("maze/alicia")
COUNT = 8


def episodes(player: str, language: str, *, first: int = 0, model: str = "m") -> list[LoggedEpisode]:
    options = {"protocol": "sound", "language": language}
    source = MAZES.source(level=5, protocol="sound")
    return [
        LoggedEpisode(
            model=model,
            task="alicia",
            record=play_to_end(MAZES, source.item(index), policy(player), options).record(),
        )
        for index in range(first, first + COUNT)
    ]


def test_a_model_that_is_worse_in_spanish() -> None:
    logged = [*episodes("oracle", "en"), *episodes("null", "es"), *episodes("null", "es", model="spanish only")]
    (effect,) = language_effects(rows(logged))
    comparison = effect.comparison
    assert (comparison.items, comparison.verdict) == (COUNT, Verdict.SECOND)
    assert (comparison.first_mean.value, comparison.second_mean.value, comparison.difference.value) == (0, 100, -100)
    assert [dict(group.options).get("language") for group in (effect.group, effect.reference)] == ["es", None]
    written = json.loads(json.dumps(effect.to_json()))
    assert (written["language"], written["reference_mean"]["value"]) == ("es", 100)


def test_only_items_in_both_languages_count() -> None:
    (effect,) = language_effects(rows([*episodes("oracle", "en"), *episodes("oracle", "es", first=5)]))
    assert (effect.comparison.items, effect.comparison.difference.value) == (COUNT - 5, 0)
    assert not language_effects(rows([*episodes("oracle", "en"), *episodes("oracle", "es", first=COUNT)]))


def test_the_page_and_the_summary_have_the_gap(tmp_path: Path) -> None:
    made = site(tmp_path, [*episodes("oracle", "en"), *episodes("null", "es")])
    (page,) = [page for page in made.tasks.values() if "in several languages" in page.text]
    headings, *lines = page.table("The same mazes in several languages.")
    assert headings[1:6] == ["Language", "Mazes", "Mean in en", "Mean", "Difference"]
    assert (lines[0][0].split()[0], lines[0][1:3]) == ("m", ["es", str(COUNT)])
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    (effect,) = summary["languages"]
    assert (effect["language"], effect["items"], effect["verdict"]) == ("es", COUNT, "second")
    assert effect["difference"]["value"] == pytest.approx(-100)
    assert (tmp_path / "data" / "languages.csv").read_text().count("\n") == 2
