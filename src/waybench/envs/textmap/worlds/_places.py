"""More kinds of country for text worlds."""

from waybench.envs.textmap.worlds._themes import CAVES, FOREST, HARBOUR, MANOR, Theme, phrases, words

TOWN = Theme(
    nouns=words(
        "Square, Alley, Market, Courtyard, Bakery, Town Hall, Fountain, Bridge, Arcade, Post Office, Inn, Lane, "
        "Barber Shop, Theatre, School, Printing House, Tram Stop, Bathhouse, Corner, Terrace, Cloth Hall, Toll House, "
        "Tannery, Guildhall"
    ),
    adjectives=words(
        "Cobbled, Butchers', Crooked, Sleepy, Weavers', Noisy, Copper, Lantern, Potters', Upper, Sunken, Tin, Leafy, "
        "Blind, Horse, Glass, Bell, Candle, Striped, Plum, Rainy, Scribes'"
    ),
    whole=words("market town, walled town, town on the hill"),
    ways=words("street, alley, lane, flight of steps, covered way"),
    ground=words("uneven cobbles, swept flags, gravel, mud with planks across, old tram rails"),
    around=words(
        "crooked gables, washing on lines, shop signs without words, shutters in every colour, balconies with "
        "geraniums, posters for plays long over"
    ),
    moods=phrases(
        "deserted at this hour|narrower at the top than at the bottom|known for its pigeons|always in the shade of "
        "something|swept twice a day"
    ),
    details=phrases(
        "A sundial is in the shadow of a house built after it.|Chalk marks show where children play at hopping.|The "
        "statue here has lost its name and one hand.|A cart without wheels has become a flower bed.|A list of fines "
        "hangs behind cracked glass.|The clock above strikes the quarters and skips the hours."
    ),
    scenery=words(
        "stone trough, notice board, street lamp, flower cart, statue, pump, shop window, sundial, wine barrel, "
        "stone bench, weighing machine, poster"
    ),
    sounds=phrases(
        "Someone practises scales on a fiddle.|Pigeons coo.|A handcart rattles over the stones.|Voices, but no words "
        "that you can make out."
    ),
    smells=words("fresh bread, horses, lamp oil, roast chestnuts, soap"),
    events=phrases(
        "A window opens, and closes again.|A pigeon walks by as if it owned the place.|A bell strikes the quarter.|A "
        "boy runs past with a hoop."
    ),
    enter=words("sentry box, booth, kiosk, puppet tent, well house, bandstand"),
    climb=words("bell tower, drainpipe, scaffold, city wall, fire ladder"),
    board=words("tram, carriage, milk float, mail coach"),
    crawl=words("coal hole, sewer, cellar window, water pipe"),
)
ABBEY = Theme(
    nouns=words(
        "Cloister, Refectory, Crypt, Chapel, Scriptorium, Dormitory, Bell Tower, Herb Garden, Nave, Sacristy, "
        "Infirmary, Brewhouse, Choir, Chapter House, Orchard, Gatehouse, Cellar, Cell, Ossuary, Dovecote, "
        "Guest Hall, Lavatorium, Fishpond, Almonry"
    ),
    adjectives=words(
        "Silent, Pilgrims', Whitewashed, Sunlit, Broken, Ancient, Abbot's, Cold, Columned, Painted, Ruined, Novices', "
        "Candlelit, Buttressed, Inner, Roofless, Gilded, Humble, Granite, Vaulted, Lay, Rose"
    ),
    whole=words("abbey, ruined priory, monastery on the rock"),
    ways=words("arch, cloister walk, passage, narrow stair, doorway"),
    ground=words("gravestones worn smooth, cold tiles, rushes, packed earth, mosaic with half its stones gone"),
    around=words(
        "whitewashed walls, saints without noses, ribs of stone, narrow windows, rows of empty stalls, candle stubs "
        "on every ledge"
    ),
    moods=phrases(
        "built for people who did not talk|cold in every season|lit from one side only|plainer than its name|larger "
        "than forty monks can have needed"
    ),
    details=phrases(
        "A line of Latin has been scratched out with care.|Swallows nest under the vault.|The step is worn down in "
        "the middle by generations of sandals.|A rope comes down through a hole in the ceiling, out of reach.|Herbs "
        "hang in bunches from a beam.|One of the stones has a mason's mark like a fish."
    ),
    scenery=words(
        "lectern, font, candlestick, stone coffin, prayer desk, carved capital, wall niche, processional cross, "
        "rack of keys, herb press, offertory box, stained window"
    ),
    sounds=phrases(
        "Wind in a broken window.|Doves.|Somewhere somebody hums on one note.|It is so quiet that your ears ring."
    ),
    smells=words("incense, candle wax, thyme, cold stone, sour beer"),
    events=phrases(
        "A dove claps its wings.|A candle that nobody lit goes out.|Dust drifts through a beam of light.|A bell rings "
        "once, by itself as it seems."
    ),
    enter=words("confessional, hermitage, tomb, dovecote, bread oven, vestry"),
    climb=words("pulpit, belfry ladder, apple tree, organ loft, buttress"),
    board=words("hay wain, fishing punt, hearse, pilgrims' cart"),
    crawl=words("altar vault, charnel hole, bread hatch, drain"),
    shadowy=2,
)
STATION = Theme(
    nouns=words(
        "Airlock, Bridge, Cargo Bay, Galley, Engine Room, Laboratory, Reactor Room, Sick Bay, Greenhouse, Mess, "
        "Workshop, Corridor, Cabin, Control Room, Hangar, Observation Deck, Server Room, Pump Room, Fuel Store, "
        "Junction, Gymnasium, Recycling Plant, Antenna Room, Suit Locker"
    ),
    adjectives=words(
        "Forward, Aft, Humming, Emergency, Auxiliary, Sealed, Crew, Main, Frozen, Weightless, Outer, Lower, Shielded, "
        "Captain's, Damaged, Spare, Chrome, Survey, Blinking, Navigation, Port, Starboard"
    ),
    whole=words("research station, orbital depot, long-range freighter"),
    ways=words("corridor, hatchway, access tube, walkway, bulkhead opening"),
    ground=words("steel grating, rubber matting, scuffed deck plates, a yellow line, cables taped down in bundles"),
    around=words(
        "panels with their covers off, racks of instruments, pipes wrapped in foil, warning signs, screens that show "
        "nothing but snow, lockers with names on them"
    ),
    moods=phrases(
        "lit by a single strip of blue|cleaner than it needs to be|cold enough to see your breath|humming at a pitch "
        "that gets into the teeth|where gravity is not quite what it should be"
    ),
    details=phrases(
        "Someone has stuck a photograph of a dog to the wall.|A checklist stops at item nine.|A red lamp blinks, and "
        "nobody has asked it why.|The serial number on the wall has been painted over twice.|A mug floats on its "
        "tether.|A patch on the hull is newer than the rest."
    ),
    scenery=words(
        "control panel, row of lockers, oxygen tank, tool rack, porthole, fire extinguisher, terminal, "
        "pressure gauge, coolant pipe, cargo net, star chart, maintenance robot"
    ),
    sounds=phrases(
        "Fans, without end.|A relay clicks.|Metal contracts with a ping.|A voice reads out numbers on a distant "
        "speaker."
    ),
    smells=words("ozone, warm plastic, coolant, coffee, hot dust"),
    events=phrases(
        "The lights dim and recover.|A valve hisses.|The deck trembles for a moment.|A cleaning robot trundles by and "
        "ignores you."
    ),
    enter=words("escape pod, cold store, decontamination stall, scanner booth, sleep capsule, test chamber"),
    climb=words("service ladder, antenna mast, gantry, cable trunk, fuel tank"),
    board=words("shuttle, maintenance sled, cargo lift, lunar rover"),
    crawl=words("ventilation duct, cable duct, exhaust pipe, hull breach"),
    shadowy=2,
)
MINE = Theme(
    nouns=words(
        "Pit Head, Winding House, Adit, Drift, Seam, Lamp Room, Engine Shed, Stope, Ore Chute, Wash House, Incline, "
        "Powder Store, Smithy, Spoil Heap, Weigh House, Level, Pump Chamber, Stable, Canteen, Rail Yard, Sorting "
        "Shed, Cage Landing, Foreman's Office, Timber Yard"
    ),
    adjectives=words(
        "Abandoned, Deep, Copper, Timbered, Collapsed, Coal, Wet, Number One, Number Two, Number Three, Steep, Iron, "
        "Sooty, Rattling, Silver, Low, Gaslit, Slate, Disused, Mule, Quartz, Tallow"
    ),
    whole=words("old mine, copper mine, colliery"),
    ways=words("tunnel, rail track, timbered passage, ramp, gangway"),
    ground=words("narrow rails, coal dust, wet planks, crushed ore, puddles the colour of rust"),
    around=words(
        "props that lean the wrong way, walls scarred by picks, chains on hooks, heaps of slate, numbers in white "
        "paint, carts on their sides"
    ),
    moods=phrases(
        "held up mainly by habit|black on every surface|worked out long ago|hotter than it ought to be|marked as safe "
        "by somebody in a hurry"
    ),
    details=phrases(
        "A tally of shifts has been scratched into a beam.|Someone has hung up a jacket, and never came for it.|The "
        "timber here has begun to grow mushrooms.|A sheet of rules begins with number two.|A canary cage stands open."
        "|The rails end in mid-air."
    ),
    scenery=words(
        "ore cart, pickaxe handle, signal bell, lamp rack, rusty boiler, coil of cable, water pump, tool chest, "
        "canary cage, time clock, broken prop, winch"
    ),
    sounds=phrases(
        "Timber groans.|A pump knocks, slow and far away.|Water runs somewhere under the floor.|A chain swings and "
        "clinks."
    ),
    smells=words("lamp oil, sulphur, sweat and iron, coal, wet timber"),
    events=phrases(
        "A little dust trickles from the roof.|A rat crosses the rails.|A distant rumble comes and goes.|A prop "
        "cracks like a whip."
    ),
    enter=words("cage, paymaster's booth, tool shed, boiler, explosives locker, rest shelter"),
    climb=words("winding tower, ladder way, slag heap, coal chute, headframe"),
    board=words("ore wagon, steam engine, man-rider, skip"),
    crawl=words("air shaft, flue, drainage pipe, cave-in"),
    shadowy=5,
)
# Whose regions can lie side by side: old ones, and those of a base on some far rock.
COUNTRIES = ((ABBEY, CAVES, FOREST, HARBOUR, MANOR, MINE, TOWN), (STATION, CAVES, MINE))
