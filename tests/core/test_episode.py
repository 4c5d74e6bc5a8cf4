"""Episodes: limits, what an invalid reply costs, memory, guiding, and how they end."""

from dataclasses import replace

import pytest

from tests.toys import DIAL, ITEM, Dial, DialGame, DialState, DialWording, play
from waybench.core import End, Episode, Invalid, Message, Outcome, Reply, Transition, Usage, UsageError, WaybenchError

RULES = "Turn the dial to 8, but never to 0. Say up or down."  # ITEM is the dial from 5 to 8 of 10


def after(*replies: Reply | str, **options: object) -> Episode:
    episode = Episode(DIAL, ITEM, options)
    for reply in replies:
        episode.step(reply)
    return episode


def outcomes(episode: Episode) -> list[str]:
    return [str(turn.outcome) for turn in episode.turns]


def test_a_solved_episode() -> None:
    episode = after("up", "up")
    assert not episode.done
    assert episode.end_reason is None
    turn = episode.step("up")
    assert episode.done
    assert episode.end_reason is End.SOLVED
    assert turn is episode.turns[-1]
    assert (turn.reply, turn.outcome, turn.action, turn.executed, turn.reason) == ("up", Outcome.OK, 1, None, None)
    assert (turn.reward, dict(turn.events), turn.message) == (1.0, {"at": 8}, "The dial is at 8.")


def test_a_failed_episode() -> None:
    episode = after(*["down"] * 5)
    assert episode.end_reason is End.FAILED
    assert outcomes(episode) == ["unproductive"] * 5


def test_a_step_after_the_end_is_refused() -> None:
    episode = after("up", "up", "up")
    with pytest.raises(WaybenchError, match="the episode is over \\(solved\\): start a new one"):
        episode.step("up")
    assert len(episode.turns) == 3


def test_each_kind_of_turn() -> None:
    episode = after("up", "sideways", Reply("u", "truncated"), Reply("no", "refused"), "down", invalid="turn")
    assert outcomes(episode) == ["ok", "unparsed", "truncated", "refused", "unproductive"]
    assert [turn.action for turn in episode.turns] == [1, None, None, None, -1]
    reasons = [turn.reason for turn in episode.turns]
    assert reasons[1] == "Say up or down."
    assert "output limit" in str(reasons[2])
    assert "refusal" in str(reasons[3])
    assert episode.state.at == 5


def test_an_illegal_action() -> None:
    item = DIAL.item([10, 8, 10])
    episode = Episode(DIAL, item)
    turn = episode.step("up")
    assert (turn.outcome, turn.action, turn.reason) == (Outcome.ILLEGAL, 1, None)
    assert episode.state.at == 10


def test_truncated_and_refused_replies_are_not_carried_out_though_they_could_be_read() -> None:
    for stop in ("truncated", "refused"):
        episode = after(Reply("up", stop))
        assert outcomes(episode) == [stop]
        assert episode.state.at == 5
        assert episode.turns[0].reply == "up"
        assert episode.turns[0].message.startswith("The reply was ")


def test_usage_is_kept() -> None:
    usage = Usage(input_tokens=7, output_tokens=3, seconds=0.5)
    episode = after(Reply("up", usage=usage), "up", Reply("", usage=usage))
    assert [turn.usage for turn in episode.turns] == [usage, None, usage]
    assert episode.record().tokens == (14, 6)
    assert episode.record().seconds == 1.0


# Limits


def test_turn_limit() -> None:
    episode = after("up", "down", turns=3)
    assert (episode.done, episode.turns_left) == (False, 1)
    episode.step("up")
    assert episode.end_reason is End.TURN_LIMIT


def test_solving_on_the_last_turn_is_solving() -> None:
    assert after("up", "up", "up", turns=3).end_reason is End.SOLVED


def test_an_invalid_reply_uses_up_a_turn() -> None:
    episode = after("?", "?", turns=3, invalid="turn")
    assert not episode.done
    assert episode.turns_left == 1
    episode.step("?")
    assert episode.end_reason is End.TURN_LIMIT


