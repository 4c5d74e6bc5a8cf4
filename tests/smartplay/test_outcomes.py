"""Outcomes of replies that name no action, and shares of outcomes: thoughts are in none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.report.pages import site
from waybench.core import Episode, EpisodeRecord, Outcome, ReplayError, Reply, TurnRecord, replay
from waybench.results import LoggedEpisode, by_level, rows

NOTHING = "I would look around first."
A_TO_B = "Move the top disk of rod A to the top of rod B"  # allowed once, and then onto a smaller disk


def played(env_id: str, *replies: str | Reply, **options: Any) -> EpisodeRecord:
    """Play the first public item; the last reply is repeated to the end."""
    env = waybench.load(env_id)
    episode: Episode[Any, Any, Any] = Episode(env, env.source().item(0), options)
    while not episode.done:
        episode.step(replies[min(len(episode.turns), len(replies) - 1)])
    return episode.record()


def logged(record: EpisodeRecord) -> LoggedEpisode:
    return LoggedEpisode(model="vendor/model", task="task", record=record, run="run")


def metric(record: EpisodeRecord, name: str) -> float | None:
    (found,) = (one.of(record) for one in waybench.load(record.env).scoring.metrics if one.name == name)
    return found


@pytest.mark.parametrize(
    "env_id", ["bandit/arms", "rps/rounds", "hanoi/rods", "messenger/roles", "crafter/survival", "voxel/find"]
)
@pytest.mark.parametrize("wording", ["two_questions", "one_question"])
def test_what_names_no_action_is_unparsed_in_paper(env_id: str, wording: str) -> None:
    record = played(env_id, NOTHING, steps=3, wording=wording)
    judged = waybench.load(env_id).playing.action_turns(record)
    assert 1 <= len(judged) <= 3  # the first action can end a game
    assert len(record.turns) == len(judged) * (1 + (wording == "two_questions"))
    assert {turn.outcome for turn in judged} == {Outcome.UNPARSED}
    # The published rule is as it was: the first action has been taken.
    assert all(turn.action == [0, False] and "score" in turn.events for turn in judged)
    assert metric(record, "unparsed") == metric(record, "unnamed") == len(judged)
    (row,) = rows([logged(record)])
    assert (row.outcomes, row.turns, row.failure) == ({"unparsed": len(judged)}, len(record.turns), "unnamed")


def test_the_first_action_has_the_same_effect_named_or_not() -> None:
    named, unnamed = (played("bandit/arms", reply, steps=20) for reply in ("Pull slot machine 1.", NOTHING))
    assert [turn.reward for turn in named.turns] == [turn.reward for turn in unnamed.turns]
    assert metric(named, "score") == metric(unnamed, "score")
    assert {turn.outcome for turn in named.turns} == {Outcome.OK}


def test_shares_are_of_the_replies_that_had_to_name_an_action() -> None:
    # 29 of 30 moves are not allowed; with the thoughts it would be 48 %.
    record = played("hanoi/rods", A_TO_B)
    assert len(record.turns) == 60
    (total,) = by_level(rows([logged(record)]))
    assert (total.replies, total.action_replies, total.requests) == (60, 30, 60)
    assert total.outcomes == {"illegal": 29 / 30, "ok": 1 / 30}


def test_a_thought_that_is_refused_is_no_answer() -> None:
    record = played("rps/rounds", Reply("No.", "refused"), "Rock", steps=1)
    (row,) = rows([logged(record)])
    assert (row.outcomes, row.other_replies) == ({"ok": 1}, 1)


def test_every_reply_counts_where_every_reply_has_to_name_an_action() -> None:
    for env_id in ("search/guessnum", "tilemap/stepwise", "textmap/extract", "maze/alicia"):
        record = played(env_id, "x")
        assert waybench.load(env_id).playing.action_turns(record) == record.turns
        (row,) = rows([logged(record)])
        assert (row.other_replies, row.outcomes) == (0, {"unparsed": len(record.turns)})


def test_a_move_that_the_protocol_made_is_an_illegal_move_of_an_unparsed_reply() -> None:
    record = played("hanoi/rods", NOTHING, wording="one_question")
    assert {turn.outcome for turn in record.turns} == {Outcome.UNPARSED}
    # From A to B: allowed once, and then onto a smaller disk.
    assert (metric(record, "illegal"), metric(record, "reward"), metric(record, "unnamed")) == (29, -29, 30)


def of_schema_1(record: EpisodeRecord) -> EpisodeRecord:
    """Return a record as the versions before wrote it: an action taken for a reply had that action's outcome."""

    def turn(one: TurnRecord) -> TurnRecord:
        done = Outcome.ILLEGAL if one.reward < 0 else Outcome.OK
        return one._replace(outcome=done) if one.outcome is Outcome.UNPARSED else one

    return replace(record, schema=1, turns=tuple(map(turn, record.turns)))


def test_a_record_of_an_earlier_version_replays_to_the_outcomes_of_this_one(tmp_path: Path) -> None:
    record = played("hanoi/rods", NOTHING, steps=5)
    old = EpisodeRecord.from_json(json.loads(of_schema_1(record).dumps()))
    assert {turn.outcome for turn in old.turns} == {Outcome.OK, Outcome.ILLEGAL}
    again = replay(waybench.load("hanoi/rods"), old)
    assert again.record().turns == record.turns
    # A report has simulated it; rows alone say what is recorded.
    made = site(tmp_path, [logged(old)])
    (total,) = json.loads((made.folder / "summary.json").read_text())["overall"]
    assert (total["outcomes"], total["action_replies"], total["replies"], total["aside"]) == ({"unparsed": 1}, 5, 10, 0)
    assert rows([logged(old)])[0].outcomes == {"ok": 1, "illegal": 4}
    # Nothing else may differ, and in a record of this version not even that.
    with pytest.raises(ReplayError, match="reward"):
        replay(waybench.load("hanoi/rods"), replace(old, turns=(*old.turns[:-1], old.turns[-1]._replace(reward=1))))
    with pytest.raises(ReplayError, match="outcome"):
        replay(waybench.load("hanoi/rods"), replace(old, schema=2))


def test_the_report_shows_that_nothing_was_named(tmp_path: Path) -> None:
    made = site(tmp_path, [logged(played("bandit/arms", NOTHING))])
    head, line = made.scores.table("Unparsed, %")
    assert dict(zip(head, line, strict=False))["Unparsed, %"] == "100.0"
    (model,) = made.models
    assert "100.0 % of 50 replies unparsed" in model.html
    assert "replies ok" not in model.html
    (result,) = made.results
    assert "50 unparsed" in result.text
    assert "50 ok" not in result.text
