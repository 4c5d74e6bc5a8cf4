"""Lines to score, spoilt in 8 families with fixed keys: each gives a result or one short error, soon.

There are 6 lines of each family for each of the environments, of which half begin as replies and half as a record.
"""

import json
import time

import pytest

import waybench
from tests.hostile_json import FAMILIES, RAW_FAMILIES, spoilt
from waybench._scoring import score_line
from waybench.core import Json, play_to_end, policy
from waybench.envs import registry

CASES = 6
SOON = 20.0  # seconds; a line takes milliseconds, but for a machine that is busy
LONGEST = 1_500  # characters of an error: what it quotes has 200 at most
IDS = [entry.id for entry in registry.built_in]


def lines(env_id: str) -> tuple[Json, Json]:
    """Return a line of replies and a record."""
    env = waybench.load(env_id)
    item, other = env.source().head(2)
    episode = play_to_end(env, item, policy("noisy-0.5"), dict(env.playing.check_options))
    replies = [turn.reply for turn in episode.turns[:4]]
    replied = {
        "env": env_id,
        "instance": item.instance.to_json(),
        "replies": replies,
        "options": dict(env.playing.check_options),
    }
    more = {"examples": [other.instance.to_json()], "attempt": 2, "id": item.id}
    return replied | more, json.loads(episode.record().dumps())


@pytest.mark.slow
@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("family", [*FAMILIES, *RAW_FAMILIES])
@pytest.mark.parametrize("env_id", IDS)
def test_a_spoilt_line_gives_a_result_or_a_short_error(env_id: str, family: str) -> None:
    good = lines(env_id)
    for case in range(CASES):
        line = spoilt(good[case % 2], family, env_id, case)
        began = time.monotonic()
        result = score_line(line, 7)
        assert time.monotonic() - began < SOON, line[:300]
        json.dumps(result, allow_nan=False)
        if "error" not in result:
            assert {"env", "metrics", "end", "turns"} <= result.keys()
            continue
        assert result["line"] == 7
        assert 0 < len(result["error"]) <= LONGEST, result["error"]
        assert "\n" not in result["error"]
