"""Names of the places of text worlds: all different, some of them easy to confuse."""

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._themes import COUNTRIES, Theme

_NAMES = read_toml(__file__, "words.toml")["names"]
_THEMES = tuple(dict.fromkeys(theme for country in COUNTRIES for theme in country))


def name_places(
    themes: list[Theme], fixed_names: dict[int, tuple[str, str]], confusable: float, rng: Stream
) -> list[tuple[str, str]]:
    """Return the name and the noun of each place.

    Args:
        themes: The theme of each place.
        fixed_names: Names and nouns of places that are used unless the place gets a confusable name.
        confusable: Share of places whose names resemble another one.
        rng: Random stream.
    """
    count = len(themes)
    names: dict[int, tuple[str, str]] = {}
    used = {"darkness", *(name.lower() for name, _ in fixed_names.values())}
    order = list(range(count))
    rng.shuffle(order)
    alike = sorted(order, key=lambda place: place in fixed_names)[: round(confusable * count)]
    alike.sort(key=lambda place: themes[place].nouns)  # groups places of one theme
    while alike:
        if len(alike) == 1:  # a single name cannot be confused
            alike += [place for place in order if place not in names and place not in alike][:1]
        size = 2 + rng.below(3)
        group = alike[:size] if len(alike) - size != 1 else alike[: size + 1]
        for place, name in zip(group, _resembling(themes[group[0]], len(group), used, rng), strict=False):
            names[place] = name
        alike = [place for place in alike if place not in names]
    for place in order:
        if place not in names:
            names[place] = fixed_names[place] if place in fixed_names else _plain(themes[place], used, rng)
    return [names[place] for place in range(count)]


def draw_name(rng: Stream) -> str:
    """Return a name for a place of any theme, in lower case: "mossy archive"."""
    theme = rng.choice(_THEMES)
    return f"{rng.choice(theme.adjectives)} {rng.choice(theme.nouns)}".lower()


def _resembling(theme: Theme, size: int, used: set[str], rng: Stream) -> list[tuple[str, str]]:
    """Return up to `size` names that resemble each other."""
    while True:
        if rng.below(4):
            noun = rng.choice(theme.nouns)
            names = [(f"{like} {noun}", noun.lower()) for like in rng.choice(_NAMES["families"])]
        else:
            like = rng.choice(theme.adjectives)
            names = [(f"{like} {noun}", noun.lower()) for noun in rng.choice(_NAMES["endings"])]
        rng.shuffle(names)
        names = [name for name in names if name[0].lower() not in used]
        if len(names) > 1:
            names = names[:size]
            used.update(name.lower() for name, _ in names)
            return names


def _plain(theme: Theme, used: set[str], rng: Stream) -> tuple[str, str]:
    while True:
        noun = rng.choice(theme.nouns)
        draw = rng.below(20)
        if draw < 8:
            name = noun
        elif draw < 19:
            name = f"{rng.choice(theme.adjectives)} {noun}"
        else:
            name = f"{rng.choice(_NAMES['owners'])}'s {noun}"
        if name.lower() not in used and len(set(name.split())) == len(name.split()):
            used.add(name.lower())
            return name, noun.lower()
