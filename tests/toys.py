"""A toy environment for tests: a dial that has to be turned to a number, one step at a time, past no pit at 0."""

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from waybench.core import (
    DataError,
    End,
    Environment,
    EpisodeRecord,
    Game,
    GameProperties,
    Instance,
    Invalid,
    Items,
    Json,
    KeyedSource,
    Limits,
    Memory,
    Metric,
    Option,
    Outcome,
    Play,
    Players,
    Playing,
    Scoring,
    Stream,
    Transition,
    UsageError,
    Wording,
)

TURNS = 30


@dataclass(frozen=True, slots=True)
class Dial(Instance):
    """From `start` to `goal` on a dial of the numbers 0 to `size`; 0 is a pit."""

    start: int
    goal: int
    size: int

    def canonical(self) -> str:
        return f"{self.start} {self.goal} {self.size}"

    def to_json(self) -> Json:
        return [self.start, self.goal, self.size]

    @property
    def level(self) -> int:
        return self.size


class DialState(NamedTuple):
    dial: Dial
    at: int


class DialGame(Game[Dial, DialState, int]):
    """Actions are 1 and -1; falling into the pit fails, and beyond the dial's end is illegal."""

    properties = GameProperties(deterministic=True, turns=TURNS, reward=(0.0, 1.0))

    def start(self, instance: Dial) -> DialState:
        return DialState(instance, instance.start)

    def legal(self, state: DialState) -> list[int]:
        if self.terminal(state):
            return []
        return [-1, 1] if state.at < state.dial.size else [-1]

    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        at = state.at + action
        if at > state.dial.size:
            return Transition(state, 0.0, {"at": state.at}, Outcome.ILLEGAL)
        nearer = abs(at - state.dial.goal) < abs(state.at - state.dial.goal)
        outcome = Outcome.OK if nearer else Outcome.UNPRODUCTIVE
        return Transition(DialState(state.dial, at), float(at == state.dial.goal), {"at": at}, outcome)

    def terminal(self, state: DialState) -> End | None:
        return End.SOLVED if state.at == state.dial.goal else End.FAILED if state.at == 0 else None

    def encode(self, action: int) -> Json:
        return action

    def decode(self, action: Json) -> int:
        if type(action) is not int or action not in (-1, 1):
            raise DataError("action: give 1 or -1")
        return action


class DialWording(Wording[Dial, DialState, int]):
    def __init__(self, name: str = "plain", memory: Memory | None = None, rules_role: str = "user") -> None:
        self.name = name
        self.memory = memory or Memory()
        self.rules_role = rules_role

    def rules(self, instance: Dial) -> str:
        return f"Turn the dial to {instance.goal}, but never to 0. Say up or down."

    def observe(self, state: DialState, last: Transition[DialState] | Invalid | None, turn: int) -> str:
        trouble = f"{last.reason} " if isinstance(last, Invalid) else ""
        return f"{trouble}The dial is at {state.at}."

    def parse(self, reply: str, state: DialState) -> int | Invalid:
        return {"up": 1, "down": -1}.get(reply, Invalid("Say up or down."))

    def render(self, action: int, state: DialState) -> str:
        return "up" if action > 0 else "down"


class DialSource(KeyedSource[Dial]):
    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 3 <= level <= 1000:
            raise UsageError(f"level {level}: a dial has from 3 to 1000 numbers")
        super().__init__(key, level, prove)

    def instance(self, index: int) -> Dial:
        numbers = list(range(1, self.level + 1))
        Stream("dial", self.key, self.level, index).shuffle(numbers)
        return Dial(numbers[0], numbers[1], self.level)


def decode(data: Json) -> Dial:
    if not isinstance(data, list) or len(data) != 3 or any(type(number) is not int for number in data):
        raise DataError("dial: give [start, goal, size]")
    start, goal, size = data
    if not (3 <= size <= 1000 and 1 <= start <= size and 1 <= goal <= size and start != goal):
        raise DataError("dial: start and goal are different numbers from 1 to size, which is from 3 to 1000")
    return Dial(start, goal, size)


def prove(dial: Dial) -> dict[str, Json]:
    return {"minimum": abs(dial.goal - dial.start)}


def oracle(state: DialState, rng: Stream) -> int:
    return 1 if state.at < state.dial.goal else -1


def score(record: EpisodeRecord) -> float:
    return record.proof["minimum"] / len(record.turns) if record.end == "solved" else 0.0


def play(options: Mapping[str, Json]) -> Play[Dial, DialState, int]:
    memory = Memory(options["memory"], int(options["window"]))
    limits = Limits(int(options["turns"]), options["invalid"], int(options["retries"]))
    return Play(DialGame(), DialWording(options["wording"], memory, options["rules_role"]), limits)


DIAL: Environment[Dial, DialState, int] = Environment(
    id="toy/dial",
    version=1,
    title="Dial",
    about="A dial has to be turned to a number, one step at a time. It measures nothing, for it is here for the tests.",
    items=Items(sample_levels=(3, 10), public_key="dial-v1", make_source=DialSource, decode=decode, prove=prove),
    playing=Playing(
        options=(
            Option(name="wording", default="plain", choices=("plain", "other"), doc="Two names of one wording."),
            Option(name="turns", default=TURNS, low=1, high=TURNS, doc="Most turns."),
            Option(
                name="invalid", default="turn", choices=("turn", "retry", "end"), doc="What an invalid reply costs."
            ),
            Option(name="retries", default=2, low=0, doc="Invalid replies in a row that are forgiven."),
            Option(name="memory", default="chat", choices=("chat", "window", "fresh"), doc="What is shown again."),
            Option(name="window", default=2, low=0, doc="Turns in a window."),
            Option(name="rules_role", default="user", choices=("user", "system"), doc="Who tells the rules."),
        ),
        play=play,
    ),
    scoring=Scoring(
        metrics=(Metric(name="score", of=score, title="Score", doc="Minimum turns by turns.", low=0, high=1),)
    ),
    players=Players(policies={"oracle": oracle, "heuristic": oracle}),
)

ITEM = DIAL.item([5, 8, 10])  # three steps up
"""An item for tests of episodes."""


def with_game(game: Game[Any, Any, Any]) -> Environment[Any, Any, Any]:
    """Return the toy with other rules."""
    return replace(DIAL, playing=replace(DIAL.playing, play=lambda options: replace(play(options), game=game)))


def with_wording(wording: Wording[Any, Any, Any]) -> Environment[Any, Any, Any]:
    """Return the toy with other words; the wording's name is set to what the options say."""

    def changed(options: Mapping[str, Json]) -> Play[Any, Any, Any]:
        named = copy(wording)
        named.name = options["wording"]
        return replace(play(options), wording=named)

    return replace(DIAL, playing=replace(DIAL.playing, play=changed))


def through_json(record: EpisodeRecord) -> EpisodeRecord:
    """Return a record as it comes back from a file."""
    return EpisodeRecord.from_json(json.loads(record.dumps()))
