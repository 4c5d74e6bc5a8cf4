"""Kinds of country that the regions of text worlds can be, with the words for their places."""

from dataclasses import dataclass


def words(text: str) -> tuple[str, ...]:
    """Return the words and phrases of a list with commas."""
    return tuple(text.split(", "))


def phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of a list with bars, which may have commas in them."""
    return tuple(phrase.strip() for phrase in text.split("|"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Words of one kind of country.

    Attributes:
        nouns: What places are.
        adjectives: What they can be like, as parts of names.
        whole: What the country is called in the introduction.
        ways: What leads on, in the singular.
        ground: What is underfoot.
        around: What is to be seen around.
        moods: What a place can be like, as the end of a sentence.
        details: Whole sentences.
        scenery: What stands about, and can be examined.
        sounds: What is heard.
        smells: What it smells of.
        events: What happens by itself.
        enter: What can be entered.
        climb: What can be climbed.
        board: What can be boarded.
        crawl: What can be crawled into.
        shadowy: How likely its places are to be dark, compared with others.
    """

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    whole: tuple[str, ...]
    ways: tuple[str, ...]
    ground: tuple[str, ...]
    around: tuple[str, ...]
    moods: tuple[str, ...]
    details: tuple[str, ...]
    scenery: tuple[str, ...]
    sounds: tuple[str, ...]
    smells: tuple[str, ...]
    events: tuple[str, ...]
    enter: tuple[str, ...]
    climb: tuple[str, ...]
    board: tuple[str, ...]
    crawl: tuple[str, ...]
    shadowy: int = 1


