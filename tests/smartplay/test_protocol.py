"""The agent protocol: what is action_turns, what is shown again, and what a reply costs."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import waybench
from tests.smartplay.stairs import Climber, Stairs, StairsRules, episode
from waybench.core import (
    DataError,
    End,
    EpisodeRecord,
    Message,
    Outcome,
    ReplayError,
    Reply,
    Stream,
    play_to_end,
    policy,
)
from waybench.core import replay as replayed
from waybench.envs.smartplay import step_events
from waybench.envs.smartplay._game import THOUGHT, AgentGame, AgentReply, history_entry, history_text
from waybench.envs.smartplay._measures import action_turns
from waybench.envs.smartplay._wording import PROMPT_STYLES, AgentWording

THINK = "What is the next action to take, let’s think step by step."
CHOOSE = "Choose the best executable action from the list of all actions. Write the exact chosen action."
SYSTEM = (
    "You’re a player trying to play the game.\n\nThere are 3 steps.\n\n"
    "List of all actions:\n1. Go down\n2. Go up\n3. Go up twice"
)


def told(played: Any) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in played.messages]


def test_questions_are_those_of_the_paper(paper: Callable[[str], str]) -> None:
    text = paper("smartplay.txt")
    assert f"“{THINK}”" in text
    assert f"“{CHOOSE}”" in text


def test_two_questions_are_two_turns_and_the_thought_is_shown_with_the_second() -> None:
    played = episode()
    first = f"current step observation: You are on step 0.\n\n{THINK}"
    assert told(played) == [("system", SYSTEM), ("user", first)]
    turn = played.step("Up is the way.")
    assert (turn.action, turn.outcome, turn.events) == ("thought", Outcome.OK, {"thought": True})
    assert told(played) == [("system", SYSTEM), ("user", first), ("assistant", "Up is the way."), ("user", CHOOSE)]
    turn = played.step("Go up")
    assert turn.action == [1, True]
    assert turn.events == {"score": 1, "named": True}
    second = (
        "Most recent 1 steps of the player's in-game observation:\n\nPlayer Observation Step 0:\nYou are on step 0.\n\n"
        f"current step observation: You are on step 1.\n\n{THINK}"
    )
    assert told(played) == [("system", SYSTEM), ("user", second)]  # the thought before is gone


ROLE, MANUAL = SYSTEM.split("\n\n", 1)
CODE_THINK = "What is the best action to take? Let's think step by step, "


def test_code_sends_the_messages_of_the_published_program() -> None:
    """System messages for role, manual, history (none at the start) and observation, and the user's question."""
    played = episode(wording="code")
    begin = [("system", ROLE), ("system", MANUAL)]
    at_start = [*begin, ("system", "current step observation: You are on step 0."), ("user", CODE_THINK)]
    assert told(played) == at_start
    played.step("Up is the way.")
    assert told(played) == [*at_start, ("assistant", "Up is the way."), ("user", CHOOSE)]
    for reply in ("Go up", "A thought.", "Go down"):
        played.step(reply)
    history = (
        "Most recent 2 steps of the player's in-game observation:\n\n"
        "Player Observation Step 0:\nYou are on step 0.\n\nPlayer Observation Step 1:\nYou are on step 1."
    )
    later = [*begin, ("system", history), ("system", "current step observation: You are on step 0.")]
    assert told(played) == [*later, ("user", CODE_THINK)]
    record = EpisodeRecord.from_json(json.loads(played.record().dumps()))
    assert replayed(played.environment, record).messages == played.messages
    # Records of before have two messages, and count as they did.
    two = (Message("system", SYSTEM), Message("user", f"{at_start[2][1]}\n\n{CODE_THINK}"))
    assert replayed(played.environment, replace(record, opening=two)).messages == played.messages
    with pytest.raises(ReplayError, match="opening: the record has"):
        replayed(played.environment, replace(record, opening=two[::-1]))


def test_code_in_sound_tells_why_a_step_was_lost() -> None:
    played = episode(wording="code", protocol="sound")
    played.step("A thought.")
    turn = played.step("I do not know.")
    observation = ("system", "current step observation: You are on step 0.")
    assert told(played)[2:] == [("system", turn.reason), observation, ("user", CODE_THINK)]


