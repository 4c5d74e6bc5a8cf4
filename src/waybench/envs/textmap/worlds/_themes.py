"""Themes of the regions of text worlds, with their words."""

from dataclasses import dataclass

from waybench._package_data import read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The words of a theme.

    Attributes:
        nouns: Nouns of places.
        adjectives: Adjectives in names of places.
        whole: Nouns for the whole region, for the introduction.
        ways: Nouns for ways, in the singular.
        ground: Descriptions of the ground.
        around: Descriptions of the surroundings.
        moods: Descriptions of the mood, as ends of sentences.
        details: Whole sentences.
        scenery: Things that can be examined.
        sounds: Answers to listening.
        smells: Smells.
        events: Random events.
        enter: Things to enter.
        climb: Things to climb.
        board: Things to board.
        crawl: Things to crawl into.
        shadowy: Weight of its places in the choice of dark places.
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
"""Groups of themes that can occur in the same world."""
