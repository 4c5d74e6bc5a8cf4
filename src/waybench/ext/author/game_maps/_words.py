"""The interface of text games for the making of maps, names and commands in their texts, and walks through them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from waybench.envs.textmap._place_map import WalkthroughStep
from waybench.envs.textmap.worlds._data import DIRECTIONS, opposite_action
from waybench.envs.textmap.worlds._play import ABBREVIATIONS

PlaceId = int | str  # the game's own id of a place

_LONGEST = 70  # characters
_FRAMED = re.compile(r"-= (.+) =-")  # as TextWorld writes it
_POSTURE = re.compile(r" \((?:in|on|as) [^()]*\)$")  # how the player is there: "Bedroom (in bed)"
_SENTENCE_ENDS = frozenset(".!?:;,\"'>")
_DARK = re.compile(r"(?:in )?(?:the |total |utter |pitch )*(?:dark|darkness|black|blackness)|too dark to see")
LONGEST = 120  # characters: what every interpreter takes
_SHORT = {**ABBREVIATIONS, "g": "again", "x": "examine"}
_GOING = ("go", "walk")
_ON_BOARD = {"fore": "aft", "aft": "fore", "port": "starboard", "starboard": "port"}
_PLAIN_WAYS = frozenset((*DIRECTIONS, *_ON_BOARD, "in", "out"))
# Where the opposite by words is not what a game understands: by the action's first word, what else to try.
_OTHERWISE = {
    "in": ("exit",),
    "enter": ("exit", "out"),
    "board": ("exit", "out"),
    "exit": ("enter", "in"),
    "out": ("enter",),
    "climb": ("down",),
}
# First words of commands in the standard libraries of Infocom's games and of Inform, beside those above.
_VERBS = frozenset(
    (
        *("ask", "attack", "blow", "break", "burn", "buy", "climb", "close", "consult", "cross", "cut", "dig", "drink"),
        *("drop", "eat", "empty", "enter", "exit", "extinguish", "fill", "follow", "get", "give", "hit", "inventory"),
        *("jump", "kill", "kiss", "knock", "leave", "lie", "light", "listen", "lock", "look", "move", "open", "pick"),
        *("pray", "press", "pull", "push", "put", "read", "remove", "ring", "rub", "say", "score", "search", "set"),
        *("shake", "show", "sit", "sleep", "smell", "stand", "swim", "swing", "take", "tell", "throw", "tie", "touch"),
        *("turn", "undo", "unlock", "untie", "wait", "wake", "wave", "wear", "wind"),
        *("again", "examine", "board", "go", "walk", "run"),
    )
)
_STOPS = re.compile(r"""("[^"]*"|'(?<!\w')[^']*'(?!\w))|\.|(?<![\w'-])(?:and\s+)?then(?![\w'-])""", re.IGNORECASE)
LOOK = "look"
_AGAIN = "again"
_SEPARATOR = "=" * 11  # the line between two steps of a published walkthrough


class Playable(Protocol):
    """A text game that can be played and saved."""

    def reset(self) -> str:
        """Start the game again; return its first text."""
        ...

    def act(self, command: str) -> str:
        """Type a command; return the game's answer."""
        ...

    def save(self) -> Any:
        """Return the present state, for `restore`."""
        ...

    def restore(self, saved: Any) -> None:
        """Return to a saved state."""
        ...

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        ...


class TextGame(Playable, Protocol):
    """A text game that knows where its player is."""

    def place(self) -> PlaceId | None:
        """Return the id of the player's place; None if there is none, as before a game has really begun."""
        ...

    def name(self) -> str | None:
        """Return the name of that place in the game's own table; None if the table cannot be read."""
        ...


def room_title(answer: str) -> str | None:
    """Return the name of the room, in lower case, from the game's answer to "look"; None if there is none.

    It is a framed line or, if there is none, the first line, unless that is a sentence, without the player's posture.
    """
    lines = [line.strip() for line in answer.splitlines()]
    for line in lines:
        if _FRAMED.fullmatch(line):
            return plain_name(line)
    # A line in brackets tells what the game did first, such as "(getting out of the boat)".
    first = next((line for line in lines if line and not (line[0] == "(" and line[-1] == ")")), "")
    if not first or len(first) > _LONGEST or first[-1] in _SENTENCE_ENDS or not first.isprintable():
        return None
    return plain_name(first) or None


def plain_name(line: str) -> str:
    """Return the name of a place in a line, such as "bedroom" for "Bedroom (in bed)".

    It is in lower case with single spaces, without TextWorld's `-= =-` around it and the player's posture in brackets.
    """
    text = " ".join(line.split())
    framed = _FRAMED.fullmatch(text)
    return normalise_name(_POSTURE.sub("", framed[1] if framed else text))


def normalise_name(text: str) -> str:
    """Return a name as maps have it: in lower case, with single spaces."""
    return " ".join(text.lower().split())


