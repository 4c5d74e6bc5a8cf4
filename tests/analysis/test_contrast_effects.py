"""What demands cost: contrasts of an option's values at the same items, with ladders that end early."""

import json
from pathlib import Path

import pytest

from tests.report.pages import site
from waybench.core import play_to_end, policy
from waybench.envs import registry
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._contrasts import (
    compare_costs,
    contrast_effects,
    contrast_profiles,
    contrast_text,
    cost_differences_text,
)
from waybench.results.horizons import horizons
from waybench.results.stats._verdicts import Verdict

WORLD = registry.load("atlas/world")
COUNT = 12
LADDER = (3, 4, 6)


def episodes(player: str, condition: str, levels: tuple[int, ...] = (3,), model: str = "m") -> list[LoggedEpisode]:
    return [
        LoggedEpisode(
            model=model,
            task="atlas",
            record=play_to_end(WORLD, item, policy(player), {"condition": condition}).record(),
            design={"levels": list(LADDER)},
        )
        for level in levels
        for item in WORLD.source("contrasts", level).head(COUNT)
    ]


def test_a_demand_that_a_model_does_not_meet_costs_all() -> None:
    logged = [*episodes("oracle", "plan"), *episodes("null", "read"), *episodes("oracle", "map")]
    effects = {effect.contrast.demanding: effect for effect in contrast_effects(rows(logged))}
    assert effects.keys() == {"map", "read"}
    assert (effects["read"].comparison.difference.value, effects["map"].comparison.difference.value) == (1, 0)
    assert (effects["read"].comparison.verdict, effects["read"].comparison.items) == (Verdict.FIRST, COUNT)
    assert effects["read"].comparison.family_size == 1  # no result of the other could have shown a difference
    assert [dict(group.options)["condition"] for group in effects["read"].comparison.groups] == ["plan", "read"]
    assert "building a map from a story" in contrast_text(rows(logged))


def test_environments_with_other_contrasts_stand_beside() -> None:
    # Mazes have a contrast of frames, and no conditions.
    maze = registry.load("maze/alicia")
    (item,) = maze.source("contrasts", 5).head(1)
    other = LoggedEpisode(model="m", task="alicia", record=play_to_end(maze, item, policy("oracle")).record())
    (effect,) = contrast_effects(rows([*episodes("oracle", "plan"), *episodes("null", "read"), other]))
    assert effect.group.env == "atlas/world"


def test_another_model_is_no_part_of_it() -> None:
    assert not contrast_effects(rows([*episodes("oracle", "plan"), *episodes("null", "read", model="other")]))


@pytest.mark.slow
def test_above_the_end_of_a_ladder_nothing_is_solved() -> None:
    # The ladder of "read" ends after two levels without success; the third one counts as failed.
    ended = [*episodes("oracle", "plan", LADDER), *episodes("null", "read", LADDER[:2])]
    (effect,) = contrast_effects(rows(ended))
    assert (effect.comparison.items, effect.comparison.difference.value) == (3 * COUNT, 1)
    # After one level it has not ended: the next ones were not played yet.
    (effect,) = contrast_effects(rows([*episodes("oracle", "plan", LADDER), *episodes("null", "read", LADDER[:1])]))
    assert effect.comparison.items == COUNT
    # Nor has it where something was solved at the last level.
    (effect,) = contrast_effects(rows([*episodes("oracle", "plan", LADDER), *episodes("oracle", "read", LADDER[:2])]))
    assert effect.comparison.items == 2 * COUNT


def test_the_pages_and_the_summary_have_the_costs(tmp_path: Path) -> None:
    made = site(tmp_path, [*episodes("oracle", "plan"), *episodes("null", "read")])
    pages = [page for page in made.tasks.values() if "What each demand costs" in page.text]
    assert len(pages) == 2  # with both values of the option
    headings, *lines = pages[0].table("What each demand costs.")
    assert headings[1:4] == ["Cost of", "Difference of", "Worlds"]
    assert lines[0][1:4] == ["building a map from a story", "plan − read", str(COUNT)]
    (effect,) = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["contrasts"]
    assert (effect["demand"], effect["difference"]["value"]) == ("building a map from a story", 1)


def test_intervals_of_a_players_costs_hold_together() -> None:
    logged = [*episodes("able", "plan"), *episodes("null", "read"), *episodes("null", "map")]
    read, drawn = (effect.comparison for effect in contrast_effects(rows(logged)))
    assert read.family_size == drawn.family_size == 2
    assert read.simultaneous.low == read.paired_difference.mean(0.975).low
    assert read.simultaneous.low is not None
    assert read.difference.low is not None
    assert read.simultaneous.low < read.difference.low


def test_a_profile_says_how_far_a_model_reaches_and_what_costs() -> None:
    logged = [
        *episodes("oracle", "plan", LADDER),
        *episodes("null", "read", LADDER),
        *episodes("oracle", "map", LADDER),
    ]
    measured = rows(logged)
    effects = contrast_effects(measured)
    (profile,) = contrast_profiles(effects, horizons(measured))
    assert list(profile.horizons) == ["plan", "map", "read"]
    assert "plan, map: above 6; read: below 3." in profile.text
    assert "Demands that cost success, most first: building a map from a story (1.000, " in profile.text
    read = next(effect for effect in effects if effect.contrast.demanding == "read")
    assert read.ratio is not None
    # All that is known: one horizon is above the hardest level, the other below the easiest one.
    assert (read.ratio.value, read.ratio.low, read.ratio.high) == (None, None, 0.5)
    one_level = contrast_effects(rows([*episodes("oracle", "plan"), *episodes("oracle", "map")]))
    assert contrast_profiles(one_level, []) == []


def test_two_models_differ_in_what_a_demand_costs() -> None:
    first = [*episodes("oracle", "plan"), *episodes("oracle", "read"), *episodes("oracle", "map")]
    second = [
        *episodes("oracle", "plan", model="n"),
        *episodes("null", "read", model="n"),
        *episodes("oracle", "map", model="n"),
    ]
    differences = {each.contrast.demanding: each for each in compare_costs(rows(first), rows(second))}
    assert differences.keys() == {"map", "read"}
    assert differences["read"].comparison.items == COUNT
    assert differences["read"].comparison.paired_difference.value == -1
    assert differences["map"].comparison.paired_difference.value == 0
    text = cost_differences_text(list(differences.values()))
    assert "costs B more" in next(line for line in text.splitlines() if line.startswith("building a map"))
    assert differences["read"].to_json()["second"]["cost"]["value"] == 1
    assert compare_costs(rows(first), rows(episodes("oracle", "plan", model="n"))) == []


def test_the_first_page_has_the_chart_of_profiles(tmp_path: Path) -> None:
    logged = [*episodes("oracle", "plan", LADDER), *episodes("null", "read", LADDER)]
    site(tmp_path, logged)
    front = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "in each condition: the difficulty at which half of the worlds succeed" in front
    assert "m: route length at which half of the worlds succeed: plan: above 6; read: below 3." in front
    assert "50 % horizons." not in front  # they are in the chart, one for each condition
    assert "Atlas, condition: plan" in front
