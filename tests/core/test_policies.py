"""Players that are no models."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.toys import DIAL, ITEM, oracle
from waybench.core import End, Episode, UsageError, play_to_end, policy
from waybench.core._policies import EMBEDDED, NoisyPolicy, ScriptedPolicy


def test_null_says_nothing() -> None:
    episode = play_to_end(DIAL, ITEM, policy("null"))
    assert {turn.reply for turn in episode.turns} == {""}
    assert (episode.end_reason, episode.player) == (End.TURN_LIMIT, "null")


def test_oracle_solves() -> None:
    episode = play_to_end(DIAL, ITEM, policy("oracle"))
    assert (len(episode.turns), episode.end_reason) == (3, End.SOLVED)


def test_random_is_legal_and_depends_on_the_attempt() -> None:
    attempts = [play_to_end(DIAL, ITEM, policy("random"), attempt=attempt) for attempt in (1, 1, 2, 3)]
    said = [[turn.reply for turn in episode.turns] for episode in attempts]
    assert said[0] == said[1]
    assert len({tuple(replies) for replies in said}) == 3
    assert {turn.outcome for episode in attempts for turn in episode.turns} <= {"ok", "unproductive"}


def test_random_of_an_environment_comes_first() -> None:
    steady = replace(DIAL, players=replace(DIAL.players, policies={**DIAL.players.policies, "random": oracle}))
    assert len(play_to_end(steady, ITEM, policy("random")).turns) == 3


def test_noisy_errs_at_its_rate() -> None:
    episode = Episode(DIAL, ITEM)
    said = Counter(
        NoisyPolicy(ScriptedPolicy("oracle"), 0.4).reply(Episode(DIAL, ITEM, attempt=attempt))
        for attempt in range(1, 1001)
    )
    assert policy("noisy-0").reply(episode) == policy("oracle").reply(episode) == "up"
    assert 140 < said["down"] < 260  # half of the errors are the right action by chance: 200 expected, sigma 12.6


def test_names() -> None:
    assert [policy(name).name for name in (*EMBEDDED, "noisy-0.10")] == [*EMBEDDED, "noisy-0.1"]


@pytest.mark.parametrize("name", ["noisy-1.5", "noisy--0.1", "noisy-nan", "noisy-", "noisy-much", "noisy-1e999"])
def test_noise_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match=r"give (a number|the error rate) from 0 to 1, as in noisy-0\.1"):
        policy(name)


def test_unknown_player() -> None:
    with pytest.raises(UsageError, match=r"unknown player of toy/dial 'orakel': did you mean 'oracle'\?"):
        play_to_end(DIAL, ITEM, policy("orakel"))
