import random
from dataclasses import replace
from statistics import mean

import pytest

from tests.analysis.episodes import MAZE, SCORE, detour, estimate, failed, item, logged, played, said
from waybench.core import DataError, End, Usage, UsageError
from waybench.results import Estimate, LoggedEpisode, Row, by_level, overall, rows
from waybench.results._tables import episode_frame
from waybench.results.results import exclude
from waybench.results.results._measured_row import measured_row
from waybench.results.results._rows import single_attempt_mean


def scores(attempts: list[list[float]], level: int = 5) -> list[LoggedEpisode]:
    """Return episodes whose scores are 100 - 100 * extra / minimum, from the extra steps of each maze's attempts."""
    return [
        logged(detour(item(level, number), int(extra), attempt))
        for number, extras in enumerate(attempts)
        for attempt, extra in enumerate(extras, start=1)
    ]


def only(episodes: list[LoggedEpisode]) -> Estimate:
    (found,) = estimate(episodes)
    return found


def test_best_single_and_plain_mean() -> None:
    # Steps above the minimum m: a maze's score is 100 (1 - extra / m).
    m0, m1 = (item(5, number).proof["minimum"] for number in (0, 1))
    found = only(scores([[2, 4, 2], [2, 0]]))
    first = [100 * (1 - 2 / m0), 100 * (1 - 4 / m0), 100 * (1 - 2 / m0)]
    second = [100 * (1 - 2 / m1), 100.0]
    assert found.best is not None
    assert found.mean is not None
    assert found.single is not None
    assert found.solved is not None
    assert found.best.value == pytest.approx(mean([max(first), 100]))
    assert found.mean.value == pytest.approx(mean([*first, *second]))
    assert found.single.value == pytest.approx(mean([mean(first), second[0]]))
    assert (found.items, found.attempts, found.most_attempts, found.replies) == (2, 5, 3, 5)
    assert found.solved.value == 1
    assert found.metrics["steps"].value == pytest.approx(mean([m0 + 8 / 3, m1 + 2]))
    assert found.requests == 1


def test_attempts_after_the_first_perfect_one_do_not_count() -> None:
    skipped, run_on = scores([[2, 0]]), scores([[2, 0, 2]])
    assert only(run_on) == replace(only(skipped), aside=1, most_attempts=3)
    assert [row.exclusion_reason for row in rows(run_on)] == ["", "", "after a perfect attempt"]


def test_an_attempt_before_the_perfect_one_counts_whatever_the_order_of_the_log() -> None:
    episodes = scores([[2, 4, 0]])
    assert only(episodes[::-1]) == only(episodes)


def test_infrastructure_errors_are_in_no_denominator() -> None:
    good = scores([[2, 4], [0]])
    lost = logged(failed(detour(item(5, 0), 4, 3)))
    all_lost = [logged(failed(detour(item(5, 2), 2, attempt))) for attempt in (1, 2, 3)]
    found, without = only([*good, lost, *all_lost]), only(good)
    assert (found.errors, found.missing, found.incomplete) == (4, 1, 1)
    assert (found.items, found.attempts) == (2, 3)
    assert found.best and found.best.lost == found.lost
    assert replace(found.best, lost=None) == without.best
    assert found.mean and replace(found.mean, lost=None) == without.mean
    assert {name: replace(mean, lost=None) for name, mean in found.metrics.items()} == without.metrics
    assert found.outcomes == without.outcomes
    assert found.lost and (found.n_planned, found.lost.lost, found.lost.n_with_result) == (7, 4, 3)
    assert without.lost is None and without.n_planned == 3


def test_a_level_of_errors_only_is_unknown_and_not_zero() -> None:
    found = only([logged(failed(detour(item(), 2)))])
    assert (found.best, found.mean, found.single, found.solved, found.requests) == (None,) * 5
    assert (found.items, found.missing, found.errors) == (0, 1, 1)
    assert (found.metrics, found.outcomes, found.input_tokens) == ({}, {}, None)


def test_an_episode_without_an_end_is_no_failure_of_the_model() -> None:
    unfinished = said(["nothing"])
    assert unfinished.end is None
    (row,) = rows([logged(unfinished)])
    assert (row.error, row.is_included, row.metrics["score"]) == (True, False, None)


