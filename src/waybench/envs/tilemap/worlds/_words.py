"""Words of the project's own worlds: names of places and people, objectives, and a short story around them."""

from waybench.core import Stream
from waybench.envs.tilemap.worlds._biomes import names

HEROES = names(
    "Maren, Tobin, Isaura, Wilmot, Hedda, Idony, Saskia, Jorun, Brida, Anselm, Nell, Oswin, Tamsin, Perrin, Ilka, "
    "Godric, Yrsa, Fenna, Rurik, Linnet, Casper, Mirela, Ottilie, Bastian, Runa, Edda, Lorcan, Petra, Havel, Signe, "
    "Tova, Ambrose"
)
FOES = names(
    "Vorlag, Grimsel, Ormund, Skarne, Ulthra, Nagrim, Kazrel, Wrythe, Belmora, Draugen, Ashkar, Ysmerel, Torvane, "
    "Quillon Black, Mordaunt, Hexana, Rookbane, Sargoth, Vasperine, Uldren, Cragmaw, Isketh, Zornhild, Malgrave"
)
_FIRST = names(
    "Alder, Ash, Bram, Corn, Dun, Elm, Fen, Gar, Hazel, Ister, Kel, Lorn, Marsh, Nether, Ost, Pell, Quern, Raven, Sel, "
    "Thistle, Under, Vel, Wend, Yar, Stone, Crow, Linden, Otter, Salt, Wool"
)
_LAST = names("wick, ford, mere, stead, holm, by, combe, dale, gate, ham, moor, field, ton, thwaite, well, bury")
_SLOTS = {
    "town": [first + last for first in _FIRST for last in _LAST],
    "number": [str(number) for number in range(1, 100)],
    "adj": names(
        "Silent, Broken, Crooked, Gilded, Whispering, Hollow, Old, Forgotten, Crimson, Sunken, Singing, Grey, Painted, "
        "Lonely, Windy, Hidden, Sleeping, Twisted, Amber, Black, White, Lost, Upper, Lower"
    ),
    "person": names(
        "Agnes, Bertold, Clovis, Dorrit, Emmet, Frida, Gisela, Humbert, Imma, Joscelin, Kunz, Lioba, Mechtild, Nessa, "
        "Odilo, Pernille, Quentin, Roswitha, Sixtus, Trude, Ulric, Verena, Winfrid, Xenia"
    ),
    "beast": names("Badger, Heron, Stag, Goose, Fox, Pike, Ram, Owl, Hound, Bear, Magpie, Toad"),
    "trade": names(
        "Cooper, Weaver, Chandler, Baker, Dyer, Saddler, Fletcher, Potter, Miller, Tanner, Glazier, Mason, Barber, "
        "Cobbler, Printer, Apothecary"
    ),
    "virtue": names("Patience, the Dawn, Mercy, the Two Moons, Courage, the Harvest, Silence, the Tide, the Hearth"),
    "room": names(
        "Armoury, Library, Chapel, Kitchen, Cellar, Guardroom, Gallery, Treasury, Scullery, Barracks, Crypt, Workshop, "
        "Pantry, Observatory, Throne Room, Store"
    ),
    "deck": names(
        "Laboratory, Cargo Bay, Crew Quarters, Engine Room, Med Bay, Greenhouse, Server Hall, Hangar, Canteen, "
        "Archive, Control Room, Pump Room"
    ),
}
# Each with its preposition.
_PLACES = {
    "bridge": "on {town} Bridge|on the {adj} Bridge",
    "camp": "at {person}'s camp|at the {adj} Camp",
    "cave": "in the {adj} Cave|in {beast} Cave",
    "circle": "at the {adj} Stones|at the {beast} Stones",
    "cottage": "in {person}'s cottage|in the {trade}'s cottage",
    "crossroads": "at the {adj} Crossroads|at {town} Cross",
    "garden": "in {person}'s garden|in the {adj} Garden",
    "grove": "in the {adj} Grove|in {beast} Grove",
    "hall": "in the {trade}s' guildhall|in {town} Hall",
    "house": "in {person}'s house|in the {trade}'s shop|in the {adj} House",
    "inn": "in the {adj} {beast} Inn",
    "labyrinth": "in the {adj} Maze",
    "new room": "in the {adj} {deck}|in {deck} {number}",
    "old room": "in the {adj} {room}|in {person}'s {room}",
    "orchard": "in {person}'s plantation|in the {town} plantation",
    "park": "in {town} Park|in {beast} Park",
    "ruin": "in the ruins of {town}",
    "shore": "on the bank of {town} Water|on the {adj} Shore",
    "shrine": "in the Shrine of {virtue}|in the {adj} Chapel",
    "square": "on {adj} Square|on {beast} Square",
    "street": "in {trade} Lane|in {town} Street|in {beast} Row",
    "tower": "in the {adj} Tower|in {town} Tower",
    "village": "in {town}",
}
# Biome -> what its regions are, and the whole of it, with its preposition.
_COUNTRIES = {
    "castle": ("in the {} wing", "in {town} Castle"),
    "cavern": ("in the {} caverns", "in the caverns below {town}"),
    "coast": ("in the {} downs", "on the coast of {town}"),
    "desert": ("in the {} sands", "in the desert of {town}"),
    "dungeon": ("in the {} vaults", "in the dungeons of {town}"),
    "forest": ("in the {} woods", "in the forest of {town}"),
    "islands": ("in the {} isles", "on the isles of {town}"),
    "meadow": ("in the {} fields", "in the fields of {town}"),
    "mountains": ("on the {} slopes", "in the mountains of {town}"),
    "port": ("in the {} docks", "in the port of {town}"),
    "snow": ("in the {} wastes", "in the snows of {town}"),
    "station": ("in the {} section", "on {town} Station"),
    "swamp": ("in the {} fens", "in the marshes of {town}"),
    "town": ("in the {} quarter", "in the town of {town}"),
}
_ROLES = {
    "old": names(
        "ferryman's apprentice, mapmaker, wandering fiddler, young herbalist, retired soldier, bell founder, "
        "travelling bookseller, rat catcher, lamplighter, goatherd, glassblower, messenger"
    ),
    "new": names(
        "junior engineer, cargo clerk, ship's cook, radio operator, hydroponics gardener, repair technician, "
        "stowaway, survey pilot"
    ),
}
_FOE_ROLES = {
    "old": names(
        "the toll collector, a bandit chief, a disgraced alchemist, the tax baron, a sleepless giant, "
        "a collector of voices, the masked steward, a sorcerer of the old school"
    ),
    "new": names("a rogue overseer, the chief of security, a smuggler captain, a failing mainframe, the night auditor"),
}
_DEEDS = {
    "old": names(
        "carried off the winter stores, silenced every bell, closed all the roads, stole the seal of the council, "
        "put the watch to sleep, poisoned the wells, took all the lights away"
    ),
    "new": names(
        "cut off the reserve power, locked every hatch, wiped the flight plans, took over the radio, "
        "sold the spare parts, put the crew on half rations"
    ),
}
_TROUBLES = (
    "Nobody else was willing to go.",
    "Those who had set out before had not come back.",
    "The council talked for three days and decided nothing.",
    "There were only a few days left.",
    "An old letter told what would have to be done, and in which order.",
)
_BEGINNINGS = (
    "{hero} had never been far from home, and was known {place} as {role}.",
    "There lived {place} {role} by the name of {hero}.",
    "{hero}, {role}, woke one morning to find everybody {place} in an uproar.",
    "People {place} still speak of {hero}, who was {role} in those days.",
)
_ENDINGS = (
    "Only then will all be well {place} again.",
    "If nothing goes wrong, {hero} will be home before the week is out.",
    "After that, the story goes, {foe} will have no power left.",
    "Whoever manages this will not be forgotten {place}.",
)
_WARNINGS = (
    "{foe} has eyes everywhere.",
    "The ways are long, and not all of them lead where they seem to.",
    "Some of the doors have not been opened for years.",
    "{foe} must not learn of any of it.",
)
_LINKS = ("Next", "After that", "Then", "From there on", "Later")
_TASKS = {
    "thing": "Find the {}|Fetch the {}|Recover the {}|Pick up the {}|Look for the {}",
    "fixture": "Examine the {}|Inspect the {}|Leave a sign at the {}|Wait beside the {}",
    "person": "Speak with the {}|Ask the {} for advice|Warn the {}|Bring word to the {}|Trade with the {}",
    "foe": "Confront {}|Face {}|Unmask {}|Challenge {}",
    "": "Look for tracks|Ask for news|Leave a token|Rest for an hour|Wait for nightfall|Hide a letter|Meet the scout|"
    "Draw a sketch|Keep watch|Light a lamp|Search for footprints|Listen for voices|Set a trap|Take cover|Plant a flag",
}


