"""The interface of text games for making maps, names and commands in their texts, and walks through games."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from waybench.core import DataError, UsageError, is_object, read_json_file, read_text_file
from waybench.envs.textmap._place_map import WalkthroughStep
from waybench.envs.textmap.worlds._data import DIRECTIONS, opposite_action
from waybench.envs.textmap.worlds._play import ABBREVIATIONS

PlaceId = int | str  # the game's own id of a place

_LONGEST = 70  # characters
_FRAMED = re.compile(r"-= (.+) =-")  # a title of TextWorld
_POSTURE = re.compile(r" \((?:in|on|as) [^()]*\)$")  # the player's posture: "Bedroom (in bed)"
_SENTENCE_ENDS = frozenset(".!?:;,\"'>")
_DARK = re.compile(r"(?:in )?(?:the |total |utter |pitch )*(?:dark|darkness|black|blackness)|too dark to see")
LONGEST = 120  # characters of a command that every interpreter accepts
_FULL_WORDS = {**ABBREVIATIONS, "g": "again", "x": "examine"}
_GO_VERBS = ("go", "walk")
_SHIP_DIRECTIONS = {"fore": "aft", "aft": "fore", "port": "starboard", "starboard": "port"}
_DIRECTION_WORDS = frozenset((*DIRECTIONS, *_SHIP_DIRECTIONS, "in", "out"))
# First word of an action -> further actions that may be its opposite.
_MORE_OPPOSITES = {
    "in": ("exit",),
    "enter": ("exit", "out"),
    "board": ("exit", "out"),
    "exit": ("enter", "in"),
    "out": ("enter",),
    "climb": ("down",),
}
# Further first words of commands in the standard libraries of Infocom's games and of Inform.
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
_COMMAND_ENDS = re.compile(
    r"""("[^"]*"|'(?<!\w')[^']*'(?!\w))|\.|(?<![\w'-])(?:and\s+)?then(?![\w'-])""", re.IGNORECASE
)
LOOK = "look"
_LARGEST = 1 << 24  # bytes of a file of commands or names
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
        """Return the id of the player's place; None if it has no place, as before a game has really begun."""
        ...

    def name(self) -> str | None:
        """Return the name of the player's place in the game's own table; None if the table cannot be read."""
        ...


def room_title(answer: str) -> str | None:
    """Return the name of the room, in lower case, from the game's answer to "look"; None without a name.

    The name is in a framed line or, without any, in the first line, unless this is a sentence.
    """
    lines = [line.strip() for line in answer.splitlines()]
    for line in lines:
        if _FRAMED.fullmatch(line):
            return plain_name(line)
    # A line in brackets is about an implied action, such as "(getting out of the boat)".
    first_line = next((line for line in lines if line and not (line[0] == "(" and line[-1] == ")")), "")
    is_sentence = len(first_line) > _LONGEST or first_line[-1:] in _SENTENCE_ENDS
    return None if is_sentence or not first_line.isprintable() else plain_name(first_line) or None


def plain_name(line: str) -> str:
    """Return the name of a place in a line, such as "bedroom" for "Bedroom (in bed)".

    The name is in lower case with single spaces, without TextWorld's `-= =-` and the player's posture in brackets.
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
    """Split a line of input into its commands as Infocom's games and Inform do; empty commands are left out.

    A full stop and the word "then" end a command. So does a comma between two commands; other commas list objects
    ("take lamp, sword") or address somebody ("robot, go east"). Quoted text is never split.
    """
    sentences, start = list[str](), 0
    for end_of_command in _COMMAND_ENDS.finditer(line):
        if end_of_command[1] is None:  # group 1 is quoted text
            sentences.append(line[start : end_of_command.start()])
            start = end_of_command.end()
    sentences.append(line[start:])
    commands: list[str] = []
    for sentence in filter(None, (sentence.strip(" \t,") for sentence in sentences)):
        parts = [part.strip() for part in sentence.split(",")] if '"' not in sentence else [sentence]
        commands_of_sentence: list[str] = []
        for part in filter(None, parts):
            part_without_and = part.removeprefix("and ").lstrip()
            if not commands_of_sentence:
                commands_of_sentence.append(part)
            elif _starts_like_command(part_without_and) and _starts_like_command(commands_of_sentence[-1]):
                commands_of_sentence.append(part_without_and)
            else:
                commands_of_sentence[-1] += f", {part}"
        commands += commands_of_sentence
    return commands


def _starts_like_command(text: str) -> bool:
    """Return whether a text starts with a direction, an abbreviation or a common verb."""
    first = (text.lower().split() or [""])[0]
    return first in _FULL_WORDS or first in _DIRECTION_WORDS or first in _MORE_OPPOSITES or first in _VERBS


def expand_command(command: str) -> str:
    """Return a command as walkthroughs have it: in full, in lower case, and a direction as one word."""
    words = command.lower().split()
    if words and words[0] in _FULL_WORDS and (len(words) == 1 or words[0] == "x"):
        words[0] = _FULL_WORDS[words[0]]
    if len(words) == 2 and words[0] in _GO_VERBS:
        direction = _FULL_WORDS.get(words[1], words[1])
        if direction in _DIRECTION_WORDS:
            return direction
    return " ".join(words)


def is_movement(action: str) -> bool:
    """Return whether an action, written in full, moves the player, as "north" or "enter boat" do."""
    return action in _DIRECTION_WORDS or bool(opposite_actions(action))


def opposite_actions(action: str) -> tuple[str, ...]:
    """Return the actions that may lead back, the likeliest first; () for an action without opposite."""
    first, _, argument = action.partition(" ")
    opposites = [opposite_action(action), _SHIP_DIRECTIONS.get(action)]
    if first in _MORE_OPPOSITES and not (argument and first in ("in", "out")):
        opposites += _MORE_OPPOSITES[first]
    return tuple(dict.fromkeys(opposite for opposite in opposites if opposite))


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of a walk.

    Attributes:
        step: The command and the answer.
        action: The command in full or, for "again", the repeated command; empty at the beginning.
        place: The id of the place where the player is after the step; None if it has no place.
        title: The title that the game prints when asked to look; None without a title.
        name: The name of the place in the game's own table; None if it cannot be read.
        backs: If the place has changed: the actions that may lead back, each with the id of the place it leads to.
    """

    step: WalkthroughStep
    action: str
    place: PlaceId | None
    title: str | None
    name: str | None
    backs: tuple[tuple[str, PlaceId | None], ...] = ()


