"""What the project's own tile worlds are made of: biomes, and the names of all that stands in them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Biome:
    """One kind of country, or of built-up space. Lists of names are texts with commas.

    Attributes:
        plan: How it is laid out: "wild", "town" or "halls".
        main: Name of each role of a tile that the layout relies on, "role: name, ...".
        patches: Further ground.
        masses: Further solid tiles that fill areas, as trees fill a wood.
        walls: Further walls of buildings.
        floors: Further floors of buildings.
        deco: Solid things that stand about.
        sites: Kinds of places that it has, the frequent ones more than once.
        age: "old" or "new"; it decides furniture, objects, people and names of rooms.
        water: Least and greatest share of lakes and sea, per cent.
        woods: Least and greatest share of the main solid tile, per cent.
        ridges: Number of lines of cliffs or the like, at most; on the largest maps there are up to three times as many.
        rivers: Number of rivers, at most; likewise.
        shore: "lakes", "sea" (on one side) or "isles".
        grain: Size of its areas, in tenths of the usual.
    """

    plan: str
    main: str
    patches: str
    masses: str
    walls: str
    floors: str
    deco: str
    sites: str = ""
    age: str = "old"
    water: tuple[int, int] = (0, 0)
    woods: tuple[int, int] = (0, 0)
    ridges: int = 0
    rivers: int = 0
    shore: str = "lakes"
    grain: int = 10


_FOREST = Biome(
    plan="wild",
    main="ground: Grass, solid: Oak, wall: Log Wall, road: Trodden Path, water: Woodland Pool, floor: Plank Floor, "
    "bridge: Log Bridge, door: Oak Door, cliff: Rock Face, shore: Rushes, river: Brook",
    patches="Moss, Ferns, Bluebells, Leaf Litter, Clover, Forest Glade",
    masses="Pine, Birch, Holly, Bramble",
    walls="Fieldstone Wall, Wattle Wall",
    floors="Flagstone Floor, Straw Floor",
    deco="Old Stump, Mossy Boulder, Woodpile, Beehive, Fallen Trunk",
    sites="village village cottage cottage inn shrine cave camp ruin grove orchard circle tower",
    water=(3, 7),
    woods=(11, 19),
    ridges=1,
    rivers=2,
)
_MEADOW = Biome(
    plan="wild",
    main="ground: Pasture, solid: Hedge, wall: Clay Brick, road: Cart Track, water: Duck Pond, floor: Tiled Floor, "
    "bridge: Plank Bridge, door: Green Door, cliff: Dry Stone Wall, shore: Reed Bank, river: Mill Stream",
    patches="Tall Grass, Buttercups, Ploughed Soil, Wheat, Hay Meadow, Poppies",
    masses="Willow, Poplar, Hawthorn, Apple Tree",
    walls="Timber Frame, Whitewashed Wall",
    floors="Threshing Floor, Rush Mat",
    deco="Haystack, Scarecrow, Water Trough, Milestone, Pigsty",
    sites="village village village cottage inn orchard orchard orchard shrine circle camp garden",
    water=(2, 5),
    woods=(7, 13),
    ridges=3,
    rivers=2,
)
_DESERT = Biome(
    plan="wild",
    main="ground: Sand, solid: Steep Dune, wall: Mudbrick Wall, road: Caravan Trail, water: Oasis Pool, "
    "floor: Clay Floor, bridge: Stone Causeway, door: Curtained Doorway, cliff: Sandstone Cliff, shore: Palm Grass, "
    "river: Wadi Stream",
    patches="Rippled Sand, Gravel Plain, Cracked Clay, Salt Crust, Dry Scrub, Red Dust",
    masses="Cactus, Thornbush, Date Palm, Rock Outcrop",
    walls="Sandstone Wall, Palisade",
    floors="Woven Rug, Mosaic Floor",
    deco="Bleached Bones, Broken Column, Water Jar, Cairn, Camel Saddle Rack",
    sites="village camp camp ruin ruin shrine cave cottage circle tower labyrinth",
    water=(1, 4),
    woods=(9, 15),
    ridges=2,
    rivers=1,
    grain=12,
)
_COAST = Biome(
    plan="wild",
    main="ground: Sea Grass, solid: Gorse, wall: Pebble Wall, road: Coast Road, water: Sea, floor: Driftwood Floor, "
    "bridge: Jetty, door: Blue Door, cliff: Chalk Cliff, shore: Beach, river: Tidal Creek",
    patches="Heather, Shingle, Thrift, Sandy Turf, Cockle Bed, Salt Meadow",
    masses="Wind-bent Pine, Sea Buckthorn, Blackthorn, Tidal Rock",
    walls="Tarred Planks, Harbour Wall",
    floors="Slate Floor, Sailcloth Floor",
    deco="Upturned Boat, Lobster Pots, Anchor, Drying Nets, Signal Mast",
    sites="village village cottage inn tower tower cave ruin shrine camp",
    water=(12, 19),
    woods=(6, 11),
    ridges=1,
    rivers=2,
    shore="sea",
)
_ISLES = Biome(
    plan="wild",
    main="ground: Island Grass, solid: Palm, wall: Bamboo Wall, road: Shell Path, water: Deep Water, "
    "floor: Bamboo Floor, bridge: Rope Bridge, door: Reed Door, cliff: Black Rock, shore: Coral Sand, river: Lagoon",
    patches="Vine Carpet, Hibiscus, Volcanic Soil, Tidal Flat, Yam Garden, Fern Bed",
    masses="Mangrove, Breadfruit Tree, Giant Fern, Coral Block",
    walls="Thatch Wall, Coral Wall",
    floors="Palm Mat, Shell Floor",
    deco="Outrigger Canoe, Carved Post, Fire Pit, Coconut Heap, Fish Rack",
    sites="village cottage cottage shrine cave camp camp ruin circle",
    water=(24, 31),
    woods=(4, 7),
    shore="isles",
    grain=13,
)
_PEAKS = Biome(
    plan="wild",
    main="ground: Alpine Turf, solid: Crag, wall: Granite Wall, road: Mule Track, water: Tarn, floor: Hewn Floor, "
    "bridge: Stone Arch, door: Iron-bound Door, cliff: Precipice, shore: Wet Scree, river: Torrent",
    patches="Scree, Edelweiss, Lichen, Old Snow, Heath, Gravel Ledge",
    masses="Spruce, Larch, Boulder Field, Juniper",
    walls="Drystone, Timber Wall",
    floors="Sheepskin Floor, Slate Slabs",
    deco="Summit Cross, Prayer Flags, Split Boulder, Goat Pen, Ore Cart",
    sites="village cave cave cave shrine tower cottage ruin camp inn circle",
    water=(1, 3),
    woods=(9, 15),
    ridges=3,
    rivers=1,
    grain=8,
)
_SWAMP = Biome(
    plan="wild",
    main="ground: Bog Grass, solid: Drowned Tree, wall: Wicker Wall, road: Boardwalk, water: Murky Water, "
    "floor: Stilt Floor, bridge: Corduroy Bridge, door: Hide Flap, cliff: Peat Bank, shore: Mud, river: Slow Channel",
    patches="Sedge, Cotton Grass, Toadstools, Peat, Sphagnum, Firm Hummock",
    masses="Alder, Cypress, Tangled Roots, Bulrushes",
    walls="Turf Wall, Stake Fence",
    floors="Rush Floor, Packed Peat",
    deco="Rotten Log, Eel Trap, Sunken Punt, Bone Totem, Crooked Signpost",
    sites="cottage cottage cottage village shrine ruin camp circle cave labyrinth",
    water=(12, 18),
    woods=(7, 11),
    rivers=1,
    grain=6,
)
_SNOW = Biome(
    plan="wild",
    main="ground: Snow, solid: Frosted Fir, wall: Ice-block Wall, road: Sledge Track, water: Frigid Water, "
    "floor: Fur Floor, bridge: Ice Bridge, door: Bone Door, cliff: Glacier Wall, shore: Thin Ice, river: Frozen Rapids",
    patches="Deep Snow, Frozen Moss, Blue Ice, Wind Crust, Snowdrift, Bare Tundra",
    masses="Bare Birch, Snow-laden Cedar, Ice Spire, Dwarf Willow",
    walls="Whalebone Wall, Sod Wall",
    floors="Plank Deck, Reindeer Hide",
    deco="Sledge, Frozen Cairn, Drying Rack, Snow Statue, Mammoth Skull",
    sites="village camp camp cave cottage shrine ruin tower circle",
    water=(4, 9),
    woods=(9, 15),
    ridges=2,
    rivers=1,
)
_CAVERN = Biome(
    plan="wild",
    main="ground: Cave Ground, solid: Solid Rock, wall: Dressed Stone, road: Mine Rail, water: Sunless Lake, "
    "floor: Smooth Floor, bridge: Iron Catwalk, door: Bronze Door, cliff: Rubble, shore: Damp Gravel, "
    "river: Buried River",
    patches="Glowcap Mushrooms, Fine Silt, Cave Moss, Crystal Dust, Bat Guano, Worn Steps",
    masses="Stalagmites, Basalt, Ore Seam, Flowstone",
    walls="Shored Timber, Rune-carved Wall",
    floors="Metal Grating, Chalk Floor",
    deco="Giant Mushroom, Crystal Cluster, Broken Cart, Support Beam, Spider Web",
    sites="cottage cottage shrine camp ruin circle village labyrinth",
    water=(3, 7),
    woods=(31, 38),
    rivers=1,
    grain=7,
)
_TOWN = Biome(
    plan="town",
    main="ground: Lawn, wall: House Wall, road: Cobbled Street, solid: Lime Tree, floor: Wooden Boards, "
    "door: Front Door, water: Canal, bridge: Humpback Bridge, shore: Quay, cliff: Town Wall",
    patches="Tulip Bed, Gravel Yard, Market Square, Vegetable Plot, Paved Court, Rose Garden",
    masses="Chestnut Tree, Clipped Hedge, Iron Railing, Plane Tree",
    walls="Red Brick, Stone Facade, Half-timbered Wall",
    floors="Parquet, Kitchen Tiles, Marble Floor",
    deco="Oil Lantern Post, Covered Stall, Handcart, Hitching Post, Park Bench, Clock Post",
)
_PORT = Biome(
    plan="town",
    main="ground: Trampled Grass, wall: Warehouse Wall, road: Brick Paving, solid: Stacked Crates, "
    "floor: Deal Boards, door: Sliding Door, water: Harbour Basin, bridge: Swing Bridge, shore: Wharf, "
    "cliff: Sea Wall",
    patches="Cinder Yard, Fish Market, Oyster Shells, Sail Loft Yard, Tarred Planking, Weeds",
    masses="Coal Heap, Timber Stack, Rope Coils, Fishing Nets",
    walls="Corrugated Wall, Tavern Wall, Customs House Wall",
    floors="Stone Flags, Sawdust, Oilcloth",
    deco="Crane, Bollard, Mooring Post, Gas Lamp, Fish Barrow, Ship's Figurehead",
)
_DUNGEON = Biome(
    plan="halls",
    main="ground: Flagstones, wall: Dungeon Wall, door: Wooden Gate, solid: Pillar, water: Black Water, "
    "bridge: Stepping Stones, road: Worn Carpet, floor: Checkered Tiles, shore: Wet Stones, cliff: Collapsed Rubble",
    patches="Cracked Slabs, Dusty Tiles, Mouldy Straw, Bloodstained Floor, Bone Litter, Drain Grate",
    masses="Iron Bars, Sarcophagus, Broken Statue, Rubble Heap",
    walls="Brick Vault, Carved Wall",
    floors="Sunken Floor, Obsidian Tiles",
    deco="Brazier, Torture Rack, Hanging Chains, Stone Urn, Gargoyle",
)
_CASTLE = Biome(
    plan="halls",
    main="ground: Flagged Floor, wall: Castle Wall, door: Portcullis, solid: Marble Column, water: Moat Water, "
    "bridge: Drawbridge, road: Red Carpet, floor: Inlaid Floor, shore: Mossy Steps, cliff: Fallen Masonry",
    patches="Courtyard Grass, Herb Garden, Rush-strewn Floor, Oak Planks, Sand Ring, Terrace Tiles",
    masses="Yew Hedge, Suit of Armour, Tapestry Screen, Cannon",
    walls="Panelled Wall, Whitewashed Plaster",
    floors="Ballroom Floor, Chapel Floor",
    deco="Candelabra, Rose Trellis, Stone Lion, Banner Pole, Sundial",
)
_STATION = Biome(
    plan="halls",
    main="ground: Deck Plating, wall: Bulkhead, door: Airlock, solid: Cargo Pod, water: Coolant Basin, "
    "bridge: Gantry, road: Guide Strip, floor: Rubber Matting, shore: Warning Stripes, cliff: Hull Breach",
    patches="Hydroponic Bed, Scorched Plating, Glass Floor, Maintenance Grille, Landing Pad, Sterile Tiles",
    masses="Computer Cabinet, Fuel Tank, Pipe Bundle, Generator",
    walls="Blast Shield, Glass Partition",
    floors="Carpeted Deck, Magnetic Floor",
    deco="Antenna, Robot Arm, Ventilation Shaft, Warning Beacon, Growth Tube",
    age="new",
)

BIOMES: dict[str, Biome] = {
    "castle": _CASTLE,
    "cavern": _CAVERN,
    "coast": _COAST,
    "desert": _DESERT,
    "dungeon": _DUNGEON,
    "forest": _FOREST,
    "islands": _ISLES,
    "meadow": _MEADOW,
    "mountains": _PEAKS,
    "port": _PORT,
    "snow": _SNOW,
    "station": _STATION,
    "swamp": _SWAMP,
    "town": _TOWN,
}

# What can be taken or stood upon, what must be stood next to, who can be met, and what rooms are furnished with.
THINGS = {
    "old": "Brass Key, Torn Map, Storm Lantern, Sealed Letter, Silver Amulet, Healing Herb, Hunting Horn, Hand Mirror, "
    "Coiled Rope, Rune Plate, Pressure Stone, Lost Ring, Violin, Seed Pouch, Sun Crystal, Spyglass",
    "new": "Access Card, Memory Core, Fuel Cell, First Aid Kit, Star Chart, Toolbox, Oxygen Flask, Signal Jammer, "
    "Seed Capsule, Circuit Board, Holo Disc, Pressure Plate, Plasma Torch, Logbook, Gyroscope, Sample Jar",
}
FIXTURES = {
    "old": "Iron-bound Chest, Stone Well, Notice Post, Bronze Bell, Carved Altar, Old Statue, Winch, Offering Bowl, "
    "Sealed Cask, Strongbox",
    "new": "Control Terminal, Supply Locker, Power Switch, Comm Relay, Repair Dock, Stasis Chamber, Fuse Box, "
    "Water Recycler, Vault Safe, Scanner",
}
PEOPLE = {
    "old": "Blacksmith, Hermit, Pedlar, Healer, Ferrywoman, Watchman, Scribe, Shepherd, Beggar, Orphan Boy, Tinker, "
    "Beekeeper",
    "new": "Engineer, Medic, Pilot, Android, Quartermaster, Botanist, Cadet, Navigator, Cook, Radio Operator, Welder, "
    "Surveyor",
}
FURNITURE = {
    "old": "Bed, Oak Table, Bookcase, Hearth, Barrel, Wardrobe, Spinning Wheel, Stool, Cupboard, Workbench, Cradle, "
    "Candle Stand, Wash Tub, Weapon Rack",
    "new": "Bunk, Mess Table, Console, Charging Rack, Storage Drum, Shelf Unit, Swivel Chair, Lab Bench, Display Wall, "
    "Food Printer, Shower Stall, Herb Trough, Data Column, Filter Unit",
}


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return text.split(", ") if text else []
