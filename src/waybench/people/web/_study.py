"""A study of people: who plays which items in which order, kept on disk turn by turn."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any, Protocol

from waybench.core import Environment, Episode, Item, Json, UsageError, is_object, open_private_file
from waybench.people._play import PlayedEpisode, recorded_player_name

_NAME = re.compile(r"[\w .-]{1,40}")
_MOST_PEOPLE = 500  # without a list of codes


class StudyItem(Protocol):
    """An item of a study, which every participant plays."""

    @property
    def task(self) -> str:
        """The task's name, for the record."""
        ...

    @property
    def environment(self) -> Environment[Any, Any, Any]: ...

    @property
    def options(self) -> Mapping[str, Json]:
        """Options of play."""
        ...

    @property
    def item(self) -> Item[Any]: ...

    @property
    def settings(self) -> Mapping[str, Json]:
        """How the item was generated, for the record."""
        ...


@dataclass(slots=True)
class Participant:
    """A person, the items so far and the episode that is going on.

    Attributes:
        has_begun: Whether the introduction is behind them.
        number: Number of the present round (an attempt at an item), from 0.
        game: The episode that is going on, or has just ended; None before an item is begun and after the last.
        is_closed: Whether the episode has just ended.
        owner: SHA-256 of the cookie of the browser that took the name, where there are no codes; "" before.
        since: When the present turn was first shown, by a monotonic clock; None if it was not.
    """

    code: str
    has_begun: bool = False
    number: int = 0
    game: PlayedEpisode | None = None
    is_closed: bool = False
    owner: str = ""
    since: float | None = None