MANOR = Theme(
    nouns=words(
        "Parlour, Pantry, Scullery, Library, Gallery, Nursery, Music Room, Cloakroom, Landing, Ballroom, Study, "
        "Kitchen, Attic, Conservatory, Dining Room, Vestibule, Linen Room, Smoking Room, Bedchamber, Servants' Hall, "
        "Boot Room, Morning Room, Still Room, Porch"
    ),
    adjectives=words(
        "Panelled, Draughty, Blue, Faded, Mirrored, Shuttered, Cluttered, Green, Tapestried, Bare, Velvet, Dusty, "
        "Ivory, Crooked, Grand, Little, Yellow, Chequered, Neglected, Carpeted, Walnut, Formal"
    ),
    whole=words("country house, old manor, shuttered mansion"),
    ways=words("doorway, corridor, arch, passage, hallway"),
    ground=words("worn parquet, a threadbare carpet, cold flagstones, creaking boards, black and white tiles"),
    around=words(
        "portraits of unsmiling ancestors, peeling wallpaper, shelves with nothing on them, dark oak panels, "
        "furniture under white sheets, curtains that reach the floor"
    ),
    moods=phrases(
        "kept far too warm|colder than the rest of the house|as tidy as if guests were expected|smaller than it must "
        "once have looked|quiet enough to hear the dust settle"
    ),
    details=phrases(
        "Somebody has left half a game of patience on a stool.|The bell pull beside the chimney has been cut off.|"
        "A clock shows a time that cannot be right.|A pale square on the wall tells of a picture sold.|Under the "
        "window the plaster has swollen with damp.|Four dents in the floor show where something heavy used to stand."
    ),
    scenery=words(
        "grandfather clock, umbrella stand, stuffed heron, cracked vase, fire screen, writing desk, rocking chair, "
        "chandelier, bust of a poet, birdcage, piano stool, coat rack"
    ),
    sounds=phrases(
        "Somewhere a tap is dripping.|The house creaks to itself.|Mice are busy behind the panels.|A clock ticks two "
        "rooms away."
    ),
    smells=words("beeswax, mothballs, cold ashes, boiled cabbage, old paper"),
    events=phrases(
        "A draught stirs the curtains.|Overhead a floorboard groans.|A moth circles once and is gone.|Far off, "
        "a door falls shut."
    ),
    enter=words("wardrobe, pantry cupboard, priest hole, sedan chair, lift cage, linen press"),
    climb=words("library ladder, spiral stair, bookcase, trellis, service stair"),
    board=words("dumb waiter, rocking horse, carriage, bath chair"),
    crawl=words("fireplace, laundry chute, heating duct, low cupboard"),
)
CAVES = Theme(
    nouns=words(
        "Cavern, Grotto, Tunnel, Chamber, Rift, Gallery, Ledge, Crawlway, Sump, Fissure, Dome, Shaft, Crevice, Pit, "
        "Junction, Cave, Slope, Chasm, Rotunda, Basin, Pothole, Alcove, Squeeze, Hollow"
    ),
    adjectives=words(
        "Dripping, Echoing, Crystal, Muddy, Jagged, Flooded, Narrow, Red, Vaulted, Bat, Sandy, Boulder, Glistening, "
        "Icy, Slanting, Bone, Silent, Smooth, Windy, Twisted, Chalk, Flint"
    ),
    whole=words("cave system, cavern, old pothole"),
    ways=words("tunnel, passage, crack, low way, gallery"),
    ground=words("loose gravel, slippery clay, bare rock, fine sand, a crust of lime"),
    around=words(
        "walls that glitter with damp, columns of stone, boulders as large as carts, curtains of flowstone, "
        "a roof lost in shadow, scratches that may be letters"
    ),
    moods=phrases(
        "barely high enough to stand in|wide enough for an echo|older than anything above it|wet from top to bottom|"
        "shaped like the inside of a shell"
    ),
    details=phrases(
        "Water has carved a row of shallow bowls into the rock.|An arrow of soot on the wall points nowhere useful.|"
        "Bats hang from the roof like forgotten gloves.|A stump of candle sticks to a ledge.|A trickle runs along the "
        "wall and vanishes into a hole.|Someone has piled up seven stones, the largest at the bottom."
    ),
    scenery=words(
        "stalagmite, heap of bones, rusty helmet, pool of water, frayed rope end, wall painting, cairn, broken crate, "
        "fossil, column of stone, bat skeleton, iron ring"
    ),
    sounds=phrases(
        "Water drips, slowly.|The echo of your own breath comes back.|There is a rushing far below.|Nothing; and then "
        "a single pebble."
    ),
    smells=words("wet stone, bats, clay, cold water, rust"),
    events=phrases(
        "A drop of water falls on your neck.|A pebble rattles down somewhere.|A breath of cold air passes.|Something "
        "small hurries away."
    ),
    enter=words("side cave, miners' hut, niche, ruined shrine, cage"),
    climb=words("rope, rockfall, iron ladder, column, chimney"),
    board=words("raft, ore cart, flat boat, lift platform"),
    crawl=words("burrow, drain, low tunnel, keyhole, water pipe"),
    shadowy=6,
)
HARBOUR = Theme(
    nouns=words(
        "Quay, Jetty, Boathouse, Ropewalk, Fish Market, Warehouse, Slipway, Lighthouse, Customs House, Dry Dock, "
        "Tavern, Breakwater, Chandlery, Net Loft, Wharf, Sail Loft, Beach, Pier, Ferry Stage, Smokehouse, Mole, "
        "Pilot House, Boatyard, Sea Wall"
    ),
    adjectives=words(
        "Salty, Windswept, Fish, Tarred, Rotten, Crowded, Foggy, Cobbled, Long, Whalers', Deserted, Pebble, Herring, "
        "Slippery, Gull, Old, Stone, Leaning, Oyster, Lower, Broken, Weedy"
    ),
    whole=words("fishing port, harbour town, old dockland"),
    ways=words("gangway, lane, path, flight of steps, boardwalk"),
    ground=words("wet planks, slimy cobbles, shingle, coils of rope, crushed shells"),
    around=words(
        "masts behind masts, nets hung up to dry, stacks of baskets, gulls on every post, tarred sheds, "
        "mooring posts worn thin"
    ),
    moods=phrases(
        "busy at high tide and empty now|white with salt|never quite dry|best seen from a distance|open to every wind"
    ),
    details=phrases(
        "A notice about the price of bait has been corrected several times.|A cat watches from a barrel and does not "
        "move.|An anchor too heavy to steal has been left to rust.|Names of ships are cut into the rail.|The tide "
        "table nailed up here is three years old.|Oil makes rainbows on the water."
    ),
    scenery=words(
        "rusty anchor, lobster pot, row of barrels, crane, mooring post, heap of nets, ship's bell, upturned dinghy, "
        "weather vane, capstan, tide table, figurehead"
    ),
    sounds=phrases(
        "Gulls quarrel.|Rigging slaps against a mast.|Waves slop against stone.|A bell buoy tolls out at sea."
    ),
    smells=words("tar, herring, seaweed, wet rope, smoke"),
    events=phrases(
        "A gull lands, finds nothing and leaves.|A wave breaks and sprays you.|A foghorn sounds twice.|Two sailors "
        "go by, arguing about a knot."
    ),
    enter=words("net shed, cabin, lamp room, pilot's hut, fish store, crate"),
    climb=words("mast, crane, harbour ladder, rigging, signal tower"),
    board=words("ferry, trawler, barge, rowing boat, tug, schooner"),
    crawl=words("culvert, upturned hull, barrel stack, drain"),
)
FOREST = Theme(
    nouns=words(
        "Clearing, Glade, Thicket, Trail, Brook, Ridge, Dell, Grove, Ford, Hollow, Bog, Charcoal Pit, Hillside, "
        "Waterfall, Spinney, Meadow, Ravine, Pond, Heath, Copse, Plantation, Bank, Fork, Hunters' Camp"
    ),
    adjectives=words(
        "Mossy, Birch, Bramble, Sunny, Tangled, Fern, Pine, Shady, Foggy, Nettle, Hazel, Stony, Fox, Marshy, Oak, "
        "Quiet, Burnt, Willow, Steep, Heather, Thorny, Larch"
    ),
    whole=words("forest, great wood, hill country"),
    ways=words("path, trail, track, gap in the trees, stony way"),
    ground=words("pine needles, soft moss, last year's leaves, roots and stones, trampled grass"),
    around=words(
        "trunks grey with lichen, brambles taller than a man, ferns, birches with peeling bark, ivy over everything, "
        "mushrooms in a ring"
    ),
    moods=phrases(
        "dappled with light|so overgrown that it is hard to see far|loud with birds|damp even at noon|the sort of "
        "place where paths give up"
    ),
    details=phrases(
        "Someone has tied a strip of cloth to a branch.|A woodpecker has been at every second tree.|Deer have eaten "
        "all that they could reach.|A milestone has sunk so far that its number cannot be read.|The stump here has "
        "more rings than you care to count.|A fallen tree has taken two others with it."
    ),
    scenery=words(
        "hollow tree, mossy boulder, beehive, signpost, fallen trunk, ring of toadstools, charcoal heap, "
        "hunter's seat, spring, anthill, stone cross, woodpile"
    ),
    sounds=phrases(
        "A cuckoo counts to eleven.|Leaves, leaves and leaves.|Something is digging nearby.|Water runs over stones."
    ),
    smells=words("resin, wet leaves, wild garlic, mushrooms, wood smoke"),
    events=phrases(
        "A squirrel scolds you from above.|A leaf comes down, in no hurry.|The wind moves through the tops of the "
        "trees.|A jay gives you away to the whole wood."
    ),
    enter=words("woodcutter's hut, tent, hollow oak, hermit's cell, sheepfold, lean-to"),
    climb=words("old oak, tall pine, rock face, watchtower, beech, rope ladder"),
    board=words("hay cart, punt, log raft, cable car"),
    crawl=words("fox hole, hollow log, bramble tunnel, badger sett"),
)
