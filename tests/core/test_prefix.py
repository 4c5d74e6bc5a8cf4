"""Hand-overs: other players play the first steps of an episode, by the option `prefix`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.toys import DIAL
from waybench.core import Episode, EpisodeRecord, ReplayError, Reply, Usage, UsageError, play_to_end, policy, replay
from waybench.core._prefix import count_oracle_steps

DFS = waybench.load("search/dfs")
MAZE = waybench.load("maze/alicia")
ITEM = DFS.source(level=10).item(0)


def played(
    prefix: str | None, player: str = "oracle", env: Any = DFS, item: Any = ITEM, **options: Any
) -> EpisodeRecord:
    given = options if prefix is None else {**options, "prefix": prefix}
    return play_to_end(env, item, policy(player), given).record()


def test_without_a_prefix_nothing_is_new_in_a_record() -> None:
    record = played(None).to_json()
    assert "prefix" not in record["options"]
    assert all("prefix" not in turn for turn in record["turns"])
    assert play_to_end(DFS, ITEM, policy("oracle"), {"prefix": None}).record().dumps() == played(None).dumps()


def test_the_first_turns_are_the_oracles() -> None:
    whole, handed = played(None), played("oracle:4", "null")
    assert [turn.reply for turn in handed.turns[:4]] == [turn.reply for turn in whole.turns[:4]]
    assert [turn.prefix for turn in handed.turns[:5]] == ["oracle"] * 4 + [""]
    assert handed.own_turns == handed.turns[4:]
    assert handed.options["prefix"] == "oracle:4"


def test_after_its_own_prefix_the_oracle_plays_as_from_the_beginning() -> None:
    whole, handed = played(None), played("oracle:4")
    assert tuple(turn._replace(prefix="") for turn in handed.turns) == whole.turns


def test_steps_are_counted_from_the_end() -> None:
    whole = played(None)
    handed = played("oracle:-3")
    assert len(handed.own_turns) == 3
    assert len(handed.turns) == len(whole.turns) == count_oracle_steps(Episode(DFS, ITEM))
    assert played("oracle:-1000").own_turns == whole.turns


def test_a_prefix_never_ends_the_episode() -> None:
    handed: Episode[Any, Any, Any] = Episode(DFS, ITEM, {"prefix": "oracle:500"})
    assert not handed.done
    assert len(handed.turns) == len(played(None).turns) - 1
    walk: Episode[Any, Any, Any] = Episode(DFS, ITEM, {"prefix": "random:5000", "max_steps": 12})
    assert not walk.done and walk.turns_left == 1


def test_injected_errors_follow_good_steps_and_are_the_same_again() -> None:
    first, again = played("oracle:3+random:2"), played("oracle:3+random:2", "heuristic")
    assert [turn.prefix for turn in first.turns[:5]] == ["oracle"] * 3 + ["random"] * 2
    assert first.turns[:5] == again.turns[:5]
    other = [
        play_to_end(DFS, ITEM, policy("null"), {"prefix": "random:6"}, attempt=attempt).record().turns[:6]
        for attempt in range(1, 6)
    ]
    assert len({tuple(turn.reply for turn in turns) for turns in other}) > 1


def test_a_plan_of_a_maze_is_cut_after_some_cells() -> None:
    item = MAZE.source(level=9).item(0)
    minimum = int(item.proof["minimum"])
    for steps in (1, 3, minimum - 1):
        record = played(f"oracle:{steps}", env=MAZE, item=item)
        assert [turn.events["moved"] for turn in record.turns] == [steps, minimum - steps]
        assert record.end == "solved"
    assert played("oracle:-2", env=MAZE, item=item).turns[1].events["moved"] == 2


def test_a_prefix_ends_with_an_action_and_not_with_a_thought() -> None:
    hanoi = waybench.load("hanoi/rods")
    item = hanoi.source().item(0)
    episode: Episode[Any, Any, Any] = Episode(hanoi, item, {"prefix": "oracle:2"})
    assert len(episode.turns) == 4
    assert episode.play.wording.thought_question(episode.state)


def test_the_chat_shows_the_prefix_as_what_has_happened() -> None:
    episode: Episode[Any, Any, Any] = Episode(DFS, ITEM, {"prefix": "oracle:2"})
    opening = len(episode.record().opening)
    said = [message.text for message in episode.messages[opening:] if message.role == "assistant"]
    assert said == [turn.reply for turn in played(None).turns[:2]]


def test_numbers_of_the_player_leave_the_prefix_out() -> None:
    episode: Episode[Any, Any, Any] = Episode(DFS, ITEM, {"prefix": "null:1+oracle:2"})
    assert [str(turn.outcome) for turn in episode.turns] == ["unparsed", "ok", "ok"]
    reply = policy("oracle").reply(episode)
    episode.step(Reply(reply, usage=Usage(10, 2, seconds=1.0)))
    while not episode.done:
        episode.step(policy("oracle").reply(episode))
    record = episode.record()
    assert record.tokens == (10, 2) and record.seconds == 1.0
    unparsed = next(metric for metric in DFS.scoring.metrics if metric.name == "unparsed")
    assert unparsed.of(record) == 0
    assert unparsed.of(replace(record, turns=tuple(turn._replace(prefix="") for turn in record.turns))) == 1


@pytest.mark.parametrize(
    ("env_id", "level", "name", "value"),
    [("hanoi/rods", 3, "unnamed", 0), ("textmap/extract", 1, "parsed", 1)],
)
def test_metrics_of_unreadable_replies_leave_the_prefix_out(env_id: str, level: int, name: str, value: float) -> None:
    env = waybench.load(env_id)
    record = played("null:2", env=env, item=env.source(level=level).item(0))
    assert len(record.turns) > len(record.own_turns)
    assert next(metric for metric in env.scoring.metrics if metric.name == name).of(record) == value


def test_the_first_error_is_none_of_the_prefix() -> None:
    for index in range(10):
        item = DFS.source(level=10).item(index)
        record = play_to_end(DFS, item, policy("noisy-0.3"), {"prefix": "random:4"}).record()
        error = DFS.scoring.first_error_of(record)
        assert error is None or error.turn >= 4
        clean = play_to_end(DFS, item, policy("noisy-0.5"), {"prefix": "oracle:4"}).record()
        error = DFS.scoring.first_error_of(clean)
        assert (error is None) == (clean.end == "solved")


BAD: tuple[Any, ...] = (
    *("", "oracle", "oracle:", "oracle:x", "oracle:1.5", "5", "oracle:3+", "random:-1", "oracle:1+oracle:-1"),
    *("oracel:1", "noisy-2:1", "noisy-x:1", "oracle:9999999", "+".join(["oracle:1"] * 21), "record:", "oracle:1\n"),
    *(7, ["oracle:1"]),
)


@pytest.mark.parametrize("prefix", BAD)
def test_a_bad_prefix_gets_one_line(prefix: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Episode(DFS, ITEM, {"prefix": prefix})
    assert str(caught.value).isprintable() and "prefix" in str(caught.value)


def test_episodes_of_one_turn_have_nothing_to_hand_over() -> None:
    route = waybench.load("textmap/route")
    with pytest.raises(UsageError, match="only one turn with these options"):
        Episode(route, route.source().item(0), {"prefix": "oracle:1"})
    with pytest.raises(UsageError, match="a teacher plays this episode"):
        Episode(DFS, ITEM, {"prefix": "oracle:1", "teacher_guided": True})


def test_a_changed_turn_of_a_prefix_is_found() -> None:
    record = played("random:2+oracle:1")
    first = record.turns[0]
    for changed in (first._replace(reply="0"), first._replace(prefix=""), first._replace(message="all is well")):
        if changed != first:
            with pytest.raises(ReplayError, match="turn 0"):
                replay(DFS, replace(record, turns=(changed, *record.turns[1:])))
    with pytest.raises(ReplayError, match="before its prefix does"):
        replay(DFS, replace(record, turns=record.turns[:2], end=None))


def test_a_prefix_from_records(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    stored = [
        play_to_end(DFS, DFS.source(level=10).item(index), policy("noisy-0.4"), {}).record() for index in range(2)
    ]
    path.write_text("".join(record.dumps() + "\n" for record in stored))
    record = played(f"record:{path}:3")
    assert [turn.reply for turn in record.turns[:3]] == [turn.reply for turn in stored[0].turns[:3]]
    assert [turn.prefix for turn in record.turns[:4]] == ["record"] * 3 + [""]
    assert str(tmp_path) not in record.dumps()
    path.write_bytes("\r\n".join(each.dumps() for each in stored).encode("utf-16"))
    assert played(f"record:{path}:3").turns == record.turns
    path.unlink()
    back = EpisodeRecord.from_json(json.loads(record.dumps()))
    assert replay(DFS, back).record().dumps() == record.dumps()
    with pytest.raises(ReplayError, match="turn 0"):
        replay(DFS, replace(back, options={**back.options, "prefix_replies": ["0", "1", "2"]}))


def test_records_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with pytest.raises(UsageError, match="cannot be read"):
        played(f"record:{path}")
    path.write_text(played(None).dumps() + "\n")
    with pytest.raises(UsageError, match="no record of item"):
        played(f"record:{path}", item=DFS.source(level=10).item(5))
    with pytest.raises(UsageError, match="other options of play"):
        played(f"record:{path}", protocol="sound")
    path.write_text("{}\n")
    with pytest.raises(UsageError, match="line 1 is no record"):
        played(f"record:{path}")
    cut = play_to_end(DFS, ITEM, policy("oracle"), {})
    episode: Episode[Any, Any, Any] = Episode(DFS, ITEM)
    episode.step(Reply("cut o", "truncated"))
    path.write_text(episode.record().dumps() + "\n" + cut.record().dumps() + "\n")
    with pytest.raises(UsageError, match="turn 1 of the record was cut off"):
        played(f"record:{path}")


def test_a_game_of_another_package_has_prefixes() -> None:
    item = DIAL.source().item(0)
    whole = play_to_end(DIAL, item, policy("oracle")).record()
    handed = play_to_end(DIAL, item, policy("oracle"), {"prefix": "oracle:-1"}).record()
    assert tuple(turn._replace(prefix="") for turn in handed.turns) == whole.turns
    assert len(handed.own_turns) == 1
