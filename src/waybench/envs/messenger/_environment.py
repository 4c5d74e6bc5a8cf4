"""The environment of Messenger."""

from waybench.core import Environment
from waybench.envs.messenger._about import ABOUT
from waybench.envs.messenger._engine import World
from waybench.envs.messenger._failures import FAILURES, own_failure
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._instance import STAGES, Case, decode
from waybench.envs.messenger._metrics import LEAST, METRICS, MOST, setting
from waybench.envs.messenger._players import PLAYERS
from waybench.envs.messenger._source import SOURCE_OPTIONS, DrawnGames
from waybench.smartplay import (
    TYPED_HELP,
    Choice,
    Scene,
    action_turns,
    agent_failure,
    agent_options,
    agent_play,
    agent_typed,
)

HISTORY = 2  # Table 1


def _make(protocol: str) -> RoleRules:
    return RoleRules(published=protocol == "paper")


ROLES: Environment[Case, Scene[Case, World], Choice] = Environment(
    id="messenger/roles",
    version=1,
    title="Messenger (SmartPlay)",
    about=ABOUT,
    options=agent_options(history=HISTORY, steps=None),
    source_options=SOURCE_OPTIONS,
    smallest_level=STAGES[0],
    sample_levels=STAGES,
    public_key="messenger-v1",
    play=agent_play(_make, lambda case: case.steps, (LEAST, MOST)),
    draw_from=DrawnGames,
    decode=decode,
    level_of=lambda case: case.stage,
    prove=lambda case: {},
    metrics=METRICS,
    failures=FAILURES,
    failure=agent_failure(own_failure),
    action_turns=action_turns,
    setting=setting,
    typed=agent_typed(_make),
    typed_help=TYPED_HELP,
    players=PLAYERS,
)
