"""What entities are called in the sentences of a manual: by their own name, or by another word for the same."""

from collections.abc import Mapping

# No word stands for two entities, and none holds another entity's name.
NAMES: Mapping[str, tuple[str, ...]] = {
    "airplane": ("airplane", "aeroplane", "jet", "airliner", "propeller plane", "aircraft"),
    "mage": ("mage", "wizard", "sorcerer", "warlock", "enchanter", "caster of spells"),
    "dog": ("dog", "hound", "puppy", "mutt", "terrier", "barking pet"),
    "bird": ("bird", "sparrow", "raven", "falcon", "feathered flyer", "winged singer"),
    "fish": ("fish", "trout", "salmon", "herring", "swimmer with fins", "mackerel"),
    "scientist": ("scientist", "researcher", "chemist", "physicist", "laboratory worker", "scholar"),
    "thief": ("thief", "burglar", "robber", "pickpocket", "crook", "stealer of purses"),
    "ship": ("ship", "boat", "schooner", "frigate", "sailing vessel", "steamer"),
    "ball": ("ball", "sphere", "orb", "globe", "round toy", "bouncy plaything"),
    "robot": ("robot", "android", "automaton", "droid", "mechanical man", "walking machine"),
    "queen": ("queen", "monarch", "empress", "royal lady", "wife of the king", "sovereign"),
    "sword": ("sword", "blade", "sabre", "rapier", "cutlass", "sharp steel weapon"),
    "bear": ("bear", "grizzly", "lover of honey", "huge furry beast"),
    "cat": ("cat", "kitten", "tabby", "feline", "hunter of mice"),
    "spider": ("spider", "tarantula", "arachnid", "weaver of webs"),
    "knight": ("knight", "cavalier", "paladin", "rider in armour"),
    "ghost": ("ghost", "phantom", "spectre", "apparition", "haunting spirit"),
    "crown": ("crown", "diadem", "tiara", "coronet", "jewelled headpiece"),
    "lantern": ("lantern", "lamp", "portable light", "torch"),
    "drum": ("drum", "bongo", "tambour", "percussion instrument"),
    "wagon": ("wagon", "cart", "carriage", "horse-drawn coach"),
    "snake": ("snake", "serpent", "viper", "python", "legless reptile"),
    "tree": ("tree", "oak", "birch", "willow", "giant with leaves"),
    "castle": ("castle", "fortress", "citadel", "stronghold", "walled palace"),
}
