"""The pages of text maps: averages over maps, models in pairs, what makes a map hard, and prompts that begin alike."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from tests.analysis.episodes import estimate, failed, variables
from tests.analysis.maps import answered, corridor, easy
from tests.report.pages import site
from waybench.core import Usage, play_to_end, policy
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import PlaceMap
from waybench.reporting import write_report
from waybench.reporting._replays import Replays
from waybench.results import LoggedEpisode, overall, rows
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._models import compare_all_pairs, compare_sides
from waybench.results.estimates import matrix
from waybench.results.estimates._difficulty import regressions
from waybench.results.estimates._measures import rank_by_merit, score_tables_text
from waybench.results.results._rows import ReferenceBounds

MAPS = [corridor(f"m{places}", places, words=20 - places) for places in (3, 4, 5, 6, 7, 9)]
REFERENCES = ("null", "constant", "random", "walked", "reverse", "oracle")


def near(question: MapQuestion) -> str:
    return "oracle" if abs(int(question.source[5:]) - int(question.target[5:])) < 3 else "constant"


def first_room(question: MapQuestion) -> str:
    return "oracle" if "room 0" in (question.source, question.target) else ""


def references(maps: Iterable[PlaceMap], kind: str = "route") -> list[LoggedEpisode]:
    listed = list(maps)
    return [
        episode for name in REFERENCES for episode in answered(name, listed, kind, model=f"waybench/{name}", most=4)
    ]


@pytest.mark.slow
def test_routes_and_destinations_stand_side_by_side(tmp_path: Path) -> None:
    episodes = [
        *answered(near, MAPS, model="vendor/a"),
        *answered("walked", MAPS, "destination", model="vendor/a"),
        *references(MAPS[:2]),
        *references(MAPS[:2], "destination"),
    ]
    home = site(tmp_path, episodes).family
    table = home.table("Routes and destinations, all questions.")
    assert table[0] == ["Model", "Text maps: route finding", "Text maps: destination finding"]
    names = ("Success ↑", "Success, easy ↑", "Success, hard ↑", "Success (MANGO) ↑", "Left out (MANGO) ↓")
    assert table[1] == [*names, "SPL ↑", "Reasoning ↑", "Parsed ↑"] * 2
    totals = {(e.group.model, e.group.env): e for e in overall(rows(episodes))}
    mean = totals["vendor/a", "textmap/route"].metrics["success_hard"]
    assert table[2][3] == f"{mean.value:.3f} {mean.low:.3f} – {mean.high:.3f}"
    floors = {row[0]: row[1:] for row in table[4:]}
    assert set(floors) == {f"waybench/ {name}" for name in REFERENCES}
    assert floors["waybench/ oracle"][0].startswith("1.000")
    assert [cell.split()[0] for cell in floors["waybench/ null"]] == [
        *("0.000", "0.000", "0.000", "–", "1.000", "0.000", "0.000", "0.000")
    ] * 2
    assert "95 % interval over maps" in home.text


@pytest.mark.slow
def test_averages_over_maps(tmp_path: Path) -> None:
    episodes = answered(near, MAPS, model="vendor/a")
    (found,) = overall(rows(episodes))
    head, line = site(tmp_path, episodes).task.table("Averages over maps.")
    assert head[:3] == ["Model", "Maps", "Success ↑"]
    macro, micro = found.macro["success"], found.metrics["success"]
    assert line[:3] == ["vendor/ a", "6", f"{macro.value:.3f} {macro.low:.3f} – {macro.high:.3f}"]
    assert macro.value != pytest.approx(micro.value, abs=0.01)
    (totals,) = json.loads((tmp_path / "summary.json").read_text())["overall"]
    assert totals["macro"]["success"]["value"] == pytest.approx(macro.value)
    assert totals["metrics"]["success"]["clusters"] == 6


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_nothing_that_could_be_read_is_a_failure_and_no_infrastructure_error(tmp_path: Path, protocol: str) -> None:
    episodes = answered("null", MAPS, model="vendor/mute", protocol=protocol)
    made = site(tmp_path, episodes)
    for shown in (made.family, made.task, made.result):
        assert not re.search(r"missing or have fewer attempts", shown.text)
    assert "only the numbers marked (MANGO) leave it out" in made.family.text
    table = score_tables_text(estimate(episodes), totals=overall(rows(episodes)))
    assert [line.split() for line in table.splitlines() if "mute" in line] == [
        ["vendor/mute", "0.000", "0.000", "0.000"]
    ]
    lost = [replace(episode, record=failed(episode.record)) for episode in episodes]
    assert "n/a" in score_tables_text(estimate(lost))


def test_a_model_with_more_unreadable_answers_is_not_ranked_above_one_that_solves_more() -> None:
    """Two models that answer as the oracle does, but for 28 % and 18 % of unreadable and some wrong answers."""
    kinds = {"vendor/a": (("", 7), ("constant", 2)), "vendor/b": (("", 4), ("constant", 4))}
    episodes: list[LoggedEpisode] = []
    for model, spoilt in kinds.items():
        said = [name for name, count in spoilt for _ in range(count)]
        players = iter([*said, *["oracle"] * 1000])
        episodes += answered(lambda question, players=players: next(players), MAPS, model=model, most=4)
    totals = {total.group.model: total for total in overall(rows(episodes))}
    a, b = totals["vendor/a"], totals["vendor/b"]
    assert a.outcomes["unparsed"] > b.outcomes["unparsed"]
    assert a.metrics["mango_success"].value > b.metrics["mango_success"].value, "the paper's number"
    assert a.best and b.best and a.best.value < b.best.value
    assert next(iter(rank_by_merit(estimate(episodes)))).model == "vendor/b"
    with_floors = [replace(row, anchors=ReferenceBounds(0.0, {}, 1.0)) for row in rows(episodes)]
    assert [line.model for line in matrix(with_floors).rows] == ["vendor/b", "vendor/a"]
    for total in (a, b):
        left_out = total.metrics["mango_left_out"]
        assert left_out.value * left_out.n == pytest.approx(total.outcomes["unparsed"] * total.replies)
        assert total.metrics["mango_success"].n == total.items - round(left_out.value * left_out.n)
    first, second = item_scores(rows(episodes))
    ((found,), _) = compare_sides([first], [second])
    assert found.difference.value == pytest.approx(a.best.value - b.best.value)


@pytest.mark.slow
def test_models_in_pairs(tmp_path: Path) -> None:
    episodes = [
        *answered(first_room, MAPS, model="vendor/a"),
        *answered(near, MAPS, model="vendor/b"),
        *answered("null", MAPS, model="waybench/null"),
    ]
    page = site(tmp_path, episodes).task
    table = page.table("Success on the questions that both answered.")
    # Of model a, which leaves questions without an answer, the paper counts the others alone; it comes after b.
    assert table[0] == ["Model", "vendor/ b", "vendor/ a", "waybench/ null"]
    found = {
        pair.metric.name: pair
        for pair in compare_all_pairs(rows(episodes), ("mango_success_easy", "mango_success_hard"))
    }
    easy_pair, hard_pair = found["mango_success_easy"], found["mango_success_hard"]
    a, b = easy_pair.first_mean.value, easy_pair.second_mean.value
    assert a == 1
    # Below the diagonal the row's model is the first one.
    assert table[2][1].startswith(f"{a:.3f} | {b:.3f} {easy_pair.items} questions +{a - b:.3f} ")
    assert table[1][2].startswith(f"{hard_pair.second_mean.value:.3f} | 1.000 {hard_pair.items} questions −")
    assert (table[1][1], table[2][2], table[3][1:]) == ("*", "*", ["", "", "*"])
    assert "Reasoning on the questions that both answered." in page.text
    summary = json.loads((tmp_path / "summary.json").read_text())
    model_of = {total["page"]: total["group"]["model"] for total in summary["overall"]}
    pair_records = {
        (pair["metric"], model_of[pair["first"]], model_of[pair["second"]]): pair for pair in summary["pairs"]
    }
    assert pair_records["mango_success_easy", "vendor/a", "vendor/b"]["items"] == easy_pair.items
    assert pair_records["mango_success_hard", "vendor/a", "vendor/b"]["difference"]["clusters"] == len(MAPS)
    assert page.html.count('<details class="fold" open>') == 4


@pytest.mark.slow
def test_one_model_has_no_pairs_and_many_are_folded(tmp_path: Path) -> None:
    alone = site(tmp_path / "alone", answered("oracle", MAPS[:1]))
    assert not [page for page in alone.pages if "both answered" in page.text]
    many = [episode for number in range(13) for episode in answered("oracle", MAPS[:1], model=f"v/{number}", most=2)]
    page = site(tmp_path / "many", many).task
    # Two of pairs, two of regressions, and one of horizons under other assumptions.
    assert page.html.count('<details class="fold">') == 5
    assert '<details class="fold" open>' not in page.html


def test_pairs_of_other_settings_are_other_tables(tmp_path: Path) -> None:
    episodes = [
        episode
        for protocol in ("paper", "sound")
        for model in ("v/a", "v/b")
        for episode in answered("oracle", MAPS[:1], model=model, protocol=protocol)
    ]
    page = site(tmp_path, episodes).task
    assert page.text.count("Success, models in pairs (protocol: paper)") == 1
    assert page.text.count("Success, models in pairs (protocol: sound)") == 1


@pytest.mark.slow
def test_what_makes_a_map_hard(tmp_path: Path) -> None:
    episodes = [*answered(near, MAPS, model="vendor/a"), *answered("oracle", MAPS, model="waybench/oracle")]
    page = site(tmp_path / "all", episodes).task
    made = rows(episodes)
    found = {(each.group.model, each.metric): each for each in regressions(made, variables(made, episodes))}
    table = page.table("Success, hard (MANGO) by map, on one variable at a time.")
    assert table[0][:5] == ["Model", "Maps", "Places", "Explicit edges", "Imputed edges"]
    slope = found["vendor/a", "mango_success_hard"].slopes[0]
    assert slope.beta is not None
    assert slope.p is not None
    p = "p < 0.001" if slope.p < 0.001 else f"p {slope.p:.3f}"
    assert table[1][:3] == ["vendor/ a", "6", f"−{-slope.beta:.3f} {p}"]
    assert table[3] == ["waybench/ oracle", "6", "– the score is the same for all maps"]
    few = site(tmp_path / "few", answered(near, MAPS[:4], model="vendor/a")).task
    assert few.table("Success, easy (MANGO) by map")[1] == ["vendor/ a", "4", "– fewer than 5 maps"]
    regression_records = json.loads((tmp_path / "few" / "summary.json").read_text())["regressions"]
    assert {slope["why"] for each in regression_records for slope in each["slopes"]} == {"fewer than 5"}


def test_page_of_results_has_its_maps_and_each_long_opening_once(tmp_path: Path) -> None:
    maps = [corridor("small", 4, words=500), corridor("large", 9, words=300)]
    used = Usage(1000, 50, cached_tokens=900)
    made = site(tmp_path, answered(near, maps, usage=used))
    page = made.result
    table = page.table("By map.")
    assert table[0] == [
        "Map",
        "Size class",
        "Places",
        "Questions",
        "Success ↑",
        "Success, easy ↑",
        "Success, hard ↑",
        "Reasoning ↑",
        "Drawing",
    ]
    assert [row[:4] for row in table[1:]] == [["small", "1", "4", "12"], ["large", "2", "9", "72"]]
    assert table[1][4:] == [*(f"{value:.3f}" for value in (10 / 12, 5 / 6, 5 / 6, 10 / 12)), "whole drawing"]
    # The walkthrough is there once for each map, and every question on its page, with a link there.
    assert page.text.count("==>STEP NUM: 0") == 2
    assert page.text.count("Shared beginning of the prompts of these questions") == 2
    assert "!!! Can you find a path" not in page.text
    assert len(made.replays) == 12 + 72
    for attempt in made.replays:
        assert attempt.text.count('!!! Can you find a path from "room') == 1
        assert "==>STEP NUM" not in attempt.text
        assert len([link for link in attempt.links("../results/") if "#b" in link]) == 1
    assert "90.0 % of input tokens read from the provider's cache" in page.text
    assert re.search(r"9\d\.\d % shared prefix with the other questions about the same map;", page.text)
    assert "Difficulty hard" in page.text
    assert re.search(r"1,000 9\d\.\d % shared 90\.0 % cached", " ".join(made.task.table("Outcomes and cost")[2]))
    by_class = page.table("By size class.")
    assert [row[0] for row in by_class] == ["Size class", "1", "2", "all"]


def test_short_openings_are_with_each_attempt(tmp_path: Path) -> None:
    made = site(tmp_path, answered("oracle", [corridor("m", 4, words=30)], most=3))
    assert "begin with" not in made.result.text
    assert [page.text.count("==>STEP NUM: 0") for page in made.replays] == [1, 1, 1]
    assert [page.text.count('!!! Can you find a path from "room') for page in made.replays] == [1, 1, 1]


def test_a_long_prompt_by_itself_is_cut_in_its_middle(tmp_path: Path) -> None:
    (page,) = site(tmp_path, answered("oracle", [corridor("m", 5, words=800)], most=1)).replays
    assert "==>STEP NUM: 0" in page.text
    assert '!!! Can you find a path from "room 0" to "room 1"' in page.text
    assert re.search(r"Cut here: the first 6,667 and the last 1,333 of [\d,]+ characters are shown", page.text)


def test_maps_of_one_question_each_are_no_table_of_maps(tmp_path: Path) -> None:
    made = site(tmp_path, answered("oracle", MAPS, most=1))
    assert "By map." not in made.result.text
    assert made.result.text.count("Question m") == len(MAPS)
    assert "Averages over maps" not in made.task.text
    assert "interval over maps" in made.family.text


def test_extractions_and_minigames_are_of_the_family(tmp_path: Path) -> None:
    episodes = [
        LoggedEpisode(f"v/{player}", env, play_to_end(found, item, policy(player)).record())
        for env in ("minigame", "extract")
        for found in (waybench.load(f"textmap/{env}"),)
        for player in ("oracle", "random")
        for item in found.source().head(12 if env == "minigame" else 2)
    ]
    made = site(tmp_path, episodes)
    assert made.family.table("Minigames, all questions.")[0][1:4] == [
        *("Success ↑", "Success, known moves ↑", "Success, new moves ↑"),
    ]
    assert made.family.table("Extraction and search, all questions.")[0][1] == "Success ↑"
    title = "Success in minigames on the questions that both answered."
    assert [title in page.text for page in made.tasks.values()] == [False, True]  # extract, minigame


@pytest.mark.slow
def test_pages_of_a_thousand_questions_stay_small(tmp_path: Path) -> None:
    maps = [corridor(f"m{number}", 9, words=450) for number in range(14)]  # 72 questions each, prompts of 20,000
    episodes = answered(lambda question: "oracle" if easy(question) else "random", maps)
    assert len(episodes) == 1008
    assert len(episodes[0].record.opening[0].text) > 20_000
    write_report(episodes, tmp_path, replays=Replays(everything=True))
    (path,) = (tmp_path / "results").iterdir()
    assert path.stat().st_size < 2_000_000
    sizes = [path.stat().st_size for path in (tmp_path / "replays").iterdir()]
    assert len(sizes) == 1008
    assert max(sizes) < 20_000


def test_records_that_do_not_replay_are_in_no_map(tmp_path: Path) -> None:
    first, *others = answered("oracle", MAPS[:2], most=3)
    turn = first.record.turns[0]
    forged = replace(first.record, turns=(turn._replace(reply="nothing"),), instance={"map": {"name": "<b>"}})
    made = site(tmp_path, [replace(first, record=forged), *others])
    assert [row[:4] for row in made.result.table("By map.")[1:]] == [["m3", "1", "3", "2"], ["m4", "1", "4", "3"]]
    assert sum("does not agree with the re-simulation" in page.text for page in made.replays) == 1
    assert "Excluded" in made.task.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ['</h3><script>alert(1)</script>{{ 7 * 7 }}"', "x" * 1000, "a" * 61 + "<b>"])
def test_hostile_names_of_maps_and_models(tmp_path: Path, name: str) -> None:
    maps = [replace(corridor("m", places), name=f"{name[:990]}{places}") for places in range(3, 9)]
    answers = [
        *answered(near, maps, model=name, most=6),
        *answered("walked", maps, model="<i>" + name, most=6),
        *answered("oracle", maps, model="waybench/oracle", most=6),
    ]
    made = site(tmp_path, answers, name)
    assert "both answered" in made.task.text
    assert [len(page.table("By map.")) for page in made.results] == [7, 7, 7]
    for page in made.pages:
        assert "49" not in [word for words in page.words for word in words.split()]
