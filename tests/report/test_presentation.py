"""An environment that is not in the catalogue has its own title, words, table and drawing in the report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import variables
from tests.report.pages import Page
from tests.toys import DIAL, Dial
from waybench.core import Entry, ExplanatoryVariables, Presentation, TurnRecord, play_to_end, policy
from waybench.envs import registry
from waybench.reporting import write_report
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates._difficulty import regressions


def draw(dial: Dial, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    at = turns[-1].events.get("at", dial.start) if turns else dial.start
    return f'<svg viewBox="0 0 9 9" role="img" aria-label="Pointer at {at} of {dial.goal}"></svg>'


DECLARED = replace(
    DIAL,
    presentation=Presentation(
        title="Dials and knobs",
        lead="Turning things until they point where they should.",
        level="number of marks",
        levels="numbers of marks",
        item="dial",
        metrics=("score",),
        legend="The pointer, seen from above.",
        reference="where it should point",
        draw=draw,
    ),
    items=replace(DIAL.items, cluster=lambda record: f"goal {record.instance[1]}"),
    difficulty=replace(
        DIAL.difficulty,
        explanatory_variables=ExplanatoryVariables(
            titles={"goal": "Goal"},
            note="A note of its own.",
            by_metric={"score": ("goal",)},
            depends_on=lambda record: record.instance,
            of=lambda record: {"goal": float(record.instance[1])},
        ),
    ),
)
PLAIN = replace(DIAL, id="toy/plain", title="A plain dial")
OTHER = replace(DIAL, id="toy/other", title="Another dial")


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the toys to the catalogue as long as a test lasts."""
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))  # pyright: ignore[reportPrivateUsage]
    for name in ("DECLARED", "PLAIN", "OTHER"):
        env = globals()[name]
        registry.register(Entry(env.id, env.version, f"{__name__}:{name}", env.title))


def episodes(env: Any, count: int = 6) -> list[LoggedEpisode]:
    items = env.source().head(2) + env.source(level=5).head(count)
    return [LoggedEpisode("vendor/model", "toy", play_to_end(env, item, policy("oracle")).record()) for item in items]


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_words_and_table_of_a_third_party(tmp_path: Path) -> None:
    write_report(episodes(DECLARED), tmp_path)
    index = page_of(tmp_path / "index.html").text
    task = page_of(tmp_path / "tasks" / "toy-dial.html").text
    assert "Dials and knobs" in index
    assert not (tmp_path / "families").exists()  # its page would only lead on to the task
    for text in ("Turning things until they point where they should.", "Means over dials."):
        assert text in task
    assert "Score, by number of marks" in task
    assert "Numbers of marks 3 to 5, up to 6 dials each" in task
    assert "Other environments" not in index


def test_drawing_of_a_third_party(tmp_path: Path) -> None:
    (last, *_) = episodes(DECLARED)
    write_report([last], tmp_path)
    (replay,) = (tmp_path / "replays").iterdir()
    page = page_of(replay)
    assert "The pointer, seen from above." in page.text
    assert "Show where it should point" in page.text
    goal = last.record.instance[1]
    assert f"Pointer at {goal} of {goal}" in [each.get("aria-label") for each in page.all("svg")]


def test_explanatory_variables_of_a_third_party() -> None:
    played = episodes(DECLARED, count=8)
    (found,) = regressions(rows(played), variables(rows(played), played))
    assert (found.metric, [slope.variable for slope in found.slopes]) == ("score", ["goal"])
    (known,) = variables(rows(played), played).values()
    assert len(known) > 3
    for cluster, values in known.items():
        assert values == {"goal": float(cluster.name.removeprefix("goal "))}


def test_what_declares_nothing_has_its_own_title(tmp_path: Path) -> None:
    write_report([*episodes(PLAIN), *episodes(OTHER)], tmp_path)
    index, task = page_of(tmp_path / "index.html"), page_of(tmp_path / "tasks" / "toy-plain.html").text
    assert {path.stem for path in (tmp_path / "tasks").iterdir()} == {"toy-plain", "toy-other"}
    assert "A plain dial" in index.text
    assert "Another dial" in index.text
    assert "Other environments" not in index.text
    assert "at most one attempt at each item" in task
    assert " a item" not in task


def test_a_noun_that_begins_with_a_vowel_has_its_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    presentation = Presentation(level="order", item="eel", cluster="island")
    changed = replace(DECLARED, presentation=presentation)
    monkeypatch.setattr(f"{__name__}.DECLARED", changed)
    write_report(episodes(changed, count=8), tmp_path)
    task = page_of(tmp_path / "tasks" / "toy-dial.html").text
    assert "An order without a point was not run" in task
    assert "at most one attempt at each eel" in task
    assert "What makes an island hard" in task


def test_plurals_follow_the_noun() -> None:
    plain = Presentation()
    assert (plain.level, plain.levels, plain.item, plain.items, plain.cluster, plain.clusters) == (
        *("level", "levels", "item", "items"),
        *("", ""),
    )
    named = Presentation(item="maze", level="size class", levels="size classes", cluster="map")
    assert (named.items, named.levels, named.clusters) == ("mazes", "size classes", "maps")
    assert (plain.sampling_units, named.sampling_units) == ("items", "maps")
