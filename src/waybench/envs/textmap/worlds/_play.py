"""The engine of text worlds: commands, answers and states."""

from typing import NamedTuple

from waybench.envs.textmap.worlds._data import DIRECTIONS, MOVING_VERBS, Exit, TextWorld
from waybench.envs.textmap.worlds._world import capitalized, direction_phrase, join_items, with_article

LONGEST_COMMAND = 120  # characters

ABBREVIATIONS = {
    **{"n": "north", "ne": "northeast", "e": "east", "se": "southeast", "s": "south", "sw": "southwest"},
    **{"w": "west", "nw": "northwest", "u": "up", "d": "down", "l": "look", "i": "inventory", "z": "wait"},
}
_VERBS = {"x": "examine", "get": "take", "ignite": "light", "douse": "extinguish"}  # synonym -> verb
_MOVES = frozenset((*DIRECTIONS, "in", "out"))  # commands that are moves at any place, even if they lead nowhere


class Situation(NamedTuple):
    """The state of a game, with bit masks of opened doors, taken things and seen (described) places."""

    place: int
    opened: int = 0
    taken: int = 0
    seen: int = 0
    lit: bool = False
    turn: int = 0


class CommandResult(NamedTuple):
    """The result of a command.

    `shows_name` says whether the text has the name of the new place on a line of its own.
    """

    after: Situation
    text: str
    shows_name: bool = False
    understood: bool = True