def names_place(text: str, names: Collection[str]) -> bool:
    """Return whether a line of a text is one of these names (see `plain_name`)."""
    return any(plain_name(line) in names for line in text.splitlines())


def is_darkness_title(title: str) -> bool:
    """Return whether a room's title only says that it is too dark to see."""
    return _DARK.fullmatch(title) is not None


def split_commands(line: str) -> list[str]:
    """Split a line of input into its commands, none of them empty, as Infocom's games and Inform do.

    A full stop and the word "then" end a command. So does a comma, if commands stand on both of its sides; elsewhere
    it lists objects ("take lamp, sword") or addresses somebody ("robot, go east"). Quoted text is never split.
    """
    sentences, start = list[str](), 0
    for stop in _STOPS.finditer(line):
        if stop[1] is None:  # what is quoted is matched only to be passed over
            sentences.append(line[start : stop.start()])
            start = stop.end()
    sentences.append(line[start:])
    commands: list[str] = []
    for sentence in filter(None, (sentence.strip(" \t,") for sentence in sentences)):
        parts = [part.strip() for part in sentence.split(",")] if '"' not in sentence else [sentence]
        joined: list[str] = []
        for part in filter(None, parts):
            begins = part.removeprefix("and ").lstrip()
            if not joined or (_starts_like_command(begins) and _starts_like_command(joined[-1])):
                joined.append(begins if joined else part)
            else:
                joined[-1] += f", {part}"
        commands += joined
    return commands


def _starts_like_command(text: str) -> bool:
    """Return whether a text starts with a direction, an abbreviation or a common verb."""
    first = (text.lower().split() or [""])[0]
    return first in _SHORT or first in _PLAIN_WAYS or first in _OTHERWISE or first in _VERBS


def expand_command(command: str) -> str:
    """Return a command as walkthroughs have it: in full, in lower case, and a direction as one word."""
    words = command.lower().split()
    if words and words[0] in _SHORT and (len(words) == 1 or words[0] == "x"):
        words[0] = _SHORT[words[0]]
    if len(words) == 2 and words[0] in _GOING:
        way = _SHORT.get(words[1], words[1])
        if way in _PLAIN_WAYS:
            return way
    return " ".join(words)


def is_movement(action: str) -> bool:
    """Return whether an action, written in full, is one that moves the player, such as "north" or "enter boat"."""
    return action in _PLAIN_WAYS or bool(opposite_actions(action))


def opposite_actions(action: str) -> tuple[str, ...]:
    """Return the actions that may lead back, the likeliest first; none for what has no opposite.

    Whether one does has to be tried.
    """
    first, _, argument = action.partition(" ")
    ways = [opposite_action(action), _ON_BOARD.get(action)]
    if first in _OTHERWISE and not (argument and first in ("in", "out")):
        ways += _OTHERWISE[first]
    return tuple(dict.fromkeys(way for way in ways if way))


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

    step: WalkthroughStep
    action: str
    place: PlaceId | None
    title: str | None
    name: str | None
    backs: tuple[tuple[str, PlaceId | None], ...] = ()


class GameWalk(NamedTuple):
    """A walk through a game: its steps, from number 0 on, and how many commands came after the end of the game."""

    visits: tuple[Visit, ...]
    unused: int


def walk_through(engine: TextGame, commands: Sequence[str]) -> GameWalk:
    """Play a game by a list of commands from its beginning."""
    text = engine.reset()
    visits = [_record_visit(engine, WalkthroughStep(0, "Init", _as_observation(text)), "", None)]
    for number, command in enumerate(commands, 1):
        if engine.done:
            return GameWalk(tuple(visits), len(commands) - number + 1)
        before, text, words = visits[-1], engine.act(command), expand_command(command)
        action = before.action if words == _AGAIN else words
        visits.append(
            _record_visit(engine, WalkthroughStep(number, words, _as_observation(text)), action, before.place)
        )
    return GameWalk(tuple(visits), 0)


def _record_visit(engine: TextGame, step: WalkthroughStep, action: str, before: PlaceId | None) -> Visit:
    """Return the visit that a step has led to; the game's state stays as it was."""
    here, name = engine.place(), engine.name()
    if engine.done:
        return Visit(step, action, here, None, name)
    saved = engine.save()
    title = room_title(engine.act(LOOK))
    backs: list[tuple[str, PlaceId | None]] = []
    if here is not None and before is not None and here != before:
        for back in opposite_actions(action):
            engine.restore(saved)
            engine.act(back)
            backs.append((back, None if engine.done else engine.place()))
    engine.restore(saved)
    return Visit(step, action, here, title, name, tuple(backs))


def _as_observation(text: str) -> str:
    """Return a game's text as an observation of a walkthrough, none of whose lines is a separator of steps."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(f"{line} " if line == _SEPARATOR else line for line in lines)
