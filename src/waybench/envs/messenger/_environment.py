"""The environment of Messenger."""

from waybench._package_data import read_text
from waybench.core import Images, Items, Players, Presentation, Scoring
from waybench.envs.messenger._drawing import board, scene
from waybench.envs.messenger._game import RoleRules
from waybench.envs.messenger._items import DATASETS, PUBLIC_KEY, SOURCE_OPTIONS, DrawnGames
from waybench.envs.messenger._measures import FAILURES, LEAST, METRICS, MOST, own_failure, setting
from waybench.envs.messenger._players import PLAYERS
from waybench.envs.messenger._world import STAGES, decode
from waybench.envs.smartplay import LEGEND, SEEN, agent_environment, draw_seen, thinking_players

PRESENTATION = Presentation(
    title="Messenger (SmartPlay)",
    lead=(
        "The player brings a message to a goal past an enemy; a paraphrased manual says which entity is which. The "
        "score is the reward of the last step: 1 for a delivery, -1 for a death. On the human scale 1 is the human "
        "mean and 0 is a death; on the oracle scale 0 is a random player and 1 is a player that knows all roles."
    ),
    level="stage",
    item="game",
    metrics=(
        "score",
        "completed",
        "reward",
        "human",
        "scaled",
        "got_message",
        "met_enemy",
        "met_decoy",
        "met_goal",
    ),
    scene=scene,
    board=board,
    legend=(
        "The ring is the player's start; the squares are the starts of the enemy (E), the message (M), the goal (G) "
        "and decoys (D). The solid line is the player's path, dashed lines are the others' paths, and dots mark the "
        "last positions: a ring around the player's dot is a success, a cross is a death."
    ),
    undefined=(
        "A dash: there is no published human score for stage 3, for other boards or for other numbers of steps; and a "
        "player that has the message from the start cannot get it."
    ),
)


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
    items=Items(
        options=SOURCE_OPTIONS,
        sample_levels=STAGES,
        public_key=PUBLIC_KEY,
        make_source=DrawnGames,
        datasets=DATASETS,
        decode=decode,
        level_of=lambda case: case.stage,
    ),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, published_setting=setting),
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    playing={"images": Images(draw=draw_seen, legend=LEGEND, replaces=(SEEN,), bases=("chat",))},
)
