"""Numbers and names of the published engine: terrain, beings, items, actions, achievements.

Compiled code has these numbers as constants. They are what maps and texts are recorded with, so they never change.
"""

SIZE = 64  # cells along each side
AREA = SIZE * SIZE
ACROSS, DOWN = 4, 3  # cells that are seen to the west and the east, and to the north and the south
CHUNK = 12  # cells along each side of the chunks in which the number of beings is balanced
CHUNKS = 6  # along each side

WATER, GRASS, STONE, PATH, SAND, TREE, LAVA, COAL, IRON, DIAMOND, TABLE, FURNACE = range(1, 13)
PLAYER, COW, ZOMBIE, SKELETON, ARROW, PLANT = range(13, 19)
NAMES = (
    *("", "water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table", "furnace"),
    *("player", "cow", "zombie", "skeleton", "arrow", "plant"),
)
"""The contents of a cell by number; 0 is nothing."""

ITEMS = (
    *("health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond"),
    *("wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword"),
)
HEALTH, FOOD, DRINK, ENERGY, SAPLING, WOOD = range(6)
STONES, COALS, IRONS, DIAMONDS, WOOD_PICKAXE, STONE_PICKAXE, IRON_PICKAXE = range(6, 13)
WOOD_SWORD, STONE_SWORD, IRON_SWORD = range(13, 16)
MOST = 9  # of each item

NOOP, WEST, EAST, NORTH, SOUTH, DO, SLEEP, PLACE_STONE, PLACE_TABLE, PLACE_FURNACE, PLACE_PLANT = range(11)
MAKE_WOOD_PICKAXE, MAKE_STONE_PICKAXE, MAKE_IRON_PICKAXE = range(11, 14)
MAKE_WOOD_SWORD, MAKE_STONE_SWORD, MAKE_IRON_SWORD = range(14, 17)

ACHIEVEMENTS = (
    *("collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone"),
    *("collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe"),
    *("make_iron_sword", "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword"),
    *("place_furnace", "place_plant", "place_stone", "place_table", "wake_up"),
)

# Where the numbers of a body are: the items first, then how often each achievement was made, then these numbers.
MADE = len(ITEMS)
(
    *(CLOCK, EAST_OF, SOUTH_OF, ASLEEP, HUNGER, THIRST, FATIGUE, RECOVER, LAST_HEALTH, ENTERED, DRAWN, ACTED, HARM),
    KNOWN_CHUNKS,
) = range(MADE + len(ACHIEVEMENTS), MADE + len(ACHIEVEMENTS) + 14)
RANKS = KNOWN_CHUNKS + 1  # of each chunk: its place in the order in which they were entered first; 0 if never
BODY = RANKS + CHUNKS * CHUNKS

# Where the numbers of a being are; WAIT: steps until it can attack again, or that a plant has grown; DX, DY: flight of
# an arrow; SINCE: rank of its entry into its chunk among all entries.
KIND, X, Y, LIFE, WAIT, DX, DY, SINCE = range(8)
BEING = 8

HARMS = ("", "zombie", "arrow", "lava", "need")
