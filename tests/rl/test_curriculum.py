"""A curriculum follows a learner: its levels are neither too easy nor too hard."""

import importlib
import json
import math
import random
import subprocess
import sys
from typing import Any

import pytest

from waybench.core import Item, UsageError, policy
from waybench.ext.train import Curriculum, Session


class Learner:
    """Succeeds at the place `ability` of the levels half of the time, and less often at harder ones."""

    def __init__(self, levels: tuple[int, ...], steepness: float, seed: int) -> None:
        self._places = {level: place for place, level in enumerate(levels)}
        self._steepness = steepness
        self._random = random.Random(seed)

    def solves(self, level: int, ability: float) -> bool:
        chance = 1 / (1 + math.exp(self._steepness * (self._places[level] - ability)))
        return self._random.random() < chance


def shares(curriculum: Curriculum, abilities: list[float], window: int, seed: int = 1) -> list[float]:
    """Train a learner with these abilities, and return the share of successes in each window of outcomes."""
    learner = Learner(curriculum.levels, 0.7, seed)
    outcomes: list[bool] = []
    for ability in abilities:
        level = curriculum.level()
        outcomes.append(learner.solves(level, ability))
        curriculum.update(level, outcomes[-1])
    return [sum(outcomes[at : at + window]) / window for at in range(0, len(outcomes), window)]


RISING = [2 + 9 * step / 600 for step in range(600)]  # over 9 of the 17 levels of mazes


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7])
def test_the_share_of_successes_stays_near_the_rate_while_ability_rises(rate: float) -> None:
    found = shares(Curriculum("maze/alicia", rate=rate, half_life=40), RISING, 200)
    # A window of 200 outcomes has a standard error of 0.035; the rest is for the learner's steps ahead of the
    # prediction, and for levels that lie to either side of the rate.
    assert all(abs(share - rate) < 0.12 for share in found), found
    assert abs(sum(found) / len(found) - rate) < 0.08, found


def test_what_is_not_forgotten_misleads() -> None:
    falling = [12.0] * 200 + [4.0] * 200
    forgetful = shares(Curriculum("maze/alicia", half_life=20), falling, 100)
    retentive = shares(Curriculum("maze/alicia", half_life=10**9), falling, 100)
    assert abs(forgetful[2] - 0.5) < 0.15 < 0.25 < 0.5 - retentive[2], (forgetful, retentive)


def test_beyond_the_levels_it_stays_at_the_end_of_them() -> None:
    best = Curriculum("maze/alicia", half_life=20)
    worst = Curriculum("maze/alicia", half_life=20)
    for _ in range(40):
        best.update(best.level(), True)
        worst.update(worst.level(), False)
    assert (best.level(), worst.level()) == (101, 5)
    assert best.rates()[5] > 0.8 > 0.2 > worst.rates()[5]
    rates = list(best.rates().values())
    assert rates == sorted(rates, reverse=True)


def test_the_weight_of_an_outcome_halves_with_the_half_life() -> None:
    curriculum = Curriculum("maze/alicia", half_life=8)
    curriculum.update(9, True)
    for _ in range(8):
        curriculum.update(21, False)
    rows: Any = curriculum.to_json()["levels"]
    by_level = {row["level"]: row for row in rows}
    assert by_level[9]["solved"] == by_level[9]["trials"] == pytest.approx(0.5)
    assert by_level[21]["solved"] == 0
    assert by_level[21]["trials"] == pytest.approx(sum(0.5 ** (age / 8) for age in range(8)))


