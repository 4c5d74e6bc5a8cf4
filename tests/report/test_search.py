"""The pages of a family of several environments: its tables, curves, and what they say with a teacher."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import SCORE, estimate
from tests.analysis.searches import LEVELS, answered, items, searched
from tests.report.pages import Page, site
from waybench.core import Metric
from waybench.reporting import write_report
from waybench.reporting._format import presentation_of, quality_between_bounds, value_text
from waybench.reporting.charts._chart import WIDE, Plot, chart_spec
from waybench.reporting.charts._points import points_by_examples, points_by_step, step_window
from waybench.results import Estimate, LoggedEpisode, rows
from waybench.results.comparisons._prompts import examples_effects
from waybench.results.estimates import as_metric, headline_spec
from waybench.results.estimates._bounds import Curve
from waybench.results.estimates._measures import HeadlineSpec
from waybench.results.stats import IntervalEstimate

GUESS = waybench.load("search/guessnum")
ERR_MIN, ERR_SUM = GUESS.scoring.metrics[:2]
BOTH = "guessnum", "dfs"


def everywhere(player: str, envs: tuple[str, ...] = BOTH, **options: Any) -> list[LoggedEpisode]:
    return [episode for env in envs for episode in searched(player, env, **options)]


def charts(page: Page) -> list[str]:
    return [svg["aria-label"] for svg in page.all("svg") if svg.get("class") == "chart"]


def test_how_good_a_value_is() -> None:
    assert [quality_between_bounds(value, ERR_MIN) for value in (0.0, 0.25, 1.0)] == [1, 0.75, 0]
    assert [quality_between_bounds(value, SCORE) for value in (0.0, 25.0)] == [0, 0.25]
    assert quality_between_bounds(3.0, ERR_SUM) is None
    neither = Metric(name="x", of=lambda record: 0.0, title="X", doc="", low=0, high=1, better="")
    assert quality_between_bounds(0.5, neither) is None
    assert (value_text(0.03125, ERR_MIN), value_text(0.0, ERR_MIN), value_text(66.66, SCORE)) == (
        *("0.031", "0"),
        "66.7\u00a0%",
    )


def test_table_of_the_family(tmp_path: Path) -> None:
    episodes = [
        *everywhere("noisy-0.3", model="vendor/a", count=5),
        *searched("random", "dfs", model="vendor/b"),
        *everywhere("oracle"),
    ]
    home = site(tmp_path, episodes).family
    # At a level that is of no mode the environments of the same level stand side by side.
    found = {(e.group.model, e.group.env): e for e in estimate(episodes)}
    table = home.table("Base environments, Level 6.")
    assert table[0] == ["Model", "Err_min ↓", "Err_sum ↓", "ACC ↑"]
    (cell,) = [row[2] for row in table if row[0] == "vendor/ a"]
    mean = found["vendor/a", "search/guessnum"].metrics["err_sum"]
    assert (mean.low, mean.n) == (None, 5)
    assert cell == f"{mean.value:.2f} n = 5"
    walk = home.table("Base environments, Level 5.")
    assert [row[0] for row in walk[1:]] == [
        "vendor/ a",
        "vendor/ b",
        "Reference players, not models",
        "waybench/ oracle",
    ]
    arrows = [a["aria-label"] for a in home.all("span") if a.get("role") == "img"]
    assert arrows[:3] == ["lower is better", "lower is better", "higher is better"]


def test_modes_put_levels_of_different_environments_into_one_row(tmp_path: Path) -> None:
    episodes = [
        e for env, level in (("bfs", 15), ("guessnum", 15), ("dfs", 8)) for e in searched("oracle", env, level=level)
    ]
    made = site(tmp_path, episodes)
    table = made.family.table("Base environments, EASY mode.")
    assert table[0] == ["Model", "Number guessing", "Depth-first search", "Breadth-first search"]
    assert len(table[1]) == 9
    (row,) = table[3:]
    assert [cell.split()[0] for cell in row[1:]][::3] == ["0.000", "0.000", "0.000"]
    assert presentation_of("search/coin").level_title("search/coin", 25) == "HARD mode"
    assert presentation_of("search/coin").level_title("search/coin", 8) == "Level 8"
    # One level is in the family's table already.
    assert not [page for page in (made.home, *made.tasks.values()) if "by level." in page.text]


def test_change_by_examples(tmp_path: Path) -> None:
    bare = searched("noisy-0.6", model="m", count=12)
    shown = searched("oracle", model="m", count=12, examples=2)
    home = site(tmp_path, [*shown, *bare]).family
    first, second = home.table("Base environments, Level 6.")[1:]
    assert (first[0], second[0]) == ("m", "m examples: 2")
    (change,) = examples_effects(rows([*bare, *shown]))
    moved = change.metrics["acc"].value
    assert second[3].split()[1] == f"+{moved:.3f}"
    assert f"change due to the examples: +{moved:.3f}, better (interval " in second[3]
    assert re.search(r"change due to the examples: −[\d.]+, better", second[2])
    assert "changed" not in " ".join(first)
    assert "in-context examples against the same model without any" in home.text
    hidden = re.findall(r'<span aria-hidden="true">([^<]*)</span>', home.html)
    assert hidden[2] == f"+{moved:.3f}"


def test_with_a_teacher_the_curve_stands_for_the_goal(tmp_path: Path) -> None:
    episodes = everywhere("noisy-0.3", model="m", teacher_guided=True, count=8)
    made = site(tmp_path, episodes)
    home = made.family
    found = {e.group.env: e for e in estimate(episodes)}
    for env, level in (("guessnum", 6), ("dfs", 5)):
        table = home.table(f"With a teacher, Level {level}.")
        mean = found[f"search/{env}"].curves["follows"].average
        assert table[0] == ["Model", "PSACC ↑"]
        assert table[1][1].split()[0] == f"{mean.value:.3f}"
    assert "Err_min" not in home.text
    assert "success is the teacher's" in home.text
    assert [page.table("Outcomes and cost")[2][3] for page in made.tasks.values()] == ["–", "–"]
    assert [page.table("By level.")[0][3] for page in made.results] == ["PSACC ↑"] * 2
    assert [page.text.count("solved, by the teacher") for page in made.results] == [8, 8]
    assert len(made.replays) == 16
    assert all("ended: solved, by the teacher." in page.text for page in made.replays)
    for name in BOTH:
        lead = f"{waybench.load(f'search/{name}').title}. PSACC "
        told = [page.text for page in made.replays if lead in page.text]
        assert len(told) == 8
        assert any("Carried out in its place:" in text for text in told)


def test_curves_are_drawn_for_every_environment(tmp_path: Path) -> None:
    guided = everywhere("noisy-0.3", model="a", teacher_guided=True)
    shown = everywhere("noisy-0.3", model="a", teacher_guided=True, examples=2)
    made = site(tmp_path, [*guided, *shown, *everywhere("oracle", teacher_guided=True), *everywhere("oracle")])
    for name, level in (("guessnum", 6), ("dfs", 5)):
        title = f"Per-step accuracy by step, level {level}, with a teacher"
        labels = [label for label in charts(made.tasks[f"search-{name}"]) if "by step," in label]
        # Two lines have a drawing for wide pages and one for narrow ones, a line alone has one for both.
        assert sorted(labels) == [title, title, f"{title}, with 2 in-context examples"]


def test_number_of_examples_is_drawn_where_there_are_two(tmp_path: Path) -> None:
    episodes = [*searched("random", model="a"), *searched("random", model="a", examples=2), *searched("oracle")]
    made = site(tmp_path, episodes)
    assert charts(made.task).count("Err_min by number of in-context examples for each model, level 6") == 1
    points = points_by_examples(estimate(episodes), HeadlineSpec(ERR_MIN))
    assert [(point.label, point.at) for point in points] == [("a", 0), ("a", 2)]
    alone = site(tmp_path / "alone", searched("random", examples=2))
    assert not [label for page in alone.pages for label in charts(page) if "number of" in label]


def test_curve_points_and_their_axis() -> None:
    episodes = searched("noisy-0.3", "dfs", model="a", teacher_guided=True, count=6)
    (found,) = estimate(episodes)
    series = as_metric(waybench.load("search/dfs").scoring.series[0])
    points = points_by_step([found], series)
    assert [point.at for point in points] == list(range(1, len(found.curves["follows"].steps) + 1))
    assert [point.mean for point in points] == list(found.curves["follows"].steps)
    spec = chart_spec(Plot(points, series, "Step", bands=True), WIDE)
    band, line = spec["layer"][:2]
    assert band["mark"]["type"] == "area"
    assert line["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert line["encoding"]["y"]["title"] == "↑ higher is better"
    assert [shown["x"] for shown in spec["data"]["values"]] == [point.at for point in points]
    lower = chart_spec(Plot(points, ERR_MIN, "Level"), WIDE)
    assert lower["layer"][1]["encoding"]["y"]["title"] == "↓ lower is better"


def test_curves_of_few_episodes_are_means_over_windows_of_steps() -> None:
    series = as_metric(waybench.load("search/dfs").scoring.series[0])
    (found,) = estimate(searched("noisy-0.3", "dfs", model="a", teacher_guided=True, count=2))

    def of(episodes: int) -> Estimate:
        steps = tuple(IntervalEstimate(float(step % 2), 0, 1, episodes, episodes) for step in range(26))
        return replace(found, curves={series.name: Curve(steps, steps[0])})

    assert [step_window([of(episodes)], series) for episodes in (2, 9, 10)] == [3, 3, 1]
    assert step_window([of(2)], replace(series, high=None)) == 1  # a number that grows is no zigzag
    assert step_window([found], series) == 1  # of few steps each is drawn
    steps = of(2).curves[series.name].steps
    assert step_window([replace(found, curves={series.name: Curve(steps[:24], steps[0])})], series) == 1
    points = points_by_step([of(2)], series, 3)
    assert [point.at for point in points] == [2, 5, 8, 11, 14, 17, 20, 23, 25]
    assert [point.mean.value for point in points[:2]] == pytest.approx([1 / 3, 2 / 3])
    assert points[-1].mean == IntervalEstimate(0.5, None, None, 2, 2)


def test_one_set_is_drawn_and_all_are_spread(tmp_path: Path) -> None:
    keys = "mine", "search-v1", "search-v1/2"
    episodes = [e for key in keys for e in searched("noisy-0.4", "dfs", model="a", key=key, count=6)]
    estimates = estimate(episodes)
    table = site(tmp_path, episodes).task.table("Spread over several sets of cases.")
    assert table[0] == ["Model", "Level", "Sets", "G_min ↓", "G_sum ↓", "ACC ↑"]
    values = [each.metrics["acc"].value for each in estimates]
    average = sum(values) / 3
    assert table[1][:3] == ["a", "5", "3"]
    assert table[1][-1] == f"{average:.3f} −{average - min(values):.3f} / +{max(values) - average:.3f}"
    summary = json.loads((tmp_path / "summary.json").read_text())
    (told,) = summary["spreads"]
    assert told["keys"] == list(keys)
    assert told["metrics"]["acc"]["margin_max"] == pytest.approx(max(values) - average)
    assert summary["levels"][0]["curves"]["follows"]["average"]["n"] == 6
    one = site(tmp_path / "one", searched("oracle"))
    assert not [page for page in one.pages if "Spread" in page.text]


def test_summary_has_the_changes(tmp_path: Path) -> None:
    site(tmp_path, [*searched("random", model="m"), *searched("random", model="m", examples=1)])
    (told,) = json.loads((tmp_path / "summary.json").read_text())["changes"]
    assert (told["items"], told["metrics"]["err_min"]["value"]) == (3, 0)


def test_every_attempt_has_its_whole_prompt(tmp_path: Path) -> None:
    episodes = searched("noisy-0.1", "cavedfs", count=6, examples=2)
    made = site(tmp_path, episodes)
    told = "There is an expansive underground cave system"
    assert all(told not in page.text for page in (made.home, made.task, made.result))
    assert len(made.replays) == 6
    for page, episode in zip(made.replays, episodes, strict=True):
        record = episode.record
        said = [*(message.text for message in record.opening), *(turn.message for turn in record.turns)]
        assert page.text.count("Well Done.") == sum(text.count("Well Done.") for text in said) == 3
        assert page.text.count(told) == sum(text.count(told) for text in said) > 0
        pieces = [text for message in record.opening for text in message.text.splitlines()]
        assert [piece for piece in pieces if piece not in page.text] == []
    assert len(charts(made.result)) == 1
    assert "ACC" in " ".join(made.result.table("By level.")[0])


@pytest.mark.slow
def test_pages_of_many_episodes_stay_small(tmp_path: Path) -> None:
    count = 60
    episodes = searched("random", "bfs", model="m", count=count, level=15, examples=7)
    wordy = answered("bfs", items("bfs", 1, level=15)[0], ["I do not know. " * 2000] * 4)
    write_report([*episodes, LoggedEpisode("wordy", "t", wordy)], tmp_path)
    assert len(list((tmp_path / "results").iterdir())) == 2
    (large,) = (tmp_path / "results").glob("m-*.html")
    assert large.stat().st_size < 20_000 + 6_000 * count  # with a drawing each, which a page has only so many of
    assert len(list((tmp_path / "replays").glob("m-*.html"))) == count
    assert max(path.stat().st_size for path in (tmp_path / "replays").glob("m-*.html")) < 80_000
    (talk,) = (tmp_path / "replays").glob("wordy-*.html")
    assert "first 20,000 of 30,000 characters are shown" in talk.read_text(encoding="utf-8")
    assert talk.stat().st_size < 120_000


def test_hostile_replies_to_a_search(tmp_path: Path) -> None:
    replies = ["<script>alert(1)</script>", "\u202e\x00</pre>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"]
    episodes = [
        LoggedEpisode("<b>" + "m", "</h2>", answered(env, items(env, 1)[0], replies, teacher_guided=guided))
        for env in LEVELS
        for guided in (False, True)
    ]
    made = site(tmp_path, [*episodes, *searched("oracle")])
    assert all("\u202e" not in page.html for page in made.pages)
    # The model's name is also on the pages of other players at the same items.
    hostile = [page for page in made.replays if "<b>m" in page.text]
    assert len(hostile) >= len(episodes)
    # Of which the number may be marked.
    assert sum("<script>alert(1)</script>" in "".join(page.words) for page in hostile) == len(episodes)
    assert all("<b>m" in page.text for page in made.tasks.values())
    assert "<b>m" in made.home.text


def test_measure_of_a_group() -> None:
    assert headline_spec(GUESS, guided=False).metric is ERR_MIN
    assert headline_spec(GUESS, guided=True).metric.title == "PSACC"
    assert headline_spec(waybench.load("maze/alicia"), guided=True).metric is SCORE
    guided = searched("noisy-0.3", teacher_guided=True)
    for row, episode in zip(rows(guided), guided, strict=True):
        measured = headline_spec(GUESS, guided=True)
        assert measured.value(row) == row.metrics["psacc"] == measured.metric.of(episode.record)
