"""The environment of Crafter."""

from waybench._package_data import read_text
from waybench.core import Images, Items, Players, Presentation, Scoring
from waybench.envs.crafter._drawing import KEYS, board, scenes
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._measures import (
    AGGREGATES,
    FAILURES,
    LEAST,
    METRICS,
    MOST,
    SERIES,
    STEPS,
    own_failure,
    reference_scores,
    setting,
)
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._world import LEVEL, Worlds, decode
from waybench.envs.smartplay import LEGEND, SEEN, agent_environment, draw_seen, thinking_players

PRESENTATION = Presentation(
    title="Crafter (SmartPlay)",
    lead=(
        "The player survives in a world of grass, water, mountains and caves, with 22 achievements to unlock. The "
        "score is the "
        "number of achievements unlocked so far, summed over the steps, so early achievements and a long life count "
        "more. The Crafter score combines the shares of worlds in which each achievement was unlocked."
    ),
    item="world",
    metrics=("score", "human", "crafter_score", "achievements", "reward", "played", "unnamed", "unparsed"),
    scenes=scenes,
    board=board,
    legend=(
        "The ring is the player's start and the line its path; the dot is its last position and direction, and the "
        "dashed box what it saw there. Numbers mark where achievements were unlocked; the list is beside the map. "
        "Cells with an edge were changed; colours and letters are named below the map."
    ),
)


SURVIVAL = agent_environment(
    id="crafter/survival",
    version=1,
    title="Crafter (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=SurvivalRules,
    history=5,  # Table 1
    steps=None,
    most_steps=lambda wilds: STEPS,
    reward=(LEAST, MOST),
    items=Items(
        sample_levels=(LEVEL,), public_key="crafter-v1", make_source=Worlds, decode=decode, level_of=lambda wilds: LEVEL
    ),
    playing={
        "check_options": {"steps": 40},
        "images": Images(draw=draw_seen, legend=LEGEND, replaces=(SEEN,), bases=("chat",)),
    },
    scoring=Scoring(
        metrics=METRICS,
        failures=FAILURES,
        series=SERIES,
        aggregates=AGGREGATES,
        published_setting=setting,
        reference_scores=reference_scores,
    ),
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    keys=KEYS,
)
