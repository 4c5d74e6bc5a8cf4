"""`interface=tools` over every environment: the same actions give the same record, and a malformed call is a turn."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import waybench
from waybench.core import (
    Episode,
    EpisodeRecord,
    Invalid,
    Json,
    Outcome,
    UsageError,
    base_wording_name,
    calls_in_reply,
    evenly_spaced_values,
    play_to_end,
    policy,
    replay,
    reply_of_calls,
)
from waybench.envs import registry
from waybench.testing._hostile import HOSTILE_REPLIES

IDS = [entry.id for entry in registry.built_in]
FAST = ("maze/alicia", "hanoi/rods", "search/dfs", "textmap/route", "tilemap/state")
PLACES = [pytest.param(env, marks=[] if env in FAST else [pytest.mark.slow]) for env in IDS]


def ways(env_id: str) -> Iterator[dict[str, Json]]:
    """Yield the default options, and each other wording and protocol."""
    environment = waybench.load(env_id)
    choices = {option.name: option.choices for option in environment.playing.options}
    for name in ("wording", "protocol"):
        for choice in choices[name]:
            yield {**environment.playing.check_options, name: choice}
    for name in ("mode",):
        for choice in choices.get(name, ()):
            yield {**environment.playing.check_options, name: choice}


def common(record: EpisodeRecord) -> dict[str, Any]:
    """Return what of a record does not depend on the interface: all but the words, the rules' last paragraph too."""
    data = record.to_json()
    data["options"] = {**data["options"], "wording": base_wording_name(record.options)}
    del data["opening"]
    for turn in data["turns"]:
        del turn["reply"]
    return data


@pytest.mark.parametrize("env_id", PLACES)
def test_the_same_actions_give_the_same_record(env_id: str) -> None:
    environment = waybench.load(env_id)
    item = environment.source().item(0)
    for options in ways(env_id):
        for player in ("oracle", "random", "noisy-0.3"):
            text = play_to_end(environment, item, policy(player), options)
            tools = play_to_end(environment, item, policy(player), {**options, "interface": "tools"})
            assert common(tools.record()) == common(text.record())
            assert tools.options["wording"] == f"tools:{text.options['wording']}"
            assert "interface" not in tools.options
            asked = [turn for turn in tools.turns if turn.events.get("thought") is None]
            assert asked and all(len(calls_in_reply(turn.reply).calls) == 1 for turn in asked)
            for metric in environment.scoring.metrics:
                if metric.name != "shared":  # measured on the text of the prompt
                    assert metric.of(tools.record()) == metric.of(text.record()), metric.name
            if environment.playing.not_replayable is None:
                assert replay(environment, tools.record()).record() == tools.record()


@pytest.mark.parametrize("env_id", IDS)
def test_each_environment_declares_its_actions(env_id: str) -> None:
    environment = waybench.load(env_id)
    play = environment.play_with(environment.resolve_options({"interface": "tools"}))
    state = play.game.start(environment.source().item(0).instance)
    (tool,) = play.wording.tools(state)
    assert "reply" not in tool.parameters, "it takes a whole reply as text"
    assert all(schema["description"] for schema in tool.parameters.values())
    if not play.wording.thought_question(state):
        for action in evenly_spaced_values(play.game.legal(state), 20):
            assert play.wording.parse(play.wording.render(action, state), state) == action


def acting(environment: Any) -> Episode[Any, Any, Any]:
    """Return an episode in which an action is due."""
    options = {**environment.playing.check_options, "interface": "tools"}
    episode: Episode[Any, Any, Any] = Episode(environment, environment.source().item(0), options)
    while episode.play.wording.thought_question(episode.state):
        episode.step("...")
    return episode


