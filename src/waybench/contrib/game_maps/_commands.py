"""Commands as they are typed, as they are written in full, and what should lead back."""

from waybench.envs.textmap import ABBREVIATIONS, DIRECTIONS, opposite

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


def in_full(command: str) -> str:
    """Return a command as walkthroughs tell it: in full and in lower case, each direction by its one plain name."""
    words = command.lower().split()
    if words and words[0] in _SHORT and (len(words) == 1 or words[0] == "x"):
        words[0] = _SHORT[words[0]]
    if len(words) == 2 and words[0] in _GOING:
        way = _SHORT.get(words[1], words[1])
        if way in _PLAIN_WAYS:
            return way
    return " ".join(words)


def is_way(action: str) -> bool:
    """Return whether an action, written in full, moves the player by its very words, if it does anything."""
    return action in _PLAIN_WAYS or bool(ways_back(action))


def ways_back(action: str) -> tuple[str, ...]:
    """Return the actions that may lead back, the likeliest first; none for what has no opposite.

    Whether one does has to be tried.
    """
    first, _, rest = action.partition(" ")
    found = [opposite(action), _ON_BOARD.get(action)]
    if first in _OTHERWISE and not (rest and first in ("in", "out")):
        found += _OTHERWISE[first]
    return tuple(dict.fromkeys(each for each in found if each))
