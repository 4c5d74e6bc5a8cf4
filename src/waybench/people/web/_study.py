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
_MOST_PEOPLE = 500  # of a study without a list of codes


class StudyItem(Protocol):
    """An item of a study, which every participant plays."""

    @property
    def task(self) -> str:
        """The task's name, for the record."""
        ...

    @property
    def environment(self) -> Environment[Any, Any, Any]:
        """The environment of the item."""
        ...

    @property
    def options(self) -> Mapping[str, Json]:
        """Options of play."""
        ...

    @property
    def item(self) -> Item[Any]:
        """The item."""
        ...

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings by which the item was generated, for the record."""
        ...


@dataclass(slots=True)
class Participant:
    """A person, with the present round of the study: an attempt at an item.

    Attributes:
        number: Number of the present round, from 0.
        game: The episode of the present round; None before the first and after the last round.
        owner: SHA-256 of the cookie of the browser that took the name; "" before, and in a study with codes.
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

    Each event of a person is appended at once to a journal beside the record, so that nobody loses a turn by a closed
    browser or a stopped server. An episode's record is written when the episode has ended or was given up.

    Args:
        items: The items, in the order of play.
        record: The file of records, JSON lines; its journal has the same name with ".journal" after it.
        codes: The codes of people who may take part; None if anybody may, by a name of their own.
        introduction: A text that everybody reads, and agrees to, before the first item; "" for none.
        text_only: Whether people see the messages alone, as models receive them, and no board.
        attempts: Number of attempts at each item before the next item.
        clock: Returns the seconds of a monotonic clock.

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
        if len({json.dumps(identity, sort_keys=True) for identity in self._item_identities()}) < len(items):
            raise UsageError("an item is there twice: name each environment once, or repeat items with --attempts")
        self._resume()

    def round_text(self, number: int) -> str:
        """Return item and attempt of a round as text: "item 2 of 5", "item 2 of 5, attempt 1 of 3"."""
        item, attempt = divmod(number, self.attempts)
        attempt_text = f", attempt {attempt + 1} of {self.attempts}" if self.attempts > 1 else ""
        return f"item {item + 1} of {len(self.items)}{attempt_text}"

    @property
    def has_codes(self) -> bool:
        """Whether people need a code of a list to take part."""
        return self._codes is not None

    def join(self, code: str, browser: str = "") -> Participant | None:
        """Return the participant with a code or name, who is new or continues; None for a code that is refused.

        A code is refused if it is not listed, is no valid name, or is a name that another browser took, and if the
        study is full. `browser` is the SHA-256 of the browser's cookie: names are no secrets, so that only the browser
        that took a name can continue.
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
        """Return the last participant who took a name in a browser, by its cookie's SHA-256; None if there is none."""
        if self._codes is not None:
            return None
        return next((person for person in reversed(self._people.values()) if person.owner == browser), None)

    def begin(self, person: Participant) -> None:
        """Start a participant's first item, after the introduction."""
        if not person.has_begun:
            self._journal_and_apply(person, {"begin": True})

    def next_item(self, person: Participant) -> None:
        """Go on after a finished episode: to the next attempt, or to the next item if it was given up."""
        if person.is_closed:
            next_round = person.number + 1
            if not self.repeats_item(person):
                next_round = (person.number // self.attempts + 1) * self.attempts
            self._journal_and_apply(person, {"next": next_round})

    def repeats_item(self, person: Participant) -> bool:
        """Return whether a participant's next round is another attempt at the same item."""
        was_given_up = person.game is not None and person.game.episode.error is not None
        return not was_given_up and (person.number + 1) % self.attempts > 0

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
        # The record comes first: if the server stops in between, `_resume` finds it by its attempt.
        _append_json_line(self._record, person.game.record())
        self._journal_and_apply(person, {"close": True})

    def _journal_and_apply(self, person: Participant, event: Mapping[str, Json]) -> None:
        """Append a participant's event to the journal, and apply it."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        _append_json_line(self._journal, {"person": person.code, "time": time, **event})
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
                return  # without a new turn
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
            number, attempt_index = divmod(person.number, self.attempts)
            chosen, player = self.items[number], recorded_player_name(person.code)
            episode: Episode[Any, Any, Any] = Episode(
                chosen.environment, chosen.item, chosen.options, attempt=attempt_index + 1, player=player
            )
            # A setting, so that results with and without a board are not pooled.
            settings = {**chosen.settings, **({"text_only": True} if self.text_only else {})}
            person.game = PlayedEpisode(episode, chosen.task, settings)

    def _resume(self) -> None:
        """Restore all participants from the journal, which is begun if there is none, and close ended episodes."""
        identity_parts = self._item_identities()
        if self.attempts > 1:
            identity_parts.append({"attempts": self.attempts})
        identity = sha256(json.dumps(identity_parts, sort_keys=True).encode()).hexdigest()
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
        records = _read_json_lines(self._record) if self._record.exists() else []
        written_attempts = {
            (record.get("player"), record.get("instance_hash"), record.get("attempt", 1), len(record.get("turns", ())))
            for record in records
        }
        for person in self._people.values():
            game = person.game
            if game is None or person.is_closed:
                continue
            record = game.episode.record()
            if (record.player, record.instance_hash, record.attempt, len(record.turns)) in written_attempts:
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
    """Return the objects of a file of JSON lines, after removing an incomplete last line from the file."""
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