def test_saved_and_restored_it_goes_on_in_the_same_way() -> None:
    settings: dict[str, Any] = {"split": "train", "wording": "ascii", "key": "mine"}
    first = Curriculum("maze/alicia", rate=0.4, half_life=30, **settings)
    learner = Learner(first.levels, 1.0, 3)
    for _ in range(30):
        first.update(level := first.next().level, learner.solves(level, 6.0))
    second = Curriculum.from_json(json.loads(json.dumps(first.to_json())))
    assert (second.rate, second.half_life, second.levels) == (0.4, 30, first.levels)
    assert second.settings(9) == first.settings(9)
    for number in range(20):
        assert second.rates() == first.rates()
        choice = first.next()
        assert second.next() == choice
        for curriculum in (first, second):
            curriculum.update(choice.level, number % 3 == 0)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"levels": None},
        {"levels": [{"level": 5}]},
        {
            "levels": [
                {"level": 5, "solved": 2, "trials": 1, "next": 0},
                {"level": 7, "solved": 0, "trials": 0, "next": 0},
            ]
        },
        {"levels": [{"level": 5, "solved": "x", "trials": 1, "next": 0}] * 2},
        {"rate": "half"},
        {"settings": {"colour": 3}},
        {"env": "maze/nowhere"},
    ],
)
def test_what_is_no_state_is_one_clear_error(change: dict[str, Any]) -> None:
    state = Curriculum("maze/alicia", levels=(5, 7)).to_json()
    with pytest.raises(UsageError):
        Curriculum.from_json({**state, **change})
    with pytest.raises(UsageError):
        Curriculum.from_json("state")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": 1.0}, "rate"),
        ({"half_life": 0.5}, "half_life"),
        ({"half_life": float("nan")}, "half_life"),
        ({"levels": (5,)}, "two different levels"),
        ({"levels": (5, 5)}, "two different levels"),
        ({"levels": (3, 5)}, "from 5 to 1001"),
        ({"level": 5}, "levels="),
        ({"split": "tests"}, "split"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_setting_is_one_clear_error(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Curriculum("maze/alicia", **settings)


def test_a_level_without_items_of_the_split_is_said_at_once() -> None:
    with pytest.raises(UsageError, match="choose another level"):
        Curriculum("hanoi/rods", levels=(3, 4), split="test", source_options={"positions": "published"})


def test_its_items_are_those_of_the_split_each_once() -> None:
    curriculum = Curriculum("maze/alicia", split="train", levels=(9, 11))
    level = curriculum.level()
    started = [curriculum.start() for _ in range(3)]
    items: list[Item[Any]] = [session.episode.item for session in started if session.episode is not None]
    source = Session("maze/alicia", level=level, split="train").source
    assert [item.instance.hash for item in items] == [source.item(index).instance.hash for index in range(3)]


def test_it_learns_from_records_by_what_counts_for_horizons() -> None:
    curriculum = Curriculum("search/guessnum", levels=(3, 10))
    before = curriculum.rates()
    for player in ("oracle", "null"):
        session = curriculum.start()
        episode = session.episode
        assert episode is not None
        while not episode.done:
            session.reply(policy(player).reply(episode))
        curriculum.add(session.record())
        after = curriculum.rates()
        assert all(
            after[level] > before[level] if player == "oracle" else after[level] < before[level] for level in after
        )
        before = after
    with pytest.raises(UsageError, match="maze/alicia"):
        Curriculum("maze/alicia").add(session.record())
    with pytest.raises(UsageError, match="level=3"):
        Curriculum("search/guessnum", levels=(4, 5)).update(3, True)


def test_levels_without_a_horizon_are_the_sample_levels() -> None:
    assert Curriculum("messenger/roles").levels == (1, 2, 3)
    with pytest.raises(UsageError, match="give levels="):
        Curriculum("voxel/find")


def test_a_gymnasium_environment_takes_its_levels_from_it() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="the extra [gym] is not installed")
    importlib.import_module("waybench.ext.train.gymnasium")
    curriculum = Curriculum("search/guessnum", half_life=5, protocol="sound", split="train")
    env = gymnasium.make("waybench/search-guessnum-v1", curriculum=curriculum)
    levels: list[int] = []
    for _ in range(6):
        _, info = env.reset(seed=1)
        levels.append(info["level"])
        done = False
        while not done:
            _, _, terminated, truncated, _ = env.step(policy("oracle").reply(env.unwrapped.episode))
            done = terminated or truncated
    assert levels == sorted(levels) and levels[-1] > levels[0]
    many = gymnasium.make_vec(
        "waybench/search-guessnum-v1", 2, vectorization_mode="vector_entry_point", curriculum=curriculum
    )
    _, infos = many.reset(seed=1)
    assert infos["level"].tolist() == [curriculum.level()] * 2
    with pytest.raises(UsageError, match="the curriculum has the settings"):
        gymnasium.make("waybench/search-guessnum-v1", curriculum=curriculum, level=3)
    with pytest.raises(UsageError, match="not for maze"):
        gymnasium.make("waybench/maze-alicia-v1", curriculum=curriculum)


def test_it_needs_neither_scipy_nor_inspect() -> None:
    script = (
        "import sys; sys.modules['scipy'] = None; from waybench.ext.train import Curriculum\n"
        "c = Curriculum('maze/alicia'); c.update(c.level(), True); print(c.level(), 'inspect_ai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    level, loaded = done.stdout.split()
    assert int(level) > 5 and loaded == "False"
