"""Players that are no models: null, random, an environment's heuristic and oracle, and noisy ones."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from waybench.core._errors import UsageError, unknown

if TYPE_CHECKING:
    from waybench.core._episode import Episode
    from waybench.core._parts import Player
    from waybench.core._questions import Belief

EMBEDDED = ("null", "random", "heuristic", "oracle")
LOCAL_MODELS = ("smollm2",)  # language models that `waybench/NAME` runs on this machine: they are no players of ours


class Policy(ABC):
    """Replies to an episode as a model would; it may look at the episode's true state."""

    name: str

    @abstractmethod
    def reply(self, episode: "Episode[Any, Any, Any]") -> str:
        """Return the reply to the episode's present messages."""

    def believe(self, episode: "Episode[Any, Any, Any]", belief: "Belief[Any]") -> str:
        """Return the reply to a belief probe; by default it is right, for the player knows the true state."""
        return belief.render(belief.expected(episode.state))


class NullPolicy(Policy):
    """Says nothing."""

    name = "null"

    def reply(self, episode: "Episode[Any, Any, Any]") -> str:
        """Return the empty reply."""
        return ""

    def believe(self, episode: "Episode[Any, Any, Any]", belief: "Belief[Any]") -> str:
        """Return the empty reply."""
        return ""


class ScriptedPolicy(Policy):
    """Chooses an action from the true state by one of the environment's players.

    Args:
        name: "random", or a name in the environment's `players`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._purpose = f"player {name}"

    def action(self, episode: "Episode[Any, Any, Any]") -> Any:
        """Return the action this player takes now."""
        player: Player[Any, Any] | None = episode.environment.players.policies.get(self.name)
        stream = episode.stream(self._purpose)
        if player is not None:
            return player(episode.state, stream)
        if self.name == "random":
            return stream.choice(episode.play.game.legal(episode.state))
        raise UsageError(
            unknown(f"player of {episode.environment.id}", self.name, episode.environment.players.policies)
        )

    def reply(self, episode: "Episode[Any, Any, Any]") -> str:
        """Return the action as the wording renders it."""
        return episode.play.wording.render(self.action(episode), episode.state)


class NoisyPolicy(Policy):
    """Plays as another player does, but errs at a given rate.

    Args:
        base: The player that it imitates.
        rate: Probability of an error, for each elementary move (see `Game.perturb`).

    Raises:
        UsageError: If the rate is not in [0, 1].
    """

    def __init__(self, base: ScriptedPolicy, rate: float) -> None:
        if not 0 <= rate <= 1:
            raise UsageError(f"error rate {rate}: give a number from 0 to 1, as in noisy-0.1")
        self.base = base
        self.rate = rate
        self.name = f"noisy-{rate:g}"

    def reply(self, episode: "Episode[Any, Any, Any]") -> str:
        """Return the base player's action with errors in it, as the wording renders it."""
        action = episode.play.game.perturb(
            episode.state, self.base.action(episode), self.rate, episode.stream(f"player {self.name}")
        )
        return episode.play.wording.render(action, episode.state)

    def believe(self, episode: "Episode[Any, Any, Any]", belief: "Belief[Any]") -> str:
        """Return the right answer, or at the player's rate of error that it knows none."""
        errs = episode.stream(f"belief {belief.name} of {self.name}").random() < self.rate
        return belief.render(None) if errs else super().believe(episode, belief)


def policy(name: str) -> Policy:
    """Return a player by name.

    Args:
        name: "null", "random", "heuristic", "oracle", another of the environment's players, or "noisy-RATE" for an
            oracle that errs at a rate from 0 to 1.

    Raises:
        UsageError: If the name is none of these.
    """
    if name == "null":
        return NullPolicy()
    if name.startswith("noisy-"):
        try:
            rate = float(name.removeprefix("noisy-"))
        except ValueError:
            raise UsageError(f"player {name[:40]!r}: give the error rate from 0 to 1, as in noisy-0.1") from None
        return NoisyPolicy(ScriptedPolicy("oracle"), rate)
    return ScriptedPolicy(name)