@pytest.mark.parametrize("env", ["crafter/survival", "messenger/roles", "hanoi/rods"])
def test_code_cuts_no_text_of_a_game(env: str) -> None:
    """Manuals and observations with empty lines stay whole: the messages are the same text as in `two_questions`."""
    environment = waybench.load(env)
    item = environment.source().item(0)
    played, whole = (
        play_to_end(environment, item, policy("random"), {"wording": wording, "steps": 3})
        for wording in ("code", "two_questions")
    )
    assert [message.role for message in played.messages] == ["system"] * 4 + ["user"]
    assert [message.role for message in whole.messages] == ["system", "user"]
    texts = ("\n\n".join(message.text for message in each.messages) for each in (played, whole))
    assert next(texts) == next(texts).removesuffix(THINK) + CODE_THINK


def test_one_question() -> None:
    played = episode(wording="one_question")
    assert told(played)[1][1] == f"current step observation: You are on step 0.\n\n{CHOOSE}"
    assert played.limits.turns == 5


def test_a_chat_grows_and_has_no_history() -> None:
    played = episode(wording="chat")
    played.step("Go up")
    played.step("Go down")
    question = "Answer with the exact name of one action of the list, and nothing else."
    assert told(played)[1:] == [
        ("user", f"You are on step 0.\n\n{question}"),
        ("assistant", "Go up"),
        ("user", f"You are on step 1.\n\n{question}"),
        ("assistant", "Go down"),
        ("user", f"You are on step 0.\n\n{question}"),
    ]


def test_the_history_slides_and_never_has_the_present() -> None:
    played = episode(wording="one_question")
    for reply in ("Go up", "Go down", "Go up"):
        played.step(reply)
    history, present, _ = told(played)[1][1].rsplit("\n\n", 2)
    assert history == (
        "Most recent 2 steps of the player's in-game observation:\n\n"
        "Player Observation Step 1:\nYou are on step 1.\n\nPlayer Observation Step 2:\nYou are on step 0."
    )
    assert present == "current step observation: You are on step 1."


@pytest.mark.parametrize("history", [0, 1, 3])
def test_length_of_the_history(history: int) -> None:
    played = episode(wording="one_question", history=history)
    for _ in range(2):
        played.step("Go up")
    assert told(played)[1][1].count("Player Observation Step") == min(history, 2)
    assert len(played.state.past) == min(history, 2)


def test_history_text_is_stripped_as_published() -> None:
    assert history_text([]) == ""
    assert history_text([history_entry(7, "It is dark.\n")]).endswith("Step 7:\nIt is dark.")


def test_what_names_no_action_takes_the_first_one_in_paper() -> None:
    played = episode(wording="one_question")
    turn = played.step("I do not know.")
    assert (turn.action, turn.outcome, turn.reward) == ([0, False], Outcome.UNPARSED, -1)
    assert turn.events == {"bump": True, "score": 0, "named": False}
    assert [events["named"] for events in step_events(played.record())] == [False]


def test_what_names_no_action_loses_the_step_in_sound() -> None:
    played = episode(wording="one_question", protocol="sound")
    turn = played.step("I do not know.")
    assert (turn.action, turn.outcome) == (None, Outcome.UNPARSED)
    assert turn.message == f"{turn.reason}\n\ncurrent step observation: You are on step 0.\n\n{CHOOSE}"
    assert played.state.stored == 0  # it has seen nothing new
    assert step_events(played.record()) == []
    assert len(action_turns(played.record())) == 1


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_every_step_has_two_replies_whatever_they_are(protocol: str) -> None:
    played = episode(protocol=protocol)
    replies = ["", Reply("cut", "truncated"), Reply("no", "refused"), "?", Reply("", "refused"), Reply("no", "refused")]
    for number, reply in enumerate(replies):
        assert played.state.thinking == (number % 2 == 0)
        assert played.messages[-1].text.endswith(CHOOSE if number % 2 else THINK)
        played.step(reply)
    assert len(action_turns(played.record())) == 3
    assert played.turns_left == 10 - 6
    assert replayed(played.environment, played.record()).record() == played.record()


def test_a_thought_that_was_cut_off_is_one() -> None:
    for protocol in ("paper", "sound"):
        played = episode(protocol=protocol)
        assert played.step(Reply("Let me see, up is", "truncated")).action == "thought"
        assert played.messages[-2] == Message("assistant", "Let me see, up is", 0)