def test_an_invalid_reply_is_forgiven_within_its_budget() -> None:
    episode = after("?", "?", "up", "?", "?", "up", "?", "?", turns=3, invalid="retry", retries=2)
    assert not episode.done
    assert episode.turns_left == 1
    episode.step("?")
    assert episode.end_reason is End.INVALID_LIMIT


def test_forgiven_replies_cost_no_turn() -> None:
    episode = after("?", "down", "?", "down", "?", turns=3, invalid="retry", retries=1)
    assert not episode.done
    episode.step("down")
    assert episode.end_reason is End.TURN_LIMIT


def test_no_retries() -> None:
    assert after("?", invalid="retry", retries=0).end_reason is End.INVALID_LIMIT


def test_an_invalid_reply_ends_the_episode() -> None:
    episode = after("up", invalid="end", retries=5)
    assert not episode.done
    episode.step("?")
    assert episode.end_reason is End.INVALID_LIMIT


@pytest.mark.parametrize("stop", ["truncated", "refused"])
@pytest.mark.parametrize(("invalid", "end"), [("turn", None), ("retry", None), ("end", End.INVALID_LIMIT)])
def test_a_reply_that_was_cut_off_is_an_invalid_one(stop: str, invalid: str, end: End | None) -> None:
    assert after(Reply("up", stop), invalid=invalid, retries=1).end_reason is end


def test_an_illegal_action_is_not_an_invalid_reply() -> None:
    episode = Episode(DIAL, DIAL.item([10, 8, 10]), {"invalid": "end"})
    episode.step("up")
    assert not episode.done


# Guiding


def test_guiding_keeps_what_was_said_apart_from_what_was_done() -> None:
    episode = Episode(DIAL, ITEM)
    turn = episode.step("down", execute=1)
    assert (turn.reply, turn.action, turn.executed, turn.outcome) == ("down", -1, 1, Outcome.UNPRODUCTIVE)
    assert episode.state.at == 6
    assert turn.message == "The dial is at 6."


def test_guiding_after_an_invalid_reply() -> None:
    episode = Episode(DIAL, ITEM, {"invalid": "end", "turns": 3})
    turn = episode.step("?", execute=1)
    assert (turn.outcome, turn.reason, turn.action, turn.executed) == (Outcome.UNPARSED, "Say up or down.", None, 1)
    assert episode.state.at == 6
    assert not episode.done  # what was done was a turn like any other
    episode.step(Reply("", "truncated"), execute=1)
    episode.step("up", execute=1)
    assert outcomes(episode) == ["unparsed", "truncated", "ok"]
    assert episode.end_reason is End.SOLVED


# What is shown


def roles(episode: Episode) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in episode.messages]


def test_chat_memory_shows_everything() -> None:
    episode = after("up", "?", memory="chat")
    assert roles(episode) == [
        ("user", f"{RULES}\n\nThe dial is at 5."),
        ("assistant", "up"),
        ("user", "The dial is at 6."),
        ("assistant", "?"),
        ("user", "Say up or down. The dial is at 6."),
    ]
    assert [message.turn for message in episode.messages] == [None, 0, None, 1, None]


def test_window_memory_shows_the_opening_and_the_last_turns() -> None:
    episode = after("up", "down", "up", memory="window", window=2)
    assert [text for _, text in roles(episode)] == [
        f"{RULES}\n\nThe dial is at 5.",
        "down",
        "The dial is at 5.",
        "up",
        "The dial is at 6.",
    ]
    assert len(after("up", memory="window", window=2).messages) == 3
    assert [text for _, text in roles(after("up", memory="window", window=0))] == [f"{RULES}\n\nThe dial is at 5."]


def test_fresh_memory_shows_the_rules_and_the_present() -> None:
    assert roles(after("up", "?", memory="fresh")) == [("user", f"{RULES}\n\nSay up or down. The dial is at 6.")]


