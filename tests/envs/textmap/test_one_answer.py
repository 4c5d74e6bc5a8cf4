"""What all questions about maps share, whatever they ask."""

from typing import Any

import pytest

import waybench
from waybench.core import AnswerState, End, OneAnswerGame, OneAnswerWording, Outcome, Stream

KINDS = ("route", "destination", "minigame", "extract")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_the_options_and_the_set_that_all_have(kind: str) -> None:
    environment = waybench.load(f"textmap/{kind}")
    assert [option.name for option in environment.playing.options][:2] == ["protocol", "wording"]
    names = [option.name for option in environment.items.options]
    assert names[:8] == ["one_way", "doors", "dark", "special", "confusable", "prose", "exits", "steps"]
    assert {"prefix_steps", "questions"} <= set(names)
    assert (environment.items.public_key, environment.items.smallest_level, environment.items.pooled) == (
        "textmap-v1",
        1,
        True,
    )
    assert environment.items.cluster is not None
    assert environment.playing.implied is not None


@pytest.mark.parametrize("kind", KINDS[:3])
def test_nobody_is_asked_twice(kind: str) -> None:
    environment = waybench.load(f"textmap/{kind}")
    played = environment.playing.play(environment.resolve_options({"protocol": "sound"}))
    game: Any = played.game
    words: Any = played.wording
    assert isinstance(game, OneAnswerGame)
    assert isinstance(words, OneAnswerWording)
    state = game.start(environment.source("one", 1).item(0).instance)
    assert game.terminal(state) is None
    assert words.observe(state, None, 0) == ""
    right = game.apply(state, environment.players.policies["oracle"](state, Stream("x")), Stream("x"))
    assert (right.reward, right.outcome, game.terminal(right.state)) == (1, Outcome.OK, End.SOLVED)
    assert next(iter(right.events)) == "success"
    assert words.observe(right.state, right, 1) == "Right."
    wrong = next(
        done for answer in game.legal(state) if (done := game.apply(state, answer, Stream("x"))).events["success"] == 0
    )
    assert wrong.outcome in (Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
    assert wrong.state == AnswerState(state.instance, End.FAILED) == game.forfeit(state)
    assert words.observe(wrong.state, wrong, 1) == "Wrong."
    assert list(game.legal(wrong.state)) == []
