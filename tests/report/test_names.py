"""Pages can be told apart by their names and titles, have all tables, and say what was played."""

import re
from pathlib import Path

import pytest

import waybench
from tests.analysis.episodes import estimate
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import searched
from tests.report.pages import Page, site
from waybench.core import play_to_end, policy
from waybench.core._errors import with_article
from waybench.reporting import write_report
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.horizons import horizons
from waybench.results.horizons._text import horizon_table_text
from waybench.results.results._measured_row import measured_row

GTB = waybench.load("tilemap/gtb")


def tried(model: str, *tries: int, count: int = 2, player: str = "noisy-0.2") -> list[LoggedEpisode]:
    return [
        LoggedEpisode(model, "gtb", play_to_end(GTB, item, policy(player), {"tries": number}).record())
        for number in tries
        for item in GTB.source(None, 1).head(count)
    ]


def title(page: Page) -> str:
    return re.findall(r"<title>(.*?)</title>", page.html)[0]


@pytest.mark.slow
def test_pages_of_one_model_differ_in_name_and_title(tmp_path: Path) -> None:
    made = site(tmp_path, tried("vendor/a-model-with-a-name-that-is-far-too-long-for-a-file", 1, 5, 10))
    names = sorted(path.stem for path in (tmp_path / "results").iterdir())
    readable = [name.rpartition("-")[0] for name in names]
    assert len(set(readable)) == 3
    assert {name.partition("-gtb")[2] for name in readable} == {"", "-tries-5", "-tries-10"}
    assert len({title(page) for page in made.results}) == 3
    assert all(f"tries: {number}" in " ".join(map(title, made.results)) for number in (1, 5, 10))


def test_pages_of_one_task_in_several_environments_name_them(tmp_path: Path) -> None:
    episodes = [
        LoggedEpisode("m", "aqa", episode.record) for env in ("guessnum", "dfs") for episode in searched("random", env)
    ]
    made = site(tmp_path, episodes)
    names = sorted(path.stem.rpartition("-")[0] for path in (tmp_path / "results").iterdir())
    assert names == ["m-aqa-search-dfs", "m-aqa-search-guessnum"]
    assert len({title(page) for page in made.results}) == 2


@pytest.mark.slow
def test_rows_of_a_model_are_in_the_order_of_their_settings(tmp_path: Path) -> None:
    episodes = [*tried("b", 10, 1, 5), *tried("a", 5, 10, 1, player="oracle")]
    groups = list(rank_by_merit(estimate(episodes)))
    assert [(group.model, dict(group.options)["tries"]) for group in groups] == [
        (model, tries) for model in "ab" for tries in (1, 5, 10)
    ]
    terminal = [
        line.split(")")[0] for line in horizon_table_text(horizons(rows(episodes))).splitlines() if "(tries" in line
    ]
    assert terminal == [f"{model} (tries: {tries}" for model in "ba" for tries in (1, 5, 10)]
    made = site(tmp_path, episodes)
    reached = [line[0] for line in made.task.table("Horizons, by")[1:] if line[0].startswith("a ")]
    assert reached == [f"a tries: {tries}" for tries in (1, 5, 10)]
    table = made.task.table("Tile maps (GameTraversalBenchmark), all maps.")
    assert [line[0] for line in table[1:]] == [f"{model} tries: {tries}" for model in "ab" for tries in (1, 5, 10)]
    lines = [line.split("|")[1].strip() for line in (tmp_path / "table.md").read_text().splitlines() if "tries" in line]
    assert lines[:6] == [f"{model} (tries: {tries})" for model in "ab" for tries in (1, 5, 10)]


def test_rows_do_not_name_settings_that_a_task_does_not_have(tmp_path: Path) -> None:
    guided = [e for on in (False, True) for e in searched("random", model="m", teacher_guided=on)]
    write_report([*guided, *tried("m", 1)], tmp_path)
    table = (tmp_path / "table.md").read_text().partition("Horizons:")[0].splitlines()
    at = next(number for number, head in enumerate(table[0].split("|")) if "Tile maps" in head)
    assert {line.split("|")[1].strip(): bool(line.split("|")[at].strip()) for line in table[2:] if "|" in line} == {
        "m": True,
        "m (teacher guided: no)": False,
        "m (teacher guided: yes)": False,
    }


def test_a_task_with_one_level_has_all_of_its_metrics(tmp_path: Path) -> None:
    made = site(tmp_path, searched("random", "dfs", model="m"))
    assert made.task.table("Base environments, Level 5.")[0] == ["Model", "G_min ↓", "G_sum ↓", "ACC ↑"]


@pytest.mark.slow
def test_a_page_about_maps_says_which_and_how_much_of_them_was_shown(tmp_path: Path) -> None:
    (episode,) = answered("oracle", [corridor("m", 71)], key="mango", most=1)
    assert dict(measured_row(episode).group.options)["prefix_steps"] == 70
    page = site(tmp_path, [episode]).result
    settings = page.html.partition('aria-label="Settings"')[2].partition("</ul>")[0]
    assert "<li>prefix steps: 70</li>" in settings
    assert "<li>maps: m</li>" in settings
    # A published walkthrough of fewer steps is shown whole by default.
    for key, places, steps in (("mango", 4, 70), ("mango", 101, None), ("mine", 71, None)):
        (other,) = answered("oracle", [corridor("m", places)], key=key, most=1)
        assert dict(measured_row(other).group.options)["prefix_steps"] == steps


def test_articles() -> None:
    assert [with_article(noun) for noun in ("maze", "item", "Episode", "unit")] == [
        *("a maze", "an item", "an Episode", "a unit")
    ]