def test_levels_that_were_not_run_have_no_estimate() -> None:
    found = estimate([*played("null", (5, 7, 9)), *played("oracle", (5, 9))])
    assert [(e.group.model, e.level) for e in found] == [
        ("waybench/null", 5),
        ("waybench/oracle", 5),
        ("waybench/oracle", 9),
    ]


def test_of_repeated_episodes_the_last_without_an_error_counts() -> None:
    old, new = detour(item(), 2), detour(item(), 4)
    lost = failed(old)
    for episodes, kept in [((old, new), 1), ((new, old), 1), ((old, lost), 0), ((lost, old), 1), ((lost, lost), 1)]:
        made = rows([logged(record) for record in episodes])
        assert [row.exclusion_reason for row in made] == ["" if number == kept else "repeated" for number in range(2)]
    assert only([logged(old), logged(lost)]).errors == 0


def run(name: str, attempts: list[list[float]], lost: list[LoggedEpisode] | None = None) -> list[LoggedEpisode]:
    return [replace(episode, run=name) for episode in [*scores(attempts), *(lost or [])]]


def test_attempts_of_different_runs_are_no_series() -> None:
    old, new = run("old", [[4, 2, 2], [2]]), run("new", [[4]])
    made = rows([*old, *new])
    assert [row.exclusion_reason for row in made] == ["repeated"] * 3 + ["", ""]
    assert only([*old, *new]) == replace(only([*new, old[-1]]), aside=3, most_attempts=3)
    # An old perfect attempt does not set aside a new one, and the other way round.
    assert [row.exclusion_reason for row in rows([*run("old", [[0]]), *run("new", [[2, 2]])])] == ["repeated", "", ""]
    assert [row.exclusion_reason for row in rows([*run("old", [[2, 2]]), *run("new", [[0]])])] == [
        "repeated",
        "repeated",
        "",
    ]


def test_a_run_of_errors_only_does_not_hide_an_earlier_one() -> None:
    lost = logged(failed(detour(item(5, 0), 2)))
    assert [row.exclusion_reason for row in rows([*run("old", [[2, 4]]), *run("new", [], [lost])])] == [
        "",
        "",
        "repeated",
    ]
    assert [row.exclusion_reason for row in rows([*run("old", [], [lost]), *run("new", [], [lost])])] == [
        "repeated",
        "",
    ]


def all_but(episodes: list[LoggedEpisode], unconfirmed: int) -> list[Row]:
    """Return rows of which a new simulation does not confirm one."""
    return exclude(measured_row(episode, confirmed=number != unconfirmed) for number, episode in enumerate(episodes))


def test_what_does_not_replay_is_no_episode() -> None:
    episodes = scores([[2, 0], [4]])
    made = all_but(episodes, 1)
    assert [row.exclusion_reason for row in made] == ["", "does not replay", ""]
    (found,) = by_level(made)
    assert (found.aside, found.unconfirmed, found.attempts) == (1, 1, 2)
    assert found.best and replace(found.best, lost=None) == only([episodes[0], episodes[2]]).best
    assert found.lost and (found.lost.lost, found.lost.planned) == (1, 3)
    # Neither does it stand in for the same attempt that does.
    assert [row.exclusion_reason for row in all_but([*scores([[2]]), *scores([[0]])], 1)] == ["", "does not replay"]
    # Nor is anything of it measured, for anything may stand in it.
    assert set(made[1].metrics.values()) == {None}
    assert (made[1].series, made[1].sizes) == ({}, {})


def test_different_settings_are_never_pooled() -> None:
    record = detour(item(), 2)
    others = [
        logged(replace(record, env_version=record.env_version + 1)),
        logged(replace(record, item={**record.item, "key": "another"})),
        logged(replace(record, options={**record.options, "wording": "ascii"})),
        logged(replace(record, options={**record.options, "exit_hint": True})),
        logged(record, task="another"),
        logged(record, model="another"),
    ]
    found = estimate([logged(record), *others])
    assert len(found) == 7
    assert {e.attempts for e in found} == {1}


def test_an_option_that_came_later_had_its_default() -> None:
    record = detour(item(), 2)
    older = replace(record, options={name: value for name, value in record.options.items() if name != "exit_hint"})
    assert len(estimate([logged(record), logged(older)])) == 1


