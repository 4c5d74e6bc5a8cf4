"""The agent protocol as a game: steps of the world, and before each of them, if so wanted, a thought."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Player, Stream, Transition
from waybench.smartplay._history import history_entry
from waybench.smartplay._rules import I, Rules, W


class Choice(NamedTuple):
    """One reply of an agent.

    Attributes:
        action: Number of the action; None for a thought, which changes nothing in the world.
        named: Whether the reply named it; where it did not, the published program took the first action.
    """

    action: int | None
    named: bool = True


THOUGHT = Choice(None)


class AgentState(NamedTuple, Generic[I, W]):
    """A world, and the history that the agent is shown.

    Attributes:
        instance: The instance.
        world: The world now.
        seen: What is seen of it, written once: as the present observation, and in the history afterwards.
        past: What was seen of the worlds before it, the oldest first, as many as the history holds.
        stored: Number of worlds before this one.
        thinking: Whether the next reply is a thought, before the action.
    """

    instance: I
    world: W
    seen: str
    past: tuple[str, ...] = ()
    stored: int = 0
    thinking: bool = False


class AgentGame(Game[I, AgentState[I, W], Choice]):
    """Puts the agent protocol around the rules of a game.

    Args:
        rules: The rules.
        history: Number of past observations that are kept.
        thinks: Whether a thought comes before each action.
        reward: Smallest and largest sum of rewards of an episode.
    """

    def __init__(
        self,
        rules: Rules[I, W],
        history: int,
        *,
        thinks: bool,
        reward: tuple[float, float],
    ) -> None:
        self.rules = rules
        self._history, self._thinks = history, thinks
        self.facts = Facts(rules.deterministic, None, reward)

    def start(self, instance: I) -> AgentState[I, W]:
        """Return the scene at the beginning."""
        world = self.rules.begin(instance)
        entries = [history_entry(number, observation) for number, observation in enumerate(self.rules.before(world))]
        past = tuple(entries[-self._history :]) if self._history else ()
        return AgentState(instance, world, self.rules.observe(world), past, len(entries), self._thinks)

    def legal(self, state: AgentState[I, W]) -> Sequence[Choice]:
        """Return the thought, or the actions that are no mistake."""
        if self.terminal(state) is not None:
            return ()
        if state.thinking:
            return (THOUGHT,)
        legal = self.rules.legal(state.world)
        return [
            Choice(number) for number in (range(len(self.rules.actions(state.instance))) if legal is None else legal)
        ]

    def apply(self, state: AgentState[I, W], action: Choice, rng: Stream) -> Transition[AgentState[I, W]]:
        """Pass over a thought, or make a step of the world."""
        number = action.action
        instance, world, seen, past, stored, thinking = state
        if thinking and number is None:
            return Transition(state._replace(thinking=False), events={"thought": True})
        rules = self.rules
        if thinking or number is None or not 0 <= number < len(rules.actions(instance)):
            return Transition(self.forfeit(state), outcome=Outcome.ILLEGAL)
        if self._history:
            entry = history_entry(stored, seen)
            past = (*past, entry) if len(past) < self._history else (*past[1:], entry)
        following, reward, events, outcome = rules.step(world, number, rng)
        all_events: dict[str, Json] = {**events, "score": rules.score(following), "named": action.named}
        if not action.named:
            outcome = Outcome.UNPARSED  # what the protocol's own action led to is no outcome of the reply
        state = AgentState(instance, following, rules.observe(following), past, stored + 1, self._thinks)
        return Transition(state, reward, all_events, outcome)

    def forfeit(self, state: AgentState[I, W]) -> AgentState[I, W]:
        """Go on after a reply that cannot be carried out: to the action after a thought, otherwise to the next step.

        So every step has the same number of replies, whatever they are.
        """
        return state._replace(thinking=self._thinks and not state.thinking)

    def terminal(self, state: AgentState[I, W]) -> End | None:
        """Return the game's own end; that the steps are used up is a limit of the episode."""
        return self.rules.over(state.world)

    def encode(self, action: Choice) -> Json:
        """Return [number of the action, whether it was named], or "thought"."""
        return "thought" if action.action is None else [action.action, action.named]

    def decode(self, action: Json) -> Choice:
        """Read what `encode` wrote.

        Raises:
            DataError: If it is something else.
        """
        match action:
            case "thought":
                return THOUGHT
            case [int(number), bool(named)] if type(number) is int and 0 <= number < 1_000_000:
                return Choice(number, named)
            case _:
                raise DataError('an action is [number, whether it was named], or "thought"')

    def perturb(self, state: AgentState[I, W], action: Choice, rate: float, rng: Stream) -> Choice:
        """Replace an action, but no thought, by a random one at the given rate."""
        return action if action.action is None else super().perturb(state, action, rate, rng)


def thinking_players(
    players: Mapping[str, Callable[[Any, Any, Stream], int]],
) -> dict[str, Player[AgentState[Any, Any], Choice]]:
    """Return players of the agent protocol from functions (instance, world, rng) -> number of an action."""

    def player(choose: Callable[[Any, Any, Stream], int]) -> Player[AgentState[Any, Any], Choice]:
        def play(state: AgentState[Any, Any], rng: Stream) -> Choice:
            return THOUGHT if state.thinking else Choice(choose(state.instance, state.world, rng))

        play.__doc__ = choose.__doc__  # its page says what it does
        return play

    return {name: player(choose) for name, choose in players.items()}
