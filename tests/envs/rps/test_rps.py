"""Rock Paper Scissors: who wins what, what counts, and how opponents can be read."""

from collections import Counter
from itertools import product
from statistics import fmean
from typing import Any

import pytest

import waybench
from waybench.core import DataError, Episode, Stream, UsageError, play_to_end, policy
from waybench.envs.rps._game import (
    SETTINGS,
    STRATEGIES,
    Match,
    Rounds,
    RpsRules,
    best_choice_and_gaps,
    decode,
    learner,
    predictor,
)

ENVIRONMENT = waybench.load("rps/rounds")
RULES = RpsRules(published=True)
ROCK, PAPER, SCISSORS = range(3)
WINS = {(ROCK, SCISSORS), (PAPER, ROCK), (SCISSORS, PAPER)}  # as the manual has it
MOSTLY = {ROCK: 0.1, PAPER: 0.4, SCISSORS: 0.9}  # numbers that make each choice of (0.3, 0.3, 0.4)


class Number(Stream):
    """A stream of one number."""

    def __init__(self, number: float) -> None:
        super().__init__("given")
        self._number = number

    def random(self) -> float:
        return self._number


def match(**fields: Any) -> Match:
    return Match(**{"chances": (0.3, 0.3, 0.4), "wins": (1.0, 2.0, 3.0), **fields})


def rounds(of: Match, *played: tuple[int, float]) -> Rounds:
    """Return the match after rounds of (own choice, uniform number)."""
    world = RULES.begin(of)
    for mine, number in played:
        world = RULES.step(world, mine, Number(number)).world
    return world


def said(*actions: str, instance: Match, **options: Any) -> Any:
    episode: Episode[Any, Any, Any] = Episode(
        ENVIRONMENT, ENVIRONMENT.item(instance.to_json()), {"wording": "one_question", "steps": len(actions), **options}
    )
    for action in actions:
        episode.step(action)
    return episode.record()


def measured(record: Any) -> dict[str, float | None]:
    return {metric.name: metric.of(record) for metric in ENVIRONMENT.scoring.metrics}


# Rules


def score_of(mine: int, theirs: int, wins: tuple[float, ...]) -> float:
    return wins[mine] if (mine, theirs) in WINS else -wins[theirs] if (theirs, mine) in WINS else 0


@pytest.mark.parametrize(("mine", "theirs"), list(product(range(3), repeat=2)))
def test_all_nine_rounds(mine: int, theirs: int) -> None:
    step = RULES.step(RULES.begin(match()), mine, Number(MOSTLY[theirs]))
    assert step.reward == score_of(mine, theirs, (1, 2, 3))
    assert step.events["theirs"] == theirs
    names = ("Rock", "Paper", "Scissor")
    result = "tied" if mine == theirs else "won" if (mine, theirs) in WINS else "lost"
    assert RULES.observe(step.world) == (
        f"You chose {names[mine]}, and the opponent chose {names[theirs]}. You {result} and received score "
        f"{score_of(mine, theirs, (1, 2, 3))}.\nNew round begins."
    )


@pytest.mark.parametrize("chances", [(0.3, 0.3, 0.4), (0.6, 0.2, 0.2), (0, 1, 0), (0.05, 0.45, 0.5)])
@pytest.mark.parametrize("wins", [(1, 1, 1), (1, 2, 3), (3, 1, 0.5)])
def test_the_best_choice_is_that_of_the_highest_mean(chances: tuple[float, ...], wins: tuple[float, ...]) -> None:
    means = [sum(chance * score_of(mine, theirs, wins) for theirs, chance in enumerate(chances)) for mine in range(3)]
    best, gaps = best_choice_and_gaps(chances, wins)
    assert means[best] == pytest.approx(max(means))
    assert gaps == pytest.approx([max(means) - mean for mean in means])


def test_the_manual_swaps_two_scores_as_published_and_only_then() -> None:
    paper, sound = (RpsRules(published=published).manual(match()) for published in (True, False))
    assert "(Scissors win, score 2)" in paper
    assert "(Paper wins, score 3)" in paper
    assert "(Scissors win, score 3)" in sound
    assert "(Paper wins, score 2)" in sound
    assert "(Rock wins, score 1)" in paper
    assert "(Rock wins, score 1)" in sound