def test_outcomes_are_shares_of_replies() -> None:
    wall = '{"movements": [{"direction": "up", "cells": 9}]}'
    found = only([logged(said(["hm", wall, "hm"])), logged(said(["", "", wall], number=1))])
    assert found.outcomes == {"illegal": pytest.approx(1 / 3), "unparsed": pytest.approx(2 / 3)}
    assert found.requests == 3


def test_tokens_and_time_are_means_of_an_attempt_and_unknown_if_not_recorded() -> None:
    found = estimate(played("null", (5,), mazes=2, attempts=2))[0]
    assert (found.input_tokens, found.output_tokens, found.seconds) == (3000, 150, 6)
    bare = only(scores([[2]]))
    assert (bare.input_tokens, bare.output_tokens, bare.seconds) == (None, None, None)
    record = detour(item(), 2)
    free = replace(record, turns=tuple(turn._replace(usage=Usage(seconds=2.0)) for turn in record.turns))
    found = only([logged(free)])
    assert (found.input_tokens, found.output_tokens, found.seconds) == (None, None, 2)
    assert found.to_json()["input_tokens"] is None


def test_overall_adds_levels_up() -> None:
    episodes = played("random", (5, 7))
    total, levels = overall(rows(episodes))[0], estimate(episodes)
    assert total.level is None
    for name in ("items", "attempts", "replies", "errors"):
        assert getattr(total, name) == sum(getattr(level, name) for level in levels)


def test_embedded_players_score_as_they_must() -> None:
    found = {e.group.model: e for e in estimate([e for p in ("oracle", "heuristic", "null") for e in played(p, (7,))])}
    assert found["waybench/oracle"].best is not None
    assert found["waybench/oracle"].best.value == 100
    assert found["waybench/null"].best is not None
    assert found["waybench/null"].best.value == 0
    # A player without chance has one score at each maze, however often it tries.
    assert found["waybench/heuristic"].best is not None
    assert found["waybench/heuristic"].single is not None
    assert found["waybench/heuristic"].single.value == pytest.approx(found["waybench/heuristic"].best.value)


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.7])
def test_single_attempt_is_unbiased_where_the_plain_mean_is_not(chance: float) -> None:
    rng = random.Random(5)
    found: list[float] = []
    for _ in range(20_000):
        tries: list[float] = []
        while len(tries) < 3 and 100.0 not in tries:
            tries.append(100.0 if rng.random() < chance else rng.choice([0.0, 60.0]))
        found.append(single_attempt_mean(tries, [score == 100 for score in tries]))
    assert mean(found) == pytest.approx(100 * chance + 30 * (1 - chance), abs=1)


def test_tidy_is_flat_and_has_all_options() -> None:
    made = episode_frame(
        rows([*played("oracle", (5,), mazes=1), *played("oracle", (5,), mazes=1, wording="ascii")])
    ).records()
    assert [row["option.wording"] for row in made] == ["matrix", "ascii"]
    assert [row["option.protocol"] for row in made] == ["paper", "paper"]
    names = [name.removeprefix("metric.") for name in made[0] if name.startswith("metric.")]
    assert names == [metric.name for metric in MAZE.scoring.metrics]
    assert (made[0]["metric.score"], made[0]["end"], made[0]["item"], made[0]["attempt"]) == (100, "solved", "501", 1)
    assert all(row.keys() == made[0].keys() for row in made)


def test_rows_keep_the_order_of_episodes_and_are_one_each() -> None:
    episodes = played("random", (5, 7))
    made = rows(iter(episodes))
    assert [(row.level, row.item, row.attempt) for row in made] == [
        (e.record.item["level"], e.record.item["id"], e.record.attempt) for e in episodes
    ]
    assert [row.metrics["score"] for row in made] == [SCORE.of(e.record) for e in episodes]
    assert {row.end for row in made} <= {str(end) for end in End}


def test_records_that_cannot_be_measured_are_named() -> None:
    record = detour(item(), 2)
    for broken in (
        replace(record, proof={}),
        replace(record, item={"id": "501"}),
        replace(record, proof={"minimum": 0}),
    ):
        with pytest.raises(DataError, match=r"run\.eval: the record of maze/alicia, item '501'"):
            rows([logged(broken, log="run.eval")])
    with pytest.raises(UsageError, match="unknown environment"):
        rows([logged(replace(record, env="maze/other"))])


def test_no_episodes_no_estimates() -> None:
    assert (rows([]), estimate([]), by_level([]), overall([]), episode_frame([]).records()) == ([], [], [], [], [])
