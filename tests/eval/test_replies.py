"""What of a provider's answer is a reply, and what is its own message."""

from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant, ContentText, ModelOutput, StopReason

import waybench
from waybench.core import Episode, EpisodeRecord, Reply, replay
from waybench.evaluation._solver import read_reply

OVERFLOW = "This model's maximum context length is 10 tokens"


def output(text: str, stop: StopReason = "stop", **more: Any) -> ModelOutput:
    return ModelOutput.from_content("m", text, stop_reason=stop, **more)


def test_what_a_stop_reason_makes_of_a_text() -> None:
    stops: tuple[StopReason, ...] = ("stop", "max_tokens", "model_length", "content_filter")
    assert [read_reply(output("7", stop), 0).stop for stop in stops] == ["stop", "truncated", "overflow", "refused"]


def test_a_refusal_beside_another_stop_reason_is_a_refusal() -> None:
    message = ChatMessageAssistant(content=[ContentText(text="7 is not for me to say.", refusal=True)])
    assert read_reply(ModelOutput.from_message(message), 0).stop == "refused"
    plain = ChatMessageAssistant(content=[ContentText(text="7")])
    assert read_reply(ModelOutput.from_message(plain), 0).stop == "stop"


@pytest.mark.parametrize("broken", [output("", error="overloaded"), ModelOutput(model="m")])
def test_an_error_in_the_place_of_a_reply_is_no_reply(broken: ModelOutput) -> None:
    with pytest.raises(RuntimeError, match="the provider answered without"):
        read_reply(broken, 0)


@pytest.mark.parametrize(
    ("env_id", "wording"),
    [
        ("search/guessnum", "appendix"),
        ("bandit/arms", "one_question"),
        ("hanoi/rods", "one_question"),
        ("maze/alicia", "matrix"),
    ],
)
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_a_providers_own_text_is_never_an_answer(env_id: str, wording: str, protocol: str) -> None:
    env = waybench.load(env_id)
    episode = Episode(env, env.source().item(0), {"protocol": protocol, "wording": wording})
    # In "paper" games of single steps read what a reply that was cut off at the output limit has said.
    turn = episode.step(Reply(f"{OVERFLOW}. Pull slot machine 2. Action 2.", "overflow"))
    assert (turn.outcome, turn.action) == ("overflow", None)
    assert "longer than the player can read" in str(turn.reason)
    record = EpisodeRecord.from_json(episode.record().to_json())
    assert replay(env, record).record().dumps() == episode.record().dumps()
