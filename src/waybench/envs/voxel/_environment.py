"""The environment of the search for a biome."""

from waybench.core import Environment
from waybench.envs.voxel._about import ABOUT
from waybench.envs.voxel._failures import FAILURES, own_failure
from waybench.envs.voxel._game import FindRules, World
from waybench.envs.voxel._instance import Search, decode, level_of, prove
from waybench.envs.voxel._metrics import METRICS, not_replayable, setting, world_name
from waybench.envs.voxel._players import PLAYERS
from waybench.envs.voxel._recorded import reference_scores
from waybench.envs.voxel._source import OPTIONS, SearchSource, sound_items
from waybench.smartplay import (
    TYPED_HELP,
    Choice,
    Scene,
    action_turns,
    agent_failure,
    agent_options,
    agent_play,
    agent_typed,
    thinking_players,
)

HISTORY, STEPS = 2, 200  # Table 1


def _make(protocol: str) -> FindRules:
    return FindRules(published=protocol == "paper")


FIND: Environment[Search, Scene[Search, World], Choice] = Environment(
    id="voxel/find",
    version=2,
    title="Find a biome in a world of blocks (after SmartPlay)",
    about=ABOUT,
    options=agent_options(history=HISTORY, steps=STEPS),
    source_options=OPTIONS,
    smallest_level=1,
    sample_levels=(1,),
    reference_scores=reference_scores,
    trial={"steps": 40},
    public_key="voxel-v1",
    play=agent_play(_make, lambda search: STEPS, (0.0, 1.0)),
    draw_from=SearchSource,
    decode=decode,
    level_of=level_of,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    failure=agent_failure(own_failure),
    action_turns=action_turns,
    setting=setting,
    cluster=world_name,
    sound_items=sound_items,
    live=not_replayable,
    typed=agent_typed(_make),
    typed_help=TYPED_HELP,
    players=thinking_players(PLAYERS),
)
