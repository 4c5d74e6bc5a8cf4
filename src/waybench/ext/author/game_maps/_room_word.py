"""Finding where a game keeps its player's room: the two bytes of its memory that change exactly when the room does."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from waybench.core import UsageError
from waybench.envs.textmap import DIRECTIONS
from waybench.ext.author.game_maps._walk import LOOK
from waybench.ext.author.game_maps._words import Playable, in_full, is_dark, is_way, title_of, ways_back

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Counts = NDArray[np.int64]

_MOST_STEPS = 2_000  # of the walk that are looked at
_MOST_ROOMS = 30  # where all directions are tried
_TRIED = (*DIRECTIONS, "in", "out")
_SPARED = 50  # one in so many tests may fail: a room can change its title, a monster carry the player off
_MOST_FINALISTS = 2_000
_GLOBALS = 240  # variables of two bytes that every game has in a table


class Memory(Playable, Protocol):
    """A game whose memory can be read."""

    def memory(self) -> "Bytes":
        """Return a copy of all bytes that the game can change."""
        ...


@dataclass(slots=True)
class _Evidence:
    """What a walk says about each two bytes that follow each other; shapes (bytes - 1,), by the first one's address.

    Attributes:
        tests: Number of tests of each.
        failed: How many of them the two bytes fail: they differ though the room is the same, or the other way round.
        shifts: How often they differ after a command which is not one that moves.
        titles: The titles printed on the walk and beside it; None where it is dark, or none is printed.
        sights: The memory at these moments.
    """

    tests: int
    failed: "Counts"
    shifts: "Counts"
    titles: list[str | None]
    sights: list["Bytes"]

    def test(self, failed: "NDArray[np.bool_]") -> None:
        """Count a test, and the words that failed it."""
        self.tests += 1
        self.failed += failed

    def see(self, title: str | None, memory: "Bytes") -> None:
        """Note a moment."""
        self.titles.append(title)
        self.sights.append(memory)


def find_room_word(game: Memory, commands: Sequence[str], global_table: int) -> int:
    """Return the address of the two bytes that tell the player's room.

    The game is played by the commands, and in each room that is new all directions are tried and taken back. The word
    does not change by looking around; it differs between rooms of different titles; and it is the same again after a
    step there and back. Among the words of which that is true, one is preferred that changes by fewer other commands
    (not by sitting down or lighting a lamp), then one that tells more rooms apart, those with the same title and those
    in the dark too.

    Args:
        game: The game.
        commands: What to type.
        global_table: The address of the game's global variables, where games keep the room; looked at first.

    Raises:
        UsageError: If there is no such word, or the walk says too little.
    """
    evidence = _gather(game, commands)
    rooms = {title for title in evidence.titles if title}
    if len(rooms) < 2:
        raise UsageError(
            "jericho does not support this game, and its rooms cannot be distinguished by their titles: this walk "
            f"shows {len(rooms)}; give --commands that walk through several rooms"
        )
    spared = evidence.tests // _SPARED
    aligned = range(global_table, global_table + 2 * _GLOBALS, 2)
    passing = [address for address in aligned if address < len(evidence.failed) and evidence.failed[address] <= spared]
    for addresses in (passing, _finalists(evidence, spared)):
        ranked = [rank for address in addresses if (rank := _rank(evidence, address)) is not None]
        if ranked:
            return min(ranked)[-1]
    raise UsageError(
        "jericho does not support this game, and no part of its memory follows the rooms' titles; "
        "give --commands that walk through more rooms"
    )


def _gather(game: Memory, commands: Sequence[str]) -> _Evidence:
    """Play the game, and try all directions where a title is new."""
    import numpy as np

    game.reset()
    memory = game.memory()
    nothing = np.zeros(len(memory) - 1, dtype=np.int64)
    evidence = _Evidence(0, nothing, nothing.copy(), [], [])
    tried: set[str] = set()
    for command in ("", *commands[:_MOST_STEPS]):
        if command:
            game.act(command)
        if game.done:
            break
        before, memory, saved = memory, game.memory(), game.save()
        title = _look(game)
        evidence.test(_differ(memory, game.memory()))
        if command and not is_way(in_full(command)):
            evidence.shifts += _differ(before, memory)
        evidence.see(title, memory)
        if title and title not in tried and len(tried) < _MOST_ROOMS:
            tried.add(title)
            _excursions(game, evidence, saved, title, memory)
        game.restore(saved)
    return evidence


def _excursions(game: Memory, evidence: _Evidence, saved: Any, title: str, memory: "Bytes") -> None:
    """Go from a room in every direction and back, and note what is seen."""
    for way in _TRIED:
        game.restore(saved)
        game.act(way)
        there, away = game.memory(), game.save()
        found = _look(game)
        if game.done or not found or found == title:
            continue
        evidence.test(~_differ(memory, there))
        evidence.see(found, there)
        game.restore(away)
        game.act(ways_back(way)[0])
        back = game.memory()
        if not game.done and _look(game) == title:
            evidence.test(_differ(memory, back))


def _look(game: Memory) -> str | None:
    title = title_of(game.act(LOOK))
    return None if title is None or is_dark(title) else title


def _differ(before: "Bytes", after: "Bytes") -> "NDArray[np.bool_]":
    changed = before != after
    return changed[:-1] | changed[1:]


def _finalists(evidence: _Evidence, spared: int) -> list[int]:
    """Return the addresses of all words that pass, the best first."""
    import numpy as np

    order = np.argsort(evidence.failed, kind="stable")[:_MOST_FINALISTS]
    return [address for address in order.tolist() if evidence.failed[address] <= spared]


def _rank(evidence: _Evidence, address: int) -> tuple[bool, int, int, int, int, int, int] | None:
    """Return what to sort words by, the better one first, and at its end the address; None if it does not fit."""
    values = [int(sight[address]) << 8 | int(sight[address + 1]) for sight in evidence.sights]
    titles: dict[int, Counter[str]] = {}
    for value, title in zip(values, evidence.titles, strict=True):
        if title:
            titles.setdefault(value, Counter())[title] += 1
    wrong = sum(counted.total() - max(counted.values()) for counted in titles.values())
    if len(titles) < 2 or wrong > len(values) // _SPARED:
        return None
    # In the dark, the better word still tells the room, as is seen where there is light another time.
    known = sum(1 for value, title in zip(values, evidence.titles, strict=True) if not title and value in titles)
    failed = int(evidence.failed[address]) + wrong
    # What is 0 at times is hardly the number of a room.
    return 0 in titles, int(evidence.shifts[address]), -len(titles), -known, -len(set(values)), failed, address
