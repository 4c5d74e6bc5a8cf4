"""Kinds of country that the regions of text worlds can be, with the words for their places."""

from dataclasses import dataclass

from waybench._package_data import read_toml


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


_DATA = read_toml(__file__, "themes.toml")
_THEMES = {name: Theme(**theme) for name, theme in _DATA["themes"].items()}
COUNTRIES: tuple[tuple[Theme, ...], ...] = tuple(
    tuple(_THEMES[name] for name in country) for country in _DATA["countries"]
)
"""Whose regions can lie side by side."""