class Words:
    """Names and texts of one world; nothing is named twice.

    Args:
        biome: What the world is like.
        age: "old" or "new".
        rng: Random numbers.
    """

    def __init__(self, biome: str, age: str, rng: Stream) -> None:
        self._biome, self._age, self._rng = biome, age, rng
        self._used: set[str] = set()

    def _fill(self, template: str) -> str:
        for slot, words in _SLOTS.items():
            if f"{{{slot}}}" in template:
                template = template.replace(f"{{{slot}}}", self._rng.choice(words))
        return template

    def place(self, kind: str) -> str:
        """Name a place.

        Args:
            kind: What it is, or "region" and a direction.

        Returns:
            Its name with a preposition before it, as in "in the Lonely Tower".
        """
        if kind.startswith("region "):
            return _COUNTRIES[self._biome][0].format(kind.removeprefix("region "))
        templates = _PLACES[f"{self._age} room" if kind == "room" else kind].split("|")
        while (name := self._fill(self._rng.choice(templates))) in self._used:
            pass
        self._used.add(name)
        return name

    def objective(self, role: str, what: str, where: str) -> str:
        """Name an objective.

        Args:
            role: The role of the tile that it is about; nothing if it is about the place alone.
            what: That tile's name.
            where: The place's name.
        """
        for tasks in (_TASKS[role], _TASKS[""]):  # of those about a place alone there are more than objectives
            drawn = tasks.split("|")
            self._rng.shuffle(drawn)
            for task in sorted(drawn, key=lambda task: task in self._used):
                name = f"{task.format(what)} {where}"
                if name not in self._used:
                    self._used |= {task, name}
                    return name
        raise AssertionError(f"more objectives than names for them {where}")

    def story(self, hero: str, foe: str, objectives: list[str]) -> str:
        """Tell a story of 6 to 11 sentences; it names the objectives in their order."""
        rng, age = self._rng, self._age
        role = rng.choice(_ROLES[age])
        slots = {
            "hero": hero,
            "foe": foe,
            "place": self._fill(_COUNTRIES[self._biome][1]),
            "role": f"{'an' if role[0] in 'aeiou' else 'a'} {role}",
        }
        told = [
            rng.choice(_BEGINNINGS).format(**slots),
            f"Then {foe}, {rng.choice(_FOE_ROLES[age])}, {rng.choice(_DEEDS[age])}.",
            rng.choice(_TROUBLES),
        ]
        tasks = [name[0].lower() + name[1:] for name in objectives]
        each = 1 if len(tasks) <= 5 else 2
        for number, first in enumerate(range(0, len(tasks), each)):
            last = first + each >= len(tasks)
            link = "First" if not number else "Last of all" if last else _LINKS[(number - 1) % len(_LINKS)]
            told.append(f"{link}, {hero} has to {', and then to '.join(tasks[first : first + each])}.")
        told += [rng.choice(_WARNINGS).format(**slots), rng.choice(_ENDINGS).format(**slots)]
        return " ".join(told)
