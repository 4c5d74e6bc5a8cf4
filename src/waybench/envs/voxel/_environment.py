"""The environment of the search for a biome."""

from waybench._package_data import read_text
from waybench.envs.voxel._failures import FAILURES, own_failure
from waybench.envs.voxel._game import FindRules
from waybench.envs.voxel._instance import decode, level_of, prove
from waybench.envs.voxel._metrics import METRICS, not_replayable, setting, world_name
from waybench.envs.voxel._players import PLAYERS
from waybench.envs.voxel._recorded import reference_scores
from waybench.envs.voxel._source import OPTIONS, SearchSource, sound_items
from waybench.smartplay import agent_environment

FIND = agent_environment(
    id="voxel/find",
    version=2,
    title="Find a biome in a world of blocks (after SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=FindRules,
    history=2,  # Table 1, and so are the steps
    steps=200,
    reward=(0.0, 1.0),
    source_options=OPTIONS,
    smallest_level=1,
    sample_levels=(1,),
    reference_scores=reference_scores,
    trial={"steps": 40},
    public_key="voxel-v1",
    make_source=SearchSource,
    task="voxel_find",
    decode=decode,
    level_of=level_of,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    own_failure=own_failure,
    setting=setting,
    cluster=world_name,
    sound_items=sound_items,
    live=not_replayable,
    players=PLAYERS,
)
