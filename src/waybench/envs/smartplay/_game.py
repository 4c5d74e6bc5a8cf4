"""The agent protocol as a game, the rules of a game of single steps that it wraps, and its history."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core import (
    NOTHING,
    DataError,
    End,
    Field,
    Game,
    GameProperties,
    Json,
    Outcome,
    Player,
    Stream,
    Transition,
    check_known_fields,
    is_object,
)

I = TypeVar("I")  # noqa: E741  the instance
W = TypeVar("W")  # the world: frozen and hashable


class ActionEffect(NamedTuple, Generic[W]):
    """The effect of an action.

    Attributes:
        world: The world afterwards. It holds the last action as far as the observation mentions it.
        events: Further events, as JSON values.
        outcome: OK, ILLEGAL or UNPRODUCTIVE.
    """

    world: W
    reward: float = 0.0
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.OK


class Rules(ABC, Generic[I, W]):
    """A game of single steps: its rules and texts. Questions, history and limits belong to the agent protocol.

    Args:
        published: Whether it is the published game, defects included; otherwise that of the protocol `sound`.

    Attributes:
        deterministic: Whether `step` ignores its random stream.
        lists_actions: Whether the list of actions follows the manual.
        manual_fields: Pieces of the manual that templates can name and pictures can take the place of.
        scene_fields: Such pieces of the description of a world.
    """

    deterministic: bool = True
    lists_actions: bool = True
    manual_fields: Sequence[Field[I]] = ()
    scene_fields: Sequence[Field[W]] = ()

    def __init__(self, *, published: bool) -> None:
        self._published = published

    @abstractmethod
    def begin(self, instance: I) -> W:
        """Return the world at the start."""

    def before(self, world: W) -> Sequence[str]:
        """Return the observations before the start, the oldest first, where the history begins with them."""
        return ()

    @abstractmethod
    def actions(self, instance: I) -> Sequence[str]:
        """Return the names of all actions, in the order in which the manual lists them."""

    def legal(self, world: W) -> Sequence[int] | None:
        """Return the numbers of the actions that are no mistake in this world; None if no action is."""
        return None

    @abstractmethod
    def step(self, world: W, action: int, rng: Stream) -> ActionEffect[W]:
        """Return the effect of an action, given by its number; `world` itself is not changed."""

    def ending(self, world: W) -> End | None:
        """Return SOLVED or FAILED if the game is over by its own rules; by default it never is."""
        return None

    @abstractmethod
    def score(self, world: W) -> float:
        """Return the score so far, as the benchmark defines it for this game."""

    @abstractmethod
    def manual(self, instance: I) -> str:
        """Return the manual, without the list of actions."""

    @abstractmethod
    def observe(self, world: W) -> str:
        """Return the description of a world and of the action that led to it."""


def field_values(data: Json, fields: Sequence[str], message: str) -> list[Json]:
    """Return an instance's values in the order of `fields`; DataError for no object (`message`) or other fields."""
    check_known_fields(data, fields)
    if not is_object(data) or len(data) != len(fields):
        raise DataError(message)
    return [data[field] for field in fields]


def is_within(value: Json, low: float, high: float) -> bool:
    """Return whether a value is a number (no boolean) from low to high."""
    return type(value) in (int, float) and low <= value <= high


def history_entry(number: int, observation: str) -> str:
    """Return an observation with its heading in the history; the first one has the number 0."""
    return f"Player Observation Step {number}:\n{observation}"


def history_text(entries: Sequence[str]) -> str:
    """Return the history as SmartPlay writes it, of entries by `history_entry`, without the present observation."""
    if not entries:
        return ""
    observations = "\n\n".join(entries)
    return f"Most recent {len(entries)} steps of the player's in-game observation:\n\n{observations}".strip()


@lru_cache(maxsize=256)  # the items of a set have few manuals
def manual_text(manual: str, actions: tuple[str, ...]) -> str:
    """Return a manual with its list of actions, as SmartPlay writes it."""
    lines = "\n".join(f"{number}. {name}" for number, name in enumerate(actions, 1))
    return f"{manual}\n\nList of all actions:\n{lines}"


class AgentReply(NamedTuple):
    """One reply of an agent.

    Attributes:
        action: Number of the action; None for a thought, which changes nothing in the world.
        named: Whether the reply named the action; otherwise the published program took the first action.
    """

    action: int | None
    named: bool = True


THOUGHT = AgentReply(None)


class AgentState(NamedTuple, Generic[I, W]):
    """A world, and the history that the agent is shown.

    Attributes:
        world: The world now.
        seen: The observation of the world: the present one, and later an entry of the history.
        past: The history entries of the worlds before, the oldest first, as many as the history holds.
        stored: Number of worlds before this one, also of those that the history no longer holds.
        thinking: Whether the next reply is a thought, before the action.
    """

    instance: I
    world: W
    seen: str
    past: tuple[str, ...] = ()
    stored: int = 0
    thinking: bool = False