def test_scissors_are_called_scissors_in_sound() -> None:
    record = said("Scissors", instance=match(), protocol="sound")
    assert record.turns[0].action == [SCISSORS, True]
    assert record.turns[0].message.count("You chose Scissors, and the opponent chose ") == 1
    assert said("Scissors", instance=match()).turns[0].message.count("You chose Scissor, and") == 1


# Opponents


def next_of(opponent: str, *played: tuple[int, int]) -> int:
    """Return what an opponent that always follows its strategy does after rounds of (player, opponent)."""
    world = rounds(match(), *((mine, MOSTLY[theirs]) for mine, theirs in played))
    mine, theirs = played[-1]
    return STRATEGIES[opponent].choose(mine, theirs, world.player_counts)


@pytest.mark.parametrize(
    ("opponent", "played", "choice"),
    [
        ("copy_last", [(ROCK, PAPER)], ROCK),
        ("beat_last", [(ROCK, ROCK)], PAPER),
        ("beat_last", [(SCISSORS, ROCK)], ROCK),
        ("win_stay", [(ROCK, PAPER)], PAPER),  # it has won
        ("win_stay", [(ROCK, ROCK)], ROCK),  # a draw
        ("win_stay", [(PAPER, ROCK)], SCISSORS),  # it has lost against Paper
        ("cycle", [(ROCK, ROCK)], PAPER),
        ("cycle", [(ROCK, SCISSORS)], ROCK),
        ("frequency", [(ROCK, ROCK), (PAPER, ROCK), (PAPER, ROCK)], SCISSORS),
        ("frequency", [(PAPER, ROCK), (ROCK, ROCK)], PAPER),  # once each: the first in the list, Rock
    ],
)
def test_strategies(opponent: str, played: list[tuple[int, int]], choice: int) -> None:
    assert next_of(opponent, *played) == choice


def test_an_opponent_follows_its_strategy_at_its_rate_from_the_second_round_on() -> None:
    of = match(opponent="copy_last", rate=0.5)
    assert RULES.begin(of).chances == (0.3, 0.3, 0.4)
    world = rounds(of, (SCISSORS, 0.1))
    assert world.chances == pytest.approx((0.15, 0.15, 0.2 + 0.5))
    assert world.best == ROCK
    rng = Stream("rate")
    chosen = Counter(RULES.step(world, ROCK, rng).events["theirs"] for _ in range(4000))
    assert chosen[SCISSORS] / 4000 == pytest.approx(0.7, abs=0.03)


def test_a_fixed_opponent_never_changes() -> None:
    world = rounds(match(), (ROCK, 0.1), (PAPER, 0.5), (PAPER, 0.9))
    assert world.chances == (0.3, 0.3, 0.4)
    assert (world.player_counts, world.opponent_counts) == ((1, 2, 0), (1, 1, 1))


# Items


@pytest.mark.parametrize("setting", SETTINGS)
def test_registered_settings_come_in_every_order(setting: str) -> None:
    items = ENVIRONMENT.source("order", 1, setting=setting).head(600)
    orders = Counter((item.instance.chances, item.instance.wins) for item in items)
    # "basic" has two equal choices. Of each order a share of 1/3 or 1/6; five standard deviations.
    share = 1 / len(orders)
    assert len(orders) == {"basic": 3, "different_score": 6}[setting]
    assert all(abs(count - 600 * share) < 5 * (600 * share * (1 - share)) ** 0.5 for count in orders.values())
    assert {item.instance.setting for item in items} == {setting}
    assert len({item.instance.hash for item in items}) == 600


@pytest.mark.parametrize("level", [1, 2, 3])
def test_free_matches_have_a_best_choice_and_an_opponent_of_the_level(level: int) -> None:
    items = ENVIRONMENT.source("free", level).head(100)
    for item in items:
        assert sum(item.instance.chances) == pytest.approx(1)
        assert min(item.instance.chances) >= 0.05
        assert sorted(best_choice_and_gaps(item.instance.chances, item.instance.wins)[1])[1] >= 0.1
    fitting = {name for name, strategy in STRATEGIES.items() if strategy.level == level}
    assert {item.instance.opponent for item in items} == fitting
    assert {item.instance.rate for item in items} == {0.0 if level == 1 else 0.8}


