"""Episodes that their player leaves before the end."""

import pytest

from waybench.core import Episode, EpisodeRecord, replay
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode
from waybench.results.results import rows


@pytest.mark.parametrize("env", [entry.id for entry in registry.built_in])
def test_an_episode_that_is_left_at_once_is_measured_as_failed(env: str) -> None:
    environment = registry.load(env)
    (protocols,) = (option.choices for option in environment.playing.options if option.name == "protocol")
    for protocol in protocols:
        item = environment.source(environment.items.public_key, protocol=protocol).item(0)
        episode = Episode(environment, item, {"protocol": protocol}, player="me")
        episode.abandon()
        record = EpisodeRecord.from_json(episode.record().to_json())
        replay(environment, record)
        (row,) = rows([LoggedEpisode("me", "task", record)])
        assert (row.exclusion_reason, str(row.end)) == ("", "turn_limit")
        metric = environment.scoring.metrics[0]
        assert row.metrics[metric.name] is not None
