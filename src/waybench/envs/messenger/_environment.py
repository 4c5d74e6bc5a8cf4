"""The environment of Messenger."""

from waybench._package_data import read_text
from waybench.envs.messenger._failures import FAILURES, own_failure
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._instance import STAGES, decode
from waybench.envs.messenger._metrics import LEAST, METRICS, MOST, setting
from waybench.envs.messenger._players import PLAYERS
from waybench.envs.messenger._source import DATASETS, PUBLIC_KEY, SOURCE_OPTIONS, DrawnGames
from waybench.smartplay import agent_environment

ROLES = agent_environment(
    id="messenger/roles",
    version=1,
    title="Messenger (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=RoleRules,
    history=2,  # Table 1
    steps=None,
    most_steps=lambda case: case.steps,
    reward=(LEAST, MOST),
    source_options=SOURCE_OPTIONS,
    smallest_level=STAGES[0],
    sample_levels=STAGES,
    public_key=PUBLIC_KEY,
    make_source=DrawnGames,
    datasets=DATASETS,
    task="messenger",
    decode=decode,
    level_of=lambda case: case.stage,
    prove=lambda case: {},
    metrics=METRICS,
    failures=FAILURES,
    own_failure=own_failure,
    setting=setting,
    players=PLAYERS,
)
