"""Walking a game by a list of commands, and trying at each new place what should lead back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.envs.textmap import Step
from waybench.ext.author.game_maps._words import Engine, PlaceId, in_full, title_of, ways_back

LOOK = "look"
_AGAIN = "again"
_SEPARATOR = "=" * 11  # the line between two steps of a published walkthrough


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of a walk.

    Attributes:
        step: What was typed and answered.
        action: What was done: the command in full or, for "again", what is done again; empty at the beginning.
        place: The id of the place where the player then is; None if there is none.
        title: The name that the game gives the place when asked to look; None if it gives none.
        name: What the game's own table calls the place; None if it cannot be read.
        backs: If the place is another one than before: the actions that may lead back, each with where it leads.
    """

    step: Step
    action: str
    place: PlaceId | None
    title: str | None
    name: str | None
    backs: tuple[tuple[str, PlaceId | None], ...] = ()


class Walk(NamedTuple):
    """A walk through a game.

    Attributes:
        visits: Its steps; the first one has the number 0.
        unused: The number of commands that were not given, because the game was over.
    """

    visits: tuple[Visit, ...]
    unused: int


def walk(engine: Engine, commands: Sequence[str]) -> Walk:
    """Play a game from its beginning.

    Args:
        engine: The game.
        commands: What to type.
    """
    text = engine.reset()
    visits = [_visit(engine, Step(0, "Init", _title_in(text)), "", None)]
    for number, command in enumerate(commands, 1):
        if engine.done:
            return Walk(tuple(visits), len(commands) - number + 1)
        before, text, words = visits[-1], engine.act(command), in_full(command)
        action = before.action if words == _AGAIN else words
        visits.append(_visit(engine, Step(number, words, _title_in(text)), action, before.place))
    return Walk(tuple(visits), 0)


def _visit(engine: Engine, step: Step, action: str, before: PlaceId | None) -> Visit:
    """Note where a step has led; the game is left as it was found."""
    place, name = engine.place(), engine.name()
    if engine.done:
        return Visit(step, action, place, None, name)
    saved = engine.save()
    title = title_of(engine.act(LOOK))
    backs: list[tuple[str, PlaceId | None]] = []
    if place is not None and before is not None and place != before:
        for back in ways_back(action):
            engine.restore(saved)
            engine.act(back)
            backs.append((back, None if engine.done else engine.place()))
    engine.restore(saved)
    return Visit(step, action, place, title, name, tuple(backs))


def _title_in(text: str) -> str:
    """Return a text that can stand in a walkthrough: no line of it is taken for the line between two steps."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(f"{line} " if line == _SEPARATOR else line for line in lines)
