"""Games of a fixed length: that they came to their end is no failure, and replies that name no action are one."""

import pytest

import waybench
from waybench.core import Episode, Reply, play_to_end, policy


@pytest.mark.parametrize("env_id", ["bandit/arms", "rps/rounds"])
def test_the_end_of_a_game_of_a_fixed_length_is_no_failure(env_id: str) -> None:
    env = waybench.load(env_id)
    item = env.source().item(0)
    for name in ("random", "oracle"):
        assert env.scoring.failure_of(play_to_end(env, item, policy(name)).record()) is None

    def kind(reply: Reply | str, **options: str) -> str:
        episode: Episode = Episode(env, item, {"wording": "one_question", "steps": 4, **options})  # type: ignore[type-arg]
        while not episode.done:
            episode.step(reply)
        found = env.scoring.failure_of(episode.record())
        assert found is not None
        return found.name

    assert kind("?") == "unnamed"
    assert kind("?", protocol="sound") == "unparsed"
    assert kind(Reply("x", "refused"), protocol="sound") == "refused"
