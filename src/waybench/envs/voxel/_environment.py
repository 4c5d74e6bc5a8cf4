"""The environment of the search for a biome."""

from functools import partial

from waybench._package_data import read_text
from waybench.core import Images, Items, Players, Presentation, Program, Scoring
from waybench.envs.smartplay import SEEN, agent_environment, thinking_players
from waybench.envs.voxel._drawing import board, draw_picture, scenes
from waybench.envs.voxel._game import FindRules, decode, level_of, prove
from waybench.envs.voxel._items import OPTIONS, SearchSource, sound_items
from waybench.envs.voxel._measures import (
    FAILURES,
    METRICS,
    not_replayable,
    own_failure,
    reference_scores,
    setting,
    world_name,
)
from waybench.envs.voxel._players import PLAYERS
from waybench.envs.voxel.engines import LUANTI, MINEDOJO, find_program

PROGRAMS = (
    Program(
        LUANTI,
        f"voxel worlds (engine={LUANTI})",
        partial(find_program, LUANTI),
        "install Debian's package minetest-server, or put luantiserver in PATH",
    ),
    Program(
        MINEDOJO,
        f"Minecraft (engine={MINEDOJO})",
        partial(find_program, MINEDOJO),
        "install MineDojo 0.1, a Java Development Kit 8 and Minecraft 1.11.2; see its documentation",
    ),
)

PRESENTATION = Presentation(
    title="Find a biome (after SmartPlay)",
    lead=(
        "The player looks for a biome in a voxel world that is described in words, by walking in one of four "
        "directions in each step. The score is the share of searches that found one. By default the world is "
        "waybench's own; there are no published scores to compare with."
    ),
    level="level of distance",
    levels="levels of distance",
    item="search",
    items="searches",
    metrics=("score", "found_after", "progress", "distance_left", "spl", "unnamed", "unparsed"),
    scenes=scenes,
    board=board,
    legend=(
        "The map from above, north at the top, with the goal biomes outlined. The ring is the player's start, the "
        "square the goal nearest to it, the line the player's path, and the dot its last position, with a ring if the "
        "biome was found."
    ),
    panels={"Success": ("score", "spl")},
    undefined="A dash: no biome was found, so there is no number of steps.",
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has what is around you and what you see: you are the orange dot in the middle, north is up, "
    "and each of the boxes around you lists what is in its direction: its distance in blocks, whether it is above you, "
    "below you or level with you, and, of what you see, the share of the screen that it takes. In the box in the "
    "middle is what is in front of you.",
    replaces=(SEEN,),
    bases=("chat",),
)

FIND = agent_environment(
    id="voxel/find",
    version=2,
    title="Find a biome in a voxel world (after SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=FindRules,
    history=2,  # Table 1, and so are the steps
    steps=200,
    reward=(0.0, 1.0),
    items=Items(
        options=OPTIONS,
        sample_levels=(1,),
        public_key="voxel-v1",
        make_source=SearchSource,
        decode=decode,
        level_of=level_of,
        prove=prove,
        cluster=world_name,
        sound_options=sound_items,
    ),
    scoring=Scoring(reference_scores=reference_scores, metrics=METRICS, failures=FAILURES, published_setting=setting),
    playing={"check_options": {"steps": 40}, "programs": PROGRAMS, "not_replayable": not_replayable, "images": IMAGES},
    own_failure=own_failure,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
)