class WorldEngine:
    """The engine of a world. It is stateless: commands take a state and return the next one."""

    def __init__(self, world: TextWorld) -> None:
        self.world = world
        self._exits = {(exit_.source, exit_.action): exit_ for exit_ in world.exits}
        self._doors: list[dict[str, Exit]] = [{} for _ in world.places]  # of each place: name -> exit with the door
        for exit_ in world.exits:
            if exit_.door is not None:
                self._doors[exit_.source].setdefault(world.doors[exit_.door], exit_)
        self._things: list[dict[str, int]] = [{} for _ in world.places]  # of each place: name -> number
        self._carried_at_start = sum(1 << number for number, thing in enumerate(world.things) if thing.place < 0)
        for number, thing in enumerate(world.things):
            if thing.place >= 0:
                self._things[thing.place][thing.name] = number
        self._portable = [
            [(name, number) for name, number in things.items() if world.things[number].portable]
            for things in self._things
        ]

    def begin(self) -> CommandResult:
        """Return the first state and the opening text."""
        before = Situation(self.world.start, taken=self._carried_at_start)
        result = self._look_around(before)
        return result._replace(text=f"{self.world.intro}\n\n{result.text}")

    def place_after_move(self, before: Situation, action: str) -> int:
        """Return the number of the place after a move; the same place if the move is not possible."""
        exit_ = self._exits.get((before.place, action))
        return before.place if exit_ is None or self._is_closed(before, exit_) else exit_.target

    def _is_closed(self, now: Situation, exit_: Exit) -> bool:
        """Return whether an exit has a door that is closed."""
        return exit_.door is not None and not now.opened >> exit_.door & 1

    def dark(self, situation: Situation) -> bool:
        """Return whether the player is in the dark."""
        return self.world.places[situation.place].dark and not situation.lit

    def names_of_things_here(self, situation: Situation) -> list[str]:
        """Return the names of the things at the place, without those that the player carries."""
        return [name for name, number in self._things[situation.place].items() if not situation.taken >> number & 1]

    def act(self, before: Situation, command: str) -> CommandResult:
        """Execute a command.

        Every command gets an answer; commands that are too long or have control characters are not understood. The text
        ends with a line feed.
        """
        words = _normalize_command(command)
        if words is None:
            return CommandResult(before, f"{self.world.voice.unknown}\n", understood=False)
        exit_ = self._exits.get((before.place, words))
        now = Situation(before.place, before.opened, before.taken, before.seen, before.lit, before.turn + 1)
        result = self._move(now, exit_) if exit_ else self._execute_other_command(now, words)
        if not result.understood:
            return result._replace(after=before)  # it takes no turn
        if self.world.pulse[now.turn % len(self.world.pulse)] and not self.dark(result.after):
            events = self.world.places[result.after.place].events
            event = events[now.turn % len(events)]
            return CommandResult(result.after, f"{result.text}\n{event}\n", result.shows_name)
        return result

    def _move(self, now: Situation, exit_: Exit) -> CommandResult:
        """Take an exit, unless its door is closed; with a brief style only a new place is described."""
        if exit_.door is not None and self._is_closed(now, exit_):
            return CommandResult(now, self.world.voice.closed.format(self.world.doors[exit_.door]) + "\n")
        after = Situation(exit_.target, now.opened, now.taken, now.seen, now.lit, now.turn)
        at_length = not self.world.style.brief or not now.seen >> exit_.target & 1
        return self._look_around(after, at_length, exit_.travel_text)

    def _look_around(self, now: Situation, at_length: bool = True, before: str = "") -> CommandResult:
        """Describe a place, after the text `before`."""
        place = self.world.places[now.place]
        before = f"{before}\n\n" if before else ""
        if self.dark(now):
            return CommandResult(now, f"{before}Darkness\n{self.world.voice.dark}\n")
        text = f"{before}{place.name}\n"
        if at_length:
            if place.text:
                text += f"{place.text}\n"
            if exits_text := self._exits_text(now):
                text += f"{exits_text}\n"
        things_here = [name for name, number in self._portable[now.place] if not now.taken >> number & 1]
        if things_here:
            text += f"There is {join_items([with_article(name) for name in things_here])} here.\n"
        seen = now.seen | 1 << now.place
        return CommandResult(
            Situation(now.place, now.opened, now.taken, seen, now.lit, now.turn), text, shows_name=True
        )

    def _exits_text(self, now: Situation) -> str:
        """Return the description of a place's exits and doors."""
        doors = self._doors[now.place]
        sentences = [self.world.places[now.place].ways]
        if doors and self.world.style.exits != "none":
            for door, exit_ in doors.items():
                state = "closed" if self._is_closed(now, exit_) else "open"
                if exit_.action in DIRECTIONS:
                    sentences.append(
                        f"{capitalized(direction_phrase(exit_.action))} is {with_article(door)}, which is {state}."
                    )
                else:
                    sentences.append(
                        f"{capitalized(with_article(door))}, which is {state}, is in the way ({exit_.action})."
                    )
        return " ".join(filter(None, sentences))

    def _execute_other_command(self, now: Situation, words: str) -> CommandResult:
        """Execute a command that names no exit of the place."""
        voice, place = self.world.voice, self.world.places[now.place]
        if words == "look":
            return self._look_around(now)
        if words == "inventory":
            return CommandResult(now, self._list_inventory(now) + "\n")
        answers = {
            "wait": voice.wait,
            "listen": place.sound,
            "smell": f"It smells of {place.smell}.",
            "jump": voice.jump,
        }
        if words in answers:
            return CommandResult(now, answers[words] + "\n")
        direction = words.removeprefix("go ")
        if direction in _MOVES:
            exit_ = self._exits.get((now.place, direction))
            return self._move(now, exit_) if exit_ else CommandResult(now, f"{voice.no_way}\n")
        verb, _, noun = words.partition(" ")
        if not noun:
            return CommandResult(now, f"{voice.unknown}\n", understood=False)
        thing = noun.removeprefix("the ")
        match verb:
            case "open":
                return self._open_door(now, thing)
            case "take":
                return self._take_thing(now, thing)
            case "examine" | "search":
                return self._examine_thing(now, thing, verb)
            case "light" | "extinguish":
                return self._switch_lamp(now, thing, verb)
            case _ if verb in MOVING_VERBS:
                return CommandResult(now, f"{voice.absent}\n")
            case _:
                return CommandResult(now, f"{voice.unknown}\n", understood=False)

    def _list_inventory(self, now: Situation) -> str:
        """Return the answer that lists the things that the player carries."""
        things = self.world.things
        names = [with_article(thing.name) for number, thing in enumerate(things) if now.taken >> number & 1]
        return self.world.voice.carrying.format(join_items(names)) if names else self.world.voice.empty_handed

    def _open_door(self, now: Situation, noun: str) -> CommandResult:
        """Open a door of the place by its noun."""
        voice, doors = self.world.voice, self._doors[now.place]
        if noun == "door" and len(doors) == 1:
            noun = next(iter(doors))
        exit_ = doors.get(noun)
        if exit_ is None or exit_.door is None:
            return CommandResult(now, f"{voice.absent}\n")
        if now.opened >> exit_.door & 1:
            return CommandResult(now, voice.open_already.format(noun) + "\n")
        return CommandResult(now._replace(opened=now.opened | 1 << exit_.door), voice.opened.format(noun) + "\n")

    def _find_carried_thing(self, now: Situation, noun: str) -> int | None:
        """Return the number of a carried thing by its noun; None if there is none."""
        for number, thing in enumerate(self.world.things):
            if thing.name == noun and now.taken >> number & 1:
                return number
        return None

    def _take_thing(self, now: Situation, noun: str) -> CommandResult:
        """Take a portable thing at the place by its noun."""
        voice = self.world.voice
        if self._find_carried_thing(now, noun) is not None:
            return CommandResult(now, voice.taken_already.format(noun) + "\n")
        if self.dark(now):
            return CommandResult(now, f"{voice.too_dark}\n")
        if noun not in self.names_of_things_here(now):
            return CommandResult(now, f"{voice.absent}\n")
        number = self._things[now.place][noun]
        if not self.world.things[number].portable:
            return CommandResult(now, voice.fixed.format(noun) + "\n")
        return CommandResult(now._replace(taken=now.taken | 1 << number), voice.taken.format(noun) + "\n")

    def _examine_thing(self, now: Situation, noun: str, verb: str) -> CommandResult:
        """Describe a thing at the place, or one that the player carries."""
        voice, number = self.world.voice, self._find_carried_thing(now, noun)
        if self.dark(now):
            return CommandResult(now, f"{voice.too_dark}\n")
        if number is None and noun in self.names_of_things_here(now):
            number = self._things[now.place][noun]
        if number is None:
            return CommandResult(now, f"{voice.absent}\n")
        return CommandResult(
            now, (voice.search.format(noun) if verb == "search" else self.world.things[number].text) + "\n"
        )

    def _switch_lamp(self, now: Situation, noun: str, verb: str) -> CommandResult:
        """Light the lamp or, with the verb "extinguish", put it out."""
        voice, lamp = self.world.voice, self.world.lamp
        if lamp < 0 or not now.taken >> lamp & 1 or self.world.things[lamp].name != noun:
            return CommandResult(now, f"{voice.absent}\n")
        if verb == "extinguish":
            answer = voice.out if now.lit else voice.out_already
            return CommandResult(now._replace(lit=False), answer.format(noun) + "\n")
        if now.lit:
            return CommandResult(now, voice.lit_already.format(noun) + "\n")
        was_dark = self.dark(now)
        now = now._replace(lit=True)
        answer = voice.lit.format(noun)
        return self._look_around(now, before=answer) if was_dark else CommandResult(now, f"{answer}\n")


def _normalize_command(command: str) -> str | None:
    """Return a command in lower case with abbreviations expanded; None if it is invalid."""
    if len(command) > LONGEST_COMMAND or not command.isprintable():
        return None
    words = command.lower().split()
    if not words:
        return None
    if len(words) == 1:
        return ABBREVIATIONS.get(words[0], _VERBS.get(words[0], words[0]))
    return " ".join((_VERBS.get(words[0], words[0]), *words[1:]))
