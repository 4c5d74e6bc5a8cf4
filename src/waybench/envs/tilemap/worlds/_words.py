"""Words of the project's own worlds: names of places and people, objectives, and a short story around them."""

from collections.abc import Mapping

from waybench._package_data import read_toml
from waybench.core import Stream

_WORDS = read_toml(__file__, "words.toml")
HEROES: tuple[str, ...] = _WORDS["heroes"]
FOES: tuple[str, ...] = _WORDS["foes"]
_SLOTS: Mapping[str, tuple[str, ...]] = {
    "town": tuple(first + last for first in _WORDS["towns"]["first"] for last in _WORDS["towns"]["last"]),
    "number": tuple(str(number) for number in range(1, 100)),
    **_WORDS["slots"],
}
_STORY: Mapping[str, tuple[str, ...]] = _WORDS["story"]


class Words:
    """Names and texts of one world; nothing is named twice.

    Args:
        biome: What the world is like.
        age: "old" or "new".
        rng: Random numbers.
    """

    def __init__(self, biome: str, age: str, rng: Stream) -> None:
        self._biome, self._age, self._rng = biome, age, rng
        self._used_names: set[str] = set()

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
            return _WORDS["countries"][self._biome][0].format(kind.removeprefix("region "))
        templates = _WORDS["places"][f"{self._age} room" if kind == "room" else kind]
        while (name := self._fill(self._rng.choice(templates))) in self._used_names:
            pass
        self._used_names.add(name)
        return name

    def objective(self, role: str, tile: str, place: str) -> str:
        """Name an objective.

        Args:
            role: The role of the tile that it is about; nothing if it is about the place alone.
            tile: That tile's name.
            place: The place's name.
        """
        for tasks in (
            _WORDS["tasks"][role or "place"],
            _WORDS["tasks"]["place"],
        ):  # of those about a place alone there are more than objectives
            templates = list(tasks)
            self._rng.shuffle(templates)
            for task in sorted(templates, key=lambda task: task in self._used_names):
                name = f"{task.format(tile)} {place}"
                if name not in self._used_names:
                    self._used_names |= {task, name}
                    return name
        raise AssertionError(f"more objectives than names for them {place}")

    def story(self, hero: str, foe: str, objectives: list[str]) -> str:
        """Tell a story of 6 to 11 sentences; it names the objectives in their order."""
        rng, age = self._rng, self._age
        role = rng.choice(_WORDS["roles"][age])
        slots = {
            "hero": hero,
            "foe": foe,
            "place": self._fill(_WORDS["countries"][self._biome][1]),
            "role": f"{'an' if role[0] in 'aeiou' else 'a'} {role}",
        }
        sentences = [
            rng.choice(_STORY["beginnings"]).format(**slots),
            f"Then {foe}, {rng.choice(_WORDS['foe_roles'][age])}, {rng.choice(_WORDS['deeds'][age])}.",
            rng.choice(_STORY["troubles"]),
        ]
        tasks = [name[0].lower() + name[1:] for name in objectives]
        per_sentence = 1 if len(tasks) <= 5 else 2
        for number, first in enumerate(range(0, len(tasks), per_sentence)):
            last = first + per_sentence >= len(tasks)
            link = (
                "First"
                if not number
                else "Last of all"
                if last
                else _STORY["links"][(number - 1) % len(_STORY["links"])]
            )
            sentences.append(f"{link}, {hero} has to {', and then to '.join(tasks[first : first + per_sentence])}.")
        sentences += [rng.choice(_STORY["warnings"]).format(**slots), rng.choice(_STORY["endings"]).format(**slots)]
        return " ".join(sentences)
