"""In-context examples of games that have no end of their own, and of very long ones."""

import json
from dataclasses import replace
from typing import Any

import pytest

import waybench
from waybench.core import Episode, EpisodeRecord, UsageError, replay

SHOWN = ("assistant", "user")


def shown(env_id: str, level: int, count: int = 1, **options: Any) -> Episode[Any, Any, Any]:
    env = waybench.load(env_id)
    item, *others = env.source(level=level).head(count + 1)
    examples = tuple(one.instance for one in others)
    return Episode(env, replace(item, examples=examples), options)


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(("env_id", "level"), [("bandit/arms", 2), ("rps/rounds", 1)])
@pytest.mark.parametrize(("wording", "replies"), [("one_question", 1), ("two_questions", 2)])
def test_a_game_without_an_end_is_shown_up_to_the_limit_on_turns(
    env_id: str, level: int, wording: str, replies: int
) -> None:
    # The third step of the limit is the last one that is shown, with what it came to.
    episode = shown(env_id, level, steps=3, history=2, wording=wording)
    roles = [message.role for message in episode.messages]
    assert roles == ["system", "user", *SHOWN * 3 * replies]
    record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
    assert replay(waybench.load(env_id), record).record().opening == record.opening


def test_a_game_that_ends_by_itself_is_shown_to_its_end_whatever_the_limit_is() -> None:
    short, long = ([message.text for message in shown("search/dfs", 8, max_steps=most).messages] for most in (1, 100))
    assert short == long
    assert any("You have visited all the nodes" in text for text in short)


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(("count", "options"), [(1, {"steps": 100_000, "history": 10_000}), (200, {})])
def test_examples_that_no_prompt_holds_are_refused(count: int, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="4 million characters"):
        shown("bandit/arms", 2, count, wording="one_question", **options)
