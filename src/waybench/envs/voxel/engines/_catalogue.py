"""The engines, and what is known of each without starting it: its biomes, and what can be searched for in it."""

from collections.abc import Mapping
from typing import NamedTuple

from waybench._package_data import read_toml
from waybench.envs.voxel._blocks import BIOMES, GOALS, fits

OWN, LUANTI, MINEDOJO = "own", "luanti", "minedojo"


class Engine(NamedTuple):
    """The properties of an engine, known without starting it.

    Attributes:
        goals: The goals that are drawn.
        biomes: All biomes, and their colours on maps.
        farthest: Columns from the middle of a world in which a search can begin.
        worlds: In how many worlds the searches of a set are; 0: each has its own.
        tries: Places that are tried for a search of one goal.
        charted: Whether its maps are known, so that there are levels, an oracle and drawings.
    """

    goals: tuple[str, ...]
    biomes: Mapping[str, str]
    farthest: int = 1_000_000
    worlds: int = 0
    tries: int = 2000
    charted: bool = True

    def words(self) -> tuple[str, ...]:
        """Return what can be a goal: those that are drawn, and every biome of a map that is known."""
        return (*self.goals, *(name for name in self.biomes if self.charted and name not in self.goals))

    def fitting(self, goal: str) -> tuple[str, ...]:
        """Return the biomes that count as a goal: as published, those whose names contain its word."""
        return tuple(name for name in self.biomes if fits(goal, name))


_BIOMES = read_toml(__file__, "biomes.toml")
# The goals of "luanti" are its counterparts of the eight published ones. A server is one world, and takes a second to
# start; so the searches of a set share some.
_LUANTI = Engine(
    goals=("grassland", "forest", "ocean", "beach", "taiga", "icesheet", "rainforest", "desert"),
    biomes=_BIOMES["luanti"],
    farthest=20_000,
    worlds=8,
    tries=100,
)
ENGINES = {OWN: Engine(GOALS, {name: each.colour for name, each in BIOMES.items()}), LUANTI: _LUANTI}

MINECRAFT_BIOMES: Mapping[int, str] = {int(number): name for number, name in _BIOMES["minecraft"].items()}
"""The names of Minecraft's biomes by the numbers that MineDojo reports."""
# Which of MineDojo's creative tasks has which goal: those that SmartPlay registers (shared/specs/smartplay.md, 2).
CREATIVE: Mapping[str, int] = dict(zip(GOALS, (0, 1, 2, 4, 5, 7, 8, 9), strict=True))
PUBLISHED_GOALS: Mapping[str, str] = {f"MinedojoCreative{number}": goal for goal, number in CREATIVE.items()}
"""The goals of SmartPlay's settings in Minecraft, by the settings' names."""
ENGINES[MINEDOJO] = Engine(GOALS, dict.fromkeys(MINECRAFT_BIOMES.values(), ""), farthest=0, charted=False)
PLAINS = {name: engine.goals[0] for name, engine in ENGINES.items()}
"""The goal of each engine that stands for the one whose setting is recorded."""


def counterpart(goal: str, engine: str) -> str:
    """Return the goal of an engine that stands for a published one; in most engines it is the same."""
    return ENGINES[engine].goals[GOALS.index(goal)]