# These take half the time of a call with arguments.
_new_state: Callable[[tuple[Any, ...]], AgentState[Any, Any]] = AgentState._make  # pyright: ignore[reportUnknownMemberType]
_new_transition: Callable[[tuple[Any, ...]], Transition[Any]] = Transition._make  # pyright: ignore[reportUnknownMemberType]


class AgentGame(Game[I, AgentState[I, W], AgentReply]):
    """Puts the agent protocol around the rules of a game.

    Args:
        history: Number of past observations that are kept.
        thinks: Whether a thought comes before each action.
        reward: Smallest and largest sum of rewards of an episode.
    """

    def __init__(self, rules: Rules[I, W], history: int, *, thinks: bool, reward: tuple[float, float]) -> None:
        self.rules = rules
        self._history, self._thinks = history, thinks
        self.properties = GameProperties(rules.deterministic, None, reward)

    def start(self, instance: I) -> AgentState[I, W]:
        world = self.rules.begin(instance)
        entries = [history_entry(number, observation) for number, observation in enumerate(self.rules.before(world))]
        past = tuple(entries[-self._history :]) if self._history else ()
        return AgentState(instance, world, self.rules.observe(world), past, len(entries), self._thinks)

    def legal(self, state: AgentState[I, W]) -> Sequence[AgentReply]:
        """Return the thought, or the actions that are no mistake."""
        if self.terminal(state) is not None:
            return ()
        if state.thinking:
            return (THOUGHT,)
        numbers = self.rules.legal(state.world)
        if numbers is None:
            numbers = range(len(self.rules.actions(state.instance)))
        return [AgentReply(number) for number in numbers]

    def apply(self, state: AgentState[I, W], action: AgentReply, rng: Stream) -> Transition[AgentState[I, W]]:
        """Pass over a thought, or make a step of the world."""
        number = action.action
        instance, world, observation, past, stored, thinking = state
        if thinking and number is None:
            return Transition(state._replace(thinking=False), events={"thought": True})
        rules = self.rules
        if thinking or number is None or not 0 <= number < len(rules.actions(instance)):
            return Transition(self.forfeit(state), outcome=Outcome.ILLEGAL)
        if self._history:
            entry = history_entry(stored, observation)
            past = (past if len(past) < self._history else past[1:]) + (entry,)
        after, reward, events, outcome = rules.step(world, number, rng)
        all_events: dict[str, Json] = {**events, "score": rules.score(after), "named": action.named}
        if not action.named:
            outcome = Outcome.UNPARSED  # the effect of the action that the protocol took is no outcome of the reply
        state = _new_state((instance, after, rules.observe(after), past, stored + 1, self._thinks))
        return _new_transition((state, reward, all_events, outcome))

    def forfeit(self, state: AgentState[I, W]) -> AgentState[I, W]:
        """Return the state after an invalid reply: the action is next after a thought, otherwise the next step."""
        return state._replace(thinking=self._thinks and not state.thinking)

    def terminal(self, state: AgentState[I, W]) -> End | None:
        """Return the game's own end; the maximum of steps is a limit of the episode."""
        return self.rules.ending(state.world)

    def encode(self, action: AgentReply) -> Json:
        """Return [number of the action, whether it was named], or "thought"."""
        return "thought" if action.action is None else [action.action, action.named]

    def decode(self, action: Json) -> AgentReply:
        match action:
            case "thought":
                return THOUGHT
            case [int(number), bool(named)] if type(number) is int and 0 <= number < 1_000_000:
                return AgentReply(number, named)
            case _:
                raise DataError('an action is [number, whether it was named], or "thought"')

    def perturb(self, state: AgentState[I, W], action: AgentReply, rate: float, rng: Stream) -> AgentReply:
        """Replace an action, but no thought, by a random one at the given rate."""
        return action if action.action is None else super().perturb(state, action, rate, rng)


def thinking_players(
    players: Mapping[str, Callable[[Any, Any, Stream], int]],
) -> dict[str, Player[AgentState[Any, Any], AgentReply]]:
    """Return players of the agent protocol from functions (instance, world, rng) -> number of an action."""

    def thinking_player(choose: Callable[[Any, Any, Stream], int]) -> Player[AgentState[Any, Any], AgentReply]:
        def play(state: AgentState[Any, Any], rng: Stream) -> AgentReply:
            return THOUGHT if state.thinking else AgentReply(choose(state.instance, state.world, rng))

        play.__doc__ = choose.__doc__  # the documentation of players quotes it
        return play

    return {name: thinking_player(choose) for name, choose in players.items()}
