"""Keys and doors: what players learn of them and can do, and an oracle whose tour is a shortest one."""

from typing import Any

import pytest

import waybench
from tests.envs.tilemap.maps import GTB, RECORD, STEPWISE, after, least_moves, said, value
from waybench.core import End, Episode, EpisodeRecord, Outcome, UsageError, play_to_end, policy, replay
from waybench.envs.tilemap._drawing import board, parse_typed
from waybench.envs.tilemap._locks import LOCK_ACTIONS
from waybench.envs.tilemap._players import oracle_is_ceiling
from waybench.envs.tilemap._protocols import MOVES

STATE = waybench.load("tilemap/state")
# The target in the corner has one cell beside it that is not the other one's way.
CORRIDOR: dict[str, Any] = {"environment": ["@aaaaaaa", "#######a"], "objectives": {"end": [1, 7], "begin": [0, 1]}}
DOORS: dict[str, Any] = {"doors": 1, "protocol": "sound"}


def lock_of(episode: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    width = episode.state.board.case.width + 2
    [lock] = episode.state.board.locks
    return tuple((cell // width - 1, cell % width - 1) for cell in (lock.key, lock.door))  # type: ignore[return-value]


def text_of(episode: Any) -> str:
    return episode.messages[-1].text  # type: ignore[no-any-return]


@pytest.mark.parametrize(("doors", "numbers"), [(1, (1, 3)), (2, (1, 3)), (3, (3, 5))])
def test_the_oracle_s_tour_is_as_short_as_any(doors: int, numbers: tuple[int, ...]) -> None:
    options = {"doors": doors}
    for number in numbers:
        item = GTB.source(level=1).item(number)
        oracle = play_to_end(GTB, item, policy("oracle"), {**options, "protocol": "sound"})
        state: Any = oracle.state
        record = oracle.record()
        assert record.end is End.SOLVED and len(state.board.locks) == doors
        assert oracle_is_ceiling(record) and value(record, "score") == 100 and value(record, "length_mse") == 0
        assert value(record, "actions") == least_moves(item, options, (*MOVES, *LOCK_ACTIONS))
        assert value(record, "actions") > record.proof["minimum"]
        single = play_to_end(STEPWISE, item, policy("oracle"), {**options, "protocol": "sound"}).record()
        assert value(single, "actions", STEPWISE) == value(record, "actions")
        assert replay(GTB, record).record() == record


def test_a_door_opens_with_its_key_alone() -> None:
    episode = after(env=GTB, record=CORRIDOR, **DOORS, tries=9)
    key, door = lock_of(episode)
    assert door == (0, 7) and key[0] == 0 and 2 <= key[1] <= 6
    assert "& is the key to" not in text_of(episode) and "is the key to the door" in text_of(episode)
    assert "The agent carries no key." in text_of(episode)
    to_door = ("move_right",) * 7
    episode.step(said(*to_door, "open_door", "move_right"))
    assert (episode.state.row, episode.state.column) == (0, 6)
    assert episode.turns[-1].events["blocked"] == 2 and episode.turns[-1].events["moves"] == 9
    episode.step(said(*("move_left",) * (6 - key[1]), "pick_up", "open_door"))
    sign = episode.state.board.locks[0].key_sign
    assert f"The agent carries the key {sign}." in text_of(episode) and sign not in episode.state.rows()[0]
    episode.step(said(*("move_right",) * (6 - key[1]), "open_door", "move_right", "move_down"))
    assert episode.state.reached == 1 and episode.turns[-1].outcome is Outcome.OK


def test_without_doors_the_actions_are_unknown_and_nothing_is_said() -> None:
    every_options: tuple[dict[str, Any], ...] = {}, {"protocol": "sound"}
    for options in every_options:
        episode = after(said("move_right", "pick_up"), **options)
        assert episode.turns[-1].events["unknown"] is True
        assert not any("pick_up" in message.text or "key" in message.text for message in after(**options).messages)
    assert parse_typed("p", after().state) is None


def test_tools_templates_and_people_have_both_actions() -> None:
    item = GTB.source(level=2).item(0)
    options = {**DOORS, "interface": "tools"}
    episode: Any = Episode(GTB, item, options)
    [tool] = episode.play.wording.tools(episode.state)
    assert tool.parameters["action"]["items"]["enum"] == [*MOVES, *LOCK_ACTIONS]
    state = episode.state
    assert parse_typed("u2 p o", state) == (("move_up", "move_up", *LOCK_ACTIONS), None)
    assert [action.typed for action in GTB.typing.actions(state)][-2:] == [*LOCK_ACTIONS]  # type: ignore[misc]
    [lock] = state.board.locks
    tiles = {tile.text: tile.colour for row in board(state, ()).rows for tile in row}
    assert tiles[lock.door_sign] == tiles[state.board.bars] != tiles[lock.key_sign]


def test_doors_exclude_creatures_and_a_map_without_room_says_so() -> None:
    with pytest.raises(UsageError, match="doors"):
        after(**DOORS, enemies=1)
    episode = after(record={"environment": "@a", "objectives": {"end": [0, 1]}}, **DOORS)
    assert "has no key and no door" in text_of(episode)
    assert play_to_end(GTB, episode.item, policy("oracle"), DOORS).end_reason is End.SOLVED


def test_predictions_and_noisy_players_meet_doors() -> None:
    predicted = play_to_end(STATE, GTB.source(level=2).item(1), policy("oracle"), DOORS).record()
    assert (value(predicted, "moved", STATE), value(predicted, "score", STATE)) == (1, 100)
    noisy = play_to_end(GTB, GTB.source(level=2).item(1), policy("noisy-0.2"), {**DOORS, "tries": 3}).record()
    assert replay(GTB, noisy).record() == noisy
    assert play_to_end(GTB, GTB.item(RECORD), policy("oracle"), {"doors": 2}).end_reason is End.SOLVED


def test_a_record_from_before_the_option_is_scored_as_before() -> None:
    record = play_to_end(GTB, GTB.source(level=1).item(0), policy("noisy-0.2"), {"protocol": "sound"}).record()
    data: Any = record.to_json()
    del data["options"]["doors"]
    older = EpisodeRecord.from_json(data)
    assert [metric.of(older) for metric in GTB.scoring.metrics] == [metric.of(record) for metric in GTB.scoring.metrics]
    assert GTB.scoring.failure(older) == GTB.scoring.failure(record)