class Study:
    """A set of items for several people at once.

    Everything that a person does is appended to a journal beside the record as it happens, so that a closed browser or
    a server that was stopped costs nobody a turn. An episode's record is written when it has ended or was given up.

    Args:
        record: The file of records, JSON lines; its journal has the same name with ".journal" after it.
        codes: Who may take part; anybody by a name of their own if None.
        introduction: A text that everybody reads, and agrees to, before the first item; "" for none.
        text_only: Whether people see the messages alone, as models receive them, and no board.
        attempts: How often each item is played before the next.
        clock: Seconds, never going back.

    Raises:
        UsageError: If the journal belongs to other items, or cannot be read.
    """

    def __init__(
        self,
        items: Sequence[StudyItem],
        record: Path,
        *,
        codes: Sequence[str] | None = None,
        introduction: str = "",
        text_only: bool = False,
        attempts: int = 1,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if not items:
            raise UsageError("there are no items to play: choose --items 1 or more")
        self.items, self.introduction, self.text_only = items, introduction, text_only
        self.attempts, self.rounds = attempts, len(items) * attempts
        self.lock = RLock()
        self._record, self._journal = record, record.with_name(f"{record.name}.journal")
        self._codes = None if codes is None else frozenset(codes)
        self._people: dict[str, Participant] = {}
        self._clock = clock
        if len({json.dumps(part, sort_keys=True) for part in self._item_identities()}) < len(items):
            raise UsageError("an item is there twice: name each environment once, or repeat items with --attempts")
        self._resume()

    def round_text(self, number: int) -> str:
        """Return item and attempt of a round as text: "item 2 of 5", "item 2 of 5, attempt 1 of 3"."""
        item, attempt = divmod(number, self.attempts)
        several = f", attempt {attempt + 1} of {self.attempts}" if self.attempts > 1 else ""
        return f"item {item + 1} of {len(self.items)}{several}"

    @property
    def has_codes(self) -> bool:
        """Whether people need a code that they were given."""
        return self._codes is not None

    def join(self, code: str, browser: str = "") -> Participant | None:
        """Return the participant with a code or name, new or where they left off; None if that is refused.

        It is refused if the code is not listed or no valid name, if another browser took the name, or if the study is
        full. `browser` is the SHA-256 of the browser's cookie: nobody can go on elsewhere under a name that anybody may
        type.
        """
        code = " ".join(code.split())
        if self._codes is not None:
            if code not in self._codes:
                return None
        elif not _NAME.fullmatch(code) or (code not in self._people and len(self._people) >= _MOST_PEOPLE):
            return None
        person = self._people.setdefault(code, Participant(code))
        if self._codes is None and browser:
            if person.owner not in ("", browser):
                return None
            if not person.owner:
                self._journal_and_apply(person, {"owner": browser})
        return person

    def participant_of_browser(self, browser: str) -> Participant | None:
        """Return the participant who took a name in a browser, by its cookie's SHA-256; None if none, or with codes."""
        owned = [person for person in self._people.values() if person.owner == browser]
        return owned[-1] if owned and self._codes is None else None

    def begin(self, person: Participant) -> None:
        """Start a participant's first item, after the introduction."""
        if not person.has_begun:
            self._journal_and_apply(person, {"begin": True})

    def next_item(self, person: Participant) -> None:
        """Go on after a finished episode: to the next attempt, or to the next item if it was given up."""
        if person.is_closed:
            first = person.number - person.number % self.attempts
            self._journal_and_apply(
                person, {"next": person.number + 1 if self.repeats_item(person) else first + self.attempts}
            )

    def repeats_item(self, person: Participant) -> bool:
        """Return whether a participant's next round is another attempt at the same item."""
        is_left = person.game is not None and person.game.episode.error is not None
        return not is_left and (person.number + 1) % self.attempts > 0

    def start_turn_timer(self, person: Participant) -> None:
        """Start the time of the present turn when it is first shown."""
        if person.since is None:
            person.since = self._clock()

    def play_typed(self, person: Participant, typed: str) -> bool:
        """Play what a participant typed; return False, at no cost, if it is not understood."""
        game = person.game
        if game is None or person.is_closed:
            return False
        reply = game.parse_typed(typed)
        if reply is None:
            return False
        seconds = 0.0 if person.since is None else round(self._clock() - person.since, 3)
        self._journal_and_apply(person, {"reply": reply, "seconds": seconds})
        if game.episode.done:
            self._close_episode(person)
        return True

    def give_up(self, person: Participant) -> None:
        """Abandon the present episode, which counts as failed."""
        if person.game is not None and not person.is_closed:
            self._close_episode(person)

    def _close_episode(self, person: Participant) -> None:
        """Write the record of the present episode, and close it."""
        assert person.game is not None
        if not person.game.episode.done:
            person.game.episode.abandon()
        # First the record: if the server stops in between, the record is found again by its attempt and not repeated.
        _append_json_line(self._record, person.game.record())
        self._journal_and_apply(person, {"close": True})

    def _journal_and_apply(self, person: Participant, event: Mapping[str, Json]) -> None:
        """Write an event to the journal and apply it."""
        self._journal_event(person, event)
        self._apply_event(person, event)

    def _apply_event(self, person: Participant, event: Mapping[str, Json]) -> None:
        """Apply an event of the journal to a participant, now or when the server starts again."""
        match event:
            case {"begin": True}:
                person.has_begun = True
                self._start_round(person)
            case {"next": int(number)}:
                person.number = number
                self._start_round(person)
            case {"reply": str(reply), "seconds": int(seconds) | float(seconds)} if person.game is not None:
                person.game.play_reply(reply, float(seconds))
            case {"owner": str(owner)}:
                person.owner = owner
                return  # the present turn goes on
            case {"close": True}:
                person.is_closed = True
                if person.game is not None and not person.game.episode.done:
                    person.game.episode.abandon()
            case _:
                raise UsageError(f"{self._journal}: it is no journal of this program: choose another --record")
        person.since = None

    def _start_round(self, person: Participant) -> None:
        """Start the episode of a participant's present round; none after the last round."""
        person.is_closed, person.game = False, None
        if person.number < self.rounds:
            chosen, attempt = self.items[person.number // self.attempts], person.number % self.attempts + 1
            episode: Episode[Any, Any, Any] = Episode(
                chosen.environment,
                chosen.item,
                chosen.options,
                attempt=attempt,
                player=recorded_player_name(person.code),
            )
            # What people saw is a setting like any other: results with and without a board are not pooled.
            settings = {**chosen.settings, **({"text_only": True} if self.text_only else {})}
            person.game = PlayedEpisode(episode, chosen.task, settings)

    def _journal_event(self, person: Participant, event: Mapping[str, Json]) -> None:
        """Append a participant's event to the journal."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        _append_json_line(self._journal, {"person": person.code, "time": time, **event})

    def _resume(self) -> None:
        """Restore all participants from the journal, if there is one."""
        parts = [*self._item_identities(), *([{"attempts": self.attempts}] if self.attempts > 1 else [])]
        identity = sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        if not self._journal.exists():
            _append_json_line(self._journal, {"items": identity})
            return
        events = _read_json_lines(self._journal)
        if not events or events[0].get("items") != identity:
            raise UsageError(f"{self._journal}: it belongs to other items: choose another --record")
        for event in events[1:]:
            code = str(event.get("person", ""))
            person = self._people.setdefault(code, Participant(code))
            self._apply_event(person, {name: value for name, value in event.items() if name not in ("person", "time")})
        written = {
            (line.get("player"), line.get("instance_hash"), line.get("attempt", 1), len(line.get("turns", ())))
            for line in (_read_json_lines(self._record) if self._record.exists() else ())
        }
        for person in self._people.values():
            game = person.game
            if game is None or person.is_closed:
                continue
            record = game.episode.record()
            if (record.player, record.instance_hash, record.attempt, len(record.turns)) in written:
                self._journal_and_apply(person, {"close": True})
            elif game.episode.done:
                self._close_episode(person)

    def _item_identities(self) -> list[Json]:
        """Return environment, version, instance and options of each item of the study."""
        return [
            [chosen.environment.id, chosen.environment.version, chosen.item.instance.hash, dict(chosen.options)]
            for chosen in self.items
        ]


def _append_json_line(path: Path, data: Mapping[str, Json]) -> None:
    """Append a JSON line to a file, and sync it to the disk."""
    line = json.dumps(data, sort_keys=True, separators=(",", ":")) + "\n"
    with open_private_file(path, "ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def _read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines; an incomplete last line is removed from the file."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        with path.open("r+b") as file:
            file.truncate(end)
    objects: list[dict[str, Any]] = []
    for number, line in enumerate(content[:end].splitlines(), start=1):
        try:
            data = json.loads(line)
        except ValueError:
            data = None
        if not is_object(data):
            raise UsageError(f"{path}, line {number}: this is no JSON object: mend or move the file")
        objects.append(data)
    return objects