@pytest.mark.parametrize("env_id", IDS)
def test_a_malformed_call_is_an_unparsed_turn_with_its_reason(env_id: str) -> None:
    environment = waybench.load(env_id)
    episode = acting(environment)
    good = json.loads(policy("oracle").reply(episode))
    (call,) = good["calls"]
    first = next(iter(call["arguments"]))
    for reply, reason in (
        ("I go there.", "has no call"),
        ("", "has no call"),
        (
            environment.playing.play(episode.options | {"wording": base_wording_name(episode.options)}).wording.render(
                episode.environment.players.policies["oracle"](episode.state, episode.stream("x")), episode.state
            ),
            "has no call",
        ),
        (json.dumps({"calls": [call, call]}), "2 calls"),
        (json.dumps({"calls": [{**call, "name": "fly"}]}), 'no tool "fly"'),
        (json.dumps({"calls": [{**call, "arguments": {}}]}), "is missing in the arguments"),
        (json.dumps({"calls": [{**call, "arguments": {**call["arguments"], "more": 1}}]}), 'unknown name "more"'),
        (json.dumps({"calls": [{**call, "arguments": {**call["arguments"], first: None}}]}), f"{first} must be"),
        (json.dumps({"calls": [{**call, "arguments": {}, "error": "cut off"}]}), "no valid JSON"),
    ):
        parsed = episode.play.wording.parse(reply, episode.state)
        assert isinstance(parsed, Invalid) and reason in parsed.reason, (reply[:80], parsed)
    turn = episode.step("I go there.")
    assert (turn.outcome, turn.reason) == (Outcome.UNPARSED, "The reply has no call of a tool.")


def test_hostile_replies_are_no_calls() -> None:
    for env_id in ("maze/alicia", "search/guessnum", "tilemap/gtb"):
        episode = acting(waybench.load(env_id))
        wording, state = episode.play.wording, episode.state
        for name, reply in HOSTILE_REPLIES.items():
            assert isinstance(wording.parse(reply(), state), Invalid), name
    state = acting(waybench.load("search/guessnum"))
    for value in ("9" * 5000, "1e999", "true", "[" * 900 + "]" * 900, '"7"', "7.5", "null", '{"a": 1, "a": 2}'):
        reply = f'{{"calls": [{{"name": "guess", "arguments": {{"number": {value}}}}}]}}'
        assert isinstance(state.play.wording.parse(reply, state.state), Invalid), value[:20]
    twice = '{"calls": [{"name": "guess", "arguments": {"number": 7, "number": 8}}]}'
    assert "twice" in str(state.play.wording.parse(twice, state.state))
    whole = '{"calls": [{"name": "guess", "arguments": {"number": 700.0}}]}'
    assert state.play.wording.parse(whole, state.state) == 700  # the same number in JSON


def test_a_text_that_looks_like_a_call_is_none() -> None:
    forged = '{"calls": [{"name": "move", "arguments": {"movements": []}}]}'
    assert calls_in_reply(forged).calls
    written = reply_of_calls(forged, [])
    assert calls_in_reply(written) == (forged, ())
    assert reply_of_calls("plain", []) == "plain"
    (call,) = calls_in_reply(forged).calls
    assert calls_in_reply(reply_of_calls("words", [call])) == ("words", (call,))


def test_it_is_a_wording_of_its_own_with_any_base(tmp_path: Any) -> None:
    environment = waybench.load("maze/alicia")
    path = tmp_path / "mine.toml"
    path.write_text('base = "ascii"\nrules = "Mine. {rules}"\n')
    item = environment.source().item(0)
    both = play_to_end(environment, item, policy("oracle"), {"wording": f"file:{path}", "interface": "tools"})
    assert both.options["wording"].startswith("tools:file:mine-")
    assert base_wording_name(both.options) == "ascii"
    assert both.messages[0].text.startswith("Mine. ") and both.play.wording.acts_by_tools
    path.unlink()
    assert replay(environment, both.record()).record() == both.record()
    with pytest.raises(UsageError, match="unknown interface 'speech'"):
        environment.resolve_options({"interface": "speech"})
    with pytest.raises(UsageError, match="acts by tools"):
        environment.resolve_options({"interface": "text", "wording": "tools:ascii"})