def test_an_opponent_can_be_chosen() -> None:
    items = ENVIRONMENT.source(level=2, opponent="cycle", setting="basic", rate=1).head(5)
    assert {(item.instance.opponent, item.instance.rate) for item in items} == {("cycle", 1.0)}
    assert {item.instance.setting for item in items} == {None}  # it is no registered one any more
    with pytest.raises(UsageError, match="opponent=cycle belongs to level 2, not 1: use level 2"):
        ENVIRONMENT.source(level=1, opponent="cycle")
    with pytest.raises(UsageError, match="did you mean 'cycle'"):
        ENVIRONMENT.source(level=2, opponent="cycel")
    with pytest.raises(UsageError, match="from 1 to 3"):
        ENVIRONMENT.source(level=4)


GOOD = match().to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"chances": [0.3, 0.3, 0.3]},
        {"chances": [0.5, 0.5]},
        {"chances": [1.5, -0.5, 0]},
        {"wins": [1, 1, 0]},
        {"wins": [1, 1, float("inf")]},
        {"wins": "111"},
        {"opponent": "best"},
        {"opponent": ["fixed"]},
        {"opponent": "cycle"},  # at a rate of 0
        {"rate": 0.5},  # of a fixed one
        {"draw": 1.0},
        {"more": 1},
    ],
)
def test_what_is_no_instance(change: dict[str, Any]) -> None:
    assert decode(GOOD) == match()
    with pytest.raises(DataError, match="instance: "):
        decode({**GOOD, **change})


# Scores and players


def test_scores_of_an_episode() -> None:
    # Expected scores of Rock, Paper, Scissors: 0.4 - 2 * 0.3, 2 * 0.3 - 3 * 0.4, 3 * 0.3 - 0.3
    record = said("Rock", "Scissor", "Paper", instance=match())
    found = measured(record)
    assert found["score"] == 1
    assert found["regret"] == pytest.approx(0.8 + 0 + 1.2)
    assert found["scaled"] == pytest.approx((1 - 1) / (3 - 1))
    optimal, regret = ENVIRONMENT.scoring.series
    assert optimal.of(record) == [0, 1, 0]
    assert regret.of(record) == pytest.approx([0.8, 0.8, 2.0])
    lost = said("no", "Scissors", "Rock, Paper", instance=match(), protocol="sound")
    assert measured(lost)["regret"] == pytest.approx(2 * 1.2)


def test_the_learner_answers_what_it_has_seen() -> None:
    world = rounds(match(wins=(1.0, 1.0, 1.0)), *[(ROCK, MOSTLY[PAPER])] * 5)
    assert learner(world.match, world, Stream("x")) == SCISSORS


def test_the_predictor_answers_what_follows_such_a_round() -> None:
    even = match(wins=(1.0, 1.0, 1.0))
    # After (Rock, Rock) comes Paper, although Rock is more frequent.
    world = rounds(even, *[(ROCK, MOSTLY[ROCK]), (ROCK, MOSTLY[PAPER]), (PAPER, MOSTLY[ROCK])] * 3)
    world = RULES.step(world, ROCK, Number(MOSTLY[ROCK])).world
    assert predictor(even, world, Stream("x")) == SCISSORS
    assert learner(even, world, Stream("x")) == PAPER


def mean_score(name: str, level: int, **options: Any) -> float:
    items = ENVIRONMENT.source("players", level, **options).head(40)
    played = [play_to_end(ENVIRONMENT, item, policy(name), {"wording": "one_question"}).record() for item in items]
    return fmean(measured(record)["score"] for record in played)


def test_learning_against_a_fixed_opponent() -> None:
    scores = {name: mean_score(name, 1, setting="basic") for name in ("oracle", "learner", "heuristic", "random")}
    assert scores["oracle"] == 50 > scores["learner"] > scores["heuristic"] > scores["random"]
    assert scores["learner"] > 43  # as people do
    assert scores["heuristic"] == pytest.approx(30, abs=2)  # the opponent repeats itself: 0.6 of the time its favourite
    assert scores["random"] == pytest.approx(50 / 3, abs=2)


@pytest.mark.parametrize("opponent", [name for name, strategy in STRATEGIES.items() if strategy.level == 2])
def test_opponents_that_look_at_the_last_round_can_be_read(opponent: str) -> None:
    assert mean_score("predictor", 2, opponent=opponent) > 30 > mean_score("random", 2, opponent=opponent)
    assert mean_score("oracle", 2, opponent=opponent) == 50