@pytest.mark.parametrize("memory", ["chat", "window", "fresh"])
def test_opening_is_the_same_with_every_memory(memory: str) -> None:
    assert roles(after(memory=memory)) == [("user", f"{RULES}\n\nThe dial is at 5.")]


@pytest.mark.parametrize("memory", ["chat", "window"])
def test_rules_from_the_system(memory: str) -> None:
    episode = after("up", rules_role="system", memory=memory)
    assert roles(episode)[:2] == [("system", RULES), ("user", "The dial is at 5.")]


def test_rules_from_the_system_with_fresh_memory() -> None:
    episode = after("up", rules_role="system", memory="fresh")
    assert roles(episode) == [("system", RULES), ("user", "The dial is at 6.")]


class AllInTheRules(DialWording):
    def observe(self, state: DialState, last: Transition[DialState] | Invalid | None, turn: int) -> str:
        return "" if last is None else super().observe(state, last, turn)


@pytest.mark.parametrize("role", ["user", "system"])
def test_an_empty_observation_adds_no_message(role: str) -> None:
    environment = replace(
        DIAL,
        playing=replace(
            DIAL.playing, play=lambda options: replace(play(options), wording=AllInTheRules(rules_role=role))
        ),
    )
    assert Episode(environment, ITEM).messages == [Message(role, RULES)]


def test_messages_are_a_copy() -> None:
    episode = after("up")
    episode.messages.clear()
    assert len(episode.messages) == 3


# The rest


class Solved(DialGame):
    def terminal(self, state: DialState) -> End | None:
        return End.SOLVED


def test_an_episode_that_is_over_at_the_start() -> None:
    environment = replace(
        DIAL, playing=replace(DIAL.playing, play=lambda options: replace(play(options), game=Solved()))
    )
    assert Episode(environment, ITEM).done


def test_ending_from_outside() -> None:
    episode = after("up")
    episode.end(End.INFRASTRUCTURE, "no connection")
    assert (episode.done, episode.end_reason, episode.error) == (True, End.INFRASTRUCTURE, "no connection")
    record = episode.record()
    assert (record.end, record.error, len(record.turns)) == (End.INFRASTRUCTURE, "no connection", 1)


def test_wrong_option() -> None:
    with pytest.raises(UsageError, match="unknown option 'turn': did you mean 'turns'"):
        Episode(DIAL, ITEM, {"turn": 1})


def test_streams_differ_by_item_attempt_turn_and_purpose() -> None:
    first = Episode(DIAL, ITEM)
    later = after("up")
    episodes = [
        first,
        later,
        Episode(DIAL, ITEM, attempt=2),
        Episode(DIAL, DIAL.item([5, 7, 10])),
        Episode(replace(DIAL, id="toy/other"), ITEM),
    ]
    drawn = [episode.stream("game").word() for episode in episodes]
    assert len(set(drawn)) == len(drawn)
    assert first.stream("game").word() == Episode(DIAL, ITEM).stream("game").word()
    assert first.stream("game").word() != first.stream("player").word()


def test_the_record_names_everything() -> None:
    item = DIAL.source("secret", 10).item(4)
    record = Episode(DIAL, item, {"turns": 5}, attempt=3, player="me").record()
    # The first digits of the SHA-256 of "waybench key secret": who has the key itself has all items of the set.
    assert record.item == {"id": "10-4", "level": 10, "key": "private-d61de8ce", "index": 4}
    assert (record.env, record.env_version, record.attempt, record.player) == ("toy/dial", 1, 3, "me")
    assert record.options == DIAL.resolve_options({"turns": 5})
    assert record.instance == item.instance.to_json()
    assert record.instance_hash == item.instance.hash
    assert record.proof == {"minimum": abs(item.instance.goal - item.instance.start)}
    assert (record.turns, record.end, record.error) == ((), None, None)
    assert isinstance(item.instance, Dial)
