"""What makes the worlds, and which biomes each has."""

from collections.abc import Mapping
from typing import NamedTuple

from waybench.envs.voxel._blocks import BIOMES, GOALS, fits

OWN, LUANTI, MINEDOJO = "own", "luanti", "minedojo"


class Engine(NamedTuple):
    """What is known of an engine without starting it.

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


# The biomes of minetest_game, as the engine "luanti" calls them (see `_luanti.called`), and its counterparts of the
# eight published goals. A server is one world, and takes a second to start; so the searches of a set share some.
_LUANTI = Engine(
    goals=("grassland", "forest", "ocean", "beach", "taiga", "icesheet", "rainforest", "desert"),
    biomes={
        "ocean": "#2b5c9e",
        "beach": "#f2e3a0",
        "dunes": "#e3d08a",
        "shore": "#c9c08a",
        "swamp": "#5e6b3b",
        "icesheet": "#e9f1f5",
        "tundra": "#9a958a",
        "tundra highland": "#b5b2ab",
        "taiga": "#2f6b56",
        "snowy grassland": "#c8ddc0",
        "grassland": "#a3d06b",
        "coniferous forest": "#3b7a4b",
        "deciduous forest": "#3f8f3a",
        "desert": "#e6a35c",
        "sandstone desert": "#e6c35c",
        "cold desert": "#cfc7b0",
        "savanna": "#b5a642",
        "rainforest": "#1f6b16",
    },
    farthest=20_000,
    worlds=8,
    tries=100,
)
ENGINES = {OWN: Engine(GOALS, {name: each.colour for name, each in BIOMES.items()}), LUANTI: _LUANTI}

# Minecraft 1.11's biomes by their numbers, as MineDojo tells them (shared/specs/smartplay.md, section 8).
MINECRAFT_BIOMES = {
    **dict(
        enumerate(
            (
                *(
                    "Ocean",
                    "Plains",
                    "Desert",
                    "Extreme Hills",
                    "Forest",
                    "Taiga",
                    "Swampland",
                    "River",
                    "Hell",
                    "The End",
                ),
                *("FrozenOcean", "FrozenRiver", "Ice Plains", "Ice Mountains", "MushroomIsland", "MushroomIslandShore"),
                *("Beach", "DesertHills", "ForestHills", "TaigaHills", "Extreme Hills Edge", "Jungle", "JungleHills"),
                *("JungleEdge", "Deep Ocean", "Stone Beach", "Cold Beach", "Birch Forest", "Birch Forest Hills"),
                *(
                    "Roofed Forest",
                    "Cold Taiga",
                    "Cold Taiga Hills",
                    "Mega Taiga",
                    "Mega Taiga Hills",
                    "Extreme Hills+",
                ),
                *("Savanna", "Savanna Plateau", "Mesa", "Mesa Plateau F", "Mesa Plateau"),
            )
        )
    ),
    127: "The Void",
    129: "Sunflower Plains",
    130: "Desert M",
    131: "Extreme Hills M",
    132: "Flower Forest",
    133: "Taiga M",
    134: "Swampland M",
    140: "Ice Plains Spikes",
    149: "Jungle M",
    151: "JungleEdge M",
    155: "Birch Forest M",
    156: "Birch Forest Hills M",
    157: "Roofed Forest M",
    158: "Cold Taiga M",
    160: "Mega Spruce Taiga",
    161: "Redwood Taiga Hills M",
    162: "Extreme Hills+ M",
    163: "Savanna M",
    164: "Savanna Plateau M",
    165: "Mesa (Bryce)",
    166: "Mesa Plateau F M",
    167: "Mesa Plateau M",
}
# Which of MineDojo's creative tasks has which goal (section 2).
CREATIVE: Mapping[str, int] = dict(zip(GOALS, (0, 1, 2, 4, 5, 7, 8, 9), strict=True))
ENGINES[MINEDOJO] = Engine(GOALS, dict.fromkeys(MINECRAFT_BIOMES.values(), ""), farthest=0, charted=False)
PLAINS = {name: engine.goals[0] for name, engine in ENGINES.items()}
"""The goal of each engine that stands for the one whose setting is recorded."""