class GameWalk(NamedTuple):
    """A walk through a game: its visits, from step 0 on, and the number of commands after the end of the game."""

    visits: tuple[Visit, ...]
    unused: int


def walk_through(engine: TextGame, commands: Sequence[str]) -> GameWalk:
    """Play a game by a list of commands from its beginning."""
    text = engine.reset()
    visits = [_record_visit(engine, WalkthroughStep(0, "Init", _as_observation(text)), "", None)]
    for number, command in enumerate(commands, 1):
        if engine.done:
            return GameWalk(tuple(visits), len(commands) - number + 1)
        last_visit, text, full_command = visits[-1], engine.act(command), expand_command(command)
        action = last_visit.action if full_command == _AGAIN else full_command
        step = WalkthroughStep(number, full_command, _as_observation(text))
        visits.append(_record_visit(engine, step, action, last_visit.place))
    return GameWalk(tuple(visits), 0)


def _record_visit(engine: TextGame, step: WalkthroughStep, action: str, place_before: PlaceId | None) -> Visit:
    """Return the visit after a step; looking and trying the way back do not change the game's state."""
    place, name = engine.place(), engine.name()
    if engine.done:
        return Visit(step, action, place, None, name)
    saved_state = engine.save()
    title = room_title(engine.act(LOOK))
    reverse_actions: list[tuple[str, PlaceId | None]] = []
    if place is not None and place_before is not None and place != place_before:
        for reverse_action in opposite_actions(action):
            engine.restore(saved_state)
            engine.act(reverse_action)
            reverse_actions.append((reverse_action, None if engine.done else engine.place()))
    engine.restore(saved_state)
    return Visit(step, action, place, title, name, tuple(reverse_actions))


def _as_observation(text: str) -> str:
    """Return a game's text as an observation of a walkthrough, where no line is a separator of steps."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(f"{line} " if line == _SEPARATOR else line for line in lines)


def read_commands(path: Path) -> tuple[str, ...]:
    """Read a list of commands: one in a line, or several as games accept them ("n. take lamp. s").

    A line is split as the games split it (see `split_commands`); empty lines are skipped.

    Raises:
        UsageError: If the file cannot be read, or has no command.
        DataError: If a line is no command; the message names it.
    """
    commands: list[str] = []
    for number, line in enumerate(read_text_file(path, _LARGEST, "a file of commands").split("\n"), 1):
        text = line.strip()
        line_commands = split_commands(text)
        if any(len(command) > LONGEST for command in line_commands) or not (text.isascii() and text.isprintable()):
            raise DataError(f"{path}: line {number}: a command is at most {LONGEST} printable ASCII characters")
        commands += line_commands
    if not commands:
        raise UsageError(f"{path}: the file has no commands; write one per line")
    return tuple(commands)


def read_place_names(path: Path) -> dict[str, str]:
    """Read the names of places from a JSON object, id to name, as in NAME.code2anno.json.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is not of this form.
    """
    name_by_id = read_json_file(path, _LARGEST, "a file of names")
    if not is_object(name_by_id):
        raise DataError(f'{path}: the file is not an object such as {{"27": "bedroom", "25": "bedroom"}}')
    for code, name in name_by_id.items():
        if not isinstance(name, str) or not name.isprintable() or not normalise_name(name):
            raise DataError(f"{path}: {code[:40]}: {str(name)[:60]!r} is not a name on one line")
    return name_by_id
