"""Charts hold what can be compared, and pages say what no chart shows."""

from pathlib import Path

import pytest

import waybench
from tests.analysis.episodes import estimate
from tests.analysis.searches import searched
from tests.report.pages import Page, site
from waybench.reporting.charts._points import chart_sets
from waybench.results import LoggedEpisode

pytestmark = pytest.mark.slow

DFS = waybench.load("search/dfs")
EASY, HARD = 5, 6


def both_modes(model: str, player: str, **options: int) -> list[LoggedEpisode]:
    """Return a model at two modes, of which each has a set of its own, as the published ones have."""
    return [
        *searched(player, "dfs", model=model, key="aqa-hard", level=HARD, **options),
        *searched(player, "dfs", model=model, key="aqa-easy", level=EASY, **options),
    ]


def labels(page: Page) -> list[str]:
    """Labels of the charts: most are drawn twice, for wide and for narrow pages, and one of a single line once."""
    found: list[str] = []
    size = ""
    for svg in page.all("svg"):
        # A narrow drawing follows its wide one.
        is_narrow = bool(found) and svg.get("aria-label") == found[-1] and svg["viewbox"] != size
        if svg.get("class") == "chart" and not is_narrow:
            found.append(svg["aria-label"])
            size = svg["viewbox"]
    return found


def test_sets_of_different_levels_are_one_line() -> None:
    estimates = estimate([*both_modes("a", "random"), *both_modes("b", "noisy-0.3")])
    divided = chart_sets(estimates, DFS.items.public_key)
    (drawn,) = divided.sets
    assert {(each.group.model, each.level, each.group.key) for each in drawn.estimates} == {
        (model, level, "") for model in "ab" for level in (EASY, HARD)
    }
    assert drawn.keys == {EASY: "aqa-easy", HARD: "aqa-hard"}
    assert divided.left_out == []


def test_each_mark_of_a_level_is_of_the_same_items() -> None:
    mine = searched("random", "dfs", model="a", key="mine")
    theirs = searched("random", "dfs", model="b", key="theirs")
    both = searched("random", "dfs", model="c", key="theirs")
    divided = chart_sets(estimate([*mine, *theirs, *both]), DFS.items.public_key)
    assert [sorted(each.group.model for each in one.estimates) for one in divided.sets] == [["b", "c"], ["a"]]
    assert [one.name for one in divided.sets] == ["", "mine"]
    public = searched("random", "dfs", model="a")
    divided = chart_sets(estimate([*mine, *theirs, *both, *public]), DFS.items.public_key)
    assert [one.keys[EASY] for one in divided.sets] == [DFS.items.public_key, "theirs"]
    assert [(each.group.model, each.group.key) for each in divided.left_out] == [("a", "mine")]


def test_no_chart_of_a_mode_vanishes(tmp_path: Path) -> None:
    episodes = [*both_modes("a", "noisy-0.3"), *both_modes("a", "noisy-0.1", examples=2)]
    for order, given in (("one", episodes), ("other", episodes[::-1])):
        made = site(tmp_path / order, given)
        shown = labels(made.task)
        assert [label for label in shown if "by number of in-context examples" in label] == [
            f"G_min by number of in-context examples for each model, level {level}" for level in (EASY, HARD)
        ]
        assert [label for label in shown if "by step," in label] == [
            f"Per-step accuracy by step, level {level}" for level in (EASY, HARD)
        ]
        assert [label for label in shown if "G_min by level" in label]
        assert "set aqa-easy at level 5; set aqa-hard at level 6." in made.task.text
        # The curves with examples are elsewhere, and the page says where.
        assert "Not shown here: curves by step with more in-context examples." in made.task.text
        assert sum("with 2 in-context examples" in label for page in made.results for label in labels(page)) == 2


def test_what_is_not_drawn_is_named(tmp_path: Path) -> None:
    several = [e for key in ("search-v1", "x<b>") for e in searched("random", "dfs", model="a", key=key)]
    told = "Not shown: set x<b> at level 5. Where a model was given several sets of cases at one level"
    made = site(tmp_path / "steps", several)
    assert told in made.task.text
    assert told in made.models[0].text
    levels = [*several, *searched("random", "dfs", model="a", level=HARD)]
    made = site(tmp_path / "levels", levels)
    assert made.task.text.count(told) == 1
    guided = searched("random", "dfs", model="a", teacher_guided=True)
    made = site(tmp_path / "guided", [*searched("random", "dfs", model="a"), *guided])
    assert "curves by step in play without a teacher" in made.task.text
    assert "Not shown" not in site(tmp_path / "plain", searched("random", "dfs")).task.text


def test_players_with_other_items_have_a_chart_of_their_own(tmp_path: Path) -> None:
    one = [e for level in (EASY, HARD) for e in searched("random", "dfs", model="a", level=level)]
    other = [e for level in (EASY, HARD) for e in searched("random", "dfs", model="b", level=level, key="mine")]
    made = site(tmp_path, [*one, *other])
    assert len([label for label in labels(made.task) if "G_min by level" in label]) == 2
    assert "The cases are from set mine at levels 5 and 6." in made.task.text
    assert len({path.stem for path in (tmp_path / "charts").glob("*by-level*.svg")}) >= 2


def test_examples_at_different_levels_are_all_drawn(tmp_path: Path) -> None:
    bare = searched("random", "dfs", model="a", level=EASY)
    shown = searched("random", "dfs", model="a", level=HARD, examples=1)
    made = site(tmp_path, [*bare, *shown])
    assert "Each player is shown with the fewest" not in made.task.text
    assert [label for label in labels(made.task) if "by step," in label] == [
        "Per-step accuracy by step, level 5",
        "Per-step accuracy by step, level 6, with 1 in-context example",
    ]
