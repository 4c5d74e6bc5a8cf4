from dataclasses import replace
from statistics import mean

import pytest

from tests.analysis.episodes import detour, estimate, failed, item
from tests.analysis.searches import answered, items, searched
from waybench.results import LoggedEpisode, overall, rows
from waybench.results._tables import episode_frame
from waybench.results.estimates._bounds import curve_contributions, mean_curve
from waybench.results.stats import clustered_mean

# Three cases, of which the optimal policy takes 2, 3 and 1 steps.
UNEQUAL = [[1.0, 1.0], [1.0, 0.0, 1.0], [0.0]]


def test_per_step_accuracy_by_hand() -> None:
    found = mean_curve(UNEQUAL, "abc", 0, 1)
    assert found is not None
    # PSACC_k = N_k / N^_k: two of three cases, one of the two that have a second step, the one that has a third.
    assert [step.value for step in found.steps] == pytest.approx([2 / 3, 1 / 2, 1])
    assert [step.n for step in found.steps] == [3, 2, 1]
    assert found.average.value == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert found.average.n == 3
    # It is neither the mean over all steps of all cases nor the mean over cases of their shares.
    assert found.average.value != pytest.approx(4 / 6)
    assert found.average.value != pytest.approx(mean([1, 2 / 3, 0]))


def test_steps_have_the_intervals_of_their_own_episodes() -> None:
    found = mean_curve(UNEQUAL, "abc", 0, 1)
    assert found is not None
    assert found.steps[0] == clustered_mean([1, 1, 0], "abc", 0, 1)
    assert found.steps[1] == clustered_mean([1, 0], "ab", 0, 1)
    assert (found.steps[2].low, found.steps[2].high) == (None, None)


def test_contributions_are_the_derivatives_by_the_weight_of_an_episode() -> None:
    def weighted(weights: list[float]) -> float:
        steps: list[float] = []
        for step in range(max(map(len, UNEQUAL))):
            having = [(w, numbers[step]) for w, numbers in zip(weights, UNEQUAL, strict=True) if step < len(numbers)]
            steps.append(sum(w * number for w, number in having) / sum(w for w, _ in having))
        return mean(steps)

    average, parts = curve_contributions(UNEQUAL)
    assert weighted([1, 1, 1]) == average
    assert sum(parts) == pytest.approx(0)
    tiny = 1e-6
    for number, part in enumerate(parts):
        weights = [1 + tiny * (other == number) for other in range(3)]
        assert (weighted(weights) - average) / tiny == pytest.approx(part, abs=1e-5)


def test_with_equal_lengths_the_average_is_the_mean_of_means() -> None:
    series = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    found = mean_curve(series, "abcd", 0, 1)
    assert found is not None
    assert found.average == clustered_mean([mean(numbers) for numbers in series], "abcd", 0, 1)


def test_all_alike_at_an_end_is_wilsons() -> None:
    found = mean_curve([[1.0] * length for length in (2, 3, 1, 1, 1, 1)], "abcdef", 0, 1)
    assert found is not None
    assert (found.average.value, found.average.high) == (1, 1)
    assert found.average.low == found.steps[0].low == pytest.approx(0.6097, abs=1e-4)  # 6 / (6 + 1.96²)


def test_episodes_without_a_step_are_in_no_curve() -> None:
    assert mean_curve([], [], 0, 1) is None
    assert mean_curve([[], []], "ab", 0, 1) is None
    assert mean_curve([[], *UNEQUAL], "xabc", 0, 1) == mean_curve(UNEQUAL, "abc", 0, 1)


@pytest.mark.parametrize("env", ["guessnum", "dfs", "cavebfs"])
def test_curves_of_real_episodes(env: str) -> None:
    episodes = searched("noisy-0.3", env, count=8, teacher_guided=True)
    (found,) = estimate(episodes)
    told = [[float(turn.action == turn.executed) for turn in episode.record.turns] for episode in episodes]
    series = [row.series["follows"] for row in rows(episodes)]
    assert [len(numbers) for numbers in series] == [len(numbers) for numbers in told]
    if env == "guessnum":  # the other algorithms leave a choice
        assert [list(numbers) for numbers in series] == told
    steps = found.curves["follows"].steps
    assert len(steps) == max(map(len, series))
    for number, step in enumerate(steps):
        having = [numbers[number] for numbers in series if number < len(numbers)]
        assert (step.value, step.n) == (pytest.approx(mean(having)), len(having))
    assert found.curves["follows"].average.value == pytest.approx(mean(step.value for step in steps))
    assert found.to_json()["curves"]["follows"]["steps"][0]["n"] == 8


def test_what_a_teacher_solved_is_not_solved() -> None:
    (guided,) = estimate(searched("null", teacher_guided=True))
    assert {episode.record.end for episode in searched("null", teacher_guided=True)} == {"solved"}
    assert (guided.guided, guided.solved) == (True, None)
    (free,) = estimate(searched("oracle"))
    assert free.solved is not None
    assert (free.guided, free.solved.value) == (False, 1)
    # Whoever puts an action in a reply's place is a teacher, whatever the options say.
    record = detour(item(), 2)
    forced = replace(record, turns=(record.turns[0]._replace(executed=record.turns[0].action),))
    assert rows([LoggedEpisode("m", "t", forced)])[0].guided
    assert not rows([LoggedEpisode("m", "t", record)])[0].guided


def test_with_a_teacher_no_attempt_is_perfect() -> None:
    (one,) = searched("oracle", count=1, teacher_guided=True)
    again = replace(one, record=replace(searched("null", count=1, teacher_guided=True)[0].record, attempt=2))
    assert [row.exclusion_reason for row in rows([one, replace(again, model=one.model)])] == ["", ""]
    (found,) = estimate([one, replace(again, model=one.model)])
    assert found.metrics["psacc"].value == found.curves["follows"].average.value == 0.5


def test_after_an_infrastructure_error_there_is_no_series() -> None:
    lost = failed(answered("guessnum", items("guessnum")[0], ["32"] * 3))
    (row,) = rows([LoggedEpisode("m", "t", lost)])
    assert (row.error, row.series) == (True, {})
    (found,) = estimate([LoggedEpisode("m", "t", lost)])
    assert found.curves == {}
    (guided,) = estimate([LoggedEpisode("m", "t", replace(lost, options={**lost.options, "teacher_guided": True}))])
    assert guided.guided


def test_curves_are_of_one_level_and_of_environments_with_series() -> None:
    episodes = searched("oracle")
    assert list(estimate(episodes)[0].curves) == ["follows"]
    assert overall(rows(episodes))[0].curves == {}
    assert estimate([LoggedEpisode("m", "t", detour(item(), 2))])[0].curves == {}


def test_numbers_of_examples_are_never_pooled() -> None:
    bare, two, three = (searched("oracle", examples=number) for number in (0, 2, 3))
    found = estimate([*bare, *two, *three])
    assert [each.group.examples for each in found] == [0, 2, 3]
    assert "examples" not in dict(found[0].group.options)
    assert dict(found[1].group.options)["examples"] == 2
    assert found[1].group.without_option("examples") == found[0].group
    flat = episode_frame(rows([*bare[:1], *two[:1]])).records()
    assert [row["option.examples"] for row in flat] == [None, 2]
    assert "option.examples" not in episode_frame(rows(bare)).records()[0]