@pytest.mark.parametrize(("protocol", "outcome"), [("paper", Outcome.OK), ("sound", Outcome.TRUNCATED)])
def test_an_action_that_was_cut_off(protocol: str, outcome: Outcome) -> None:
    played = episode(protocol=protocol, wording="one_question")
    assert played.step(Reply("Go up because", "truncated")).outcome is outcome


def test_most_steps_by_option_or_by_instance() -> None:
    assert episode(height=7, steps=None, wording="one_question").limits.turns == 14
    assert episode(height=7, steps=None).limits.turns == 28
    played = episode()
    while not played.done:
        played.step("Go down")
    assert (played.end_reason, len(played.turns)) == (End.TURN_LIMIT, 10)


def test_the_game_ends_by_its_own_rules() -> None:
    played = play_to_end(episode().environment, episode().item, policy("oracle"), {})
    assert (played.end_reason, len(played.turns)) == (End.SOLVED, 6)
    values = {metric.name: metric.of(played.record()) for metric in played.environment.scoring.metrics}
    assert values == {"score": 3, "reward": 1, "completed": 1, "played": 3, "unnamed": 0, "unparsed": 0}


def test_before_the_first_reply_everything_is_0() -> None:
    record = episode().record()
    assert {metric.of(record) for metric in episode().environment.scoring.metrics} == {0.0}


def test_legal_actions_are_those_that_are_no_mistake() -> None:
    played = episode(wording="one_question")
    game = played.play.game
    assert game.legal(played.state) == [AgentReply(1), AgentReply(2)]
    played.step("Go up")
    assert game.legal(played.state) == [AgentReply(0), AgentReply(1), AgentReply(2)]
    assert game.legal(episode().state) == (THOUGHT,)


@pytest.mark.parametrize("action", [THOUGHT, AgentReply(3), AgentReply(-1)])
def test_what_is_no_action_costs_the_step(action: AgentReply) -> None:
    played = episode(wording="one_question")
    after = played.play.game.apply(played.state, action, played.stream("test"))
    assert (after.outcome, after.state) == (Outcome.ILLEGAL, played.state)


def test_an_action_where_a_thought_is_asked_for_is_lost() -> None:
    played = episode()
    after = played.play.game.apply(played.state, AgentReply(1), played.stream("test"))
    assert (after.outcome, after.state.thinking, after.state.world.at) == (Outcome.ILLEGAL, False, 0)


def test_actions_as_json() -> None:
    game = episode().play.game
    for action in (THOUGHT, AgentReply(0), AgentReply(2, named=False)):
        assert game.decode(game.encode(action)) == action
    for bad in (None, [1], [True, True], [1, 1], [-1, True], "think", ["1", True], [10**7, True]):
        with pytest.raises(DataError, match="an action is"):
            game.decode(bad)


def test_noise_spoils_no_thought() -> None:
    played = episode()
    game = played.play.game
    assert game.perturb(played.state, THOUGHT, 1.0, played.stream("noise")) == THOUGHT


def test_players_keep_what_their_page_says() -> None:
    assert episode().environment.players.policies["oracle"].__doc__ == "Go up."


class Remembering(StairsRules):
    lists_actions = False

    def before(self, world: Climber) -> tuple[str, ...]:
        return ("You came by the lift.", "You looked around.")


def test_a_manual_can_go_without_the_list_of_actions() -> None:
    wording: Any = AgentWording(Remembering(published=True), PROMPT_STYLES["one_question"], published=True)
    assert wording.rules(Stairs()) == "You’re a player trying to play the game.\n\nThere are 3 steps."


@pytest.mark.parametrize(("history", "kept"), [(0, 0), (1, 1), (2, 2), (5, 2)])
def test_a_history_can_begin_with_what_was_seen_before(history: int, kept: int) -> None:
    game: Any = AgentGame(Remembering(published=True), history, thinks=False, reward=(0, 1))
    state = game.start(Stairs())
    seen = ("Player Observation Step 0:\nYou came by the lift.", "Player Observation Step 1:\nYou looked around.")
    assert state.past == seen[2 - kept :]
    assert state.stored == 2
    following = game.apply(state, AgentReply(1), Stream("unused")).state
    if history:
        assert following.past[-1] == "Player Observation Step 2:\nYou are on step 0."
